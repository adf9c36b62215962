//! `tcpwin trace`.

use std::path::Path;

use anyhow::{Context as _, anyhow};

use tcpwin_agent::cli::{Exit, TraceArgs};
use tcpwin_agent::config::Record;
use tcpwin_agent::replay::Replay;
use tcpwin_agent::{daemon, trace};

use super::{Outcome, attach, log_warnings, own_pipeline, runtime};

pub(super) fn run(arguments: &TraceArgs) -> Outcome {
    log_warnings();
    let columns = rustix::termios::tcgetwinsize(std::io::stdout()).ok();
    let options = arguments.options(
        columns
            .map(|size| usize::from(size.ws_col))
            .filter(|columns| *columns > 0),
    );
    if let Some(file) = &arguments.replay.replay {
        let cut = daemon::cut_recording(file, &Record::of(arguments.record.settings()))?;
        cut.inspect(|fault| tracing::warn!("{}: {fault}", file.display()));
        return replay(file, options);
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
fn replay(file: &Path, options: trace::Options) -> Outcome {
    let recording = Replay::open(file)?;
    let header = recording.header();
    let zone = i128::from(header.zone_seconds) * 1_000_000_000;
    let stamp = trace::Stamp::with_offset(i128::from(header.wall_offset_ns) + zone);
    let events = recording.events()?;
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
