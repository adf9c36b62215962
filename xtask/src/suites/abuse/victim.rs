//! The agent that is abused over TCP, and watched over a unix socket that no abuse reaches.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use anyhow::{Context as _, Result, ensure};
use rustix::process::{Pid, Signal, kill_process};

use crate::lab::clock::Timer;
use crate::lab::netns::die_with_parent;
use crate::process;

use super::http;

/// `alice` and her password, for what is meant to be let in.
pub const CREDENTIALS: &str = "Authorization: Basic YWxpY2U6YWJ1c2U=\r\n";
const PASSWORD_FILE: &str = "basic_auth_users:\n  alice: HASH\n";
/// Of `abuse`.
const HASH: &str = "$2b$10$abcdefghijklmnopqrstuuwpyQnzLNVm6mn7zFjI7w9eTEiPQ2pva";

/// How often readiness is asked for, and how long in between.
const READY_TRIES: usize = 300;
const READY_PAUSE_NS: u64 = 100_000_000;

/// A running agent; ended when dropped.
pub struct Victim {
    child: Child,
    directory: PathBuf,
    socket: PathBuf,
    /// Where it listens over TCP; the first one is on loopback.
    urls: Vec<String>,
}

impl Victim {
    /// Starts it on a free port of loopback and waits until it is ready.
    pub fn start(tcpwin: &Path, directory: &Path, more: &[&str]) -> Result<Self> {
        let socket = directory.join("agent.sock");
        let log = fs::File::create(directory.join("agent.log"))?;
        let mut command = Command::new(tcpwin);
        command
            .args([
                "agent",
                "--web.listen-address",
                "127.0.0.1:0",
                "--web.listen-address",
            ])
            .arg(format!("unix:{}", socket.display()))
            .args(more)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(log);
        die_with_parent(&mut command);
        let mut child = command.spawn().context("cannot start the agent")?;
        let stdout = child.stdout.take().context("no stdout")?;
        let listeners = 2 + more
            .iter()
            .filter(|flag| **flag == "--web.listen-address")
            .count();
        let lines = BufReader::new(stdout).lines().take(listeners);
        let told: Vec<String> = lines.map_while(Result::ok).collect();
        let urls = told.iter().filter_map(|line| line.strip_prefix("listening on "));
        let urls = urls
            .filter(|url| !url.starts_with("unix:"))
            .map(str::to_owned)
            .collect();
        let victim = Self {
            child,
            directory: directory.to_owned(),
            socket,
            urls,
        };
        ensure!(
            told.len() == listeners,
            "the agent does not listen: {}",
            victim.log()
        );
        victim.until_ready()?;
        Ok(victim)
    }

    fn until_ready(&self) -> Result<()> {
        let pause = Timer::every(READY_PAUSE_NS)?;
        for _ in 0..READY_TRIES {
            if self.ask_aside("/-/ready")?.0 == 200 {
                return Ok(());
            }
            pause.wait();
        }
        anyhow::bail!("the agent did not become ready: {}", self.log())
    }

    /// All addresses it listens on over TCP.
    pub fn addresses(&self) -> Result<Vec<SocketAddr>> {
        let parse = |url: &String| url.split("://").nth(1).unwrap_or(url).parse();
        self.urls
            .iter()
            .map(parse)
            .collect::<Result<_, _>>()
            .context("an address")
    }

    /// A connection to its port on loopback.
    pub fn connect(&self) -> Result<TcpStream> {
        let addresses = self.addresses()?;
        let stream = TcpStream::connect(addresses[0]).context("cannot connect")?;
        stream.set_read_timeout(Some(http::PATIENCE))?;
        stream.set_write_timeout(Some(http::PATIENCE))?;
        Ok(stream)
    }

    /// If clients that behave are answered now: with the metrics, and with what single connections are.
    pub fn is_answered(&self) -> Result<bool> {
        for path in ["/metrics", "/api/v1/connections?count=1"] {
            let status = if self.urls[0].starts_with("https:") {
                let mut curl = Command::new("curl");
                curl.args([
                    "--silent",
                    "--output",
                    "/dev/null",
                    "--write-out",
                    "%{http_code}",
                    "--cacert",
                ])
                .arg(self.directory.join("server.pem"))
                .arg(format!("{}{path}", self.urls[0]));
                process::output(&mut curl)?.trim().parse().unwrap_or(0)
            } else {
                http::ask(self.connect()?, &http::get(path, CREDENTIALS))?.0
            };
            if status != 200 {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Its own figures.
    pub fn reading(&self) -> Result<Reading> {
        let (status, page) = self.ask_aside("/metrics")?;
        ensure!(status == 200, "the metrics answer {status}");
        let values = page.lines().filter(|line| !line.starts_with('#'));
        let values = values.filter_map(|line| {
            let (name, value) = line.rsplit_once(' ')?;
            Some((name.to_owned(), value.parse().ok()?))
        });
        Reading::new(values.collect())
    }

    fn ask_aside(&self, path: &str) -> Result<(u16, String)> {
        let stream = UnixStream::connect(&self.socket).context("the agent has gone")?;
        stream.set_read_timeout(Some(http::PATIENCE))?;
        http::ask(stream, &http::get(path, ""))
    }

    fn log(&self) -> String {
        fs::read_to_string(self.directory.join("agent.log")).unwrap_or_default()
    }
}

impl Drop for Victim {
    fn drop(&mut self) {
        let _ = kill_process(Pid::from_child(&self.child), Signal::TERM);
        let _ = self.child.wait();
    }
}

/// What the agent tells of itself at one instant.
pub struct Reading {
    values: BTreeMap<String, f64>,
    pub ticks: u64,
    /// Intervals that went by without an end.
    pub overruns: u64,
    pub memory: f64,
}

impl Reading {
    fn new(values: BTreeMap<String, f64>) -> Result<Self> {
        let value = |name: &str| values.get(name).copied().with_context(|| format!("no {name}"));
        Ok(Self {
            ticks: value("tcpwin_ticks_total")? as u64,
            overruns: value("tcpwin_losses_total{cause=\"tick_overrun\"}")? as u64,
            memory: value("tcpwin_process_resident_memory_bytes")?,
            values,
        })
    }

    /// What was not served for that reason.
    pub fn refused(&self, cause: &str) -> u64 {
        let name = format!("tcpwin_http_refused_total{{cause=\"{cause}\"}}");
        self.values.get(&name).copied().unwrap_or(0.0) as u64
    }
}

/// A web configuration file that asks for a password.
pub fn with_password(directory: &Path) -> Result<String> {
    write(directory, "password.yml", &PASSWORD_FILE.replace("HASH", HASH))
}

/// One that asks for TLS, with a certificate made for it.
pub fn with_tls(directory: &Path) -> Result<String> {
    let line = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=localhost \
                -addext subjectAltName=IP:127.0.0.1 -keyout server.key -out server.pem";
    let mut openssl = Command::new("openssl");
    openssl
        .args(line.split_whitespace())
        .current_dir(directory)
        .stderr(Stdio::null());
    process::output(&mut openssl)?;
    let text = "tls_server_config:\n  cert_file: server.pem\n  key_file: server.key\n";
    write(directory, "tls.yml", text)
}

fn write(directory: &Path, name: &str, text: &str) -> Result<String> {
    let path = directory.join(name);
    fs::write(&path, text)?;
    Ok(path.to_str().context("not text")?.to_owned())
}
