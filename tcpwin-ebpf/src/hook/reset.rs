//! Resets: `tp_btf/tcp_send_reset(sk, skb)` and `tp_btf/tcp_receive_reset(sk)`.

use aya_ebpf::{macros::btf_tracepoint, programs::BtfTracePointContext};
use tcpwin_common::{Event, HostCount, RECORD_RESET};

use crate::{map::count_host, slot};

/// `sk` is null for a segment that belongs to no socket.
#[btf_tracepoint(function = "tcp_send_reset")]
fn send_reset(ctx: BtfTracePointContext) -> i32 {
    count_host(HostCount::ResetsSent);
    tell(ctx.arg(0), 1);
    0
}

#[btf_tracepoint(function = "tcp_receive_reset")]
fn receive_reset(ctx: BtfTracePointContext) -> i32 {
    count_host(HostCount::ResetsReceived);
    tell(ctx.arg(0), 0);
    0
}

#[inline(always)]
fn tell(sk: *const u8, sent: u32) {
    if sk.is_null() {
        return;
    }
    let Some(slot) = slot::find(sk) else { return };
    slot::send(&Event {
        record: RECORD_RESET,
        at_ns: slot::now(),
        a: sent,
        ..slot::event_of(slot)
    });
}
