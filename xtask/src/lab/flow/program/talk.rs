//! Programs that wait for each other.

use anyhow::Result;

use super::Until;
use super::transfer::{read, read_all, send_all};
use crate::lab::clock::{now_ns, think};
use crate::lab::flow::pattern::Method;
use crate::lab::flow::send::Sender;
use crate::lab::flow::worker::Connection;

/// The sender of turns.
pub fn answer(
    connection: &Connection,
    request_bytes: usize,
    answer_bytes: usize,
    think_ms: f64,
    until: Until,
) -> Result<()> {
    let mut sender = Sender::new(Method::Write, answer_bytes)?;
    while read_all(connection, request_bytes, &connection.back_bytes)? && !until.is_over() {
        if think_ms > 0.0 {
            think(think_ms);
        }
        if !send_all(connection, &mut sender, answer_bytes, &connection.bytes)? {
            break;
        }
    }
    Ok(())
}

/// The receiver of turns.
pub fn ask(connection: &Connection, request_bytes: usize, answer_bytes: usize, pause_ms: f64) -> Result<()> {
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

/// The sender writes a head, then a body, and waits for the reply to both.
pub fn write_twice(
    connection: &Connection,
    parts_bytes: [usize; 2],
    reply_bytes: usize,
    until: Until,
) -> Result<()> {
    let [head_bytes, body_bytes] = parts_bytes;
    let mut sender = Sender::new(Method::Write, head_bytes.max(body_bytes))?;
    while !until.is_over() {
        let whole = send_all(connection, &mut sender, head_bytes, &connection.bytes)?
            && send_all(connection, &mut sender, body_bytes, &connection.bytes)?
            && read_all(connection, reply_bytes, &connection.back_bytes)?;
        if !whole {
            break;
        }
    }
    Ok(())
}

/// The receiver replies once it has head and body.
pub fn reply(connection: &Connection, bytes: usize, reply_bytes: usize) -> Result<()> {
    let mut sender = Sender::new(Method::Write, reply_bytes)?;
    while read_all(connection, bytes, &connection.bytes)?
        && send_all(connection, &mut sender, reply_bytes, &connection.back_bytes)?
    {}
    Ok(())
}

/// One byte each way, then neither says a word.
pub fn quiet(connection: &Connection, sends: bool, until: Until) -> Result<()> {
    let mut sender = Sender::new(Method::Write, 1)?;
    let (own, others) = match sends {
        true => (&connection.bytes, &connection.back_bytes),
        false => (&connection.back_bytes, &connection.bytes),
    };
    if sends {
        send_all(connection, &mut sender, 1, own)?;
        read_all(connection, 1, others)?;
    } else {
        read_all(connection, 1, others)?;
        send_all(connection, &mut sender, 1, own)?;
    }
    if sends && until.ns != Until::NEVER.ns {
        think(until.ns.saturating_sub(now_ns()) as f64 / 1e6);
    } else {
        while read(connection, &mut [0; 16], others)? > 0 {}
    }
    Ok(())
}
