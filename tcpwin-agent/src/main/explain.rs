//! `tcpwin explain`: pasted output, or running connections.

use std::io::{IsTerminal as _, Read as _};

use anyhow::{Context as _, anyhow};

use tcpwin_agent::cli::{Exit, ExplainArgs};
use tcpwin_agent::explain;
use tcpwin_agent::query::Filter;
use tcpwin_agent::source::ss_text;

use super::watched::{Watched, wait};
use super::{Failure, Outcome, WATCHED, failure, log_warnings, tell};

pub(super) fn run(arguments: &ExplainArgs) -> Outcome {
    if let Some(filter) = &arguments.live {
        return live(filter, arguments);
    }
    let text = pasted(arguments)?;
    let reading = ss_text::parse(&text);
    if reading.sockets.is_empty() {
        let error = anyhow!(
            "nothing here reads as the output of ss ({} lines of text, {} sockets of other families): paste that of `ss -tinm`",
            reading.text.len(),
            reading.others
        );
        return Err(failure(Exit::Usage, error));
    }
    let mut report = explain::explain(&reading.observed());
    report.text = reading.text;
    let filter = arguments.filter.clone().unwrap_or_default();
    let report = report.only(&filter, arguments.sort.as_ref());
    if report.sockets.is_empty() {
        return Err(anyhow!("no socket of the paste passes `{}`", filter.text()).into());
    }
    tell(&report, arguments.json, explain::write)?;
    Ok(Exit::Done)
}

/// Running connections, once they were watched for a while.
fn live(filter: &Filter, arguments: &ExplainArgs) -> Outcome {
    log_warnings();
    let mut watched = Watched::open(&arguments.connect, &arguments.watch)?;
    wait(arguments.watch_for.unwrap_or(WATCHED))?;
    let snapshot = watched.feed.latest()?;
    let report = explain::live(&snapshot, filter);
    watched.close()?;
    if report.sockets.is_empty() {
        return Err(anyhow!("no connection of this host passes `{}`", filter.text()).into());
    }
    tell(&report, arguments.json, explain::write)?;
    Ok(Exit::Done)
}

/// The text of the file, or of standard input; bytes that are no text are marked as such.
fn pasted(arguments: &ExplainArgs) -> Result<String, Failure> {
    let file = arguments.file.as_ref().filter(|file| file.as_os_str() != "-");
    let mut bytes = Vec::new();
    match file {
        Some(file) => {
            let read = std::fs::read(file).with_context(|| format!("cannot read {}", file.display()));
            bytes = read?;
        }
        None => {
            let mut stdin = std::io::stdin().lock();
            if stdin.is_terminal() {
                eprintln!(
                    "tcpwin: paste the output of `ss -tinm`, then press Ctrl-D (or: ss -tinm | tcpwin explain)"
                );
            }
            stdin
                .read_to_end(&mut bytes)
                .context("cannot read standard input")?;
        }
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
