//! Servers with a configuration, a folder and ports of their own, inside a host's namespace.

use std::collections::VecDeque;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStderr, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};

use super::spec::{ProgramSpec, ServerKind};
use crate::lab::net::Net;
use crate::lab::priority;
use crate::{paths, process};

/// How long a server has to listen.
const READY_LIMIT: Duration = Duration::from_secs(30);
/// Where uploads end: a port of the server's own loopback.
const SINK: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 8082);
/// Of the file `zeros` in the run's folder, sparse: more than any scenario moves.
const ZEROS_BYTES: u64 = 1 << 40;
/// Lines of its log that are kept for an error.
const LOG_LINES: usize = 10;

/// A running server; ended when dropped.
pub struct Server {
    child: Child,
    log: Log,
}

impl Server {
    /// Starts it and waits until it says that it listens.
    pub fn start(net: &Net, spec: &ProgramSpec, dir: &Path) -> Result<Self> {
        File::create(dir.join("zeros"))
            .and_then(|file| file.set_len(ZEROS_BYTES))
            .context("cannot make a file to serve")?;
        let side = spec.server_side();
        let address = net.address(side, false);
        let (mut command, ready) = match spec.server {
            ServerKind::Nginx => {
                sink(
                    net.host(side)
                        .enter(|| TcpListener::bind(SINK).context("cannot listen"))?,
                )?;
                nginx(net, spec, dir, address)?
            }
            ServerKind::Sshd => sshd(net, spec, dir, address)?,
        };
        priority::of_real_programs(&mut command);
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot start {}", spec.server.program()))?;
        let stderr = child.stderr.take().ok_or_else(|| anyhow!("no stderr"))?;
        let (log, said) = Log::keep(stderr, ready)?;
        let server = Self { child, log };
        if said.recv_timeout(READY_LIMIT).is_err() {
            bail!(
                "{} did not begin to listen:\n{}",
                spec.server.program(),
                server.last_lines()
            );
        }
        Ok(server)
    }

    /// The end of its log.
    pub fn last_lines(&self) -> String {
        self.log.text()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The last lines of a program's standard error.
#[derive(Clone, Default)]
pub struct Log(Arc<Mutex<VecDeque<String>>>);

impl Log {
    /// Keeps reading; the channel tells once a line has `word` in it, and closes when the program does.
    pub fn keep(stderr: ChildStderr, word: &'static str) -> Result<(Self, Receiver<()>)> {
        let log = Self::default();
        let lines = log.clone();
        let (tell, said) = mpsc::channel();
        let keep = move || {
            for line in BufReader::new(stderr).lines().map_while(Result::ok) {
                if line.contains(word) {
                    let _ = tell.send(());
                }
                let mut lines = lines.0.lock().unwrap_or_else(PoisonError::into_inner);
                if lines.len() == LOG_LINES {
                    lines.pop_front();
                }
                lines.push_back(line);
            }
        };
        thread::Builder::new()
            .name("lab-log".into())
            .spawn(keep)
            .context("cannot start a thread")?;
        Ok((log, said))
    }

    /// What is kept.
    pub fn text(&self) -> String {
        let lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        lines.iter().map(|line| format!("  {line}\n")).collect()
    }
}

fn nginx(net: &Net, spec: &ProgramSpec, dir: &Path, address: IpAddr) -> Result<(Command, &'static str)> {
    let own = dir.display();
    process::output(
        Command::new(program("openssl")?)
            .args([
                "req",
                "-x509",
                "-newkey",
                "ec",
                "-pkeyopt",
                "ec_paramgen_curve:prime256v1",
                "-nodes",
            ])
            .args(["-subj", "/CN=server", "-days", "2", "-keyout"])
            .arg(dir.join("tls.key"))
            .arg("-out")
            .arg(dir.join("tls.crt")),
    )?;
    let config = format!(
        "daemon off;\nmaster_process off;\npid {own}/nginx.pid;\nerror_log stderr notice;\nevents {{}}\nhttp {{\n\
         access_log off;\nsendfile on;\nclient_max_body_size 0;\nclient_body_temp_path {own}/body;\nproxy_temp_path {own}/proxy;\n\
         fastcgi_temp_path {own}/fastcgi;\nuwsgi_temp_path {own}/uwsgi;\nscgi_temp_path {own}/scgi;\n{}\n\
         server {{\nlisten {address}:80;\nlisten {address}:443 ssl http2;\n\
         ssl_certificate {own}/tls.crt;\nssl_certificate_key {own}/tls.key;\nroot {own};\n\
         location /sink {{\nproxy_pass http://{SINK};\nproxy_http_version 1.1;\nproxy_request_buffering off;\n}}\n}}\n}}\n",
        spec.config
    );
    let file = dir.join("nginx.conf");
    fs::write(&file, config).with_context(|| format!("cannot write {}", file.display()))?;
    let mut command = net.host(spec.server_side()).command(program("nginx")?)?;
    command
        .arg("-e")
        .arg("stderr")
        .arg("-p")
        .arg(dir)
        .arg("-c")
        .arg(&file);
    // Said in ngx_init_cycle, after its sockets listen.
    Ok((command, "event method"))
}

/// Reads all that nginx passes on.
fn sink(listener: TcpListener) -> Result<()> {
    let read = move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let drain = move || {
                priority::of_a_program();
                io::copy(&mut { stream }.by_ref(), &mut io::sink())
            };
            if thread::Builder::new()
                .name("lab-sink".into())
                .spawn(drain)
                .is_err()
            {
                return;
            }
        }
    };
    thread::Builder::new()
        .name("lab-sink".into())
        .spawn(read)
        .context("cannot start a thread")?;
    Ok(())
}

fn sshd(net: &Net, spec: &ProgramSpec, dir: &Path, address: IpAddr) -> Result<(Command, &'static str)> {
    let key = dir.join("key");
    process::output(
        Command::new(program("ssh-keygen")?)
            .args(["-q", "-t", "ed25519", "-N", "", "-f"])
            .arg(&key),
    )?;
    let key = key.display();
    let server = format!(
        "ListenAddress {address}\nPort 22\nHostKey {key}\nPidFile none\nAuthorizedKeysFile {key}.pub\nStrictModes no\nUsePAM {}\n\
         PermitRootLogin prohibit-password\nPrintMotd no\nPrintLastLog no\nSubsystem sftp internal-sftp\nClientAliveInterval 5\n{}\n",
        if root_is_locked() { "yes" } else { "no" },
        spec.config
    );
    let client = format!(
        "Host server\nHostName {address}\nUser root\nIdentityFile {key}\nIdentitiesOnly yes\n\
         StrictHostKeyChecking no\nUserKnownHostsFile /dev/null\nLogLevel ERROR\n"
    );
    let file = dir.join("sshd_config");
    fs::write(&file, server)
        .and_then(|()| fs::write(dir.join("ssh_config"), client))
        .context("cannot write OpenSSH's configuration")?;
    let mut command = net.host(spec.server_side()).command(program("sshd")?)?;
    command.args(["-D", "-e", "-f"]).arg(&file);
    // SAFETY: only system calls, on literals, between fork and exec.
    unsafe { command.pre_exec(private_run) };
    Ok((command, "Server listening"))
}

/// Without PAM sshd lets nobody in whose password is locked, not even with a key (sshd(8)).
fn root_is_locked() -> bool {
    let shadow = fs::read_to_string("/etc/shadow").unwrap_or_default();
    shadow.lines().any(|line| line.starts_with("root:!"))
}

/// sshd wants a /run/sshd, which only its service makes: here it gets a /run of its own.
fn private_run() -> io::Result<()> {
    let none = std::ptr::null();
    let done = |result: libc::c_int| match result {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    };
    // SAFETY: the strings are literals that end in 0, the other pointers may be null (mount(2)).
    unsafe {
        done(libc::unshare(libc::CLONE_NEWNS))?;
        done(libc::mount(
            none,
            c"/".as_ptr(),
            none,
            libc::MS_REC | libc::MS_PRIVATE,
            none.cast(),
        ))?;
        done(libc::mount(
            c"tmpfs".as_ptr(),
            c"/run".as_ptr(),
            c"tmpfs".as_ptr(),
            0,
            none.cast(),
        ))?;
        done(libc::mkdir(c"/run/sshd".as_ptr(), 0o755))
    }
}

fn program(name: &str) -> Result<std::path::PathBuf> {
    paths::program(name).with_context(|| format!("{name} is not installed"))
}
