//! cwnd falls: `tp_btf/tcp_cong_state_set(sk, ca_state)`, called before `icsk_ca_state` changes. Kernels that lack it (5.10)
//! tell a fall by the first retransmit in recovery.

use aya_ebpf::{macros::btf_tracepoint, programs::BtfTracePointContext};

use crate::{hook::retransmit::fall, slot, socket::Socket};

const TCP_CA_RECOVERY: u8 = 3;

#[btf_tracepoint(function = "tcp_cong_state_set")]
fn cong_state_set(ctx: BtfTracePointContext) -> i32 {
    let sk: *const u8 = ctx.arg(0);
    let ca_state: u32 = ctx.arg(1);
    let ca_state = ca_state as u8;
    if ca_state < TCP_CA_RECOVERY {
        return 0;
    }
    let Some(slot) = slot::find(sk) else { return 0 };
    let Some(socket) = Socket::from_sock(sk) else {
        return 0;
    };
    if socket.ca_state() != ca_state {
        fall(slot, socket, ca_state, slot::now());
    }
    0
}
