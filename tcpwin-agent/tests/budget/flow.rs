//! Flows over loopback, each held by something else.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::thread;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::net::sockopt;

use super::connections::Connection;

pub const ALL: [(&str, fn(Connection)); 6] = [
    ("bulk", bulk),
    ("small send buffer", small_sndbuf),
    ("slow reader", slow_reader),
    ("turns", turns),
    ("now and then", now_and_then),
    ("loss", lossy),
];

/// The client sends, the server takes.
fn carry(connection: &Connection, bytes: usize, block: usize) {
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut client = &connection.client;
            let block = vec![3; block];
            for _ in 0..bytes / block.len() {
                client.write_all(&block).expect("the peer reads");
            }
        });
        let mut server = &connection.server;
        let mut buffer = vec![0; 256 << 10];
        let mut left = bytes / block * block;
        while left > 0 {
            let room = left.min(buffer.len());
            left -= server.read(&mut buffer[..room]).expect("the peer writes");
        }
    });
}

fn bulk(connection: Connection) {
    carry(&connection, 1 << 30, 64 << 10);
}

fn small_sndbuf(connection: Connection) {
    sockopt::set_socket_send_buffer_size(&connection.client, 16 << 10).expect("SO_SNDBUF");
    carry(&connection, 64 << 20, 8160);
}

/// Reads less than comes, and waits between two reads.
fn slow_reader(connection: Connection) {
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut client = &connection.client;
            client.write_all(&vec![3; 16 << 20]).expect("the peer reads");
        });
        let mut server = &connection.server;
        let mut buffer = vec![0; 256 << 10];
        for _ in 0..64 {
            pause(&connection.client, 10);
            server.read_exact(&mut buffer).expect("the peer writes");
        }
    });
}

fn turns(mut connection: Connection) {
    for turn in 0..5000 {
        connection.exchange(100, 1 + turn % 3000);
    }
}

fn now_and_then(mut connection: Connection) {
    for _ in 0..20 {
        connection.exchange(10_000, 0);
        pause(&connection.client, 40);
    }
}

fn lossy(mut connection: Connection) {
    connection.exchange_with_loss(4 << 20);
}

/// What the flow is made of: a time in which nothing is asked of the connection.
fn pause(idle: &TcpStream, milliseconds: i64) {
    let time = Timespec::try_from(Duration::from_millis(milliseconds as u64)).expect("short");
    let mut nothing = [PollFd::new(idle, PollFlags::PRI)];
    poll(&mut nothing, Some(&time)).expect("poll");
}
