//! Ways to receive: each gives the calls that gave bytes, and the bytes.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use rustix::net::{RecvFlags, recv};

use super::case;
use super::connections::Connection;

/// Peeks take nothing.
pub fn while_open(connection: &Connection) -> (u64, u64) {
    let Connection { client, server, .. } = connection;
    (&mut &*client).write_all(&[1; 5000]).expect("connected");
    let mut buffer = [0; 8000];
    let peek = recv(server, &mut buffer[..100], RecvFlags::PEEK | RecvFlags::WAITALL);
    assert_eq!(peek.expect("data").1, 100);
    let taken = recv(server, &mut buffer[..1500], RecvFlags::WAITALL).expect("data");
    assert_eq!(taken.1, 1500);
    let peek = recv(server, &mut buffer[..3500], RecvFlags::PEEK | RecvFlags::WAITALL);
    assert_eq!(peek.expect("data").1, 3500);
    let taken = recv(server, &mut buffer[..1000], RecvFlags::TRUNC | RecvFlags::WAITALL).expect("data");
    // RecvFlags::TRUNC discards, tcp(7): the bytes are off the queue.
    assert_eq!(taken.1, 1000);
    (&mut &*server).read_exact(&mut buffer[..2500]).expect("data");
    let nothing = recv(server, &mut buffer, RecvFlags::DONTWAIT);
    assert_eq!(nothing.expect_err("nothing is left"), rustix::io::Errno::AGAIN);
    (3, 5000)
}

/// What had come before the peer's reset can still be read.
pub fn after_a_reset(connection: Connection) -> (u64, u64) {
    let Connection {
        mut client,
        mut server,
        ..
    } = connection;
    client.write_all(&[2; 3000]).expect("connected");
    reset(client, &server);
    let mut buffer = [0; 3000];
    server
        .read_exact(&mut buffer)
        .expect("what came before the reset");
    server.read(&mut buffer).expect_err("the connection was reset");
    (1, 3000)
}

/// Closes `by` with a reset, and waits until `of` has it.
pub fn reset(by: TcpStream, of: &TcpStream) {
    rustix::net::sockopt::set_socket_linger(&by, Some(std::time::Duration::ZERO)).expect("SO_LINGER");
    drop(by);
    case::wait_for(of, rustix::event::PollFlags::ERR);
}
