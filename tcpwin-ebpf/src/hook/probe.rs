//! ACKs, data and cwnd changes: `tp_btf/tcp_probe(sk, skb)`, each inbound segment in ESTABLISHED, before tcp_ack.

use aya_ebpf::{macros::btf_tracepoint, programs::BtfTracePointContext};
use tcpwin_common::{BUDGET_APP, BUDGET_IDLE, BUDGET_PACING, BUDGET_SNDBUF};

use crate::{
    account::{self, before},
    slot,
    socket::{Segment, Socket},
};

#[btf_tracepoint(function = "tcp_probe")]
fn probe(ctx: BtfTracePointContext) -> i32 {
    let sk: *const u8 = ctx.arg(0);
    let skb: *const u8 = ctx.arg(1);
    let Some((slot, is_watched)) = slot::find_with_watch(sk) else {
        return 0;
    };
    let Some(socket) = Socket::from_sock(sk) else {
        return 0;
    };
    let now = slot::now();
    let sequence = socket.sequence();
    let blocked = socket.writer_blocked();

    // Up to now: what the socket shows held since the last event.
    let held = account::state(socket, sequence, blocked);
    let outstanding = sequence.snd_nxt.wrapping_sub(sequence.snd_una);
    let span = account::credit(slot, held, outstanding, now);
    if sequence.write_seq != sequence.snd_nxt {
        if socket.snd_wnd() < socket.mss() {
            slot.counters.zero_window_ns += span;
        }
        if held == BUDGET_APP && socket.obeys_nagle() {
            slot.counters.nagle_ns += span;
        } else if held == BUDGET_PACING && socket.is_throttled() {
            slot.counters.throttled_ns += span;
        }
    }

    if is_watched {
        slot::sample(slot, socket);
    }

    // From now: what this segment will change.
    let segment = Segment::from_skb(skb);
    let mut acked = 0;
    if before(sequence.snd_una, segment.ack_seq) && !before(sequence.snd_nxt, segment.ack_seq) {
        acked = segment.ack_seq.wrapping_sub(sequence.snd_una);
        if acked > slot.counters.ack_max {
            slot.counters.ack_max = acked;
        }
    }
    slot.counters.bytes_acked = socket.bytes_acked() + u64::from(acked);
    slot.outstanding = outstanding.wrapping_sub(acked);
    slot.budget_state = if slot.outstanding == 0 && sequence.write_seq == sequence.snd_nxt {
        BUDGET_IDLE
    } else if held == BUDGET_SNDBUF && !blocked {
        BUDGET_APP
    } else {
        held
    } as u32;
    let rcv_nxt = socket.rcv_nxt();
    let mut received = socket.bytes_received();
    if before(rcv_nxt, segment.end_seq) {
        slot.last_data_ns = now;
        slot.counters.data_segments += 1;
        slot.counters.unread_sum += u64::from(socket.unread(rcv_nxt));
        if !before(rcv_nxt, segment.seq) {
            received += u64::from(segment.end_seq.wrapping_sub(rcv_nxt));
        }
    }
    slot.counters.bytes_received = received;
    slot.counters.segments_in += 1;
    // The copy is older than what this segment will change: dated before the event, it is not taken for final.
    account::copy_gauges(slot, socket, now - 1);
    0
}
