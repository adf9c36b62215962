//! A server whose kernel has the options of TCP off.

use anyhow::Result;

use super::case::Case;
use super::pki::Pki;
use super::server::nginx;
use super::{RTT_MS, SERVER, tell};
use crate::lab::net::{Net, PathSpec};
use crate::suites::Context;
use crate::suites::report::Recorder;

/// Runs it.
pub fn run(context: &Context, pki: &Pki, recorder: &mut Recorder) -> Result<()> {
    let dir = tempfile::tempdir()?;
    let net = Net::new(&PathSpec::delay(RTT_MS))?;
    let server = net.host(SERVER);
    for option in ["window_scaling", "sack", "timestamps"] {
        server.sysctl(&format!("net.ipv4.tcp_{option}"), "0")?;
    }
    let http = format!(
        "server {{\nlisten {}:80;\nlocation / {{\nreturn 204;\n}}\n}}\n",
        net.address(SERVER, false)
    );
    let _server = nginx(server, dir.path(), 80, &http)?;
    let case = Case::new("a kernel without TCP's options", 80)
        .is("/tcp/window_scaling", false)
        .lacks("/tcp/server_wscale")
        .is("/tcp/largest_window_bytes", 65_535)
        .is("/tcp/sack", false)
        .is("/tcp/timestamps", false)
        .is("/tcp/mss_bytes", 1_460)
        .finds("window_scaling")
        .finds("sack")
        .exits(7);
    tell(&case, case.run(&context.programs.tcpwin, &net, pki), recorder)
}
