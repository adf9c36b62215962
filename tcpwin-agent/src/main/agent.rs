//! `tcpwin agent`.

use std::io::Write as _;
use std::path::PathBuf;

use anyhow::Context as _;

use tcpwin_agent::cli::{AgentArgs, Exit};
use tcpwin_agent::config::{Config, ListenAddress};
use tcpwin_agent::daemon::{self, Hangup, Reload, Resources};
use tcpwin_agent::{api, logging};

use super::{Outcome, failure, open_source, runtime};

pub(super) fn run(arguments: &AgentArgs) -> Outcome {
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
