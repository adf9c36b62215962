//! nginx, set in several ways.

use std::net::SocketAddr;

use anyhow::Result;
use serde_json::json;

use super::{EVERYTHING, Place, on_the_path, with_certificate};
use crate::suites::check::case::Case;
use crate::suites::check::server::{Server, nginx};

/// nginx with all that speeds a visit up, and default buffers.
pub fn everything(place: &Place<'_>) -> Result<(Case, Vec<Server>)> {
    let dir = place.dir.display();
    let server = place.nginx(
        EVERYTHING,
        "stapled",
        &format!(
            "ssl_protocols TLSv1.2 TLSv1.3;\nssl_stapling on;\nssl_stapling_file {dir}/stapled.ocsp;\nssl_early_data on;\n\
             ssl_session_ticket_key {dir}/key1;\nhttp2_body_preread_size 128k;\nhttp2_max_concurrent_streams 77;"
        ),
    )?;
    let case = on_the_path(Case::new("nginx, all on", EVERYTHING).path("/big").connections(4))
        .claim("first-byte=120ms")
        .claim("rate=100mbit size=8MiB")
        .claim("rate=30mbit size=8MiB")
        .is("/tls/version", "TLS 1.3")
        .is("/tls/cipher", "TLS_AES_256_GCM_SHA384")
        .is("/tls/group", "x25519")
        .is("/tls/key_shares", json!(["X25519MLKEM768", "x25519"]))
        .is("/tls/hello_retry", false)
        .is("/tls/alpn", "h2")
        .is("/tls/client_hello_segments", 2)
        .is("/tls/server_flight_is_split", false)
        .is("/tls/versions/1/version", "TLS 1.2")
        .is("/tls/versions/1/accepted", true)
        .is("/tls/versions/1/resumed", true)
        .is("/tls/resumption/full", 1)
        .is("/tls/resumption/resumed", 3)
        .is("/tls/resumption/refused", 0)
        .is("/tls/resumption/ticket_keys", json!(["11".repeat(16)]))
        .is("/tls/resumption/ticket_key_mismatch", false)
        .is("/tls/resumption/certificates", 1)
        .is("/tls/resumption/tickets_when_full", 2)
        .is("/tls/resumption/tickets_when_resumed", 1)
        .silent_on("tickets")
        .is("/tls/early_data/allowed_bytes", 16_384)
        .is("/tls/early_data/accepted", true)
        .is("/http2/max_concurrent_streams", 77)
        .is("/http2/upload_stream_window_bytes", 131_072)
        .is("/http2/upload_connection_window_bytes", 2_147_483_647)
        .is("/http2/max_frame_bytes", 16_777_215)
        .is("/http2/status", 200)
        .is("/answer/protocol", "http/1.1")
        .is("/answer/status", 200)
        .is("/answer/is_whole", true)
        .within("/answer/first_flight/segments", 10.0, 12.0)
        .is("/answer/records/first_is_split", true)
        .is("/answer/records/largest_bytes", 16_406)
        // The first record takes one more.
        .is("/first_byte/round_trips", 4)
        .is("/claims/0/possible", false)
        .is("/claims/1/possible", false)
        .is("/claims/2/possible", true)
        .finds("claim")
        .finds("record_size")
        .finds("http2_window")
        .silent_on("ocsp")
        .silent_on("ticket_keys")
        .silent_on("resumption")
        .exits(7);
    Ok((with_certificate(place, case, "stapled", true)?, vec![server]))
}

/// The same server's address of the other family.
pub fn over_ipv6(place: &Place<'_>) -> Result<(Case, Vec<Server>)> {
    let (to, dir) = (SocketAddr::new(place.ipv6, 8013), place.dir.display());
    let http = format!(
        "server {{\nlisten {to} ssl http2;\nlisten {}:8013 ssl http2;\nssl_protocols TLSv1.3;\nssl_certificate {dir}/plain.crt;\n\
         ssl_certificate_key {dir}/plain.key;\nroot {dir}/www;\n}}\n",
        place.address
    );
    let server = nginx(place.host, place.dir, 8013, &http)?;
    let case = Case::new("nginx over IPv6", 8013)
        .over_ipv6()
        .is("/checked", to.to_string())
        .is("/tcp/mss_bytes", 1_428)
        .is("/tls/version", "TLS 1.3")
        .is("/tls/versions/1/accepted", false)
        .is("/tls/resumption/resumed", 2)
        .is("/http2/status", 200)
        .is("/answer/status", 200)
        .is("/first_byte/round_trips", 3)
        .exits(0);
    Ok((case, vec![server]))
}

/// A certificate that has had its time, and insists on a staple that does not come.
pub fn stale(place: &Place<'_>) -> Result<(Case, Vec<Server>)> {
    let server = place.nginx(8011, "stale", "ssl_protocols TLSv1.2 TLSv1.3;")?;
    let case = on_the_path(Case::new("a stale certificate", 8011))
        .is("/tls/certificate/trusted", false)
        .is("/tls/certificate/fault", "it has expired")
        .is("/tls/certificate/must_staple", true)
        .within("/tls/certificate/days_left", -2.0, -1.0)
        .finds("certificate")
        .finds("ocsp")
        .exits(7);
    Ok((case, vec![server]))
}

/// A chain that ten segments do not carry.
pub fn large(place: &Place<'_>) -> Result<(Case, Vec<Server>)> {
    let server = place.nginx(8012, "large", "ssl_protocols TLSv1.2 TLSv1.3;")?;
    let case = on_the_path(Case::new("a large chain", 8012))
        .is("/tls/certificate/chain_bytes", place.pki.der_bytes("large")?)
        .is("/tls/server_flight_is_split", true)
        .is("/first_byte/round_trips", 4)
        .finds("chain")
        .exits(0);
    Ok((case, vec![server]))
}

/// nginx as it was: TLS 1.2, no sessions, no HTTP/2, no staple; and small records.
pub fn old(place: &Place<'_>) -> Result<(Case, Vec<Server>)> {
    let (address, dir) = (place.address, place.dir.display());
    let http = format!(
        "server {{\nlisten {address}:8002 ssl;\nssl_certificate {dir}/plain.crt;\nssl_certificate_key {dir}/plain.key;\n\
         root {dir}/www;\nssl_protocols TLSv1.2;\nssl_session_tickets off;\nssl_session_cache off;\nssl_buffer_size 4k;\n}}\n"
    );
    let server = nginx(place.host, place.dir, 8002, &http)?;
    let case = on_the_path(Case::new("nginx, TLS 1.2 without sessions", 8002).path("/big"))
        .is("/tls/version", "TLS 1.2")
        .is("/tls/cipher", "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384")
        .is("/tls/group", "x25519")
        .is("/tls/alpn", "http/1.1")
        .is("/tls/versions/0/version", "TLS 1.3")
        .is("/tls/versions/0/accepted", false)
        .is("/tls/versions/1/accepted", true)
        .is("/tls/versions/1/resumed", false)
        .is("/tls/resumption/resumed", 0)
        .is("/tls/resumption/refused", 0)
        .lacks("/tls/resumption/share")
        .lacks("/tls/early_data")
        .lacks("/http2")
        .within("/answer/first_flight/segments", 10.0, 12.0)
        .is("/answer/records/first_is_split", false)
        .within("/answer/records/largest_bytes", 4_096.0, 4_125.0)
        .is("/first_byte/round_trips", 4)
        .finds("tls_version")
        .finds("resumption")
        .finds("ocsp")
        .silent_on("record_size")
        .exits(0);
    Ok((with_certificate(place, case, "plain", false)?, vec![server]))
}
