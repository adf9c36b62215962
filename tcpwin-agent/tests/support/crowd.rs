//! As many connections as a large host has, held by every kind of window, for what must stay bounded whatever there is.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::Arc;

use tcpwin_agent::connection::{FindOwner, Grouping, Ownership, Table, TableConfig};
use tcpwin_agent::observation::{
    BudgetTotals, CallCounts, Endpoints, Key, Observation, Origin, OwnerHint, Tcp, TcpState, Totals,
};
use tcpwin_agent::snapshot::{AcceptQueues, HostFacts, Interface, Process, Snapshot};
use tcpwin_agent::source::Update;
use tcpwin_agent::units::Instant;
use tcpwin_common::{BUDGET_APP, BUDGET_CWND, BUDGET_RWND, BUDGET_SNDBUF};

/// Connections open at once.
pub const CONNECTIONS: u32 = 100_000;
/// Their peers.
pub const PEERS: u32 = 50_000;
/// Listeners they came by.
pub const LISTENERS: u32 = 500;
/// Programs that hold them, each in a cgroup of its own.
const PROGRAMS: u32 = 5_000;
const SECOND: u64 = 1_000_000_000;

/// By everything that connections can be told apart by.
pub fn every_grouping() -> Grouping {
    let prefixes = (0..64).map(|at| format!("10.{at}.0.0/16").parse().expect("a prefix"));
    Grouping {
        process: true,
        cgroup: true,
        listener: true,
        peers: prefixes.collect(),
        most: 50,
    }
}

/// The snapshot of a host on which all of them moved data for two intervals, told apart like this.
pub fn snapshot(grouping: Grouping) -> Snapshot {
    let mut table = Table::new(TableConfig { capacity: 131_072 })
        .with_owners(Box::new(Owners::default()))
        .with_grouping(grouping);
    table.tell(false);
    let mut events = Vec::new();
    for second in 1..=2 {
        for at in 0..CONNECTIONS {
            table.apply(Update::Observed(connection(at, second)), &mut events);
        }
        table.tick(Instant(second * SECOND), &mut events);
    }
    assert_eq!(table.len(), CONNECTIONS as usize);
    let interface = |at: u32| Interface {
        name: format!("eth{at}"),
        qdisc: Some("fq".to_owned()),
        ..Interface::default()
    };
    Snapshot {
        tally: table.tally(),
        summary: table.summary().clone(),
        facts: HostFacts {
            accept_queues: Some(AcceptQueues {
                listeners: LISTENERS.into(),
                ..AcceptQueues::default()
            }),
            interfaces: (0..32).map(interface).collect(),
            ..HostFacts::default()
        },
        ..Snapshot::default()
    }
}

/// After so many seconds: what waits for what differs from one to the next.
fn connection(at: u32, second: u64) -> Observation {
    let mut budget = BudgetTotals::default();
    let state = [BUDGET_RWND, BUDGET_SNDBUF, BUDGET_CWND, BUDGET_APP][at as usize % 4];
    budget.ns[state] = second * SECOND;
    budget.flight[state] = ((second * SECOND) >> 10) * 65_535;
    let [_, high, middle, low] = (at % PEERS).to_be_bytes();
    let port = 1_024 + (at % LISTENERS) as u16;
    Observation {
        key: Key {
            cookie: u64::from(at) + 1,
            netns: 1,
        },
        at: Instant(second * SECOND),
        since: Instant(0),
        origin: Origin::Accept,
        endpoints: Endpoints {
            local: SocketAddr::from(([192, 0, 2, 1], port)),
            peer: SocketAddr::from(([10, middle, high, low], 50_000 + (at / PEERS) as u16)),
        },
        state: TcpState::Established,
        owner: OwnerHint {
            pid: Some(1 + at % PROGRAMS),
            ..OwnerHint::default()
        },
        tcp: Tcp {
            srtt_us: Some(1_000 + at),
            min_rtt_us: Some(1_000 + at),
            mss: Some(1448),
            cwnd: Some(100),
            snd_wnd: Some(65_535),
            max_window: Some(65_535),
            sndbuf: Some(87_040),
            sndbuf_locked: Some(at % 8 < 4),
            writer_blocked: Some(state == BUDGET_SNDBUF),
            unsent: Some(40_000),
            snd_wscale: Some(7),
            wscale_ok: Some(true),
            handshake_us: Some(1_000 + at),
            ..Tcp::default()
        },
        totals: Totals {
            bytes_acked: Some(second * u64::from(10_000 + at)),
            bytes_received: Some(0),
            ..Totals::default()
        },
        budget: Some(budget),
        calls: Some(CallCounts {
            sends: second * 10,
            sent_bytes: second * u64::from(10_000 + at),
            ..CallCounts::default()
        }),
    }
}

/// Knows each program by its process id.
#[derive(Default)]
struct Owners(HashMap<u32, Arc<Ownership>>);

impl FindOwner for Owners {
    fn find(&mut self, _key: Key, hint: &OwnerHint) -> Option<Arc<Ownership>> {
        let pid = hint.pid?;
        let owner = self.0.entry(pid).or_insert_with(|| {
            Arc::new(Ownership {
                process: Some(Process {
                    pid,
                    name: format!("program-{pid}"),
                }),
                cgroup: Some(format!("/system.slice/program-{pid}.service")),
            })
        });
        Some(Arc::clone(owner))
    }

    fn forget(&mut self, _key: Key) {}

    fn refresh(&mut self, _now: Instant, _found: &mut Vec<(Key, Arc<Ownership>)>) {}
}
