//! A fixed host with one connection of every kind. Addresses are from the documentation ranges.

use std::sync::Arc;
use std::time::Duration;

use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::layout::Size;

use crate::classify::group::FindingKind;
use crate::classify::{Bound, Direction, Limit, Remedy, Side};
use crate::observation::{Origin, Retransmits, TcpState};
use crate::snapshot::{
    AcceptQueues, Budget, Cause, Ceiling, Connection, FastOpenCounts, Finding, Health, HostFacts, Interface,
    Listener, MemoryPressure, Prevailing, Process, Snapshot, Summary, TcpFields,
};
use crate::source::HookState;
use crate::top::action::{Action, Effect};
use crate::top::state::State;
use crate::top::theme::{ColourMode, Theme};
use crate::top::update::{key_action, update};

/// A connection that holds for nobody; tests change what they need.
pub(in crate::top) fn connection(
    id: u64,
    limit: Limit,
    process: &str,
    peer: &str,
    rate_bps: f64,
) -> Connection {
    Connection {
        id: id.to_string(),
        netns: 4_026_531_840,
        local: format!("198.51.100.7:{}", 40_000 + id),
        peer: peer.into(),
        direction: Direction::Send,
        process: Some(Process {
            pid: 1_000 + id as u32,
            name: process.into(),
        }),
        cgroup: None,
        origin: Origin::Connect,
        age_us: id * 61_000_000,
        bound: limit.bound(),
        limit,
        side: Side::Nobody,
        confidence: 0.9,
        prevailing: None,
        rate_bps,
        send_bps: rate_bps,
        receive_bps: rate_bps / 100.0,
        ceiling_bps: None,
        ceiling_formula: None,
        next: None,
        gain: None,
        nothing_to_gain: false,
        ledger: Vec::new(),
        inconsistent: None,
        budget: None,
        causes: Vec::new(),
        proof: String::new(),
        remedies: Vec::new(),
        tcp: TcpFields {
            state: Some(TcpState::Established),
            srtt_us: Some(20_000 + id as u32 * 1_000),
            min_rtt_us: Some(20_000),
            cwnd: Some(10),
            mss: Some(1_448),
            snd_wnd_bytes: Some(131_072),
            sndbuf_bytes: Some(87_040),
            in_flight_bytes: Some(0),
            unsent_bytes: Some(0),
            ..TcpFields::default()
        },
        calls: None,
    }
}

/// The connection of the first post: a peer without window scaling, 181 ms away.
pub(super) fn unscaled() -> Connection {
    let mut it = connection(7, Limit::RwndScale, "nginx", "203.0.113.9:51812", 2.85e6);
    it.local = "198.51.100.7:443".into();
    it.side = Side::PeerKernel;
    it.confidence = 0.98;
    it.cgroup = Some("/system.slice/nginx.service".into());
    it.ceiling_bps = Some(2.896e6);
    it.ceiling_formula = Some("65535 B ÷ 181 ms".into());
    it.next = Some(Ceiling {
        limit: Limit::Bandwidth,
        rate_bps: 20e6,
        formula: "best delivery rate to this peer".into(),
    });
    it.budget = Some(Budget {
        rwnd: 0.94,
        app: 0.04,
        pacing: 0.02,
        ..Budget::default()
    });
    it.gain = Some(7.0);
    let ceiling = |limit, rate_bps, formula: &str| Ceiling {
        limit,
        rate_bps,
        formula: formula.into(),
    };
    it.ledger = vec![
        ceiling(Limit::RwndScale, 2.896e6, "65535 B ÷ 181 ms"),
        ceiling(Limit::Bandwidth, 20e6, "best delivery rate to this peer"),
        ceiling(Limit::Sndbuf, 185e6, "tcp_wmem[2] 4.00 MiB ÷ 181 ms"),
    ];
    it.prevailing = Some(Prevailing {
        bound: Bound::Window,
        limit: Limit::RwndScale,
        since_us: 402_000_000,
    });
    let cause = |limit, seconds, bytes, bytes_not_moved| Cause {
        limit,
        seconds,
        bytes,
        bytes_not_moved,
    };
    it.causes = vec![
        cause(Limit::RwndScale, 411.0, 146_400_000, Some(881_000_000)),
        cause(Limit::None, 15.0, 0, None),
        cause(Limit::CwndStartup, 1.0, 198_000, None),
    ];
    it.proof = "65,160 of 65,535 bytes of the peer's window are in flight for 94 % of the interval, and the peer offered no \
                window scaling: the window can never grow"
        .into();
    it.remedies = vec![
        Remedy::new(
            Side::PeerKernel,
            "sysctl -w net.ipv4.tcp_window_scaling=1",
            "20 Mbit/s at 181 ms needs a window of 442 KiB",
        ),
        Remedy::new(
            Side::Path,
            "look for a middlebox that strips wscale from SYNs",
            String::new(),
        ),
    ];
    it.tcp = TcpFields {
        state: Some(TcpState::Established),
        srtt_us: Some(181_300),
        rttvar_us: Some(900),
        min_rtt_us: Some(181_000),
        cwnd: Some(120),
        ssthresh: Some(88),
        mss: Some(1_448),
        snd_wnd_bytes: Some(65_535),
        rcv_wnd_bytes: Some(65_160),
        rcv_wscale: Some(0),
        sndbuf_bytes: Some(2_626_560),
        sndbuf_locked: Some(false),
        rcvbuf_bytes: Some(131_072),
        in_flight_bytes: Some(65_160),
        unsent_bytes: Some(1_904_000),
        bytes_acked: Some(152_118_220),
        bytes_received: Some(411),
        delivered: Some(105_100),
        retransmits_total: Some(12),
        retransmits: Some(Retransmits {
            fast: 10,
            rto: 1,
            tlp: 1,
        }),
        delivery_rate_bps: Some(2.9e6),
        congestion: Some("cubic".into()),
        ..TcpFields::default()
    };
    it
}

/// One connection of every kind.
pub(super) fn connections() -> Vec<Connection> {
    let mut sndbuf = connection(3, Limit::Sndbuf, "rsync", "203.0.113.20:873", 17.1e6);
    sndbuf.ceiling_bps = Some(17.3e6);
    sndbuf.next = Some(Ceiling {
        limit: Limit::CwndStartup,
        rate_bps: 21e6,
        formula: String::new(),
    });
    let mut loss = connection(
        4,
        Limit::Loss,
        "postgres",
        "[2001:db8:5:1::1234:5678]:5432",
        4.4e6,
    );
    loss.ceiling_bps = Some(5.0e6);
    loss.tcp.retransmits_total = Some(90);
    loss.tcp.delivered = Some(8_910);
    let mut bandwidth = connection(5, Limit::Bandwidth, "curl", "192.0.2.80:443", 19.4e6);
    bandwidth.ceiling_bps = Some(20e6);
    bandwidth.direction = Direction::Receive;
    let mut bare = connection(9, Limit::Unknown, "", "192.0.2.81:8080", 0.0);
    bare.process = None;
    bare.confidence = 0.0;
    bare.proof = "no data moved since it was first seen".into();
    bare.tcp = TcpFields::default();
    vec![
        connection(1, Limit::None, "sshd", "192.0.2.4:50022", 1_200.0),
        connection(2, Limit::App, "バックアップ", "192.0.2.5:443", 310e3),
        sndbuf,
        loss,
        bandwidth,
        connection(
            6,
            Limit::Turns,
            "evil\u{1b}[2J\u{202e}\n",
            "203.0.113.21:3306",
            42e3,
        ),
        unscaled(),
        connection(8, Limit::Stalled, "envoy", "203.0.113.22:9000", 0.0),
        bare,
    ]
}

/// A snapshot of `connections` at a tick.
pub(super) fn snapshot(tick: u64, connections: Vec<Connection>) -> Arc<Snapshot> {
    let mut summary = Summary {
        retransmits: Retransmits {
            fast: tick as u32 * 3,
            rto: 0,
            tlp: 0,
        },
        ..Summary::default()
    };
    for connection in &connections {
        *summary.connections.entry(connection.limit).or_default() += 1;
        summary.send_bps += connection.send_bps;
        summary.receive_bps += connection.receive_bps;
    }
    Arc::new(Snapshot {
        at_ns: tick * 1_000_000_000,
        interval_us: 1_000_000,
        tick,
        health: Health {
            source: "ebpf".into(),
            table_used: connections.len() as u64,
            table_capacity: 100_000,
            probe_runs: Some(tick * 10_000),
            probe_run_ns: Some(tick * 620_000),
            tick_cpu_us: 900,
            cpu_us: tick * 4_200,
            rss_bytes: 19 << 20,
            host: "gw1".into(),
            kernel: "6.12.1-test".into(),
            version: "0.1.0".into(),
            ..Health::default()
        },
        summary,
        connections: connections.into_iter().map(Arc::new).collect(),
        ..Snapshot::default()
    })
}

/// What is worth telling of the fixed host, as the agent would say it.
pub(super) fn findings() -> Vec<Finding> {
    let finding = |limit: Limit, process: &str, peer: Option<&str>, connections: u64, gain| Finding {
        kind: FindingKind::SharedLimit,
        bound: limit.bound(),
        limit,
        netns: 4_026_531_840,
        process: Some(process.into()),
        peer: peer.map(str::to_owned),
        connections,
        ids: Vec::new(),
        rate_bps: 2.85e6,
        gain,
        proof: String::new(),
        remedies: Vec::new(),
    };
    let mut unscaled = finding(Limit::RwndScale, "nginx", Some("203.0.113.0/24"), 1, Some(7.0));
    unscaled.ids = vec!["7".into()];
    unscaled.proof = self::unscaled().proof;
    unscaled.remedies = self::unscaled().remedies;
    unscaled.remedies[0] = unscaled.remedies[0]
        .clone()
        .for_new_connections()
        .costing(8 << 20)
        .but("live connections keep their scale: it is fixed in the SYN");
    let mut sndbuf = finding(Limit::Sndbuf, "rsync", Some("203.0.113.0/24"), 12, Some(1.4));
    sndbuf.rate_bps = 205.2e6;
    sndbuf.proof =
        "12 connections of rsync to 203.0.113.0/24: sndbuf, 49.9 KiB ÷ 23 ms; 205 Mbit/s together".into();
    sndbuf.remedies = vec![Remedy::new(
        Side::LocalKernel,
        "sysctl -w net.ipv4.tcp_wmem='4096 16384 8388608'",
        "24.5 Mbit/s at 20 ms needs 61.3 KiB in flight and twice that as buffer",
    )];
    let mut turns = finding(Limit::Turns, "evil\u{1b}[2J", None, 3, None);
    turns.proof = "3 connections in several places wait for an answer before they ask again".into();
    vec![unscaled, sndbuf, turns]
}

/// Listening sockets of the fixed host: one that does not keep up, one that has nobody waiting.
pub(super) fn listeners() -> Vec<Listener> {
    let listener = |id: u32, local: &str, process: &str, accept_queue, backlog| Listener {
        id: id.to_string(),
        netns: 4_026_531_840,
        local: local.into(),
        process: Some(Process {
            pid: 700 + id,
            name: process.into(),
        }),
        cgroup: Some(format!("/system.slice/{process}.service")),
        accept_queue,
        backlog,
        congestion: Some("cubic".into()),
        connections: Some(u64::from(id)),
    };
    let mut bare = listener(4, "127.0.0.1:631", "", 0, 5);
    (bare.process, bare.cgroup, bare.connections, bare.congestion) = (None, None, None, None);
    vec![
        listener(1, "198.51.100.7:443", "nginx", 512, 511),
        listener(2, "[::]:22", "sshd", 0, 128),
        listener(3, "0.0.0.0:5432", "postgres", 3, 200),
        bare,
    ]
}

/// The fixed host's own figures.
pub(super) fn facts() -> HostFacts {
    HostFacts {
        uptime_s: Some(788_400),
        accept_queues: Some(AcceptQueues {
            listeners: 4,
            waiting: 515,
            full: 1,
            fullest: 512.0 / 511.0,
        }),
        fastopen: Some(FastOpenCounts {
            active: 12,
            active_failed: 1,
            passive: 3_400,
            passive_failed: 2,
            listen_overflows: 0,
            cookies_requested: 80,
            blackholes: 0,
        }),
        listen_overflows: Some(1_204),
        listen_drops: Some(1_204),
        windows_closed: Some(17),
        zero_window_drops: Some(0),
        memory_pressures: Some(0),
        memory: Some(MemoryPressure {
            used_bytes: 19 << 20,
            pressure_bytes: 248 << 20,
            limit_bytes: 372 << 20,
        }),
        softnet_dropped: Some(0),
        softnet_squeezed: Some(31),
        softirq_busiest: Some(0.043),
        congestion: Some("cubic".into()),
        default_qdisc: Some("fq".into()),
        interfaces: vec![Interface {
            name: "eth0".into(),
            qdisc: Some("fq".into()),
            speed_bps: Some(10_000_000_000),
            receive_dropped: 0,
            transmit_dropped: 7,
        }],
    }
}

/// The fixed host with all that an agent tells of it.
pub(super) fn host(tick: u64) -> Arc<Snapshot> {
    let mut snapshot = (*snapshot(tick, connections())).clone();
    snapshot.findings = findings();
    snapshot.listeners = listeners();
    snapshot.facts = facts();
    let summary = &mut snapshot.summary;
    summary.seconds = [
        (Limit::RwndScale, 411.0),
        (Limit::App, 88.5),
        (Limit::None, 4_015.0),
    ]
    .into();
    summary.bytes = [(Limit::RwndScale, 146_400_000), (Limit::App, 9_000_000)].into();
    summary.bytes_not_moved = [(Limit::RwndScale, 881_000_000)].into();
    (summary.opened, summary.opened_connect, summary.closed) = (40, 12, 31);
    Arc::new(snapshot)
}

/// The fixed host's snapshot with whatever a reader should be told.
pub(super) fn degraded(tick: u64) -> Arc<Snapshot> {
    let mut snapshot = (*snapshot(tick, connections())).clone();
    snapshot.health.source = "sock_diag".into();
    snapshot.health.source_reason = Some("BPF is refused: CAP_BPF is missing; run as root".into());
    snapshot.health.losses.insert("ring_full".into(), 1_234 * tick);
    snapshot.health.hooks = vec![HookState {
        hook: "tp_btf/tcp_cong_state_set".into(),
        missing: Some("not in this kernel (before 6.1): cwnd falls are seen a tick late".into()),
    }];
    Arc::new(snapshot)
}

/// A state of a screen of this size before any snapshot, in plain colours.
pub(super) fn empty(width: u16, height: u16) -> State {
    let theme = Theme::new(ColourMode::Full, false, |_| None);
    State::new(theme, Size::new(width, height), Duration::from_secs(1))
}

/// After two ticks of the fixed host.
pub(super) fn state(width: u16, height: u16) -> State {
    let mut state = empty(width, height);
    for tick in 1..=2 {
        update(&mut state, Action::Snapshot(host(tick)));
    }
    state
}

/// Types keys as the table writes them; one of several letters is named in angle brackets.
pub(super) fn press(state: &mut State, keys: &str) -> Effect {
    use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
    let mut effect = Effect::None;
    let mut rest = keys;
    while let Some(first) = rest.chars().next() {
        let end = if first == '<' {
            rest.find('>').unwrap_or(0)
        } else {
            0
        };
        let (code, modifiers, used) = match &rest[..end] {
            "" => (KeyCode::Char(first), KeyModifiers::NONE, first.len_utf8()),
            name => {
                let code = match &name[1..] {
                    "Esc" => KeyCode::Esc,
                    "Enter" => KeyCode::Enter,
                    "Tab" => KeyCode::Tab,
                    "PgDn" => KeyCode::PageDown,
                    "PgUp" => KeyCode::PageUp,
                    "Left" => KeyCode::Left,
                    "Right" => KeyCode::Right,
                    "Shift-Tab" => KeyCode::BackTab,
                    "Backspace" => KeyCode::Backspace,
                    "Home" => KeyCode::Home,
                    "Ctrl-w" => KeyCode::Char('w'),
                    "lt" => KeyCode::Char('<'),
                    other => panic!("no key {other} here"),
                };
                let control = if name.contains("Ctrl") {
                    KeyModifiers::CONTROL
                } else {
                    KeyModifiers::NONE
                };
                (code, control, end + 1)
            }
        };
        let action = key_action(state, KeyEvent::new(code, modifiers));
        effect = update(state, action);
        rest = &rest[used..];
    }
    effect
}

/// The screen as text.
pub(super) fn draw(state: &State) -> String {
    terminal(state).backend().to_string()
}

/// The screen with its styles.
pub(super) fn terminal(state: &State) -> Terminal<TestBackend> {
    let mut terminal = Terminal::new(TestBackend::new(state.size.width, state.size.height)).unwrap();
    terminal
        .draw(|frame| crate::top::screen::render(frame, state))
        .unwrap();
    terminal
}
