//! The one door for people and CI.

mod lab;

use clap::Parser;

/// The one door for people and CI
#[derive(Parser)]
enum Xtask {
    /// Run scenarios whose truth is known by construction
    Lab(lab::LabArgs),
}

fn main() -> anyhow::Result<()> {
    match Xtask::parse() {
        Xtask::Lab(args) => lab::run(args),
    }
}
