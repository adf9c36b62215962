//! What is kept on disk: a recording, the flight recorder's history.

use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use serde::Deserialize;

use super::setting::{Invalid, Setting, duration};

/// Where everything that goes into the table is written down.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// The file; nothing is recorded without one.
    pub file: Option<PathBuf>,
    /// Most that all its segments take.
    pub max_size: ByteSize,
    /// How long they are kept; until the size is reached without it.
    pub max_age: Option<Age>,
    /// With other addresses.
    pub anonymise: bool,
    /// Only of these network namespaces; of all where there is none.
    pub netns: Vec<u32>,
}

/// Where the flight recorder keeps the last hours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct History {
    /// The folder; nothing is kept without one.
    pub directory: Option<PathBuf>,
    /// Most that it takes.
    pub max_size: ByteSize,
    /// How long it is kept.
    pub max_age: Age,
}

/// `[record]` of the file, or the flags.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
#[expect(missing_docs, reason = "the fields of Record")]
pub struct RecordSettings {
    pub file: Option<PathBuf>,
    pub max_size: Option<ByteSize>,
    pub max_age: Option<Age>,
    pub anonymise: Option<bool>,
    pub netns: Vec<u32>,
}

/// `[history]` of the file, or the flags.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
#[expect(missing_docs, reason = "the fields of History")]
pub struct HistorySettings {
    pub directory: Option<PathBuf>,
    pub max_size: Option<ByteSize>,
    pub max_age: Option<Age>,
}

impl Record {
    /// As the flags say, whatever a file says.
    #[must_use]
    pub fn of(flags: RecordSettings) -> Self {
        flags.or(RecordSettings::default())
    }
}

impl History {
    /// As the flags say, whatever a file says.
    #[must_use]
    pub fn of(flags: HistorySettings) -> Self {
        flags.or(HistorySettings::default())
    }
}

impl RecordSettings {
    /// Flags win over the file.
    pub(super) fn or(self, file: Self) -> Record {
        Record {
            file: self.file.or(file.file),
            max_size: self.max_size.or(file.max_size).unwrap_or(ByteSize::RECORDING),
            max_age: self.max_age.or(file.max_age),
            anonymise: self.anonymise.or(file.anonymise).unwrap_or(false),
            netns: if self.netns.is_empty() {
                file.netns
            } else {
                self.netns
            },
        }
    }
}

impl HistorySettings {
    /// Flags win over the file.
    pub(super) fn or(self, file: Self) -> History {
        History {
            directory: self.directory.or(file.directory),
            max_size: self.max_size.or(file.max_size).unwrap_or(ByteSize::HISTORY),
            max_age: self.max_age.or(file.max_age).unwrap_or(Age::DAY),
        }
    }
}

/// An amount of disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ByteSize(u64);

impl ByteSize {
    /// Of a recording, where nothing else is said.
    pub const RECORDING: Self = Self(1 << 30);
    /// Of the history, where nothing else is said.
    pub const HISTORY: Self = Self(256 << 20);

    /// In bytes.
    #[must_use]
    pub const fn bytes(self) -> u64 {
        self.0
    }
}

impl Setting for ByteSize {
    const ALLOWED: &'static str = "a size from 1MiB to 1TiB, such as \"64MiB\" or \"1GiB\"";
}

impl FromStr for ByteSize {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        let refused = || Self::refuse(text);
        let digits = text
            .find(|c: char| !c.is_ascii_digit() && c != '.')
            .ok_or_else(refused)?;
        let (number, unit) = text.split_at(digits);
        let scale = match unit {
            "KiB" => 1u64 << 10,
            "MiB" => 1 << 20,
            "GiB" => 1 << 30,
            "TiB" => 1 << 40,
            "kB" => 1_000,
            "MB" => 1_000_000,
            "GB" => 1_000_000_000,
            _ => return Err(refused()),
        };
        let bytes = number.parse::<f64>().map_err(|_| refused())? * scale as f64;
        let allowed = (1u64 << 20) as f64..=(1u64 << 40) as f64;
        if allowed.contains(&bytes) {
            Ok(Self(bytes as u64))
        } else {
            Err(refused())
        }
    }
}

/// How long something is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Age(Duration);

impl Age {
    /// 24 hours.
    pub const DAY: Self = Self(Duration::from_secs(86_400));

    /// As std's type.
    #[must_use]
    pub const fn duration(self) -> Duration {
        self.0
    }
}

impl Setting for Age {
    const ALLOWED: &'static str = "a time from 1m to 8760h, such as \"30m\" or \"24h\"";
}

impl FromStr for Age {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        duration(text)
            .filter(|given| (Duration::from_secs(60)..=Duration::from_secs(365 * 86_400)).contains(given))
            .map(Self)
            .ok_or_else(|| Self::refuse(text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_ages_as_people_write_them() {
        let size = |text: &str| text.parse::<ByteSize>().ok().map(ByteSize::bytes);
        assert_eq!(size("1GiB"), Some(1 << 30));
        assert_eq!(size("1.5MiB"), Some(3 << 19));
        assert_eq!(size("2MB"), Some(2_000_000));
        for wrong in ["", "1", "1G", "500KiB", "2TiB", "-1GiB", "GiB"] {
            assert_eq!(size(wrong), None, "{wrong}");
        }
        assert_eq!("24h".parse::<Age>().ok(), Some(Age::DAY));
        assert!("30s".parse::<Age>().is_err());
    }
}
