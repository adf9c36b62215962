//! The values of the settings: each parses what is allowed and says so otherwise.

use std::fmt;
use std::marker::PhantomData;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Deserializer, de};

use super::keep::{Age, ByteSize};
use super::metrics::{MaxGroups, PeerPrefix};
use super::otlp::{Endpoint, OtlpInterval};
use super::path_bandwidth::PathBandwidth;

/// A value that is not allowed, with what is.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{value}` is not allowed: give {allowed}")]
pub struct Invalid {
    value: String,
    allowed: &'static str,
}

/// A setting that is written as a string, in the file as on the command line.
pub(super) trait Setting: FromStr<Err = Invalid> {
    /// What is allowed, for people.
    const ALLOWED: &'static str;

    fn refuse(value: &str) -> Invalid {
        Invalid {
            value: value.to_owned(),
            allowed: Self::ALLOWED,
        }
    }
}

struct SettingVisitor<T>(PhantomData<T>);

impl<T: Setting> de::Visitor<'_> for SettingVisitor<T> {
    type Value = T;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(T::ALLOWED)
    }

    fn visit_str<E: de::Error>(self, value: &str) -> Result<T, E> {
        value.parse().map_err(E::custom)
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<T, E> {
        value.to_string().parse().map_err(E::custom)
    }
}

macro_rules! deserialize_setting {
    ($($setting:ty),+) => {$(
        impl<'de> Deserialize<'de> for $setting {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                deserializer.deserialize_any(SettingVisitor(PhantomData))
            }
        }
    )+};
}

deserialize_setting!(
    Tick,
    Capacity,
    PathBandwidth,
    ListenAddress,
    SocketMode,
    TelemetryPath,
    HostName,
    ByteSize,
    Age,
    PeerPrefix,
    MaxGroups,
    Endpoint,
    OtlpInterval
);

/// Which source gives the observations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "snake_case")]
#[value(rename_all = "snake_case")]
pub enum SourceChoice {
    /// The best that this kernel and these privileges allow
    #[default]
    Auto,
    /// Kernel probes, or an error
    Ebpf,
    /// Netlink, or an error
    SockDiag,
}

/// What is logged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the usual names")]
pub enum LogLevel {
    Error,
    Warn,
    #[default]
    Info,
    Debug,
    Trace,
}

/// How a line of the log looks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum LogFormat {
    /// For people
    #[default]
    Text,
    /// One object a line
    Json,
}

/// Length of the interval over which a connection is judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tick(Duration);

impl Tick {
    /// The same as std's type.
    #[must_use]
    pub const fn duration(self) -> Duration {
        self.0
    }
}

impl Default for Tick {
    fn default() -> Self {
        Self(Duration::from_secs(1))
    }
}

impl Setting for Tick {
    const ALLOWED: &'static str = "a duration from 100ms to 60s, such as \"500ms\", \"1s\" or \"1m\"";
}

impl FromStr for Tick {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        duration(text)
            .filter(|given| (Duration::from_millis(100)..=Duration::from_secs(60)).contains(given))
            .map(Self)
            .ok_or_else(|| Self::refuse(text))
    }
}

/// `1500ms`, `2s`, `0.5s`, `3m`, `1h`; `None` for anything else.
#[must_use]
pub fn duration(text: &str) -> Option<Duration> {
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.')?;
    let (number, unit) = text.split_at(digits);
    let scale = match unit {
        "ms" => 1e-3,
        "s" => 1.0,
        "m" => 60.0,
        "h" => 3600.0,
        _ => return None,
    };
    Duration::try_from_secs_f64(number.parse::<f64>().ok()? * scale).ok()
}

/// Most connections watched at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capacity(u32);

impl Capacity {
    /// As a count.
    #[must_use]
    pub const fn count(self) -> usize {
        self.0 as usize
    }
}

impl Default for Capacity {
    fn default() -> Self {
        Self(131_072)
    }
}

impl Setting for Capacity {
    const ALLOWED: &'static str = "a number of connections from 64 to 1048576";
}

impl FromStr for Capacity {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        let given = text.parse().ok().filter(|count| (64..=1 << 20).contains(count));
        given.map(Self).ok_or_else(|| Self::refuse(text))
    }
}

/// Where to listen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ListenAddress {
    /// An address and port.
    Tcp(SocketAddr),
    /// A socket with this name in the file system.
    Unix(PathBuf),
}

impl ListenAddress {
    /// Loopback; the port is one that no known exporter takes.
    pub const DEFAULT: &'static str = "127.0.0.1:10430";
}

impl Default for ListenAddress {
    fn default() -> Self {
        Self::Tcp(SocketAddr::from(([127, 0, 0, 1], 10_430)))
    }
}

impl fmt::Display for ListenAddress {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(address) => address.fmt(formatter),
            Self::Unix(path) => write!(formatter, "unix:{}", path.display()),
        }
    }
}

impl Setting for ListenAddress {
    const ALLOWED: &'static str = "an address and port such as \"127.0.0.1:10430\" or \"[::1]:10430\", \":10430\" for all addresses, or \
         \"unix:/run/tcpwin/tcpwin.sock\"";
}

impl FromStr for ListenAddress {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        if let Some(path) = text.strip_prefix("unix:") {
            let path = PathBuf::from(path);
            let named = path.is_absolute() && path.file_name().is_some();
            return named
                .then_some(Self::Unix(path))
                .ok_or_else(|| Self::refuse(text));
        }
        let whole = match text.rsplit_once(':') {
            Some(("", port)) => format!("[::]:{port}"),
            Some(("localhost", port)) => format!("127.0.0.1:{port}"),
            _ => text.to_owned(),
        };
        whole.parse().map(Self::Tcp).map_err(|_| Self::refuse(text))
    }
}

/// Who may connect to a unix socket: permissions of a file, in octal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SocketMode(u32);

impl SocketMode {
    /// As the kernel has it.
    #[must_use]
    pub const fn bits(self) -> u32 {
        self.0
    }
}

/// The user and the group.
impl Default for SocketMode {
    fn default() -> Self {
        Self(0o660)
    }
}

impl Setting for SocketMode {
    const ALLOWED: &'static str = "permissions in octal such as \"0660\" (user and group) or \"0600\"";
}

impl FromStr for SocketMode {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        let octal = (3..=4).contains(&text.len()) && text.bytes().all(|digit| digit.is_ascii_digit());
        let mode = u32::from_str_radix(text, 8).ok();
        mode.filter(|mode| octal && *mode <= 0o777)
            .map(Self)
            .ok_or_else(|| Self::refuse(text))
    }
}

/// Path of the metrics.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TelemetryPath(String);

impl TelemetryPath {
    /// As text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Default for TelemetryPath {
    fn default() -> Self {
        Self("/metrics".to_owned())
    }
}

impl Setting for TelemetryPath {
    const ALLOWED: &'static str = "a path such as \"/metrics\": letters, digits, `-`, `_`, `.` and `/`, not under /api/ or /-/, not /healthz";
}

impl FromStr for TelemetryPath {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_./".contains(c);
        let taken = ["/api", "/-/", "/healthz"];
        let allowed = text.len() > 1
            && text.starts_with('/')
            && text.chars().all(plain)
            && !taken.iter().any(|prefix| text.starts_with(prefix));
        if allowed {
            Ok(Self(text.to_owned()))
        } else {
            Err(Self::refuse(text))
        }
    }
}

/// A name of this host, as it stands in a URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostName(String);

impl HostName {
    /// As text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Setting for HostName {
    const ALLOWED: &'static str =
        "a name of this host such as \"web-1.example.com\", without scheme and port";
}

impl FromStr for HostName {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        let allowed = (1..=253).contains(&text.len()) && text.chars().all(plain);
        allowed
            .then(|| Self(text.to_owned()))
            .ok_or_else(|| Self::refuse(text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sockets_by_name_and_their_mode() {
        let unix: ListenAddress = "unix:/run/tcpwin.sock".parse().unwrap();
        assert_eq!(unix, ListenAddress::Unix("/run/tcpwin.sock".into()));
        assert_eq!(unix.to_string(), "unix:/run/tcpwin.sock");
        for wrong in ["unix:", "unix:here.sock", "unix:/"] {
            assert!(wrong.parse::<ListenAddress>().is_err(), "{wrong}");
        }
        assert_eq!("0660".parse::<SocketMode>().unwrap().bits(), 0o660);
        for wrong in ["", "66", "0668", "1777", "rw-rw----", "+660"] {
            assert!(wrong.parse::<SocketMode>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn durations_as_prometheus_people_write_them() {
        assert_eq!(duration("500ms"), Some(Duration::from_millis(500)));
        assert_eq!(duration("0.5s"), Some(Duration::from_millis(500)));
        assert_eq!(duration("1m"), Some(Duration::from_secs(60)));
        for wrong in ["", "1", "s", "1 s", "-1s", "1d", "1e9s", "1.2.3s"] {
            assert_eq!(duration(wrong), None, "{wrong}");
        }
    }
}
