//! iperf3, nginx and curl in a namespace, with connections over IPv4, IPv6 and IPv4 by IPv6 sockets.

use std::fs;
use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use tcpwin_agent::source::kernel_clock;
use tempfile::TempDir;

use super::netns::Namespace;
use super::told::within_patience;

/// Streams of each iperf3 client; it has one connection more for control.
const STREAMS: usize = 40;
/// curl processes of each address; each holds its connection after the answer.
const CURLS: usize = 4;
/// The last one by an IPv6 socket that speaks IPv4.
const ADDRESSES: [&str; 3] = ["127.0.0.1", "[::1]", "[::ffff:127.0.0.1]"];
/// The ports of a namespace of the test's own are free.
const IPERF_PORTS: [&str; 2] = ["5201", "5202"];
const NGINX_PORT: &str = "8080";
/// Sizes of what curl fetches.
const FILE: usize = 3_000_000;

/// All of one namespace; ended with the value.
pub struct Programs {
    pub netns: u32,
    children: Vec<Child>,
    _dir: TempDir,
}

/// Why the test cannot run, if a program is missing.
pub fn missing() -> Option<&'static str> {
    [("iperf3", "-v"), ("nginx", "-v"), ("curl", "-V")]
        .iter()
        .any(|(program, version)| {
            let run = Command::new(program)
                .arg(version)
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .status();
            run.is_err()
        })
        .then_some("iperf3, nginx and curl are not all installed")
}

/// Starts everything; the connections come up by and by.
pub fn start(place: &Namespace) -> Programs {
    let dir = TempDir::new().expect("a directory");
    fs::write(dir.path().join("file"), vec![b'x'; FILE]).expect("written");
    fs::write(
        dir.path().join("nginx.conf"),
        configuration(dir.path().to_str().expect("text")),
    )
    .expect("written");
    let mut programs = Programs {
        netns: place.inum,
        children: Vec::new(),
        _dir: dir,
    };
    place.inside(|| programs.start_all());
    programs
}

/// Debian's nginx would use its own places for temporary files.
fn configuration(dir: &str) -> String {
    let temporary: String = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        .iter()
        .map(|kind| format!("{kind}_temp_path {dir}/{kind};"))
        .collect();
    format!(
        "daemon off; master_process off; pid {dir}/pid; error_log {dir}/error.log;\n\
         events {{ worker_connections 256; }}\n\
         http {{ access_log off; {temporary} keepalive_timeout 3600s; keepalive_time 24h;\n\
         server {{ listen [::]:{NGINX_PORT} ipv6only=off; root {dir}; }} }}\n"
    )
}

impl Programs {
    /// Ends of the connections that the programs hold.
    pub fn sockets(&self) -> usize {
        2 * (IPERF_PORTS.len() * (STREAMS + 1) + ADDRESSES.len() * CURLS)
    }

    fn start_all(&mut self) {
        let dir = self._dir.path().to_str().expect("text").to_owned();
        self.spawn(
            "nginx",
            &[
                "-p",
                &dir,
                "-c",
                &format!("{dir}/nginx.conf"),
                "-e",
                &format!("{dir}/error.log"),
            ],
        );
        for port in IPERF_PORTS {
            self.spawn("iperf3", &["-s", "-p", port]);
        }
        listening(&[IPERF_PORTS[0], IPERF_PORTS[1], NGINX_PORT]);
        for (address, port) in ["127.0.0.1", "::1"].iter().zip(IPERF_PORTS) {
            let streams = STREAMS.to_string();
            self.spawn(
                "iperf3",
                &[
                    "-c", address, "-p", port, "-P", &streams, "-b", "2M", "-t", "3600",
                ],
            );
        }
        for address in ADDRESSES {
            for _ in 0..CURLS {
                let url = format!("http://{address}:{NGINX_PORT}/file");
                // The second turn is due in an hour: until then the connection is kept.
                self.spawn(
                    "curl",
                    &[
                        "-s",
                        "-g",
                        "--rate",
                        "1/h",
                        "-o",
                        "/dev/null",
                        &url,
                        "-o",
                        "/dev/null",
                        &url,
                    ],
                );
            }
        }
    }

    fn spawn(&mut self, program: &str, arguments: &[&str]) {
        let child = Command::new(program)
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        self.children.push(child.expect("it is installed"));
    }

    /// Stops every program where it is: what it has given TCP goes on until the peer's buffer is full.
    pub fn pause(&mut self) {
        for child in &mut self.children {
            let end = child.try_wait().expect("ours");
            assert_eq!(end, None, "a program has ended");
            kill_process(Pid::from_child(child), Signal::STOP).expect("it runs");
        }
    }
}

impl Drop for Programs {
    fn drop(&mut self) {
        for child in &mut self.children {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Waits until somebody listens on every port.
fn listening(ports: &[&str]) {
    let since = kernel_clock();
    loop {
        let output = Command::new("ss")
            .arg("-tlnH")
            .output()
            .expect("iproute2's `ss` runs");
        let text = String::from_utf8(output.stdout).expect("ss prints text");
        let missing: Vec<_> = ports
            .iter()
            .filter(|port| !text.contains(&format!(":{port} ")))
            .collect();
        if missing.is_empty() {
            return;
        }
        within_patience(since, || format!("nobody listens on {missing:?}"));
    }
}
