//! One request on a connection of its own, with the time of each step on the way to its answer.

use std::io::{self, Read as _, Write as _};

use super::budget::{Course, Shape};
use super::flight;
use super::http1::{self, Answer};
use super::http2::{self, Conversation};
use super::probe::Probe;
use super::report::Answered;
use super::tls::{Facts, Session};
use super::wire::{ConnectError, Wire, now};
use crate::handshake::Record;
use crate::units::Nanos;

/// An answer, and the way to it.
pub struct Taken {
    /// What came.
    pub answered: Answered,
    /// How it came.
    pub course: Course,
}

/// No answer.
#[derive(Debug, thiserror::Error)]
pub enum NoAnswer {
    /// No connection.
    #[error(transparent)]
    Connect(#[from] ConnectError),
    /// Nothing came, or no more.
    #[error("{}", sentence(.0))]
    Io(#[from] io::Error),
}

fn sentence(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::TimedOut => "no answer came in time".to_owned(),
        io::ErrorKind::UnexpectedEof => "the server closed the connection without an answer".to_owned(),
        _ => format!("no answer: {error}"),
    }
}

/// HTTP/1.1 without TLS.
pub fn plain(probe: &mut Probe<'_>) -> Result<Taken, NoAnswer> {
    let mut wire = probe.open()?;
    let request = probe.request();
    wire.write_all(&request.get())?;
    let asked = now();
    let answer = http1::read_answer(&request, asked, |buffer| wire.read(buffer))?;
    probe.look(&wire);
    Ok(taken(probe, &wire, None, &[], 0, "http/1.1", &answer))
}

/// HTTP/1.1 over TLS.
pub fn over_tls(probe: &mut Probe<'_>, mut session: Session, facts: &Facts) -> Result<Taken, NoAnswer> {
    let from = session.wire.heard.bytes.len();
    let request = probe.request();
    session.send(&request.get())?;
    let asked = now();
    let answer = http1::read_answer(&request, asked, |buffer| session.receive(buffer))?;
    Ok(finish(probe, session, facts, from, "http/1.1", &answer))
}

/// HTTP/2. What the server said of itself is in the conversation, whatever becomes of the answer.
pub fn over_http2(
    probe: &mut Probe<'_>,
    mut session: Session,
    facts: &Facts,
    conversation: &mut Conversation,
) -> Result<Taken, NoAnswer> {
    let from = session.wire.heard.bytes.len();
    let request = [
        http2::opening(),
        http2::request(&probe.authority, &probe.plan.target.path),
    ]
    .concat();
    session.send(&request)?;
    let answer = conversation.run(now(), probe.plan.most_bytes, |buffer| session.receive(buffer))?;
    Ok(finish(probe, session, facts, from, "h2", &answer))
}

fn finish(
    probe: &mut Probe<'_>,
    session: Session,
    facts: &Facts,
    from: usize,
    protocol: &'static str,
    answer: &Answer,
) -> Taken {
    probe.look(&session.wire);
    let shape = shape(&session, facts, probe.pause());
    let records = session.server_records();
    let taken = taken(
        probe,
        &session.wire,
        Some(shape),
        &records,
        from,
        protocol,
        answer,
    );
    session.close();
    taken
}

/// How the handshake of a session went.
pub fn shape(session: &Session, facts: &Facts, pause: Option<Nanos>) -> Shape {
    Shape {
        took: session.done.since(session.began),
        is_13: facts.version == u16::from(rustls::ProtocolVersion::TLSv1_3),
        is_retry: facts.is_retry,
        resumes: false,
        is_split: pause.and_then(|pause| is_split(session, facts, pause)),
    }
}

/// In TLS 1.3 the server has one flight; behind a request for another hello it is the second.
fn is_split(session: &Session, facts: &Facts, pause: Nanos) -> Option<bool> {
    if facts.version != u16::from(rustls::ProtocolVersion::TLSv1_3) || facts.is_resumed() {
        return None;
    }
    let heard = &session.wire.heard;
    let first = heard.burst(0, pause).map(|burst| burst.end);
    let last = match facts.is_retry {
        true => first
            .and_then(|end| heard.burst(end, pause))
            .map(|burst| burst.end),
        false => first,
    };
    last.map(|end| end < session.flight_bytes)
}

fn taken(
    probe: &Probe<'_>,
    wire: &Wire,
    tls: Option<Shape>,
    records: &[Record<'_>],
    from: usize,
    protocol: &'static str,
    answer: &Answer,
) -> Taken {
    let pause = probe.pause();
    let records = flight::records(records, &wire.heard, from, pause);
    Taken {
        answered: Answered {
            path: probe.plan.target.path.clone(),
            protocol,
            status: answer.status,
            first_byte_us: answer.first.since(answer.asked).0 / 1000,
            transfer_us: answer.last.since(answer.first).0 / 1000,
            bytes: answer.bytes,
            is_whole: answer.is_whole,
            first_flight: pause.and_then(|pause| flight::first_flight(&wire.heard, from, pause)),
            records,
        },
        course: Course {
            tcp: wire.opened.map_or(Nanos(0), |opened| opened.since(wire.began)),
            tls,
            request: answer.first.since(answer.asked),
            record_is_split: records.is_some_and(|records| records.first_is_split == Some(true)),
            rtt: probe.rtt(),
            ..Course::default()
        },
    }
}
