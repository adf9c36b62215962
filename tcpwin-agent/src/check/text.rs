//! The report as people read it.

use std::io::{self, Write};

use super::budget::Budget;
use super::fastopen::{FastOpen, State};
use super::report::{Answered, Http2, Report, Severity, Tls};
use crate::units::{Micros, bits_text, bytes_text, rtt_text};

/// Writes the report.
///
/// # Errors
/// When `to` cannot be written.
pub fn write(report: &Report, to: &mut impl Write) -> io::Result<()> {
    writeln!(
        to,
        "{}:{} at {}, round trip {}, {} connections\n",
        report.host,
        report.port,
        report.checked,
        rtt_text(Micros(report.rtt_us)),
        report.connections
    )?;
    findings(report, to)?;
    addresses(report, to)?;
    tcp(report, to)?;
    if let Some(told) = &report.fastopen {
        labelled("fast open", &fast_open(told), to)?;
    }
    if let Some(told) = &report.tls {
        tls(told, to)?;
    }
    if let Some(told) = &report.http2 {
        labelled("http/2", &http2(told), to)?;
    }
    if let Some(told) = &report.answer {
        labelled("answer", &answer(told), to)?;
    }
    if let Some(told) = &report.first_byte {
        writeln!(to)?;
        first_byte(told, report.rtt_us >= FAR_US, to)?;
    }
    if report.rtt_us >= FAR_US {
        writeln!(to)?;
        downloads(report, to)?;
    }
    for claim in &report.claims {
        let word = if claim.possible { "possible" } else { "impossible" };
        labelled(
            "claim",
            &format!("`{}` is {word}: {}", claim.claim, claim.why),
            to,
        )?;
    }
    for part in &report.failed {
        labelled("not done", part, to)?;
    }
    Ok(())
}

fn findings(report: &Report, to: &mut impl Write) -> io::Result<()> {
    for finding in &report.findings {
        let label = match finding.severity {
            Severity::Problem => "PROBLEM",
            Severity::Advice => "advice",
            Severity::Note => "note",
        };
        labelled(label, &finding.text, to)?;
    }
    if !report.findings.is_empty() {
        writeln!(to)?;
    }
    Ok(())
}

fn addresses(report: &Report, to: &mut impl Write) -> io::Result<()> {
    if let Some(resolver) = report.resolver {
        let text = format!(
            "{} by getaddrinfo, {} for the same again",
            ms(resolver.first_us),
            ms(resolver.again_us)
        );
        labelled("names", &text, to)?;
    }
    for (at, address) in report.addresses.iter().enumerate() {
        let label = if at == 0 { "addresses" } else { "" };
        let took = match (address.connect_us, address.tls_us) {
            (Some(tcp), Some(tls)) => format!("tcp {}, tls {}", ms(tcp), ms(tls)),
            (Some(tcp), None) => format!("tcp {}", ms(tcp)),
            (None, _) => "no connection".to_owned(),
        };
        labelled(label, &format!("{:<28} {took}", address.address), to)?;
    }
    Ok(())
}

fn tcp(report: &Report, to: &mut impl Write) -> io::Result<()> {
    let tcp = &report.tcp;
    let yes = |is: bool, what: &str| match is {
        true => what.to_owned(),
        false => format!("no {what}"),
    };
    let mut parts = Vec::new();
    parts.extend(tcp.mss_bytes.map(|mss| format!("mss {mss} B")));
    match (tcp.server_wscale, tcp.our_wscale) {
        (Some(theirs), Some(ours)) => parts.push(format!("wscale {theirs} theirs, {ours} ours")),
        _ => parts.push("no window scaling".to_owned()),
    }
    if let (Some(first), Some(largest)) = (tcp.server_window_bytes, tcp.largest_window_bytes) {
        parts.push(format!(
            "its window {} at first, {} at most",
            bytes_text(first.into()),
            bytes_text(largest)
        ));
    }
    parts.push(yes(tcp.sack, "sack"));
    parts.push(yes(tcp.timestamps, "timestamps"));
    parts.push(yes(tcp.ecn, "ecn"));
    labelled("tcp", &parts.join(", "), to)
}

fn fast_open(told: &FastOpen) -> String {
    let last = told.attempts.last().map_or(0, |attempt| attempt.first_answer_us);
    match told.state {
        State::ClientOff => "off in this host's clients".to_owned(),
        State::Accepted => format!(
            "works: data in the SYN was taken, first answer after {}",
            ms(last)
        ),
        State::NoCookie => "the server gives no cookie".to_owned(),
        State::DataRefused => "cookie given, data in the SYN not taken".to_owned(),
        State::Blackholed => format!(
            "blackholed: SYNs of it get no answer, first answer after {}",
            ms(last)
        ),
        State::Unclear => "a SYN got lost; no more is known".to_owned(),
        State::Failed => "not known: nothing was answered".to_owned(),
    }
}

fn tls(told: &Tls, to: &mut impl Write) -> io::Result<()> {
    let mut text = format!("{}, {}", told.version, told.cipher);
    if let Some(group) = &told.group {
        text += &format!(", {group}");
    }
    text += &format!(", in {}", ms(told.handshake_us));
    if told.hello_retry {
        text += " with a second hello";
    }
    text += &match &told.alpn {
        Some(alpn) => format!(", speaks {alpn}"),
        None => ", no ALPN".to_owned(),
    };
    labelled("tls", &text, to)?;
    let text = format!(
        "our hello {} B in {} segments (keys for {}); the server's flight {} B",
        told.client_hello_bytes,
        told.client_hello_segments,
        told.key_shares.join(", "),
        told.server_flight_bytes
    );
    labelled("", &text, to)?;
    for version in told
        .versions
        .iter()
        .filter(|version| version.version != told.version)
    {
        labelled("", &self::version(version), to)?;
    }
    if let Some(resumption) = &told.resumption {
        let share = resumption
            .share
            .map_or(String::new(), |share| format!(" ({:.0} %)", share * 100.0));
        let keys = match resumption.ticket_keys.len() {
            0 => String::new(),
            1 => format!(", ticket key {}…", &resumption.ticket_keys[0][..8]),
            count => format!(", {count} ticket keys"),
        };
        let text = format!(
            "{} connections: {} full, {} resumed{share}, {} refused{keys}",
            resumption.connections, resumption.full, resumption.resumed, resumption.refused
        );
        labelled("sessions", &text, to)?;
    }
    if let Some(early) = told.early_data {
        let text = match (early.allowed_bytes, early.accepted) {
            (0, _) => "not allowed".to_owned(),
            (bytes, Some(true)) => format!("{} allowed, and taken", bytes_text(bytes.into())),
            (bytes, Some(false)) => format!("{} allowed, and refused", bytes_text(bytes.into())),
            (bytes, None) => format!("{} allowed", bytes_text(bytes.into())),
        };
        labelled("0-rtt", &text, to)?;
    }
    if let Some(certificate) = &told.certificate {
        let trusted = if certificate.trusted {
            "trusted"
        } else {
            "NOT trusted"
        };
        let text = format!(
            "{}, {} days left, {}, {trusted}; {} in the chain, {} B",
            certificate.names.join(" "),
            certificate.days_left,
            certificate.key,
            certificate.chain,
            certificate.chain_bytes
        );
        labelled("certificate", &text, to)?;
        let staple = match (certificate.ocsp_staple, &certificate.ocsp_responder) {
            (true, _) => format!("stapled, {} B", certificate.ocsp_staple_bytes),
            (false, Some(responder)) => format!("not stapled; responder {responder}"),
            (false, None) => "not stapled; the certificate names no responder".to_owned(),
        };
        labelled("ocsp", &staple, to)?;
    }
    Ok(())
}

fn version(version: &super::report::Version) -> String {
    if !version.accepted {
        let reason = version.error.as_deref().unwrap_or("refused");
        return format!("{}: no ({reason})", version.version);
    }
    let mut text = format!("{} too", version.version);
    if let Some(took) = version.handshake_us {
        text += &format!(", in {}", ms(took));
    }
    text += &match (version.resumed, version.resumed_us) {
        (Some(true), Some(took)) => format!(", resumed in {}", ms(took)),
        (Some(false), _) => ", not resumed".to_owned(),
        _ => String::new(),
    };
    text
}

fn http2(told: &Http2) -> String {
    let streams = told
        .max_concurrent_streams
        .map_or("any number of streams".to_owned(), |streams| {
            format!("{streams} streams")
        });
    format!(
        "{streams}, uploads: {} B a stream ({} at most), {} B the connection ({}); frames to {} B. Downloads go by the client's own window: one of 65535 B allows {}",
        told.upload_stream_window_bytes,
        bits_text(told.upload_stream_ceiling_bps),
        told.upload_connection_window_bytes,
        bits_text(told.upload_connection_ceiling_bps),
        told.max_frame_bytes,
        bits_text(told.download_default_client_ceiling_bps),
    )
}

fn answer(told: &Answered) -> String {
    let status = told
        .status
        .map_or("no HTTP".to_owned(), |status| status.to_string());
    let cut = if told.is_whole { "" } else { " and more" };
    let mut text = format!(
        "{} {}: {status}, {}{cut}",
        told.protocol,
        told.path,
        bytes_text(told.bytes)
    );
    if let Some(flight) = told.first_flight {
        text += &match flight.segments {
            Some(segments) => format!(", first flight {} B = {segments} segments", flight.bytes),
            None => format!(", in one flight of {} B", flight.bytes),
        };
    }
    if let Some(records) = told.records {
        text += &format!(
            ", records {} B at first, {} B at most",
            records.first_bytes, records.largest_bytes
        );
    }
    text
}

fn first_byte(told: &Budget, is_far: bool, to: &mut impl Write) -> io::Result<()> {
    let text = format!(
        "{}; {} round trips take {} at least",
        ms(told.measured_us),
        told.round_trips,
        ms(told.least_us)
    );
    labelled("first byte", &text, to)?;
    for step in &told.steps {
        let least = match (step.round_trips, step.least_us) {
            (Some(trips), Some(least)) => format!("{trips} × rtt = {}", ms(least)),
            _ => String::new(),
        };
        labelled(
            "",
            &format!("{:<8} {:>9}   {least}", step.name, ms(step.measured_us)),
            to,
        )?;
    }
    for saving in told.savings.iter().filter(|_| is_far) {
        labelled(
            "saves",
            &format!("{}  {}", ms(saving.saves_us), saving.change),
            to,
        )?;
    }
    Ok(())
}

fn downloads(report: &Report, to: &mut impl Write) -> io::Result<()> {
    for (at, download) in report.download.iter().enumerate() {
        let label = if at == 0 { "download" } else { "" };
        let seen = if download.first_flight_is_measured {
            "as seen"
        } else {
            "the kernel's own"
        };
        let text = format!(
            "{:<9} {:>2} round trips = {} at least, {} at most (from {} segments, {seen})",
            bytes_text(download.bytes),
            download.round_trips,
            ms(download.least_us),
            bits_text(download.most_bps),
            download.first_flight_segments,
        );
        labelled(label, &text, to)?;
    }
    Ok(())
}

/// `181 ms`, `0.42 ms`.
fn ms(us: u64) -> String {
    rtt_text(Micros(u32::try_from(us).unwrap_or(u32::MAX)))
}

/// Below this round-trip time nobody notices one more, nor slow start.
const FAR_US: u32 = 1_000;
/// Columns of a line.
const WIDTH: usize = 110;
const LABEL: usize = 12;

/// A label and its text, wrapped at words under itself; the blanks of a table are kept.
fn labelled(label: &str, text: &str, to: &mut impl Write) -> io::Result<()> {
    let mut line = format!("{label:<LABEL$}");
    let mut columns = LABEL;
    for (at, word) in text.split(' ').enumerate() {
        let length = word.chars().count();
        if columns + 1 + length > WIDTH && columns > LABEL {
            writeln!(to, "{}", line.trim_end())?;
            line = " ".repeat(LABEL);
            columns = LABEL;
        } else if at > 0 {
            line.push(' ');
            columns += 1;
        }
        // Certificates and servers may say what a terminal would obey.
        line.extend(
            word.chars()
                .map(|letter| if letter.is_control() { '\u{fffd}' } else { letter }),
        );
        columns += length;
    }
    writeln!(to, "{}", line.trim_end())
}

#[cfg(test)]
mod tests;
