//! Cases that people had and diagnosed: their figures in, and out the cause they found, or `unknown`. Never another with
//! confidence.

use std::path::Path;

use serde::Deserialize;
use tcpwin_agent::classify::{Context, Limit, classify};
use tcpwin_agent::connection::interval::{BudgetShares, Interval};
use tcpwin_agent::observation::{CallCounts, Tcp, TcpState};
use tcpwin_agent::units::{Bytes, Nanos};

/// From this confidence on a verdict is a claim.
const CLAIM: f64 = 0.5;

/// One case. What was derived, and how, is said in the file's first lines.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    /// What may be claimed beside `unknown`.
    accept: Vec<Limit>,
    #[serde(default)]
    host: HostFigures,
    interval: Figures,
    tcp: toml::Table,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct HostFigures {
    tcp_wmem_max: Option<u64>,
}

/// An interval; what is not given is not known.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Figures {
    state: TcpState,
    span_ms: u64,
    acked: u64,
    received: u64,
    /// Shares of the span: busy, rwnd-limited, sndbuf-limited.
    chrono: Option<[f64; 3]>,
    budget: Option<Budget>,
    calls: Option<Calls>,
    nagle: Option<f64>,
    zero_window: Option<f64>,
    unread_mean: Option<u64>,
    data_segments: Option<u32>,
    retransmits: Option<u32>,
    life_retransmits: Option<u32>,
    life_delivered: Option<u32>,
    life_received: Option<u64>,
}

/// Shares of the span by state, as the probes keep them.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, default)]
#[derive(Default)]
struct Budget {
    idle: f64,
    app: f64,
    sndbuf: f64,
    rwnd: f64,
    cwnd: f64,
    /// Mean of what was outstanding, bytes.
    flight: f64,
}

/// What the program did, as the probes count it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, default)]
#[derive(Default)]
struct Calls {
    sends: u64,
    sent_bytes: u64,
    send_max: u32,
    resumes: u32,
    turns: u32,
    turns_in_flight: u32,
    pauses: u32,
    pauses_prompted: u32,
    bursts: u32,
    /// Most outstanding in each burst, the same in all, bytes.
    burst_peak: u64,
    /// Outstanding when the next was prompted, bytes.
    at_prompt: u64,
}

impl Figures {
    fn interval(self, tcp: Tcp) -> Interval {
        let span = Nanos(self.span_ms * 1_000_000);
        Interval {
            state: self.state,
            acked: Some(Bytes(self.acked)),
            received: Some(Bytes(self.received)),
            chrono: self.chrono,
            budget: self.budget.as_ref().map(Budget::shares),
            calls: self.calls.as_ref().map(Calls::counts),
            nagle: self.nagle,
            zero_window: self.zero_window,
            unread: self.unread_mean.map(Bytes),
            data_segments: self.data_segments,
            retransmits: self.retransmits,
            life_retransmits: self.life_retransmits,
            life_delivered: self.life_delivered,
            life_received: self.life_received.map(Bytes),
            tcp,
            ..Interval::unknown(span, span)
        }
    }
}

impl Budget {
    fn shares(&self) -> BudgetShares {
        let share = [self.idle, self.app, self.sndbuf, self.rwnd, self.cwnd, 0.0];
        let sum: f64 = share.iter().sum();
        assert!((sum - 1.0).abs() < 1e-9, "shares add up to {sum}");
        BudgetShares {
            share,
            flight: share.map(|share| (share > 0.0).then_some(self.flight)),
        }
    }
}

impl Calls {
    fn counts(&self) -> CallCounts {
        let bursts = u64::from(self.bursts);
        let squared = (self.burst_peak / 64) * (self.burst_peak / 64);
        CallCounts {
            sends: self.sends,
            sent_bytes: self.sent_bytes,
            send_max: self.send_max,
            resumes: self.resumes,
            turns: self.turns,
            turns_in_flight: self.turns_in_flight,
            pauses: self.pauses,
            pauses_prompted: self.pauses_prompted,
            bursts: self.bursts,
            burst_peak_sum: bursts * self.burst_peak,
            burst_peak_sq: bursts * squared,
            turn_flight_sum: bursts * self.at_prompt,
            ..CallCounts::default()
        }
    }
}

#[test]
fn every_case_gets_its_cause_or_unknown() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let mut told = 0;
    let mut judged = 0;
    let mut wrong = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let text = std::fs::read_to_string(&path).unwrap();
        let case: Case = toml::from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
        let context = Context {
            tcp_wmem_max: case.host.tcp_wmem_max,
            ..Context::default()
        };
        let verdict = classify(&case.interval.interval(tcp(&name, case.tcp)), &context);
        let is_accepted = case.accept.contains(&verdict.limit);
        if !is_accepted && verdict.limit != Limit::Unknown && verdict.confidence >= CLAIM {
            wrong.push(format!(
                "{name}: {} ({:.2}) instead of {:?}: {}",
                verdict.limit.name(),
                verdict.confidence,
                case.accept,
                verdict.proof
            ));
        }
        told += usize::from(is_accepted);
        judged += 1;
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(judged >= 50 && told * 2 >= judged, "{told} told of {judged}");
}

/// The fields of the socket, each of which must be one that there is.
fn tcp(name: &str, fields: toml::Table) -> Tcp {
    let known = serde_json::to_value(Tcp::default()).unwrap();
    for field in fields.keys() {
        assert!(known.get(field).is_some(), "{name}: there is no field {field}");
    }
    fields
        .try_into()
        .unwrap_or_else(|error| panic!("{name}: {error}"))
}
