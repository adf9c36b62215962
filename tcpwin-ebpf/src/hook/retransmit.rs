//! Retransmits with their kind: `tp_btf/tcp_retransmit_skb(sk, skb)` and `tp_btf/tcp_retransmit_synack(sk, req)`.

use aya_ebpf::{macros::btf_tracepoint, programs::BtfTracePointContext};
use tcpwin_common::{
    Event, HostCount, RECORD_CWND_FALL, RECORD_RETRANSMIT, RETRANSMIT_FAST, RETRANSMIT_RTO,
    RETRANSMIT_SYN_ACK, RETRANSMIT_TLP, Slot, WANT_CWND_FALL, WANT_RETRANSMIT,
};

use crate::{
    account,
    global::have_cong_state_set,
    map::{count_host, wanted},
    slot,
    socket::Socket,
};

const TCP_SYN_SENT: u8 = 2;
const TCP_CA_RECOVERY: u8 = 3;
const TCP_CA_LOSS: u8 = 4;
/// Falls that the overshoot of slow start may cost, and that say nothing of the path.
const FALLS_AFTER_START: u32 = 3;
/// `ICSK_TIME_LOSS_PROBE`.
const PENDING_LOSS_PROBE: u8 = 5;

#[btf_tracepoint(function = "tcp_retransmit_skb")]
fn retransmit_skb(ctx: BtfTracePointContext) -> i32 {
    let sk: *const u8 = ctx.arg(0);
    let Some(slot) = slot::find(sk) else { return 0 };
    let Some(socket) = Socket::from_sock(sk) else {
        return 0;
    };
    let now = slot::now();
    account::credit(slot, slot.budget_state as usize, slot.outstanding, now);

    let total = socket.total_retrans();
    let segments = total.wrapping_sub(slot.gauges.total_retrans);
    slot.gauges.total_retrans = total;
    let ca_state = socket.ca_state();
    let kind = if socket.state() == TCP_SYN_SENT {
        slot.counters.retrans_syn += segments;
        count_host(HostCount::SynRetransmits);
        RETRANSMIT_SYN_ACK
    } else if ca_state == TCP_CA_LOSS {
        slot.counters.retrans_rto += segments;
        RETRANSMIT_RTO
    } else if ca_state <= 1 && socket.pending() == PENDING_LOSS_PROBE {
        slot.counters.retrans_tlp += segments;
        RETRANSMIT_TLP
    } else if ca_state <= 1 && socket.retransmits() > 0 {
        slot.counters.retrans_rto += segments;
        RETRANSMIT_RTO
    } else {
        slot.counters.retrans_fast += segments;
        RETRANSMIT_FAST
    };
    // None: an attempt that failed (the segment is still in the host's queue), which newer kernels trace too.
    if segments > 0 && wanted(WANT_RETRANSMIT) {
        slot::send(&Event {
            record: RECORD_RETRANSMIT,
            at_ns: now,
            a: kind,
            b: segments,
            ..slot::event_of(slot)
        });
    }
    if have_cong_state_set() == 0 && ca_state >= TCP_CA_RECOVERY && slot.gauges.ca_state < TCP_CA_RECOVERY {
        fall(slot, socket, ca_state, now);
    }

    let sequence = socket.sequence();
    let blocked = socket.writer_blocked();
    slot.budget_state = account::state(socket, sequence, blocked) as u32;
    slot.outstanding = sequence.snd_nxt.wrapping_sub(sequence.snd_una);
    // Retransmits are rare and each one changes what limits the connection.
    account::copy_gauges_now(slot, socket, now);
    0
}

#[btf_tracepoint(function = "tcp_retransmit_synack")]
fn retransmit_synack(_ctx: BtfTracePointContext) -> i32 {
    count_host(HostCount::SynRetransmits);
    0
}

/// The connection enters recovery or loss.
#[inline(always)]
pub fn fall(slot: &mut Slot, socket: Socket, ca_state: u8, now: u64) {
    let cwnd = u64::from(socket.cwnd());
    slot.counters.cwnd_falls += 1;
    if slot.counters.cwnd_falls > FALLS_AFTER_START {
        slot.counters.falls_counted += 1;
        slot.counters.fall_cwnd_sum += cwnd;
        slot.counters.fall_cwnd_sq += cwnd * cwnd;
    }
    slot.gauges.ca_state = ca_state;
    if wanted(WANT_CWND_FALL) {
        slot::send(&Event {
            record: RECORD_CWND_FALL,
            at_ns: now,
            a: u32::from(ca_state),
            b: socket.cwnd(),
            c: socket.ssthresh(),
            ..slot::event_of(slot)
        });
    }
}
