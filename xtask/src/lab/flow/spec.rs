//! What a flow is: how its two programs behave and how their sockets are set.

use std::net::SocketAddr;

use anyhow::{Result, bail};
use serde::{Deserialize, Serialize};

use crate::lab::net::Side;

/// `[flow]` of a scenario.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FlowSpec {
    /// Who connects; the other accepts.
    #[serde(default = "default_connects")]
    pub connects: Side,
    /// Address family.
    #[serde(default)]
    pub family: Family,
    /// Connections at the same time, each with the same behaviour.
    #[serde(default = "default_count")]
    pub count: usize,
    /// Open, use and close one connection first, so that the kernel has metrics of the peer.
    #[serde(default)]
    pub warm_up: bool,
    /// An agent of the scenario's own starts some seconds after the flow: it finds the sockets, it does not see them open.
    #[serde(default)]
    pub older_than_agent: bool,
    /// Time between two reports of each connection.
    #[serde(default = "default_tick_ms")]
    pub tick_ms: u64,
    /// What the programs do.
    pub pattern: Pattern,
    /// The sender's socket.
    #[serde(default)]
    pub sender: SocketSpec,
    /// The receiver's socket.
    #[serde(default)]
    pub receiver: SocketSpec,
}

impl FlowSpec {
    /// One IPv4 connection of the sender's, with the kernel's own socket settings.
    pub fn new(pattern: Pattern) -> Self {
        Self {
            connects: default_connects(),
            family: Family::default(),
            count: default_count(),
            warm_up: false,
            older_than_agent: false,
            tick_ms: default_tick_ms(),
            pattern,
            sender: SocketSpec::default(),
            receiver: SocketSpec::default(),
        }
    }
}

fn default_connects() -> Side {
    Side::Sender
}

fn default_count() -> usize {
    1
}

fn default_tick_ms() -> u64 {
    50
}

/// Address family of a flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Family {
    /// AF_INET on both sides.
    #[default]
    Ipv4,
    /// AF_INET6.
    Ipv6,
    /// AF_INET6 sockets that carry IPv4 (`::ffff:a.b.c.d`).
    V4Mapped,
}

/// What the two programs do.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Pattern {
    /// The sender always has more to write; the receiver reads what comes.
    Bulk {
        /// Bytes of one write.
        #[serde(default = "default_write_bytes")]
        write_bytes: usize,
        /// Ends the connection after so many; else it goes on until it is told to stop.
        total_bytes: Option<u64>,
        /// The system call that sends.
        #[serde(default)]
        method: Method,
    },
    /// The sender writes so much at each turn of a clock and sleeps in between.
    Periodic {
        /// Bytes of one write.
        write_bytes: usize,
        /// Period of the clock.
        every_ms: f64,
    },
    /// The receiver asks, the sender answers, and so on.
    Turns {
        /// Bytes of a request.
        request_bytes: usize,
        /// Bytes of an answer.
        answer_bytes: usize,
        /// Time the sender takes to answer.
        #[serde(default)]
        think_ms: f64,
        /// Time the receiver takes before it asks again.
        #[serde(default)]
        pause_ms: f64,
    },
    /// The sender writes twice, without TCP_NODELAY in two segments that wait for each other (Nagle), and reads the
    /// receiver's reply to both. Who began makes no difference from the second turn on.
    WriteWriteRead {
        /// Bytes of the first write.
        head_bytes: usize,
        /// Bytes of the second.
        body_bytes: usize,
        /// Bytes of the reply.
        reply_bytes: usize,
    },
    /// Flow control of the programs' own: the sender may be so many bytes ahead of what the receiver has granted.
    Credit {
        /// Bytes that may be sent and not yet granted back.
        window_bytes: usize,
        /// Bytes of one grant; the receiver sends it when it has consumed them.
        update_bytes: usize,
        /// Bytes of one write.
        #[serde(default = "default_frame_bytes")]
        frame_bytes: usize,
    },
    /// One byte each way, then nothing.
    Quiet,
    /// Several patterns, one after another on the same connection.
    Alternate {
        /// In their order.
        parts: Vec<Part>,
    },
    /// One connection after another: so many bytes, then the sender closes.
    Short {
        /// Connections one after another, on each of `count` threads.
        connections: usize,
        /// Bytes each carries.
        bytes: u64,
    },
}

/// One pattern of several.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Part {
    /// The sender leaves off at this second of the flow; absent in the last one only.
    pub until_s: Option<f64>,
    /// What the programs do until then.
    pub pattern: Pattern,
}

impl Pattern {
    /// Refuses what would end by itself, or has no meaning.
    pub fn check(&self) -> Result<()> {
        match self {
            Self::Short { .. }
            | Self::Bulk {
                total_bytes: Some(_), ..
            } => bail!("a scenario's flow goes on until the lab ends it"),
            Self::Credit {
                window_bytes,
                update_bytes,
                frame_bytes,
            } => {
                if !(1..=*window_bytes).contains(update_bytes) || *frame_bytes == 0 {
                    bail!("flow.pattern.update_bytes must be within 1 and window_bytes, frame_bytes above 0");
                }
                Ok(())
            }
            Self::Alternate { parts } => {
                let mut since_s = 0.0;
                for (number, part) in parts.iter().enumerate() {
                    if matches!(part.pattern, Self::Alternate { .. }) {
                        bail!("a part of a flow cannot have parts itself");
                    }
                    part.pattern.check()?;
                    match part.until_s {
                        Some(until_s) if until_s > since_s => since_s = until_s,
                        None if number + 1 == parts.len() => {}
                        _ => bail!("until_s must rise from part to part, and only the last part has none"),
                    }
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }
}

fn default_frame_bytes() -> usize {
    16_384
}

fn default_write_bytes() -> usize {
    65_536
}

/// A system call that sends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Method {
    /// write(2)
    #[default]
    Write,
    /// send(2) with MSG_EOR: nothing is appended to the segment of an earlier call
    Record,
    /// writev(2), the bytes in four parts
    Writev,
    /// sendmmsg(2), the bytes in four messages
    Sendmmsg,
    /// sendfile(2) from a file
    Sendfile,
    /// splice(2) from a pipe
    Splice,
}

/// How one side's socket is set and served.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SocketSpec {
    /// SO_SNDBUF before listen or connect: the kernel doubles it and no longer tunes it.
    pub sndbuf_bytes: Option<i32>,
    /// SO_RCVBUF before listen or connect: the kernel doubles it and no longer tunes it.
    pub rcvbuf_bytes: Option<i32>,
    /// TCP_WINDOW_CLAMP before listen or connect.
    pub window_clamp_bytes: Option<i32>,
    /// SO_MAX_PACING_RATE in Mbit/s.
    pub pacing_mbit: Option<f64>,
    /// TCP_CONGESTION; cubic, whatever the host's own default is.
    #[serde(default = "default_congestion")]
    pub congestion: String,
    /// TCP_NODELAY.
    #[serde(default)]
    pub nodelay: bool,
    /// TCP_NOTSENT_LOWAT.
    pub notsent_lowat_bytes: Option<i32>,
    /// Write without blocking and wait in epoll for room.
    #[serde(default)]
    pub nonblocking: bool,
    /// Read no more than so many bytes a second.
    pub read_bytes_per_s: Option<u64>,
}

fn default_congestion() -> String {
    "cubic".into()
}

impl Default for SocketSpec {
    fn default() -> Self {
        Self {
            sndbuf_bytes: None,
            rcvbuf_bytes: None,
            window_clamp_bytes: None,
            pacing_mbit: None,
            congestion: default_congestion(),
            nodelay: false,
            notsent_lowat_bytes: None,
            nonblocking: false,
            read_bytes_per_s: None,
        }
    }
}

/// What a worker process is told: one side of a flow.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WorkerSpec {
    /// Which side it plays.
    pub side: Side,
    /// Listens (at the address) or connects (to it).
    pub listens: bool,
    /// Where it listens or connects.
    pub address: SocketAddr,
    /// The flow.
    pub flow: FlowSpec,
}

impl WorkerSpec {
    /// This side's socket.
    pub fn socket(&self) -> &SocketSpec {
        match self.side {
            Side::Sender => &self.flow.sender,
            Side::Receiver => &self.flow.receiver,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Pattern;

    fn checked(text: &str) -> anyhow::Result<()> {
        toml::from_str::<Pattern>(text)?.check()
    }

    #[test]
    fn parts_follow_one_another_and_only_the_last_has_no_end() {
        let parts = "kind = \"alternate\"\n\
             [[parts]]\nuntil_s = 5\npattern = { kind = \"bulk\" }\n\
             [[parts]]\nuntil_s = 9\npattern = { kind = \"quiet\" }\n\
             [[parts]]\npattern = { kind = \"bulk\" }\n";
        checked(parts).expect("valid");
        for (from, to) in [
            ("until_s = 9", "until_s = 5"),
            ("until_s = 9\n", ""),
            ("kind = \"quiet\"", "kind = \"alternate\", parts = []"),
            ("kind = \"quiet\"", "kind = \"bulk\", total_bytes = 5"),
        ] {
            assert!(checked(&parts.replacen(from, to, 1)).is_err(), "{to}");
        }
    }

    #[test]
    fn a_grant_is_no_larger_than_the_window() {
        let credit = |window: u32, update: u32| {
            checked(&format!(
                "kind = \"credit\"\nwindow_bytes = {window}\nupdate_bytes = {update}"
            ))
        };
        assert!(credit(65_535, 32_767).is_ok());
        assert!(credit(65_535, 65_536).is_err());
        assert!(credit(65_535, 0).is_err());
    }
}
