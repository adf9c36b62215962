//! What the agent is told to do: a file, overridden by flags, parsed into types that can only hold what is allowed.
//!
//! The file's keys are the flags' names: `--web.listen-address` is `listen-address` in `[web]`.

use std::path::{Path, PathBuf};

use serde::Deserialize;

mod keep;
mod metrics;
mod otlp;
mod path_bandwidth;
mod setting;

pub use keep::{Age, ByteSize, History, HistorySettings, Record, RecordSettings};
pub use metrics::{GroupBy, MaxGroups, Metrics, MetricsSaid, PeerPrefix};
pub use otlp::{Endpoint, Otlp, OtlpInterval, OtlpSaid, headers};
pub use path_bandwidth::{PathBandwidth, PathBandwidths};
pub use setting::{
    Capacity, HostName, Invalid, ListenAddress, LogFormat, LogLevel, SocketMode, SourceChoice, TelemetryPath,
    Tick, duration,
};

/// Everything the agent can be told, valid.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// Which source.
    pub source: SourceChoice,
    /// Length of an interval.
    pub interval: Tick,
    /// Most connections watched at once.
    pub max_connections: Capacity,
    /// What paths can carry, where the user says so.
    pub path_bandwidth: Vec<PathBandwidth>,
    /// The metrics.
    pub metrics: Metrics,
    /// Metrics are sent to a receiver, too.
    pub otlp: Option<Otlp>,
    /// The HTTP side.
    pub web: Web,
    /// The log.
    pub log: Log,
    /// The recording.
    pub record: Record,
    /// The flight recorder.
    pub history: History,
}

/// The HTTP side.
#[derive(Clone, Debug, PartialEq)]
pub struct Web {
    /// Where to listen; never empty.
    pub listen_address: Vec<ListenAddress>,
    /// Who may connect to unix sockets.
    pub socket_mode: SocketMode,
    /// Path of the metrics.
    pub telemetry_path: TelemetryPath,
    /// TLS and passwords, in the format of Prometheus' exporter toolkit.
    pub config_file: Option<PathBuf>,
    /// If the configuration may be read again over HTTP.
    pub enable_lifecycle: bool,
    /// Names of this host under which its readers may see single connections.
    pub allowed_host: Vec<HostName>,
}

/// The log.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Log {
    /// What is logged.
    pub level: LogLevel,
    /// How.
    pub format: LogFormat,
}

/// What may stand in the file; what does not is left to the defaults.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct File {
    source: Option<SourceChoice>,
    interval: Option<Tick>,
    max_connections: Option<Capacity>,
    path_bandwidth: Option<PathBandwidths>,
    metrics: MetricsSaid,
    otlp: OtlpSaid,
    web: FileWeb,
    log: FileLog,
    record: RecordSettings,
    history: HistorySettings,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
struct FileWeb {
    listen_address: Option<Vec<ListenAddress>>,
    socket_mode: Option<SocketMode>,
    telemetry_path: Option<TelemetryPath>,
    config_file: Option<PathBuf>,
    enable_lifecycle: Option<bool>,
    allowed_host: Option<Vec<HostName>>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
struct FileLog {
    level: Option<LogLevel>,
    format: Option<LogFormat>,
}

/// What the flags say; they win over the file.
#[derive(Clone, Debug, Default)]
#[expect(missing_docs, reason = "the fields of Config")]
pub struct Overrides {
    pub source: Option<SourceChoice>,
    pub interval: Option<Tick>,
    pub max_connections: Option<Capacity>,
    pub path_bandwidth: Vec<PathBandwidth>,
    pub metrics: MetricsSaid,
    pub otlp: OtlpSaid,
    pub listen_address: Vec<ListenAddress>,
    pub socket_mode: Option<SocketMode>,
    pub telemetry_path: Option<TelemetryPath>,
    pub web_config_file: Option<PathBuf>,
    pub enable_lifecycle: bool,
    pub allowed_host: Vec<HostName>,
    pub log_level: Option<LogLevel>,
    pub log_format: Option<LogFormat>,
    pub record: RecordSettings,
    pub history: HistorySettings,
}

/// Why there is no configuration.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The file cannot be read.
    #[error("cannot read the config file {}: {cause}; check the path given to --config.file", .path.display())]
    Read {
        /// Which.
        path: PathBuf,
        /// What the kernel said.
        cause: std::io::Error,
    },
    /// A line of it is wrong.
    #[error("{}:{line}: {}{message}", .path.display(), key_text(.key))]
    Line {
        /// Which file.
        path: PathBuf,
        /// Which line, from 1.
        line: usize,
        /// Which key, `web.listen-address`; empty if the line has none.
        key: String,
        /// What is wrong and what is allowed.
        message: String,
    },
    /// The file says to listen nowhere.
    #[error("{}: `web.listen-address` is empty: give at least one address, or leave the key out for {}",
        .path.display(), ListenAddress::DEFAULT)]
    NoAddress {
        /// Which file.
        path: PathBuf,
    },
}

fn key_text(key: &str) -> String {
    if key.is_empty() {
        String::new()
    } else {
        format!("`{key}`: ")
    }
}

impl Config {
    /// The file, if there is one, overridden by the flags.
    ///
    /// # Errors
    /// When the file cannot be read or says what is not allowed.
    pub fn load(path: Option<&Path>, flags: &Overrides) -> Result<Self, ConfigError> {
        let file = path.map_or_else(|| Ok(File::default()), File::read)?;
        Ok(Self::merge(file, flags.clone()))
    }

    /// Flags win over the file, the file over the defaults.
    #[must_use]
    pub fn merge(file: File, flags: Overrides) -> Self {
        let listen_address = Some(flags.listen_address)
            .filter(|given| !given.is_empty())
            .or(file.web.listen_address)
            .unwrap_or_else(|| vec![ListenAddress::default()]);
        let path_bandwidth = Some(flags.path_bandwidth)
            .filter(|given| !given.is_empty())
            .or(file.path_bandwidth.map(|several| several.0))
            .unwrap_or_default();
        let allowed_host = Some(flags.allowed_host)
            .filter(|given| !given.is_empty())
            .or(file.web.allowed_host)
            .unwrap_or_default();
        let telemetry_path = flags.telemetry_path.or(file.web.telemetry_path);
        Self {
            source: flags.source.or(file.source).unwrap_or_default(),
            interval: flags.interval.or(file.interval).unwrap_or_default(),
            max_connections: flags.max_connections.or(file.max_connections).unwrap_or_default(),
            path_bandwidth,
            metrics: Metrics::merge(file.metrics, flags.metrics),
            otlp: Otlp::merge(file.otlp, flags.otlp),
            web: Web {
                listen_address,
                socket_mode: flags.socket_mode.or(file.web.socket_mode).unwrap_or_default(),
                telemetry_path: telemetry_path.unwrap_or_default(),
                config_file: flags.web_config_file.or(file.web.config_file),
                enable_lifecycle: flags.enable_lifecycle || file.web.enable_lifecycle.unwrap_or(false),
                allowed_host,
            },
            log: Log {
                level: flags.log_level.or(file.log.level).unwrap_or_default(),
                format: flags.log_format.or(file.log.format).unwrap_or_default(),
            },
            record: flags.record.or(file.record),
            history: flags.history.or(file.history),
        }
    }

    /// Keys whose values differ from `running` but need a restart to take effect.
    #[must_use]
    pub fn needs_restart(&self, running: &Self) -> Vec<&'static str> {
        let differing = [
            ("source", self.source != running.source),
            ("max-connections", self.max_connections != running.max_connections),
            ("path-bandwidth", self.path_bandwidth != running.path_bandwidth),
            ("metrics", self.metrics != running.metrics),
            ("otlp", self.otlp != running.otlp),
            (
                "web.listen-address",
                self.web.listen_address != running.web.listen_address,
            ),
            ("web.socket-mode", self.web.socket_mode != running.web.socket_mode),
            (
                "web.telemetry-path",
                self.web.telemetry_path != running.web.telemetry_path,
            ),
            ("web.config-file", self.web.config_file != running.web.config_file),
            (
                "web.enable-lifecycle",
                self.web.enable_lifecycle != running.web.enable_lifecycle,
            ),
            (
                "web.allowed-host",
                self.web.allowed_host != running.web.allowed_host,
            ),
            ("log.format", self.log.format != running.log.format),
            ("record", self.record != running.record),
            ("history", self.history != running.history),
        ];
        differing
            .into_iter()
            .filter_map(|(key, differs)| differs.then_some(key))
            .collect()
    }
}

impl File {
    fn read(path: &Path) -> Result<Self, ConfigError> {
        let text = std::fs::read_to_string(path).map_err(|cause| ConfigError::Read {
            path: path.to_owned(),
            cause,
        })?;
        Self::parse(path, &text)
    }

    /// From the file's text; `path` only names it in errors.
    ///
    /// # Errors
    /// Naming the line, the key and what is allowed.
    pub fn parse(path: &Path, text: &str) -> Result<Self, ConfigError> {
        let at = |key: Option<String>, error: &toml::de::Error| {
            let line = line_of(text, error.span().map_or(0, |span| span.start));
            ConfigError::Line {
                path: path.to_owned(),
                line,
                key: key.unwrap_or_else(|| key_on(text, line)),
                message: error.message().to_owned(),
            }
        };
        let document = toml::Deserializer::parse(text).map_err(|error| at(None, &error))?;
        let file: Self = serde_path_to_error::deserialize(document).map_err(|error| {
            let key = Some(error.path().to_string()).filter(|key| key != ".");
            at(key, error.inner())
        })?;
        if file.web.listen_address.as_ref().is_some_and(Vec::is_empty) {
            return Err(ConfigError::NoAddress {
                path: path.to_owned(),
            });
        }
        Ok(file)
    }
}

fn line_of(text: &str, offset: usize) -> usize {
    1 + text.bytes().take(offset).filter(|byte| *byte == b'\n').count()
}

/// What stands before the `=` of a line that is not even TOML.
fn key_on(text: &str, line: usize) -> String {
    let assignment = text.lines().nth(line - 1).and_then(|line| line.split_once('='));
    assignment.map_or_else(String::new, |(key, _)| key.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn complaint(text: &str) -> String {
        File::parse(Path::new("tcpwin.toml"), text)
            .unwrap_err()
            .to_string()
    }

    #[test]
    fn flags_win_over_the_file_and_the_file_over_defaults() {
        let text = "interval = \"5s\"\nsource = \"ebpf\"\npath-bandwidth = \"1Gbit\"\n[web]\nlisten-address = [\":9999\", \"localhost:0\"]\n";
        let file = File::parse(Path::new("tcpwin.toml"), text).unwrap();
        let flags = Overrides {
            interval: Some("250ms".parse().unwrap()),
            ..Overrides::default()
        };
        let config = Config::merge(file, flags);
        assert_eq!(config.interval, "250ms".parse().unwrap());
        assert_eq!(config.source, SourceChoice::Ebpf);
        assert_eq!(config.path_bandwidth, ["1Gbit".parse().unwrap()]);
        assert_eq!(config.web.listen_address[0].to_string(), "[::]:9999");
        assert_eq!(config.web.listen_address[1].to_string(), "127.0.0.1:0");
        assert_eq!(config.log.level, LogLevel::Info);
    }

    #[test]
    fn complaints_name_file_line_key_and_what_is_allowed() {
        let complaints = [
            "interval = \"1s\"\n\nintervall = \"1s\"\n",
            "[web]\n\nlisten-adress = [\":1\"]\n",
            "interval = \"5 parsecs\"\n",
            "interval = 5\n",
            "interval = \"10ms\"\n",
            "source = \"bpf\"\n",
            "max-connections = 3\n",
            "max-connections = \"many\"\n",
            "path-bandwidth = \"fast\"\n",
            "path-bandwidth = [\"1Gbit\", \"10.0.0.0/40=1Gbit\"]\n",
            "[web]\nlisten-address = [\n  \"127.0.0.1:1\",\n  \"nowhere\",\n]\n",
            "[web]\ntelemetry-path = \"metrics\"\n",
            "[web]\ntelemetry-path = \"/api/v1/metrics\"\n",
            "[web]\nlisten-address = []\n",
            "[web]\nallowed-host = [\"http://here\"]\n",
            "[web]\nenable-lifecycle = \"yes\"\n",
            "[metrics]\ngroup-by = [\"user\"]\n",
            "[metrics]\npeer-prefix = [\"near\"]\n",
            "[metrics]\nmax-groups = 0\n",
            "[otlp]\nendpoint = \"127.0.0.1:4318\"\n",
            "[otlp]\ninterval = \"1ms\"\n",
            "[log]\nlevel = \"loud\"\n",
            "[log\n",
            "interval = \"1s\"\ninterval = \"2s\"\n",
        ]
        .map(complaint)
        .join("\n");
        insta::assert_snapshot!(complaints);
    }

    #[test]
    fn what_needs_a_restart_is_named() {
        let running = Config::merge(File::default(), Overrides::default());
        let text = "interval = \"2s\"\nsource = \"sock_diag\"\n[log]\nlevel = \"debug\"\nformat = \"json\"\n";
        let file = File::parse(Path::new("tcpwin.toml"), text).unwrap();
        let reread = Config::merge(file, Overrides::default());
        assert_eq!(reread.needs_restart(&running), ["source", "log.format"]);
    }
}
