//! Boots a guest and gets its results out.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::thread;

use anyhow::{Context as _, Result, ensure};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, pidfd_open};

use crate::paths;
use crate::process;
use crate::vm::kernel::Kernel;
use crate::vm::{GuestJob, GuestOutcome, died};

const MEMORY: &str = "1024";

/// Runs the job to its end, or kills QEMU once the job's patience is over.
pub fn boot(kernel: &Kernel, initramfs: &Path, job: &GuestJob) -> Result<GuestOutcome> {
    let dir = tempfile::tempdir()?;
    let archive = dir.path().join("out.tar");
    let mut qemu = command(kernel, initramfs, &archive, job.virtual_time)?
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .context("cannot start qemu-system-x86_64")?;
    let console = qemu.stdout.take().context("no console")?;
    let echo = job.echo.clone();
    let console = thread::spawn(move || read_console(console, echo.as_deref()));

    let in_time = wait(&qemu, job)?;
    if !in_time {
        qemu.kill()?;
    }
    let status = qemu.wait()?;
    let console = console.join().expect("reading a pipe does not panic");
    let mut said = String::new();
    if let Some(mut stderr) = qemu.stderr.take() {
        stderr.read_to_string(&mut said)?;
    }
    if !in_time {
        let why = format!("was killed after {} s", job.patience.as_secs());
        return Err(died(kernel.release, &why, &console, job));
    }
    if !status.success() {
        return Err(died(
            kernel.release,
            &format!("could not run ({status}: {})", said.trim()),
            &console,
            job,
        ));
    }
    unpack(&archive).map_err(|error| {
        died(
            kernel.release,
            &format!("left no result ({error:#})"),
            &console,
            job,
        )
    })
}

fn command(kernel: &Kernel, initramfs: &Path, archive: &Path, virtual_time: bool) -> Result<Command> {
    let qemu = paths::program("qemu-system-x86_64").context("qemu-system-x86_64 is not installed")?;
    // Should we be killed, the guest must not stay behind.
    let mut command = Command::new("setpriv");
    command.args(["--pdeathsig", "KILL"]).arg(qemu);
    command.args([
        "-nodefaults",
        "-no-reboot",
        "-display",
        "none",
        "-serial",
        "stdio",
    ]);
    command.args(["-accel", "tcg", "-cpu", "max", "-smp", "1", "-m", MEMORY]);
    if virtual_time {
        // One instruction is one nanosecond, and idle time passes at once.
        command.args(["-icount", "shift=0,sleep=off", "-rtc", "clock=vm"]);
    }
    command
        .arg("-kernel")
        .arg(&kernel.image)
        .arg("-initrd")
        .arg(initramfs);
    command.args(["-append", "console=ttyS0 quiet panic=-1 no_timer_check"]);
    command
        .arg("-chardev")
        .arg(format!("file,id=out,path={}", archive.display()));
    command.args([
        "-device",
        "virtio-serial-pci",
        "-device",
        "virtserialport,chardev=out",
    ]);
    Ok(command)
}

/// Whether QEMU ended by itself in the time it has.
fn wait(qemu: &Child, job: &GuestJob) -> Result<bool> {
    let pid = i32::try_from(qemu.id())
        .ok()
        .and_then(Pid::from_raw)
        .context("no pid")?;
    let pidfd = pidfd_open(pid, PidfdFlags::empty())?;
    let timeout = Timespec {
        tv_sec: job.patience.as_secs().try_into()?,
        tv_nsec: 0,
    };
    let mut ended = [PollFd::new(&pidfd, PollFlags::IN)];
    loop {
        match poll(&mut ended, Some(&timeout)) {
            Err(rustix::io::Errno::INTR) => {}
            ready => return Ok(ready? > 0),
        }
    }
}

fn read_console(console: ChildStdout, echo: Option<&str>) -> String {
    let mut text = String::new();
    let mut console = BufReader::new(console);
    let mut line = Vec::new();
    while console.read_until(b'\n', &mut line).is_ok_and(|read| read > 0) {
        let shown = String::from_utf8_lossy(&line).trim_end().to_owned();
        if let Some(prefix) = echo {
            println!("{prefix}{shown}");
        }
        text.push_str(&shown);
        text.push('\n');
        line.clear();
    }
    text
}

fn unpack(archive: &Path) -> Result<GuestOutcome> {
    ensure!(
        fs::metadata(archive)?.len() > 0,
        "it ended before its command did"
    );
    let out = tempfile::tempdir()?;
    process::output(
        Command::new("tar")
            .arg("-xf")
            .arg(archive)
            .arg("-C")
            .arg(out.path()),
    )?;
    let status = fs::read_to_string(out.path().join(".status")).context("no exit status")?;
    let kernel = fs::read_to_string(out.path().join(".kernel")).context("no kernel version")?;
    Ok(GuestOutcome {
        status: status.trim().parse()?,
        kernel: kernel.trim().to_owned(),
        out,
    })
}
