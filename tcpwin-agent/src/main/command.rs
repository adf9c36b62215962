//! What each command does, one file each; here is what several of them share.

mod agent;
mod check;
mod doctor;
mod explain;
mod history;
mod manual;
mod top;
mod trace;
mod watched;

use std::io::{self, BufWriter, StdoutLock, Write};
use std::time::Duration;

use anyhow::{Context as _, anyhow};
use serde::Serialize;

use tcpwin_agent::attach::{AttachError, Attached};
use tcpwin_agent::cli::{self, Command, ConnectArgs, Exit, RecordArgs, WatchArgs};
use tcpwin_agent::config::{Config, History, HistorySettings, Log, LogFormat, LogLevel, Record};
use tcpwin_agent::daemon::{self, Opened, Running};
use tcpwin_agent::logging;

/// What went wrong and with which code the program ends.
pub struct Failure {
    /// The code.
    pub exit: Exit,
    /// What, and why.
    pub error: anyhow::Error,
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

/// Does what was asked for.
pub fn run(command: Command) -> Outcome {
    match command {
        Command::Agent(arguments) => agent::run(&arguments),
        Command::Top(arguments) => top::run(&arguments),
        Command::Trace(arguments) => trace::run(&arguments),
        Command::Completions { shell } => {
            written(cli::completions(shell, io::stdout()))?;
            Ok(Exit::Done)
        }
        Command::Man { directory } => manual::run(&directory),
        Command::History(arguments) => history::run(&arguments),
        Command::Explain(arguments) => explain::run(&arguments),
        Command::Check(arguments) => check::run(&arguments),
        Command::Doctor(arguments) => doctor::run(&arguments),
        Command::Restore => doctor::restore(),
    }
}

/// How long connections are watched where nobody says it: long enough for a verdict to prevail.
const WATCHED: Duration = Duration::from_secs(5);

/// Warnings only, as text: what is told on standard output is what was asked for.
fn log_warnings() {
    logging::start(Log {
        level: LogLevel::Warn,
        format: LogFormat::Text,
    });
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

/// Writes a report to standard output, for people or as JSON.
fn tell<R: Serialize>(
    report: &R,
    json: bool,
    write: impl FnOnce(&R, &mut BufWriter<StdoutLock<'static>>) -> io::Result<()>,
) -> anyhow::Result<()> {
    let mut out = BufWriter::new(io::stdout().lock());
    let told = if json {
        serde_json::to_writer_pretty(&mut out, report)
            .map_err(io::Error::from)
            .and_then(|()| writeln!(out))
    } else {
        write(report, &mut out)
    };
    written(told.and_then(|()| out.flush()))
}

/// A reader that has seen enough, such as `head`, is no failure.
fn written(result: io::Result<()>) -> anyhow::Result<()> {
    match result {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(anyhow!("cannot write to standard output: {error}"))
        }
        _ => Ok(()),
    }
}
