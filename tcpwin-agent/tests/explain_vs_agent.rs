//! `ss -tinmoe | tcpwin explain --json` against a running agent on the same live connections: every figure that `ss` prints is the one the
//! agent tells, and what is claimed of them is what was done to them. Needs root.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;
use std::process::{Command, Stdio};

use serde::Deserialize;
use tcpwin_agent::classify::Limit;
use tcpwin_agent::snapshot::{self, Health, TcpFields};
use tcpwin_agent::source::kernel_clock;

#[path = "support/agent.rs"]
mod agent;
#[path = "support/connections.rs"]
mod connections;
#[path = "support/loss.rs"]
mod loss;
#[path = "support/netns.rs"]
mod netns;
#[path = "support/told.rs"]
mod told;

use agent::{Agent, TCPWIN};
use connections::{Connection, Family};
use netns::Namespace;
use told::within_patience;

/// Intervals after which what went quiet has its last figures; see `agent_vs_ss`.
const INTERVALS: u64 = 200;
/// Connections of each family.
const EACH: usize = 20;

#[derive(Deserialize)]
struct Answer {
    connections: Vec<snapshot::Connection>,
}

#[derive(Deserialize)]
struct Healthz {
    tick: u64,
    #[serde(flatten)]
    _health: Health,
}

#[derive(Debug, Deserialize)]
struct Report {
    sockets: Vec<Explained>,
    #[serde(default)]
    text: Vec<String>,
}

/// What this test asks of a socket that was explained.
#[derive(Debug, Deserialize)]
struct Explained {
    id: Option<String>,
    local: String,
    peer: String,
    limit: Limit,
    confidence: f64,
    unknown: Vec<String>,
    tcp: TcpFields,
}

#[test]
fn explain_equals_the_agent_on_live_connections() {
    if let Some(reason) = netns::not_root() {
        println!("skipped: {reason}");
        return;
    }
    let place = Namespace::new();
    let mut connections: Vec<Connection> = place.inside(|| {
        Family::ALL
            .into_iter()
            .flat_map(|family| connections::open(family, EACH))
            .collect()
    });
    let mut agent = Agent::start(&["--interval", "100ms"]);
    agent.until_ready();
    let mut stuffed = BTreeSet::new();
    let mut unread = BTreeSet::new();
    for (index, connection) in connections.iter_mut().enumerate() {
        connection.exchange(index * 997, index * 331);
        if index % 7 == 3 {
            connection.exchange_with_loss(64 << 10);
        }
        if index % EACH == 0 {
            connection.stuff();
            stuffed.insert(connections::cookie(&connection.client));
            unread.insert(connections::cookie(&connection.server));
        }
    }
    let ours: BTreeSet<u64> = connections
        .iter()
        .flat_map(|one| one.ends().map(connections::cookie))
        .collect();

    let first = tick(&agent);
    let explained = loop {
        let told = told_by(&agent, place.inum);
        let explained = explained(&place);
        assert!(explained.len() >= ours.len());
        let differing: Vec<_> = ours
            .iter()
            .filter_map(|cookie| difference(&explained[cookie], told.get(cookie)))
            .collect();
        if differing.is_empty() {
            break explained;
        }
        let ticks = tick(&agent) - first;
        assert!(
            ticks < INTERVALS,
            "{} differ: {:#?}",
            differing.len(),
            &differing[..differing.len().min(5)]
        );
        pass(&agent);
    };
    for cookie in &ours {
        let socket = &explained[cookie];
        let claimed = (socket.limit != Limit::Unknown && socket.confidence >= 0.5).then_some(socket.limit);
        let expected = if stuffed.contains(cookie) {
            Limit::RwndReader
        } else if unread.contains(cookie) {
            Limit::Reader
        } else {
            Limit::None
        };
        assert!(
            claimed.is_none_or(|claimed| claimed == expected),
            "{expected:?}: {socket:#?}"
        );
    }
    println!("{} sockets explained with the agent's figures", ours.len());
    assert_eq!(agent.end(rustix::process::Signal::TERM).code(), Some(0));
}

/// What `tcpwin explain` makes of the namespace's sockets, by cookie.
fn explained(place: &Namespace) -> BTreeMap<u64, Explained> {
    let output = place.inside(|| {
        Command::new("ss")
            .arg("-tinmoe")
            .output()
            .expect("iproute2's `ss` runs")
    });
    let mut child = Command::new(TCPWIN)
        .args(["explain", "--json"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("tcpwin runs");
    let mut stdin = child.stdin.take().expect("piped");
    stdin.write_all(&output.stdout).expect("it reads");
    drop(stdin);
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(0));
    let report: Report = serde_json::from_slice(&output.stdout).expect("JSON");
    assert!(report.text.is_empty(), "{:?}", report.text);
    let sockets = report.sockets.into_iter().map(|socket| {
        assert!(socket.unknown.is_empty(), "{socket:?}");
        let id = socket.id.as_deref().expect("ss was asked for cookies");
        (id.parse().expect("a number"), socket)
    });
    sockets.collect()
}

fn told_by(agent: &Agent, netns: u32) -> BTreeMap<u64, snapshot::Connection> {
    let Answer { connections } = agent.json("/api/v1/connections");
    let ours = connections.into_iter().filter(|each| each.netns == netns);
    ours.map(|each| (each.id.parse().expect("a cookie"), each))
        .collect()
}

/// What differs; `ss` leaves out what is zero.
fn difference(explained: &Explained, told: Option<&snapshot::Connection>) -> Option<String> {
    let Some(told) = told else {
        return Some(format!("{explained:?} is not told by the agent"));
    };
    let (ss, agent) = (&explained.tcp, &told.tcp);
    let word = |value: Option<u32>| value.map(u64::from);
    let byte = |value: Option<u8>| value.map(u64::from);
    let figures = [
        ("srtt", word(ss.srtt_us), word(agent.srtt_us)),
        ("rttvar", word(ss.rttvar_us), word(agent.rttvar_us)),
        ("min_rtt", word(ss.min_rtt_us), word(agent.min_rtt_us)),
        ("cwnd", word(ss.cwnd), word(agent.cwnd)),
        ("ssthresh", word(ss.ssthresh), word(agent.ssthresh)),
        ("mss", word(ss.mss), word(agent.mss)),
        ("snd_wnd", word(ss.snd_wnd_bytes), word(agent.snd_wnd_bytes)),
        ("snd_wscale", byte(ss.snd_wscale), byte(agent.snd_wscale)),
        ("rcv_wscale", byte(ss.rcv_wscale), byte(agent.rcv_wscale)),
        ("sndbuf", word(ss.sndbuf_bytes), word(agent.sndbuf_bytes)),
        ("rcvbuf", word(ss.rcvbuf_bytes), word(agent.rcvbuf_bytes)),
        (
            "wmem_queued",
            word(ss.wmem_queued_bytes),
            word(agent.wmem_queued_bytes),
        ),
        ("unsent", word(ss.unsent_bytes), word(agent.unsent_bytes)),
        ("unread", word(ss.unread_bytes), word(agent.unread_bytes)),
        ("bytes_acked", ss.bytes_acked, agent.bytes_acked),
        ("bytes_received", ss.bytes_received, agent.bytes_received),
        ("delivered", word(ss.delivered), word(agent.delivered)),
        (
            "retransmits",
            word(ss.retransmits_total),
            word(agent.retransmits_total),
        ),
    ];
    for (name, printed, told) in figures {
        if printed.unwrap_or(0) != told.unwrap_or(0) {
            return Some(format!(
                "{name}: {printed:?} in {explained:?}, the agent has {told:?}"
            ));
        }
    }
    let same = ss.state == agent.state
        && ss.congestion == agent.congestion
        && explained.local == told.local
        && explained.peer == told.peer;
    (!same).then(|| format!("{explained:?} is {told:?} by the agent"))
}

fn tick(agent: &Agent) -> u64 {
    agent.json::<Healthz>("/healthz").tick
}

/// Waits for the end of an interval.
fn pass(agent: &Agent) {
    let until = tick(agent) + 1;
    let since = kernel_clock();
    while tick(agent) < until {
        within_patience(since, || "the agent stands still".to_owned());
    }
}
