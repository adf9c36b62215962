//! Servers that are not nginx.

use anyhow::Result;
use serde_json::json;

use super::{Place, on_the_path, with_certificate};
use crate::suites::check::case::Case;
use crate::suites::check::server::{Server, apache, haproxy, words};

/// Apache httpd, without a staple.
pub fn httpd(place: &Place<'_>) -> Result<(Case, Vec<Server>)> {
    let dir = place.dir.display();
    let directives = format!(
        "SSLEngine on\nSSLProtocol TLSv1.2 +TLSv1.3\nSSLCertificateFile {dir}/stapled.crt\nSSLCertificateKeyFile {dir}/stapled.key\n\
         SSLSessionTicketKeyFile {dir}/key48\nProtocols h2 http/1.1\nH2WindowSize 262144\nH2MaxSessionStreams 55"
    );
    let server = apache(place.host, place.dir, 8005, place.address, &directives)?;
    let case = on_the_path(Case::new("Apache httpd", 8005).path("/big").connections(4))
        .is("/tls/version", "TLS 1.3")
        .is("/tls/alpn", "h2")
        .is("/tls/versions/1/accepted", true)
        // It gives two tickets with a full handshake and none with a resumed one.
        .is("/tls/resumption/full", 2)
        .is("/tls/resumption/resumed", 2)
        .is("/tls/resumption/share", 1.0)
        .is("/tls/resumption/tickets_when_full", 2)
        .is("/tls/resumption/tickets_when_resumed", 0)
        .is("/tls/resumption/ticket_keys", json!(["48".repeat(16)]))
        .finds("tickets")
        .is("/tls/early_data/allowed_bytes", 0)
        .is("/http2/max_concurrent_streams", 55)
        .is("/http2/upload_stream_window_bytes", 262_144)
        .is("/http2/upload_connection_window_bytes", 2_147_483_647)
        .is("/http2/status", 200)
        .is("/answer/status", 200)
        .is("/first_byte/round_trips", 3)
        .finds("ocsp")
        .exits(0);
    Ok((with_certificate(place, case, "stapled", false)?, vec![server]))
}

/// HAProxy, which answers itself.
pub fn haproxy_tls(place: &Place<'_>) -> Result<(Case, Vec<Server>)> {
    let (address, dir) = (place.address, place.dir.display());
    let config = format!(
        "global\ntune.h2.initial-window-size 196608\ntune.h2.max-concurrent-streams 60\n\
         defaults\nmode http\ntimeout connect 5s\ntimeout client 60s\ntimeout server 60s\n\
         frontend tls\nbind {address}:8006 ssl crt {dir}/haproxy.pem alpn h2,http/1.1 ssl-min-ver TLSv1.2\n\
         http-request return status 200 content-type text/plain file {dir}/www/index.html\n"
    );
    let server = haproxy(place.host, place.dir, 8006, &config)?;
    let case = on_the_path(Case::new("HAProxy", 8006))
        .is("/tls/version", "TLS 1.3")
        .is("/tls/alpn", "h2")
        .is("/tls/versions/1/accepted", true)
        .is("/tls/versions/1/resumed", true)
        .is("/tls/resumption/resumed", 2)
        .is("/http2/max_concurrent_streams", 60)
        .is("/http2/upload_stream_window_bytes", 196_608)
        .is("/http2/status", 200)
        .is("/answer/status", 200)
        .is("/first_byte/round_trips", 3)
        .silent_on("ocsp")
        .silent_on("resumption")
        .exits(0);
    Ok((with_certificate(place, case, "stapled", true)?, vec![server]))
}

/// TLS 1.3 alone, with a group that nobody sends keys for. Its guard against replays uses a ticket up with the first hello, and
/// does not know it in the second one: it is off.
pub fn openssl(place: &Place<'_>) -> Result<(Case, Vec<Server>)> {
    let accept = format!("{}:8007", place.address);
    let words = words(
        "openssl",
        &[
            "s_server",
            "-accept",
            &accept,
            "-cert",
            "stapled.crt",
            "-key",
            "stapled.key",
            "-status_file",
            "stapled.ocsp",
            "-tls1_3",
            "-groups",
            "P-384",
            "-max_early_data",
            "16384",
            "-www",
            "-no_anti_replay",
        ],
    );
    let server = Server::start(place.host, place.dir, 8007, &words)?;
    let case = on_the_path(Case::new("openssl s_server, another group", 8007))
        .is("/tls/version", "TLS 1.3")
        .is("/tls/group", "secp384r1")
        .is("/tls/hello_retry", true)
        .is("/tls/versions/0/accepted", true)
        .is("/tls/versions/1/accepted", false)
        .is("/tls/resumption/resumed", 2)
        .is("/tls/early_data/allowed_bytes", 16_384)
        .is("/tls/early_data/accepted", false)
        .is("/first_byte/round_trips", 4)
        .lacks("/http2")
        .finds("hello_retry")
        .finds("early_data")
        .silent_on("ocsp")
        .exits(0);
    Ok((with_certificate(place, case, "stapled", true)?, vec![server]))
}

/// HTTP/2 alone.
pub fn nghttpd(place: &Place<'_>) -> Result<(Case, Vec<Server>)> {
    let address = place.address.to_string();
    let words = words(
        "nghttpd",
        &[
            "-a",
            &address,
            "-d",
            "www",
            "-w",
            "20",
            "-W",
            "22",
            "-m",
            "33",
            "8008",
            "plain.key",
            "plain.crt",
        ],
    );
    let server = Server::start(place.host, place.dir, 8008, &words)?;
    let case = on_the_path(Case::new("nghttpd", 8008).path("/big"))
        .is("/tls/alpn", "h2")
        .is("/http2/max_concurrent_streams", 33)
        .is("/http2/upload_stream_window_bytes", (1 << 20) - 1)
        .is("/http2/upload_connection_window_bytes", (1 << 22) - 1)
        .is("/http2/status", 200)
        .is("/answer/protocol", "h2")
        .within("/answer/first_flight/segments", 10.0, 12.0)
        // Of the groups that we send keys for it takes none.
        .is("/tls/key_shares", json!(["X25519MLKEM768", "x25519"]))
        .is("/tls/hello_retry", true)
        .is("/tls/group", "secp256r1")
        .is("/answer/records/first_is_split", true)
        .is("/first_byte/round_trips", 5)
        .finds("hello_retry")
        .exits(0);
    Ok((with_certificate(place, case, "plain", false)?, vec![server]))
}
