//! What a worker reports, one JSON line each, and what the kernel says of its sockets.

use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsRawFd, BorrowedFd};

use serde::{Deserialize, Serialize};

/// One line of a worker's output.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Report {
    /// It listens there.
    Listening {
        /// Address with the port the kernel chose.
        address: SocketAddr,
    },
    /// A connection is established.
    Open {
        /// Number of the connection within the worker.
        flow: usize,
        /// Its own end.
        local: SocketAddr,
        /// The other end.
        peer: SocketAddr,
    },
    /// A connection so far.
    Tick {
        /// Number of the connection.
        flow: usize,
        /// The reading.
        #[serde(flatten)]
        reading: Reading,
    },
    /// A connection at its end.
    Total {
        /// Number of the connection.
        flow: usize,
        /// The last reading.
        #[serde(flatten)]
        reading: Reading,
    },
    /// Something failed; the worker ends.
    Failed {
        /// What, and why.
        why: String,
    },
}

/// One connection at one instant.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Reading {
    /// CLOCK_MONOTONIC.
    pub at_ns: u64,
    /// Bytes of the data that the program has moved: written by the sender, read by the receiver.
    pub bytes: u64,
    /// Calls that sent (or tried to).
    pub calls: u64,
    /// Bytes the program has moved the other way (requests).
    pub back_bytes: u64,
    /// The kernel's view.
    pub tcp: TcpInfo,
}

/// The fields of `struct tcp_info` that the lab shows beside its truth, by the kernel's own names
/// (include/uapi/linux/tcp.h). 0 where the kernel is too old for one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TcpInfo {
    pub state: u8,
    pub options: u8,
    pub snd_wscale: u8,
    pub rcv_wscale: u8,
    pub snd_mss: u32,
    pub unacked: u32,
    pub rtt_us: u32,
    pub min_rtt_us: u32,
    pub snd_ssthresh: u32,
    pub snd_cwnd: u32,
    pub total_retrans: u32,
    pub bytes_acked: u64,
    pub bytes_received: u64,
    pub notsent_bytes: u32,
    pub busy_us: u64,
    pub rwnd_limited_us: u64,
    pub sndbuf_limited_us: u64,
    pub snd_wnd: u32,
}

impl TcpInfo {
    /// Asks the kernel.
    pub fn of(socket: BorrowedFd<'_>) -> io::Result<Self> {
        let mut raw = [0_u8; 240];
        let mut len = raw.len() as libc::socklen_t;
        // SAFETY: the kernel writes at most `len` bytes into the live buffer of that length.
        let got = unsafe {
            libc::getsockopt(
                socket.as_raw_fd(),
                libc::IPPROTO_TCP,
                libc::TCP_INFO,
                raw.as_mut_ptr().cast(),
                &raw mut len,
            )
        };
        if got != 0 {
            return Err(io::Error::last_os_error());
        }
        let u32_at = |at: usize| u32::from_ne_bytes(raw[at..at + 4].try_into().unwrap_or_default());
        let u64_at = |at: usize| u64::from_ne_bytes(raw[at..at + 8].try_into().unwrap_or_default());
        Ok(Self {
            state: raw[0],
            options: raw[5],
            snd_wscale: raw[6] & 0x0f,
            rcv_wscale: raw[6] >> 4,
            snd_mss: u32_at(16),
            unacked: u32_at(24),
            rtt_us: u32_at(68),
            snd_ssthresh: u32_at(76),
            snd_cwnd: u32_at(80),
            total_retrans: u32_at(100),
            bytes_acked: u64_at(120),
            bytes_received: u64_at(128),
            notsent_bytes: u32_at(144),
            min_rtt_us: u32_at(148),
            busy_us: u64_at(168),
            rwnd_limited_us: u64_at(176),
            sndbuf_limited_us: u64_at(184),
            snd_wnd: u32_at(228),
        })
    }
}
