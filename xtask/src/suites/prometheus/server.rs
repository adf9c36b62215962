//! A Prometheus of our own: data in a temporary folder, a port of its own, ended with us.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;

use anyhow::{Context as _, Result, bail, ensure};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::lab::netns::die_with_parent;
use crate::paths;

/// A running server.
pub struct Server {
    child: Child,
    client: ureq::Agent,
    url: String,
}

/// Labels and value of each series.
pub struct Answer(pub Vec<(Value, f64)>);

impl Answer {
    /// The values alone.
    pub fn values(&self) -> Vec<f64> {
        self.0.iter().map(|(_, value)| *value).collect()
    }
}

impl Server {
    /// Starts one that scrapes the agent each second, and waits until it serves.
    pub fn start(dir: &Path, agent: &str, rules: &[PathBuf]) -> Result<Self> {
        let config = json!({
            "global": { "scrape_interval": "1s", "scrape_timeout": "1s", "evaluation_interval": "1s" },
            "rule_files": rules,
            "scrape_configs": [{ "job_name": "tcpwin", "static_configs": [{ "targets": [agent] }] }],
        });
        // JSON is YAML.
        let file = dir.join("prometheus.yaml");
        fs::write(&file, config.to_string())?;
        let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let address = format!("127.0.0.1:{port}");
        let mut command = Command::new(paths::program("prometheus").context("prometheus is not installed")?);
        command
            .arg(format!("--config.file={}", file.display()))
            .arg(format!("--storage.tsdb.path={}", dir.join("data").display()))
            .arg(format!("--web.listen-address={address}"))
            .arg("--enable-feature=native-histograms")
            .current_dir(dir)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        die_with_parent(&mut command);
        let mut child = command.spawn().context("cannot start prometheus")?;
        let log = child.stderr.take().context("prometheus has no stderr")?;
        let mut server = Self {
            child,
            client: ureq::Agent::config_builder()
                .http_status_as_error(false)
                .build()
                .into(),
            url: format!("http://{address}"),
        };
        server.wait_ready(BufReader::new(log))?;
        Ok(server)
    }

    fn wait_ready(&mut self, mut log: BufReader<impl std::io::Read + Send + 'static>) -> Result<()> {
        let (mut told, mut line) = (String::new(), String::new());
        while log.read_line(&mut line)? > 0 {
            if line.contains("Server is ready to receive web requests") {
                // Its log is read on, lest it block.
                thread::spawn(move || std::io::copy(&mut log, &mut std::io::sink()));
                return Ok(());
            }
            told.push_str(&line);
            line.clear();
        }
        bail!("prometheus ended before it was ready:\n{told}")
    }

    /// The answer to an instant query.
    pub fn ask(&self, expr: &str) -> Result<Answer> {
        let data = self.get("/api/v1/query", &[("query", expr)])?;
        let series = data["result"].as_array().context("no result")?;
        let of = |one: &Value| -> Result<(Value, f64)> {
            let value = one["value"][1]
                .as_str()
                .with_context(|| format!("{expr}: no value in {one}"))?;
            Ok((one["metric"].clone(), value.parse()?))
        };
        Ok(Answer(series.iter().map(of).collect::<Result<_>>()?))
    }

    /// Rules that could not be evaluated, each with its reason.
    pub fn sick_rules(&self) -> Result<Vec<String>> {
        let sick = |rule: &Value| {
            (rule["health"] != "ok").then(|| format!("{}: {}", rule["name"], rule["lastError"]))
        };
        Ok(self.rules()?.iter().filter_map(sick).collect())
    }

    /// Names of the recording rules.
    pub fn recorded(&self) -> Result<Vec<String>> {
        let rules = self.rules()?;
        let recording = rules.iter().filter(|rule| rule["type"] == "recording");
        let names = recording.filter_map(|rule| rule["name"].as_str());
        Ok(names.map(str::to_owned).collect())
    }

    fn rules(&self) -> Result<Vec<Value>> {
        let data = self.get("/api/v1/rules", &[])?;
        let groups = data["groups"].as_array().context("no groups")?;
        let rules = groups.iter().filter_map(|group| group["rules"].as_array());
        Ok(rules.flatten().cloned().collect())
    }

    fn get(&self, path: &str, query: &[(&str, &str)]) -> Result<Value> {
        let mut request = self.client.get(format!("{}{path}", self.url));
        for (key, value) in query {
            request = request.query(key, value);
        }
        let text = request.call()?.body_mut().read_to_string()?;
        let answer: Value = serde_json::from_str(&text).with_context(|| format!("not JSON: {text}"))?;
        ensure!(
            answer["status"] == "success",
            "{path} {query:?}: {}",
            answer["error"]
        );
        Ok(answer["data"].clone())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(pid) = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw) {
            let _ = kill_process(pid, Signal::TERM);
        }
        let _ = self.child.wait();
    }
}
