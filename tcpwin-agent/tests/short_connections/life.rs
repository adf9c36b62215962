//! Connections that carry a request and an answer and end, each in one of four ways.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::Duration;

use rustix::net::sockopt::set_socket_linger;
use tcpwin_agent::observation::{Endpoints, Origin};

use super::connections::{Family, cookie};

/// How the connection ended, for one end of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// It closed first.
    First,
    /// It closed when the peer had.
    Second,
    /// It reset the connection.
    Resets,
    /// The peer did.
    IsReset,
}

/// One end of a connection that is over.
#[derive(Debug)]
pub struct Lived {
    pub cookie: u64,
    pub endpoints: Endpoints,
    pub origin: Origin,
    /// Name of the thread that held it.
    pub thread: &'static str,
    pub sent: u64,
    pub received: u64,
    pub end: End,
}

/// What becomes of a connection once the answer was read: for the client and for the server.
const ENDS: [(End, End); 4] = [
    (End::First, End::Second),
    (End::Second, End::First),
    (End::Resets, End::IsReset),
    (End::IsReset, End::Resets),
];

const CLIENT: &str = "short-client";
const SERVER: &str = "short-server";

/// Both ends of `count` connections, one after the other.
pub fn live(family: Family, count: usize) -> Vec<Lived> {
    let (listener, server) = family.listen();
    let (tell, told) = channel();
    thread::scope(|scope| {
        let start = |name: &str| thread::Builder::new().name(name.to_owned());
        let accepting = start(SERVER).spawn_scoped(scope, move || serve(&listener, &told, count));
        let connecting = start(CLIENT).spawn_scoped(scope, move || connect(server, &tell, count));
        [connecting, accepting]
            .into_iter()
            .flat_map(|thread| thread.expect("a thread").join().expect("it ends well"))
            .collect()
    })
}

fn request(index: usize) -> usize {
    1 + index * 7 % 5000
}

fn answer(index: usize) -> usize {
    1 + index * 131 % 60_000
}

fn connect(server: SocketAddr, read: &Sender<()>, count: usize) -> Vec<Lived> {
    (0..count)
        .map(|index| {
            let mut socket = TcpStream::connect(server).expect("loopback connects");
            let (request, answer) = (request(index), answer(index));
            let (end, _) = ENDS[index % ENDS.len()];
            let lived = begun(&socket, Origin::Connect, CLIENT, [request, answer], end);
            socket.write_all(&vec![1; request]).expect("the server reads");
            socket
                .read_exact(&mut vec![0; answer])
                .expect("the server answers");
            read.send(()).expect("the server waits");
            finish(socket, end);
            lived
        })
        .collect()
}

fn serve(listener: &TcpListener, was_read: &Receiver<()>, count: usize) -> Vec<Lived> {
    (0..count)
        .map(|index| {
            let (mut socket, _) = listener.accept().expect("loopback accepts");
            let (request, answer) = (request(index), answer(index));
            let (_, end) = ENDS[index % ENDS.len()];
            let lived = begun(&socket, Origin::Accept, SERVER, [answer, request], end);
            socket.read_exact(&mut vec![0; request]).expect("the client asks");
            socket.write_all(&vec![2; answer]).expect("the client reads");
            was_read.recv().expect("the client tells");
            finish(socket, end);
            lived
        })
        .collect()
}

fn begun(
    socket: &TcpStream,
    origin: Origin,
    thread: &'static str,
    [sent, received]: [usize; 2],
    end: End,
) -> Lived {
    let canonical = |address: SocketAddr| SocketAddr::new(address.ip().to_canonical(), address.port());
    Lived {
        cookie: cookie(socket),
        endpoints: Endpoints {
            local: canonical(socket.local_addr().expect("bound")),
            peer: canonical(socket.peer_addr().expect("connected")),
        },
        origin,
        thread,
        sent: sent as u64,
        received: received as u64,
        end,
    }
}

fn finish(mut socket: TcpStream, end: End) {
    match end {
        End::First => {}
        End::Second => assert_eq!(socket.read(&mut [0]).expect("the peer closes"), 0),
        End::Resets => set_socket_linger(&socket, Some(Duration::ZERO)).expect("SO_LINGER"),
        End::IsReset => {
            socket.read(&mut [0]).expect_err("the peer resets");
        }
    }
}
