//! `tcpwin doctor`: facts and connections in, findings out; and the experiment that `--apply` makes.

use std::io::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context as _, anyhow};

use tcpwin_agent::attach::Attached;
use tcpwin_agent::cli::{DoctorArgs, Exit, RecordArgs};
use tcpwin_agent::config::{Log, LogFormat, LogLevel};
use tcpwin_agent::daemon::audit::{Audit, Which};
use tcpwin_agent::daemon::experiment::{self, Experiment, Outcome as Tried};
use tcpwin_agent::daemon::{self, Running};
use tcpwin_agent::doctor::plan::Plan;
use tcpwin_agent::doctor::{self, Report, Severity};
use tcpwin_agent::snapshot::Feed;
use tcpwin_agent::source::netns::NetnsError;

use super::{Outcome, attach, failure, own_pipeline, runtime};

/// How long connections and counters are watched: long enough for a verdict to prevail.
const WATCHED: Duration = Duration::from_secs(5);

pub(super) fn run(arguments: &DoctorArgs) -> Outcome {
    logging();
    match &arguments.apply {
        Some(plan) => apply(plan, arguments),
        None => examine(arguments),
    }
}

/// The guard's end of an experiment.
pub(super) fn restore() -> Outcome {
    experiment::restore().map_err(|error| failure(Exit::Runtime, error))?;
    Ok(Exit::Done)
}

fn logging() {
    tcpwin_agent::logging::start(Log {
        level: LogLevel::Warn,
        format: LogFormat::Text,
    });
}

/// Whoever tells of the connections.
struct Source {
    feed: Box<dyn Feed>,
    pipeline: Option<Running>,
}

impl Source {
    fn open(arguments: &DoctorArgs) -> Result<Self, super::Failure> {
        let attached: Option<Attached> = attach(&arguments.connect, &arguments.watch)?;
        if let Some(agent) = attached {
            agent.version_note().inspect(|note| eprintln!("tcpwin: {note}"));
            return Ok(Self {
                feed: Box::new(agent),
                pipeline: None,
            });
        }
        let pipeline = own_pipeline(&arguments.watch, &RecordArgs::default())?;
        Ok(Self {
            feed: Box::new(pipeline.handle()),
            pipeline: Some(pipeline),
        })
    }

    fn close(self) -> anyhow::Result<()> {
        drop(self.feed);
        self.pipeline.map_or(Ok(()), Running::stop)
    }
}

fn examine(arguments: &DoctorArgs) -> Outcome {
    let door = arguments.door();
    let which = door.as_deref().map_or(Which::All, Which::One);
    let audit = Audit::begin(which).map_err(|error| {
        let denied = error.downcast_ref().is_some_and(NetnsError::is_denied);
        failure(if denied { Exit::Privilege } else { Exit::Runtime }, error)
    })?;
    let mut source = Source::open(arguments)?;
    let watched = wait(arguments.duration.unwrap_or(WATCHED))?;
    let snapshot = source.feed.latest()?;
    let (machine, namespaces, left_out) = audit.finish(&snapshot.facts, watched.as_secs_f64());
    source.close()?;
    if namespaces.is_empty() {
        return Err(anyhow!("nothing is left to look at: {}", left_out.join("; ")).into());
    }
    let report = doctor::examine(&machine, &namespaces, &snapshot);
    for left_out in &left_out {
        eprintln!("tcpwin: a network namespace is left out: {left_out}");
    }
    if let Some(file) = &arguments.plan {
        plan(&report, file)?;
    }
    tell(&report, arguments.json)?;
    Ok(match report.worst() {
        Some(Severity::Hurts | Severity::Risk) => Exit::Problems,
        _ if left_out.is_empty() => Exit::Done,
        _ => Exit::Partial,
    })
}

/// Waits that long, or until it is interrupted; how long it was.
fn wait(time: Duration) -> anyhow::Result<Duration> {
    #[expect(clippy::disallowed_methods, reason = "for how long it was watched is told")]
    let began = Instant::now();
    runtime()?.block_on(async {
        let stop = daemon::interrupted().context("cannot listen for SIGINT")?;
        tokio::select! {
            () = tokio::time::sleep(time) => {}
            () = stop => {}
        }
        anyhow::Ok(())
    })?;
    Ok(began.elapsed())
}

fn plan(report: &Report, file: &Path) -> anyhow::Result<()> {
    let plan = Plan::of(report);
    let text = plan.text().context("cannot write the plan")?;
    std::fs::write(file, text).with_context(|| format!("cannot write {}", file.display()))?;
    eprintln!("tcpwin: {} changes are in {}", plan.changes.len(), file.display());
    Ok(())
}

fn tell(report: &Report, json: bool) -> anyhow::Result<()> {
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    let written = if json {
        serde_json::to_writer_pretty(&mut out, report)
            .map_err(std::io::Error::from)
            .and_then(|()| writeln!(out))
    } else {
        doctor::write(report, &mut out)
    };
    match written.and_then(|()| out.flush()) {
        // A reader that has seen enough, such as `head`, is no failure.
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(anyhow!("cannot write the report: {error}"))
        }
        _ => Ok(()),
    }
}

fn apply(file: &Path, arguments: &DoctorArgs) -> Outcome {
    let text = std::fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
    let plan = Plan::parse(&text)
        .with_context(|| file.display().to_string())
        .map_err(|error| failure(Exit::Usage, error))?;
    let time = arguments.duration.unwrap_or(WATCHED);
    let experiment = Experiment::prepare(&plan)?;
    let mut source = Source::open(arguments)?;
    let tried = experiment.run(&mut *source.feed, time, &mut interrupted_within, &mut |how_far| {
        // Nowhere is left to say it when standard error is gone.
        let _ = writeln!(std::io::stderr(), "tcpwin: {how_far}");
    })?;
    source.close()?;
    report(&tried, arguments.json)?;
    Ok(if tried.interrupted || !tried.is_taken_back() {
        Exit::Partial
    } else {
        Exit::Done
    })
}

/// Waits that long; true: it was interrupted.
fn interrupted_within(time: Duration) -> anyhow::Result<bool> {
    runtime()?.block_on(async {
        let stop = daemon::interrupted().context("cannot listen for SIGINT")?;
        Ok(tokio::select! {
            () = tokio::time::sleep(time) => false,
            () = stop => true,
        })
    })
}

fn report(tried: &Tried, json: bool) -> anyhow::Result<()> {
    let text = if json {
        serde_json::to_string_pretty(tried)? + "\n"
    } else {
        tried.to_string()
    };
    // A reader who has gone has read enough.
    let _ = std::io::stdout().write_all(text.as_bytes());
    Ok(())
}
