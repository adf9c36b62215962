//! `tcpwin agent`.

use std::path::PathBuf;

use clap::{Args, ValueHint};

use crate::config::{
    Age, ByteSize, HistorySettings, HostName, ListenAddress, LogFormat, LogLevel, MetricsSaid, OtlpSaid,
    Overrides, SocketMode, TelemetryPath,
};

use super::{RecordArgs, WatchArgs};

/// Arguments of `tcpwin agent`.
#[derive(Args, Debug)]
pub struct AgentArgs {
    #[command(flatten)]
    #[expect(missing_docs, reason = "clap would show it")]
    pub watch: WatchArgs,
    #[command(flatten)]
    metrics: MetricsSaid,
    #[command(flatten)]
    otlp: OtlpSaid,
    /// Address to listen on, or unix:/PATH; may be given several times; port 0 takes a free one [default: 127.0.0.1:10430]
    #[arg(
        long = "web.listen-address",
        value_name = "ADDRESS:PORT",
        help_heading = "HTTP"
    )]
    listen_address: Vec<ListenAddress>,
    /// Permissions of unix sockets: who may connect sees single connections [default: 0660]
    #[arg(long = "web.socket-mode", value_name = "OCTAL", help_heading = "HTTP")]
    socket_mode: Option<SocketMode>,
    /// Path of the metrics [default: /metrics]
    #[arg(long = "web.telemetry-path", value_name = "PATH", help_heading = "HTTP")]
    telemetry_path: Option<TelemetryPath>,
    /// TLS, passwords and client certificates: a YAML file of Prometheus' exporter toolkit (docs/web-config.md)
    #[arg(long = "web.config.file", value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "HTTP")]
    web_config_file: Option<PathBuf>,
    /// Let POST /-/reload read the configuration again, as SIGHUP does
    #[arg(long = "web.enable-lifecycle", help_heading = "HTTP")]
    enable_lifecycle: bool,
    /// Name of this host under which its own readers may see single connections, beside localhost and addresses; may be given
    /// several times
    #[arg(long = "web.allowed-host", value_name = "NAME", help_heading = "HTTP")]
    allowed_host: Vec<HostName>,
    /// What is logged [default: info]
    #[arg(long = "log.level", value_enum, value_name = "LEVEL", help_heading = "Log")]
    log_level: Option<LogLevel>,
    /// How a line of the log looks [default: text]
    #[arg(long = "log.format", value_enum, value_name = "FORMAT", help_heading = "Log")]
    log_format: Option<LogFormat>,
    #[command(flatten)]
    record: RecordArgs,
    /// Folder in which the last hours are kept, for `tcpwin history` [default: none; `history` in systemd's state directory]
    #[arg(long = "history.directory", value_name = "DIR", help_heading = "History")]
    history_directory: Option<PathBuf>,
    /// How long they are kept [default: 24h]
    #[arg(long = "history.max-age", value_name = "TIME", help_heading = "History")]
    history_max_age: Option<Age>,
    /// Most that they take on disk [default: 256MiB]
    #[arg(long = "history.max-size", value_name = "SIZE", help_heading = "History")]
    history_max_size: Option<ByteSize>,
}

impl AgentArgs {
    /// As settings.
    #[must_use]
    pub fn overrides(&self) -> Overrides {
        Overrides {
            metrics: self.metrics.clone(),
            otlp: self.otlp.clone(),
            listen_address: self.listen_address.clone(),
            socket_mode: self.socket_mode,
            telemetry_path: self.telemetry_path.clone(),
            web_config_file: self.web_config_file.clone(),
            enable_lifecycle: self.enable_lifecycle,
            allowed_host: self.allowed_host.clone(),
            log_level: self.log_level,
            log_format: self.log_format,
            record: self.record.settings(),
            history: HistorySettings {
                directory: self.history_directory.clone(),
                max_size: self.history_max_size,
                max_age: self.history_max_age,
            },
            ..self.watch.overrides()
        }
    }
}
