//! A network namespace of the test's own.
#![allow(dead_code, reason = "each test uses a part of it")]

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use tcpwin_agent::source::netns;

/// A namespace with its loopback up; gone with the value, or with the test's process.
pub struct Namespace {
    holder: Child,
    pub inum: u32,
    pub door: PathBuf,
}

impl Namespace {
    /// Needs CAP_SYS_ADMIN.
    pub fn new() -> Self {
        let mut holder = Command::new("unshare")
            .args(["--net", "sh", "-c", "ip link set lo up && echo up && exec cat"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("util-linux's `unshare` runs");
        let mut line = String::new();
        BufReader::new(holder.stdout.take().expect("piped"))
            .read_line(&mut line)
            .expect("the namespace's holder answers");
        assert_eq!(line, "up\n", "the namespace's loopback comes up");
        let door = PathBuf::from(format!("/proc/{}/ns/net", holder.id()));
        let inum = netns::inum(&door).expect("the holder's namespace");
        Self { holder, inum, door }
    }

    pub fn inside<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        netns::inside(self.inum, &self.door, work).expect("the test may enter its own namespace")
    }
}

impl Drop for Namespace {
    fn drop(&mut self) {
        let _ = self.holder.kill();
        let _ = self.holder.wait();
    }
}

/// The reason to skip what needs root, if any.
pub fn not_root() -> Option<&'static str> {
    (!rustix::process::geteuid().is_root()).then_some("network namespaces need root")
}
