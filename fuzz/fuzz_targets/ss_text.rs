//! Any text as pasted output of `ss`: nothing panics, what was read and is written again reads as the same, and everything can be
//! explained in figures that are finite.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tcpwin_agent::explain;
use tcpwin_agent::source::ss_text::{Reading, Socket, parse, render};

fuzz_target!(|text: &str| {
    let reading = parse(text);
    let written = render(&reading);
    let again = parse(&written);
    assert_eq!(sockets(&again), sockets(&reading), "{written}");
    assert!(!again.repaired && again.text.is_empty(), "{written}");

    let report = explain::explain(&reading.observed());
    for socket in &report.sockets {
        assert!((0.0..=1.0).contains(&socket.confidence), "{socket:?}");
        let rates = [socket.rate_bps, socket.ceiling_bps, socket.interval_s];
        let rates = rates.into_iter().flatten();
        let ledger = socket.ledger.iter().map(|ceiling| ceiling.rate_bps);
        for rate in rates.chain(ledger) {
            assert!(rate.is_finite() && rate >= 0.0, "{socket:?}");
        }
    }
    explain::write(&report, &mut std::io::sink()).expect("a sink takes everything");
    serde_json::to_writer(std::io::sink(), &report).expect("a sink takes everything");
});

/// Without where they stood, and without those of which nothing was said.
fn sockets(reading: &Reading) -> Vec<Socket> {
    let bare = reading.sockets.iter().map(|socket| Socket {
        line: 0,
        at: None,
        ..socket.clone()
    });
    bare.filter(|socket| *socket != Socket::default()).collect()
}
