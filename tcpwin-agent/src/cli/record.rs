//! Recordings: made and played.

use std::path::PathBuf;

use clap::Args;

use crate::config::{Age, ByteSize, RecordSettings};

/// Writing down all that is seen.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Recording")]
pub struct RecordArgs {
    /// Write down all that is seen, for --replay; what is older is in FILE.1, FILE.2 …
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
    /// Most that a recording takes on disk; the oldest part goes first [default: 1GiB]
    #[arg(long, value_name = "SIZE")]
    record_max_size: Option<ByteSize>,
    /// How long the parts of a recording are kept, such as 12h [default: until the size is reached]
    #[arg(long, value_name = "TIME")]
    record_max_age: Option<Age>,
    /// Record other addresses in place of the real ones, the same for the same one, and no host name
    #[arg(long)]
    record_anonymise: bool,
    /// Record connections of this network namespace alone (the number in /proc/PID/ns/net); may be given several times
    #[arg(long, value_name = "NUMBER")]
    record_netns: Vec<u32>,
}

impl RecordArgs {
    /// As settings.
    #[must_use]
    pub fn settings(&self) -> RecordSettings {
        RecordSettings {
            file: self.record.clone(),
            max_size: self.record_max_size,
            max_age: self.record_max_age,
            anonymise: self.record_anonymise.then_some(true),
            netns: self.record_netns.clone(),
        }
    }
}

/// Playing a recording.
#[derive(Args, Clone, Debug, Default)]
pub struct ReplayArgs {
    /// Replay a recording made with --record instead of watching; trace copies what is chosen of it with --record
    #[arg(
        long,
        value_name = "FILE",
        help_heading = "Recording",
        conflicts_with_all = ["connect", "no_connect", "source", "max_connections", "path_bandwidth", "config_file"]
    )]
    pub replay: Option<PathBuf>,
}
