//! The `tcpwin` binary: arguments in, exit code out.

use std::io::Write as _;
use std::process::ExitCode;

use clap::Parser as _;

use tcpwin_agent::cli::Cli;

// A binary's modules lie beside its root, where the library's are.
#[path = "main/command.rs"]
mod command;

fn main() -> ExitCode {
    let exit = command::run(Cli::parse().command).unwrap_or_else(|failure| {
        // Nowhere is left to say it when standard error is gone.
        let _ = writeln!(std::io::stderr(), "tcpwin: {:#}", failure.error);
        failure.exit
    });
    ExitCode::from(exit as u8)
}
