//! `tcpwin check`.

use tcpwin_agent::check;
use tcpwin_agent::cli::{CheckArgs, Exit};

use super::{Outcome, failure, tell};

pub(super) fn run(arguments: &CheckArgs) -> Outcome {
    let plan = arguments.plan().map_err(|error| failure(Exit::Usage, error))?;
    let report = check::run(&plan).map_err(|error| {
        let wrong = matches!(error, check::CheckError::Name(_));
        failure(if wrong { Exit::Usage } else { Exit::Runtime }, error)
    })?;
    tell(&report, arguments.json, check::write)?;
    let is_problem = |finding: &check::Finding| finding.severity == check::Severity::Problem;
    Ok(match report.failed.is_empty() {
        _ if report.findings.iter().any(is_problem) => Exit::Problems,
        false => Exit::Partial,
        true => Exit::Done,
    })
}
