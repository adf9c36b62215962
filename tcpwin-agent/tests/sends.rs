//! Every way a program has to send and to receive, against what the probes count of it.
//!
//! What is expected follows from the kernel: a call of the socket's `sendmsg` or `recvmsg` is a call, whatever system call
//! made it. Needs root and BPF.

use tcpwin_agent::observation::{CallCounts, Key};
use tcpwin_agent::source::ebpf::{EbpfSource, LoadOptions};
use tcpwin_agent::source::{Source, netns as namespaces};

#[path = "sends/case.rs"]
mod case;
#[path = "support/connections.rs"]
mod connections;
#[path = "support/loss.rs"]
mod loss;
#[path = "support/netns.rs"]
mod netns;
#[path = "sends/receive.rs"]
mod receive;
#[path = "support/told.rs"]
mod told;

use case::Sent;
use connections::Family;
use told::Told;

/// The probes in this process.
struct Watch {
    source: EbpfSource,
    told: Told,
    netns: u32,
}

impl Watch {
    /// `None` where the test cannot run.
    fn begin() -> Option<Self> {
        if let Some(reason) = netns::not_root() {
            println!("skipped: {reason}");
            return None;
        }
        let options = LoadOptions { slots: 16_384 };
        Some(Self {
            source: EbpfSource::open(&options).expect("the probes attach"),
            told: Told::default(),
            netns: namespaces::own().expect("/proc"),
        })
    }

    /// If one splice is one `sendmsg` (MSG_SPLICE_PAGES, Linux 6.5), not one `sendpage` a page.
    fn splices_at_once(&self) -> bool {
        let hooks = self.source.hooks();
        hooks
            .iter()
            .any(|hook| hook.hook == "sock_send_length" && hook.missing.is_none())
    }

    fn key(&self, socket: &std::net::TcpStream) -> Key {
        Key {
            cookie: connections::cookie(socket),
            netns: self.netns,
        }
    }

    fn calls(&mut self, key: Key) -> CallCounts {
        self.told.poll(&mut self.source);
        self.told.last[&key].calls.expect("the probes count calls")
    }

    fn calls_at_the_end(&mut self, key: Key) -> CallCounts {
        self.told.until_closed(&mut self.source, &[key]);
        let [end] = &self.told.closed[&key][..] else {
            panic!("{key:?} closes once");
        };
        end.calls.expect("the probes count calls")
    }
}

#[test]
fn every_send_is_counted_right() {
    let Some(mut watch) = Watch::begin() else { return };
    let at_once = watch.splices_at_once();
    for (name, run) in case::ALL {
        let connection = connections::open(Family::V4, 1).remove(0);
        let key = watch.key(&connection.client);
        let (expected, kept) = run(connection, at_once);
        println!("{name}: {expected:?}");
        assert_eq!(sent(&watch.calls(key)), expected, "{name}, while open");
        drop(kept);
        assert_eq!(sent(&watch.calls_at_the_end(key)), expected, "{name}, at the end");
    }
}

#[test]
fn every_receive_is_counted_right() {
    let Some(mut watch) = Watch::begin() else { return };
    let connection = connections::open(Family::V6, 1).remove(0);
    let key = watch.key(&connection.server);
    let mut expected = receive::while_open(&connection);
    let counts = watch.calls(key);
    assert_eq!((counts.recvs, counts.recv_bytes), expected);

    let (calls, bytes) = receive::after_a_reset(connection);
    expected = (expected.0 + calls, expected.1 + bytes);
    let counts = watch.calls_at_the_end(key);
    assert_eq!((counts.recvs, counts.recv_bytes), expected);
}

fn sent(counts: &CallCounts) -> Sent {
    Sent {
        calls: counts.sends,
        bytes: counts.sent_bytes,
        largest: counts.send_max,
        refused: counts.send_refused,
        failed: counts.send_failed,
    }
}
