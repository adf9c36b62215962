//! End-to-end suites: the real program against the real kernel, on this machine or in a guest.
//!
//! A suite is registered here and nowhere else. It says what it found through a [`Recorder`]; an error means that it
//! could not be run, which fails too.

use std::path::PathBuf;

use anyhow::{Result, ensure};

use crate::binaries::Programs;
use crate::suites::report::Recorder;

mod abuse;
mod check;
mod demo;
mod doctor;
mod metrics;
mod myths;
mod page;
mod prometheus;
pub mod report;
mod scenarios;
mod screen;

/// Where suites run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Place {
    /// This machine's own kernel
    Native,
    /// A kernel under QEMU, with little memory and one processor
    Guest,
}

/// What a suite is given.
#[derive(Clone, Debug)]
pub struct Context {
    /// The programs to test.
    pub programs: Programs,
    /// Where this is.
    pub place: Place,
}

struct Suite {
    name: &'static str,
    places: &'static [Place],
    run: fn(&Context, &mut Recorder) -> Result<()>,
}

const EVERYWHERE: &[Place] = &[Place::Native, Place::Guest];
const NATIVE: &[Place] = &[Place::Native];

const SUITES: &[Suite] = &[
    Suite {
        name: "lab",
        places: EVERYWHERE,
        run: scenarios::check_the_lab,
    },
    Suite {
        name: "scenarios",
        places: EVERYWHERE,
        run: scenarios::run,
    },
    Suite {
        name: "doctor",
        places: EVERYWHERE,
        run: doctor::run,
    },
    Suite {
        name: "demo",
        places: NATIVE,
        run: demo::run,
    },
    Suite {
        name: "screen",
        places: NATIVE,
        run: screen::run,
    },
    Suite {
        name: "check",
        places: NATIVE,
        run: check::run,
    },
    Suite {
        name: "metrics",
        places: NATIVE,
        run: metrics::run,
    },
    Suite {
        name: "myths",
        places: NATIVE,
        run: myths::run,
    },
    Suite {
        name: "prometheus",
        places: NATIVE,
        run: prometheus::run,
    },
    Suite {
        name: "abuse",
        places: NATIVE,
        run: abuse::run,
    },
    Suite {
        name: "page",
        places: NATIVE,
        run: page::run,
    },
];

/// Arguments of the hidden `cargo xtask suites`: what `test` runs as root, and in guests.
#[derive(clap::Args)]
pub struct SuitesArgs {
    /// Only suites meant for this place
    #[arg(long, default_value = "native")]
    place: Place,
    /// Only these suites
    #[arg(value_name = "SUITE")]
    names: Vec<String>,
    /// Write what was found, as JSON lines
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
}

/// Runs the suites; an error when anything failed.
pub fn run(args: &SuitesArgs) -> Result<()> {
    let context = Context {
        programs: Programs::beside_us()?,
        place: args.place,
    };
    for name in &args.names {
        ensure!(
            SUITES.iter().any(|suite| suite.name == name),
            "no suite is called {name}: {}",
            names()
        );
    }
    let mut recorder = Recorder::new(args.report.as_deref())?;
    for suite in SUITES.iter().filter(|suite| wanted(suite, args)) {
        recorder.begin(suite.name);
        if let Err(error) = (suite.run)(&context, &mut recorder) {
            recorder.fail("could run", format!("{error:#}"))?;
        }
    }
    let failed = recorder.failures();
    ensure!(failed == 0, "{failed} checks failed");
    Ok(())
}

fn wanted(suite: &Suite, args: &SuitesArgs) -> bool {
    let named = args.names.is_empty() || args.names.iter().any(|name| name == suite.name);
    named && suite.places.contains(&args.place)
}

fn names() -> String {
    SUITES
        .iter()
        .map(|suite| suite.name)
        .collect::<Vec<_>>()
        .join(", ")
}
