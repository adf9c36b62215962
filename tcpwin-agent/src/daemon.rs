//! The only wiring: source → table → snapshot → exits, and what the init system and the operator say to it.
//!
//! The pipeline has a thread of its own; HTTP, signals and the init system share the main one.

use std::future::Future;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::Context as _;

use crate::api;
use crate::config::{Config, Overrides};
use crate::connection::owner::Owners;
use crate::exporter::Exporter;
use crate::logging::LevelHandle;
use crate::source::sock_diag::Lookup;
use crate::source::{Source, kernel_clock};

pub mod audit;
pub mod experiment;
mod history;
mod notify;
mod open;
mod otlp;
mod pipeline;
mod record;
#[cfg(test)]
mod scripted;
mod settings;
mod signals;
mod survey;
mod usage;
mod watching;

pub use open::{OpenError, Opened, open_source};
pub use pipeline::{Clock, Pipeline, Running};
pub use record::{copy_recording, cut_recording};
pub use signals::{Hangup, interrupted};

/// How long open HTTP requests may go on once the agent is told to end.
const GRACE: Duration = Duration::from_secs(2);

/// What the daemon runs with; all of it opened by the caller, so that a test can pass its own.
#[derive(Debug)]
pub struct Resources {
    /// Bound sockets.
    pub listeners: Vec<api::Listener>,
    /// The running pipeline.
    pub pipeline: Running,
    /// TLS, passwords and what else is said of HTTP.
    pub web: api::Web,
}

/// What a SIGHUP changes.
#[derive(Debug)]
pub struct Reload {
    /// The file; nothing to re-read without one.
    pub file: Option<PathBuf>,
    /// The flags, which still win.
    pub flags: Overrides,
    /// The log's level.
    pub level: Option<LevelHandle>,
}

/// Starts the pipeline with an opened source.
///
/// # Errors
/// When the thread cannot be started.
pub fn start_pipeline(opened: Opened, config: &Config) -> anyhow::Result<Running> {
    let mut owners = Owners::new();
    // Sockets older than the probes: the kernel programs meet their process only when it acts on them.
    let older =
        Lookup::new().and_then(|mut lookup| lookup.inodes(&mut |key, inode| owners.look_for(key, inode)));
    if let Err(error) = older {
        tracing::warn!(
            "the processes of connections older than tcpwin are known only once they act: {error}"
        );
    }
    usage::give_back_memory();
    let mut pipeline = Pipeline::new(opened.source, opened.reason, config, Box::new(kernel_clock))
        .with_owners(Box::new(owners));
    if let Some((file, choice)) = record::file(&config.record)? {
        pipeline = pipeline.with_recording(file, choice);
    }
    if let Some(history) = history::FlightRecorder::open(&config.history)? {
        pipeline = pipeline.with_history(history);
    }
    pipeline.spawn().context("cannot start the pipeline's thread")
}

/// Serves until `shutdown` is ready or the pipeline has ended.
///
/// # Errors
/// When the pipeline ended by itself or a listener failed for good.
pub async fn run(
    mut config: Config,
    resources: Resources,
    reload: Reload,
    mut hangup: Hangup,
    shutdown: impl Future<Output = ()>,
) -> anyhow::Result<()> {
    let Resources {
        listeners,
        pipeline,
        web,
    } = resources;
    let handle = pipeline.handle();
    let exporter = Exporter::with_http(handle.watch(), config.metrics.classic_histograms, web.counts());
    let _push = match &config.otlp {
        Some(otlp) => Some(otlp::start(otlp, exporter.clone())?),
        None => None,
    };
    let (door, mut asked) = if config.web.enable_lifecycle {
        let (door, asked) = api::ReloadRequests::through_a_door();
        (Some(door), asked)
    } else {
        (None, api::ReloadRequests::never())
    };
    let allowed = config
        .web
        .allowed_host
        .iter()
        .map(|name| name.as_str().to_owned());
    let site = api::Site {
        telemetry_path: config.web.telemetry_path.as_str().to_owned(),
        allowed_hosts: allowed.collect(),
        reload: door,
    };
    let routes = api::routes(handle.clone(), exporter, site);
    let server = api::serve(listeners, routes, web.clone());
    let mut service = notify::Service::from_environment(handle.clone());
    tokio::pin!(shutdown);

    let mut ended_by_itself = false;
    loop {
        tokio::select! {
            () = &mut shutdown => break,
            () = service.attend() => {}
            () = pipeline.ended() => {
                ended_by_itself = true;
                break;
            }
            () = hangup.next() => {
                service.reloading();
                // What went wrong is in the log.
                let _ = reload.apply(&mut config, &handle, &web).await;
                service.ready();
            }
            answer = asked.next() => {
                service.reloading();
                let outcome = reload.apply(&mut config, &handle, &web).await;
                service.ready();
                // The asker may have gone.
                let _ = answer.send(outcome);
            }
        }
    }

    service.stopping();
    // The source goes first: probes are detached whatever the readers do.
    let stopped = pipeline.stop();
    server.stop(GRACE).await;
    stopped?;
    anyhow::ensure!(
        !ended_by_itself,
        "the pipeline ended by itself; this is a defect of tcpwin"
    );
    Ok(())
}

impl Reload {
    /// Reads both files again; what cannot be used is kept as it was, logged, and told.
    async fn apply(
        &self,
        config: &mut Config,
        handle: &crate::snapshot::feed::Handle,
        web: &api::Web,
    ) -> Result<(), String> {
        let read = self.apply_file(config, handle).await;
        let web = web.reload().map_err(|error| {
            tracing::error!("the running web configuration is kept: {error}");
            error.to_string()
        });
        match (read, web) {
            (Err(file), Err(web)) => Err(format!("{file}; {web}")),
            (read, web) => read.and(web),
        }
    }

    async fn apply_file(
        &self,
        config: &mut Config,
        handle: &crate::snapshot::feed::Handle,
    ) -> Result<(), String> {
        let Some(file) = &self.file else {
            tracing::info!("reload: there is no --config.file to read again");
            return Ok(());
        };
        let reread = Config::load(Some(file), &self.flags).map_err(|error| {
            tracing::error!("the running configuration is kept: {error}");
            error.to_string()
        })?;
        for key in reread.needs_restart(config) {
            tracing::warn!(
                "`{key}` changed in {}: it takes effect at the next restart",
                file.display()
            );
        }
        if reread.interval != config.interval {
            // Fails only when the pipeline has ended, which the caller sees by itself.
            let _ = handle.set_interval(reread.interval.duration()).await;
            config.interval = reread.interval;
        }
        if let Some(level) = &self.level {
            level.set(reread.log.level);
        }
        config.log.level = reread.log.level;
        tracing::info!("{} read again", file.display());
        Ok(())
    }
}

/// So that what owns a source can be named in errors and logs.
impl std::fmt::Debug for dyn Source {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "Source({})", self.name())
    }
}

#[cfg(test)]
mod tests;
