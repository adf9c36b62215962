//! The agent on a unix socket: who may connect, what is left behind, and what is done about it.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Output};

use rustix::process::Signal;

#[path = "support/agent.rs"]
mod agent;
#[path = "support/told.rs"]
mod told;

use agent::Agent;

fn start(path: &Path, more: &[&str]) -> Agent {
    let address = format!("unix:{}", path.display());
    let arguments = ["--source", "sock_diag", "--web.listen-address", &address];
    Agent::start(&[&arguments[..], more].concat())
}

fn trace(path: &Path, more: &[&str]) -> Output {
    let url = format!("unix:{}", path.display());
    Command::new(agent::TCPWIN)
        .args(["trace", "--json", "--duration", "100ms", "--connect", &url])
        .args(more)
        .output()
        .expect("trace starts")
}

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path)
        .expect("it is there")
        .permissions()
        .mode()
        & 0o777
}

#[test]
fn it_serves_with_its_mode_and_takes_its_name_away() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("tcpwin.sock");
    let mut first = start(&path, &["--web.socket-mode", "0600"]);
    assert_eq!(mode(&path), 0o600);
    let traced = trace(&path, &[]);
    assert!(traced.status.success(), "{traced:?}");
    // The agent is given the filter.
    let short = trace(&path, &["--filter", "proc = nobody-runs-this", "--count", "1"]);
    assert_eq!(short.status.code(), Some(6), "{short:?}");

    // As after a crash: the name is left behind, and the next agent takes it over.
    first.end(Signal::KILL);
    assert!(path.exists());
    let gone = trace(&path, &[]);
    assert_eq!(gone.status.code(), Some(1), "{gone:?}");
    let mut second = start(&path, &[]);
    assert_eq!(mode(&path), 0o660);
    assert!(trace(&path, &[]).status.success());

    // One that lives is left alone.
    let address = format!("unix:{}", path.display());
    let third = Command::new(agent::TCPWIN)
        .args(["agent", "--source", "sock_diag", "--web.listen-address", &address])
        .output()
        .expect("the agent starts");
    let said = String::from_utf8_lossy(&third.stderr);
    assert_eq!(third.status.code(), Some(1), "{said}");
    assert!(said.contains("listens there already"), "{said}");
    assert!(trace(&path, &[]).status.success());

    second.end(Signal::TERM);
    assert_eq!(fs::read_dir(dir.path()).expect("ours").count(), 0);
}
