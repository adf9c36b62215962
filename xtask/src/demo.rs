//! Every verdict alive on an idle machine: flows of the lab, each held by one limit, behind the real screen.
//!
//! The flows are scenarios of the lab, so what is true of each is known by construction; the program at the judged end
//! bears the limit's name, and the screen shows both side by side. They run in network namespaces of their own and end
//! with the demo.

use std::ffi::OsString;
use std::io::{IsTerminal as _, stdout};
use std::path::PathBuf;

use anyhow::{Result, ensure};

use crate::binaries::{self, Programs};
use crate::lab::cleanup;
use crate::process;

mod cast;
mod check;
mod picture;
mod play;
mod scene;
mod screen;

pub use check::check;

/// Arguments of `cargo xtask demo`.
#[derive(clap::Args)]
pub struct DemoArgs {
    /// Say which limits are shown, and by which scenario of the lab
    #[arg(long)]
    list: bool,
    /// End after so many seconds; without it, when the screen is left
    #[arg(long, value_name = "COUNT")]
    seconds: Option<f64>,
    /// Without a screen: wait until an agent has told every limit, and say how long each took
    #[arg(long, conflicts_with_all = ["list", "seconds", "args"])]
    check: bool,
    /// Without a screen: record the demo, and draw the documentation's pictures from it
    #[arg(long, conflicts_with_all = ["list", "seconds", "check", "args"])]
    pictures: bool,
    /// Draw the documentation's pictures from what was recorded last
    #[arg(long, conflicts_with_all = ["list", "seconds", "check", "pictures", "args"])]
    redraw: bool,
    /// The tcpwin to show [default: the one beside this program]
    #[arg(long, value_name = "FILE")]
    tcpwin: Option<PathBuf>,
    /// Passed on to `tcpwin top`
    #[arg(last = true, value_name = "ARGS")]
    args: Vec<OsString>,
}

impl DemoArgs {
    /// Whether namespaces are made, thus root and built programs needed.
    pub fn is_live(&self) -> bool {
        !self.list && !self.redraw
    }
}

/// Runs the demo.
pub fn run(args: &DemoArgs) -> Result<()> {
    if args.list {
        for part in cast::CAST {
            println!("{:<14} {}", part.limit()?, part.scenario);
        }
        return Ok(());
    }
    let tcpwin = match &args.tcpwin {
        Some(path) => path.clone(),
        None if binaries::is_stand_in() => binaries::tcpwin()?,
        None => Programs::beside_us()?.tcpwin,
    };
    if args.redraw {
        return picture::draw(&tcpwin);
    }
    ensure!(
        process::is_root(),
        "the demo needs root: it makes network namespaces, and probes the kernel"
    );
    cleanup::sweep();
    if args.pictures {
        picture::record(&tcpwin)?;
        return picture::draw(&tcpwin);
    }
    if args.check {
        return check(&tcpwin);
    }
    ensure!(
        stdout().is_terminal(),
        "the demo needs a terminal; `cargo xtask demo --check` needs none"
    );
    println!(
        "{} flows start, each held by another limit: the process is called what the verdict should be, its peer `peer`.\n\
         They live in network namespaces called {}{}-…; all of it ends with the screen (q).",
        cast::CAST.len(),
        cleanup::PREFIX,
        std::process::id()
    );
    let faults = screen::show(&tcpwin, &args.args, args.seconds)?;
    for fault in &faults {
        eprintln!("not shown: {fault}");
    }
    Ok(())
}
