//! Network namespaces of the lab's own: one thread unshares, its namespace is bound to a name under /run/netns
//! (so `ip netns exec` and `ss -N` see it), and threads or child processes enter it for what they do there.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{io, thread};

use anyhow::{Context, Result, anyhow, bail};
use rustix::mount::mount_bind;
use rustix::thread::{LinkNameSpaceType, UnshareFlags, move_into_link_name_space, unshare_unsafe};

use super::cleanup;

/// One network namespace; its name goes when this is dropped.
pub struct NetNs {
    name: String,
    path: PathBuf,
    file: File,
}

impl NetNs {
    /// Makes a namespace; `label` (`0a`, `0b`, …) is unique within the process.
    pub fn create(label: &str) -> Result<Self> {
        let name = format!("{}{}-{label}", cleanup::PREFIX, std::process::id());
        let path = Path::new(cleanup::NETNS_DIR).join(&name);
        fs::create_dir_all(cleanup::NETNS_DIR)
            .with_context(|| format!("cannot create {}", cleanup::NETNS_DIR))?;
        File::create_new(&path).with_context(|| format!("cannot create {}", path.display()))?;
        cleanup::note(&path);
        let bound = thread::scope(|scope| scope.spawn(|| unshare_and_bind(&path)).join());
        let opened = bound
            .map_err(|_| anyhow!("the thread that makes a network namespace panicked"))
            .and_then(|bound| bound)
            .and_then(|()| File::open(&path).with_context(|| format!("cannot open {}", path.display())));
        match opened {
            Ok(file) => Ok(Self { name, path, file }),
            Err(error) => {
                cleanup::remove(&path);
                Err(error)
            }
        }
    }

    /// Its name, as `ip netns` and `ss -N` take it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its inode: the number by which the kernel and tcpwin name it.
    pub fn inode(&self) -> Result<u64> {
        Ok(self
            .file
            .metadata()
            .context("cannot stat a network namespace")?
            .ino())
    }

    /// Runs `task` on a thread inside the namespace.
    pub fn enter<T: Send>(&self, task: impl FnOnce() -> Result<T> + Send) -> Result<T> {
        let inside = || {
            move_into_link_name_space(self.file.as_fd(), Some(LinkNameSpaceType::Network))
                .with_context(|| format!("cannot enter {}", self.name))?;
            task()
        };
        thread::scope(|scope| scope.spawn(inside).join())
            .map_err(|_| anyhow!("a thread in {} panicked", self.name))?
    }

    /// A command that runs inside the namespace and dies with the thread that starts it.
    pub fn command(&self, program: impl AsRef<OsStr>) -> Result<Command> {
        let mut command = Command::new(program);
        die_with_parent(&mut command);
        let namespace = self.file.try_clone().context("cannot duplicate a descriptor")?;
        // SAFETY: setns is a bare system call, safe between fork and exec; the closure owns the descriptor.
        unsafe {
            command.pre_exec(
                move || match libc::setns(namespace.as_raw_fd(), libc::CLONE_NEWNET) {
                    0 => Ok(()),
                    _ => Err(io::Error::last_os_error()),
                },
            );
        }
        Ok(command)
    }

    /// Sets `net.…` in the namespace.
    pub fn sysctl(&self, name: &str, value: &str) -> Result<()> {
        if !name.starts_with("net.") {
            bail!("{name} belongs to the host, not to a network namespace");
        }
        let path = format!("/proc/sys/{}", name.replace('.', "/"));
        self.enter(|| fs::write(&path, value).with_context(|| format!("cannot set {name} = {value}")))
    }

    /// Runs iproute2's `ip` on the given lines.
    pub fn ip(&self, lines: &[String]) -> Result<()> {
        lines.iter().try_for_each(|line| self.run("ip", line))
    }

    /// Runs iproute2's `tc` on one line.
    pub fn tc(&self, line: &str) -> Result<()> {
        self.run("tc", line)
    }

    fn run(&self, program: &str, line: &str) -> Result<()> {
        let output = self
            .command(tool(program)?)?
            .args(line.split_whitespace())
            .stdin(Stdio::null())
            .output()
            .with_context(|| format!("cannot run {program}"))?;
        if !output.status.success() {
            bail!(
                "`{program} {line}` in {}: {}",
                self.name,
                String::from_utf8_lossy(&output.stderr).trim()
            );
        }
        Ok(())
    }
}

impl Drop for NetNs {
    fn drop(&mut self) {
        cleanup::remove(&self.path);
    }
}

fn unshare_and_bind(path: &Path) -> Result<()> {
    // SAFETY: only CLONE_NEWNET, which leaves descriptors and memory shared; the thread ends right after.
    unsafe { unshare_unsafe(UnshareFlags::NEWNET) }
        .context("cannot make a network namespace (root is needed)")?;
    mount_bind("/proc/thread-self/ns/net", path).with_context(|| format!("cannot bind {}", path.display()))
}

/// Makes the child die when the thread that started it does, however that ends.
pub fn die_with_parent(command: &mut Command) {
    // SAFETY: prctl is a bare system call, safe between fork and exec.
    unsafe {
        command.pre_exec(|| match libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGTERM) {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        });
    }
}

/// A tool of iproute2 by its absolute path: busybox's shell would prefer its own.
pub fn tool(name: &str) -> Result<PathBuf> {
    [
        "/usr/sbin",
        "/sbin",
        "/usr/bin",
        "/bin",
        "/usr/local/sbin",
        "/usr/local/bin",
    ]
    .iter()
    .map(|dir| Path::new(dir).join(name))
    .find(|path| path.exists())
    .ok_or_else(|| anyhow!("{name} not found: install iproute2"))
}
