//! The time budget: which state holds, and how long it held.
//!
//! `tcp_probe` fires before an ACK is applied, so what it sees held until now; a send ends the state left behind by the last
//! event. Time since the last event is thus added at the next one, and the agent adds the open interval when it reads.

use tcpwin_common::{
    BUDGET_APP, BUDGET_CWND, BUDGET_IDLE, BUDGET_PACING, BUDGET_RWND, BUDGET_SNDBUF, BUDGET_STATES, Slot,
};

use crate::{
    global::gauges_every_ns,
    socket::{Sequence, Socket},
};

/// `a` is before `b` in sequence space.
#[inline(always)]
pub fn before(a: u32, b: u32) -> bool {
    (a.wrapping_sub(b) as i32) < 0
}

/// The state that holds for a socket as it is now.
#[inline(always)]
pub fn state(socket: Socket, sequence: Sequence, blocked: bool) -> usize {
    let outstanding = sequence.snd_nxt.wrapping_sub(sequence.snd_una);
    let unsent = sequence.write_seq.wrapping_sub(sequence.snd_nxt) as i32;
    if unsent <= 0 {
        return if outstanding == 0 {
            BUDGET_IDLE
        } else if blocked {
            BUDGET_SNDBUF
        } else {
            BUDGET_APP
        };
    }
    let mss = socket.mss();
    // Room in the peer's window, never less than nothing: a peer may shrink it.
    let room = sequence
        .snd_una
        .wrapping_add(socket.snd_wnd())
        .wrapping_sub(sequence.snd_nxt) as i32;
    let least = if (unsent as u32) < mss { unsent } else { mss as i32 };
    if room < least {
        return BUDGET_RWND;
    }
    if socket.packets_in_flight() >= socket.cwnd() {
        return BUDGET_CWND;
    }
    if (unsent as u32) < mss {
        // Less than a segment waits for the ACK (Nagle, RFC 9293 section 3.7.4) or for the next write.
        return if blocked { BUDGET_SNDBUF } else { BUDGET_APP };
    }
    if socket.is_paced() || socket.is_throttled() {
        return BUDGET_PACING;
    }
    // A segment waits with room for it, and not below TCP: TSO defers for a larger one (tcp_tso_should_defer), under the window it nears.
    if socket.is_cwnd_limited() {
        return BUDGET_CWND;
    }
    if (room as u32) < socket.snd_wnd() / 3 {
        return BUDGET_RWND;
    }
    if blocked { BUDGET_SNDBUF } else { BUDGET_PACING }
}

/// Adds the time since the last event to `state`, with what was outstanding meanwhile; gives that time.
#[inline(always)]
pub fn credit(slot: &mut Slot, state: usize, outstanding: u32, now: u64) -> u64 {
    let last = slot.last_ns;
    if now <= last {
        return 0;
    }
    let held = now - last;
    slot.last_ns = now;
    // A constant bound for the verifier.
    let state = if state < BUDGET_STATES { state } else { BUDGET_IDLE };
    slot.budget.ns[state] += held;
    slot.budget.flight[state] += u64::from(outstanding) * (held >> 10);
    held
}

/// Copies the gauges if the last copy is old enough.
#[inline(always)]
pub fn copy_gauges(slot: &mut Slot, socket: Socket, now: u64) {
    if now.wrapping_sub(slot.gauges_ns) >= gauges_every_ns() {
        copy_gauges_now(slot, socket, now);
    }
}

/// Copies the gauges. Out of line: the code of an event is fetched anew each time, and few events come here.
#[inline(never)]
pub fn copy_gauges_now(slot: &mut Slot, socket: Socket, now: u64) {
    slot.gauges_ns = now;
    socket.copy_gauges(&mut slot.gauges, socket.sequence(), socket.writer_blocked());
    socket.copy_ca_name(&mut slot.identity, &mut slot.gauges.ca_ops);
}

/// Brings everything that is a copy up to now: at seeding, at close, and when the agent asks for a quiet socket's last figures.
#[inline(never)]
pub fn refresh(slot: &mut Slot, socket: Socket, now: u64) {
    let sequence = socket.sequence();
    let blocked = socket.writer_blocked();
    slot.counters.bytes_acked = socket.bytes_acked();
    slot.counters.bytes_received = socket.bytes_received();
    slot.gauges.total_retrans = socket.total_retrans();
    copy_gauges_now(slot, socket, now);
    slot.budget_state = state(socket, sequence, blocked) as u32;
    slot.outstanding = sequence.snd_nxt.wrapping_sub(sequence.snd_una);
}
