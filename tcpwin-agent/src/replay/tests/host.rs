//! A host whose connections do many things, and the recording that is made of it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tempfile::TempDir;

use crate::connection::{FindOwner, Ownership, Paths, Table, TableConfig};
use crate::host::{Nic, Sizes, Sysctl};
use crate::observation::{
    BudgetTotals, CallCounts, Endpoints, HookState, Key, Observation, Origin, OwnerHint, RetransmitKind, Tcp,
    TcpState, Totals,
};
use crate::recording::{About, Choice, Clocks, Limits, Recorder, Segments};
use crate::snapshot::{Health, Process, Snapshot, TraceEvent};
use crate::source::{HostCounts, ProbeCost, Update};
use crate::units::Instant;

pub(super) const SECOND: u64 = 1_000_000_000;
const START: u64 = 5_000 * SECOND;

/// Numbers that look random and are the same each time.
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }
}

/// Finds an owner only when asked a second time, as `/proc` does.
#[derive(Default)]
struct LateOwners {
    asked: BTreeMap<Key, u32>,
    found: Vec<Key>,
}

fn owner(key: Key) -> Arc<Ownership> {
    Arc::new(Ownership {
        process: Some(Process {
            pid: key.cookie as u32,
            name: ["nginx", "sshd", "postgres"][key.cookie as usize % 3].to_owned(),
        }),
        cgroup: Some("/system.slice".to_owned()),
    })
}

impl FindOwner for LateOwners {
    fn find(&mut self, key: Key, _: &OwnerHint) -> Option<Arc<Ownership>> {
        let asked = self.asked.entry(key).or_default();
        *asked += 1;
        if *asked == 1 && key.cookie.is_multiple_of(5) {
            self.found.push(key);
        }
        (*asked > 1 && !key.cookie.is_multiple_of(5)).then(|| owner(key))
    }

    fn forget(&mut self, key: Key) {
        self.asked.remove(&key);
    }

    fn refresh(&mut self, _: Instant, found: &mut Vec<(Key, Arc<Ownership>)>) {
        found.extend(self.found.drain(..).map(|key| (key, owner(key))));
    }
}

/// A host whose connections do many things, and who writes it down.
pub(super) struct Host {
    pub(super) table: Table,
    pub(super) recorder: Option<Recorder>,
    dice: Dice,
    open: BTreeMap<u64, Observation>,
    next: u64,
    tick: u64,
    /// What the screen shows at each tick.
    pub(super) shown: Vec<String>,
    pub(super) events: Vec<TraceEvent>,
    /// What the recorder complained of.
    pub(super) failures: Vec<String>,
}

impl Host {
    pub(super) fn new(file: Segments, choice: Choice) -> Self {
        let capacity = 1_000;
        let path = ("203.0.113.0/24".parse().ok(), crate::units::BytesPerSec(1.25e7));
        let mut table = Table::new(TableConfig { capacity })
            .with_paths(Paths::new([path]))
            .with_owners(Box::new(LateOwners::default()));
        let about = About {
            version: "0.1.0".to_owned(),
            host: "box".to_owned(),
            kernel: "6.18.0".to_owned(),
            source: "scripted".to_owned(),
            source_reason: None,
            capacity: capacity as u64,
            ..About::default()
        };
        let about = about.with_paths([path].into_iter());
        let clocks = Clocks {
            wall_offset_ns: 1_700_000_000 * 1_000_000_000,
            zone_seconds: 3_600,
        };
        let mut recorder = Recorder::new(about, clocks).with_file(file, choice);
        recorder.begin(Instant(START), &mut table);
        Self {
            table,
            recorder: Some(recorder),
            dice: Dice(88_172_645_463_325_252),
            open: BTreeMap::new(),
            next: 1,
            tick: 0,
            shown: Vec::new(),
            events: Vec::new(),
            failures: Vec::new(),
        }
    }

    fn recorder(&mut self) -> &mut Recorder {
        self.recorder.as_mut().unwrap()
    }

    fn now(&self) -> Instant {
        Instant(START + self.tick * SECOND)
    }

    pub(super) fn run(&mut self, ticks: u64) {
        for _ in 0..ticks {
            self.second();
        }
    }

    fn second(&mut self) {
        self.tick += 1;
        let now = self.now();
        let mut updates = Vec::new();
        for _ in 0..self.dice.below(4) {
            let born = self.born(now);
            updates.push(Update::Observed(born.clone()));
            self.open.insert(born.key.cookie, born);
        }
        let cookies: Vec<u64> = self.open.keys().copied().collect();
        for cookie in cookies {
            self.live(cookie, now, &mut updates);
        }
        for update in updates {
            self.recorder().update(&update);
            self.table.apply(update, &mut self.events);
            self.recorder.as_mut().unwrap().answers(&mut self.table);
        }
        if self.tick % 60 == 1 {
            self.outside();
        }
        let missed = self.tick / 7;
        self.recorder().tick(now, missed);
        self.table.set_missed(missed);
        self.table.tick(now, &mut self.events);
        self.recorder.as_mut().unwrap().answers(&mut self.table);
        self.lay(now);
    }

    fn born(&mut self, now: Instant) -> Observation {
        let cookie = self.next;
        self.next += 1;
        let peer = format!("203.0.{}.{}:443", 112 + cookie % 3, 1 + self.dice.below(3));
        Observation {
            key: Key {
                cookie,
                netns: 1 + (cookie % 2) as u32,
            },
            at: Instant(now.0 - self.dice.below(SECOND)),
            since: Instant(now.0 - SECOND),
            origin: [Origin::Accept, Origin::Connect, Origin::Seeded][cookie as usize % 3],
            endpoints: Endpoints {
                local: format!("192.0.2.1:{}", 1_024 + cookie).parse().unwrap(),
                peer: peer.parse().unwrap(),
            },
            state: TcpState::Established,
            owner: OwnerHint::default(),
            tcp: Tcp {
                srtt_us: Some(20_000 + self.dice.below(180_000) as u32),
                rttvar_us: Some(900),
                min_rtt_us: Some(20_000),
                mss: Some(1_448),
                cwnd: Some(10 + self.dice.below(200) as u32),
                snd_wnd: Some(65_535),
                max_window: Some(65_535),
                wscale_ok: Some(false),
                sndbuf: Some(87_380),
                congestion: Some("cubic".into()),
                ..Tcp::default()
            },
            totals: Totals {
                bytes_acked: Some(0),
                bytes_received: Some(0),
                retransmits: Some(0),
                delivered: Some(0),
                ..Totals::default()
            },
            budget: Some(BudgetTotals::default()),
            calls: Some(CallCounts::default()),
        }
    }

    fn live(&mut self, cookie: u64, now: Instant, updates: &mut Vec<Update>) {
        let fate = self.dice.below(20);
        let dice = &mut self.dice;
        let Some(socket) = self.open.get_mut(&cookie) else {
            return;
        };
        if fate < 6 || socket.at >= now {
            return;
        }
        let span = now.since(socket.at).0;
        socket.at = now;
        // What a window of 65,535 bytes lets through, or less.
        let most = span / 20_000_000 * 65_535;
        let bytes = if fate < 14 { most } else { dice.below(most.max(1)) };
        *socket.totals.bytes_acked.as_mut().unwrap() += bytes;
        *socket.totals.delivered.as_mut().unwrap() += (bytes / 1_448) as u32;
        *socket.totals.bytes_received.as_mut().unwrap() += dice.below(10_000);
        let budget = socket.budget.as_mut().unwrap();
        let held = dice.below(6) as usize;
        budget.ns[held] += span / 10 * 9;
        budget.ns[0] += span - span / 10 * 9;
        budget.flight[held] += span / 1_024 * 65_535 / 10 * 9;
        socket.tcp.in_flight = Some(dice.below(65_536) as u32);
        let key = socket.key;
        if fate == 7 {
            *socket.totals.retransmits.as_mut().unwrap() += 1;
            updates.push(Update::Retransmit {
                key,
                at: now,
                kind: RetransmitKind::Fast,
                segments: 1,
            });
        }
        let closes = fate == 19;
        let vanishes = fate == 18 && cookie.is_multiple_of(4);
        let last = socket.clone();
        updates.push(match (closes, vanishes) {
            (true, _) => Update::Closed(last),
            (_, true) => Update::Vanished { key, at: now },
            _ => Update::Observed(last),
        });
        if closes || vanishes {
            self.open.remove(&cookie);
        }
    }

    fn outside(&mut self) {
        let nics = [Nic {
            name: "eth0".to_owned(),
            speed_bps: 1e9,
            addresses: vec!["192.0.2.1".parse().unwrap()],
        }];
        self.recorder().links(1, &nics);
        self.table.set_links(1, &nics);
        let sysctl = Sysctl {
            tcp_wmem: Some(Sizes {
                min: 4_096,
                initial: 16_384,
                max: 4_194_304,
            }),
            ..Sysctl::default()
        };
        for (netns, sysctl) in [(1, Some(&sysctl)), (2, None)] {
            self.recorder().settings(netns, sysctl);
            self.table.set_settings(netns, sysctl);
        }
    }

    fn lay(&mut self, now: Instant) {
        let beside = (
            HostCounts {
                syn_retransmits: self.tick / 3,
                resets_sent: 2,
                resets_received: self.tick,
            },
            Some(ProbeCost {
                runs: 100 * self.tick,
                run_ns: 9,
            }),
        );
        let snapshot = Snapshot {
            at_ns: now.0,
            interval_us: 1_000_000,
            tick: self.tick,
            health: Health {
                source: "scripted".to_owned(),
                hooks: vec![HookState {
                    hook: "tcp_probe".to_owned(),
                    missing: (self.tick > 20).then(|| "gone".to_owned()),
                }],
                losses: [("ring_full".to_owned(), self.tick / 10)].into(),
                table_used: self.table.len() as u64,
                table_capacity: 1_000,
                evictions: self.table.evictions(),
                probe_runs: Some(100 * self.tick),
                probe_run_ns: Some(9),
                tick_cpu_us: 11,
                cpu_us: 1_000 * self.tick,
                rss_bytes: 5 << 20,
                host: "box".to_owned(),
                kernel: "6.18.0".to_owned(),
                version: "0.1.0".to_owned(),
                ..Health::default()
            },
            summary: self.table.summary_with(beside.0),
            findings: self.table.findings(),
            connections: self.table.connections(now),
            ..Snapshot::default()
        };
        self.shown.push(serde_json::to_string(&snapshot).unwrap());
        let recorder = self.recorder.as_mut().unwrap();
        recorder.laid(&snapshot, beside, &mut self.table);
        self.failures.extend(recorder.take_failure());
    }

    pub(super) fn end(&mut self) {
        self.recorder = None;
    }
}

pub(super) const ROOMY: Limits = Limits {
    size: 1 << 30,
    age: None,
};

pub(super) fn folder() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("host.tcpwin");
    (folder, file)
}

pub(super) fn recorded(file: &Path, limits: Limits, ticks: u64) -> Host {
    let mut host = Host::new(Segments::new(file, limits).unwrap(), Choice::default());
    host.run(ticks);
    host.end();
    host
}
