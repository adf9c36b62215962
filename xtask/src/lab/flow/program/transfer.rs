//! Reads and writes that the programs are made of.

use std::os::fd::AsFd;
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::{Context, Result};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::{Errno, retry_on_intr};

use crate::lab::flow::send::Sender;
use crate::lab::flow::worker::Connection;

/// The most that one read asks for.
pub const READ_BYTES: usize = 256 * 1024;
/// The last byte of a part of a flow; data has no such byte, and nothing follows before the receiver has seen it.
pub const PART_ENDS: u8 = b'.';

/// Sends once; `None`: the connection is gone.
pub fn send(
    connection: &Connection,
    sender: &mut Sender,
    ask: usize,
    count: &AtomicU64,
) -> Result<Option<usize>> {
    loop {
        connection.calls.fetch_add(1, Ordering::Relaxed);
        match sender.send(&connection.stream, ask) {
            Ok(sent) => {
                count.fetch_add(sent as u64, Ordering::Relaxed);
                return Ok(Some(sent));
            }
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => wait(connection, PollFlags::OUT)?,
            Err(error) if gone(error) => return Ok(None),
            Err(error) => return Err(error).context("send"),
        }
    }
}

/// Sends so many; false: the connection is gone.
pub fn send_all(
    connection: &Connection,
    sender: &mut Sender,
    bytes: usize,
    count: &AtomicU64,
) -> Result<bool> {
    let mut left = bytes;
    while left > 0 {
        let Some(sent) = send(connection, sender, left, count)? else {
            return Ok(false);
        };
        left -= sent;
    }
    Ok(true)
}

/// Reads once and counts; 0: the other side has closed or is gone, or this part of the flow is over.
pub fn read(connection: &Connection, buffer: &mut [u8], count: &AtomicU64) -> Result<usize> {
    loop {
        match rustix::io::read(&connection.stream, &mut *buffer) {
            Ok(n) => {
                count.fetch_add(n as u64, Ordering::Relaxed);
                return Ok(if part_ends(&buffer[..n]) { 0 } else { n });
            }
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => wait(connection, PollFlags::IN)?,
            Err(error) if gone(error) => return Ok(0),
            Err(error) => return Err(error).context("read"),
        }
    }
}

/// Reads exactly so many; false: the other side has closed before, or this part of the flow is over.
pub fn read_all(connection: &Connection, bytes: usize, count: &AtomicU64) -> Result<bool> {
    let mut buffer = vec![0; bytes.min(READ_BYTES)];
    let mut left = bytes;
    while left > 0 {
        let room = left.min(buffer.len());
        match read(connection, &mut buffer[..room], count)? {
            0 => return Ok(false),
            n => left -= n,
        }
    }
    Ok(true)
}

/// Whether what was read ends a part.
pub fn part_ends(read: &[u8]) -> bool {
    read.last() == Some(&PART_ENDS)
}

/// Whether the error says that the connection is no more.
pub fn gone(error: Errno) -> bool {
    matches!(
        error,
        Errno::PIPE | Errno::CONNRESET | Errno::TIMEDOUT | Errno::HOSTUNREACH
    )
}

fn wait(connection: &Connection, flags: PollFlags) -> Result<()> {
    let mut watched = [PollFd::from_borrowed_fd(connection.stream.as_fd(), flags)];
    retry_on_intr(|| poll(&mut watched, None)).context("poll")?;
    Ok(())
}
