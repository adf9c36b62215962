//! One behaviour after another on the same connection. The sender has the clock: it ends a part with a byte of its own
//! and goes on once the receiver has answered that, so that both always play the same part.

use anyhow::Result;

use super::transfer::{PART_ENDS, read, send_all};
use super::{Until, play};
use crate::lab::clock::{now_ns, seconds_ns};
use crate::lab::flow::pattern::{Method, Part};
use crate::lab::flow::send::Sender;
use crate::lab::flow::spec::WorkerSpec;
use crate::lab::flow::worker::Connection;

/// Plays this side of all parts.
pub fn run(connection: &Connection, spec: &WorkerSpec, parts: &[Part]) -> Result<()> {
    let started_ns = now_ns();
    let mut mark = Sender::of(Method::Write, vec![PART_ENDS])?;
    for part in parts {
        let until = match part.until_s {
            Some(second) => Until {
                ns: started_ns + seconds_ns(second),
            },
            None => Until::NEVER,
        };
        play(connection, spec, &part.pattern, until)?;
        if spec.sends() {
            send_all(connection, &mut mark, 1, &connection.bytes)?;
            // Requests or grants that were on their way come first, and the next part's may already follow: those are
            // its own to read.
            while read(connection, &mut [0; 1], &connection.back_bytes)? > 0 {}
        } else {
            send_all(connection, &mut mark, 1, &connection.back_bytes)?;
        }
    }
    Ok(())
}
