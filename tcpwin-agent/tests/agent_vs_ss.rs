//! A running agent against `ss` on every established connection of the host, while iperf3, curl and nginx make connections
//! in two namespaces. Needs root, BPF and Debian's packages of the three.

use std::collections::BTreeMap;

use rustix::process::Signal;
use serde::Deserialize;
use tcpwin_agent::snapshot::{Connection, Health};
use tcpwin_agent::source::{kernel_clock, netns as namespaces};

#[path = "support/agent.rs"]
mod agent;
#[path = "support/netns.rs"]
mod netns;
#[path = "agent_vs_ss/programs.rs"]
mod programs;
#[path = "support/ss.rs"]
mod ss;
#[path = "support/told.rs"]
mod told;

use agent::Agent;
use netns::Namespace;
use programs::Programs;
use ss::SsSocket;
use told::within_patience;

/// Intervals after which what went quiet has its last figures: one without an event, and the pause between two walks over
/// all sockets, which is as long as keeps them below one part in five hundred of the time.
const INTERVALS: u64 = 200;

/// By namespace and cookie.
type Shown = BTreeMap<(u32, u64), SsSocket>;

#[derive(Deserialize)]
struct Answer {
    connections: Vec<Connection>,
}

#[derive(Deserialize)]
struct Healthz {
    tick: u64,
    #[serde(flatten)]
    health: Health,
}

#[test]
fn the_agent_equals_ss_under_real_programs() {
    if let Some(reason) = netns::not_root().or_else(programs::missing) {
        println!("skipped: {reason}");
        return;
    }
    let places = [Namespace::new(), Namespace::new()];
    // Half of the connections are older than the probes.
    let mut older = programs::start(&places[0]);
    let since = kernel_clock();
    while established(&places, &older) < older.sockets() {
        within_patience(since, || "the programs do not connect".to_owned());
    }
    let mut agent = Agent::start(&["--source", "ebpf", "--interval", "100ms"]);
    agent.until_ready();
    let mut younger = programs::start(&places[1]);
    let since = kernel_clock();
    while established(&places, &younger) < younger.sockets() {
        within_patience(since, || "the programs do not connect".to_owned());
    }

    // While they are busy what only grows is between what ss showed before and after.
    let before = shown(&places);
    pass(&agent, 2);
    let told = connections(&agent);
    let after = shown(&places);
    let busy = between(&before, &told, &after);

    // Held still, every figure is equal.
    older.pause();
    younger.pause();
    let programs = [older.netns, younger.netns];
    let ours = older.sockets() + younger.sockets();
    let mut quiet = still(&places, programs, ours);
    let first = tick(&agent);
    let (compared, ticks) = loop {
        let told = connections(&agent);
        // What others do on this host may go on.
        let now = shown(&places);
        quiet.retain(|key, socket| programs.contains(&key.0) || now.get(key) == Some(socket));
        let differing = differences(&quiet, &told);
        let ticks = tick(&agent) - first;
        if differing.is_empty() {
            break (quiet.len(), ticks);
        }
        assert!(
            ticks < INTERVALS,
            "{} differ: {:#?}",
            differing.len(),
            &differing[..differing.len().min(5)]
        );
        pass(&agent, 1);
    };
    let still_so = shown(&places);
    for (key, socket) in quiet.iter().filter(|(key, _)| programs.contains(&key.0)) {
        assert_eq!(still_so.get(key), Some(socket), "held still");
    }
    let retransmits: u64 = quiet.values().filter_map(|socket| socket.retransmits).sum();
    println!(
        "{busy} sockets between two looks of ss while busy; {compared} equal to ss in every figure after {ticks} intervals of \
         100 ms, {retransmits} segments of them sent again"
    );
    assert!(compared >= ours);
    println!("losses: {:?}", agent.json::<Healthz>("/healthz").health.losses);
    assert_eq!(agent.end(Signal::TERM).code(), Some(0));
}

fn connections(agent: &Agent) -> BTreeMap<(u32, u64), Connection> {
    let Answer { connections } = agent.json("/api/v1/connections");
    connections
        .into_iter()
        .map(|each| ((each.netns, each.id.parse().expect("a cookie")), each))
        .collect()
}

fn tick(agent: &Agent) -> u64 {
    agent.json::<Healthz>("/healthz").tick
}

/// Waits for the end of so many intervals.
fn pass(agent: &Agent, intervals: u64) {
    let until = tick(agent) + intervals;
    let since = kernel_clock();
    while tick(agent) < until {
        within_patience(since, || "the agent stands still".to_owned());
    }
}

/// Established sockets of the host and of the test's namespaces.
fn shown(places: &[Namespace; 2]) -> Shown {
    let own = (namespaces::own().expect("/proc"), ss::sockets());
    let others = places.iter().map(|place| (place.inum, place.inside(ss::sockets)));
    others
        .chain([own])
        .flat_map(|(netns, sockets)| {
            sockets
                .into_iter()
                .map(move |(cookie, socket)| ((netns, cookie), socket))
        })
        .filter(|(_, socket)| socket.state == "ESTAB")
        .collect()
}

fn established(places: &[Namespace; 2], programs: &Programs) -> usize {
    let place = places
        .iter()
        .find(|place| place.inum == programs.netns)
        .expect("one of two");
    let sockets = place.inside(ss::sockets);
    sockets.values().filter(|socket| socket.state == "ESTAB").count()
}

/// What two looks at ss show alike, once that is so for as many sockets of the paused programs.
fn still(places: &[Namespace; 2], programs: [u32; 2], count: usize) -> Shown {
    let since = kernel_clock();
    let mut before = shown(places);
    loop {
        let now = shown(places);
        before.retain(|key, socket| now.get(key) == Some(socket));
        let ours = before
            .keys()
            .filter(|(netns, _)| programs.contains(netns))
            .count();
        if ours >= count {
            return before;
        }
        within_patience(since, || format!("{ours} of {count} sockets hold still"));
        before = now;
    }
}

/// Every socket that ss shows before and after is told, its counters between the two. Gives how many.
fn between(before: &Shown, told: &BTreeMap<(u32, u64), Connection>, after: &Shown) -> usize {
    let mut compared = 0;
    for (key, before) in before {
        let Some(after) = after.get(key) else { continue };
        let connection = told
            .get(key)
            .unwrap_or_else(|| panic!("{key:?} is not told: {before:?}"));
        let tcp = &connection.tcp;
        let figures = [
            (
                "bytes_acked",
                before.bytes_acked,
                tcp.bytes_acked,
                after.bytes_acked,
            ),
            (
                "bytes_received",
                before.bytes_received,
                tcp.bytes_received,
                after.bytes_received,
            ),
            (
                "retransmits",
                before.retransmits,
                tcp.retransmits_total.map(u64::from),
                after.retransmits,
            ),
        ];
        for (name, least, told, most) in figures {
            let told = told.expect("every kernel tells");
            let range = least.unwrap_or(0)..=most.unwrap_or(0);
            assert!(
                range.contains(&told),
                "{name} is {told}, shown as {range:?}: {connection:?}"
            );
        }
        compared += 1;
    }
    compared
}

/// Figures that are told otherwise than shown.
fn differences(shown: &Shown, told: &BTreeMap<(u32, u64), Connection>) -> Vec<String> {
    let mut differing = Vec::new();
    for (key, shown) in shown {
        let Some(connection) = told.get(key) else {
            differing.push(format!("{key:?} is not told: {shown:?}"));
            continue;
        };
        let tcp = &connection.tcp;
        let word = |value: Option<u32>| value.map(u64::from);
        // ss leaves out what is zero.
        let figures = [
            ("cwnd", word(tcp.cwnd), shown.cwnd),
            ("srtt", word(tcp.srtt_us), shown.srtt_us),
            ("snd_wnd", word(tcp.snd_wnd_bytes), shown.snd_wnd.or(Some(0))),
            ("sndbuf", word(tcp.sndbuf_bytes), shown.sndbuf),
            ("rcvbuf", word(tcp.rcvbuf_bytes), shown.rcvbuf),
            ("wmem_queued", word(tcp.wmem_queued_bytes), shown.wmem_queued),
            ("unsent", word(tcp.unsent_bytes), shown.unsent.or(Some(0))),
            ("unread", word(tcp.unread_bytes), Some(shown.recv_q)),
            ("mss", word(tcp.mss), shown.mss),
            ("ssthresh", word(tcp.ssthresh), shown.ssthresh),
            ("bytes_acked", tcp.bytes_acked, shown.bytes_acked.or(Some(0))),
            (
                "bytes_received",
                tcp.bytes_received,
                shown.bytes_received.or(Some(0)),
            ),
            (
                "retransmits",
                word(tcp.retransmits_total),
                shown.retransmits.or(Some(0)),
            ),
        ];
        for (name, told, shown) in figures {
            if told != shown {
                differing.push(format!(
                    "{name} is told {told:?}, shown {shown:?}, of {connection:?}"
                ));
            }
        }
        let ends = [shown.local, shown.peer].map(|end| end.expect("ss shows ends").to_string());
        if [&connection.local, &connection.peer] != [&ends[0], &ends[1]] {
            differing.push(format!("ends {ends:?} of {connection:?}"));
        }
    }
    differing
}
