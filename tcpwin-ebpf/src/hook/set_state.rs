//! Open and close: `tp_btf/inet_sock_set_state(sk, oldstate, newstate)`.

use aya_ebpf::{EbpfContext as _, macros::btf_tracepoint, programs::BtfTracePointContext};
use aya_log_ebpf::warn;
use tcpwin_common::{FLAG_NOSPACE, Loss, ORIGIN_ACCEPT, ORIGIN_CONNECT};

use crate::{account, map::lost, slot, socket::Socket};

const TCP_ESTABLISHED: i32 = 1;
const TCP_SYN_SENT: i32 = 2;
const TCP_CLOSE: i32 = 7;
const TCP_LISTEN: i32 = 10;

#[btf_tracepoint(function = "inet_sock_set_state")]
fn set_state(ctx: BtfTracePointContext) -> i32 {
    let sk: *const u8 = ctx.arg(0);
    let old: i32 = ctx.arg(1);
    let new: i32 = ctx.arg(2);
    if new == TCP_LISTEN || old == TCP_LISTEN || !Socket::is_tcp(sk) {
        return 0;
    }
    let Some(socket) = Socket::from_sock(sk) else {
        return 0;
    };
    match new {
        TCP_SYN_SENT => {
            let now = slot::now();
            if let Some(stale) = slot::find(sk) {
                slot::release(sk, stale);
            }
            match slot::take(sk, socket, ORIGIN_CONNECT, new as u8, now) {
                Some(slot) => slot::set_owner(slot),
                None => log_no_slot(&ctx),
            }
        }
        TCP_ESTABLISHED => {
            let now = slot::now();
            match slot::find(sk) {
                // Opened by connect: ports and source address are known only now.
                Some(slot) if slot.cookie == socket.cookie(sk) => {
                    slot.identity.state = new as u8;
                    socket.copy_identity(&mut slot.identity);
                    account::refresh(slot, socket, now);
                    slot::announce(slot, now);
                }
                found => {
                    // The kernel reuses a `struct sock` at once, and skips a program that interrupts itself: a close missed so
                    // is noticed here.
                    if let Some(stale) = found {
                        slot::release(sk, stale);
                    }
                    match slot::take(sk, socket, ORIGIN_ACCEPT, new as u8, now) {
                        Some(slot) => slot::announce(slot, now),
                        None => log_no_slot(&ctx),
                    }
                }
            }
        }
        TCP_CLOSE => {
            let Some(slot) = slot::find(sk) else { return 0 };
            let now = slot::now();
            account::credit(slot, slot.budget_state as usize, slot.outstanding, now);
            // Orphaned by now: who was blocked, and on what, is history.
            let flags = slot.gauges.flags & FLAG_NOSPACE;
            socket.copy_identity(&mut slot.identity);
            account::refresh(slot, socket, now);
            slot.gauges.flags |= flags;
            slot::release(sk, slot);
        }
        _ => {
            if let Some(slot) = slot::find(sk) {
                slot.identity.state = new as u8;
            }
        }
    }
    0
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
