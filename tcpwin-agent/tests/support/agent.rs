//! A running `tcpwin agent` of the test's own.
#![allow(dead_code, reason = "each test uses a part of it")]

use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _, Seek as _};
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde::de::DeserializeOwned;
use tcpwin_agent::source::kernel_clock;

use super::told::within_patience;

/// The program under test.
pub const TCPWIN: &str = env!("CARGO_BIN_EXE_tcpwin");

/// The agent; killed with the value, should it still run.
pub struct Agent {
    child: Child,
    url: String,
    log: File,
    http: ureq::Agent,
    /// Open as long as the agent may write to it.
    _stdout: BufReader<ChildStdout>,
}

impl Agent {
    /// Starts `tcpwin agent` on a free port; comes back once it says where it listens, and so once its source is open.
    pub fn start(arguments: &[&str]) -> Self {
        Self::start_by(Command::new(TCPWIN), arguments)
    }

    /// The same through a command that ends in the program, such as `setpriv … tcpwin`.
    pub fn start_by(mut command: Command, arguments: &[&str]) -> Self {
        let log = tempfile::tempfile().expect("a file for the log");
        let mut child = command
            .args(["agent", "--web.listen-address", "127.0.0.1:0"])
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(log.try_clone().expect("a second handle"))
            .spawn()
            .expect("the agent starts");
        let mut stdout = BufReader::new(child.stdout.take().expect("piped"));
        let mut line = String::new();
        stdout.read_line(&mut line).expect("text");
        let url = line.trim_end().strip_prefix("listening on ").map(str::to_owned);
        let mut agent = Self {
            child,
            url: String::new(),
            log,
            http: ureq::Agent::config_builder()
                .http_status_as_error(false)
                .build()
                .into(),
            _stdout: stdout,
        };
        agent.url = url.unwrap_or_else(|| panic!("the agent does not listen: {}", agent.log()));
        agent
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Where it listens, with the scheme it speaks.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// `127.0.0.1:port`.
    pub fn address(&self) -> &str {
        self.url.strip_prefix("http://").expect("plain HTTP")
    }

    /// Status and body.
    pub fn get(&self, path: &str) -> (u16, String) {
        let url = format!("{}{path}", self.url);
        let mut answer = self.http.get(&url).call().expect("the agent answers");
        let body = answer.body_mut().with_config().limit(1 << 30).read_to_string();
        (answer.status().as_u16(), body.expect("text"))
    }

    pub fn json<T: DeserializeOwned>(&self, path: &str) -> T {
        let (status, body) = self.get(path);
        assert_eq!(status, 200, "{path}: {body}");
        serde_json::from_str(&body).unwrap_or_else(|error| panic!("{path}: {error} in {body}"))
    }

    /// Waits for the end of its first interval.
    pub fn until_ready(&self) {
        let since = kernel_clock();
        while self.get("/-/ready").0 != 200 {
            within_patience(since, || format!("the agent is not ready: {}", self.log()));
        }
    }

    /// Everything it has logged.
    pub fn log(&self) -> String {
        let mut text = String::new();
        let mut log = &self.log;
        log.rewind().expect("a file");
        log.read_to_string(&mut text).expect("text");
        text
    }

    /// Sends the signal and waits for its end.
    pub fn end(&mut self, signal: Signal) -> ExitStatus {
        let pid = Pid::from_child(&self.child);
        kill_process(pid, signal).expect("it still runs");
        self.child.wait().expect("it ends")
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
