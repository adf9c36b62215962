//! The sock_diag source against `ss`, the system's own reader of the same kernel. Needs root, no BPF.

use tcpwin_agent::source::sock_diag::SockDiag;

#[path = "support/comparison.rs"]
mod comparison;
#[path = "support/connections.rs"]
mod connections;
#[path = "support/loss.rs"]
mod loss;
#[path = "sock_diag_vs_ss/namespaces.rs"]
mod namespaces;
#[path = "support/netns.rs"]
mod netns;
#[path = "support/ss.rs"]
mod ss;
#[path = "support/told.rs"]
mod told;

#[test]
fn sock_diag_equals_ss() {
    if let Some(reason) = netns::not_root() {
        println!("skipped: {reason}");
        return;
    }
    comparison::against_ss(|| Box::new(SockDiag::new().expect("sock_diag opens")));
}
