//! Connections that are watched for a while: by the agent that runs, or by a pipeline of our own.

use std::time::{Duration, Instant};

use anyhow::Context as _;

use tcpwin_agent::cli::{ConnectArgs, RecordArgs, WatchArgs};
use tcpwin_agent::daemon::{self, Running};
use tcpwin_agent::snapshot::Feed;

use super::{Failure, attach, own_pipeline, runtime};

/// Whoever tells of the connections.
pub(super) struct Watched {
    pub(super) feed: Box<dyn Feed>,
    pipeline: Option<Running>,
}

impl Watched {
    pub(super) fn open(connect: &ConnectArgs, watch: &WatchArgs) -> Result<Self, Failure> {
        if let Some(agent) = attach(connect, watch)? {
            agent.version_note().inspect(|note| eprintln!("tcpwin: {note}"));
            return Ok(Self {
                feed: Box::new(agent),
                pipeline: None,
            });
        }
        let pipeline = own_pipeline(watch, &RecordArgs::default())?;
        Ok(Self {
            feed: Box::new(pipeline.handle()),
            pipeline: Some(pipeline),
        })
    }

    pub(super) fn close(self) -> anyhow::Result<()> {
        drop(self.feed);
        self.pipeline.map_or(Ok(()), Running::stop)
    }
}

/// Waits that long, or until it is interrupted; how long it was.
pub(super) fn wait(time: Duration) -> anyhow::Result<Duration> {
    #[expect(clippy::disallowed_methods, reason = "for how long it was watched is told")]
    let began = Instant::now();
    interrupted_within(time)?;
    Ok(began.elapsed())
}

/// Waits that long; true: it was interrupted.
pub(super) fn interrupted_within(time: Duration) -> anyhow::Result<bool> {
    runtime()?.block_on(async {
        let stop = daemon::interrupted().context("cannot listen for SIGINT")?;
        Ok(tokio::select! {
            () = tokio::time::sleep(time) => false,
            () = stop => true,
        })
    })
}
