//! Connections over the loopback of the calling thread's namespace.
#![allow(dead_code, reason = "each test uses a part of it")]

use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::os::fd::AsFd;

use rustix::net::sockopt;

use super::loss;

/// How the two ends name each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    V4,
    V6,
    /// Both ends are IPv6 sockets that speak IPv4.
    V4Mapped,
}

impl Family {
    pub const ALL: [Self; 3] = [Self::V4, Self::V6, Self::V4Mapped];

    /// A listener on a free port, and where clients find it.
    pub fn listen(self) -> (TcpListener, SocketAddr) {
        let any: IpAddr = match self {
            Self::V4 => Ipv4Addr::LOCALHOST.into(),
            Self::V6 => Ipv6Addr::LOCALHOST.into(),
            Self::V4Mapped => Ipv6Addr::UNSPECIFIED.into(),
        };
        let listener = TcpListener::bind(SocketAddr::new(any, 0)).expect("a free port");
        let server = self.server(listener.local_addr().expect("bound").port());
        (listener, server)
    }

    fn server(self, port: u16) -> SocketAddr {
        let address: IpAddr = match self {
            Self::V4 => Ipv4Addr::LOCALHOST.into(),
            Self::V6 => Ipv6Addr::LOCALHOST.into(),
            Self::V4Mapped => Ipv4Addr::LOCALHOST.to_ipv6_mapped().into(),
        };
        SocketAddr::new(address, port)
    }
}

/// A connection with both its ends, and what each end sent.
pub struct Connection {
    pub client: TcpStream,
    pub server: TcpStream,
    pub client_sent: u64,
    pub server_sent: u64,
}

impl Connection {
    pub fn ends(&self) -> [&TcpStream; 2] {
        [&self.client, &self.server]
    }

    /// Sends both ways, and reads all of it.
    pub fn exchange(&mut self, request: usize, answer: usize) {
        carry(&mut self.client, &mut self.server, request);
        self.client_sent += request as u64;
        carry(&mut self.server, &mut self.client, answer);
        self.server_sent += answer as u64;
    }

    /// Sends to the server, which loses one segment in four before TCP sees it.
    pub fn exchange_with_loss(&mut self, request: usize) {
        loss::begin(&self.server);
        let Self { client, server, .. } = self;
        std::thread::scope(|scope| {
            scope.spawn(|| client.write_all(&vec![5; request]).expect("the peer reads"));
            server.read_exact(&mut vec![0; request]).expect("the peer writes");
        });
        loss::end(&self.server);
        self.client_sent += request as u64;
    }

    /// The client sends no more.
    pub fn half_close(&self) {
        self.client.shutdown(Shutdown::Write).expect("connected");
    }

    /// Writes until the buffers of both ends are full: the peer's window falls to zero.
    pub fn stuff(&mut self) {
        self.client.set_nonblocking(true).expect("set");
        let block = [7; 16 << 10];
        while let Ok(taken) = self.client.write(&block) {
            self.client_sent += taken as u64;
        }
    }
}

/// `count` connections; every fifth has its buffers set by hand.
pub fn open(family: Family, count: usize) -> Vec<Connection> {
    let (listener, server) = family.listen();
    (0..count)
        .map(|index| {
            let client = TcpStream::connect(server).expect("loopback connects");
            let (server, _) = listener.accept().expect("loopback accepts");
            if index % 5 == 4 {
                sockopt::set_socket_send_buffer_size(&client, 50_000 + index).expect("SO_SNDBUF");
                sockopt::set_socket_recv_buffer_size(&server, 70_000 + index).expect("SO_RCVBUF");
            }
            Connection {
                client,
                server,
                client_sent: 0,
                server_sent: 0,
            }
        })
        .collect()
}

/// Connections that carry a few bytes both ways and end at once: cookie, bytes sent and received of each end.
pub fn open_and_close(family: Family, count: usize) -> Vec<(u64, u64, u64)> {
    let (listener, server) = family.listen();
    let mut ends = Vec::with_capacity(2 * count);
    for index in 0..count {
        let client = TcpStream::connect(server).expect("loopback connects");
        let (server, _) = listener.accept().expect("loopback accepts");
        let mut connection = Connection {
            client,
            server,
            client_sent: 0,
            server_sent: 0,
        };
        connection.exchange(100 + index, 1 + 7 * index);
        let [client, server] = connection.ends().map(cookie);
        ends.push((client, connection.client_sent, connection.server_sent));
        ends.push((server, connection.server_sent, connection.client_sent));
    }
    ends
}

/// The socket's cookie (SO_COOKIE).
pub fn cookie(socket: impl AsFd) -> u64 {
    sockopt::socket_cookie(socket).expect("SO_COOKIE")
}

fn carry(from: &mut TcpStream, to: &mut TcpStream, bytes: usize) {
    const PIECE: usize = 16 << 10;
    let mut buffer = [9; PIECE];
    let mut left = bytes;
    while left > 0 {
        let piece = left.min(PIECE);
        from.write_all(&buffer[..piece]).expect("the peer reads");
        to.read_exact(&mut buffer[..piece]).expect("the peer wrote");
        left -= piece;
    }
}
