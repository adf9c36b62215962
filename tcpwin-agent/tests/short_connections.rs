//! A thousand connections shorter than any interval: each is told opening and closing once, with its bytes and its owner,
//! and nothing is lost. Needs root and BPF.

use std::process;
use std::thread;

use tcpwin_agent::observation::{Key, Observation, Origin};
use tcpwin_agent::source::ebpf::{EbpfSource, LoadOptions};
use tcpwin_agent::source::{Source, kernel_clock, netns as namespaces};

#[path = "support/connections.rs"]
mod connections;
#[path = "short_connections/life.rs"]
mod life;
#[path = "support/loss.rs"]
mod loss;
#[path = "support/netns.rs"]
mod netns;
#[path = "support/told.rs"]
mod told;

use connections::Family;
use life::{End, Lived};
use told::{Told, within_patience};

/// Of each family.
const EACH: usize = 500;

#[test]
fn short_connections_are_told_whole() {
    if let Some(reason) = netns::not_root() {
        println!("skipped: {reason}");
        return;
    }
    let options = LoadOptions { slots: 16_384 };
    let mut source = EbpfSource::open(&options).expect("the probes attach");
    let netns = namespaces::own().expect("/proc");
    let mut told = Told::default();
    let lived: Vec<Lived> = thread::scope(|scope| {
        let threads = [Family::V4, Family::V6].map(|family| scope.spawn(move || life::live(family, EACH)));
        // What is told meanwhile would fill the ring for ever.
        while !threads.iter().all(thread::ScopedJoinHandle::is_finished) {
            told.poll(&mut source);
            thread::yield_now();
        }
        threads
            .into_iter()
            .flat_map(|thread| thread.join().expect("the connections live"))
            .collect()
    });
    assert_eq!(lived.len(), 2 * 2 * EACH);

    let key = |lived: &Lived| Key {
        cookie: lived.cookie,
        netns,
    };
    let keys: Vec<Key> = lived.iter().map(key).collect();
    told.until_closed(&mut source, &keys);
    for each in &lived {
        let key = key(each);
        assert_eq!(told.opened[&key], 1, "{each:?} opens once");
        let [end] = &told.closed[&key][..] else {
            panic!("{each:?} closes once: {:?}", told.closed[&key]);
        };
        same(each, end);
    }
    for loss in source.losses() {
        // Namespaces of other programs on this host come and go, which is none of the probes' losses.
        if loss.cause != "namespace_unreadable" {
            assert_eq!(loss.count, 0, "{}", loss.cause);
        }
    }
    let since = kernel_clock();
    while keys.iter().any(|key| told.last.contains_key(key)) {
        told.poll(&mut source);
        within_patience(since, || "a closed socket is shown".to_owned());
    }
    println!("{} ends of {} connections told whole", keys.len(), keys.len() / 2);
}

/// The final record of one end.
fn same(lived: &Lived, end: &Observation) {
    let what = || format!("{lived:?}: {end:?}");
    assert_eq!(end.origin, lived.origin, "{}", what());
    assert_eq!(end.endpoints, lived.endpoints, "{}", what());
    assert_eq!(end.owner.pid, Some(process::id()), "{}", what());
    assert_eq!(end.owner.name.as_deref(), Some(lived.thread), "{}", what());

    // No SYN is lost over loopback.
    let handshake = end.tcp.handshake_us.unwrap_or_else(|| panic!("{}", what()));
    assert!(
        u64::from(handshake) * 1_000 <= end.at.since(end.since).0 || lived.origin == Origin::Accept,
        "{}",
        what()
    );

    let calls = end.calls.expect("the probes count calls");
    assert_eq!(calls.sent_bytes, lived.sent, "{}", what());
    assert_eq!(calls.recv_bytes, lived.received, "{}", what());
    assert_eq!(calls.send_failed, 0, "{}", what());

    // A SYN and a FIN count as a byte each.
    let syn = u64::from(lived.origin == Origin::Connect);
    let acked = end.totals.bytes_acked.expect("every kernel tells");
    let received = end.totals.bytes_received.expect("every kernel tells");
    match lived.end {
        End::First => {
            assert_eq!(acked, lived.sent + syn + 1, "{}", what());
            // The peer's FIN comes to what is left in TIME_WAIT.
            assert!(
                (lived.received..=lived.received + 1).contains(&received),
                "{}",
                what()
            );
        }
        End::Second => {
            assert_eq!(acked, lived.sent + syn + 1, "{}", what());
            assert_eq!(received, lived.received + 1, "{}", what());
        }
        End::Resets => {
            assert_eq!(acked, lived.sent + syn, "{}", what());
            assert_eq!(received, lived.received, "{}", what());
        }
        End::IsReset => {
            // The reset overtakes an acknowledgement that waits for more (RFC 9293 section 3.8.6.3).
            assert!((syn..=lived.sent + syn).contains(&acked), "{}", what());
            assert_eq!(received, lived.received, "{}", what());
        }
    }
}
