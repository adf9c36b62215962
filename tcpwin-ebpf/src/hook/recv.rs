//! Receives by the program: `tp_btf/sock_recv_length(sk, ret, flags)`; where it is absent, `tp_btf/tcp_rcv_space_adjust(sk)`,
//! which does not tell what the call gave.

use aya_ebpf::{macros::btf_tracepoint, programs::BtfTracePointContext};
use tcpwin_common::Slot;

use crate::{slot, socket::Socket};

const MSG_PEEK: i32 = 2;

#[btf_tracepoint(function = "sock_recv_length")]
fn recv_length(ctx: BtfTracePointContext) -> i32 {
    let ret: i32 = ctx.arg(1);
    let flags: i32 = ctx.arg(2);
    if ret <= 0 || flags & MSG_PEEK != 0 {
        return 0;
    }
    let sk: *const u8 = ctx.arg(0);
    let Some(slot) = slot::find(sk) else { return 0 };
    let Some(socket) = Socket::from_sock(sk) else {
        return 0;
    };
    slot.counters.recvs += 1;
    slot.counters.recv_bytes += ret as u64;
    has_read(slot, socket);
    0
}

#[btf_tracepoint(function = "tcp_rcv_space_adjust")]
fn rcv_space_adjust(ctx: BtfTracePointContext) -> i32 {
    let sk: *const u8 = ctx.arg(0);
    let Some(slot) = slot::find(sk) else { return 0 };
    let Some(socket) = Socket::from_sock(sk) else {
        return 0;
    };
    has_read(slot, socket);
    0
}

/// After `tcp_probe`'s guess, the truth of what came in: holes in the sequence are closed by now. Never less than the guess,
/// which may be of a segment that another CPU is about to take in.
#[inline(always)]
fn has_read(slot: &mut Slot, socket: Socket) {
    if slot.identity.pid == 0 {
        slot::set_owner(slot);
    }
    let received = socket.bytes_received();
    if received > slot.counters.bytes_received {
        slot.counters.bytes_received = received;
    }
    // What is unread, and the window that the call will open, are no longer what the last copy says.
    if slot.gauges_ns >= slot.last_ns {
        slot.gauges_ns = slot.last_ns - 1;
    }
}
