//! The agent under abuse: whatever is done to its HTTP side, its intervals end in time, its memory stays bounded, what it
//! refuses is counted, and well-behaved clients are answered meanwhile. And who may see single connections.

use std::any::Any;

use anyhow::{Context as _, Result};
use rustix::process::{Resource, getrlimit, setrlimit};

use crate::lab::clock::Timer;
use crate::paths;
use crate::suites::Context;
use crate::suites::report::{Outcome, Recorder};

mod access;
mod attack;
mod http;
mod victim;

use victim::{Reading, Victim};

const SECOND_NS: u64 = 1_000_000_000;

/// Resident memory may grow to so many times what it was before.
const MEMORY_RATIO: f64 = 1.5;

/// What is done to the agent and what must come of it.
struct Abuse {
    name: &'static str,
    /// The label under which it is counted as refused, and at least how often.
    counted: Option<(&'static str, u64)>,
    /// For how long well-behaved clients ask beside it.
    seconds: u32,
    /// Goes on until what it gives is dropped.
    start: fn(&Victim) -> Result<Box<dyn Any>>,
}

const PLAIN: &[Abuse] = &[
    Abuse {
        name: "1,000 connections at once",
        counted: Some(("connections", 900)),
        seconds: 3,
        start: attack::crowd,
    },
    Abuse {
        name: "heads that drip a byte a second",
        counted: Some(("slow", attack::DRIPPING as u64)),
        seconds: 14,
        start: attack::drip,
    },
    Abuse {
        name: "huge heads",
        counted: Some(("head", attack::HUGE_HEADS as u64)),
        seconds: 2,
        start: attack::huge_heads,
    },
    Abuse {
        name: "bodies",
        counted: Some(("body", attack::BODIES as u64)),
        seconds: 2,
        start: attack::bodies,
    },
    Abuse {
        name: "paths that are too long",
        counted: Some(("uri", attack::LONG_PATHS as u64)),
        seconds: 2,
        start: attack::long_paths,
    },
    Abuse {
        name: "filters as deep and as long as a path can be",
        counted: None,
        seconds: 2,
        start: attack::filter_bombs,
    },
    Abuse {
        name: "2,000 requests in one write",
        counted: None,
        seconds: 2,
        start: attack::pipeline,
    },
    Abuse {
        name: "readers of events that do not read",
        counted: Some(("busy", 20)),
        seconds: 5,
        start: attack::deaf_readers,
    },
    Abuse {
        name: "whole snapshots that nobody reads",
        counted: None,
        seconds: 3,
        start: attack::unread_snapshots,
    },
];

const GUESSED: &[Abuse] = &[Abuse {
    name: "a storm of wrong passwords",
    counted: Some(("rate", 16)),
    seconds: 6,
    start: attack::guesses,
}];

const OVER_TLS: &[Abuse] = &[Abuse {
    name: "handshakes that are none",
    counted: Some(("handshake", attack::BAD_HANDSHAKES as u64)),
    seconds: 3,
    start: attack::bad_handshakes,
}];

/// Runs everything; a minute of abuse, and what starting the agents takes.
pub fn run(context: &Context, recorder: &mut Recorder) -> Result<()> {
    raise_file_limit()?;
    let tcpwin = &context.programs.tcpwin;
    let dir = tempfile::tempdir()?;
    let plain = Victim::start(tcpwin, dir.path(), &[])?;
    under(&plain, PLAIN, recorder)?;
    drop(plain);

    let config = victim::with_password(dir.path())?;
    let guessed = Victim::start(tcpwin, dir.path(), &["--web.config.file", &config])?;
    under(&guessed, GUESSED, recorder)?;
    drop(guessed);

    if paths::program("openssl").is_none() || paths::program("curl").is_none() {
        recorder.skip("handshakes that are none", "openssl or curl is not installed")?;
    } else {
        let config = victim::with_tls(dir.path())?;
        let over_tls = Victim::start(tcpwin, dir.path(), &["--web.config.file", &config])?;
        under(&over_tls, OVER_TLS, recorder)?;
    }
    access::run(tcpwin, dir.path(), recorder)
}

fn under(victim: &Victim, abuses: &[Abuse], recorder: &mut Recorder) -> Result<()> {
    // Paths that are walked for the first time take memory once.
    victim.is_answered()?;
    for abuse in abuses {
        let before = victim.reading()?;
        let held = (abuse.start)(victim).with_context(|| format!("cannot do it: {}", abuse.name))?;
        let seconds = Timer::every(SECOND_NS)?;
        let mut answered = 0;
        for _ in 0..abuse.seconds {
            seconds.wait();
            answered += u32::from(victim.is_answered()?);
        }
        let after = victim.reading()?;
        drop(held);
        judge(abuse, &before, &after, answered, recorder)?;
    }
    Ok(())
}

fn judge(
    abuse: &Abuse,
    before: &Reading,
    after: &Reading,
    answered: u32,
    recorder: &mut Recorder,
) -> Result<()> {
    let missed = after.overruns - before.overruns;
    let ticks = after.ticks - before.ticks;
    let memory = after.memory / before.memory;
    let (cause, least) = abuse.counted.unwrap_or(("", 0));
    let refused = after.refused(cause) - before.refused(cause);
    let kept =
        ticks > 0 && missed == 0 && memory <= MEMORY_RATIO && refused >= least && answered == abuse.seconds;
    let told = if cause.is_empty() {
        String::new()
    } else {
        format!(", {refused} refused ({cause}, at least {least})")
    };
    let detail = format!(
        "{ticks} intervals, {missed} missed; memory {memory:.2} times {:.1} MB; {answered} of {} clients answered{told}",
        before.memory / 1e6,
        abuse.seconds
    );
    recorder.check(
        abuse.name,
        if kept { Outcome::Passed } else { Outcome::Failed },
        detail,
    )
}

/// The soft limit is often 1,024, and both ends of a thousand connections are ours.
fn raise_file_limit() -> Result<()> {
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    setrlimit(Resource::Nofile, limit).context("cannot raise the limit of open files")
}
