//! The demo: every limit is told, and nothing of it outlives it, however it ends.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

use anyhow::{Context as _, Result, ensure};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitOptions, getpid, kill_process, set_child_subreaper, wait};

use crate::lab::cleanup::{self, NETNS_DIR, PREFIX};
use crate::lab::clock::{Timer, now_ns, seconds_ns};
use crate::suites::Context;
use crate::suites::report::Recorder;

/// Workers end by a signal of the kernel's when their parent has; generous.
const END_LIMIT_S: f64 = 20.0;

/// Runs it to its end, ends it by a signal, and kills it.
pub fn run(context: &Context, recorder: &mut Recorder) -> Result<()> {
    // What outlives the demo becomes a child of ours, and is seen.
    set_child_subreaper(Some(getpid())).context("cannot adopt processes")?;

    let mut whole = start(context)?;
    let status = whole.wait()?;
    ensure!(status.success(), "`demo --check` ended with {status}");
    nothing_is_left(&whole)?;
    recorder.pass("every limit is told", "")?;

    let mut ended = start(context)?;
    wait_for_first_limit(&mut ended)?;
    kill_process(Pid::from_child(&ended), Signal::TERM)?;
    ended.wait()?;
    nothing_is_left(&ended)?;
    recorder.pass("nothing is left after SIGTERM", "")?;

    let mut killed = start(context)?;
    wait_for_first_limit(&mut killed)?;
    killed.kill()?;
    killed.wait()?;
    cleanup::sweep();
    nothing_is_left(&killed)?;
    recorder.pass("the next run takes away what a killed one left", "")
}

fn start(context: &Context) -> Result<Child> {
    let mut demo = Command::new(&context.programs.xtask);
    demo.args(["demo", "--check", "--tcpwin"])
        .arg(&context.programs.tcpwin)
        .stdin(Stdio::null())
        .stdout(Stdio::piped());
    demo.spawn().context("cannot start the demo")
}

fn wait_for_first_limit(demo: &mut Child) -> Result<()> {
    let stdout = demo.stdout.as_mut().context("no stdout")?;
    let mut line = String::new();
    BufReader::new(stdout).read_line(&mut line)?;
    ensure!(line.contains(" told after "), "the demo says {line:?}");
    Ok(())
}

/// No namespace of this demo has a name, and no process of it runs.
fn nothing_is_left(demo: &Child) -> Result<()> {
    let own = format!("{PREFIX}{}-", demo.id());
    let left: Vec<_> = fs::read_dir(NETNS_DIR)?
        .flatten()
        .filter(|entry| entry.file_name().to_string_lossy().starts_with(&own))
        .collect();
    ensure!(left.is_empty(), "namespaces are left: {left:?}");
    let limit_ns = now_ns() + seconds_ns(END_LIMIT_S);
    let timer = Timer::every(seconds_ns(0.02))?;
    loop {
        match wait(WaitOptions::NOHANG) {
            Err(Errno::CHILD) => return Ok(()),
            Ok(None) => {
                ensure!(now_ns() < limit_ns, "processes of the demo still run");
                timer.wait();
            }
            Ok(Some(_)) => {}
            Err(error) => return Err(error).context("cannot wait for the demo's processes"),
        }
    }
}
