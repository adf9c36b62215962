//! What the two programs of a flow do with their sockets.

mod alternate;
mod credit;
mod stream;
mod talk;
mod transfer;

use anyhow::Result;

use super::pattern::Pattern;
use super::spec::WorkerSpec;
use super::worker::Connection;
use crate::lab::clock::now_ns;

pub use stream::bulk;

/// Runs this side's program until its connection ends.
pub fn run(connection: &Connection, spec: &WorkerSpec) -> Result<()> {
    match &spec.flow.pattern {
        Pattern::Alternate { parts } => alternate::run(connection, spec, parts),
        pattern => play(connection, spec, pattern, Until::NEVER),
    }
}

/// When the sender leaves off; the receiver follows.
#[derive(Clone, Copy, Debug)]
struct Until {
    ns: u64,
}

impl Until {
    const NEVER: Self = Self { ns: u64::MAX };

    fn is_over(self) -> bool {
        self.ns <= now_ns()
    }
}

fn play(connection: &Connection, spec: &WorkerSpec, pattern: &Pattern, until: Until) -> Result<()> {
    let sends = spec.sends();
    match *pattern {
        Pattern::Bulk {
            write_bytes,
            total_bytes,
            method,
        } if sends => stream::write_all(connection, write_bytes, total_bytes, method, until),
        Pattern::Periodic {
            write_bytes,
            every_ms,
        } if sends => stream::write_each(connection, write_bytes, every_ms, until),
        Pattern::Bulk { .. } | Pattern::Periodic { .. } | Pattern::Short { .. } => {
            stream::receive(connection, spec.socket().read_bytes_per_s)
        }
        Pattern::Turns {
            request_bytes,
            answer_bytes,
            think_ms,
            ..
        } if sends => talk::answer(connection, request_bytes, answer_bytes, think_ms, until),
        Pattern::Turns {
            request_bytes,
            answer_bytes,
            pause_ms,
            ..
        } => talk::ask(connection, request_bytes, answer_bytes, pause_ms),
        Pattern::WriteWriteRead {
            head_bytes,
            body_bytes,
            reply_bytes,
        } if sends => talk::write_twice(connection, [head_bytes, body_bytes], reply_bytes, until),
        Pattern::WriteWriteRead {
            head_bytes,
            body_bytes,
            reply_bytes,
        } => talk::reply(connection, head_bytes + body_bytes, reply_bytes),
        Pattern::Credit {
            window_bytes,
            update_bytes,
            frame_bytes,
        } if sends => credit::spend(connection, window_bytes, update_bytes, frame_bytes, until),
        Pattern::Credit { update_bytes, .. } => credit::grant(connection, update_bytes),
        Pattern::Quiet => talk::quiet(connection, sends, until),
        Pattern::Alternate { .. } => anyhow::bail!("a part of a flow cannot have parts itself"),
    }
}
