//! What the two programs of a flow do with their sockets.

use std::os::fd::AsFd;
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::{Context, Result};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::{Errno, retry_on_intr};
use rustix::net::{RecvFlags, Shutdown, recv, shutdown};

use super::send::Sender;
use super::spec::{Method, Pattern, WorkerSpec};
use super::worker::Connection;
use crate::lab::clock::{Timer, think};

/// A rate-limited reader reads so often.
const READ_PERIOD_NS: u64 = 50_000_000;
const READ_BYTES: usize = 256 * 1024;

/// Runs this side's program until its connection ends.
pub fn run(connection: &Connection, spec: &WorkerSpec) -> Result<()> {
    match spec.flow.pattern {
        Pattern::Bulk { total_bytes, .. } => bulk(connection, spec, total_bytes),
        Pattern::Periodic {
            write_bytes,
            every_ms,
        } if spec.sends() => periodic(connection, write_bytes, every_ms),
        Pattern::Turns {
            request_bytes,
            answer_bytes,
            think_ms,
            pause_ms,
        } => {
            if spec.sends() {
                answer(connection, request_bytes, answer_bytes, think_ms)
            } else {
                ask(connection, request_bytes, answer_bytes, pause_ms)
            }
        }
        Pattern::Quiet => quiet(connection, spec.sends()),
        Pattern::Periodic { .. } | Pattern::Short { .. } => {
            receive(connection, spec.socket().read_bytes_per_s)
        }
    }
}

/// The sender writes all it is asked to, closes its side and waits for the other to close; the receiver reads to the end.
pub fn bulk(connection: &Connection, spec: &WorkerSpec, total_bytes: Option<u64>) -> Result<()> {
    if !spec.sends() {
        return receive(connection, spec.socket().read_bytes_per_s);
    }
    let (write_bytes, method) = match spec.flow.pattern {
        Pattern::Bulk {
            write_bytes, method, ..
        } => (write_bytes, method),
        _ => (65_536, Method::Write),
    };
    let mut sender = Sender::new(method, write_bytes)?;
    let mut left = total_bytes.unwrap_or(u64::MAX);
    while left > 0 {
        let ask = left.min(write_bytes as u64) as usize;
        let Some(sent) = send(connection, &mut sender, ask, &connection.bytes)? else {
            return Ok(());
        };
        left -= sent as u64;
    }
    let _ = shutdown(&connection.stream, Shutdown::Write);
    let mut rest = [0; 4096];
    while read(connection, &mut rest)? > 0 {}
    Ok(())
}

fn periodic(connection: &Connection, write_bytes: usize, every_ms: f64) -> Result<()> {
    let clock = Timer::every((every_ms * 1e6) as u64)?;
    let mut sender = Sender::new(Method::Write, write_bytes)?;
    loop {
        if !send_all(connection, &mut sender, write_bytes, &connection.bytes)? {
            return Ok(());
        }
        clock.wait();
    }
}

fn answer(connection: &Connection, request_bytes: usize, answer_bytes: usize, think_ms: f64) -> Result<()> {
    let mut sender = Sender::new(Method::Write, answer_bytes)?;
    while read_all(connection, request_bytes, &connection.back_bytes)? {
        if think_ms > 0.0 {
            think(think_ms);
        }
        if !send_all(connection, &mut sender, answer_bytes, &connection.bytes)? {
            break;
        }
    }
    Ok(())
}

fn ask(connection: &Connection, request_bytes: usize, answer_bytes: usize, pause_ms: f64) -> Result<()> {
    let mut sender = Sender::new(Method::Write, request_bytes)?;
    while send_all(connection, &mut sender, request_bytes, &connection.back_bytes)?
        && read_all(connection, answer_bytes, &connection.bytes)?
    {
        if pause_ms > 0.0 {
            think(pause_ms);
        }
    }
    Ok(())
}

fn quiet(connection: &Connection, sends: bool) -> Result<()> {
    let mut sender = Sender::new(Method::Write, 1)?;
    if sends {
        send_all(connection, &mut sender, 1, &connection.bytes)?;
        read_all(connection, 1, &connection.back_bytes)?;
    } else {
        read_all(connection, 1, &connection.bytes)?;
        send_all(connection, &mut sender, 1, &connection.back_bytes)?;
    }
    while read(connection, &mut [0; 16])? > 0 {}
    Ok(())
}

fn receive(connection: &Connection, bytes_per_s: Option<u64>) -> Result<()> {
    let mut buffer = vec![0; READ_BYTES];
    let Some(bytes_per_s) = bytes_per_s else {
        loop {
            match read(connection, &mut buffer)? {
                0 => return Ok(()),
                n => connection.bytes.fetch_add(n as u64, Ordering::Relaxed),
            };
        }
    };
    let clock = Timer::every(READ_PERIOD_NS)?;
    let each = (bytes_per_s as f64 * READ_PERIOD_NS as f64 / 1e9) as usize;
    loop {
        // What was missed while nothing had come is not made up for: the reader is never faster than its rate.
        clock.wait();
        let mut left = each;
        while left > 0 {
            let room = left.min(buffer.len());
            match retry_on_intr(|| recv(&connection.stream, &mut buffer[..room], RecvFlags::DONTWAIT)) {
                Ok((0, _)) => return Ok(()),
                Ok((n, _)) => {
                    connection.bytes.fetch_add(n as u64, Ordering::Relaxed);
                    left -= n;
                }
                Err(Errno::AGAIN) => break,
                Err(error) if gone(error) => return Ok(()),
                Err(error) => return Err(error).context("recv"),
            }
        }
    }
}

/// Sends once; `None`: the connection is gone.
fn send(
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

fn send_all(connection: &Connection, sender: &mut Sender, bytes: usize, count: &AtomicU64) -> Result<bool> {
    let mut left = bytes;
    while left > 0 {
        let Some(sent) = send(connection, sender, left, count)? else {
            return Ok(false);
        };
        left -= sent;
    }
    Ok(true)
}

/// Reads once; 0: the other side has closed or is gone.
fn read(connection: &Connection, buffer: &mut [u8]) -> Result<usize> {
    loop {
        match rustix::io::read(&connection.stream, &mut *buffer) {
            Ok(n) => return Ok(n),
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => wait(connection, PollFlags::IN)?,
            Err(error) if gone(error) => return Ok(0),
            Err(error) => return Err(error).context("read"),
        }
    }
}

/// Reads exactly so many; false: the other side has closed before.
fn read_all(connection: &Connection, bytes: usize, count: &AtomicU64) -> Result<bool> {
    let mut buffer = vec![0; bytes.min(READ_BYTES)];
    let mut left = bytes;
    while left > 0 {
        let room = left.min(buffer.len());
        match read(connection, &mut buffer[..room])? {
            0 => return Ok(false),
            n => {
                count.fetch_add(n as u64, Ordering::Relaxed);
                left -= n;
            }
        }
    }
    Ok(true)
}

fn wait(connection: &Connection, flags: PollFlags) -> Result<()> {
    let mut watched = [PollFd::from_borrowed_fd(connection.stream.as_fd(), flags)];
    retry_on_intr(|| poll(&mut watched, None)).context("poll")?;
    Ok(())
}

fn gone(error: Errno) -> bool {
    matches!(
        error,
        Errno::PIPE | Errno::CONNRESET | Errno::TIMEDOUT | Errno::HOSTUNREACH
    )
}
