//! The suites under other kernels: guests run side by side, each on one processor.

use std::thread;

use anyhow::{Context as _, Result};

use crate::binaries::Programs;
use crate::process::announce;
use crate::setup;
use crate::suites::report::Recorder;
use crate::vm::{self, GuestJob, GuestOutcome, Release};

/// Where the suites leave their report in a guest.
const REPORT: &str = "report.jsonl";

/// Boots each kernel and runs the suites in it.
pub fn run(programs: &Programs, suites: &[String], all_kernels: bool, recorder: &mut Recorder) -> Result<()> {
    setup::guest()?;
    let releases: &[Release] = if all_kernels { &Release::ALL } else { &Release::CI };
    let at_once = thread::available_parallelism().map_or(1, usize::from);
    for wave in releases.chunks(at_once) {
        let outcomes: Vec<(Release, Result<GuestOutcome>)> = thread::scope(|scope| {
            let boot = |release: &Release| {
                let release = *release;
                let job = job(programs, suites, release);
                // QEMU dies with the thread that started it: it stays in vm::run until the guest has ended.
                (release, scope.spawn(move || vm::run(release, &job)))
            };
            let running: Vec<_> = wave.iter().map(boot).collect();
            let ended = |(release, thread): (Release, thread::ScopedJoinHandle<_>)| {
                (
                    release,
                    thread
                        .join()
                        .unwrap_or_else(|_| Err(anyhow::anyhow!("the guest's thread panicked"))),
                )
            };
            running.into_iter().map(ended).collect()
        });
        for (release, outcome) in outcomes {
            record(release, outcome, recorder)?;
        }
    }
    Ok(())
}

fn job(programs: &Programs, suites: &[String], release: Release) -> GuestJob {
    let report = format!("/out/{REPORT}");
    let fixed = ["/bin/xtask", "suites", "--place", "guest", "--report", &report];
    let command = fixed.into_iter().chain(suites.iter().map(String::as_str));
    let mut job = GuestJob::new(command, programs);
    job.echo = Some(format!("[{release}] "));
    job
}

fn record(release: Release, outcome: Result<GuestOutcome>, recorder: &mut Recorder) -> Result<()> {
    let place = format!("guest {release}");
    recorder.begin(&place);
    let before = recorder.failures();
    let absorbed = outcome.and_then(|outcome| {
        announce(format_args!(
            "{place} ({}) ended with {}",
            outcome.kernel, outcome.status
        ));
        recorder
            .absorb(&outcome.out.path().join(REPORT), &place)
            .context("the suites left no report")?;
        Ok(outcome.status)
    });
    match absorbed {
        Ok(0) => Ok(()),
        Ok(_) if recorder.failures() > before => Ok(()),
        Ok(137) => recorder.fail("suites ended in time", "killed at the limit of the guest's time"),
        Ok(status) => recorder.fail("suites ended well", format!("exit status {status}")),
        Err(error) => recorder.fail("suites ran", format!("{error:#}")),
    }
}
