//! A server that runs in a host's namespace.

use std::fs;
use std::net::IpAddr;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Stdio};

use anyhow::{Context as _, Result, bail};
use rustix::process::{Pid, Signal, kill_process_group};

use crate::lab::clock::{Timer, now_ns, seconds_ns};
use crate::lab::netns::NetNs;
use crate::lab::priority;
use crate::paths;

/// How long it has to listen.
const READY_LIMIT_S: f64 = 30.0;
/// Time between two looks.
const TICK_NS: u64 = 20_000_000;

/// One that is ended when dropped.
pub struct Server {
    child: Child,
}

impl Server {
    /// Starts it and waits until it listens on the port; its words go into a file of the folder.
    pub fn start(host: &NetNs, dir: &Path, port: u16, words: &[String]) -> Result<Self> {
        let (name, arguments) = words.split_first().context("no server")?;
        let program = paths::program(name).with_context(|| format!("{name} is not installed"))?;
        let log = dir.join(format!("{port}.log"));
        let out = fs::File::create(&log).context("cannot create a log")?;
        let mut command = host.command(program)?;
        priority::of_real_programs(&mut command);
        let child = command
            .args(arguments)
            // Apache httpd has processes of its own, which outlive the first one if only that is killed.
            .process_group(0)
            .current_dir(dir)
            .stdin(Stdio::null())
            .stdout(out.try_clone()?)
            .stderr(out)
            .spawn()
            .with_context(|| format!("cannot start {name}"))?;
        let mut server = Self { child };
        let timer = Timer::every(TICK_NS)?;
        let limit_ns = now_ns() + seconds_ns(READY_LIMIT_S);
        // Not every server says when it listens: its namespace's sockets do.
        while !listens(server.child.id(), port) {
            let ended = server.child.try_wait()?;
            if ended.is_some() || now_ns() > limit_ns {
                let said = fs::read_to_string(&log).unwrap_or_default();
                bail!("{name} does not listen on {port} ({ended:?}):\n{said}");
            }
            timer.wait();
        }
        Ok(server)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(group) = self.child.id().try_into().ok().and_then(Pid::from_raw) {
            let _ = kill_process_group(group, Signal::KILL);
        }
        let _ = self.child.wait();
    }
}

/// Whether a socket in the process's namespace listens there.
fn listens(pid: u32, port: u16) -> bool {
    let wanted = format!(":{port:04X}");
    ["tcp", "tcp6"].iter().any(|table| {
        let text = fs::read_to_string(format!("/proc/{pid}/net/{table}")).unwrap_or_default();
        text.lines().any(|line| {
            let mut words = line.split_whitespace().skip(1);
            let local = words.next().is_some_and(|local| local.ends_with(&wanted));
            // TCP_LISTEN.
            local && words.nth(1) == Some("0A")
        })
    })
}

/// nginx with these directives in its `http` block.
pub fn nginx(host: &NetNs, dir: &Path, port: u16, http: &str) -> Result<Server> {
    let own = dir.join(format!("nginx-{port}"));
    fs::create_dir_all(&own).context("cannot create a folder")?;
    let shown = own.display();
    let config = format!(
        "daemon off;\nmaster_process off;\npid {shown}/pid;\nerror_log stderr;\nevents {{}}\nhttp {{\naccess_log off;\n\
         client_body_temp_path {shown}/body;\nproxy_temp_path {shown}/proxy;\nfastcgi_temp_path {shown}/fastcgi;\n\
         uwsgi_temp_path {shown}/uwsgi;\nscgi_temp_path {shown}/scgi;\n{http}\n}}\n"
    );
    let file = own.join("nginx.conf");
    fs::write(&file, config).context("cannot write nginx's configuration")?;
    let words = words(
        "nginx",
        &[
            "-e",
            "stderr",
            "-p",
            &shown.to_string(),
            "-c",
            &file.to_string_lossy(),
        ],
    );
    Server::start(host, dir, port, &words)
}

/// Apache httpd with these directives beside what it needs at all.
pub fn apache(host: &NetNs, dir: &Path, port: u16, address: IpAddr, directives: &str) -> Result<Server> {
    let own = dir.join(format!("apache-{port}"));
    fs::create_dir_all(&own).context("cannot create a folder")?;
    let (shown, root) = (own.display(), dir.display());
    let modules = "/usr/lib/apache2/modules";
    let load: String = ["mpm_event", "authz_core", "socache_shmcb", "ssl", "http2", "dir"]
        .iter()
        .map(|name| format!("LoadModule {name}_module {modules}/mod_{name}.so\n"))
        .collect();
    let config = format!(
        "{load}ServerRoot {shown}\nServerName server.test\nPidFile {shown}/pid\nDefaultRuntimeDir {shown}\nErrorLog /dev/stderr\n\
         Listen {address}:{port}\nDocumentRoot {root}/www\n<Directory {root}/www>\nRequire all granted\n</Directory>\n{directives}\n"
    );
    let file = own.join("httpd.conf");
    fs::write(&file, config).context("cannot write httpd's configuration")?;
    let words = words("apache2", &["-DFOREGROUND", "-f", &file.to_string_lossy()]);
    Server::start(host, dir, port, &words)
}

/// HAProxy with this configuration.
pub fn haproxy(host: &NetNs, dir: &Path, port: u16, config: &str) -> Result<Server> {
    let file = dir.join(format!("haproxy-{port}.cfg"));
    fs::write(&file, config).context("cannot write HAProxy's configuration")?;
    let words = words("haproxy", &["-db", "-f", &file.to_string_lossy()]);
    Server::start(host, dir, port, &words)
}

/// A command's words.
pub fn words(name: &str, arguments: &[&str]) -> Vec<String> {
    [name]
        .iter()
        .chain(arguments)
        .map(|&word| word.to_owned())
        .collect()
}
