//! Listeners and host facts of a running agent against `ss -ltn`, `nstat` and `tc`. Needs root.

use std::collections::BTreeMap;
use std::net::{SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::process::Command;

use serde::Deserialize;
use tcpwin_agent::snapshot::{HostFacts, Listener};
use tcpwin_agent::source::kernel_clock;

#[path = "support/agent.rs"]
mod agent;
#[path = "support/netns.rs"]
mod netns;
#[path = "support/told.rs"]
mod told;

use agent::Agent;
use netns::Namespace;
use told::within_patience;

/// `listen`'s backlog of std is 128, cut to `net.core.somaxconn`.
const BACKLOG: u32 = 128;

#[derive(Deserialize)]
struct Listeners {
    listeners: Vec<Listener>,
}

/// Connections wait in a queue that nobody accepts from, in a namespace of their own.
struct Unaccepted {
    listener: TcpListener,
    _clients: Vec<TcpStream>,
}

fn unaccepted(address: &str, count: usize) -> Unaccepted {
    let listener = TcpListener::bind(address).expect("a free port");
    let to = listener.local_addr().expect("bound");
    let connect = |_| TcpStream::connect(to).expect("the queue has room");
    Unaccepted {
        _clients: (0..count).map(connect).collect(),
        listener,
    }
}

#[test]
fn queues_equal_those_of_ss() {
    if let Some(reason) = netns::not_root() {
        println!("skipped: {reason}");
        return;
    }
    let namespace = Namespace::new();
    let agent = Agent::start(&[]);
    agent.until_ready();
    // The agent has looked for namespaces lately; this one is older than it.
    let (full, six) = namespace.inside(|| {
        (
            unaccepted("127.0.0.1:0", BACKLOG as usize + 1),
            unaccepted("[::1]:0", 3),
        )
    });
    let local = |unaccepted: &Unaccepted| unaccepted.listener.local_addr().expect("bound");
    let wanted = [local(&full), local(&six)];

    let since = kernel_clock();
    let found = loop {
        let all = agent.json::<Listeners>("/api/v1/listeners").listeners;
        let ours: Vec<Listener> = all
            .into_iter()
            .filter(|listener| listener.netns == namespace.inum)
            .collect();
        let is_whole = ours.len() == wanted.len()
            && ours
                .iter()
                .all(|listener| listener.process.is_some() && listener.connections > Some(0));
        if is_whole {
            break ours;
        }
        within_patience(since, || format!("not all is told of the listeners: {ours:?}"));
    };
    let queues: BTreeMap<SocketAddr, (u32, u32)> = found
        .iter()
        .map(|listener| {
            let local = listener.local.parse().expect("an address");
            (local, (listener.accept_queue, listener.backlog))
        })
        .collect();
    assert_eq!(queues, namespace.inside(ss_listeners));
    assert_eq!(queues[&wanted[0]], (BACKLOG + 1, BACKLOG));
    assert_eq!(queues[&wanted[1]], (3, BACKLOG));
    for listener in &found {
        let process = listener.process.as_ref().expect("told");
        assert_eq!(process.pid, std::process::id());
        assert_eq!(listener.connections, Some(u64::from(listener.accept_queue)));
        assert!(listener.congestion.is_some());
    }
    let since = kernel_clock();
    while gauge(&agent, "tcpwin_accept_queues_full ") < 1.0 {
        within_patience(since, || "the metrics do not tell of the full queue".to_owned());
    }
}

/// Of the metrics page.
fn gauge(agent: &Agent, name: &str) -> f64 {
    let page = agent.get("/metrics").1;
    let value = page.lines().find_map(|line| line.strip_prefix(name));
    value.and_then(|value| value.parse().ok()).unwrap_or_default()
}

/// Recv-Q and Send-Q of `ss -ltnH` in the namespace of the calling thread.
fn ss_listeners() -> BTreeMap<SocketAddr, (u32, u32)> {
    let output = Command::new("ss")
        .arg("-ltnH")
        .output()
        .expect("iproute2's `ss` runs");
    assert!(output.status.success());
    let text = String::from_utf8(output.stdout).expect("text");
    let listener = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let number = |at: usize| words[at].parse().expect("a number");
        (words[3].parse().expect("an address"), (number(1), number(2)))
    };
    text.lines().map(listener).collect()
}

#[test]
fn counters_equal_those_of_nstat() {
    if let Some(reason) = netns::not_root() {
        println!("skipped: {reason}");
        return;
    }
    let agent = Agent::start(&[]);
    agent.until_ready();
    let before = nstat();
    // A look that began after `before` ended; one an answer is made of may be a little older.
    let told = |earlier: Option<u64>| {
        let since = kernel_clock();
        loop {
            let facts = agent.json::<HostFacts>("/api/v1/host");
            if facts.uptime_s > earlier {
                break facts;
            }
            within_patience(since, || format!("the host's facts grow old: {facts:?}"));
        }
    };
    let facts = told(told(None).uptime_s);
    let after = nstat();
    // Other programs of the host go on meanwhile.
    let is_between = |name: &str, told: Option<u64>| {
        let told = told.unwrap_or_else(|| panic!("{name} is not told"));
        assert!(
            (before[name]..=after[name]).contains(&told),
            "{name}: {told}, nstat {} then {}",
            before[name],
            after[name]
        );
    };
    let fastopen = facts.fastopen.expect("every kernel counts it");
    is_between("TcpExtListenOverflows", facts.listen_overflows);
    is_between("TcpExtListenDrops", facts.listen_drops);
    is_between("TcpExtTCPMemoryPressures", facts.memory_pressures);
    is_between("TcpExtTCPFastOpenActive", Some(fastopen.active));
    is_between("TcpExtTCPFastOpenActiveFail", Some(fastopen.active_failed));
    is_between("TcpExtTCPFastOpenPassive", Some(fastopen.passive));
    is_between("TcpExtTCPFastOpenPassiveFail", Some(fastopen.passive_failed));
    is_between("TcpExtTCPFastOpenListenOverflow", Some(fastopen.listen_overflows));
    is_between("TcpExtTCPFastOpenCookieReqd", Some(fastopen.cookies_requested));
    is_between("TcpExtTCPFastOpenBlackhole", Some(fastopen.blackholes));
    assert!(
        facts
            .memory
            .is_some_and(|memory| memory.pressure_bytes <= memory.limit_bytes)
    );
    assert!(
        facts
            .softirq_busiest
            .is_some_and(|share| (0.0..=1.0).contains(&share))
    );
    assert!(facts.softnet_squeezed.is_some() && facts.congestion.is_some());
}

#[test]
fn drops_of_an_interfaces_queue_equal_those_of_tc() {
    if let Some(reason) = netns::not_root() {
        println!("skipped: {reason}");
        return;
    }
    let namespace = Namespace::new();
    namespace.inside(|| {
        for line in [
            "ip link add out type veth peer name in",
            // Without IPv6's own packets, which would go on to be dropped.
            "ip link set out addrgenmode none up",
            "ip link set in addrgenmode none up",
            "ip addr add 192.0.2.1/24 dev out",
            "ip neigh add 192.0.2.2 lladdr 02:00:00:00:00:02 dev out",
            "tc qdisc add dev out root tbf rate 8kbit burst 2kb limit 4kb",
        ] {
            run(line);
        }
        let socket = UdpSocket::bind("192.0.2.1:0").expect("a port");
        for _ in 0..50 {
            // Refused once the queue is full: that is the point.
            let _ = socket.send_to(&[0; 1_000], "192.0.2.2:9");
        }
    });
    let mut inside = Command::new("nsenter");
    inside
        .arg(format!("--net={}", namespace.door.display()))
        .arg(agent::TCPWIN);
    let agent = Agent::start_by(inside, &[]);
    let facts = namespace.inside(|| {
        agent.until_ready();
        agent.json::<HostFacts>("/api/v1/host")
    });
    let out = facts
        .interfaces
        .iter()
        .find(|interface| interface.name == "out")
        .unwrap_or_else(|| panic!("not told: {:?}", facts.interfaces));
    assert_eq!(out.qdisc.as_deref(), Some("tbf"));
    assert_eq!(out.speed_bps, None);
    let text = namespace.inside(|| run("tc -s qdisc show dev out"));
    let dropped: u64 = text
        .split_once("(dropped ")
        .and_then(|(_, rest)| rest.split(',').next()?.parse().ok())
        .unwrap_or_else(|| panic!("{text}"));
    assert!(dropped > 0, "{text}");
    assert_eq!(out.transmit_dropped, dropped);
}

/// What a command of iproute2's says.
fn run(line: &str) -> String {
    let mut words = line.split_whitespace();
    let output = Command::new(words.next().expect("a program"))
        .args(words)
        .output()
        .expect("iproute2 is there");
    assert!(
        output.status.success(),
        "{line}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).expect("text")
}

/// Every counter, since boot.
fn nstat() -> BTreeMap<String, u64> {
    let output = Command::new("nstat")
        .args(["-a", "-z", "-s"])
        .output()
        .expect("iproute2's `nstat` runs");
    assert!(output.status.success());
    let text = String::from_utf8(output.stdout).expect("text");
    let counter = |line: &str| {
        let mut words = line.split_whitespace();
        Some((words.next()?.to_owned(), words.next()?.parse().ok()?))
    };
    text.lines().filter_map(counter).collect()
}
