//! The end of a socket that outlived its connection: `tp_btf/tcp_destroy_sock(sk)`.
//!
//! A reset ends the connection while the program still holds the socket, reads what has come and may write: those calls
//! belong to the connection's totals, so its slot stays until the program lets go.

use aya_ebpf::{macros::btf_tracepoint, programs::BtfTracePointContext};

use crate::slot;

#[btf_tracepoint(function = "tcp_destroy_sock")]
fn destroy_sock(ctx: BtfTracePointContext) -> i32 {
    let sk: *const u8 = ctx.arg(0);
    if let Some(slot) = slot::find(sk) {
        slot::release(sk, slot);
    }
    0
}
