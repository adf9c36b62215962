//! Who may see single connections: asked from another network namespace, over a veth of the suite's own.

use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result};

use crate::lab::netns::{NetNs, tool};
use crate::process;
use crate::suites::report::{Outcome, Recorder};

use super::http;
use super::victim::{self, CREDENTIALS, Victim};

/// This machine's end, and the other (RFC 2544: addresses for tests of devices).
const HERE: &str = "198.18.177.1";
const THERE: &str = "198.18.177.2";

/// Path, headers, and the status that is expected.
type Case = (&'static str, &'static str, u16);

const UNKNOWN: &[Case] = &[
    ("/", "", 200),
    ("/metrics", "", 200),
    ("/-/healthy", "", 200),
    ("/healthz", "", 200),
    ("/api/v1/connections", "", 403),
    ("/api/v1/connections/1", "", 403),
    ("/api/v1/findings", "", 403),
    ("/api/v1/listeners", "", 403),
    ("/api/v1/host", "", 403),
    ("/api/v1/snapshot", "", 403),
    ("/api/v1/events", "", 403),
    ("/api/v1/live", "", 403),
    ("/api/v1/overview", "", 200),
    ("/api/v1/bounds", "", 200),
    ("/api/v1/recording", "", 403),
    ("/-/reload", "", 403),
    ("/api/v1/connections", "X-Forwarded-For: 127.0.0.1\r\n", 403),
    ("/api/v1/connections", CREDENTIALS, 403),
];

const KNOWN: &[Case] = &[
    ("/metrics", "", 401),
    ("/api/v1/connections", "", 401),
    (
        "/api/v1/connections",
        "Authorization: Basic YWxpY2U6d3Jvbmc=\r\n",
        401,
    ),
    ("/metrics", CREDENTIALS, 200),
    ("/api/v1/connections", CREDENTIALS, 200),
    (
        "/api/v1/connections",
        "Authorization: Basic YWxpY2U6YWJ1c2U=\r\nSec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: no-cors\r\n",
        403,
    ),
];

pub fn run(tcpwin: &Path, directory: &Path, recorder: &mut Recorder) -> Result<()> {
    // The pair goes with the namespace.
    let there = NetNs::create("abuse")?;
    let name = format!("twa{}", std::process::id() % 1_000_000);
    let ip = |line: &str| process::output(Command::new(tool("ip")?).args(line.split(' ')));
    ip(&format!(
        "link add {name} type veth peer name there netns {}",
        there.name()
    ))?;
    ip(&format!("addr add {HERE}/30 dev {name}"))?;
    ip(&format!("link set {name} up"))?;
    there.ip(&[
        format!("addr add {THERE}/30 dev there"),
        "link set there up".to_owned(),
    ])?;

    let address = format!("{HERE}:0");
    let open = ["--web.listen-address", address.as_str(), "--web.enable-lifecycle"];
    let victim = Victim::start(tcpwin, directory, &open)?;
    ask(
        &there,
        &victim,
        UNKNOWN,
        "from another address, unknown",
        recorder,
    )?;
    drop(victim);
    let config = victim::with_password(directory)?;
    let asking = [&open[..], &["--web.config.file", config.as_str()]].concat();
    let victim = Victim::start(tcpwin, directory, &asking)?;
    ask(
        &there,
        &victim,
        KNOWN,
        "from another address, with a password",
        recorder,
    )
}

fn ask(there: &NetNs, victim: &Victim, cases: &[Case], name: &str, recorder: &mut Recorder) -> Result<()> {
    let address = *victim.addresses()?.get(1).context("no second address")?;
    let mut faults = Vec::new();
    for (path, headers, expected) in cases {
        let (status, body) = there.enter(|| one(address, path, headers))?;
        let sentence = status != 403 || body.contains("\"error\":\"single connections");
        if status != *expected || !sentence {
            faults.push(format!(
                "{path} {headers:?}: {status}, not {expected}: {body:.100}"
            ));
        }
    }
    let outcome = if faults.is_empty() {
        Outcome::Passed
    } else {
        Outcome::Failed
    };
    let detail = format!("{} requests {}", cases.len(), faults.join("; "));
    recorder.check(name, outcome, detail.trim_end())
}

fn one(address: SocketAddr, path: &str, headers: &str) -> Result<(u16, String)> {
    let stream = TcpStream::connect(address).context("cannot connect from there")?;
    stream.set_read_timeout(Some(http::PATIENCE))?;
    let request = http::get(path, headers);
    let request = if path == "/-/reload" {
        request.replacen("GET", "POST", 1)
    } else {
        request
    };
    http::ask(stream, &request)
}
