use std::fs;
use std::path::PathBuf;

use tempfile::TempDir;

use super::*;
use crate::connection::{FindOwner, Ownership};
use crate::host::{Nic, Sizes, Sysctl};
use crate::observation::{
    BudgetTotals, CallCounts, Endpoints, Key, Observation, Origin, OwnerHint, RetransmitKind, Tcp, TcpState,
    Totals,
};
use crate::recording::{About, Clocks, Limits, Mask, Recorder, Segments};
use crate::snapshot::playback::{Jump, Playback};
use crate::snapshot::{Feed as _, Process};
use crate::source::{HostCounts, ProbeCost, Update};

const SECOND: u64 = 1_000_000_000;
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
struct Host {
    table: Table,
    recorder: Option<Recorder>,
    dice: Dice,
    open: BTreeMap<u64, Observation>,
    next: u64,
    tick: u64,
    /// What the screen shows at each tick.
    shown: Vec<String>,
    events: Vec<TraceEvent>,
}

impl Host {
    fn new(file: Segments, mask: Option<Mask>) -> Self {
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
        let mut recorder = Recorder::new(about, clocks).with_file(file, mask);
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
        }
    }

    fn recorder(&mut self) -> &mut Recorder {
        self.recorder.as_mut().unwrap()
    }

    fn now(&self) -> Instant {
        Instant(START + self.tick * SECOND)
    }

    fn run(&mut self, ticks: u64) {
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
        assert_eq!(recorder.take_failure(), None);
    }

    fn end(&mut self) {
        self.recorder = None;
    }
}

const ROOMY: Limits = Limits {
    size: 1 << 30,
    age: None,
};

fn folder() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("host.tcpwin");
    (folder, file)
}

fn recorded(file: &Path, limits: Limits, ticks: u64) -> Host {
    let mut host = Host::new(Segments::new(file, limits).unwrap(), None);
    host.run(ticks);
    host.end();
    host
}

fn shown(replay: &Replay) -> String {
    serde_json::to_string(&replay.snapshot()).unwrap()
}

fn lines(events: &[TraceEvent]) -> Vec<String> {
    events
        .iter()
        .map(|event| serde_json::to_string(event).unwrap())
        .collect()
}

#[test]
fn a_replay_shows_what_was_shown_byte_for_byte() {
    let (_folder, file) = folder();
    let host = recorded(&file, ROOMY, 180);
    let mut replay = Replay::open(&file).unwrap();
    let mut events = Vec::new();
    for (tick, expected) in host.shown.iter().enumerate() {
        assert!(replay.step(&mut events).is_some(), "tick {tick}");
        assert_eq!(&shown(&replay), expected, "tick {tick}");
    }
    assert_eq!(replay.step(&mut events), None);
    assert_eq!(replay.faults(), &[] as &[String]);
    assert_eq!(lines(&events), lines(&host.events));
    let limits: std::collections::BTreeSet<_> = replay
        .snapshot()
        .connections
        .iter()
        .map(|connection| connection.limit)
        .collect();
    assert!(limits.len() > 2, "a host on which little happens: {limits:?}");
}

#[test]
fn segments_are_one_run_and_each_stands_by_itself() {
    let (_folder, file) = folder();
    // Small, so that there are several.
    let limits = Limits {
        size: 4 << 20,
        age: Some(std::time::Duration::from_secs(480)),
    };
    let host = recorded(&file, limits, 200);
    let segments = crate::recording::segments_of(&file);
    assert!(segments.len() >= 3, "{segments:?}");
    let mut replay = Replay::open(&file).unwrap();
    let mut events = Vec::new();
    for (tick, expected) in host.shown.iter().enumerate() {
        assert!(replay.step(&mut events).is_some(), "tick {tick}");
        assert_eq!(&shown(&replay), expected, "tick {tick}");
    }
    assert_eq!(replay.step(&mut events), None);
    assert_eq!(lines(&events), lines(&host.events));

    // The newest alone: the same connections, and once they have been seen for a while the same verdicts.
    for old in &segments[1..] {
        fs::remove_file(old).unwrap();
    }
    let mut alone = Replay::open(&file).unwrap();
    let mut last = None;
    while alone.step(&mut Vec::new()).is_some() {
        last = Some(alone.snapshot());
    }
    let last = last.unwrap();
    let whole: Snapshot = serde_json::from_str(host.shown.last().unwrap()).unwrap();
    let verdicts = |snapshot: &Snapshot| -> Vec<_> {
        let told = |connection: &Arc<crate::snapshot::Connection>| {
            (
                connection.id.clone(),
                connection.process.clone(),
                connection.causes.len(),
            )
        };
        snapshot.connections.iter().map(told).collect()
    };
    assert_eq!(last.connections.len(), whole.connections.len());
    let same = verdicts(&last)
        .iter()
        .zip(&verdicts(&whole))
        .filter(|(one, other)| one == other)
        .count();
    assert!(same * 10 >= whole.connections.len() * 9, "{same}");
}

#[test]
fn other_addresses_give_the_same_verdicts() {
    let (_folder, file) = folder();
    let mut host = Host::new(Segments::new(&file, ROOMY).unwrap(), Some(Mask::random()));
    host.run(100);
    host.end();
    let bytes = fs::read(&file).unwrap();
    assert!(!bytes.windows(3).any(|window| window == b"box"));
    let mut replay = Replay::open(&file).unwrap();
    for expected in &host.shown {
        assert!(replay.step(&mut Vec::new()).is_some());
        let expected: Snapshot = serde_json::from_str(expected).unwrap();
        // Both by way of JSON, which need not give the last bit back.
        let replayed: Snapshot = serde_json::from_str(&shown(&replay)).unwrap();
        for (one, other) in replayed.connections.iter().zip(&expected.connections) {
            assert_eq!(
                (one.limit, &one.ledger, one.rate_bps),
                (other.limit, &other.ledger, other.rate_bps)
            );
        }
    }
    let last = replay.snapshot();
    assert_eq!(last.health.host, "anonymised");
    assert!(
        last.connections
            .iter()
            .any(|connection| !connection.local.starts_with("192.0.2.1:"))
    );
}

#[test]
fn a_killed_recorder_loses_what_came_after_its_last_frame_alone() {
    let (_folder, file) = folder();
    let mut host = Host::new(Segments::new(&file, ROOMY).unwrap(), None);
    host.run(20);
    // As after kill -9: no end is written.
    std::mem::forget(host.recorder.take());
    let mut replay = Replay::open(&file).unwrap();
    for expected in &host.shown {
        assert!(replay.step(&mut Vec::new()).is_some());
        assert_eq!(&shown(&replay), expected);
    }
    assert_eq!(replay.step(&mut Vec::new()), None);
    assert_eq!(replay.faults().len(), 1);
    assert!(
        replay.faults()[0].contains("without its end mark"),
        "{:?}",
        replay.faults()
    );
}

#[test]
fn what_is_whole_before_a_fault_is_replayed() {
    let (_folder, file) = folder();
    let host = recorded(&file, ROOMY, 40);
    let bytes = fs::read(&file).unwrap();
    for (damage, said) in [(true, "damaged"), (false, "ends within a frame")] {
        let mut bytes = bytes.clone();
        let middle = bytes.len() / 2;
        if damage {
            bytes[middle] ^= 0x10;
        } else {
            bytes.truncate(middle);
        }
        fs::write(&file, &bytes).unwrap();
        let mut replay = Replay::open(&file).unwrap();
        let mut ticks = 0;
        while replay.step(&mut Vec::new()).is_some() {
            assert_eq!(shown(&replay), host.shown[ticks]);
            ticks += 1;
        }
        assert!((10..35).contains(&ticks), "{ticks}");
        let faults = replay.faults();
        assert_eq!(faults.len(), 1, "{faults:?}");
        assert!(
            faults[0].contains(said) && faults[0].contains("at byte"),
            "{faults:?}"
        );
    }
}

#[test]
fn a_player_is_steered_through_time() {
    let (_folder, file) = folder();
    let host = recorded(&file, ROOMY, 120);
    let playback = Playback::default();
    // The reader asks once a second.
    let mut now = 0;
    let clock = Box::new(move || {
        now += SECOND;
        Instant(now)
    });
    let mut player = Player::new(Replay::open(&file).unwrap(), playback.clone(), clock);
    let mut at = || player.latest().unwrap().tick;
    assert_eq!((at(), at(), at()), (1, 1, 2));
    playback.faster();
    assert_eq!((at(), at()), (4, 6));
    playback.pause();
    assert_eq!((at(), at()), (6, 6));
    playback.jump(Jump::Step);
    assert_eq!((at(), at()), (7, 7));
    playback.jump(Jump::By(60));
    assert_eq!(at(), 67);
    playback.jump(Jump::By(-10));
    assert_eq!(at(), 57);
    playback.jump(Jump::End);
    assert_eq!(at(), 120);
    playback.jump(Jump::Start);
    assert_eq!(at(), 1);
    playback.jump(Jump::By(30));
    assert_eq!(at(), 30);
    let shown = serde_json::to_string(&*player.latest().unwrap()).unwrap();
    assert_eq!(shown, host.shown[29]);
    assert!(
        playback.text().0.starts_with("replay 00:37:10 paused, 25 %"),
        "{:?}",
        playback.text()
    );
}
