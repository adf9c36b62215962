//! Slots and ring records → observations and updates. Total on any bytes.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use tcpwin_common::{
    BUDGET_STATES, Event, FLAG_CWND_LIMITED, FLAG_NOSPACE, FLAG_RATE_APP_LIMITED, FLAG_SYN_DATA,
    FLAG_SYN_DATA_ACKED, FLAG_SYN_FASTOPEN, Identity, ORIGIN_ACCEPT, ORIGIN_CONNECT, RECORD_CWND_FALL,
    RECORD_RESET, RECORD_RETRANSMIT, RECORD_SAMPLE, RETRANSMIT_FAST, RETRANSMIT_RTO, RETRANSMIT_SYN_ACK,
    RETRANSMIT_TLP, Slot, USERLOCK_RCVBUF, USERLOCK_SNDBUF,
};

use crate::observation::{
    BudgetTotals, CallCounts, Endpoints, FastOpen, Key, Observation, Origin, OwnerHint, Retransmits, Sample,
    Tcp, TcpState, Totals,
};
use crate::source::{RetransmitKind, Update};
use crate::units::Instant;

const AF_INET6: u8 = 10;
/// `TCP_INFINITE_SSTHRESH`.
const INFINITE_SSTHRESH: u32 = 0x7fff_ffff;

/// Bits of `tcp_sock.nonagle` (include/net/tcp.h).
const NAGLE_OFF: u8 = 1;
const NAGLE_CORK: u8 = 2;

/// A whole slot from a ring record.
pub(super) fn slot(bytes: &[u8]) -> Option<Slot> {
    let bytes = bytes.get(..size_of::<Slot>())?;
    // SAFETY: long enough, and integers only: any bytes are a value.
    Some(unsafe { bytes.as_ptr().cast::<Slot>().read_unaligned() })
}

/// An event from a ring record.
pub(super) fn event(bytes: &[u8]) -> Option<Event> {
    let bytes = bytes.get(..size_of::<Event>())?;
    // SAFETY: long enough, and integers only: any bytes are a value.
    Some(unsafe { bytes.as_ptr().cast::<Event>().read_unaligned() })
}

/// A sample from a ring record; `None` for a record of another kind.
pub(super) fn sample(bytes: &[u8]) -> Option<(Key, Sample)> {
    let bytes = bytes.get(..size_of::<tcpwin_common::Sample>())?;
    // SAFETY: long enough, and integers only: any bytes are a value.
    let sample = unsafe { bytes.as_ptr().cast::<tcpwin_common::Sample>().read_unaligned() };
    let key = Key {
        cookie: sample.cookie,
        netns: sample.netns,
    };
    (sample.record == RECORD_SAMPLE).then_some((
        key,
        Sample {
            at_ns: sample.at_ns,
            cwnd: sample.cwnd,
            ssthresh: (sample.ssthresh < INFINITE_SSTHRESH).then_some(sample.ssthresh),
            in_flight_bytes: sample.outstanding,
            unsent_bytes: sample.unsent,
            snd_wnd_bytes: sample.snd_wnd,
            srtt_us: sample.srtt_us,
            bytes_acked: sample.bytes_acked,
            retransmits_total: sample.total_retrans,
        },
    ))
}

/// What a single event tells; `None` for a kind of no known meaning.
pub(super) fn update(event: &Event) -> Option<Update> {
    let key = Key {
        cookie: event.cookie,
        netns: event.netns,
    };
    let at = Instant(event.at_ns);
    Some(match event.record {
        RECORD_RETRANSMIT => Update::Retransmit {
            key,
            at,
            kind: match event.a {
                RETRANSMIT_FAST => RetransmitKind::Fast,
                RETRANSMIT_RTO => RetransmitKind::Rto,
                RETRANSMIT_TLP => RetransmitKind::Tlp,
                RETRANSMIT_SYN_ACK => RetransmitKind::SynAck,
                _ => return None,
            },
            segments: event.b,
        },
        RECORD_CWND_FALL => Update::CwndFall {
            key,
            at,
            cwnd: event.b,
            ssthresh: event.c,
            by_timeout: event.a == 4,
        },
        RECORD_RESET => Update::Reset {
            key,
            at,
            sent: event.a == 1,
        },
        _ => return None,
    })
}

fn address(bytes: &[u8; 16], family: u8) -> IpAddr {
    if family == AF_INET6 {
        Ipv6Addr::from(*bytes).to_canonical()
    } else {
        IpAddr::V4(Ipv4Addr::new(bytes[0], bytes[1], bytes[2], bytes[3]))
    }
}

/// Text up to the first NUL.
fn text(bytes: &[u8]) -> Option<Box<str>> {
    let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    (end > 0).then(|| String::from_utf8_lossy(&bytes[..end]).into())
}

fn owner(identity: &Identity) -> OwnerHint {
    OwnerHint {
        pid: (identity.pid != 0).then_some(identity.pid),
        name: text(&identity.comm),
        cgroup_id: (identity.cgroup != 0).then_some(identity.cgroup),
        inode: None,
    }
}

/// The budget with the open interval counted to the state that holds.
fn budget(slot: &Slot, now: Instant) -> BudgetTotals {
    let mut totals = BudgetTotals {
        ns: slot.budget.ns,
        flight: slot.budget.flight,
    };
    let state = slot.budget_state as usize;
    let open = now.0.saturating_sub(slot.last_ns);
    if state < BUDGET_STATES {
        totals.ns[state] = totals.ns[state].saturating_add(open);
        totals.flight[state] =
            totals.flight[state].saturating_add(u64::from(slot.outstanding) * (open >> 10));
    }
    totals
}

fn fastopen(flags: u16) -> Option<FastOpen> {
    if flags & FLAG_SYN_DATA_ACKED != 0 {
        Some(FastOpen::DataAccepted)
    } else if flags & FLAG_SYN_DATA != 0 {
        Some(FastOpen::DataRefused)
    } else if flags & FLAG_SYN_FASTOPEN != 0 {
        Some(FastOpen::CookieRequested)
    } else {
        None
    }
}

fn tcp(slot: &Slot) -> Tcp {
    let (gauges, identity) = (&slot.gauges, &slot.identity);
    let flag = |bit: u16| Some(gauges.flags & bit != 0);
    let packets = gauges
        .packets_out
        .saturating_sub(gauges.sacked_out.saturating_add(gauges.lost_out))
        .saturating_add(gauges.retrans_out);
    let in_flight = u64::from(packets) * u64::from(gauges.mss);
    let delivery_rate = (gauges.rate_interval_us > 0 && gauges.rate_delivered > 0).then(|| {
        let bytes = u128::from(gauges.rate_delivered) * u128::from(gauges.mss);
        u64::try_from(bytes * 1_000_000 / u128::from(gauges.rate_interval_us)).unwrap_or(u64::MAX)
    });
    Tcp {
        srtt_us: (gauges.srtt_us > 0).then_some(gauges.srtt_us),
        rttvar_us: (gauges.srtt_us > 0).then_some(gauges.rttvar_us),
        min_rtt_us: (gauges.min_rtt_us != u32::MAX && gauges.min_rtt_us > 0).then_some(gauges.min_rtt_us),
        cwnd: Some(gauges.cwnd),
        ssthresh: (gauges.ssthresh < INFINITE_SSTHRESH).then_some(gauges.ssthresh),
        cwnd_clamp: (gauges.cwnd_clamp != u32::MAX && gauges.cwnd_clamp > 0).then_some(gauges.cwnd_clamp),
        mss: (gauges.mss > 0).then_some(gauges.mss),
        snd_wnd: Some(gauges.snd_wnd),
        max_window: Some(gauges.max_window),
        rcv_wnd: Some(gauges.rcv_wnd),
        snd_wscale: (gauges.wscale_ok != 0).then_some(gauges.snd_wscale),
        rcv_wscale: (gauges.wscale_ok != 0).then_some(gauges.rcv_wscale),
        wscale_ok: Some(gauges.wscale_ok != 0),
        sndbuf: Some(gauges.sndbuf),
        rcvbuf: Some(gauges.rcvbuf),
        sndbuf_locked: Some(gauges.userlocks & USERLOCK_SNDBUF != 0),
        rcvbuf_locked: Some(gauges.userlocks & USERLOCK_RCVBUF != 0),
        wmem_queued: Some(gauges.wmem_queued),
        unsent: Some(gauges.unsent),
        unread: Some(gauges.unread),
        rcv_rtt_us: (gauges.rcv_rtt_us > 0).then_some(gauges.rcv_rtt_us),
        wmem_alloc: Some(gauges.wmem_alloc),
        nagle: Some(gauges.nonagle & (NAGLE_OFF | NAGLE_CORK) == 0),
        in_flight: Some(in_flight.min(u64::from(gauges.outstanding)) as u32),
        packets_out: Some(gauges.packets_out),
        lost: Some(gauges.lost_out),
        sacked: Some(gauges.sacked_out),
        retrans_out: Some(gauges.retrans_out),
        pacing_rate: (gauges.pacing_rate != u64::MAX && gauges.pacing_rate > 0).then_some(gauges.pacing_rate),
        max_pacing_rate: (gauges.max_pacing_rate != u64::MAX).then_some(gauges.max_pacing_rate),
        paced: Some(gauges.pacing_status != 0),
        delivery_rate,
        app_limited: flag(FLAG_RATE_APP_LIMITED),
        cwnd_limited: flag(FLAG_CWND_LIMITED),
        writer_blocked: flag(FLAG_NOSPACE),
        ca_state: Some(gauges.ca_state),
        timeouts: Some(gauges.retransmits),
        backoff: Some(gauges.backoff),
        probes: Some(gauges.probes_out),
        congestion: text(&identity.ca_name),
        fastopen: fastopen(gauges.flags),
        handshake_us: (slot.handshake_us > 0).then_some(slot.handshake_us),
    }
}

/// A slot as an observation; `None` if its state is none of TCP's.
///
/// What happened since `now` was asked for is in it: then it is as of the last event.
pub(super) fn observation(slot: &Slot, now: Instant) -> Option<Observation> {
    let now = now.max(Instant(slot.last_ns));
    let identity = &slot.identity;
    let counters = &slot.counters;
    Some(Observation {
        key: Key {
            cookie: slot.cookie,
            netns: identity.netns,
        },
        at: now,
        since: Instant(slot.opened_ns),
        origin: match identity.origin {
            ORIGIN_CONNECT => Origin::Connect,
            ORIGIN_ACCEPT => Origin::Accept,
            _ => Origin::Seeded,
        },
        endpoints: Endpoints {
            local: SocketAddr::new(address(&identity.local, identity.family), identity.local_port),
            peer: SocketAddr::new(address(&identity.peer, identity.family), identity.peer_port),
        },
        state: TcpState::from_kernel(identity.state)?,
        owner: owner(identity),
        // A socket that has yet to connect has no figures.
        tcp: if slot.gauges_ns == 0 {
            Tcp::default()
        } else {
            tcp(slot)
        },
        totals: Totals {
            bytes_acked: Some(counters.bytes_acked),
            bytes_received: Some(counters.bytes_received),
            retransmits: Some(slot.gauges.total_retrans),
            retransmits_by_kind: Some(Retransmits {
                fast: counters.retrans_fast,
                rto: counters.retrans_rto,
                tlp: counters.retrans_tlp,
            }),
            delivered: Some(slot.gauges.delivered),
            segments_in: Some(counters.segments_in),
            cwnd_falls: Some(counters.cwnd_falls),
            fall_cwnd: Some((
                counters.falls_counted,
                counters.fall_cwnd_sum,
                counters.fall_cwnd_sq,
            )),
            zero_window_ns: Some(counters.zero_window_ns),
            nagle_ns: Some(counters.nagle_ns),
            throttled_ns: Some(counters.throttled_ns),
            unread: Some((counters.data_segments, counters.unread_sum)),
            ack_max: Some(counters.ack_max),
            chrono_us: None,
        },
        budget: Some(budget(slot, now)),
        calls: Some(CallCounts {
            sends: counters.sends,
            sent_bytes: counters.sent_bytes,
            send_max: counters.send_max,
            send_refused: counters.send_refused,
            send_failed: counters.send_failed,
            recvs: counters.recvs,
            recv_bytes: counters.recv_bytes,
            resumes: counters.resumes,
            turns: counters.turns,
            turns_in_flight: counters.turns_in_flight,
            unblocks: counters.unblocks,
            pauses: counters.pauses,
            pauses_prompted: counters.pauses_prompted,
            bursts: counters.bursts,
            burst_peak_sum: counters.burst_peak_sum,
            burst_peak_sq: counters.burst_peak_sq,
            turn_flight_sum: counters.turn_flight_sum,
        }),
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn any_bytes_decode_without_panic(bytes in proptest::collection::vec(any::<u8>(), 0..600), now in any::<u64>()) {
            if let Some(slot) = slot(&bytes) {
                let _ = observation(&slot, Instant(now));
            }
            if let Some(event) = event(&bytes) {
                let _ = update(&event);
            }
            let _ = sample(&bytes);
        }
    }

    #[test]
    fn the_open_interval_counts_to_the_state_that_holds() {
        let mut slot = Slot::EMPTY;
        slot.last_ns = 1_000;
        slot.budget_state = 3;
        slot.budget.ns = [1, 2, 3, 4, 5, 6];
        let totals = budget(&slot, Instant(11_000));
        assert_eq!(totals.ns, [1, 2, 3, 10_004, 5, 6]);
        assert_eq!(budget(&slot, Instant(5)).ns, [1, 2, 3, 4, 5, 6]);
    }

    #[test]
    fn a_sample_is_told_from_other_records() {
        let told = tcpwin_common::Sample {
            record: RECORD_SAMPLE,
            cookie: 7,
            netns: 9,
            cwnd: 10,
            ssthresh: INFINITE_SSTHRESH,
            ..tcpwin_common::Sample::default()
        };
        // SAFETY: repr(C), integers only, without padding.
        let bytes = |told: &tcpwin_common::Sample| unsafe {
            std::slice::from_raw_parts(std::ptr::from_ref(told).cast::<u8>(), size_of_val(told)).to_vec()
        };
        let (key, decoded) = sample(&bytes(&told)).unwrap();
        assert_eq!(key, Key { cookie: 7, netns: 9 });
        assert_eq!((decoded.cwnd, decoded.ssthresh), (10, None));
        assert_eq!(sample(&bytes(&told)[1..]), None, "cut short");
        let other = tcpwin_common::Sample {
            record: RECORD_RESET,
            ..told
        };
        assert_eq!(sample(&bytes(&other)), None);
    }

    #[test]
    fn an_observation_is_no_older_than_its_last_event() {
        let mut slot = Slot::EMPTY;
        slot.identity.state = 1;
        slot.opened_ns = 1_000;
        slot.last_ns = 9_000;
        slot.budget.ns = [8_000, 0, 0, 0, 0, 0];
        for (now, at) in [(5_000, 9_000), (9_500, 9_500)] {
            let seen = observation(&slot, Instant(now)).unwrap();
            assert_eq!(seen.at, Instant(at));
            let sum: u64 = seen.budget.unwrap().ns.iter().sum();
            assert_eq!(sum, seen.at.since(seen.since).0);
        }
    }

    #[test]
    fn v4_mapped_is_printed_as_ipv4() {
        let mapped = Ipv4Addr::new(203, 0, 113, 7).to_ipv6_mapped().octets();
        assert_eq!(
            address(&mapped, AF_INET6),
            IpAddr::V4(Ipv4Addr::new(203, 0, 113, 7))
        );
    }
}
