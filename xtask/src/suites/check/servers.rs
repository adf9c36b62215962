//! The servers, each with its truth.

use std::fs;
use std::net::{IpAddr, SocketAddr};
use std::path::Path;

use anyhow::{Context as _, Result};
use serde_json::json;

use super::case::Case;
use super::pki::{DAYS, Pki, RESPONDER};
use super::server::{Server, apache, haproxy, nginx, words};
use super::{RTT_MS, SERVER};
use crate::lab::net::Net;
use crate::lab::netns::NetNs;

/// Where the nginx listens that has everything on.
pub const EVERYTHING: u16 = 8001;
/// Of the page that is larger than any first flight.
const BIG_BYTES: usize = 300_000;

/// What all servers are made of.
struct Place<'a> {
    host: &'a NetNs,
    dir: &'a Path,
    pki: &'a Pki,
    address: IpAddr,
    ipv6: IpAddr,
}

/// Starts them all.
pub fn start(net: &Net, pki: &Pki, dir: &Path) -> Result<(Vec<Case>, Vec<Server>)> {
    let www = dir.join("www");
    fs::create_dir_all(&www).context("cannot create a folder")?;
    fs::write(www.join("big"), vec![0; BIG_BYTES]).context("cannot write a page")?;
    fs::write(www.join("index.html"), "ok\n").context("cannot write a page")?;
    for (file, byte) in [("key1", 0x11), ("key2", 0x22), ("key3", 0x33)] {
        fs::write(dir.join(file), [[byte; 16]; 5].concat()).context("cannot write a key")?;
    }
    fs::write(dir.join("key48"), [0x48; 48]).context("cannot write a key")?;
    let place = Place {
        host: net.host(SERVER),
        dir,
        pki,
        address: net.address(SERVER, false),
        ipv6: net.address(SERVER, true),
    };
    let starts = [
        everything,
        over_ipv6,
        old,
        stale,
        large,
        apart,
        together,
        httpd,
        haproxy_tls,
        openssl,
        nghttpd,
        other,
        plain,
    ];
    let (mut cases, mut servers) = (Vec::new(), Vec::new());
    for start in starts {
        let (case, own) = start(&place)?;
        cases.push(case);
        servers.extend(own);
    }
    let hosts = format!(
        "{} {}\n{} {}\n",
        place.address,
        pki.name(),
        place.ipv6,
        pki.name()
    );
    fs::write(pki.file("hosts"), hosts).context("cannot write the hosts")?;
    let trip_us = RTT_MS * 990.0;
    cases.push(
        Case::new("a name with two addresses", 8013)
            .by_name("server.test")
            .is("/host", "server.test")
            .within("/resolver/first_us", 1.0, 1e7)
            .within("/addresses/0/connect_us", trip_us, f64::MAX)
            .within("/addresses/1/connect_us", trip_us, f64::MAX)
            .within("/addresses/0/tls_us", trip_us, f64::MAX)
            .within("/addresses/1/tls_us", trip_us, f64::MAX)
            .lacks("/addresses/2")
            .is("/first_byte/steps/0/name", "dns")
            .silent_on("address")
            .silent_on("certificate")
            .exits(0),
    );
    cases.push(
        Case::new("a name without an address", 8013)
            .by_name("nobody.test")
            .exits(1)
            .says("knows no address of nobody.test"),
    );
    cases.push(
        Case::new("another name", 8002)
            .asks_for("other.test")
            .is("/tls/certificate/trusted", false)
            .is("/tls/certificate/fault", "it is not for this name")
            .finds("certificate")
            .exits(7),
    );
    cases.push(
        Case::new("nothing listens", 8010)
            .exits(1)
            .says("refuses connections"),
    );
    Ok((cases, servers))
}

impl Place<'_> {
    fn nginx(&self, port: u16, certificate: &str, directives: &str) -> Result<Server> {
        let (address, dir) = (self.address, self.dir.display());
        let http = format!(
            "server {{\nlisten {address}:{port} ssl http2;\nssl_certificate {dir}/{certificate}.crt;\n\
             ssl_certificate_key {dir}/{certificate}.key;\nroot {dir}/www;\n{directives}\n}}\n"
        );
        nginx(self.host, self.dir, port, &http)
    }
}

/// What the path and two kernels give, whatever the server.
fn on_the_path(case: Case) -> Case {
    case.within("/rtt_us", RTT_MS * 999.0, RTT_MS * 1_100.0)
        .is("/tcp/window_scaling", true)
        .is("/tcp/server_wscale", 7)
        .is("/tcp/our_wscale", 7)
        .is("/tcp/mss_bytes", 1_448)
        .is("/tcp/our_mss_bytes", 1_448)
        .is("/tcp/server_window_bytes", 65_160)
        .is("/tcp/largest_window_bytes", 65_535 << 7)
        .is("/tcp/sack", true)
        .is("/tcp/timestamps", true)
        .is("/fastopen/state", "no_cookie")
        .lacks("/failed")
}

fn with_certificate(place: &Place<'_>, case: Case, stem: &str, stapled: bool) -> Result<Case> {
    let bytes = place.pki.der_bytes(stem)?;
    let days = f64::from(DAYS);
    let case = case
        .is("/tls/certificate/trusted", true)
        .is(
            "/tls/certificate/names",
            json!([place.pki.name(), place.address.to_string()]),
        )
        .within("/tls/certificate/days_left", days - 1.0, days)
        .is("/tls/certificate/key", "ECDSA 256")
        .is("/tls/certificate/issuer", "CN=authority")
        .is("/tls/certificate/chain", 1)
        .is("/tls/certificate/chain_bytes", bytes)
        .is("/tls/certificate/ocsp_staple", stapled)
        .is("/tls/certificate/must_staple", false)
        .silent_on("certificate");
    let response = match stapled {
        true => fs::metadata(place.pki.file(&format!("{stem}.ocsp")))?.len(),
        false => 0,
    };
    let case = case.is("/tls/certificate/ocsp_staple_bytes", response);
    Ok(match stem {
        "stapled" => case.is("/tls/certificate/ocsp_responder", RESPONDER),
        _ => case.lacks("/tls/certificate/ocsp_responder"),
    })
}

/// nginx with all that speeds a visit up, and default buffers.
fn everything(place: &Place<'_>) -> Result<(Case, Vec<Server>)> {
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
fn over_ipv6(place: &Place<'_>) -> Result<(Case, Vec<Server>)> {
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
fn stale(place: &Place<'_>) -> Result<(Case, Vec<Server>)> {
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
fn large(place: &Place<'_>) -> Result<(Case, Vec<Server>)> {
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
fn old(place: &Place<'_>) -> Result<(Case, Vec<Server>)> {
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

/// Two machines behind one address: HAProxy hands connections out in turn, below TLS.
fn pair(place: &Place<'_>, port: u16, keys: [&str; 2]) -> Result<Vec<Server>> {
    let dir = place.dir.display();
    let mut servers = Vec::new();
    let mut config = format!(
        "defaults\nmode tcp\ntimeout connect 5s\ntimeout client 60s\ntimeout server 60s\nlisten pair\nbind {}:{port}\nbalance roundrobin\n",
        place.address
    );
    for (number, key) in keys.iter().enumerate() {
        let own = port + 100 * (number as u16 + 1);
        let directives = format!("ssl_protocols TLSv1.2 TLSv1.3;\nssl_session_ticket_key {dir}/{key};");
        servers.push(place.nginx(own, "plain", &directives)?);
        config += &format!("server machine{number} {}:{own}\n", place.address);
    }
    servers.push(haproxy(place.host, place.dir, port, &config)?);
    Ok(servers)
}

fn apart(place: &Place<'_>) -> Result<(Case, Vec<Server>)> {
    let servers = pair(place, 8003, ["key2", "key3"])?;
    let case = on_the_path(Case::new("two nginx with keys of their own", 8003).connections(6))
        .is("/tls/resumption/connections", 6)
        .is("/tls/resumption/resumed", 0)
        .is("/tls/resumption/refused", 5)
        .is("/tls/resumption/share", 0.0)
        .is("/tls/resumption/ticket_key_mismatch", true)
        .lacks("/tls/resumption/ticket_keys/2")
        .finds("ticket_keys")
        .exits(7);
    Ok((with_certificate(place, case, "plain", false)?, servers))
}

fn together(place: &Place<'_>) -> Result<(Case, Vec<Server>)> {
    let servers = pair(place, 8004, ["key2", "key2"])?;
    let case = on_the_path(Case::new("two nginx with the same key", 8004).connections(6))
        .is("/tls/resumption/resumed", 5)
        .is("/tls/resumption/refused", 0)
        .is("/tls/resumption/share", 1.0)
        .is("/tls/resumption/ticket_keys", json!(["22".repeat(16)]))
        .is("/tls/resumption/ticket_key_mismatch", false)
        .silent_on("ticket_keys")
        .silent_on("resumption")
        .exits(0);
    Ok((with_certificate(place, case, "plain", false)?, servers))
}

fn httpd(place: &Place<'_>) -> Result<(Case, Vec<Server>)> {
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

fn haproxy_tls(place: &Place<'_>) -> Result<(Case, Vec<Server>)> {
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
fn openssl(place: &Place<'_>) -> Result<(Case, Vec<Server>)> {
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
fn nghttpd(place: &Place<'_>) -> Result<(Case, Vec<Server>)> {
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

/// No TLS where TLS is asked for.
fn other(place: &Place<'_>) -> Result<(Case, Vec<Server>)> {
    let http = format!(
        "server {{\nlisten {}:8009;\nroot {}/www;\n}}\n",
        place.address,
        place.dir.display()
    );
    let server = nginx(place.host, place.dir, 8009, &http)?;
    let case = Case::new("no TLS there", 8009)
        .is("/tcp/sack", true)
        .lacks("/tls")
        .finds("tls")
        .exits(7);
    Ok((case, vec![server]))
}

/// No TLS where none is asked for.
fn plain(place: &Place<'_>) -> Result<(Case, Vec<Server>)> {
    let http = format!(
        "server {{\nlisten {}:80;\nroot {}/www;\n}}\n",
        place.address,
        place.dir.display()
    );
    let server = nginx(place.host, place.dir, 80, &http)?;
    let case = on_the_path(Case::new("nginx without TLS", 80).path("/big"))
        .lacks("/tls")
        .is("/answer/status", 200)
        .is("/answer/first_flight/bytes", 14_480)
        .is("/answer/first_flight/segments", 10)
        .is("/download/0/round_trips", 3)
        .is("/download/1/round_trips", 7)
        .is("/download/2/round_trips", 10)
        .is("/download/2/first_flight_is_measured", true)
        .is("/first_byte/round_trips", 2)
        .exits(0);
    Ok((case, vec![server]))
}
