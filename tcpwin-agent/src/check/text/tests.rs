//! The page that people see, and that docs/check.md names every field of the JSON.

use super::write;
use crate::check::budget::{Course, Shape, budget};
use crate::check::certificate::Certificate;
use crate::check::claim::Judged;
use crate::check::fastopen::{Attempt, Fallback, FastOpen, State};
use crate::check::find::findings;
use crate::check::flight::{Flight, Records};
use crate::check::report::{
    Address, Answered, Download, EarlyData, Http2, Report, Resolver, Tcp, Tls, Version,
};
use crate::check::tickets::Resumption;
use crate::units::{Micros, Nanos};

/// Milliseconds.
const fn ms(count: u64) -> Nanos {
    Nanos(count * 1_000_000)
}

/// A server far away, with machines that do not share their keys.
fn report() -> Report {
    let mut report = Report {
        host: "www.example.org".to_owned(),
        port: 443,
        resolver: Some(Resolver {
            first_us: 24_000,
            again_us: 180,
        }),
        addresses: vec![
            Address {
                address: "203.0.113.7:443".to_owned(),
                connect_us: Some(181_200),
                tls_us: Some(183_000),
                error: None,
            },
            Address {
                address: "[2001:db8::7]:443".to_owned(),
                error: Some("[2001:db8::7]:443 cannot be reached from this host: no route".to_owned()),
                ..Address::default()
            },
        ],
        checked: "203.0.113.7:443".to_owned(),
        rtt_us: 181_000,
        tcp: Tcp {
            connect_us: 181_200,
            rtt_us: Some(181_100),
            mss_bytes: Some(1_448),
            our_mss_bytes: Some(1_448),
            window_scaling: true,
            server_wscale: Some(7),
            our_wscale: Some(7),
            server_window_bytes: Some(65_160),
            largest_window_bytes: Some(65_535 << 7),
            sack: true,
            timestamps: true,
            ecn: false,
        },
        fastopen: Some(FastOpen {
            state: State::Blackholed,
            cookie: true,
            attempts: vec![Attempt {
                had_cookie: true,
                data_accepted: false,
                fallback: Some(Fallback::SynRetransmitted),
                retransmits: 2,
                first_answer_us: 1_420_000,
            }],
        }),
        tls: Some(tls()),
        http2: Some(Http2 {
            max_concurrent_streams: Some(128),
            upload_stream_window_bytes: 65_535,
            upload_connection_window_bytes: 2_147_483_647,
            max_frame_bytes: 16_384,
            header_table_bytes: 4_096,
            upload_stream_ceiling_bps: 2_896_574.0,
            upload_connection_ceiling_bps: 9.49e10,
            download_default_client_ceiling_bps: 2_896_574.0,
            status: Some(200),
            first_byte_us: Some(190_000),
        }),
        answer: Some(Answered {
            path: "/".to_owned(),
            protocol: "http/1.1",
            status: Some(200),
            first_byte_us: 367_000,
            transfer_us: 540_000,
            bytes: 300_239,
            is_whole: true,
            first_flight: Some(Flight {
                bytes: 15_102,
                is_full: true,
                segments: Some(12),
            }),
            records: Some(Records {
                first_bytes: 16_406,
                largest_bytes: 16_406,
                count: 22,
                first_spread_us: 184_000,
                first_is_split: Some(true),
            }),
        }),
        first_byte: Some(budget(&Course {
            dns: Some(ms(24)),
            tcp: ms(181),
            tls: Some(Shape {
                took: ms(183),
                is_13: true,
                is_retry: false,
                resumes: true,
                is_split: Some(false),
            }),
            request: ms(367),
            record_is_split: true,
            rtt: Micros(181_000),
            early_data: true,
            ..Course::default()
        })),
        download: vec![Download {
            bytes: 8 << 20,
            first_flight_segments: 12,
            first_flight_is_measured: true,
            round_trips: 9,
            least_us: 1_629_000,
            most_bps: 41.2e6,
        }],
        claims: vec![Judged {
            claim: "rate=100mbit size=8MiB".to_owned(),
            possible: false,
            why: "8.00 MiB from 12 segments of 1448 B takes slow start 9 round trips of 181 ms = 1.63 s at least".to_owned(),
        }],
        connections: 21,
        ..Report::default()
    };
    report.findings = findings(&report);
    report
}

fn tls() -> Tls {
    Tls {
        version: "TLS 1.3".to_owned(),
        cipher: "TLS_AES_256_GCM_SHA384".to_owned(),
        group: Some("x25519".to_owned()),
        key_shares: vec!["X25519MLKEM768".to_owned(), "x25519".to_owned()],
        alpn: Some("h2".to_owned()),
        handshake_us: 183_000,
        client_hello_bytes: 1_486,
        client_hello_segments: 2,
        server_flight_bytes: 3_210,
        server_flight_is_split: Some(false),
        versions: vec![Version {
            version: "TLS 1.2".to_owned(),
            accepted: true,
            cipher: Some("TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384".to_owned()),
            handshake_us: Some(364_000),
            resumed: Some(true),
            resumed_us: Some(183_000),
            error: None,
        }],
        certificate: Some(Certificate {
            trusted: true,
            names: vec!["www.example.org".to_owned(), "a\u{1b}[31mb.example".to_owned()],
            issuer: "CN=authority".to_owned(),
            not_before: 1_700_000_000,
            not_after: 1_707_776_000,
            days_left: 61,
            key: "ECDSA 256".to_owned(),
            chain: 2,
            chain_bytes: 2_100,
            ocsp_responder: Some("http://ocsp.example.org/".to_owned()),
            ..Certificate::default()
        }),
        resumption: Some(Resumption {
            connections: 10,
            full: 6,
            resumed: 4,
            refused: 5,
            share: Some(4.0 / 9.0),
            tickets_when_full: Some(2),
            tickets_when_resumed: Some(1),
            ticket_keys: vec!["22".repeat(16), "33".repeat(16)],
            ticket_key_mismatch: true,
            ticket_key_changes: 5,
            certificates: 1,
        }),
        early_data: Some(EarlyData {
            allowed_bytes: 16_384,
            accepted: Some(true),
        }),
        ..Tls::default()
    }
}

#[test]
fn the_page_that_people_see() {
    let mut page = Vec::new();
    write(&report(), &mut page).expect("memory");
    let page = String::from_utf8(page).expect("text");
    assert!(page.lines().all(|line| line.chars().count() <= 112), "{page}");
    assert!(!page.contains('\u{1b}'), "what a certificate says is not obeyed");
    insta::assert_snapshot!(page);
}

#[test]
fn the_documentation_names_every_field() {
    let docs = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/check.md"));
    let mut report = report();
    report.tls_error = Some(String::new());
    report.failed.push(String::new());
    if let Some(tls) = &mut report.tls {
        tls.versions[0].error = Some(String::new());
        if let Some(certificate) = &mut tls.certificate {
            certificate.fault = Some(String::new());
        }
    }
    let value = serde_json::to_value(&report).expect("JSON");
    let mut fields = Vec::new();
    collect(&value, &mut fields);
    assert!(fields.len() > 100, "{}", fields.len());
    for field in fields {
        let named = [
            format!("`{field}`"),
            format!("`{field}[]`"),
            format!(".{field}`"),
            format!(".{field}[]`"),
        ];
        assert!(
            named.iter().any(|name| docs.contains(name)),
            "docs/check.md does not name {field}"
        );
    }
}

fn collect(value: &serde_json::Value, fields: &mut Vec<String>) {
    match value {
        serde_json::Value::Object(object) => {
            for (name, inner) in object {
                fields.push(name.clone());
                collect(inner, fields);
            }
        }
        serde_json::Value::Array(array) => array.iter().for_each(|inner| collect(inner, fields)),
        _ => {}
    }
}
