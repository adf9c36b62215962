//! Ticks, and what is true of all connections together.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use super::{raw, served, snapshot};
use crate::api::LIVE_READERS;
use crate::classify::Limit;
use crate::snapshot::{Hour, Snapshot, Summary};

const SECOND_NS: u64 = 1_000_000_000;

/// A reader of ticks.
struct Stream(BufReader<TcpStream>);

impl Stream {
    fn open(address: SocketAddr) -> Self {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        stream
            .write_all(b"GET /api/v1/live HTTP/1.1\r\nHost: localhost\r\n\r\n")
            .unwrap();
        Self(BufReader::new(stream))
    }

    /// The next event's name and data.
    fn next(&mut self) -> (String, Value) {
        let mut name = String::new();
        for line in (&mut self.0).lines() {
            let line = line.unwrap();
            if let Some(said) = line.strip_prefix("event: ") {
                said.clone_into(&mut name);
            } else if let Some(data) = line.strip_prefix("data: ") {
                return (name, serde_json::from_str(data).unwrap());
            }
        }
        panic!("the stream ended");
    }
}

fn tick(number: u64) -> Arc<Snapshot> {
    Arc::new(Snapshot {
        tick: number,
        at_ns: number * SECOND_NS,
        ..snapshot(3)
    })
}

#[test]
fn all_readers_are_told_each_tick_once() {
    let mut served = served(snapshot(0));
    let address = served.address;
    let first = tick(1);
    let (mut one, mut other) = served.playing(&first, move || {
        let (mut one, mut other) = (Stream::open(address), Stream::open(address));
        for reader in [&mut one, &mut other] {
            let (name, data) = reader.next();
            assert_eq!((&*name, &data["tick"]), ("tick", &1.into()));
            assert_eq!(data["health"]["host"], "<host>");
            assert!(
                data["findings"].is_array() && data.get("connections").is_none(),
                "{data}"
            );
        }
        (one, other)
    });
    // Two ticks in between are not seen: the reader is told how many.
    let fourth = tick(4);
    served.inlet.latest.send_replace(Arc::clone(&fourth));
    let readers = served.playing(&fourth, move || {
        for reader in [&mut one, &mut other] {
            let (name, data) = reader.next();
            assert_eq!((&*name, &data["count"]), ("missed", &2.into()));
            assert_eq!(reader.next().1["tick"], 4);
        }
        (one, other)
    });
    drop(readers);
}

#[test]
fn readers_are_bounded() {
    let mut served = served(snapshot(0));
    let address = served.address;
    served.playing(&tick(1), move || {
        let mut readers: Vec<Stream> = (0..LIVE_READERS).map(|_| Stream::open(address)).collect();
        for reader in &mut readers {
            assert_eq!(reader.next().0, "tick");
        }
        let one_more = "GET /api/v1/live HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
        let answer = raw(address, one_more);
        assert!(
            answer.starts_with("HTTP/1.1 503") && answer.contains("too many readers of ticks"),
            "{answer}"
        );
    });
}

#[test]
fn counts_are_everybodys_and_ticks_are_this_hosts() {
    let mut hour = Hour::default();
    let spent = |seconds: f64| Summary {
        seconds: BTreeMap::from([(Limit::Rwnd, seconds)]),
        ..Summary::default()
    };
    hour.tick(0, &spent(0.0));
    hour.tick(10 * SECOND_NS, &spent(25.0));
    let mut served = served(Snapshot {
        hour,
        summary: spent(25.0),
        ..snapshot(0)
    });
    let none = Arc::new(snapshot(0));
    let (status, answer) = served.ask("/api/v1/overview", &none);
    let overview: Value = serde_json::from_str(&answer).unwrap();
    assert_eq!((status, &overview["tick"]), (200, &1.into()));
    assert_eq!(overview["summary"]["seconds"]["rwnd"], 25.0);
    let (status, answer) = served.ask("/api/v1/bounds", &none);
    let bounds: Value = serde_json::from_str(&answer).unwrap();
    assert_eq!(
        (status, &bounds["parts"][0]["span_us"]),
        (200, &10_000_000.into())
    );
    assert_eq!(bounds["parts"][0]["seconds"]["window"], 25.0);

    for (path, status) in [("overview", 200), ("bounds", 200), ("live", 403)] {
        let rebound = format!("GET /api/v1/{path} HTTP/1.1\r\nHost: a.name\r\nConnection: close\r\n\r\n");
        let answer = raw(served.address, &rebound);
        assert!(answer.starts_with(&format!("HTTP/1.1 {status}")), "{answer}");
    }
}
