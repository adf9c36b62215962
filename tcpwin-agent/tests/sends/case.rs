//! Ways to send. Each gives what it did, from what the system calls answered, and the sockets that are still open.

use std::io::{ErrorKind, IoSlice, Read as _, Seek as _, Write as _};
use std::net::{Shutdown, TcpStream};
use std::os::fd::AsFd;
use std::sync::mpsc;
use std::{fs, thread};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::net::{SendAncillaryBuffer, SendFlags, send, sendmsg};
use rustix::pipe::{SpliceFlags, pipe, splice};

use tcpwin_agent::source::kernel_clock;

use super::connections::Connection;
use super::receive;
use super::told::within_patience;

/// What the probes must have counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sent {
    pub calls: u64,
    pub bytes: u64,
    pub largest: u32,
    pub refused: u32,
    pub failed: u32,
}

impl Sent {
    fn add(&mut self, bytes: usize) {
        self.calls += 1;
        self.bytes += bytes as u64;
        self.largest = self.largest.max(bytes as u32);
    }

    fn each(sizes: &[usize]) -> Self {
        let mut sent = Self::default();
        sizes.iter().for_each(|bytes| sent.add(*bytes));
        sent
    }
}

/// What was sent and what keeps the connection open; told if a splice is one call, see [`super::Watch::splices_at_once`].
type Run = fn(Connection, bool) -> (Sent, Vec<TcpStream>);

pub const ALL: [(&str, Run); 15] = [
    ("write", write),
    ("writev", writev),
    ("send", send_),
    ("sendmsg", sendmsg_),
    ("sendmmsg", sendmmsg),
    ("sendfile", sendfile),
    ("splice from a pipe", splice_),
    ("a cork, and MSG_MORE", corked),
    ("nothing at all", nothing),
    ("non-blocking, in part and refused", refused),
    ("blocked, and carried on", blocked),
    ("blocked, and interrupted", interrupted),
    ("after a shutdown of our own", after_shutdown),
    ("after the peer's reset", after_reset),
    ("in part, by the peer's reset", cut_by_reset),
];

const PAGE: usize = 4096;
/// Pages of a pipe, and of what one splice hands to a socket.
const PIPE_PAGES: usize = 16;

fn keep(connection: Connection, sent: Sent) -> (Sent, Vec<TcpStream>) {
    (sent, vec![connection.client, connection.server])
}

/// Waits until the socket is as `wanted`.
pub fn wait_for(socket: impl AsFd, wanted: PollFlags) {
    let mut fds = [PollFd::new(&socket, wanted)];
    poll(&mut fds, None).expect("poll");
    assert!(fds[0].revents().intersects(wanted), "{:?}", fds[0].revents());
}

/// Reads `bytes` at the server while `work` goes on.
fn reading(connection: &Connection, bytes: usize, work: impl FnOnce(&TcpStream)) {
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut server = &connection.server;
            let mut left = bytes;
            let mut buffer = vec![0; 64 << 10];
            while left > 0 {
                let room = left.min(buffer.len());
                left -= server.read(&mut buffer[..room]).expect("the peer writes");
            }
        });
        work(&connection.client);
    });
}

fn write(mut connection: Connection, _: bool) -> (Sent, Vec<TcpStream>) {
    for _ in 0..3 {
        connection.client.write_all(&[1; 1000]).expect("room");
    }
    keep(connection, Sent::each(&[1000; 3]))
}

fn writev(mut connection: Connection, _: bool) -> (Sent, Vec<TcpStream>) {
    let parts = [&[1; 100][..], &[2; 200], &[3; 300]].map(IoSlice::new);
    let sent = connection.client.write_vectored(&parts).expect("room");
    assert_eq!(sent, 600);
    keep(connection, Sent::each(&[600]))
}

fn send_(connection: Connection, _: bool) -> (Sent, Vec<TcpStream>) {
    let sent = send(&connection.client, &[1; 500], SendFlags::empty()).expect("room");
    assert_eq!(sent, 500);
    keep(connection, Sent::each(&[500]))
}

fn sendmsg_(connection: Connection, _: bool) -> (Sent, Vec<TcpStream>) {
    let parts = [&[1; 700][..], &[2; 77]].map(IoSlice::new);
    let sent = sendmsg(
        &connection.client,
        &parts,
        &mut SendAncillaryBuffer::default(),
        SendFlags::NOSIGNAL,
    );
    assert_eq!(sent.expect("room"), 777);
    keep(connection, Sent::each(&[777]))
}

/// One system call, five messages: five calls of the socket's `sendmsg`.
fn sendmmsg(connection: Connection, _: bool) -> (Sent, Vec<TcpStream>) {
    let sizes = [10, 20, 30, 40, 50];
    let buffer = [4u8; 50];
    let parts = sizes.map(|bytes| [IoSlice::new(&buffer[..bytes])]);
    let mut ancillary: [SendAncillaryBuffer<'_, '_, '_>; 5] =
        std::array::from_fn(|_| SendAncillaryBuffer::default());
    let mut messages: Vec<_> = parts
        .iter()
        .zip(&mut ancillary)
        .map(|(parts, ancillary)| rustix::net::MMsgHdr::new(parts, ancillary))
        .collect();
    let sent = rustix::net::sendmmsg(&connection.client, &mut messages, SendFlags::empty());
    assert_eq!(sent.expect("room"), 5);
    drop(messages);
    keep(connection, Sent::each(&sizes))
}

/// The kernel fills a pipe of its own from the file and splices it into the socket, pipe by pipe.
fn sendfile(connection: Connection, at_once: bool) -> (Sent, Vec<TcpStream>) {
    let pages = 10 * PIPE_PAGES;
    let mut file = tempfile::tempfile().expect("a place for a file");
    file.write_all(&vec![6; pages * PAGE]).expect("written");
    file.rewind().expect("a file");
    reading(&connection, pages * PAGE, |client| {
        let mut left = pages * PAGE;
        while left > 0 {
            left -= rustix::fs::sendfile(client, &file, None, left).expect("sent");
        }
    });
    keep(connection, spliced(pages, at_once))
}

fn splice_(connection: Connection, at_once: bool) -> (Sent, Vec<TcpStream>) {
    let (from, to) = pipe().expect("a pipe");
    for pages in [3, PIPE_PAGES] {
        assert_eq!(
            rustix::io::write(&to, &vec![8; pages * PAGE]).expect("a pipe has room"),
            pages * PAGE
        );
        let moved = splice(
            &from,
            None,
            &connection.client,
            None,
            pages * PAGE,
            SpliceFlags::empty(),
        );
        assert_eq!(moved.expect("spliced"), pages * PAGE);
    }
    let sent = if at_once {
        Sent::each(&[3 * PAGE, PIPE_PAGES * PAGE])
    } else {
        spliced(3 + PIPE_PAGES, false)
    };
    keep(connection, sent)
}

fn spliced(pages: usize, at_once: bool) -> Sent {
    if at_once {
        Sent::each(&vec![PIPE_PAGES * PAGE; pages / PIPE_PAGES])
    } else {
        Sent::each(&vec![PAGE; pages])
    }
}

/// What is held back was taken all the same.
fn corked(mut connection: Connection, _: bool) -> (Sent, Vec<TcpStream>) {
    rustix::net::sockopt::set_tcp_cork(&connection.client, true).expect("TCP_CORK");
    connection.client.write_all(&[1; 10]).expect("room");
    rustix::net::sockopt::set_tcp_cork(&connection.client, false).expect("TCP_CORK");
    for _ in 0..2 {
        send(&connection.client, &[1; 20], SendFlags::MORE).expect("room");
    }
    connection.client.write_all(&[1; 30]).expect("room");
    keep(connection, Sent::each(&[10, 20, 20, 30]))
}

fn nothing(mut connection: Connection, _: bool) -> (Sent, Vec<TcpStream>) {
    assert_eq!(connection.client.write(&[]).expect("nothing to do"), 0);
    keep(connection, Sent::default())
}

/// The peer does not read: calls are taken whole, then in part, then refused.
fn refused(mut connection: Connection, _: bool) -> (Sent, Vec<TcpStream>) {
    connection.client.set_nonblocking(true).expect("set");
    let block = vec![7; 300_000];
    let mut sent = Sent::default();
    let mut in_part = 0;
    // The queue moves on while it is filled: it is full for good when the peer's window is shut.
    while sent.refused < 10_000 {
        match connection.client.write(&block) {
            Ok(bytes) => {
                in_part += usize::from(bytes < block.len());
                sent.add(bytes);
            }
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::WouldBlock);
                sent.refused += 1;
            }
        }
    }
    assert!(in_part > 0, "some call is taken in part");
    keep(connection, sent)
}

/// A call that waits for room and is taken whole in the end is one call.
fn blocked(connection: Connection, _: bool) -> (Sent, Vec<TcpStream>) {
    let bytes = 20 << 20;
    reading(&connection, bytes, |mut client| {
        assert_eq!(client.write(&vec![7; bytes]).expect("taken"), bytes);
    });
    keep(connection, Sent::each(&[bytes]))
}

/// A signal ends a call that has taken bytes; one that has not the kernel makes again, so it neither failed nor was refused.
fn interrupted(connection: Connection, _: bool) -> (Sent, Vec<TcpStream>) {
    extern "C" fn nothing(_: i32) {}
    // SAFETY: a handler that does nothing; the kernel makes the call anew.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = nothing as extern "C" fn(i32) as usize;
        action.sa_flags = libc::SA_RESTART;
        assert_eq!(libc::sigaction(libc::SIGUSR1, &action, std::ptr::null_mut()), 0);
    }
    let bytes = 64 << 20;
    let Connection { client, server, .. } = connection;
    let (tell, told) = mpsc::channel();
    let mut sent = Sent::default();
    thread::scope(|scope| {
        let _release = Release(&client);
        let writer = scope.spawn(|| {
            tell.send(rustix::thread::gettid()).expect("somebody waits");
            let block = vec![9; bytes];
            let mut calls = Vec::new();
            while calls.iter().sum::<usize>() < bytes {
                let done = calls.iter().sum::<usize>();
                calls.push(rustix::io::write(&client, &block[done..]).expect("taken in the end"));
            }
            calls
        });
        let thread = told.recv().expect("the writer begins");
        for _ in 0..8 {
            wait_for_write(thread);
            // SAFETY: a thread of this process, which has a handler.
            let done = unsafe {
                libc::syscall(
                    libc::SYS_tgkill,
                    rustix::process::getpid().as_raw_nonzero().get(),
                    thread.as_raw_nonzero().get(),
                    libc::SIGUSR1,
                )
            };
            assert_eq!(done, 0);
        }
        (&server)
            .read_exact(&mut vec![0; bytes])
            .expect("the peer writes");
        for bytes in writer.join().expect("the writer ends") {
            sent.add(bytes);
        }
    });
    (sent, vec![client, server])
}

/// Lets a writer go that would wait for ever, should the test fail.
struct Release<'a>(&'a TcpStream);

impl Drop for Release<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            let _ = self.0.shutdown(Shutdown::Both);
        }
    }
}

/// Until the thread sleeps in write(2).
fn wait_for_write(thread: rustix::thread::Pid) {
    let call = format!("/proc/self/task/{thread}/syscall");
    let write = libc::SYS_write.to_string();
    let since = kernel_clock();
    while fs::read_to_string(&call).expect("/proc").split(' ').next() != Some(write.as_str()) {
        within_patience(since, || "the writer does not wait".to_owned());
    }
}

fn after_shutdown(mut connection: Connection, _: bool) -> (Sent, Vec<TcpStream>) {
    connection.client.write_all(&[1; 40]).expect("room");
    connection.client.shutdown(Shutdown::Write).expect("connected");
    let error = connection.client.write(&[1; 50]).expect_err("shut down");
    assert_eq!(error.kind(), ErrorKind::BrokenPipe);
    let mut sent = Sent::each(&[40]);
    sent.failed = 1;
    keep(connection, sent)
}

fn after_reset(connection: Connection, _: bool) -> (Sent, Vec<TcpStream>) {
    let Connection {
        mut client, server, ..
    } = connection;
    client.write_all(&[1; 60]).expect("room");
    receive::reset(server, &client);
    let error = client.write(&[1; 70]).expect_err("reset");
    assert_eq!(error.kind(), ErrorKind::ConnectionReset);
    let error = client.write(&[1; 80]).expect_err("reset, and told so");
    assert_eq!(error.kind(), ErrorKind::BrokenPipe);
    let mut sent = Sent::each(&[60]);
    sent.failed = 2;
    (sent, vec![client])
}

/// A call that waits for room when the reset comes gives what it took until then.
fn cut_by_reset(connection: Connection, _: bool) -> (Sent, Vec<TcpStream>) {
    let Connection {
        client, mut server, ..
    } = connection;
    let bytes = 64 << 20;
    let taken = thread::scope(|scope| {
        let writer = scope.spawn(|| (&client).write(&vec![7; bytes]).expect("taken in part"));
        server.read_exact(&mut vec![0; 100_000]).expect("the peer writes");
        receive::reset(server, &client);
        writer.join().expect("the writer ends")
    });
    assert!((100_000..bytes).contains(&taken), "{taken}");
    // The call was told of the end by how little it took; the next one is told why.
    let error = (&client).write(&[1; 70]).expect_err("reset");
    assert_eq!(error.kind(), ErrorKind::ConnectionReset);
    let mut sent = Sent::each(&[taken]);
    sent.failed = 1;
    (sent, vec![client])
}
