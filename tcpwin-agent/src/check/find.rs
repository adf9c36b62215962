//! What the figures say: each rule reads the report and adds what is worth telling.

use super::certificate::Certificate;
use super::fastopen::{FastOpen, State};
use super::report::{Finding, Http2, Report, Severity, Tls};
use super::tickets::Resumption;
use crate::units::{Bytes, Micros, bits_text, bytes_text, rtt_text};

/// Days before its end at which a certificate is told of.
const EXPIRES_SOON: i64 = 14;
/// A stream's window whose ceiling is below this is told of.
const SLOW_UPLOAD_BPS: f64 = 50e6;
/// Time for a round trip above which a window or a round trip is worth talking about.
const FAR_US: u32 = 1_000;

/// All that is found, the worst first.
pub fn findings(report: &Report) -> Vec<Finding> {
    let mut found = Vec::new();
    addresses(report, &mut found);
    tcp(report, &mut found);
    if let Some(fastopen) = &report.fastopen {
        fast_open(fastopen, &mut found);
    }
    if let Some(error) = &report.tls_error {
        add(&mut found, Severity::Problem, "tls", error.clone());
    }
    if let Some(tls) = &report.tls {
        self::tls(tls, report.rtt_us, &mut found);
    }
    if let Some(http2) = &report.http2 {
        self::http2(http2, report.rtt_us, &mut found);
    }
    records(report, &mut found);
    for claim in report.claims.iter().filter(|claim| !claim.possible) {
        let text = format!("`{}` cannot be: {}", claim.claim, claim.why);
        add(&mut found, Severity::Problem, "claim", text);
    }
    found.sort_by_key(|finding| finding.severity);
    found
}

fn add(found: &mut Vec<Finding>, severity: Severity, about: &'static str, text: String) {
    found.push(Finding {
        severity,
        about,
        text,
    });
}

fn addresses(report: &Report, found: &mut Vec<Finding>) {
    for address in &report.addresses {
        if let Some(error) = &address.error {
            let is_no_route = error.contains("no route");
            let severity = if is_no_route {
                Severity::Note
            } else {
                Severity::Problem
            };
            add(found, severity, "address", error.clone());
        }
    }
    if let Some(resolver) = report.resolver
        && resolver.again_us > 5_000
    {
        let text = format!(
            "the resolver took {:.0} ms, and {:.0} ms for the same name again: this host does not cache names, each new connection pays for it",
            resolver.first_us as f64 / 1e3,
            resolver.again_us as f64 / 1e3
        );
        add(found, Severity::Advice, "dns", text);
    }
}

fn tcp(report: &Report, found: &mut Vec<Finding>) {
    let tcp = &report.tcp;
    let rtt = Micros(report.rtt_us);
    if !tcp.window_scaling {
        let ceiling = Bytes(65_535).per_rtt(rtt).map_or(0.0, |rate| rate.bits());
        let text = format!(
            "windows are not scaled (by one end or a box between): 65535 B ÷ {} = {} is the most that goes either way",
            rtt_text(rtt),
            bits_text(ceiling)
        );
        add(found, Severity::Problem, "window_scaling", text);
    }
    if !tcp.sack {
        let text = "no selective acknowledgements (tcp_sack, at one end or taken out by a box between): each round trip repairs one loss".to_owned();
        add(found, Severity::Advice, "sack", text);
    }
}

fn fast_open(fastopen: &FastOpen, found: &mut Vec<Finding>) {
    let delays: Vec<String> = fastopen
        .attempts
        .iter()
        .map(|attempt| format!("{:.0} ms", attempt.first_answer_us as f64 / 1e3))
        .collect();
    let (severity, text) = match fastopen.state {
        State::ClientOff => (
            Severity::Note,
            "Fast Open was not tried: this host's clients have it off (net.ipv4.tcp_fastopen without 0x1, the client's bit)"
                .to_owned(),
        ),
        State::Blackholed => (
            Severity::Problem,
            format!(
                "Fast Open is blackholed: SYNs with a cookie and data get no answer, the kernel sends a plain one after a second (first answers after {}). A box on the path drops them; clients should leave it off towards this server",
                delays.join(", ")
            ),
        ),
        State::Unclear => (
            Severity::Note,
            format!(
                "a SYN of Fast Open got lost once (first answers after {}): loss, or a box that drops them",
                delays.join(", ")
            ),
        ),
        State::DataRefused => (
            Severity::Advice,
            "the server has given a cookie but takes no data in the SYN: the listener's queue of Fast Open is full or off, or machines behind the address have different keys (net.ipv4.tcp_fastopen_key)"
                .to_owned(),
        ),
        State::Accepted | State::NoCookie | State::Failed => return,
    };
    add(found, severity, "fastopen", text);
}

fn tls(tls: &Tls, rtt_us: u32, found: &mut Vec<Finding>) {
    let rtt = rtt_text(Micros(rtt_us));
    if tls.hello_retry {
        let text = format!(
            "the server asks for a second hello (it takes none of {}): one round trip of {rtt} more for every client that sends these keys",
            tls.key_shares.join(", ")
        );
        add(found, Severity::Advice, "hello_retry", text);
    }
    if tls.version == "TLS 1.2" {
        let text = format!("no TLS 1.3: a full handshake takes two round trips of {rtt}, not one");
        add(found, Severity::Advice, "tls_version", text);
    }
    if tls.server_flight_is_split == Some(true) {
        let text = format!(
            "the server's flight of {} came in two: the chain does not fit into its first window, which costs one round trip of {rtt}",
            bytes_text(tls.server_flight_bytes as u64)
        );
        add(found, Severity::Advice, "chain", text);
    }
    if let Some(certificate) = &tls.certificate {
        self::certificate(certificate, found);
    }
    if let Some(resumption) = &tls.resumption {
        self::resumption(resumption, tls, found);
    }
    if let Some(early) = tls.early_data
        && early.allowed_bytes > 0
        && early.accepted == Some(false)
    {
        let text = format!(
            "tickets allow {} of early data, and the server refused it: machines with different keys, or a guard against replays",
            bytes_text(early.allowed_bytes.into())
        );
        add(found, Severity::Note, "early_data", text);
    }
}

fn certificate(certificate: &Certificate, found: &mut Vec<Finding>) {
    if let Some(fault) = &certificate.fault {
        let text = format!("clients on this host refuse the certificate: {fault}");
        add(found, Severity::Problem, "certificate", text);
    }
    if (0..EXPIRES_SOON).contains(&certificate.days_left) {
        let text = format!("the certificate ends in {} days", certificate.days_left);
        add(found, Severity::Advice, "certificate", text);
    }
    match (certificate.ocsp_staple, &certificate.ocsp_responder) {
        (true, _) => {}
        (false, _) if certificate.must_staple => {
            let text = "the certificate insists on an OCSP staple, and the server sends none: clients that heed it refuse".to_owned();
            add(found, Severity::Problem, "ocsp", text);
        }
        (false, Some(responder)) => {
            let text = format!(
                "no OCSP staple, and the certificate names a responder ({responder}): clients that ask it pay for another connection (nginx: ssl_stapling on, Apache: SSLUseStapling on)"
            );
            add(found, Severity::Advice, "ocsp", text);
        }
        (false, None) => {
            let text = "no OCSP staple, and none is due: the certificate names no responder, ssl_stapling would do nothing".to_owned();
            add(found, Severity::Note, "ocsp", text);
        }
    }
}

fn resumption(resumption: &Resumption, tls: &Tls, found: &mut Vec<Finding>) {
    let asked = resumption.resumed + resumption.refused;
    if resumption.ticket_key_mismatch {
        let text = format!(
            "machines behind this address do not share their ticket keys ({} keys seen): {} of {asked} sessions that were offered were refused. Give all of them the same keys (nginx: ssl_session_ticket_key, Apache: SSLSessionTicketKeyFile, HAProxy: tls-ticket-keys)",
            resumption.ticket_keys.len(),
            resumption.refused,
        );
        add(found, Severity::Problem, "ticket_keys", text);
    } else if resumption.ticket_key_changes > 0 {
        let text = format!(
            "a session was refused where the next ticket was of another key, once in {} connections: two machines with keys of their own, or one that changed its key meanwhile. More connections tell (--connections 30)",
            resumption.connections
        );
        add(found, Severity::Advice, "ticket_keys", text);
    } else if resumption.refused > 0 {
        let text = format!(
            "{} of {asked} sessions that were offered were refused: a cache that is not shared or too small, tickets that may be used once, or keys that change",
            resumption.refused
        );
        add(found, Severity::Advice, "resumption", text);
    } else if asked == 0 && resumption.connections > 1 {
        let price = if tls.version == "TLS 1.3" {
            "costs processor time at each visit"
        } else {
            "costs a round trip at each visit"
        };
        let text = format!("the server gives no sessions to resume, which {price}");
        add(found, Severity::Advice, "resumption", text);
    }
    if let (Some(full @ 1..), Some(0), "TLS 1.3") = (
        resumption.tickets_when_full,
        resumption.tickets_when_resumed,
        tls.version.as_str(),
    ) {
        let text = format!(
            "a resumed connection gets no new ticket (a full one {full}): a client that uses each ticket once, as TLS 1.3 advises, shakes hands in full every {} visits",
            full + 1
        );
        add(found, Severity::Note, "tickets", text);
    }
    if resumption.certificates > 1 {
        let text = format!(
            "{} different certificates behind this address: several machines, not set alike",
            resumption.certificates
        );
        add(found, Severity::Advice, "nodes", text);
    }
}

fn http2(http2: &Http2, rtt_us: u32, found: &mut Vec<Finding>) {
    if rtt_us < FAR_US {
        return;
    }
    let (window, ceiling) = match http2.upload_connection_window_bytes < http2.upload_stream_window_bytes {
        true => (
            http2.upload_connection_window_bytes,
            http2.upload_connection_ceiling_bps,
        ),
        false => (http2.upload_stream_window_bytes, http2.upload_stream_ceiling_bps),
    };
    if ceiling < SLOW_UPLOAD_BPS {
        let text = format!(
            "an upload over HTTP/2 goes at {} at most: {window} B ÷ {} (nginx: http2_body_preread_size, Apache: H2WindowSize, HAProxy: tune.h2.initial-window-size). Downloads are held by the client's own window, not by this one",
            bits_text(ceiling),
            rtt_text(Micros(rtt_us))
        );
        add(found, Severity::Advice, "http2_window", text);
    }
}

fn records(report: &Report, found: &mut Vec<Finding>) {
    let Some(answer) = &report.answer else { return };
    if let (Some(records), Some(flight)) = (answer.records, answer.first_flight)
        && records.first_is_split == Some(true)
        && flight.is_full
    {
        let text = format!(
            "the first record of the answer has {} B and the first flight let out {} B: nothing can be read before a second one, {} later. Smaller records at the start (nginx: ssl_buffer_size 4k) or a larger initcwnd save that round trip",
            records.first_bytes,
            flight.bytes,
            rtt_text(Micros(report.rtt_us)),
        );
        add(found, Severity::Advice, "record_size", text);
    }
}
