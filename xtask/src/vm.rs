//! Guests: real kernels of other versions in QEMU, with virtual time, so that what a test says does not depend on
//! how busy the machine is.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context as _, Result, anyhow, bail};

use crate::{binaries, setup};

mod cpio;
mod initramfs;
mod kernel;
mod mirror;
mod modules;
mod qemu;

pub use kernel::Release;

/// Arguments of `cargo xtask vm`.
#[derive(clap::Args)]
pub struct VmArgs {
    /// Which kernel to boot
    #[arg(value_name = "KERNEL")]
    release: Release,
    /// Let the guest's clock follow the host's instead of counting instructions
    #[arg(long)]
    real_time: bool,
    /// Fetch the newest build of this kernel even if one is in the cache
    #[arg(long)]
    refresh: bool,
    /// End the command after this many seconds of the guest's time
    #[arg(long, value_name = "SECONDS", default_value_t = 600)]
    limit: u64,
    /// Put a host file into the guest (programs bring their shared libraries)
    #[arg(long = "file", value_name = "HOST[:GUEST]")]
    files: Vec<String>,
    /// Keep what the command leaves in the guest's /out in this directory
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// What to run; /bin/tcpwin and /bin/xtask are there
    #[arg(last = true, required = true, value_name = "CMD")]
    command: Vec<OsString>,
}

/// What to run in a guest.
#[derive(Clone, Debug)]
pub struct GuestJob {
    /// Program and arguments, as the guest sees them.
    pub command: Vec<OsString>,
    /// Files to put there; programs bring their shared libraries.
    pub files: Vec<GuestFile>,
    /// The command's limit in the guest's time.
    pub limit: Duration,
    /// How long QEMU may take in the host's time before it is killed.
    pub patience: Duration,
    /// Count instructions instead of following the host's clock.
    pub virtual_time: bool,
    /// Print the console as it comes, each line after this.
    pub echo: Option<String>,
}

/// A file of the host and its place in the guest.
#[derive(Clone, Debug)]
pub struct GuestFile {
    /// Where it is.
    pub host: PathBuf,
    /// Where it goes: an absolute path.
    pub guest: PathBuf,
}

/// How a guest ended.
#[derive(Debug)]
pub struct GuestOutcome {
    /// The command's exit status, as a shell gives it.
    pub status: i32,
    /// `uname -r` of the guest.
    pub kernel: String,
    /// What the command left in /out; gone when dropped.
    pub out: tempfile::TempDir,
}

impl GuestJob {
    /// Runs `command` with /bin/tcpwin and /bin/xtask at hand, in virtual time.
    pub fn new(
        command: impl IntoIterator<Item = impl Into<OsString>>,
        programs: &binaries::Programs,
    ) -> Self {
        let files = [(&programs.tcpwin, "/bin/tcpwin"), (&programs.xtask, "/bin/xtask")];
        Self {
            command: command.into_iter().map(Into::into).collect(),
            files: files
                .map(|(host, guest)| GuestFile {
                    host: host.clone(),
                    guest: guest.into(),
                })
                .into(),
            limit: Duration::from_secs(1800),
            patience: Duration::from_secs(3600),
            virtual_time: true,
            echo: None,
        }
    }
}

/// Boots `release`, runs the job and returns what came of it. An error means that the guest itself failed.
pub fn run(release: Release, job: &GuestJob) -> Result<GuestOutcome> {
    setup::guest()?;
    let kernel = kernel::fetch(release)?;
    let initramfs = initramfs::build(&kernel, job)?;
    qemu::boot(&kernel, initramfs.path(), job)
}

/// Runs `cargo xtask vm`: the command's exit code is ours.
pub fn command(args: VmArgs) -> Result<ExitCode> {
    if args.refresh {
        kernel::forget(args.release)?;
    }
    let programs = binaries::programs()?;
    let mut job = GuestJob::new(args.command, &programs);
    job.limit = Duration::from_secs(args.limit);
    // Who gives the command longer means it: emulation may be slower than the guest's own clock.
    job.patience = job.patience.max(2 * job.limit);
    job.virtual_time = !args.real_time;
    job.echo = Some(String::new());
    for file in &args.files {
        job.files.push(parse_file(file)?);
    }
    let outcome = run(args.release, &job)?;
    if let Some(dir) = &args.out {
        keep(outcome.out.path(), dir)?;
    }
    Ok(ExitCode::from(u8::try_from(outcome.status).unwrap_or(u8::MAX)))
}

fn parse_file(text: &str) -> Result<GuestFile> {
    let (host, guest) = text.split_once(':').unwrap_or((text, text));
    let host = Path::new(host)
        .canonicalize()
        .with_context(|| format!("--file {text}"))?;
    let guest = if Path::new(guest).is_absolute() {
        PathBuf::from(guest)
    } else {
        Path::new("/").join(guest)
    };
    Ok(GuestFile { host, guest })
}

fn keep(from: &Path, to: &Path) -> Result<()> {
    std::fs::create_dir_all(to)?;
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            keep(&entry.path(), &to.join(entry.file_name()))?;
        } else {
            std::fs::copy(entry.path(), to.join(entry.file_name()))?;
        }
    }
    Ok(())
}

/// A guest that cannot have worked, told with the end of its console unless that was shown already.
fn died(release: Release, why: &str, console: &str, job: &GuestJob) -> anyhow::Error {
    if job.echo.is_some() {
        return anyhow!("the {release} guest {why}");
    }
    let lines: Vec<&str> = console.lines().collect();
    let end = lines[lines.len().saturating_sub(25)..].join("\n");
    anyhow!("the {release} guest {why}; its console ended with:\n{end}")
}

/// Guests are made of this machine's own programs.
fn require_same_machine() -> Result<()> {
    if std::env::consts::ARCH != "x86_64" {
        bail!(
            "guests run x86_64 kernels with this machine's programs, and this machine is {}",
            std::env::consts::ARCH
        );
    }
    Ok(())
}
