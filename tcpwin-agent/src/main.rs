//! The `tcpwin` binary: arguments in, exit code out.

use std::io::{IsTerminal as _, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, anyhow};
use clap::Parser as _;

use tcpwin_agent::attach::{AttachError, Attached};
use tcpwin_agent::cli::{
    self, AgentArgs, CheckArgs, Cli, Command, ConnectArgs, Exit, ExplainArgs, HistoryArgs, PictureArgs,
    RecordArgs, TopArgs, TraceArgs, WatchArgs,
};
use tcpwin_agent::config::{
    Config, History, HistorySettings, ListenAddress, Log, LogFormat, LogLevel, Record,
};
use tcpwin_agent::daemon::{self, Hangup, Opened, Reload, Resources, Running};
use tcpwin_agent::query::Filter;
use tcpwin_agent::replay::{Player, Replay};
use tcpwin_agent::snapshot::Feed;
use tcpwin_agent::snapshot::playback::Playback;
use tcpwin_agent::source::{kernel_clock, ss_text};
use tcpwin_agent::top::Picture;
use tcpwin_agent::{api, check, explain, history, logging, top, trace};

// A binary's modules lie beside its root, where the library's are.
#[path = "main/doctor.rs"]
mod doctor;

/// What went wrong and with which code the program ends.
struct Failure {
    exit: Exit,
    error: anyhow::Error,
}

type Outcome = Result<Exit, Failure>;

impl<E: Into<anyhow::Error>> From<E> for Failure {
    fn from(error: E) -> Self {
        Self {
            exit: Exit::Runtime,
            error: error.into(),
        }
    }
}

fn failure(exit: Exit, error: impl Into<anyhow::Error>) -> Failure {
    Failure {
        exit,
        error: error.into(),
    }
}

fn main() -> ExitCode {
    let outcome = match Cli::parse().command {
        Command::Agent(arguments) => agent(&arguments),
        Command::Top(arguments) => top(&arguments),
        Command::Trace(arguments) => trace(&arguments),
        Command::Completions { shell } => written(cli::completions(shell, std::io::stdout())),
        Command::Man { directory } => manual(&directory),
        Command::History(arguments) => history(&arguments),
        Command::Explain(arguments) => explain(&arguments),
        Command::Check(arguments) => check(&arguments),
        Command::Doctor(arguments) => doctor::run(&arguments),
        Command::Restore => doctor::restore(),
    };
    let exit = outcome.unwrap_or_else(|Failure { exit, error }| {
        // Nowhere is left to say it when standard error is gone.
        let _ = writeln!(std::io::stderr(), "tcpwin: {error:#}");
        exit
    });
    ExitCode::from(exit as u8)
}

fn agent(arguments: &AgentArgs) -> Outcome {
    let flags = arguments.overrides();
    let file = arguments.watch.config_file.clone();
    let mut config = Config::load(file.as_deref(), &flags).map_err(|error| failure(Exit::Usage, error))?;
    // What the init system gives for state is meant to be used.
    let state = std::env::var_os("STATE_DIRECTORY").map(|given| PathBuf::from(given).join("history"));
    config.history.directory = config.history.directory.or(state);
    let level = logging::start(config.log);
    let web = match &config.web.config_file {
        Some(path) => api::Web::open(path).map_err(|error| failure(Exit::Usage, error))?,
        None => api::Web::none(),
    };

    // The port first: it fails at once, probes take a moment to load.
    let places: Vec<_> = config
        .web
        .listen_address
        .iter()
        .map(|each| place(each, &config))
        .collect();
    let listeners = api::bind(&places).map_err(|error| {
        let denied = matches!(error, api::BindError::Denied { .. });
        failure(if denied { Exit::Privilege } else { Exit::Runtime }, error)
    })?;
    let opened = open_source(&config)?;
    match &opened.reason {
        Some(reason) => tracing::warn!("source {}: {reason}", opened.source.name()),
        None => tracing::info!("source {}", opened.source.name()),
    }
    for listener in &listeners {
        let url = listener.url(web.speaks_tls());
        tracing::info!("listening on {url}");
        // For scripts that asked for port 0; a closed standard output is their choice.
        let _ = writeln!(std::io::stdout(), "listening on {url}");
        let open = listener
            .address()
            .is_some_and(|address| !address.ip().to_canonical().is_loopback());
        if open && !web.authenticates() {
            tracing::info!(
                "{url} shows other hosts the metrics only: for single connections give it passwords or client certificates \
                 with --web.config.file"
            );
        }
    }

    let pipeline = daemon::start_pipeline(opened, &config)?;
    let reload = Reload {
        file,
        flags,
        level: Some(level),
    };
    runtime()?.block_on(async {
        let hangup = Hangup::listen().context("cannot listen for SIGHUP")?;
        let shutdown = daemon::interrupted().context("cannot listen for SIGTERM")?;
        let resources = Resources {
            listeners,
            pipeline,
            web,
        };
        daemon::run(config, resources, reload, hangup, shutdown).await
    })?;
    Ok(Exit::Done)
}

fn place(address: &ListenAddress, config: &Config) -> api::Place {
    match address {
        ListenAddress::Tcp(address) => api::Place::Tcp(*address),
        ListenAddress::Unix(path) => api::Place::Unix {
            path: path.clone(),
            mode: config.web.socket_mode.bits(),
        },
    }
}

fn top(arguments: &TopArgs) -> Outcome {
    let options = arguments.options().map_err(|error| failure(Exit::Usage, error))?;
    if let Some(file) = &arguments.replay.replay {
        return match &arguments.picture.picture {
            Some(to) => draw(file, &arguments.picture, to),
            None => top_replay(file, options),
        };
    }
    if let Some(agent) = attach(&arguments.connect, &arguments.watch)? {
        agent.version_note().inspect(|note| eprintln!("tcpwin: {note}"));
        let copy = daemon::copy_recording(&agent, &Record::of(arguments.record.settings()))?;
        top::run(Box::new(agent), options)?;
        if let Some(copy) = copy {
            copy.finish()?;
        }
        return Ok(Exit::Done);
    }
    // Nothing is logged: lines would tear the screen. What matters is in its header.
    let pipeline = own_pipeline(&arguments.watch, &arguments.record)?;
    let shown = top::run(Box::new(pipeline.handle()), options);
    pipeline.stop()?;
    shown?;
    Ok(Exit::Done)
}

/// The screen on a recording, with its time steered by keys.
fn top_replay(file: &Path, options: top::Options) -> Outcome {
    let replay = Replay::open(file)?;
    let playback = Playback::default();
    let player = Player::new(replay, playback.clone(), Box::new(kernel_clock));
    let options = top::Options {
        playback: Some(playback.clone()),
        ..options
    };
    top::run(Box::new(player), options)?;
    let (_, fault) = playback.text();
    Ok(match fault {
        Some(fault) => {
            eprintln!("tcpwin: {fault}");
            Exit::Partial
        }
        None => Exit::Done,
    })
}

/// The last screen of a recording.
fn draw(recording: &Path, arguments: &PictureArgs, to: &Path) -> Outcome {
    let mut replay = Replay::open(recording)?;
    let mut picture = Picture::new(arguments.picture_size);
    let mut events = Vec::new();
    while replay.step(&mut events).is_some() {
        events.clear();
        picture.take(Arc::new(replay.snapshot()));
    }
    picture
        .press(&arguments.picture_keys)
        .map_err(|error| failure(Exit::Usage, error))?;
    std::fs::write(to, picture.svg()).with_context(|| format!("cannot write {}", to.display()))?;
    for fault in replay.faults() {
        eprintln!("tcpwin: {fault}");
    }
    Ok(if replay.faults().is_empty() {
        Exit::Done
    } else {
        Exit::Partial
    })
}

fn trace(arguments: &TraceArgs) -> Outcome {
    logging::start(Log {
        level: LogLevel::Warn,
        format: LogFormat::Text,
    });
    let columns = rustix::termios::tcgetwinsize(std::io::stdout()).ok();
    let options = arguments.options(
        columns
            .map(|size| usize::from(size.ws_col))
            .filter(|columns| *columns > 0),
    );
    if let Some(file) = &arguments.replay.replay {
        let cut = daemon::cut_recording(file, &Record::of(arguments.record.settings()))?;
        cut.inspect(|fault| tracing::warn!("{}: {fault}", file.display()));
        return trace_replay(file, options);
    }
    let attached = attach(&arguments.connect, &arguments.watch)?;
    let pipeline = match &attached {
        Some(_) => None,
        None => Some(own_pipeline(&arguments.watch, &arguments.record)?),
    };
    let copy = match &attached {
        Some(agent) => daemon::copy_recording(agent, &Record::of(arguments.record.settings()))?,
        None => None,
    };
    let outcome = runtime()?.block_on(async {
        let events = match (&attached, &pipeline) {
            (Some(agent), _) => {
                agent.version_note().inspect(|note| tracing::warn!("{note}"));
                agent.events(&options.filter)?
            }
            (None, Some(pipeline)) => pipeline.handle().subscribe().await?,
            (None, None) => return Err(anyhow!("neither an agent nor a pipeline")),
        };
        let stop = daemon::interrupted().context("cannot listen for SIGINT")?;
        let out = std::io::BufWriter::new(std::io::stdout().lock());
        Ok(trace::run(events, trace::Stamp::now(), options, out, stop).await?)
    })?;
    if let Some(pipeline) = pipeline {
        pipeline.stop()?;
    }
    if let Some(copy) = copy {
        copy.finish()?;
    }
    if outcome.cut {
        let who = attached.map_or_else(
            || "the pipeline".to_owned(),
            |agent| format!("the agent at {}", agent.url()),
        );
        return Err(anyhow!("{who} ended before the trace was over").into());
    }
    Ok(match outcome {
        trace::Outcome { missed: 1.., .. } => Exit::Partial,
        trace::Outcome { short: true, .. } => Exit::Short,
        _ => Exit::Done,
    })
}

/// The events of a recording, with the times of day where and when it was made.
fn trace_replay(file: &Path, options: trace::Options) -> Outcome {
    let replay = Replay::open(file)?;
    let header = replay.header();
    let zone = i128::from(header.zone_seconds) * 1_000_000_000;
    let stamp = trace::Stamp::with_offset(i128::from(header.wall_offset_ns) + zone);
    let events = replay.events()?;
    let waits = options.count.is_some();
    let outcome = runtime()?.block_on(async {
        let stop = daemon::interrupted().context("cannot listen for SIGINT")?;
        let out = std::io::BufWriter::new(std::io::stdout().lock());
        Ok::<_, anyhow::Error>(trace::run(events, stamp, options, out, stop).await?)
    })?;
    Ok(match outcome {
        trace::Outcome { missed: 1.., .. } => Exit::Partial,
        // The recording was over before the count was reached.
        trace::Outcome { cut: true, .. } if waits => Exit::Short,
        _ => Exit::Done,
    })
}

fn manual(directory: &Path) -> Outcome {
    let written = cli::manual(directory);
    written.with_context(|| format!("cannot write the manual into {}", directory.display()))?;
    Ok(Exit::Done)
}

/// `tcpwin completions bash | head` is no failure.
fn written(result: std::io::Result<()>) -> Outcome {
    match result {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(anyhow!("cannot write to standard output: {error}").into())
        }
        _ => Ok(Exit::Done),
    }
}

fn explain(arguments: &ExplainArgs) -> Outcome {
    if let Some(filter) = &arguments.live {
        return explain_live(filter, arguments);
    }
    let text = pasted(arguments)?;
    let reading = ss_text::parse(&text);
    if reading.sockets.is_empty() {
        let error = anyhow!(
            "nothing here reads as the output of ss ({} lines of text, {} sockets of other families): paste that of `ss -tinm`",
            reading.text.len(),
            reading.others
        );
        return Err(failure(Exit::Usage, error));
    }
    let mut report = explain::explain(&reading.observed());
    report.text = reading.text;
    let filter = arguments.filter.clone().unwrap_or_default();
    let report = report.only(&filter, arguments.sort.as_ref());
    if report.sockets.is_empty() {
        return Err(anyhow!("no socket of the paste passes `{}`", filter.text()).into());
    }
    tell(&report, arguments.json)
}

/// Running connections, once they were watched for a while.
fn explain_live(filter: &Filter, arguments: &ExplainArgs) -> Outcome {
    logging::start(Log {
        level: LogLevel::Warn,
        format: LogFormat::Text,
    });
    let attached = attach(&arguments.connect, &arguments.watch)?;
    let pipeline = match &attached {
        Some(_) => None,
        None => Some(own_pipeline(&arguments.watch, &RecordArgs::default())?),
    };
    let mut feed: Box<dyn Feed> = match (attached, &pipeline) {
        (Some(agent), _) => Box::new(agent),
        (None, Some(pipeline)) => Box::new(pipeline.handle()),
        (None, None) => return Err(anyhow!("neither an agent nor a pipeline").into()),
    };
    let watched = arguments.watch_for.unwrap_or(WATCHED);
    runtime()?.block_on(async {
        let stop = daemon::interrupted().context("cannot listen for SIGINT")?;
        tokio::select! {
            () = tokio::time::sleep(watched) => {}
            () = stop => {}
        }
        anyhow::Ok(())
    })?;
    let snapshot = feed.latest()?;
    let report = explain::live(&snapshot, filter);
    drop(feed);
    if let Some(pipeline) = pipeline {
        pipeline.stop()?;
    }
    if report.sockets.is_empty() {
        return Err(anyhow!("no connection of this host passes `{}`", filter.text()).into());
    }
    tell(&report, arguments.json)
}

/// How long connections are watched: long enough for a verdict to prevail.
const WATCHED: Duration = Duration::from_secs(5);

/// Writes a report to standard output.
fn tell(report: &explain::Report, json: bool) -> Outcome {
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    let written = if json {
        serde_json::to_writer_pretty(&mut out, report)
            .map_err(std::io::Error::from)
            .and_then(|()| writeln!(out))
    } else {
        explain::write(report, &mut out)
    };
    match written.and_then(|()| out.flush()) {
        // A reader that has seen enough, such as `head`, is no failure.
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(anyhow::Error::new(error)
            .context("cannot write the report")
            .into()),
        _ => Ok(Exit::Done),
    }
}

fn check(arguments: &CheckArgs) -> Outcome {
    let plan = arguments.plan().map_err(|error| failure(Exit::Usage, error))?;
    let report = check::run(&plan).map_err(|error| {
        let wrong = matches!(error, check::CheckError::Name(_));
        failure(if wrong { Exit::Usage } else { Exit::Runtime }, error)
    })?;
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    let told = if arguments.json {
        serde_json::to_writer_pretty(&mut out, &report)
            .map_err(std::io::Error::from)
            .and_then(|()| writeln!(out))
    } else {
        check::write(&report, &mut out)
    };
    written(told.and_then(|()| out.flush()))?;
    let is_problem = |finding: &check::Finding| finding.severity == check::Severity::Problem;
    Ok(match report.failed.is_empty() {
        _ if report.findings.iter().any(is_problem) => Exit::Problems,
        false => Exit::Partial,
        true => Exit::Done,
    })
}

fn history(arguments: &HistoryArgs) -> Outcome {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Realtime).tv_sec;
    let question = arguments
        .question(now, trace::zone_seconds)
        .map_err(|error| failure(Exit::Usage, anyhow!(error)))?;
    let answer = history::ask(&arguments.directory, &question)?;
    let told = if arguments.json {
        serde_json::to_string(&answer)? + "\n"
    } else {
        history::text(&answer, question.by, arguments.count, trace::zone_seconds)
    };
    // A reader who has gone has read enough.
    let _ = std::io::stdout().write_all(told.as_bytes());
    Ok(if answer.faults.is_empty() {
        Exit::Done
    } else {
        Exit::Partial
    })
}

/// The text of the file, or of standard input; bytes that are no text are marked as such.
fn pasted(arguments: &ExplainArgs) -> Result<String, Failure> {
    let file = arguments.file.as_ref().filter(|file| file.as_os_str() != "-");
    let mut bytes = Vec::new();
    match file {
        Some(file) => {
            let read = std::fs::read(file).with_context(|| format!("cannot read {}", file.display()));
            bytes = read?;
        }
        None => {
            let mut stdin = std::io::stdin().lock();
            if stdin.is_terminal() {
                eprintln!(
                    "tcpwin: paste the output of `ss -tinm`, then press Ctrl-D (or: ss -tinm | tcpwin explain)"
                );
            }
            stdin
                .read_to_end(&mut bytes)
                .context("cannot read standard input")?;
        }
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// The agent that was asked for, or the one that runs at the default address.
fn attach(connect: &ConnectArgs, watch: &WatchArgs) -> Result<Option<Attached>, Failure> {
    match &connect.connect {
        Some(url) => {
            let login = connect
                .login()
                .map_err(|why| failure(Exit::Usage, anyhow!(why)))?;
            Attached::connect(url, &login).map(Some).map_err(|error| {
                let wrong = matches!(error, AttachError::Url { .. } | AttachError::Login { .. });
                failure(if wrong { Exit::Usage } else { Exit::Runtime }, error)
            })
        }
        None if connect.may_attach(watch) => Ok(Attached::find()),
        None => Ok(None),
    }
}

fn own_pipeline(watch: &WatchArgs, record: &RecordArgs) -> Result<Running, Failure> {
    let config = Config::load(watch.config_file.as_deref(), &watch.overrides())
        .map_err(|error| failure(Exit::Usage, error))?;
    // What the file says of the disk is meant for the agent: two would write to the same place.
    let config = Config {
        record: Record::of(record.settings()),
        history: History::of(HistorySettings::default()),
        ..config
    };
    Ok(daemon::start_pipeline(open_source(&config)?, &config)?)
}

fn open_source(config: &Config) -> Result<Opened, Failure> {
    daemon::open_source(config.source, config).map_err(|error| {
        let exit = if error.is_privilege() {
            Exit::Privilege
        } else {
            Exit::Kernel
        };
        failure(exit, error)
    })
}

/// One thread is enough for signals and a scrape now and then.
fn runtime() -> anyhow::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("cannot start the runtime for signals and HTTP")
}
