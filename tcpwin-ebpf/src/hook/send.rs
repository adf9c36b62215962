//! Every tcp_sendmsg with its result: `tp_btf/sock_send_length(sk, ret, flags)`; where it is absent, fexit of
//! `tcp_sendmsg(sk, msg, size)` and `tcp_sendpage(sk, page, offset, size, flags)`.

use aya_ebpf::{
    macros::{btf_tracepoint, fexit},
    programs::{BtfTracePointContext, FExitContext},
};
use tcpwin_common::{BUDGET_SNDBUF, Counters, Slot};

use crate::{
    account::{self, before},
    slot,
    socket::{Sequence, Socket},
};

const EAGAIN: i32 = 11;
/// A signal came before a byte was taken: the kernel makes the same call again.
const ERESTARTSYS: i32 = 512;
const TCP_CLOSE: u8 = 7;

#[btf_tracepoint(function = "sock_send_length")]
fn send_length(ctx: BtfTracePointContext) -> i32 {
    on_send(ctx.arg(0), ctx.arg(1));
    0
}

#[fexit(function = "tcp_sendmsg")]
fn sendmsg(ctx: FExitContext) -> i32 {
    on_send(ctx.arg(0), ctx.arg(3));
    0
}

#[fexit(function = "tcp_sendpage")]
fn sendpage(ctx: FExitContext) -> i32 {
    on_send(ctx.arg(0), ctx.arg(5));
    0
}

/// After the call: `ret` bytes were taken, or it is a negative errno. Never the size asked for.
#[inline(always)]
fn on_send(sk: *const u8, ret: i32) {
    let Some((slot, is_watched)) = slot::find_with_watch(sk) else {
        return;
    };
    let Some(socket) = Socket::from_sock(sk) else {
        return;
    };
    if slot.identity.pid == 0 {
        slot::set_owner(slot);
    }
    let sequence = socket.sequence();
    let now = time_of(socket, sequence, ret);
    let was = slot.budget_state as usize;
    account::credit(slot, was, slot.outstanding, now);
    count(&mut slot.counters, ret);
    if slot.identity.state == TCP_CLOSE {
        // The connection has ended, which the program learns now: nothing is on the way, and the copies are final.
        slot.gauges_ns = now;
        return;
    }
    let blocked = socket.writer_blocked();
    if ret > 0 {
        if was == BUDGET_SNDBUF {
            slot.counters.unblocks += 1;
        }
        // Prompted by the peer's word: data came after our last send, and we answer within a fraction of a round trip.
        let written_before = sequence.write_seq.wrapping_sub(ret as u32);
        let round_trip = u64::from(slot.gauges.srtt_us) * 1000;
        let prompted =
            slot.last_data_ns > slot.last_send_ns && now.wrapping_sub(slot.last_data_ns) < round_trip / 4;
        if now.wrapping_sub(slot.last_send_ns) > round_trip / 8 {
            slot.counters.pauses += 1;
            slot.counters.pauses_prompted += u32::from(prompted);
        }
        if !before(sequence.snd_una, written_before) {
            slot.counters.resumes += 1;
            if prompted {
                slot.counters.turns += 1;
            }
        } else if prompted && !before(sequence.snd_nxt, written_before) {
            slot.counters.turns_in_flight += 1;
        }
        if prompted {
            end_burst(slot);
            // Part of what was just written may be acknowledged by now.
            if before(sequence.snd_una, written_before) {
                slot.counters.turn_flight_sum += u64::from(written_before.wrapping_sub(sequence.snd_una));
            }
        }
        let unacked = sequence.write_seq.wrapping_sub(sequence.snd_una);
        if unacked > slot.burst_peak {
            slot.burst_peak = unacked;
        }
        slot.last_send_ns = now;
        if is_watched {
            slot::sample(slot, socket);
        }
    }
    slot.budget_state = account::state(socket, sequence, blocked) as u32;
    slot.outstanding = sequence.snd_nxt.wrapping_sub(sequence.snd_una);
    account::copy_gauges(slot, socket, now);
}

/// When the call's bytes went out: if nothing waits they all did, and the kernel asked the clock then (`tcp_write_xmit`). That
/// spares asking it again, which costs as much as all else here.
#[inline(always)]
fn time_of(socket: Socket, sequence: Sequence, ret: i32) -> u64 {
    if ret > 0 && sequence.write_seq == sequence.snd_nxt {
        let sent_ns = socket.last_segment_ns();
        if sent_ns != 0 {
            return sent_ns;
        }
    }
    slot::now()
}

/// Inbound data prompts a new burst: the last one is complete.
#[inline(always)]
fn end_burst(slot: &mut Slot) {
    let peak = slot.burst_peak;
    if peak > 0 {
        let units = u64::from(peak >> 6);
        slot.counters.bursts += 1;
        slot.counters.burst_peak_sum += u64::from(peak);
        slot.counters.burst_peak_sq += units * units;
        slot.burst_peak = 0;
    }
}

#[inline(always)]
fn count(counters: &mut Counters, ret: i32) {
    if ret > 0 {
        counters.sends += 1;
        counters.sent_bytes += ret as u64;
        if ret as u32 > counters.send_max {
            counters.send_max = ret as u32;
        }
    } else if ret == -EAGAIN {
        counters.send_refused += 1;
    } else if ret < 0 && ret != -ERESTARTSYS {
        counters.send_failed += 1;
    }
}
