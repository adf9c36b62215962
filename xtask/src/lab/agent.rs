//! The real agent, run as people run it: started, asked over HTTP, ended by SIGTERM.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};
use rustix::process::{Pid, Signal, kill_process};
use rustix::system::sethostname;
use rustix::thread::{UnshareFlags, unshare_unsafe};
use serde_json::Value;

use super::netns::die_with_parent;

/// How often readiness is asked for, and how long in between. A guest's first start is slow.
const READY_TRIES: usize = 300;
const READY_PAUSE: Duration = Duration::from_millis(100);
const ANSWER_LIMIT: Duration = Duration::from_secs(10);
const END_LIMIT: Duration = Duration::from_secs(10);
/// Lines of its log that are kept for an error.
const LOG_LINES: usize = 40;

/// A running agent; ended when dropped.
pub struct Agent {
    binary: PathBuf,
    source: String,
    /// All that it was started with.
    args: Vec<String>,
    apart: bool,
    child: Child,
    log: Mutex<Log>,
    client: ureq::Agent,
    url: String,
}

/// The agent's log as it comes, and its last lines.
struct Log {
    coming: Receiver<String>,
    last: VecDeque<String>,
}

impl Log {
    /// Takes the next line if one comes in time; false: none did, or the log has ended.
    fn take_one(&mut self, within: Duration) -> bool {
        let Ok(line) = self.coming.recv_timeout(within) else {
            return false;
        };
        if self.last.len() == LOG_LINES {
            self.last.pop_front();
        }
        self.last.push_back(line);
        true
    }
}

impl Agent {
    /// Starts it and waits until it is ready.
    pub fn start(binary: &Path, source: &str) -> Result<Self> {
        Self::start_with(binary, source, &[])
    }

    /// The same with more arguments.
    pub fn start_with(binary: &Path, source: &str, more: &[&str]) -> Result<Self> {
        let more: Vec<String> = more.iter().map(|&each| each.to_owned()).collect();
        Self::start_by(binary, source, &more, false)
    }

    /// Starts one that knows nothing of the names of this machine: its host is called `demo`, and cgroups are told from
    /// this process's own on.
    pub fn start_apart(binary: &Path, source: &str, args: &[String]) -> Result<Self> {
        Self::start_by(binary, source, args, true)
    }

    fn start_by(binary: &Path, source: &str, args: &[String], apart: bool) -> Result<Self> {
        let port = free_port()?;
        let listen = format!("127.0.0.1:{port}");
        let first = ["agent", "--source", source, "--web.listen-address", &listen];
        let args: Vec<String> = first
            .into_iter()
            .map(str::to_owned)
            .chain(args.to_owned())
            .collect();
        let (child, log) = launch(binary, &args, apart)?;
        let client = ureq::Agent::config_builder()
            .timeout_global(Some(ANSWER_LIMIT))
            .http_status_as_error(false)
            .build()
            .into();
        let url = format!("http://127.0.0.1:{port}");
        let mut agent = Self {
            binary: binary.to_owned(),
            source: source.to_owned(),
            args,
            apart,
            child,
            log: Mutex::new(log),
            client,
            url,
        };
        agent.wait_ready()?;
        Ok(agent)
    }

    /// Starts one more of the same kind, which sees connections that are there already.
    pub fn start_another(&self) -> Result<Self> {
        Self::start(&self.binary, &self.source)
    }

    /// Ends it, lets something happen while it is away, and starts it again at the same address.
    pub fn restart<T>(&mut self, meanwhile: impl FnOnce() -> Result<T>) -> Result<T> {
        self.end();
        let done = meanwhile()?;
        let (child, log) = launch(&self.binary, &self.args, self.apart)?;
        self.child = child;
        self.log = Mutex::new(log);
        self.wait_ready()?;
        Ok(done)
    }

    fn end(&mut self) {
        if let Some(pid) = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw) {
            let _ = kill_process(pid, Signal::TERM);
        }
        // Its log ends when it does.
        while self.log().take_one(END_LIMIT) {}
        if !matches!(self.child.try_wait(), Ok(Some(_))) {
            let _ = self.child.kill();
        }
        let _ = self.child.wait();
    }

    fn wait_ready(&mut self) -> Result<()> {
        let url = format!("{}/-/ready", self.url);
        for _ in 0..READY_TRIES {
            if let Ok(answer) = self.client.get(&url).call()
                && answer.status() == 200
            {
                return Ok(());
            }
            // Its next line, or the pause: whichever comes first.
            self.log().take_one(READY_PAUSE);
            if let Some(status) = self.child.try_wait().context("cannot wait for the agent")? {
                bail!(
                    "the agent ended with {status} before it was ready:\n{}",
                    self.last_lines()
                );
            }
        }
        bail!("the agent did not become ready:\n{}", self.last_lines())
    }

    /// The program.
    pub fn binary(&self) -> &Path {
        &self.binary
    }

    /// Where it answers.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The connections of one network namespace, as the API gives them.
    pub fn connections(&self, netns: u64) -> Result<Vec<Value>> {
        let body = self.get(&format!("/api/v1/connections?netns={netns}"))?;
        let mut answer: Value = serde_json::from_str(&body).context("the agent's answer is not JSON")?;
        match answer.get_mut("connections").map(Value::take) {
            Some(Value::Array(connections)) => Ok(connections),
            _ => bail!("the agent's answer has no `connections`"),
        }
    }

    /// What it answers to a GET of this path.
    pub fn get(&self, path: &str) -> Result<String> {
        self.get_as(path, "*/*")
    }

    /// The same in a format.
    pub fn get_as(&self, path: &str, accept: &str) -> Result<String> {
        let url = format!("{}{path}", self.url);
        let mut answer = self
            .client
            .get(&url)
            .header("accept", accept)
            .call()
            .context("the agent does not answer")?;
        let status = answer.status();
        let body = answer
            .body_mut()
            .with_config()
            .limit(1 << 30)
            .read_to_string()
            .context("the agent broke off")?;
        if status != 200 {
            bail!("{url} answers {status}: {body}");
        }
        Ok(body)
    }

    /// Where it listens: address and port.
    pub fn address(&self) -> &str {
        self.url.trim_start_matches("http://")
    }

    /// Its process.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// The last lines of its log.
    pub fn last_lines(&self) -> String {
        let mut log = self.log();
        while log.take_one(Duration::ZERO) {}
        log.last.iter().map(|line| format!("  agent: {line}\n")).collect()
    }

    fn log(&self) -> MutexGuard<'_, Log> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        self.end();
    }
}

/// Starts the program; its log is read as it comes.
fn launch(binary: &Path, args: &[String], apart: bool) -> Result<(Child, Log)> {
    let mut command = Command::new(binary);
    command
        .args(args)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    if apart {
        // SAFETY: two bare system calls between fork and exec.
        unsafe {
            command.pre_exec(|| {
                unshare_unsafe(UnshareFlags::NEWCGROUP | UnshareFlags::NEWUTS)?;
                Ok(sethostname(b"demo")?)
            });
        }
    }
    die_with_parent(&mut command);
    let mut child = command
        .spawn()
        .with_context(|| format!("cannot start {}", binary.display()))?;
    let stderr = child
        .stderr
        .take()
        .ok_or_else(|| anyhow!("the agent has no stderr"))?;
    let (tell, coming) = mpsc::channel();
    let copy = move || {
        for line in BufReader::new(stderr).lines().map_while(Result::ok) {
            if tell.send(line).is_err() {
                return;
            }
        }
    };
    thread::Builder::new()
        .name("lab-agent".into())
        .spawn(copy)
        .context("cannot start a thread")?;
    let last = VecDeque::new();
    Ok((child, Log { coming, last }))
}

fn free_port() -> Result<u16> {
    let listener = TcpListener::bind("127.0.0.1:0").context("cannot bind 127.0.0.1")?;
    Ok(listener.local_addr().context("getsockname")?.port())
}
