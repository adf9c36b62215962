//! The detail of a connection: every form of it as it is drawn, and that its figures are the snapshot's.

use std::sync::{Arc, OnceLock};

use insta::assert_snapshot;
use proptest::prelude::*;
use ratatui::style::Color;

use super::fixture::{connection, connections, draw, empty, press, snapshot, state, terminal};
use crate::classify::{Direction, Limit, Remedy, Side};
use crate::observation::{FastOpen, Retransmits};
use crate::snapshot::{Budget, Calls, Ceiling, Connection, Sample, Snapshot, TcpFields, Watch};
use crate::top::action::{Action, Effect};
use crate::top::state::State;
use crate::top::theme::{ColourMode, Theme};
use crate::top::update::update;

/// A congestion window in the sawtooth that regular loss makes, and how often it fell, at a moment in 10 ms steps.
fn sawtooth(step: u64) -> (u32, u32) {
    (40 + (step % 400 / 10) as u32, (step / 400) as u32)
}

/// Bytes acknowledged so far: a fifth of a window in 10 ms.
fn acked(step: u64) -> u64 {
    static SUMS: OnceLock<Vec<u64>> = OnceLock::new();
    let sums = SUMS.get_or_init(|| {
        let mut sum = 0;
        (0..10_000)
            .map(|step| {
                sum += u64::from(sawtooth(step).0) * 1_448 / 5;
                sum
            })
            .collect()
    });
    sums[step as usize]
}

/// A sending connection that loses a segment every 4 s, at the end of a tick.
fn lossy(tick: u64) -> Connection {
    let (cwnd, falls) = sawtooth(tick * 100);
    let in_flight = (cwnd - 2) * 1_448;
    let mut it = connection(
        4,
        Limit::Loss,
        "postgres",
        "203.0.113.44:5432",
        f64::from(in_flight) * 8.0 / 0.05,
    );
    it.side = Side::Path;
    it.ceiling_bps = Some(14.2e6);
    it.ceiling_formula = Some("Mathis: 1448 B ÷ 52 ms × 1.22 ÷ √0.00025".into());
    it.next = Some(Ceiling {
        limit: Limit::Bandwidth,
        rate_bps: 48e6,
        formula: "best delivery rate to this peer".into(),
    });
    it.ledger = vec![
        Ceiling {
            limit: Limit::Loss,
            rate_bps: 14.2e6,
            formula: "Mathis: 1448 B ÷ 52 ms × 1.22 ÷ √0.00025".into(),
        },
        Ceiling {
            limit: Limit::Bandwidth,
            rate_bps: 48e6,
            formula: "best delivery rate to this peer".into(),
        },
    ];
    it.budget = Some(Budget {
        cwnd: 0.9,
        app: 0.1,
        ..Budget::default()
    });
    it.proof =
        "2 losses in 8 s keep the congestion window at 40 to 79 segments, half of what the path holds".into();
    let mut remedy = Remedy::new(
        Side::Path,
        "sysctl -w net.ipv4.tcp_congestion_control=bbr",
        "bbr does not take a loss now and then for a full queue",
    );
    remedy.new_connections = true;
    remedy.memory_bytes = Some(3 << 20);
    remedy.caveat = Some("it will not help where a policer drops".into());
    it.remedies = vec![remedy];
    it.tcp = TcpFields {
        srtt_us: Some(50_000 + (cwnd - 40) * 150),
        min_rtt_us: Some(50_000),
        cwnd: Some(cwnd),
        ssthresh: Some(40),
        mss: Some(1_448),
        snd_wnd_bytes: Some(3_145_728),
        sndbuf_bytes: Some(425_984),
        in_flight_bytes: Some(in_flight),
        unsent_bytes: Some(120_000),
        retransmits_total: Some(falls),
        delivered: Some(100_000),
        ..it.tcp
    };
    it
}

/// A tick with this connection alone, and its samples of the last two seconds if it is watched.
fn tick(tick: u64, connection: Connection, watched: bool) -> Arc<Snapshot> {
    let mut snapshot = (*snapshot(tick, vec![connection])).clone();
    let sample = |step: u64| {
        let (cwnd, falls) = sawtooth(step);
        Sample {
            at_ns: step * 10_000_000,
            cwnd,
            ssthresh: Some(40),
            in_flight_bytes: (cwnd - (step % 3) as u32) * 1_448,
            unsent_bytes: 120_000,
            snd_wnd_bytes: 3_145_728,
            srtt_us: 50_000 + (cwnd - 40) * 150,
            bytes_acked: acked(step),
            retransmits_total: falls,
        }
    };
    if watched {
        snapshot.samples = (tick.saturating_sub(2) * 100..tick * 100).map(sample).collect();
    }
    Arc::new(snapshot)
}

/// The detail of the lossy connection after 60 ticks; watched closely for the last eight if `watched`.
fn opened(width: u16, height: u16, watched: bool) -> State {
    let mut state = empty(width, height);
    for at in 1..=52 {
        update(&mut state, Action::Snapshot(tick(at, lossy(at), false)));
    }
    press(&mut state, "<Enter>");
    if watched {
        let wanted = state.wants_watched();
        update(&mut state, Action::Watching(wanted));
    }
    for at in 53..=60 {
        update(&mut state, Action::Snapshot(tick(at, lossy(at), watched)));
    }
    state
}

fn receiving(width: u16, height: u16) -> State {
    let mut state = empty(width, height);
    for at in 1..=20 {
        let mut it = connection(5, Limit::Rcvbuf, "curl", "192.0.2.80:443", 19e6 + at as f64 * 1e5);
        it.direction = Direction::Receive;
        it.side = Side::LocalKernel;
        it.ceiling_bps = Some(21.3e6);
        it.tcp.rcvbuf_bytes = Some(131_072);
        it.tcp.rcv_wnd_bytes = Some(65_536 - 1_024 * (at as u32 % 4));
        it.tcp.unread_bytes = Some(9_000 + 500 * (at as u32 % 7));
        it.proof = "the peer has filled our window of 64 KiB in each of the last 20 intervals".into();
        update(&mut state, Action::Snapshot(snapshot(at, vec![it])));
    }
    press(&mut state, "<Enter>");
    state
}

#[test]
fn charts_80x24() {
    let mut state = opened(80, 24, false);
    press(&mut state, "<Tab>");
    assert_snapshot!(draw(&state));
    press(&mut state, "]c");
    assert_snapshot!("one_chart_80x24", draw(&state));
    press(&mut state, "cccc<Tab>");
    assert!(draw(&state).contains("what to change"));
}

#[test]
fn samples_80x24() {
    let mut state = opened(80, 24, true);
    press(&mut state, "<Tab>[");
    assert_snapshot!(draw(&state));
}

#[test]
fn samples_200x50() {
    assert_snapshot!(draw(&opened(200, 50, true)));
}

#[test]
fn ticks_120x30() {
    assert_snapshot!(draw(&opened(120, 30, false)));
}

#[test]
fn a_receiver() {
    let mut state = receiving(80, 40);
    assert_snapshot!(draw(&state));
    press(&mut state, "<Tab>");
    assert_snapshot!("a_receivers_charts", draw(&state));
}

#[test]
fn a_source_without_signals() {
    let mut state = empty(200, 50);
    for at in 1..=3 {
        let mut it = connection(9, Limit::Rwnd, "scp", "192.0.2.81:22", 5.2e6);
        it.proof = "the kernel says rwnd_limited for 97 % of the interval".into();
        update(&mut state, Action::Snapshot(snapshot(at, vec![it])));
    }
    press(&mut state, "<Enter>");
    assert_snapshot!(draw(&state));
}

#[test]
fn closed() {
    let mut state = opened(80, 24, true);
    update(&mut state, Action::Snapshot(snapshot(64, Vec::new())));
    press(&mut state, "<Tab>");
    assert_snapshot!(draw(&state));
}

#[test]
fn ascii_charts() {
    let mut state = opened(120, 30, true);
    state.theme = Theme::new(ColourMode::Sixteen, true, |_| None);
    let text = draw(&state);
    assert_snapshot!(text);
    press(&mut state, "<Tab>");
    assert!(text.is_ascii() && draw(&state).is_ascii());
}

#[test]
fn charts_without_colour_say_the_same() {
    let mut state = opened(120, 40, true);
    state.theme = Theme::new(ColourMode::Never, false, |_| None);
    let terminal = terminal(&state);
    let cells = terminal.backend().buffer().content();
    assert!(
        cells
            .iter()
            .all(|cell| cell.fg == Color::Reset && cell.bg == Color::Reset)
    );
    for sign in ["╌", "×", "┤"] {
        assert!(draw(&state).contains(sign), "{sign}");
    }
}

#[test]
fn a_frozen_chart_stays() {
    let mut state = opened(80, 24, false);
    press(&mut state, "<Tab> ");
    let before = draw(&state);
    for at in 61..=70 {
        update(&mut state, Action::Snapshot(tick(at, lossy(at), false)));
    }
    assert_eq!(draw(&state), before);
    press(&mut state, " ");
    assert_ne!(draw(&state), before);
}

#[test]
fn only_the_opened_connection_is_watched() {
    let mut state = state(80, 24);
    assert_eq!(state.wants_watched(), None);
    press(&mut state, "/nginx<Enter><Enter>");
    let wanted = Watch {
        id: "7".into(),
        netns: 4_026_531_840,
    };
    assert_eq!(state.wants_watched(), Some(wanted.clone()));
    // Samples of whatever was watched before are not this connection's.
    let with_samples = |tick: u64| {
        let mut snapshot = (*snapshot(tick, connections())).clone();
        snapshot.samples = vec![Sample {
            at_ns: tick * 1_000_000_000 - 1,
            ..Sample::default()
        }];
        Arc::new(snapshot)
    };
    let samples = |state: &State| {
        state
            .opened
            .as_ref()
            .map_or(0, |opened| opened.closeup.samples().len())
    };
    update(&mut state, Action::Snapshot(with_samples(3)));
    assert_eq!(samples(&state), 0);
    update(&mut state, Action::Watching(Some(wanted)));
    update(&mut state, Action::Snapshot(with_samples(4)));
    assert_eq!(samples(&state), 1);
    update(&mut state, Action::Snapshot(snapshot(5, Vec::new())));
    assert_eq!(state.wants_watched(), None, "it is closed");
    press(&mut state, "<Esc>");
    assert_eq!(state.wants_watched(), None);
}

#[test]
fn each_remedy_has_its_key() {
    let mut state = state(80, 24);
    press(&mut state, "/nginx<Enter><Enter>");
    let middlebox = "look for a middlebox that strips wscale from SYNs";
    assert_eq!(press(&mut state, "2"), Effect::Copy(middlebox.into()));
    assert!(matches!(press(&mut state, "1"), Effect::Copy(text) if text.starts_with("sysctl")));
    assert_eq!(press(&mut state, "3"), Effect::Draw);
    assert!(draw(&state).contains("there are 2 remedies: 1 to 2 copy them"));
    // What has its own number in the text is what the key copies.
    assert!(draw(&state).contains(" 2 the path"));
}

/// Every figure of the socket stands on the screen with every digit, under the name that `ss -tinm` gives it.
#[test]
fn the_figures_are_those_of_the_snapshot() {
    let mut it = connection(7, Limit::Rwnd, "nginx", "203.0.113.9:51812", 2.85e6);
    it.tcp = TcpFields {
        srtt_us: Some(181_302),
        rttvar_us: Some(911),
        min_rtt_us: Some(180_077),
        cwnd: Some(1_234),
        ssthresh: Some(987),
        mss: Some(1_447),
        snd_wnd_bytes: Some(65_535),
        rcv_wnd_bytes: Some(65_161),
        snd_wscale: Some(7),
        rcv_wscale: Some(9),
        sndbuf_bytes: Some(2_626_561),
        rcvbuf_bytes: Some(131_073),
        wmem_queued_bytes: Some(1_971_329),
        in_flight_bytes: Some(65_160),
        unsent_bytes: Some(1_904_001),
        unread_bytes: Some(77),
        bytes_acked: Some(152_118_220),
        bytes_received: Some(1_411),
        delivered: Some(105_101),
        retransmits_total: Some(12),
        retransmits: Some(Retransmits {
            fast: 9,
            rto: 2,
            tlp: 1,
        }),
        timeouts: Some(3),
        congestion: Some("cubic".into()),
        fastopen: Some(FastOpen::DataAccepted),
        handshake_us: Some(181_093),
        ..it.tcp
    };
    it.calls = Some(Calls {
        sends: 10_007,
        recvs: 31,
        send_refused: 4,
        turns: 6,
        ..Calls::default()
    });
    let mut state = empty(120, 60);
    update(&mut state, Action::Snapshot(snapshot(1, vec![it])));
    press(&mut state, "<Enter>");
    let text = draw(&state);
    for field in [
        "cc:cubic",
        "wscale:7,9",
        "rtt:181.302/0.911",
        "minrtt:180.077",
        "mss:1447",
        "cwnd:1234",
        "ssthresh:987",
        "snd_wnd:65535",
        "rcv_wnd:65161",
        "tb (sndbuf):2626561",
        "rb (rcvbuf):131073",
        "w (wmem_queued):1971329",
        "in_flight:65160",
        "notsent:1904001",
        "recv-q (unread):77",
        "bytes_acked:152118220",
        "bytes_received:1411",
        "delivered:105101",
        "retrans:12",
        "(fast 9, rto 2, tlp 1)",
        "timeouts:3",
        "fastopen:data accepted",
        "handshake:181.093 ms",
        "sends:10007",
        "recvs:31",
        "send_refused:4",
        "turns:6",
        "netns:4026531840",
        "cookie:7",
    ] {
        assert!(text.contains(field), "{field} is not in\n{text}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Of any size, with any samples, at any zoom.
    #[test]
    fn no_size_and_no_samples_break_the_detail(
        width in 1_u16..300, height in 1_u16..100, keys in prop::collection::vec(0_usize..8, 0..12), ascii in any::<bool>(),
        samples in prop::collection::vec((0_u64..70_000_000_000, any::<u32>(), any::<u32>(), any::<u64>()), 0..200),
        closed in any::<bool>(),
    ) {
        let mut state = opened(width, height, true);
        if ascii {
            state.theme = Theme::new(ColourMode::Never, true, |_| None);
        }
        let mut samples: Vec<Sample> = samples
            .into_iter()
            .map(|(at_ns, some, other, bytes_acked)| Sample {
                at_ns,
                cwnd: some,
                ssthresh: (other % 2 == 0).then_some(other),
                in_flight_bytes: other,
                srtt_us: some,
                snd_wnd_bytes: some ^ other,
                bytes_acked,
                retransmits_total: other,
                unsent_bytes: 0,
            })
            .collect();
        samples.sort_by_key(|sample| sample.at_ns);
        let mut last = (*tick(61, lossy(61), false)).clone();
        last.samples = samples;
        update(&mut state, Action::Snapshot(Arc::new(last)));
        if closed {
            update(&mut state, Action::Snapshot(snapshot(62, Vec::new())));
        }
        for key in keys {
            press(&mut state, ["<Tab>", "<lt>", ">", "c", "G", "<PgDn>", " ", "1"][key]);
            draw(&state);
        }
        draw(&state);
    }
}
