//! All sockets of a network namespace: `iter/tcp`. Gives a slot to those that were there before the probes, and brings the
//! copies of those that went quiet up to date.

use tcpwin_common::{BUDGET_IDLE, ORIGIN_SEEDED};

use crate::{account, slot, socket::Socket};

const TCP_ESTABLISHED: u8 = 1;
const TCP_SYN_SENT: u8 = 2;
const TCP_TIME_WAIT: u8 = 6;
const TCP_CLOSE: u8 = 7;
const TCP_LISTEN: u8 = 10;
const TCP_NEW_SYN_RECV: u8 = 12;

/// `struct bpf_iter__tcp { struct bpf_iter_meta *meta; struct sock_common *sk_common; uid_t uid; }`, each in eight bytes.
#[unsafe(no_mangle)]
#[unsafe(link_section = "iter/tcp")]
fn seed(ctx: *const *const u8) -> i32 {
    // SAFETY: the context of the iterator, checked by the verifier.
    let sk = unsafe { *ctx.add(1) };
    // TIME_WAIT and request sockets are no full sockets: `from_sock` gives none.
    let Some(socket) = Socket::from_sock(sk) else {
        return 0;
    };
    let state = socket.state();
    if let Some(slot) = slot::peek(sk) {
        // `tcp_probe` is told of ESTABLISHED alone: what a half-closed socket still sends goes on unseen.
        let unseen = state != TCP_ESTABLISHED && slot.budget_state != BUDGET_IDLE as u32;
        if slot.last_ns > slot.gauges_ns || unseen {
            let now = slot::now();
            account::credit(slot, slot.budget_state as usize, slot.outstanding, now);
            account::refresh(slot, socket, now);
        }
        return 0;
    }
    if matches!(
        state,
        TCP_TIME_WAIT | TCP_CLOSE | TCP_LISTEN | TCP_NEW_SYN_RECV | TCP_SYN_SENT
    ) {
        return 0;
    }
    let now = slot::now();
    let _ = slot::take(sk, socket, ORIGIN_SEEDED, state, now);
    0
}
