//! The parts of a check that speak TLS: a client that comes for the first time, one of TLS 1.2, a series that comes back, one that
//! sends data early, and one with Fast Open.

use std::io::{Read as _, Write as _};
use std::net::SocketAddr;

use rustls::ProtocolVersion;

use super::answer;
use super::certificate;
use super::fastopen::{self, FastOpen};
use super::http2::{self, Conversation, DEFAULT_WINDOW};
use super::probe::Probe;
use super::report::{EarlyData, Http2, Report, Tls, Version};
use super::tickets::{self, Visit};
use super::tls::{Client, Facts, MODERN, Offer, Session, TLS12_ONLY, TlsError};
use super::wire::{Wire, after, now};
use crate::handshake::{cipher_name, group_name, version_name};
use crate::units::{Bytes, Nanos};

/// One that speaks no HTTP/2.
const HTTP1_ONLY: Offer = Offer {
    alpn: &["http/1.1"],
    ..MODERN
};
/// One that sends data early.
const EARLY: Offer = Offer {
    early_data: true,
    ..MODERN
};
/// A ticket that has not come two round trips and so much later does not come.
const TICKET_SLACK: Nanos = Nanos(250_000_000);

/// A client of today, which comes for the first time: what it meets, HTTP/2 if that is spoken, and an answer.
pub fn first(probe: &mut Probe<'_>, report: &mut Report) -> Result<Tls, TlsError> {
    let client = client(probe, MODERN)?;
    let session = shake(probe, &client)?;
    let facts = session.facts();
    let shape = answer::shape(&session, &facts, probe.pause());
    let mss = u64::from(session.wire.info().snd_mss().unwrap_or(1_448)).max(1);
    let tls = Tls {
        version: version_name(facts.version),
        cipher: cipher_name(facts.cipher),
        group: facts.group.map(group_name),
        key_shares: facts.key_shares.iter().copied().map(group_name).collect(),
        hello_retry: facts.is_retry,
        alpn: facts.alpn.clone(),
        handshake_us: shape.took.0 / 1000,
        client_hello_bytes: session.hello_bytes,
        client_hello_segments: (session.hello_bytes as u64).div_ceil(mss),
        server_flight_bytes: session.flight_bytes,
        server_flight_is_split: shape.is_split,
        certificate: client.witness.take().as_ref().and_then(certificate::read),
        ..Tls::default()
    };
    if facts.alpn.as_deref() != Some("h2") {
        match answer::over_tls(probe, session, &facts) {
            Ok(taken) => probe.keep(taken, report),
            Err(error) => report.failed.push(format!("the request: {error}")),
        }
        return Ok(tls);
    }
    let mut conversation = Conversation::default();
    let over_http2 = answer::over_http2(probe, session, &facts, &mut conversation);
    if conversation.settings.came {
        report.http2 = Some(Http2 {
            status: over_http2.as_ref().ok().and_then(|taken| taken.answered.status),
            first_byte_us: over_http2.as_ref().ok().map(|taken| taken.answered.first_byte_us),
            ..http2(probe, &conversation)
        });
    }
    if let Err(error) = &over_http2 {
        report.failed.push(format!("the request over HTTP/2: {error}"));
    }
    match http1(probe) {
        Ok(Some(taken)) => probe.keep(taken, report),
        // A server of HTTP/2 alone.
        Ok(None) | Err(_) => {
            if let Ok(taken) = over_http2 {
                probe.keep(taken, report);
            }
        }
    }
    Ok(tls)
}

/// The same request over HTTP/1.1, where the server speaks it.
fn http1(probe: &mut Probe<'_>) -> Result<Option<answer::Taken>, TlsError> {
    let client = client(probe, HTTP1_ONLY)?;
    let session = shake(probe, &client)?;
    let facts = session.facts();
    if facts.alpn.as_deref() == Some("h2") {
        return Ok(None);
    }
    Ok(answer::over_tls(probe, session, &facts).ok())
}

fn http2(probe: &Probe<'_>, conversation: &Conversation) -> Http2 {
    let settings = conversation.settings;
    let ceiling = |window: u64| Bytes(window).per_rtt(probe.rtt()).map_or(0.0, |rate| rate.bits());
    Http2 {
        max_concurrent_streams: settings.streams,
        upload_stream_window_bytes: settings.upload_stream(),
        upload_connection_window_bytes: settings.upload_connection(),
        max_frame_bytes: settings.frame.unwrap_or(16_384),
        header_table_bytes: settings.header_table.unwrap_or(4_096),
        upload_stream_ceiling_bps: ceiling(settings.upload_stream()),
        upload_connection_ceiling_bps: ceiling(settings.upload_connection()),
        download_default_client_ceiling_bps: ceiling(DEFAULT_WINDOW.into()),
        status: None,
        first_byte_us: None,
    }
}

/// What needs more connections.
pub fn rest(probe: &mut Probe<'_>, report: &mut Report) {
    let Some(tls) = &mut report.tls else { return };
    tls.versions = versions(probe, tls);
    let speaks_http = report
        .answer
        .as_ref()
        .is_some_and(|answer| answer.status.is_some());
    match series(probe, speaks_http) {
        Ok(Series {
            visits,
            allowed,
            fault,
        }) => {
            tls.resumption = Some(tickets::judge(&visits));
            report
                .failed
                .extend(fault.map(|error| format!("the series of connections: {error}")));
            tls.early_data = allowed.map(|allowed_bytes| EarlyData {
                allowed_bytes,
                accepted: None,
            });
        }
        Err(error) => report.failed.push(format!("the series of connections: {error}")),
    }
    if let Some(early) = &mut tls.early_data
        && early.allowed_bytes > 0
    {
        match early_data(probe, speaks_http) {
            Ok(accepted) => early.accepted = accepted,
            Err(error) => report.failed.push(format!("early data: {error}")),
        }
    }
}

/// Each version alone.
fn versions(probe: &mut Probe<'_>, tls: &Tls) -> Vec<Version> {
    let is_13 = tls.version == "TLS 1.3";
    let newest = Version {
        version: "TLS 1.3".to_owned(),
        accepted: is_13,
        cipher: is_13.then(|| tls.cipher.clone()),
        handshake_us: is_13.then_some(tls.handshake_us),
        resumed: None,
        resumed_us: None,
        error: (!is_13).then(|| format!("the server chose {} though both were offered", tls.version)),
    };
    let mut older = Version {
        version: "TLS 1.2".to_owned(),
        accepted: false,
        cipher: None,
        handshake_us: None,
        resumed: None,
        resumed_us: None,
        error: None,
    };
    if let Err(error) = tls12(probe, &mut older) {
        older.error = Some(error.to_string());
    }
    vec![newest, older]
}

fn tls12(probe: &mut Probe<'_>, told: &mut Version) -> Result<(), TlsError> {
    let client = client(probe, TLS12_ONLY)?;
    let session = shake(probe, &client)?;
    told.accepted = true;
    told.cipher = Some(cipher_name(session.facts().cipher));
    told.handshake_us = Some(session.done.since(session.began).0 / 1000);
    session.close();
    if client.sessions.has_one() {
        let session = shake(probe, &client)?;
        let resumed = session.facts().is_resumed();
        told.resumed = Some(resumed);
        told.resumed_us = resumed.then(|| session.done.since(session.began).0 / 1000);
        session.close();
    } else {
        told.resumed = Some(false);
    }
    Ok(())
}

/// What a series showed.
struct Series {
    visits: Vec<Visit>,
    /// Bytes of early data that tickets of TLS 1.3 allow; `None` where none came.
    allowed: Option<u32>,
    /// What ended it before its time.
    fault: Option<TlsError>,
}

/// Connections one after another, each with the newest session.
fn series(probe: &mut Probe<'_>, speaks_http: bool) -> Result<Series, TlsError> {
    let client = client(probe, MODERN)?;
    let mut visits: Vec<Visit> = Vec::new();
    let mut fault = None;
    while visits.len() < probe.plan.connections && !is_vain(&visits) {
        let before = client.sessions.tickets();
        let offered = client.sessions.has_one();
        let mut session = match shake(probe, &client) {
            Ok(session) => session,
            Err(error) => {
                fault = Some(error);
                break;
            }
        };
        let facts = session.facts();
        if facts.version == u16::from(ProtocolVersion::TLSv1_3) {
            wait_for_ticket(probe, &client, &mut session, &facts, before, speaks_http);
        }
        session.close();
        let certificate = client
            .witness
            .take()
            .and_then(|shown| shown.chain.into_iter().next());
        visits.push(Visit {
            offered,
            ticket: facts.offered.clone(),
            resumed: facts.is_resumed(),
            issued: facts.issued.clone(),
            tickets: client.sessions.tickets() - before,
            certificate: certificate.filter(|_| !facts.is_resumed()),
        });
    }
    let allowed = (client.sessions.tickets() > 0).then(|| client.sessions.early_data().unwrap_or(0));
    Ok(Series {
        visits,
        allowed,
        fault,
    })
}

/// Three connections that never had a session to offer tell enough.
fn is_vain(visits: &[Visit]) -> bool {
    visits.len() >= 3 && visits.iter().all(|visit| !visit.offered)
}

/// Some servers give tickets only with their first bytes: they are asked for some.
fn wait_for_ticket(
    probe: &Probe<'_>,
    client: &Client,
    session: &mut Session,
    facts: &Facts,
    before: u32,
    speaks_http: bool,
) {
    let nudge = match facts.alpn.as_deref() {
        Some("h2") => http2::opening(),
        _ if speaks_http => probe.request().head(),
        _ => Vec::new(),
    };
    if !nudge.is_empty() && session.send(&nudge).is_err() {
        return;
    }
    let limit = Nanos(probe.rtt_span().0 * 2 + TICKET_SLACK.0);
    session.await_ticket(&client.sessions, before, limit);
}

/// Whether the server takes data before its answer: it is offered none, only the intent.
fn early_data(probe: &mut Probe<'_>, speaks_http: bool) -> Result<Option<bool>, TlsError> {
    let client = client(probe, EARLY)?;
    let mut session = shake(probe, &client)?;
    let facts = session.facts();
    wait_for_ticket(probe, &client, &mut session, &facts, 0, speaks_http);
    session.close();
    let session = shake(probe, &client)?;
    let facts = session.facts();
    session.close();
    Ok(facts.offered_early_data.then_some(facts.early_data_accepted))
}

/// The TLS handshake with the first address of each family that was not the one checked.
pub fn other_families(probe: &mut Probe<'_>, addresses: &[SocketAddr], report: &mut Report) {
    let other = addresses
        .iter()
        .position(|address| address.is_ipv4() != probe.to.is_ipv4())
        .filter(|at| report.addresses[*at].connect_us.is_some());
    let own = addresses.iter().position(|address| *address == probe.to);
    if let (Some(at), Some(tls)) = (own, &report.tls) {
        report.addresses[at].tls_us = Some(tls.handshake_us);
    }
    let Some(at) = other else { return };
    let shaken = client(probe, MODERN).and_then(|client| {
        probe.opened += 1;
        let wire =
            Wire::open(addresses[at], probe.within()).map_err(|error| TlsError::Failed(error.to_string()))?;
        client.shake(wire)
    });
    match shaken {
        Ok(session) => {
            report.addresses[at].tls_us = Some(session.done.since(session.began).0 / 1000);
            session.close();
        }
        Err(error) => report.addresses[at].error = Some(format!("{}: {error}", addresses[at])),
    }
}

/// Fast Open with a hello as its data.
pub fn fast_open(probe: &mut Probe<'_>, client: &Client) -> FastOpen {
    let (to, within) = (probe.to, probe.within());
    let told = fastopen::measure(to, within, |wire| {
        let session = client.shake(wire).ok()?;
        let answered = session.wire.heard.passed(0)?;
        Some((session.wire, answered))
    });
    probe.opened += told.attempts.len() as u32;
    told
}

/// Fast Open with a request as its data.
pub fn plain_fast_open(probe: &mut Probe<'_>) -> FastOpen {
    let (to, within) = (probe.to, probe.within());
    let request = probe.request().head();
    let told = fastopen::measure(to, within, |mut wire| {
        wire.set_deadline(after(within));
        wire.write_all(&request).ok()?;
        let mut first = [0; 1_024];
        let count = wire.read(&mut first).ok()?;
        (count > 0).then(|| (wire, now()))
    });
    probe.opened += told.attempts.len() as u32;
    told
}

fn client(probe: &Probe<'_>, offer: Offer) -> Result<Client, TlsError> {
    Client::new(&probe.plan.roots, &probe.server_name, offer)
}

fn shake(probe: &mut Probe<'_>, client: &Client) -> Result<Session, TlsError> {
    let wire = probe
        .open()
        .map_err(|error| TlsError::Failed(error.to_string()))?;
    let session = client.shake(wire)?;
    probe.look(&session.wire);
    Ok(session)
}
