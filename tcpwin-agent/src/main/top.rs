//! `tcpwin top`.

use std::path::Path;
use std::sync::Arc;

use anyhow::Context as _;

use tcpwin_agent::cli::{Exit, PictureArgs, TopArgs};
use tcpwin_agent::config::Record;
use tcpwin_agent::replay::{Player, Replay};
use tcpwin_agent::snapshot::playback::Playback;
use tcpwin_agent::source::kernel_clock;
use tcpwin_agent::top::Picture;
use tcpwin_agent::{daemon, top};

use super::{Outcome, attach, failure, own_pipeline};

pub(super) fn run(arguments: &TopArgs) -> Outcome {
    let options = arguments.options().map_err(|error| failure(Exit::Usage, error))?;
    if let Some(file) = &arguments.replay.replay {
        return match &arguments.picture.picture {
            Some(to) => draw(file, &arguments.picture, to),
            None => replay(file, options),
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
fn replay(file: &Path, options: top::Options) -> Outcome {
    let replayed = Replay::open(file)?;
    let playback = Playback::default();
    let player = Player::new(replayed, playback.clone(), Box::new(kernel_clock));
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
