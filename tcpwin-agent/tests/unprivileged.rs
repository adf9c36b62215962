//! What the program does without privileges, and with no more than the probes need. Needs root, to give them up.

use std::fs::{self, Permissions};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::Command;

use rustix::process::Signal;
use serde::Deserialize;
use tcpwin_agent::snapshot::{Connection, Health};
use tcpwin_agent::source::{kernel_clock, netns as namespaces};
use tempfile::TempDir;

#[path = "support/agent.rs"]
mod agent;
#[path = "support/netns.rs"]
mod netns;
#[path = "support/told.rs"]
mod told;

use agent::Agent;
use told::within_patience;

/// `nobody`.
const USER: &str = "65534";

/// The program where any user may run it: a repository may be in somebody's home.
struct Program {
    _dir: TempDir,
    path: PathBuf,
}

impl Program {
    fn new() -> Self {
        let dir = TempDir::new().expect("a directory");
        fs::set_permissions(dir.path(), Permissions::from_mode(0o755)).expect("ours");
        let path = dir.path().join("tcpwin");
        fs::copy(agent::TCPWIN, &path).expect("a copy");
        fs::set_permissions(&path, Permissions::from_mode(0o755)).expect("ours");
        Self { _dir: dir, path }
    }

    /// As a user with no more than these capabilities.
    fn with_capabilities(&self, capabilities: &[&str]) -> Command {
        let mut set = "-all".to_owned();
        for capability in capabilities {
            set.push_str(",+");
            set.push_str(capability);
        }
        let mut command = Command::new("setpriv");
        command
            .args(["--reuid", USER, "--regid", USER, "--clear-groups"])
            .args(["--inh-caps", &set, "--ambient-caps", &set, "--bounding-set", &set])
            .arg(&self.path);
        command
    }
}

#[derive(Deserialize)]
struct Answer {
    connections: Vec<Connection>,
}

#[derive(Deserialize)]
struct Healthz {
    status: String,
    #[serde(flatten)]
    health: Health,
}

/// A connection of this process: cookie, both ends.
fn connect() -> (String, TcpStream, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let client = TcpStream::connect(listener.local_addr().expect("bound")).expect("loopback connects");
    let (server, _) = listener.accept().expect("loopback accepts");
    let cookie = rustix::net::sockopt::socket_cookie(&client).expect("SO_COOKIE");
    (cookie.to_string(), client, server)
}

/// The connection with this id, once an interval has ended since it opened.
fn shown(agent: &Agent, mut is_it: impl FnMut(&Connection) -> bool) -> Connection {
    let since = kernel_clock();
    loop {
        let Answer { connections } = agent.json("/api/v1/connections");
        if let Some(found) = connections.into_iter().find(&mut is_it) {
            return found;
        }
        within_patience(since, || "the connection is not listed".to_owned());
    }
}

#[test]
fn without_privileges_it_falls_back_says_so_once_and_is_of_use() {
    if let Some(reason) = netns::not_root() {
        println!("skipped: {reason}");
        return;
    }
    let program = Program::new();
    let mut agent = Agent::start_by(program.with_capabilities(&[]), &["--interval", "100ms"]);
    agent.until_ready();

    let (cookie, client, _server) = connect();
    let connection = shown(&agent, |each| each.id == cookie);
    assert_eq!(connection.netns, namespaces::own().expect("/proc"));
    assert_eq!(connection.local, client.local_addr().expect("bound").to_string());
    assert!(connection.tcp.cwnd.is_some() && connection.tcp.snd_wnd_bytes.is_some());
    // What it cannot know it does not make up.
    assert_eq!(
        (connection.process, connection.budget, connection.calls),
        (None, None, None)
    );

    // Its own socket, on which we ask: with its owner, which takes no privilege.
    let pid = agent.pid();
    let own = shown(&agent, |each| {
        let is_own = each.local == agent.address();
        is_own && each.process.as_ref().is_some_and(|process| process.pid == pid)
    });
    assert_eq!(own.process.expect("just seen").name, "tcpwin");

    let Healthz { status, health } = agent.json("/healthz");
    assert_eq!(
        (status.as_str(), health.source.as_str()),
        ("degraded", "sock_diag")
    );
    let reason = health.source_reason.expect("the probes do not run");
    for part in ["CAP_BPF", "CAP_PERFMON", "run as root"] {
        assert!(reason.contains(part), "{reason}");
    }
    assert!(
        health.hooks.iter().any(|hook| hook.missing.is_some()),
        "{:?}",
        health.hooks
    );
    let log = agent.log();
    assert_eq!(log.matches(&reason).count(), 1, "said once: {log}");
    assert_eq!(log.matches(" WARN ").count(), 1, "and nothing else is: {log}");
    assert_eq!(agent.end(Signal::TERM).code(), Some(0));
}

#[test]
fn probes_asked_for_without_privileges_are_3_with_what_is_missing() {
    if let Some(reason) = netns::not_root() {
        println!("skipped: {reason}");
        return;
    }
    let program = Program::new();
    for (capabilities, missing) in [
        (&[][..], "CAP_BPF and CAP_PERFMON"),
        (&["bpf"], "CAP_PERFMON"),
        (&["perfmon"], "CAP_BPF"),
    ] {
        for command in ["agent", "trace"] {
            let output = program
                .with_capabilities(capabilities)
                .args([command, "--source", "ebpf"])
                .args(if command == "agent" {
                    &["--web.listen-address", "127.0.0.1:0"][..]
                } else {
                    &["--duration", "1s"]
                })
                .output()
                .expect("setpriv runs");
            let text = String::from_utf8(output.stderr).expect("text");
            assert_eq!(output.status.code(), Some(3), "{text}");
            assert!(text.contains(&format!("lacks {missing};")), "{text}");
            assert_eq!(text.lines().count(), 1, "{text}");
        }
    }
}

#[test]
fn two_capabilities_are_enough_for_the_probes() {
    if let Some(reason) = netns::not_root() {
        println!("skipped: {reason}");
        return;
    }
    let program = Program::new();
    let (older, _client, _server) = connect();
    let mut agent = Agent::start_by(
        program.with_capabilities(&["bpf", "perfmon"]),
        &["--interval", "100ms"],
    );
    agent.until_ready();
    let Healthz { health, .. } = agent.json("/healthz");
    assert_eq!((health.source.as_str(), health.source_reason), ("ebpf", None));
    let (younger, _client, _server) = connect();
    for cookie in [older, younger] {
        let connection = shown(&agent, |each| each.id == cookie);
        assert!(connection.calls.is_some(), "{connection:?}");
        assert!(connection.tcp.cwnd.is_some(), "{connection:?}");
    }
    // Seen are the connections of every namespace, but what is older than the probes in this one alone.
    let Healthz { health, .. } = agent.json("/healthz");
    let missing: Vec<_> = health.hooks.into_iter().filter_map(|hook| hook.missing).collect();
    let [missing] = &missing[..] else {
        panic!("one thing is missing: {missing:?}");
    };
    assert!(missing.contains("CAP_SYS_ADMIN"), "{missing}");
    assert_eq!(agent.end(Signal::TERM).code(), Some(0));
}
