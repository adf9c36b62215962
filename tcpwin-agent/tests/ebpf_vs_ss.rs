//! The probes against `ss`, the system's own reader of the same kernel. Needs root and BPF.

use tcpwin_agent::source::ebpf::{EbpfSource, LoadOptions};

#[path = "support/comparison.rs"]
mod comparison;
#[path = "support/connections.rs"]
mod connections;
#[path = "support/loss.rs"]
mod loss;
#[path = "support/netns.rs"]
mod netns;
#[path = "support/ss.rs"]
mod ss;
#[path = "support/told.rs"]
mod told;

#[test]
fn ebpf_equals_ss() {
    if let Some(reason) = netns::not_root() {
        println!("skipped: {reason}");
        return;
    }
    comparison::against_ss(|| {
        let options = LoadOptions { slots: 16_384 };
        Box::new(EbpfSource::open(&options).expect("the probes attach"))
    });
}
