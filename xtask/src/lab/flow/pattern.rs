//! What the two programs of a flow do.

use anyhow::{Result, bail};
use serde::{Deserialize, Serialize};

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
