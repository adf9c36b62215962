//! What the rules of other tools make of the same seconds, from `tcp_info`'s three clocks (`busy`, `rwnd_limited`,
//! `sndbuf_limited`) alone: what `ss` and the exporters show, and all that a reader of theirs has. Pure.
//!
//! The rules are judged generously:
//!
//! - they read the sender's socket, also where tcpwin is asked at the receiver's end, whose socket has no such clocks;
//! - every cause that a rule's word can be understood to include counts as right ([`Rule::includes`]): "receiver"
//!   for each of the five limits at the receiver, "network" for everything below the buffers, cwnd's clamp and a paced
//!   socket among them, although the reader of such a word would look at the path.

use serde::{Deserialize, Serialize};

use super::flow::Reading;

/// Below this share of busy time the largest counter means nothing: the program left the connection alone.
const BUSY_MIN: f64 = 0.5;
/// NDT's thresholds (`web100clt`, `print_limitedtime_ratio`).
const NDT_RECEIVER: f64 = 0.015;
const NDT_SENDER: f64 = 0.015;
const NDT_NETWORK: f64 = 0.005;

/// The kernel's clocks over one interval, each as a share of it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Clocks {
    /// Something was outstanding.
    pub busy: f64,
    /// Busy, and the kernel blames the peer's window.
    pub rwnd_limited: f64,
    /// Busy, and the kernel blames the send buffer.
    pub sndbuf_limited: f64,
}

impl Clocks {
    /// From the first to the last reading within the two instants; `None` with fewer than two.
    pub fn between(readings: &[Reading], from_ns: u64, to_ns: u64) -> Option<Self> {
        let mut within = readings
            .iter()
            .filter(|reading| (from_ns..=to_ns).contains(&reading.at_ns));
        let first = within.next()?;
        let last = within.next_back()?;
        let span_us = (last.at_ns.saturating_sub(first.at_ns) as f64 / 1e3).max(1.0);
        let share = |from: u64, to: u64| (to.saturating_sub(from) as f64 / span_us).min(1.0);
        Some(Self {
            busy: share(first.tcp.busy_us, last.tcp.busy_us),
            rwnd_limited: share(first.tcp.rwnd_limited_us, last.tcp.rwnd_limited_us),
            sndbuf_limited: share(first.tcp.sndbuf_limited_us, last.tcp.sndbuf_limited_us),
        })
    }

    /// Busy, and neither window nor buffer is blamed: what is left is the network's.
    fn network(self) -> f64 {
        (self.busy - self.rwnd_limited - self.sndbuf_limited).max(0.0)
    }
}

/// A rule of a reader of these clocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// The clock that ran longest names the cause; not busy for half of the time, it is the program.
    Largest,
    /// NDT's sentences "This connection is … limited", in its order; the first that is printed counts. (It prints all
    /// whose threshold is passed, and 0.5 % of busy time prints "network": taken together they exclude nothing.)
    /// What is neither the receiver's nor the network's time is the sender's, as in RFC 4898 `SndLimTimeSnd`.
    Ndt,
}

/// What a rule says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Word {
    /// Not busy.
    Idle,
    /// The network, or congestion control.
    Network,
    /// The receiver's window.
    Receiver,
    /// The sender's buffer; NDT's word also means its program.
    Sender,
}

impl Rule {
    /// Its word for one interval.
    pub fn says(self, clocks: Clocks) -> Word {
        match self {
            Self::Largest => {
                let (network, rwnd, sndbuf) = (clocks.network(), clocks.rwnd_limited, clocks.sndbuf_limited);
                if clocks.busy < BUSY_MIN {
                    Word::Idle
                } else if rwnd >= network && rwnd >= sndbuf {
                    Word::Receiver
                } else if sndbuf >= network {
                    Word::Sender
                } else {
                    Word::Network
                }
            }
            Self::Ndt => {
                let sender = 1.0 - clocks.busy + clocks.sndbuf_limited;
                if clocks.rwnd_limited > NDT_RECEIVER {
                    Word::Receiver
                } else if sender > NDT_SENDER {
                    Word::Sender
                } else if clocks.network() > NDT_NETWORK {
                    Word::Network
                } else {
                    Word::Idle
                }
            }
        }
    }

    /// Whether the word is right where this limit is the truth.
    pub fn includes(self, word: Word, limit: &str) -> bool {
        let program = matches!(limit, "app" | "app_window" | "turns" | "small_writes" | "none");
        match word {
            Word::Idle => program,
            Word::Network => matches!(
                limit,
                "bandwidth"
                    | "policer"
                    | "pacing"
                    | "loss"
                    | "stalled"
                    | "mtu_blackhole"
                    | "cwnd_startup"
                    | "cwnd_clamp"
                    | "host"
            ),
            Word::Receiver => matches!(limit, "rwnd" | "rwnd_scale" | "rwnd_reader" | "rcvbuf" | "reader"),
            Word::Sender if self == Self::Ndt => program || matches!(limit, "sndbuf" | "pacing" | "host"),
            Word::Sender => limit == "sndbuf",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Clocks, Rule, Word};
    use crate::lab::flow::{Reading, TcpInfo};

    const fn clocks(busy: f64, rwnd_limited: f64, sndbuf_limited: f64) -> Clocks {
        Clocks {
            busy,
            rwnd_limited,
            sndbuf_limited,
        }
    }

    #[test]
    fn the_largest_clock_names_the_cause() {
        let says = |clocks| Rule::Largest.says(clocks);
        assert_eq!(says(clocks(1.0, 0.97, 0.0)), Word::Receiver);
        assert_eq!(says(clocks(1.0, 0.0, 0.7)), Word::Sender);
        // Seen where a locked send buffer was the whole truth: the clock read 4 %.
        assert_eq!(says(clocks(1.0, 0.0, 0.04)), Word::Network);
        assert_eq!(says(clocks(0.3, 0.3, 0.0)), Word::Idle);
    }

    #[test]
    fn ndt_says_the_first_sentence_whose_threshold_is_passed() {
        let says = |clocks| Rule::Ndt.says(clocks);
        assert_eq!(says(clocks(1.0, 0.02, 0.9)), Word::Receiver);
        assert_eq!(says(clocks(1.0, 0.01, 0.02)), Word::Sender);
        assert_eq!(says(clocks(0.98, 0.01, 0.0)), Word::Sender);
        assert_eq!(says(clocks(1.0, 0.01, 0.01)), Word::Network);
    }

    #[test]
    fn a_word_is_right_for_all_that_it_can_mean() {
        assert!(Rule::Largest.includes(Word::Network, "pacing"));
        assert!(Rule::Largest.includes(Word::Idle, "turns"));
        assert!(!Rule::Largest.includes(Word::Sender, "app"));
        assert!(Rule::Ndt.includes(Word::Sender, "app"));
        assert!(!Rule::Ndt.includes(Word::Receiver, "bandwidth"));
    }

    #[test]
    fn the_clocks_are_shares_of_the_time_between_readings() {
        let reading = |ms: u64, busy_us, rwnd_limited_us| Reading {
            at_ns: ms * 1_000_000,
            tcp: TcpInfo {
                busy_us,
                rwnd_limited_us,
                ..TcpInfo::default()
            },
            ..Reading::default()
        };
        let readings = [
            reading(900, 0, 0),
            reading(1000, 50_000, 0),
            reading(1500, 550_000, 250_000),
        ];
        let of = Clocks::between(&readings, 1_000_000_000, 2_000_000_000);
        assert_eq!(of, Some(clocks(1.0, 0.5, 0.0)));
        assert_eq!(Clocks::between(&readings, 0, 950_000_000), None);
    }
}
