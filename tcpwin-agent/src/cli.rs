//! The command line: what is typed, as valid types. One file a command.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Parser, Subcommand, ValueHint};
use clap_complete::Shell;

use crate::query::{Filter, FilterError, Sort};

mod agent;
mod check;
mod doctor;
mod explain;
mod history;
mod record;
mod shell;
#[cfg(test)]
mod tests;
mod top;
mod trace;
mod watch;

pub use agent::AgentArgs;
pub use check::CheckArgs;
pub use doctor::DoctorArgs;
pub use explain::ExplainArgs;
pub use history::HistoryArgs;
pub use record::{RecordArgs, ReplayArgs};
pub use shell::{completions, manual};
pub use top::{PictureArgs, TopArgs};
pub use trace::TraceArgs;
pub use watch::{ConnectArgs, WatchArgs};

/// How the program ends. Documented in `--help` and docs/exit-codes.md.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    /// Did what was asked.
    Done = 0,
    /// Failed while running.
    Runtime = 1,
    /// Wrong arguments or config file.
    Usage = 2,
    /// A privilege is missing.
    Privilege = 3,
    /// No source of socket data works on this kernel.
    Kernel = 4,
    /// Done, but a part of what was asked was lost.
    Partial = 5,
    /// The time was up before as many events came as were asked for.
    Short = 6,
    /// Done, and `check` or `doctor` found problems.
    Problems = 7,
}

const EXIT_CODES: &str = "\
Exit codes:
  0  done, or ended by SIGINT or SIGTERM
  1  failed while running (port in use, agent out of reach, …)
  2  wrong arguments or config file
  3  a privilege is missing; the message says which
  4  no source of socket data works on this kernel, or the one asked for by --source does not
  5  done, but a part was lost: trace could not keep up with the events, or a recording is damaged or cut short
  6  trace: --duration was over before --count events came
  7  check, doctor: problems were found";

/// What limits every TCP connection of this host, what lifting the limit gives, and who must act
#[derive(Debug, Parser)]
#[command(name = "tcpwin", version, after_help = EXIT_CODES, max_term_width = 110)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The subcommands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Watch all connections; serve Prometheus metrics and the HTTP API
    #[command(after_help = EXIT_CODES)]
    Agent(AgentArgs),
    /// Live screen of all connections; attaches to a running agent, else watches by itself
    #[command(after_help = EXIT_CODES)]
    Top(TopArgs),
    /// Tell what happens to connections, a line an event; attaches to a running agent, else watches by itself
    #[command(after_help = EXIT_CODES)]
    Trace(TraceArgs),
    /// Which connections were held in the last hours, by what, and what it cost: from what an agent keeps on disk
    #[command(after_help = EXIT_CODES)]
    History(HistoryArgs),
    /// Tell what limits each socket of pasted `ss -tinm` output, or a running connection
    #[command(after_help = explain::HELP)]
    Explain(ExplainArgs),
    /// Measure a server as its clients meet it: TCP, Fast Open, TLS, tickets, certificate, HTTP/2, the first byte's round trips
    #[command(after_help = check::HELP)]
    Check(CheckArgs),
    /// Audit this host and each of its network namespaces against what its live connections need; changes nothing
    #[command(after_help = doctor::HELP)]
    Doctor(DoctorArgs),
    /// Take back what `doctor --apply` changed, once whoever holds the other end of standard input is gone
    #[command(hide = true)]
    Restore,
    /// Write completions for a shell to standard output
    #[command(after_help = COMPLETIONS)]
    Completions {
        /// Which shell
        shell: Shell,
    },
    /// Write the manual's pages into a directory
    #[command(hide = true)]
    Man {
        /// Where; it must be there
        #[arg(value_name = "DIRECTORY", value_hint = ValueHint::DirPath)]
        directory: PathBuf,
    },
}

const COMPLETIONS: &str = "\
To have them in every new shell:
  bash    tcpwin completions bash > ~/.local/share/bash-completion/completions/tcpwin
  zsh     tcpwin completions zsh > a directory of $fpath, as _tcpwin
  fish    tcpwin completions fish > ~/.config/fish/completions/tcpwin.fish
  elvish  tcpwin completions elvish >> ~/.config/elvish/rc.elv";

/// With the fault pointed at.
fn parse_filter(text: &str) -> Result<Filter, String> {
    text.parse().map_err(|error: FilterError| {
        format!("wrong at column {}\n\n{}", error.column + 1, error.pointed(text))
    })
}

fn parse_sort(text: &str) -> Result<Sort, String> {
    text.parse().map_err(|error: FilterError| {
        format!("wrong at column {}\n\n{}", error.column + 1, error.pointed(text))
    })
}

fn parse_duration(text: &str) -> Result<Duration, String> {
    crate::config::duration(text)
        .ok_or_else(|| format!("`{text}` is not a duration: write 500ms, 30s, 5m or 1h"))
}
