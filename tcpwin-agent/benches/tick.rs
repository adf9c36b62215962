//! CPU time of the end of an interval with many connections that a window holds. Prints; asserts nothing.

use std::net::SocketAddr;

use rustix::time::{ClockId, clock_gettime};
use tcpwin_agent::connection::{Table, TableConfig};
use tcpwin_agent::observation::{
    BudgetTotals, Endpoints, Key, Observation, Origin, OwnerHint, Tcp, TcpState, Totals,
};
use tcpwin_agent::source::Update;
use tcpwin_agent::units::Instant;
use tcpwin_common::BUDGET_RWND;

const FLOWS: u32 = 1_000;
const SECONDS: u64 = 60;
const SECOND: u64 = 1_000_000_000;

fn main() {
    let mut table = Table::new(TableConfig {
        capacity: FLOWS as usize,
    });
    let mut events = Vec::new();
    let mut spent = Vec::new();
    for second in 1..=SECONDS {
        for flow in 0..FLOWS {
            table.apply(Update::Observed(held(flow, second)), &mut events);
        }
        let before = cpu_ns();
        table.tick(Instant(second * SECOND), &mut events);
        spent.push(cpu_ns() - before);
    }
    spent.sort_unstable();
    let middle = spent[spent.len() / 2];
    println!(
        "tick, {FLOWS} connections held by the peer's window: {} µs, {} ns each",
        middle / 1_000,
        middle / i64::from(FLOWS)
    );
    assert!(table.connections(Instant(SECONDS * SECOND)).len() == FLOWS as usize);
}

/// As it stands after so many seconds, in all of which the peer's window was full.
fn held(flow: u32, second: u64) -> Observation {
    let mut budget = BudgetTotals::default();
    budget.ns[BUDGET_RWND] = second * SECOND;
    budget.flight[BUDGET_RWND] = ((second * SECOND) >> 10) * 65_535;
    let peer = [203, 0, (flow >> 8) as u8, flow as u8];
    Observation {
        key: Key {
            cookie: u64::from(flow) + 1,
            netns: 1,
        },
        at: Instant(second * SECOND),
        since: Instant(0),
        origin: Origin::Accept,
        endpoints: Endpoints {
            local: SocketAddr::from(([192, 0, 2, 1], 443)),
            peer: SocketAddr::from((peer, 50_000)),
        },
        state: TcpState::Established,
        owner: OwnerHint::default(),
        tcp: Tcp {
            srtt_us: Some(100_000),
            min_rtt_us: Some(100_000),
            mss: Some(1448),
            cwnd: Some(100),
            snd_wnd: Some(65_535),
            max_window: Some(65_535),
            sndbuf: Some(4 << 20),
            snd_wscale: Some(7),
            wscale_ok: Some(true),
            ..Tcp::default()
        },
        totals: Totals {
            bytes_acked: Some(second * 655_350),
            bytes_received: Some(0),
            ..Totals::default()
        },
        budget: Some(budget),
        calls: None,
    }
}

fn cpu_ns() -> i64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec * 1_000_000_000 + time.tv_nsec
}
