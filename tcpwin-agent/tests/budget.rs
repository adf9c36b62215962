//! The time budget that the probes keep: it accounts for the whole watched life of a connection and never runs backwards,
//! and the shares made of it sum to one. Needs root and BPF.

use std::collections::HashMap;
use std::thread;

use tcpwin_agent::connection::{Table, TableConfig};
use tcpwin_agent::observation::{BudgetTotals, Key, Observation};
use tcpwin_agent::source::ebpf::{EbpfSource, LoadOptions};
use tcpwin_agent::source::{Source, Update, kernel_clock, netns as namespaces};
use tcpwin_agent::units::{Instant, Nanos};

#[path = "support/connections.rs"]
mod connections;
#[path = "budget/flow.rs"]
mod flow;
#[path = "support/loss.rs"]
mod loss;
#[path = "support/netns.rs"]
mod netns;

use connections::Family;

/// Of the life, in parts of a hundred.
const OFF: u64 = 1;
/// Allowed beside it: the time between two events, one of which comes while the slot is read.
const SLACK: Nanos = Nanos(1_000_000);
/// Length of the intervals whose shares are looked at.
const INTERVAL: Nanos = Nanos(50_000_000);

/// What is known of one end of a flow.
#[derive(Default)]
struct End {
    what: String,
    last: BudgetTotals,
    readings: usize,
    worst_ns: u64,
    closed: bool,
}

impl End {
    fn read(&mut self, seen: &Observation) {
        let budget = seen.budget.expect("the probes keep it");
        let life = seen.at.since(seen.since);
        let sum: u64 = budget.ns.iter().sum();
        let off = sum.abs_diff(life.0);
        assert!(
            off <= life.0 * OFF / 100 + SLACK.0,
            "{}: {sum} ns of {} ns are accounted for: {budget:?}",
            self.what,
            life.0
        );
        self.worst_ns = self.worst_ns.max(off);
        let before: u64 = self.last.ns.iter().sum();
        assert!(
            sum + SLACK.0 >= before,
            "{}: the sum falls from {before} to {sum} ns",
            self.what
        );
        self.last = budget;
        self.readings += 1;
    }
}

#[test]
fn the_budget_accounts_for_every_moment() {
    if let Some(reason) = netns::not_root() {
        println!("skipped: {reason}");
        return;
    }
    let options = LoadOptions { slots: 16_384 };
    let mut source = EbpfSource::open(&options).expect("the probes attach");
    let netns = namespaces::own().expect("/proc");
    let mut table = Table::new(TableConfig { capacity: 16_384 });
    let mut ends = HashMap::new();
    let mut shares = 0;
    thread::scope(|scope| {
        for (name, run) in flow::ALL {
            let connection = connections::open(Family::V4, 1).remove(0);
            for (end, side) in connection.ends().into_iter().zip(["sender", "receiver"]) {
                let key = Key {
                    cookie: connections::cookie(end),
                    netns,
                };
                ends.insert(
                    key,
                    End {
                        what: format!("{name}, {side}"),
                        ..End::default()
                    },
                );
            }
            scope.spawn(move || run(connection));
        }
        let since = kernel_clock();
        let mut next = Instant(since.0 + INTERVAL.0);
        let mut events = Vec::new();
        while !ends.values().all(|end| end.closed) {
            let now = kernel_clock();
            assert!(now.since(since) < Nanos(60_000_000_000), "a flow does not end");
            let mut sink = |update: Update| {
                if let Update::Observed(seen) | Update::Closed(seen) = &update
                    && let Some(end) = ends.get_mut(&seen.key)
                {
                    end.read(seen);
                    end.closed |= matches!(update, Update::Closed(_));
                }
                table.apply(update, &mut events);
            };
            source.poll(now, &mut sink).expect("the source polls");
            if now >= next {
                next = Instant(now.0 + INTERVAL.0);
                table.tick(now, &mut events);
                for connection in table.connections(now) {
                    let Some(budget) = connection.budget else { continue };
                    let parts = [
                        budget.idle,
                        budget.app,
                        budget.sndbuf,
                        budget.rwnd,
                        budget.cwnd,
                        budget.pacing,
                    ];
                    assert!(
                        parts.iter().all(|part| (0.0..=1.0).contains(part)),
                        "{connection:?}"
                    );
                    let sum: f64 = parts.iter().sum();
                    assert!((sum - 1.0).abs() < 1e-9, "{sum}: {connection:?}");
                    shares += 1;
                }
            }
            thread::yield_now();
        }
    });
    let mut ends: Vec<End> = ends.into_values().collect();
    ends.sort_by(|a, b| a.what.cmp(&b.what));
    for end in ends {
        let ms = end.last.ns.map(|ns| ns / 1_000_000);
        println!(
            "{}: {} readings, at most {} ns not accounted for; ms idle, app, sndbuf, rwnd, cwnd, pacing: {ms:?}",
            end.what, end.readings, end.worst_ns
        );
    }
    assert!(shares > 0);
}
