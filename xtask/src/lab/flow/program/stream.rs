//! Data one way: as much as fits, or so much each time a clock fires.

use std::sync::atomic::Ordering;

use anyhow::{Context, Result};
use rustix::io::{Errno, retry_on_intr};
use rustix::net::{RecvFlags, Shutdown, recv, shutdown};

use super::Until;
use super::transfer::{READ_BYTES, gone, part_ends, read, send, send_all};
use crate::lab::clock::Timer;
use crate::lab::flow::pattern::Method;
use crate::lab::flow::send::Sender;
use crate::lab::flow::spec::WorkerSpec;
use crate::lab::flow::worker::Connection;

/// A rate-limited reader reads so often.
const READ_PERIOD_NS: u64 = 50_000_000;
const WRITE_BYTES: usize = 65_536;

/// So many bytes from the sender to the receiver, whatever the flow's own pattern is.
pub fn bulk(connection: &Connection, spec: &WorkerSpec, total_bytes: u64) -> Result<()> {
    if spec.sends() {
        write_all(
            connection,
            WRITE_BYTES,
            Some(total_bytes),
            Method::Write,
            Until::NEVER,
        )
    } else {
        receive(connection, spec.socket().read_bytes_per_s)
    }
}

/// The sender writes all it is asked to, closes its side and waits for the other to close.
pub fn write_all(
    connection: &Connection,
    write_bytes: usize,
    total_bytes: Option<u64>,
    method: Method,
    until: Until,
) -> Result<()> {
    let mut sender = Sender::new(method, write_bytes)?;
    let mut left = total_bytes.unwrap_or(u64::MAX);
    while left > 0 {
        let ask = left.min(write_bytes as u64) as usize;
        let Some(sent) = send(connection, &mut sender, ask, &connection.bytes)? else {
            return Ok(());
        };
        left -= sent as u64;
        if until.is_over() {
            return Ok(());
        }
    }
    let _ = shutdown(&connection.stream, Shutdown::Write);
    let mut rest = [0; 4096];
    while read(connection, &mut rest, &connection.back_bytes)? > 0 {}
    Ok(())
}

/// The sender writes at each turn of a clock. A turn that comes while it is still writing is missed.
pub fn write_each(connection: &Connection, write_bytes: usize, every_ms: f64, until: Until) -> Result<()> {
    let clock = Timer::every((every_ms * 1e6) as u64)?;
    let mut sender = Sender::new(Method::Write, write_bytes)?;
    while !until.is_over() {
        if !send_all(connection, &mut sender, write_bytes, &connection.bytes)? {
            return Ok(());
        }
        clock.wait();
    }
    Ok(())
}

/// The receiver reads to the end, all that comes at once or so much a second.
pub fn receive(connection: &Connection, bytes_per_s: Option<u64>) -> Result<()> {
    let mut buffer = vec![0; READ_BYTES];
    let Some(bytes_per_s) = bytes_per_s else {
        while read(connection, &mut buffer, &connection.bytes)? > 0 {}
        return Ok(());
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
                    if part_ends(&buffer[..n]) {
                        return Ok(());
                    }
                    left -= n;
                }
                Err(Errno::AGAIN) => break,
                Err(error) if gone(error) => return Ok(()),
                Err(error) => return Err(error).context("recv"),
            }
        }
    }
}
