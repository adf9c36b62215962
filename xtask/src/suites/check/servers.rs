//! The servers, each with its truth.

mod nginx;
mod pair;
mod peers;

use std::fs;
use std::net::IpAddr;
use std::path::Path;

use anyhow::{Context as _, Result};
use serde_json::json;

use super::case::Case;
use super::pki::{DAYS, Pki, RESPONDER};
use super::server::{self, Server};
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
        nginx::everything,
        nginx::over_ipv6,
        nginx::old,
        nginx::stale,
        nginx::large,
        pair::apart,
        pair::together,
        peers::httpd,
        peers::haproxy_tls,
        peers::openssl,
        peers::nghttpd,
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
        server::nginx(self.host, self.dir, port, &http)
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

/// No TLS where TLS is asked for.
fn other(place: &Place<'_>) -> Result<(Case, Vec<Server>)> {
    let http = format!(
        "server {{\nlisten {}:8009;\nroot {}/www;\n}}\n",
        place.address,
        place.dir.display()
    );
    let server = server::nginx(place.host, place.dir, 8009, &http)?;
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
    let server = server::nginx(place.host, place.dir, 80, &http)?;
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
