//! Where observations come from. Every source gives the same [`Observation`]s, each with the signals it has.

use serde::{Deserialize, Serialize};

use crate::observation::{Key, Observation, Sample};
use crate::units::Instant;

pub use crate::observation::{HookState, RetransmitKind};

pub mod ebpf;
pub mod netns;
pub mod sock_diag;
pub mod ss_text;

/// What happened to sockets since the last poll.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Update {
    /// The socket as it is now. The first one of a key is its opening.
    Observed(Observation),
    /// The socket closed; these are its final totals.
    Closed(Observation),
    /// The socket is gone and its final totals were lost.
    Vanished {
        /// Which socket.
        key: Key,
        /// When this was noticed.
        at: Instant,
    },
    /// A segment was sent again.
    Retransmit {
        /// Which socket.
        key: Key,
        /// When.
        at: Instant,
        /// Which mechanism sent it.
        kind: RetransmitKind,
        /// How many segments.
        segments: u32,
    },
    /// The congestion window falls.
    CwndFall {
        /// Which socket.
        key: Key,
        /// When.
        at: Instant,
        /// Before, segments.
        cwnd: u32,
        /// Slow-start threshold now, segments.
        ssthresh: u32,
        /// By a timeout (CA_Loss), not by fast recovery.
        by_timeout: bool,
    },
    /// A reset was sent or received.
    Reset {
        /// Which socket.
        key: Key,
        /// When.
        at: Instant,
        /// By this host.
        sent: bool,
    },
}

impl Update {
    /// Which socket it tells of.
    #[must_use]
    pub const fn key(&self) -> Key {
        match self {
            Self::Observed(observation) | Self::Closed(observation) => observation.key,
            Self::Vanished { key, .. }
            | Self::Retransmit { key, .. }
            | Self::CwndFall { key, .. }
            | Self::Reset { key, .. } => *key,
        }
    }
}

/// A count of something that could not be kept, by cause.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LossCount {
    /// Cause, as on the metric.
    pub cause: &'static str,
    /// Since the start.
    pub count: u64,
}

/// Counts of the host as a whole, since no connection stands for them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostCounts {
    /// SYNs and SYN-ACKs sent again.
    pub syn_retransmits: u64,
    /// Resets sent.
    pub resets_sent: u64,
    /// Resets received.
    pub resets_received: u64,
}

/// Cost of the probes since the start, where the kernel keeps it (`bpf_stats`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProbeCost {
    /// Runs of all programs.
    pub runs: u64,
    /// Time in all programs, ns.
    pub run_ns: u64,
}

/// Errors of a source while it runs.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// A system call failed; the source goes on with the next poll.
    #[error("{operation}: {cause}")]
    Io {
        /// What was being done.
        operation: &'static str,
        /// What the kernel said.
        cause: std::io::Error,
    },
}

/// A source of observations. Owned by the daemon's one loop.
pub trait Source: Send {
    /// Name, as `--source` takes it.
    fn name(&self) -> &'static str;

    /// Hands over everything that changed since the last call, in the order it happened per socket. A socket that
    /// went quiet is handed over once more so that its last figures are final.
    ///
    /// # Errors
    /// When the kernel refuses a read; what was handed over before stays right.
    fn poll(&mut self, now: Instant, sink: &mut dyn FnMut(Update)) -> Result<(), SourceError>;

    /// Hands over what happened at once (openings, closings, retransmits …) without reading live sockets: cheap, often.
    ///
    /// # Errors
    /// As [`Source::poll`].
    fn drain(&mut self, now: Instant, sink: &mut dyn FnMut(Update)) -> Result<(), SourceError>;

    /// Says that somebody listens to single events (`trace`): retransmits and cwnd falls are then told one by one.
    fn want_events(&mut self, wanted: bool);

    /// Has each event of this socket sampled, or no longer. A source that cannot, or does not know the socket, gives no samples.
    fn watch(&mut self, _socket: Key, _on: bool) {}

    /// Hands over the samples that the last [`Source::drain`] or [`Source::poll`] found, in the order they were taken per socket.
    fn take_samples(&mut self, _sink: &mut dyn FnMut(Key, Sample)) {}

    /// What was lost, by cause.
    fn losses(&self) -> Vec<LossCount>;

    /// Events that the source should have seen and did not, whatever they were of.
    fn missed_events(&self) -> u64 {
        0
    }

    /// Counts of the host as a whole; zero from sources that cannot see them.
    fn host_counts(&self) -> HostCounts {
        HostCounts::default()
    }

    /// The hooks, attached or missing.
    fn hooks(&self) -> Vec<HookState>;

    /// Probe cost where known.
    fn probe_cost(&self) -> Option<ProbeCost>;
}

/// CLOCK_MONOTONIC, the clock of every [`Observation::at`]. Asked by sources and the daemon alone.
#[must_use]
pub fn kernel_clock() -> Instant {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    Instant(now.tv_sec.unsigned_abs() * 1_000_000_000 + now.tv_nsec.unsigned_abs())
}

/// The whole error with its causes (a verifier's log among them), each said once.
pub(crate) fn whole(error: &(dyn std::error::Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let next = error.to_string();
        if !text.contains(&next) {
            text = format!("{text}: {next}");
        }
        cause = error.source();
    }
    text
}
