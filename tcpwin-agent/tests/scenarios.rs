//! The lab's scenarios without the lab: one recorded interval of each in, the verdict that its construction demands out.

use std::path::Path;

use serde::Deserialize;
use tcpwin_agent::classify::{Bound, Context, Limit, classify};
use tcpwin_agent::connection::interval::{BudgetShares, Interval};
use tcpwin_agent::observation::{CallCounts, Origin, Tcp, TcpState};
use tcpwin_agent::units::{Bytes, Nanos};

/// A scenario file; what only the lab reads is left out.
#[derive(Deserialize)]
struct Scenario {
    expect: Expect,
    figures: Option<Figures>,
}

#[derive(Deserialize)]
struct Expect {
    bound: Option<Bound>,
    limit: Option<Limit>,
    ceiling_mbit: Option<f64>,
    #[serde(default)]
    ceiling_is_achieved: bool,
    ceiling_tolerance: Option<f64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Figures {
    span_us: u64,
    age_us: u64,
    state: TcpState,
    acked: u64,
    received: u64,
    budget: Shares,
    flight: f64,
    sends: u64,
    turns: u32,
    resumes: u32,
    retransmits: u32,
    life_retransmits: u32,
    life_delivered: u32,
    zero_window: f64,
    tcp: TcpFigures,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Shares {
    idle: f64,
    app: f64,
    sndbuf: f64,
    rwnd: f64,
    cwnd: f64,
    pacing: f64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TcpFigures {
    srtt_us: Option<u32>,
    rttvar_us: Option<u32>,
    min_rtt_us: Option<u32>,
    cwnd: Option<u32>,
    ssthresh: Option<u32>,
    mss: Option<u32>,
    snd_wnd: Option<u32>,
    snd_wscale: Option<u8>,
    sndbuf: Option<u32>,
    sndbuf_locked: Option<bool>,
    wmem_queued: Option<u32>,
    unsent: Option<u32>,
    in_flight: Option<u32>,
    timeouts: Option<u8>,
    congestion: Option<Box<str>>,
    wscale_ok: Option<bool>,
    max_window: Option<u32>,
    cwnd_clamp: Option<u32>,
    max_pacing_rate: Option<u64>,
    packets_out: Option<u32>,
    pacing_rate: Option<u64>,
    paced: Option<bool>,
}

impl Figures {
    fn interval(self) -> Interval {
        let Shares {
            idle,
            app,
            sndbuf,
            rwnd,
            cwnd,
            pacing,
        } = self.budget;
        let share = [idle, app, sndbuf, rwnd, cwnd, pacing];
        let tcp = self.tcp;
        Interval {
            origin: Origin::Connect,
            state: self.state,
            acked: Some(Bytes(self.acked)),
            received: Some(Bytes(self.received)),
            budget: Some(BudgetShares {
                share,
                flight: share.map(|share| (share > 0.0).then_some(self.flight)),
            }),
            calls: Some(CallCounts {
                sends: self.sends,
                turns: self.turns,
                resumes: self.resumes,
                ..CallCounts::default()
            }),
            retransmits: Some(self.retransmits),
            zero_window: Some(self.zero_window),
            life_retransmits: Some(self.life_retransmits),
            life_delivered: Some(self.life_delivered),
            tcp: Tcp {
                srtt_us: tcp.srtt_us,
                rttvar_us: tcp.rttvar_us,
                min_rtt_us: tcp.min_rtt_us,
                cwnd: tcp.cwnd,
                ssthresh: tcp.ssthresh,
                mss: tcp.mss,
                snd_wnd: tcp.snd_wnd,
                snd_wscale: tcp.snd_wscale,
                sndbuf: tcp.sndbuf,
                sndbuf_locked: tcp.sndbuf_locked,
                wmem_queued: tcp.wmem_queued,
                unsent: tcp.unsent,
                in_flight: tcp.in_flight,
                timeouts: tcp.timeouts,
                congestion: tcp.congestion,
                wscale_ok: tcp.wscale_ok,
                max_window: tcp.max_window,
                cwnd_clamp: tcp.cwnd_clamp,
                max_pacing_rate: tcp.max_pacing_rate,
                packets_out: tcp.packets_out,
                pacing_rate: tcp.pacing_rate,
                paced: tcp.paced,
                ..Tcp::default()
            },
            ..Interval::unknown(Nanos(self.span_us * 1000), Nanos(self.age_us * 1000))
        }
    }
}

#[test]
fn every_scenario_gets_the_verdict_of_its_construction() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scenarios");
    let mut judged = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let text = std::fs::read_to_string(&path).unwrap();
        let file: toml::Table = toml::from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
        if !file.contains_key("figures") {
            // Only the lab reads it.
            continue;
        }
        let scenario: Scenario = file.try_into().unwrap_or_else(|error| panic!("{name}: {error}"));
        let (Some(figures), Some(bound)) = (scenario.figures, scenario.expect.bound) else {
            continue;
        };
        let interval = figures.interval();
        let verdict = classify(&interval, &Context::default());
        assert_eq!(verdict.limit.bound(), bound, "{name}: {}", verdict.proof);
        if let Some(limit) = scenario.expect.limit {
            assert_eq!(verdict.limit, limit, "{name}: {}", verdict.proof);
        }
        let truth = match scenario.expect.ceiling_mbit {
            Some(mbit) => Some(mbit * 1e6),
            None if scenario.expect.ceiling_is_achieved => Some(interval.sending().bits()),
            None => None,
        };
        if let Some(truth) = truth {
            let ceiling = verdict
                .ceiling
                .unwrap_or_else(|| panic!("{name}: no ceiling"))
                .rate
                .bits();
            // An interval of a second cuts round trips in two: as much as one of them is in doubt.
            let cut = interval
                .tcp
                .srtt_us
                .map_or(0.0, |srtt| f64::from(srtt) / 1e6 / interval.span.seconds());
            let tolerance = scenario.expect.ceiling_tolerance.unwrap_or(0.05) + cut;
            assert!(
                (ceiling / truth - 1.0).abs() <= tolerance,
                "{name}: ceiling {ceiling}, truth {truth}"
            );
        }
        assert!(verdict.proof.len() > 3, "{name}: a verdict without its proof");
        judged += 1;
    }
    assert!(judged >= 15, "only {judged} scenarios carry figures");
}
