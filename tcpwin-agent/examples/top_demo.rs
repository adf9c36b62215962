//! Development aid: the screen of `tcpwin top` over invented connections. No socket of this host is looked at; the
//! figures are synthetic and say nothing of any network.
//!
//! `cargo run -p tcpwin-agent --example top_demo -- [connections] [--lossy] [--gone] [--panic] [--ascii]`

use std::sync::Arc;

use tcpwin_agent::classify::{Direction, Limit, Remedy, Side};
use tcpwin_agent::observation::{Origin, Retransmits, TcpState};
use tcpwin_agent::snapshot::{
    Budget, Ceiling, Connection, Feed, FeedError, Health, Process, Snapshot, Summary, TcpFields,
};
use tcpwin_agent::top::{Options, run};
use tcpwin_agent::units::{bits_text, bytes_text};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let count = arguments
        .iter()
        .find_map(|argument| argument.parse().ok())
        .unwrap_or(200);
    let has = |name: &str| arguments.iter().any(|argument| argument == name);
    let options = Options {
        ascii: has("--ascii"),
        ..Options::default()
    };
    run(
        Box::new(Synthetic {
            tick: 0,
            count,
            lossy: has("--lossy"),
            gone: has("--gone"),
            panic: has("--panic"),
        }),
        options,
    )?;
    println!("top_demo ended; the terminal is back");
    Ok(())
}

struct Synthetic {
    tick: u64,
    count: u64,
    lossy: bool,
    gone: bool,
    panic: bool,
}

impl Feed for Synthetic {
    fn latest(&mut self) -> Result<Arc<Snapshot>, FeedError> {
        self.tick += 1;
        assert!(!(self.panic && self.tick == 4), "demo: the feed panics as asked");
        if self.gone && self.tick % 20 > 10 {
            return Err(FeedError::Unreachable {
                at: "127.0.0.1:10430".into(),
                cause: "connection refused".into(),
            });
        }
        let connections: Vec<_> = (0..self.count)
            .map(|n| Arc::new(connection(n, self.tick)))
            .collect();
        let mut summary = Summary {
            retransmits: Retransmits {
                fast: (self.tick * 3) as u32,
                rto: 0,
                tlp: 1,
            },
            ..Summary::default()
        };
        for connection in &connections {
            *summary.connections.entry(connection.limit).or_default() += 1;
            summary.send_bps += connection.send_bps;
            summary.receive_bps += connection.receive_bps;
        }
        let mut health = Health {
            source: "synthetic".into(),
            source_reason: Some("this is the demo: invented figures, no socket is looked at".into()),
            table_used: self.count,
            table_capacity: 100_000,
            probe_runs: Some(self.tick * 40_000),
            probe_run_ns: Some(self.tick * 2_600_000),
            cpu_us: self.tick * 6_300,
            rss_bytes: 23 << 20,
            host: "demo".into(),
            kernel: "0.0.0-synthetic".into(),
            version: "0.1.0".into(),
            ..Health::default()
        };
        if self.lossy {
            health.losses.insert("ring_full".into(), self.tick / 5 * 17);
        }
        Ok(Arc::new(Snapshot {
            at_ns: self.tick * 1_000_000_000,
            interval_us: 1_000_000,
            tick: self.tick,
            health,
            summary,
            connections,
            ..Snapshot::default()
        }))
    }
}

/// Between 0 and 1, slowly there and back.
fn wave(n: u64, tick: u64) -> f64 {
    let phase = (tick as f64 / 9.0 + n as f64 * 1.7).sin();
    f64::midpoint(phase, 1.0)
}

fn connection(n: u64, tick: u64) -> Connection {
    const NAMES: [&str; 6] = [
        "nginx",
        "postgres",
        "rsync",
        "envoy",
        "evil\u{1b}[31m\u{202e}",
        "バックアップ",
    ];
    const LIMITS: [Limit; 12] = [
        Limit::RwndScale,
        Limit::Sndbuf,
        Limit::Loss,
        Limit::Bandwidth,
        Limit::App,
        Limit::None,
        Limit::Turns,
        Limit::None,
        Limit::Unknown,
        Limit::CwndStartup,
        Limit::None,
        Limit::RwndReader,
    ];
    let limit = if n % 97 == 13 {
        Limit::Stalled
    } else {
        LIMITS[(n % 12) as usize]
    };
    let rtt_us = 2_000 + (n * 7_919 % 180_000) as u32;
    let window = [65_535_u32, 131_072, 4 << 20][(n % 3) as usize];
    let ceiling = f64::from(window) * 8e6 / f64::from(rtt_us);
    let quiet = matches!(limit, Limit::None | Limit::Stalled);
    let rate = if quiet {
        0.0
    } else {
        ceiling * (0.9 + 0.1 * wave(n, tick))
    };
    let bound = limit.bound();
    let held = !matches!(limit, Limit::None | Limit::Unknown | Limit::App);
    let formula = format!(
        "{} ÷ {} ms",
        bytes_text(u64::from(window)),
        f64::from(rtt_us) / 1e3
    );
    let peer = if n.is_multiple_of(5) {
        format!("[2001:db8:{:x}::{:x}]:443", n % 9, n)
    } else {
        format!("203.0.113.{}:{}", n % 250 + 1, 1_024 + n)
    };
    let budget = match limit {
        Limit::Sndbuf => Budget {
            sndbuf: 0.83,
            cwnd: 0.1,
            app: 0.07,
            ..Budget::default()
        },
        Limit::RwndScale | Limit::RwndReader => Budget {
            rwnd: 0.94,
            app: 0.04,
            pacing: 0.02,
            ..Budget::default()
        },
        Limit::None => Budget {
            idle: 1.0,
            ..Budget::default()
        },
        _ => Budget {
            cwnd: 0.6,
            app: 0.3,
            pacing: 0.1,
            ..Budget::default()
        },
    };
    Connection {
        id: (n + 1).to_string(),
        netns: 4_026_531_840,
        local: format!(
            "198.51.100.7:{}",
            if n.is_multiple_of(3) {
                443
            } else {
                30_000 + n % 30_000
            }
        ),
        peer,
        direction: if n % 4 == 3 {
            Direction::Receive
        } else {
            Direction::Send
        },
        process: Some(Process {
            pid: 800 + n as u32,
            name: NAMES[(n % 6) as usize].into(),
        }),
        cgroup: Some("/system.slice/demo.service".into()),
        origin: Origin::Accept,
        age_us: (tick + n) * 1_000_000,
        bound,
        limit,
        side: if held { Side::PeerKernel } else { Side::Nobody },
        confidence: 0.97,
        prevailing: None,
        rate_bps: rate,
        send_bps: rate,
        receive_bps: rate / 50.0,
        ceiling_bps: held.then_some(ceiling),
        ceiling_formula: held.then_some(formula.clone()),
        next: held.then(|| Ceiling {
            limit: Limit::Bandwidth,
            rate_bps: ceiling * 6.9,
            formula: "best delivery rate to this peer".into(),
        }),
        gain: held.then_some(6.9),
        nothing_to_gain: false,
        ledger: Vec::new(),
        inconsistent: None,
        budget: Some(budget),
        causes: Vec::new(),
        proof: format!(
            "demo: {} of {} allowed by {formula}",
            bits_text(rate),
            bits_text(ceiling)
        ),
        remedies: if held {
            vec![Remedy::new(
                Side::PeerKernel,
                "sysctl -w net.ipv4.tcp_window_scaling=1",
                format!("a window of {} needs a scale of 7", bytes_text(452_000)),
            )]
        } else {
            Vec::new()
        },
        tcp: TcpFields {
            state: Some(TcpState::Established),
            srtt_us: Some(rtt_us + (wave(n, tick) * 2_000.0) as u32),
            rttvar_us: Some(1_200),
            min_rtt_us: Some(rtt_us),
            cwnd: Some(10 + (wave(n, tick) * 80.0) as u32),
            mss: Some(1_448),
            snd_wnd_bytes: Some(window),
            rcv_wnd_bytes: Some(65_536),
            snd_wscale: Some(0),
            rcv_wscale: Some(7),
            sndbuf_bytes: Some(2_626_560),
            rcvbuf_bytes: Some(131_072),
            in_flight_bytes: Some((f64::from(window) * (0.9 + 0.1 * wave(n, tick))) as u32),
            unsent_bytes: Some(if held { 412_000 } else { 0 }),
            bytes_acked: Some(tick * 340_000),
            bytes_received: Some(tick * 900),
            delivered: Some((tick * 240) as u32),
            retransmits_total: Some((n % 7 * tick / 9) as u32),
            delivery_rate_bps: Some(ceiling),
            congestion: Some("cubic".into()),
            ..TcpFields::default()
        },
        calls: None,
    }
}
