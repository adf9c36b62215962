//! Fast Open on, on a path that drops it, and off in the client.

use anyhow::Result;

use super::case::Case;
use super::pki::Pki;
use super::server::nginx;
use super::{RTT_MS, SERVER, tell};
use crate::lab::net::{Event, Net, PathSpec};
use crate::suites::Context;
use crate::suites::report::Recorder;

/// Runs it on a path of its own: the kernel keeps cookies by address, and what it learned of a path.
pub fn run(context: &Context, pki: &Pki, recorder: &mut Recorder) -> Result<()> {
    let dir = tempfile::tempdir()?;
    let mut net = Net::new(&PathSpec::delay(RTT_MS))?;
    let (server, client) = (net.host(SERVER), net.host(SERVER.other()));
    // The server's bit, and the client's.
    server.sysctl("net.ipv4.tcp_fastopen", "2")?;
    client.sysctl("net.ipv4.tcp_fastopen", "1")?;
    let http = format!(
        "server {{\nlisten {}:443 ssl fastopen=64;\nssl_protocols TLSv1.3;\nssl_certificate {};\nssl_certificate_key {};\n\
         location / {{\nreturn 204;\n}}\n}}\n",
        net.address(SERVER, false),
        pki.file("plain.crt").display(),
        pki.file("plain.key").display(),
    );
    let _server = nginx(server, dir.path(), 443, &http)?;
    let case = |name| Case::new(name, 443).connections(1);
    let rtt_us = RTT_MS * 1e3;
    let on = case("Fast Open on")
        .is("/fastopen/state", "accepted")
        .is("/fastopen/cookie", true)
        .is("/fastopen/attempts/0/had_cookie", false)
        .is("/fastopen/attempts/0/fallback", "cookie_unavailable")
        .is("/fastopen/attempts/1/had_cookie", true)
        .is("/fastopen/attempts/1/data_accepted", true)
        .is("/fastopen/attempts/1/retransmits", 0)
        .within(
            "/fastopen/attempts/0/first_answer_us",
            2.0 * rtt_us * 0.99,
            f64::MAX,
        )
        .within("/fastopen/attempts/1/first_answer_us", rtt_us * 0.99, f64::MAX)
        .silent_on("fastopen")
        .exits(0);
    let tcpwin = &context.programs.tcpwin;
    tell(&on, on.run(tcpwin, &net, pki), recorder)?;

    // Clients keep their cookie.
    net.host(SERVER).sysctl("net.ipv4.tcp_fastopen", "0")?;
    let refused = case("Fast Open off in the server, once it was on")
        .is("/fastopen/state", "data_refused")
        .is("/fastopen/attempts/0/had_cookie", true)
        .is("/fastopen/attempts/0/data_accepted", false)
        .is("/fastopen/attempts/0/fallback", "data_not_acked")
        .finds("fastopen")
        .exits(0);
    tell(&refused, refused.run(tcpwin, &net, pki), recorder)?;

    net.host(SERVER).sysctl("net.ipv4.tcp_fastopen", "2")?;
    net.apply(Event::SynDataBlackhole);
    let blackholed = case("Fast Open blackholed")
        .is("/fastopen/state", "blackholed")
        .is("/fastopen/attempts/0/fallback", "syn_retransmitted")
        .within("/fastopen/attempts/0/first_answer_us", 1e6, f64::MAX)
        .finds("fastopen")
        .exits(7);
    tell(&blackholed, blackholed.run(tcpwin, &net, pki), recorder)?;

    net.host(SERVER.other()).sysctl("net.ipv4.tcp_fastopen", "2")?;
    let off = case("Fast Open off in the client")
        .is("/fastopen/state", "client_off")
        .finds("fastopen")
        .exits(0);
    tell(&off, off.run(tcpwin, &net, pki), recorder)
}
