//! Receives by the program: `tp_btf/sock_recv_length(sk, ret, flags)` and `tp_btf/tcp_rcv_space_adjust(sk)`.

use aya_ebpf::{macros::btf_tracepoint, programs::BtfTracePointContext};

use crate::{slot, socket::Socket};

const MSG_PEEK: i32 = 2;

#[btf_tracepoint(function = "sock_recv_length")]
fn recv_length(ctx: BtfTracePointContext) -> i32 {
    let ret: i32 = ctx.arg(1);
    let flags: i32 = ctx.arg(2);
    if ret <= 0 || flags & MSG_PEEK != 0 {
        return 0;
    }
    let Some(slot) = slot::find(ctx.arg(0)) else {
        return 0;
    };
    if slot.identity.pid == 0 {
        slot::set_owner(slot);
    }
    slot.counters.recvs += 1;
    slot.counters.recv_bytes += ret as u64;
    0
}

/// The program has read: after `tcp_probe`'s guess, the truth of what came in (holes in the sequence are closed by now).
#[btf_tracepoint(function = "tcp_rcv_space_adjust")]
fn rcv_space_adjust(ctx: BtfTracePointContext) -> i32 {
    let sk: *const u8 = ctx.arg(0);
    let Some(slot) = slot::find(sk) else { return 0 };
    let Some(socket) = Socket::from_sock(sk) else {
        return 0;
    };
    if slot.identity.pid == 0 {
        slot::set_owner(slot);
    }
    slot.counters.bytes_received = socket.bytes_received();
    // What is unread, and the window that the call will open, are no longer what the last copy says.
    if slot.gauges_ns >= slot.last_ns {
        slot.gauges_ns = slot.last_ns - 1;
    }
    0
}
