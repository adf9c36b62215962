//! `tcpwin check` against real servers at 181 ms: nginx, Apache httpd, HAProxy, nghttpd and OpenSSL's own, each set to something
//! that is known, and every field held against it.

mod bare;
mod case;
mod fastopen;
mod pki;
mod server;
mod servers;

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use anyhow::{Result, ensure};

use crate::lab::net::{HostSpec, Net, PathSpec, Side};
use crate::paths;
use crate::suites::Context;
use crate::suites::report::Recorder;

use case::Case;
use pki::Pki;

/// The round trip of the posts.
pub const RTT_MS: f64 = 181.0;
/// Checks at the same time.
const JOBS: usize = 4;
/// Where servers live; clients are on the other side.
pub const SERVER: Side = Side::Sender;

/// Runs it.
pub fn run(context: &Context, recorder: &mut Recorder) -> Result<()> {
    let missing =
        ["nginx", "apache2", "haproxy", "nghttpd", "openssl"].map(|name| (name, paths::program(name)));
    if let Some((name, _)) = missing.iter().find(|(_, path)| path.is_none()) {
        return recorder.skip("check against real servers", format!("{name} is not installed"));
    }
    let dir = tempfile::tempdir()?;
    let net = Net::new(&PathSpec::delay(RTT_MS))?;
    // Fast Open is on in clients alone, as kernels come.
    for side in [Side::Sender, Side::Receiver] {
        net.host(side).sysctl("net.ipv4.tcp_fastopen", "1")?;
    }
    let pki = Pki::make(dir.path(), &net.address(SERVER, false).to_string())?;
    let (cases, _servers) = servers::start(&net, &pki, dir.path())?;
    let tcpwin = &context.programs.tcpwin;
    let outcomes = run_all(&cases, tcpwin, &net, &pki);
    ensure!(outcomes.len() == cases.len(), "a worker panicked");
    for (case, outcome) in cases.iter().zip(outcomes) {
        tell(case, outcome, recorder)?;
    }
    wide_window(tcpwin, &net, &pki, recorder)?;
    fastopen::run(context, &pki, recorder)?;
    bare::run(context, &pki, recorder)
}

/// A check mostly waits: some of them wait together.
fn run_all(cases: &[Case], tcpwin: &Path, net: &Net, pki: &Pki) -> Vec<Result<Vec<String>>> {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        while let Some((at, case)) = {
            let at = next.fetch_add(1, Ordering::Relaxed);
            cases.get(at).map(|case| (at, case))
        } {
            done.push((at, case.run(tcpwin, net, pki)));
        }
        done
    };
    let mut done: Vec<_> = thread::scope(|scope| {
        let workers: Vec<_> = (0..JOBS).map(|_| scope.spawn(work)).collect();
        workers
            .into_iter()
            .filter_map(|worker| worker.join().ok())
            .flatten()
            .collect()
    });
    done.sort_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, outcome)| outcome).collect()
}

/// The same servers once their route has a larger first window.
fn wide_window(tcpwin: &Path, net: &Net, pki: &Pki, recorder: &mut Recorder) -> Result<()> {
    let route = HostSpec {
        route: Some("initcwnd 32".to_owned()),
        ..HostSpec::default()
    };
    net.configure(SERVER, &route)?;
    let plain = Case::new("nginx without TLS, initcwnd 32", 80)
        .path("/big")
        .is("/answer/first_flight/bytes", 32 * 1_448)
        .is("/answer/first_flight/segments", 32)
        .is("/download/0/round_trips", 2)
        .is("/download/1/round_trips", 5)
        .is("/download/2/round_trips", 8);
    tell(&plain, plain.run(tcpwin, net, pki), recorder)?;
    let tls = Case::new("nginx, all on, initcwnd 32", servers::EVERYTHING)
        .path("/big")
        .connections(1)
        .within("/answer/first_flight/segments", 32.0, 34.0)
        .is("/answer/records/first_is_split", false)
        .silent_on("record_size");
    tell(&tls, tls.run(tcpwin, net, pki), recorder)
}

fn tell(case: &Case, outcome: Result<Vec<String>>, recorder: &mut Recorder) -> Result<()> {
    match outcome {
        Err(error) => recorder.fail(&case.name, format!("{error:#}")),
        Ok(faults) if faults.is_empty() => {
            recorder.pass(&case.name, format!("{} fields are right", case.len()))
        }
        Ok(faults) => recorder.fail(&case.name, faults.join("; ")),
    }
}
