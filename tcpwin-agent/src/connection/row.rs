//! Entries of the table as exits show them.

use crate::classify::group::{self, Member};
use crate::classify::{self, Limit};
use crate::connection::entry::Entry;
use crate::observation::Observation;
use crate::snapshot::{
    Budget, Calls, Ceiling, Connection, Finding, Prevailing, Process, TcpFields, TraceEvent, Whose, cost,
};
use crate::source::RetransmitKind;
use crate::units::Instant;

fn tcp(observation: &Observation) -> TcpFields {
    let of = TcpFields::of(&observation.tcp, &observation.totals);
    TcpFields {
        state: Some(observation.state),
        ..of
    }
}

/// Ids told of a finding.
const IDS: usize = 5;

pub(super) fn finding(finding: group::Finding, members: &[Member<'_>]) -> Finding {
    let gain = finding.gain();
    let ids = finding.connections.iter().take(IDS);
    Finding {
        kind: finding.kind,
        bound: finding.limit.bound(),
        limit: finding.limit,
        netns: finding.netns,
        peer: finding.peer.map(|prefix| prefix.to_string()),
        connections: finding.connections.len() as u64,
        ids: ids.map(|at| members[*at].flow.key.cookie.to_string()).collect(),
        rate_bps: finding.rate.bits(),
        gain,
        process: finding.process,
        proof: finding.proof,
        remedies: finding.remedies,
    }
}

/// Name of the process.
pub(super) fn process_name(entry: &Entry) -> Option<&str> {
    let known = entry.owner.as_ref().and_then(|owner| owner.process.as_ref());
    known
        .map(|process| process.name.as_str())
        .or(entry.last.owner.name.as_deref())
}

fn process(entry: &Entry) -> Option<Process> {
    entry
        .owner
        .as_ref()
        .and_then(|owner| owner.process.clone())
        .or_else(|| {
            let hint = &entry.last.owner;
            Some(Process {
                pid: hint.pid?,
                name: hint.name.as_deref()?.to_owned(),
            })
        })
}

/// From this factor on a gain is one; a rate is not known better.
const WORTH: f64 = 1.05;

fn ceiling(ceiling: &classify::Ceiling) -> Ceiling {
    Ceiling {
        limit: ceiling.limit,
        rate_bps: ceiling.rate.bits(),
        formula: ceiling.formula.clone(),
    }
}

pub(super) fn connection(entry: &Entry, now: Instant) -> Connection {
    let last = &entry.last;
    let verdict = &entry.verdict;
    let rate = entry.rate();
    let gain = verdict
        .next
        .as_ref()
        .filter(|_| rate.0 > 0.0)
        .map(|next| next.rate.0 / rate.0);
    Connection {
        id: last.key.cookie.to_string(),
        netns: last.key.netns,
        local: last.endpoints.local.to_string(),
        peer: last.endpoints.peer.to_string(),
        direction: verdict.direction,
        process: process(entry),
        cgroup: entry.owner.as_ref().and_then(|owner| owner.cgroup.clone()),
        origin: last.origin,
        age_us: now.since(last.since).0 / 1000,
        bound: verdict.limit.bound(),
        limit: verdict.limit,
        side: verdict.side,
        confidence: verdict.confidence,
        prevailing: Some(Prevailing {
            bound: entry.prevailing.limit.bound(),
            limit: entry.prevailing.limit,
            since_us: now.since(entry.prevailing.since).0 / 1000,
        }),
        rate_bps: rate.bits(),
        send_bps: entry.send.bits(),
        receive_bps: entry.receive.bits(),
        ceiling_bps: verdict.ceiling.as_ref().map(|ceiling| ceiling.rate.bits()),
        ceiling_formula: verdict.ceiling.as_ref().map(|ceiling| ceiling.formula.clone()),
        next: verdict.next.as_ref().map(ceiling),
        gain: gain.filter(|gain| *gain > WORTH),
        nothing_to_gain: gain.is_some_and(|gain| gain <= WORTH),
        ledger: verdict.ledger.iter().map(ceiling).collect(),
        inconsistent: verdict.inconsistent.clone(),
        budget: entry.budget.map(|budget| {
            let [idle, app, sndbuf, rwnd, cwnd, pacing] = budget.share;
            Budget {
                idle,
                app,
                sndbuf,
                rwnd,
                cwnd,
                pacing,
            }
        }),
        causes: entry.causes.shown(),
        proof: verdict.proof.clone(),
        remedies: verdict.remedies(),
        tcp: tcp(last),
        calls: last.calls.map(|calls| Calls {
            sends: calls.sends,
            sent_bytes: calls.sent_bytes,
            send_refused: calls.send_refused,
            send_failed: calls.send_failed,
            recvs: calls.recvs,
            recv_bytes: calls.recv_bytes,
            turns: calls.turns,
        }),
    }
}

/// Those of the socket's fields that move.
fn moving(observation: &Observation) -> TcpFields {
    let all = tcp(observation);
    TcpFields {
        srtt_us: all.srtt_us,
        min_rtt_us: all.min_rtt_us,
        cwnd: all.cwnd,
        ssthresh: all.ssthresh,
        mss: all.mss,
        snd_wnd_bytes: all.snd_wnd_bytes,
        in_flight_bytes: all.in_flight_bytes,
        unsent_bytes: all.unsent_bytes,
        bytes_acked: all.bytes_acked,
        bytes_received: all.bytes_received,
        delivered: all.delivered,
        retransmits_total: all.retransmits_total,
        congestion: all.congestion,
        ..TcpFields::default()
    }
}

fn whose(entry: &Entry) -> Whose {
    let last = &entry.last;
    Whose {
        id: last.key.cookie.to_string(),
        netns: last.key.netns,
        local: last.endpoints.local.to_string(),
        peer: last.endpoints.peer.to_string(),
        process: process(entry),
        cgroup: entry.owner.as_ref().and_then(|owner| owner.cgroup.clone()),
        limit: Some(entry.prevailing.limit),
        rate_bps: Some(entry.rate().bits()),
        tcp: moving(last),
    }
}

pub(super) fn open(entry: &Entry) -> TraceEvent {
    TraceEvent::Open {
        ts_ns: entry.last.since.0,
        // It has had no interval yet.
        whose: Whose {
            limit: None,
            rate_bps: None,
            ..whose(entry)
        },
        origin: entry.last.origin,
    }
}

pub(super) fn close(entry: &Entry) -> TraceEvent {
    let at = entry.last.at;
    let duration_us = at.since(entry.last.since).0 / 1000;
    let connection = Box::new(connection(entry, at));
    TraceEvent::Close {
        ts_ns: at.0,
        duration_us,
        cost: cost(&connection.causes, duration_us),
        connection,
    }
}

pub(super) fn retransmit(entry: &Entry, at: Instant, kind: RetransmitKind, segments: u32) -> TraceEvent {
    TraceEvent::Retransmit {
        ts_ns: at.0,
        whose: whose(entry),
        kind,
        segments,
    }
}

pub(super) fn cwnd_fall(
    entry: &Entry,
    at: Instant,
    cwnd: u32,
    ssthresh: u32,
    by_timeout: bool,
) -> TraceEvent {
    TraceEvent::Cwnd {
        ts_ns: at.0,
        whose: whose(entry),
        cwnd,
        ssthresh,
        by_timeout,
    }
}

pub(super) fn reset(entry: &Entry, at: Instant, sent: bool) -> TraceEvent {
    TraceEvent::Reset {
        ts_ns: at.0,
        whose: whose(entry),
        sent,
    }
}

pub(super) fn verdict(entry: &Entry, at: Instant, from: Limit) -> TraceEvent {
    TraceEvent::Verdict {
        ts_ns: at.0,
        whose: whose(entry),
        from,
        to: entry.verdict.limit,
        proof: entry.verdict.proof.clone(),
    }
}
