//! `tcpwin man`: the manual's pages.

use std::path::Path;

use anyhow::Context as _;

use tcpwin_agent::cli::{self, Exit};

use super::Outcome;

pub(super) fn run(directory: &Path) -> Outcome {
    let written = cli::manual(directory);
    written.with_context(|| format!("cannot write the manual into {}", directory.display()))?;
    Ok(Exit::Done)
}
