//! Grafana's dashboards, written from one small source so that panels are alike: `cargo xtask docs` writes the JSON, a test
//! holds it to this, and the suite `prometheus` asks a real Prometheus for every expression.

mod agent;
mod fleet;
mod handshakes;
mod host;
mod json;
mod listeners;
mod model;
mod peers;

use std::path::PathBuf;

use anyhow::{Context as _, Result};

use crate::paths;
use crate::process::announce;

pub use model::{Dashboard, Expect};

/// Every one of them.
pub fn all() -> Vec<Dashboard> {
    vec![
        fleet::dashboard(),
        host::dashboard(),
        peers::dashboard(),
        listeners::dashboard(),
        handshakes::dashboard(),
        agent::dashboard(),
    ]
}

/// Writes the JSON.
pub fn write() -> Result<()> {
    for dashboard in all() {
        let path = file(&dashboard);
        announce(format_args!("writes {}", path.display()));
        std::fs::write(&path, json::text(&dashboard))
            .with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(())
}

fn file(dashboard: &Dashboard) -> PathBuf {
    paths::workspace()
        .join("dashboards")
        .join(format!("{}.json", dashboard.uid))
}

#[cfg(test)]
mod tests;
