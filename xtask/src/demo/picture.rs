//! The documentation's pictures of the screen: the demo is recorded, and `tcpwin top` draws the recording's end.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use serde::Deserialize;

use crate::lab::agent::Agent;
use crate::lab::clock::{Timer, now_ns, seconds_ns};
use crate::{paths, process};

use super::check::is_told;
use super::play::{Play, wanted};

/// Long enough for charts to have a past.
const LEAST_S: f64 = 25.0;
/// When not all limits are told at once by then, something is wrong.
const MOST_S: f64 = 120.0;

/// `docs/pictures.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Pictures {
    picture: Vec<Picture>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Picture {
    file: String,
    size: String,
    keys: String,
}

/// Records the demo, and nothing else of this host, until it shows every limit at once.
pub fn record(tcpwin: &Path) -> Result<()> {
    let dir = tempfile::tempdir()?;
    let recorded = dir.path().join("demo.tcpwin");
    let mut play = Play::default();
    while !play.is_complete() {
        play.go_on();
    }
    let mut args = vec!["--record".to_owned(), recorded.display().to_string()];
    for scene in play.scenes() {
        for netns in scene.namespaces()? {
            args.extend(["--record-netns".to_owned(), netns.to_string()]);
        }
    }
    let agent = Agent::start_apart(tcpwin, "auto", &args)?;
    let begun_ns = now_ns();
    let timer = Timer::every(seconds_ns(1.0))?;
    loop {
        timer.wait();
        play.go_on();
        let after_s = (now_ns() - begun_ns) as f64 / 1e9;
        if after_s < LEAST_S {
            continue;
        }
        let mut missing = Vec::new();
        for (limit, netns) in wanted(&play)? {
            if !is_told(&agent, &limit, netns)? {
                missing.push(limit);
            }
        }
        if missing.is_empty() {
            break;
        }
        ensure!(
            after_s < MOST_S,
            "never told together; the last ones: {missing:?}"
        );
    }
    // Its recording is whole once it has ended.
    drop(agent);
    let faults = play.into_faults();
    ensure!(faults.is_empty(), "not shown: {}", faults.join("; "));
    // Its bytes alone: a recording is readable to nobody else.
    let bytes = fs::read(&recorded).context("cannot read the recording")?;
    fs::write(recording(), bytes).context("cannot write docs/demo.tcpwin")
}

/// Draws every picture from what was recorded.
pub fn draw(tcpwin: &Path) -> Result<()> {
    let list = docs().join("pictures.toml");
    let text = fs::read_to_string(&list).with_context(|| format!("cannot read {}", list.display()))?;
    let pictures: Pictures = toml::from_str(&text).with_context(|| list.display().to_string())?;
    for Picture { file, size, keys } in pictures.picture {
        let mut top = Command::new(tcpwin);
        top.args(["top", "--picture-size", &size, "--picture-keys", &keys])
            .arg("--replay")
            .arg(recording())
            .arg("--picture")
            .arg(docs().join(&file));
        process::run(&mut top)?;
        println!("docs/{file}");
    }
    Ok(())
}

fn recording() -> PathBuf {
    docs().join("demo.tcpwin")
}

fn docs() -> PathBuf {
    paths::workspace().join("docs")
}
