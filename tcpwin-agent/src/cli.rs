//! The command line.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueHint};
use clap_complete::Shell;

use crate::config::{
    Age, ByteSize, Capacity, HistorySettings, ListenAddress, LogFormat, LogLevel, MetricsSaid, Overrides,
    PathBandwidth, RecordSettings, SocketMode, SourceChoice, TelemetryPath, Tick,
};
use crate::history;
use crate::query::{Filter, FilterError};
use crate::snapshot::TraceEvent;
use crate::top::{self, ColourMode, Columns, Palette, PictureSize, Settings, Sort};
use crate::trace;

mod shell;

pub use shell::{completions, manual};

/// How the program ends. Documented in `--help` and docs/exit-codes.md.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    /// Did what was asked.
    Done = 0,
    /// Failed while running.
    Runtime = 1,
    /// Wrong arguments or config file.
    Usage = 2,
    /// A privilege is missing.
    Privilege = 3,
    /// No source of socket data works on this kernel.
    Kernel = 4,
    /// Done, but a part of what was asked was lost.
    Partial = 5,
    /// The time was up before as many events came as were asked for.
    Short = 6,
}

const EXIT_CODES: &str = "\
Exit codes:
  0  done, or ended by SIGINT or SIGTERM
  1  failed while running (port in use, agent out of reach, …)
  2  wrong arguments or config file
  3  a privilege is missing; the message says which
  4  no source of socket data works on this kernel, or the one asked for by --source does not
  5  done, but a part was lost: trace could not keep up with the events, or a recording is damaged or cut short
  6  trace: --duration was over before --count events came";

/// What limits every TCP connection of this host, what lifting the limit gives, and who must act
#[derive(Debug, Parser)]
#[command(name = "tcpwin", version, after_help = EXIT_CODES, max_term_width = 110)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The subcommands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Watch all connections; serve Prometheus metrics and the HTTP API
    #[command(after_help = EXIT_CODES)]
    Agent(AgentArgs),
    /// Live screen of all connections; attaches to a running agent, else watches by itself
    #[command(after_help = EXIT_CODES)]
    Top(TopArgs),
    /// Which connections were held in the last hours, by what, and what it cost: from what an agent keeps on disk
    #[command(after_help = EXIT_CODES)]
    History(HistoryArgs),
    /// Tell what happens to connections, a line an event; attaches to a running agent, else watches by itself
    #[command(after_help = EXIT_CODES)]
    Trace(TraceArgs),
    /// Write completions for a shell to standard output
    #[command(after_help = COMPLETIONS)]
    Completions {
        /// Which shell
        shell: Shell,
    },
    /// Write the manual's pages into a directory
    #[command(hide = true)]
    Man {
        /// Where; it must be there
        #[arg(value_name = "DIRECTORY", value_hint = ValueHint::DirPath)]
        directory: PathBuf,
    },
    /// Tell what limits each socket of pasted `ss -tinm` output, or a running connection
    #[command(after_help = EXPLAIN_HELP)]
    Explain(ExplainArgs),
}

const EXPLAIN_HELP: &str = "\
Any output of ss with -i will do, of any iproute2, as it came through mail or a web page.
More is told from two looks 10 s apart, from both ends, and with -m:

  ss -tinm dst 203.0.113.7 | tcpwin explain
  tcpwin explain --live 'peer = 203.0.113.7'

Exit codes:
  0  done
  1  failed while running (file cannot be read, no connection passes the filter, …)
  2  wrong arguments, or nothing that reads as the output of ss
  3, 4  with --live, as of tcpwin top";

/// Arguments of `tcpwin explain`.
#[derive(Args, Debug)]
pub struct ExplainArgs {
    /// File with the output of ss, or - for standard input [default: -]
    #[arg(value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// One JSON object: {"sockets": […]}
    #[arg(long)]
    pub json: bool,
    /// Explain the running connections that pass the filter instead, watched for a few seconds
    #[arg(long, value_name = "FILTER", value_parser = parse_filter, conflicts_with = "file")]
    pub live: Option<Filter>,
    /// How long they are watched first [default: 5s]
    #[arg(long = "for", value_name = "DURATION", value_parser = parse_duration, requires = "live")]
    pub watch_for: Option<Duration>,
    #[command(flatten)]
    #[expect(missing_docs, reason = "clap would show it")]
    pub connect: ConnectArgs,
    #[command(flatten)]
    #[expect(missing_docs, reason = "clap would show it")]
    pub watch: WatchArgs,
}

const COMPLETIONS: &str = "\
To have them in every new shell:
  bash    tcpwin completions bash > ~/.local/share/bash-completion/completions/tcpwin
  zsh     tcpwin completions zsh > a directory of $fpath, as _tcpwin
  fish    tcpwin completions fish > ~/.config/fish/completions/tcpwin.fish
  elvish  tcpwin completions elvish >> ~/.config/elvish/rc.elv";

/// How the connections are watched.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Watching")]
pub struct WatchArgs {
    /// Where the observations come from [default: auto]
    #[arg(long, value_enum)]
    source: Option<SourceChoice>,
    /// Length of the interval over which connections are judged, 100ms to 60s [default: 1s]
    #[arg(long, value_name = "DURATION")]
    interval: Option<Tick>,
    /// Most connections watched at once; more are counted as lost [default: 131072]
    #[arg(long, value_name = "COUNT")]
    max_connections: Option<Capacity>,
    /// What paths can carry, such as 1Gbit, or those to a prefix: 203.0.113.0/24=1Gbit; may be given several times
    #[arg(long, value_name = "[PREFIX=]BANDWIDTH")]
    path_bandwidth: Vec<PathBandwidth>,
    /// TOML file with the same settings; flags win over it
    #[arg(long = "config.file", value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub config_file: Option<PathBuf>,
}

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

/// The end of a recording as a picture.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Recording")]
pub struct PictureArgs {
    /// Draw the last screen of the recording to a file, as SVG, instead of showing it
    #[arg(long, value_name = "FILE", requires = "replay")]
    pub picture: Option<PathBuf>,
    /// Size of that screen
    #[arg(long, value_name = "COLUMNSxROWS", requires = "picture", default_value_t)]
    pub picture_size: PictureSize,
    /// Keys that are typed before it is drawn, such as /nginx<Enter><Enter>
    #[arg(long, value_name = "KEYS", requires = "picture", default_value = "")]
    pub picture_keys: String,
}

/// Arguments of `tcpwin agent`.
#[derive(Args, Debug)]
pub struct AgentArgs {
    #[command(flatten)]
    #[expect(missing_docs, reason = "clap would show it")]
    pub watch: WatchArgs,
    #[command(flatten)]
    metrics: MetricsSaid,
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

/// Where a running agent is.
#[derive(Args, Clone, Debug, Default)]
pub struct ConnectArgs {
    /// Attach to the agent at this address or unix:/PATH, or fail; without it /run/tcpwin/tcpwin.sock and the default address
    /// are tried
    #[arg(
        long,
        value_name = "URL",
        conflicts_with_all = ["source", "interval", "max_connections", "path_bandwidth", "config_file", "no_connect"]
    )]
    pub connect: Option<String>,
    /// Do not look for a running agent
    #[arg(long)]
    no_connect: bool,
}

/// Arguments of `tcpwin top`.
#[derive(Args, Debug)]
#[expect(missing_docs, reason = "clap would show it")]
pub struct TopArgs {
    #[command(flatten)]
    screen: ScreenArgs,
    #[command(flatten)]
    pub record: RecordArgs,
    #[command(flatten)]
    pub replay: ReplayArgs,
    #[command(flatten)]
    pub picture: PictureArgs,
    #[command(flatten)]
    pub connect: ConnectArgs,
    #[command(flatten)]
    pub watch: WatchArgs,
}

#[derive(Args, Debug)]
#[command(next_help_heading = "Screen")]
struct ScreenArgs {
    /// Order of the table: a column, or -COLUMN for the other way round [default: limit, the sickest first]
    #[arg(long, value_name = "COLUMN", allow_hyphen_values = true)]
    sort: Option<Sort>,
    /// Columns of the table from left to right, with a width where one is wanted: limit,rate,peer=40 [default: those that fit]
    #[arg(long, value_name = "COLUMN[=WIDTH],…")]
    columns: Option<Columns>,
    /// Show only what passes: words, and conditions such as limit=rwnd or "rate > 1M and peer in 203.0.113.0/24"
    #[arg(long, value_name = "FILTER", value_parser = parse_filter)]
    filter: Option<Filter>,
    /// Show only connections held by a window, loss or this host
    #[arg(long)]
    sick: bool,
    /// Colours [default: auto, from NO_COLOR, TERM and COLORTERM]
    #[arg(long, value_enum, value_name = "WHEN")]
    color: Option<Color>,
    /// Draw with nothing but ASCII
    #[arg(long)]
    ascii: bool,
    /// Colours by their meaning: okabe-ito, high-contrast, light or terminal [default: okabe-ito]
    #[arg(long, value_name = "NAME")]
    palette: Option<Palette>,
    /// Settings of the screen; flags win over them [default: ~/.config/tcpwin/top.toml]
    #[arg(long = "top.config.file", value_name = "FILE")]
    settings_file: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Color {
    Auto,
    Never,
    /// The terminal's own
    #[value(name = "16")]
    Sixteen,
    /// A palette that colour-blind people can tell apart
    #[value(name = "256")]
    Full,
}

impl TopArgs {
    /// How the screen starts: flags win over the settings file.
    ///
    /// # Errors
    /// When the settings file cannot be read or says what is not allowed.
    pub fn options(&self) -> Result<top::Options, top::SettingsError> {
        let screen = &self.screen;
        let file = Settings::load(screen.settings_file.as_deref(), |name| std::env::var_os(name))?;
        let interval = self.watch.interval.map(Tick::duration).or(file.interval);
        Ok(top::Options {
            interval: interval.unwrap_or_else(|| self.watch.interval()),
            colour: match screen.color {
                None | Some(Color::Auto) => ColourMode::Auto,
                Some(Color::Never) => ColourMode::Never,
                Some(Color::Sixteen) => ColourMode::Sixteen,
                Some(Color::Full) => ColourMode::Full,
            },
            ascii: screen.ascii || file.ascii.unwrap_or_default(),
            sort: screen.sort.or(file.sort).unwrap_or_default(),
            columns: screen.columns.clone().or(file.columns).unwrap_or_default(),
            filter: screen.filter.clone().or(file.filter).unwrap_or_default(),
            sick_only: screen.sick || file.sick.unwrap_or_default(),
            palette: screen.palette.unwrap_or(file.palette),
            presets: file.presets,
            settings_file: file.path,
            playback: None,
        })
    }
}

/// Arguments of `tcpwin trace`.
#[derive(Args, Debug)]
pub struct TraceArgs {
    /// One JSON object a line
    #[arg(long)]
    json: bool,
    /// Tell only what passes: words, and conditions such as "event = close and rtt > 50ms and proc = nginx"
    #[arg(long, value_name = "FILTER", value_parser = parse_filter)]
    filter: Option<Filter>,
    /// Tell only these kinds of events, with commas between
    #[arg(long, value_name = "KIND", value_delimiter = ',', value_parser = TraceEvent::NAMES)]
    event: Vec<String>,
    /// End after this many events
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    count: Option<u64>,
    /// End after this time, such as 30s or 5m
    #[arg(long, value_name = "DURATION", value_parser = parse_duration)]
    duration: Option<Duration>,
    #[command(flatten)]
    #[expect(missing_docs, reason = "clap would show it")]
    pub record: RecordArgs,
    #[command(flatten)]
    #[expect(missing_docs, reason = "clap would show it")]
    pub replay: ReplayArgs,
    #[command(flatten)]
    #[expect(missing_docs, reason = "clap would show it")]
    pub connect: ConnectArgs,
    #[command(flatten)]
    #[expect(missing_docs, reason = "clap would show it")]
    pub watch: WatchArgs,
}

impl TraceArgs {
    /// Which events are told, and how; `columns` are the terminal's, if lines go to one.
    #[must_use]
    pub fn options(&self, columns: Option<usize>) -> trace::Options {
        trace::Options {
            filter: self.filter.clone().unwrap_or_default(),
            kinds: self.event.clone(),
            json: self.json,
            columns,
            count: self.count,
            duration: self.duration,
        }
    }
}

/// With the fault pointed at.
fn parse_filter(text: &str) -> Result<Filter, String> {
    text.parse().map_err(|error: FilterError| {
        format!("wrong at column {}\n\n{}", error.column + 1, error.pointed(text))
    })
}

/// Where the history is looked for: the state directory of the agent's unit.
const HISTORY: &str = "/var/lib/tcpwin/history";

/// Arguments of `tcpwin history`.
#[derive(Args, Debug)]
pub struct HistoryArgs {
    /// The minute of this time: 03:00 (the last one there was), or 2026-11-30T03:00
    #[arg(long, value_name = "TIME", conflicts_with_all = ["from", "to", "last"])]
    at: Option<String>,
    /// From this minute on
    #[arg(long, value_name = "TIME", conflicts_with = "last")]
    from: Option<String>,
    /// Until this minute, which is not part of it [default: now]
    #[arg(long, value_name = "TIME", conflicts_with = "last")]
    to: Option<String>,
    /// The last minutes or hours, such as 30m [default: 1h]
    #[arg(long, value_name = "DURATION", value_parser = parse_duration)]
    last: Option<Duration>,
    /// Only connections that pass: words, and comparisons such as limit = rwnd
    #[arg(long, value_name = "FILTER", value_parser = parse_filter)]
    filter: Option<Filter>,
    /// What a line stands for
    #[arg(long, value_enum, default_value_t = By::Connection)]
    by: By,
    /// Lines shown, the costliest first [default: 20, with --json all]
    #[arg(long, value_name = "N")]
    pub count: Option<usize>,
    /// One JSON object
    #[arg(long)]
    pub json: bool,
    /// Where the agent keeps its history
    #[arg(long, value_name = "DIR", env = "TCPWIN_HISTORY", default_value = HISTORY)]
    pub directory: PathBuf,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum By {
    Connection,
    Process,
    Peer,
    Limit,
}

impl HistoryArgs {
    /// What is asked, at a moment in a time zone.
    ///
    /// # Errors
    /// When a time is none, or the last comes before the first.
    pub fn question(&self, now: i64, zone: impl Fn(i64) -> i64) -> Result<history::Question, String> {
        let minute = |text: &str| {
            let at = history::moment(text, now, &zone).map_err(|error| format!("`{text}`: {error}"))?;
            Ok::<_, String>(at - at.rem_euclid(60))
        };
        let upper = now + 60 - now.rem_euclid(60);
        let (from, to) = match (&self.at, &self.from, &self.to) {
            (Some(at), ..) => {
                let at = minute(at)?;
                (at, at + 60)
            }
            (None, from, to) => {
                let to = to.as_deref().map_or(Ok(upper), minute)?;
                let last = self.last.map_or(3_600, |last| last.as_secs());
                let last = i64::try_from(last).unwrap_or(i64::MAX).max(60);
                let from = from.as_deref().map_or(Ok(to.saturating_sub(last)), minute)?;
                (from - from.rem_euclid(60), to)
            }
        };
        if from >= to {
            return Err("--from comes after --to: a time of day alone is the last one there was".to_owned());
        }
        Ok(history::Question {
            from,
            to,
            filter: self.filter.clone().unwrap_or_default(),
            by: match self.by {
                By::Connection => history::By::Connection,
                By::Process => history::By::Process,
                By::Peer => history::By::Peer,
                By::Limit => history::By::Limit,
            },
        })
    }
}

fn parse_duration(text: &str) -> Result<Duration, String> {
    crate::config::duration(text)
        .ok_or_else(|| format!("`{text}` is not a duration: write 500ms, 30s, 5m or 1h"))
}

impl WatchArgs {
    /// The interval asked for, or its default.
    #[must_use]
    pub fn interval(&self) -> Duration {
        self.interval.unwrap_or_default().duration()
    }

    /// As settings.
    #[must_use]
    pub fn overrides(&self) -> Overrides {
        Overrides {
            source: self.source,
            interval: self.interval,
            max_connections: self.max_connections,
            path_bandwidth: self.path_bandwidth.clone(),
            ..Overrides::default()
        }
    }

    /// If the user said how to watch: then a running agent, which watches in its own way, is not looked for.
    fn given(&self) -> bool {
        self.source.is_some()
            || self.interval.is_some()
            || self.max_connections.is_some()
            || !self.path_bandwidth.is_empty()
            || self.config_file.is_some()
    }
}

impl AgentArgs {
    /// As settings.
    #[must_use]
    pub fn overrides(&self) -> Overrides {
        Overrides {
            metrics: self.metrics.clone(),
            listen_address: self.listen_address.clone(),
            socket_mode: self.socket_mode,
            telemetry_path: self.telemetry_path.clone(),
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

impl ConnectArgs {
    /// If a running agent is to be looked for at the default address.
    #[must_use]
    pub fn may_attach(&self, watch: &WatchArgs) -> bool {
        !self.no_connect && !watch.given()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory as _;

    #[test]
    fn the_commands_are_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn help_documents_every_exit_code() {
        let help = Cli::command().render_long_help().to_string();
        for code in [
            Exit::Done,
            Exit::Runtime,
            Exit::Usage,
            Exit::Privilege,
            Exit::Kernel,
            Exit::Partial,
            Exit::Short,
        ] {
            assert!(
                help.contains(&format!("\n  {}  ", code as u8)),
                "{code:?} in {help}"
            );
        }
    }

    #[test]
    fn flags_are_those_of_prometheus_people() {
        let line = "tcpwin agent --source sock_diag --interval 250ms --path-bandwidth 1Gbit --path-bandwidth 192.0.2.0/24=5Mbit --web.listen-address :0 \
                    --metrics.group-by process --metrics.peer-prefix 192.0.2.0/24 --metrics.classic-histograms \
                    --web.listen-address [::1]:0 --web.telemetry-path /m --log.level debug --log.format json";
        let cli = Cli::try_parse_from(line.split_whitespace()).unwrap();
        let Command::Agent(arguments) = cli.command else {
            panic!("not the agent");
        };
        let flags = arguments.overrides();
        assert_eq!(flags.source, Some(SourceChoice::SockDiag));
        assert_eq!(flags.listen_address.len(), 2);
        assert_eq!(flags.path_bandwidth.len(), 2);
        assert_eq!(flags.log_format, Some(LogFormat::Json));
    }

    #[test]
    fn a_wrong_value_says_what_is_allowed() {
        let error = Cli::try_parse_from(["tcpwin", "agent", "--interval", "10ms"]).unwrap_err();
        assert!(error.to_string().contains("100ms to 60s"), "{error}");
        assert_eq!(error.exit_code(), Exit::Usage as i32);
    }

    #[test]
    fn the_screen_starts_as_asked() {
        let parse = |line: &str| Cli::try_parse_from(line.split_whitespace()).map(|cli| cli.command);
        // Not the settings of whoever runs the tests.
        let file = tempfile::NamedTempFile::new().unwrap();
        let line = "tcpwin top --sort -rate --filter limit=rwnd --sick --color never --ascii --interval 2s --columns peer=40,limit \
                    --palette light --top.config.file";
        let line = format!("{line} {}", file.path().display());
        let Ok(Command::Top(arguments)) = parse(&line) else {
            panic!("not top");
        };
        let options = arguments.options().unwrap();
        assert_eq!(options.columns.to_string(), "peer=40,limit");
        assert_eq!(options.settings_file.as_deref(), Some(file.path()));
        assert!(options.sort.inverted && options.sick_only && options.ascii);
        assert_eq!(options.filter.text(), "limit=rwnd");
        assert_eq!(options.interval, Duration::from_secs(2));
        // What the flags leave open is as the file says.
        let settings = "[top]\ninterval = \"5s\"\nsort = \"gain\"\ncolumns = [\"gain\"]\n";
        std::fs::write(file.path(), settings).unwrap();
        let line = format!(
            "tcpwin top --sort rtt --top.config.file {}",
            file.path().display()
        );
        let Ok(Command::Top(arguments)) = parse(&line) else {
            panic!("not top");
        };
        let options = arguments.options().unwrap();
        assert_eq!(options.interval, Duration::from_secs(5));
        assert_eq!(
            (options.sort.column, options.columns.to_string()),
            (top::Column::Rtt, "gain".into())
        );
        assert!(arguments.connect.may_attach(&arguments.watch));
        assert!(
            parse("tcpwin top --sort nowhere")
                .unwrap_err()
                .to_string()
                .contains("there are")
        );
    }

    #[test]
    fn saying_how_to_watch_means_not_to_attach() {
        let parse = |line: &str| match Cli::try_parse_from(line.split_whitespace()).unwrap().command {
            Command::Trace(arguments) => arguments.connect.may_attach(&arguments.watch),
            _ => panic!("not trace"),
        };
        assert!(parse("tcpwin trace"));
        assert!(!parse("tcpwin trace --source ebpf"));
        assert!(!parse("tcpwin trace --no-connect"));
    }
}
