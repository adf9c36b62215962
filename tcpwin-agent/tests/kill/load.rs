//! Busy connections in a namespace of their own, whose counters are thus those of the load alone.

use std::collections::BTreeMap;
use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, JoinHandle};

use tcpwin_agent::source::kernel_clock;

use super::connections::{self, Family};
use super::netns::Namespace;
use super::told::within_patience;

/// Bytes of one turn of one connection.
const TURN: usize = 2000;

/// Rounds that may be on their way.
const AHEAD: u64 = 4;

/// The load while it goes on.
pub struct Load {
    stop: Arc<AtomicBool>,
    rounds: Arc<AtomicU64>,
    writer: JoinHandle<Vec<TcpStream>>,
    reader: JoinHandle<(Vec<TcpStream>, u64)>,
    before: Counters,
}

/// What the load was, and what the kernel counted of it.
pub struct Traffic {
    pub bytes: u64,
    pub counters: Counters,
}

/// Of `/proc/net/snmp` and `/proc/net/netstat`, by name.
pub type Counters = BTreeMap<String, i64>;

impl Load {
    pub fn begin(place: &Namespace, count: usize) -> Self {
        // What is sent again is then what was lost: no timer runs out and no order is made up for while the host is busy.
        place.inside(|| {
            for (setting, value) in [
                ("tcp_early_retrans", "0"),
                ("tcp_recovery", "0"),
                ("tcp_reordering", "300"),
                ("tcp_max_reordering", "300"),
            ] {
                fs::write(format!("/proc/sys/net/ipv4/{setting}"), value).expect(setting);
            }
            let route = "route replace local 127.0.0.1 dev lo table local rto_min 30s";
            let done = Command::new("ip").args(route.split(' ')).status();
            assert!(done.expect("iproute2's `ip` runs").success());
        });
        let before = counters(place);
        let (writers, readers) = place
            .inside(|| connections::open(Family::V4, count))
            .into_iter()
            .map(|connection| (connection.client, connection.server))
            .unzip();
        let stop = Arc::new(AtomicBool::new(false));
        let rounds = Arc::new(AtomicU64::new(0));
        let writer = {
            let (stop, rounds) = (Arc::clone(&stop), Arc::clone(&rounds));
            thread::spawn(move || write(writers, &stop, &rounds))
        };
        let reader = {
            let rounds = Arc::clone(&rounds);
            thread::spawn(move || read(readers, &rounds))
        };
        Self {
            stop,
            rounds,
            writer,
            reader,
            before,
        }
    }

    /// Turns that every connection has had, whole and right.
    pub fn rounds(&self) -> u64 {
        self.rounds.load(Ordering::Relaxed)
    }

    pub fn until(&self, rounds: u64) {
        let since = kernel_clock();
        while self.rounds() < rounds {
            within_patience(since, || "the connections stand still".to_owned());
        }
    }

    /// Ends the load; every byte has arrived.
    pub fn end(self, place: &Namespace) -> Traffic {
        self.stop.store(true, Ordering::Relaxed);
        let writers = self.writer.join().expect("no write fails");
        for writer in &writers {
            writer.shutdown(std::net::Shutdown::Write).expect("connected");
        }
        let (_readers, bytes) = self.reader.join().expect("every byte arrives, in order");
        let since = kernel_clock();
        loop {
            let mut now = counters(place);
            for (name, count) in &mut now {
                *count -= self.before.get(name).copied().unwrap_or(0);
            }
            // The last acknowledgement is on its way.
            let sent = now["Tcp.OutSegs"] + now["Tcp.RetransSegs"];
            if now["Tcp.InSegs"] == sent {
                return Traffic { bytes, counters: now };
            }
            within_patience(since, || format!("segments are missing: {now:?}"));
        }
    }
}

impl Traffic {
    /// The counters tell of so many connections, all their bytes, and nothing else.
    pub fn consistent(&self, connections: usize) {
        let expected = [
            ("Tcp.ActiveOpens", connections as i64),
            ("Tcp.PassiveOpens", connections as i64),
            ("Tcp.AttemptFails", 0),
            ("Tcp.EstabResets", 0),
            ("Tcp.RetransSegs", 0),
            ("Tcp.InErrs", 0),
            ("Tcp.OutRsts", 0),
            ("TcpExt.TCPTimeouts", 0),
            ("TcpExt.TCPLostRetransmit", 0),
            ("TcpExt.ListenDrops", 0),
            ("TcpExt.TCPBacklogDrop", 0),
            ("TcpExt.TCPRcvQDrop", 0),
            ("TcpExt.RcvPruned", 0),
            ("TcpExt.TCPAbortOnData", 0),
            ("TcpExt.TCPMemoryPressures", 0),
        ];
        for (name, count) in expected {
            // One that the kernel lacks cannot grow.
            assert_eq!(self.counters.get(name).copied().unwrap_or(0), count, "{name}");
        }
    }
}

fn write(mut sockets: Vec<TcpStream>, stop: &AtomicBool, read: &AtomicU64) -> Vec<TcpStream> {
    let mut round = 0;
    while !stop.load(Ordering::Relaxed) {
        // A reader far behind makes the kernel drop what it has no memory for (TcpExt.RcvPruned).
        if round > read.load(Ordering::Relaxed) + AHEAD {
            thread::yield_now();
            continue;
        }
        for (index, socket) in sockets.iter_mut().enumerate() {
            socket.write_all(&turn(round, index)).expect("connected");
        }
        round += 1;
    }
    sockets
}

fn read(mut sockets: Vec<TcpStream>, rounds: &AtomicU64) -> (Vec<TcpStream>, u64) {
    let mut buffer = [0; TURN];
    for round in 0.. {
        for index in 0..sockets.len() {
            match sockets[index].read_exact(&mut buffer) {
                Ok(()) => assert_eq!(buffer, turn(round, index), "what was sent arrives"),
                // The writer ends between two rounds.
                Err(error) => {
                    assert_eq!((error.kind(), index), (std::io::ErrorKind::UnexpectedEof, 0));
                    let bytes = round * (sockets.len() * TURN) as u64;
                    return (sockets, bytes);
                }
            }
        }
        rounds.store(round + 1, Ordering::Relaxed);
    }
    unreachable!("the writer ends");
}

/// What a connection sends in a round: no two alike.
fn turn(round: u64, index: usize) -> [u8; TURN] {
    let seed = round.wrapping_mul(251).wrapping_add(index as u64 * 7);
    std::array::from_fn(|byte| (seed + byte as u64 / 8) as u8)
}

fn counters(place: &Namespace) -> Counters {
    place.inside(|| {
        ["snmp", "netstat"]
            .into_iter()
            .flat_map(|file| {
                let text = fs::read_to_string(format!("/proc/thread-self/net/{file}")).expect("/proc");
                let lines: Vec<String> = text.lines().map(str::to_owned).collect();
                // A line of names, a line of numbers.
                lines
                    .chunks_exact(2)
                    .flat_map(|pair| {
                        let mut columns = pair[0].split(' ').zip(pair[1].split(' '));
                        let (group, _) = columns.next().expect("a group");
                        columns
                            .map(|(name, value)| {
                                let name = format!("{}.{name}", group.trim_end_matches(':'));
                                (name, value.parse().expect("a number"))
                            })
                            .collect::<Vec<_>>()
                    })
                    .collect::<Vec<_>>()
            })
            .collect()
    })
}
