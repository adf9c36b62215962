//! What the kernel programs could not keep, counted per CPU.

/// A cause of loss; the index into the per-CPU array of counters.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loss {
    /// The ring buffer was full: a record was dropped.
    RingFull = 0,
    /// No slot was free: the socket is not watched.
    NoSlot = 1,
    /// The socket-to-slot map refused the entry: the socket is not watched.
    MapFull = 2,
    /// An event of a socket that has no slot.
    UnknownSocket = 3,
    /// A record could not be decoded by the agent.
    Undecoded = 4,
}

/// Number of causes.
pub const LOSS_COUNT: usize = 5;

impl Loss {
    /// All causes, in the order of their index.
    pub const ALL: [Self; LOSS_COUNT] = [
        Self::RingFull,
        Self::NoSlot,
        Self::MapFull,
        Self::UnknownSocket,
        Self::Undecoded,
    ];

    /// The name on metrics and screens.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::RingFull => "ring_full",
            Self::NoSlot => "no_slot",
            Self::MapFull => "map_full",
            Self::UnknownSocket => "unknown_socket",
            Self::Undecoded => "undecoded",
        }
    }
}

/// What is counted for the host as a whole, since no watched socket stands for it; the index into the per-CPU array
/// after the [`Loss`]es.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostCount {
    /// SYNs and SYN-ACKs sent again.
    SynRetransmits = 5,
    /// Resets sent, with or without a socket.
    ResetsSent = 6,
    /// Resets received.
    ResetsReceived = 7,
}

/// Entries of the per-CPU array of counters.
pub const COUNT_ENTRIES: u32 = 8;
