//! Open and close: `tp_btf/inet_sock_set_state(sk, oldstate, newstate)`.

use aya_ebpf::{EbpfContext as _, macros::btf_tracepoint, programs::BtfTracePointContext};
use aya_log_ebpf::warn;
use tcpwin_common::{
    BUDGET_IDLE, FLAG_NOSPACE, FLAG_SYN_FASTOPEN, Loss, ORIGIN_ACCEPT, ORIGIN_CONNECT, Slot,
};

use crate::{account, map::lost, slot, socket::Socket};

const TCP_ESTABLISHED: i32 = 1;
const TCP_SYN_SENT: i32 = 2;
const TCP_SYN_RECV: i32 = 3;
const TCP_FIN_WAIT1: i32 = 4;
const TCP_FIN_WAIT2: i32 = 5;
const TCP_CLOSE: i32 = 7;
const TCP_LAST_ACK: i32 = 9;
const TCP_LISTEN: i32 = 10;

#[btf_tracepoint(function = "inet_sock_set_state")]
fn set_state(ctx: BtfTracePointContext) -> i32 {
    let sk: *const u8 = ctx.arg(0);
    let old: i32 = ctx.arg(1);
    let new: i32 = ctx.arg(2);
    if new == TCP_LISTEN || old == TCP_LISTEN || !Socket::is_tcp(sk) {
        return 0;
    }
    let known = slot::find(sk);
    match new {
        TCP_SYN_SENT | TCP_ESTABLISHED => {
            let Some(socket) = Socket::from_sock(sk) else {
                return 0;
            };
            let now = slot::now();
            if let Some(slot) = known {
                let state = i32::from(slot.identity.state);
                if state == TCP_SYN_SENT || state == TCP_SYN_RECV {
                    // Opened by connect: ports and source address are known only now.
                    slot.identity.state = new as u8;
                    socket.copy_identity(&mut slot.identity);
                    account::refresh(slot, socket, now);
                    slot.handshake_us = of_connect(slot, now);
                    slot::announce(slot, now);
                    return 0;
                }
                // Of an earlier socket at this address, whose end was missed: an interrupt that closed it hit this program.
                slot::release(sk, slot);
            }
            let origin = if new == TCP_SYN_SENT {
                ORIGIN_CONNECT
            } else {
                ORIGIN_ACCEPT
            };
            let Some(slot) = slot::take(sk, socket, origin, new as u8, now) else {
                log_no_slot(&ctx);
                return 0;
            };
            if new == TCP_SYN_SENT {
                slot::set_owner(slot);
            } else {
                slot.handshake_us = of_syn_ack(slot);
                slot::announce(slot, now);
            }
        }
        TCP_CLOSE => {
            let (Some(slot), Some(socket)) = (known, Socket::from_sock(sk)) else {
                return 0;
            };
            let now = slot::now();
            account::credit(slot, slot.budget_state as usize, slot.outstanding, now);
            // Orphaned by now: who was blocked, and on what, is history.
            let flags = slot.gauges.flags & FLAG_NOSPACE;
            if old == TCP_SYN_SENT {
                socket.copy_identity(&mut slot.identity);
            }
            account::refresh(slot, socket, now);
            slot.gauges.flags |= flags;
            if socket.is_orphan() {
                slot::release(sk, slot);
            } else {
                // The program may still read what has come, and write in vain.
                slot.identity.state = new as u8;
                slot.budget_state = BUDGET_IDLE as u32;
                slot.outstanding = 0;
            }
        }
        _ => {
            let Some(slot) = known else { return 0 };
            slot.identity.state = new as u8;
            // No other event tells of a shutdown.
            account::credit(slot, slot.budget_state as usize, slot.outstanding, slot::now());
            match new {
                // By a call of the program, the first one if it neither sent nor received.
                TCP_FIN_WAIT1 | TCP_LAST_ACK if slot.identity.pid == 0 => slot::set_owner(slot),
                // Our FIN is acknowledged, and so is all before it.
                TCP_FIN_WAIT2 => {
                    slot.budget_state = BUDGET_IDLE as u32;
                    slot.outstanding = 0;
                }
                _ => {}
            }
        }
    }
    0
}

/// How long a handshake of ours took, µs, SYNs sent again included. With Fast Open the first SYN may wait for the program to write
/// (`tcp_fastopen_defer_connect`), long after SYN_SENT: there only the kernel's sample tells, unless a SYN was sent again.
#[inline(always)]
fn of_connect(slot: &Slot, now: u64) -> u32 {
    if slot.gauges.flags & FLAG_SYN_FASTOPEN != 0 {
        return of_syn_ack(slot);
    }
    let micros = now.wrapping_sub(slot.opened_ns) / 1000;
    if micros > u64::from(u32::MAX) {
        u32::MAX
    } else {
        micros as u32
    }
}

/// The first round trip as the kernel has it in srtt by now (`tcp_synack_rtt_meas`, `tcp_ack`), µs. Once a SYN or SYN-ACK was sent
/// again that is of the last one alone, and no handshake. A child's count begins with its request's (`tcp_create_openreq_child`).
#[inline(always)]
fn of_syn_ack(slot: &Slot) -> u32 {
    if slot.gauges.total_retrans > 0 {
        return 0;
    }
    slot.gauges.srtt_us
}

/// One line in the agent's log for the first socket that found no slot on this CPU; the rest is in the counter.
#[inline(always)]
fn log_no_slot(ctx: &BtfTracePointContext) {
    if lost(Loss::UnknownSocket) {
        warn!(
            ctx,
            "no free slot: connections beyond --max-connections are not watched"
        );
    }
    let _ = ctx.as_ptr();
}
