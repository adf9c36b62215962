//! CPU time of the sock_diag source for one socket, beside `ss` on the same sockets. Prints; asserts nothing.

use std::net::{TcpListener, TcpStream};
use std::process::{Command, Stdio};

use rustix::process::{Resource, getrlimit, setrlimit};
use rustix::time::{ClockId, clock_gettime};
use tcpwin_agent::source::sock_diag::SockDiag;
use tcpwin_agent::source::{Source, kernel_clock};

const ROUNDS: usize = 9;

fn main() {
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    let _ = setrlimit(Resource::Nofile, limit);
    let pairs = limit
        .current
        .map_or(9_000, |files| (files.saturating_sub(200) / 2).min(9_000));

    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("bound");
    let held: Vec<(TcpStream, TcpStream)> = (0..pairs)
        .map(|_| {
            let client = TcpStream::connect(address).expect("loopback connects");
            (client, listener.accept().expect("loopback accepts").0)
        })
        .collect();

    let mut source = SockDiag::new().expect("sock_diag opens");
    let first = poll(&mut source);
    poll(&mut source);
    let sockets = source.len();
    let idle = (0..ROUNDS).map(|_| poll(&mut source)).fold(f64::MAX, f64::min);
    println!("sockets                     {sockets:>8}");
    println!(
        "sock_diag, first sight      {:>8.0} ns a socket",
        first / sockets as f64
    );
    println!(
        "sock_diag, idle             {:>8.0} ns a socket",
        idle / sockets as f64
    );
    println!(
        "ss -tinmH                   {:>8.0} ns a socket",
        ss() / sockets as f64
    );
    drop(held);
}

/// CPU time of one poll, ns.
fn poll(source: &mut SockDiag) -> f64 {
    let before = cpu(ClockId::ThreadCPUTime);
    source
        .poll(kernel_clock(), &mut |update| {
            std::hint::black_box(&update);
        })
        .expect("the source polls");
    cpu(ClockId::ThreadCPUTime) - before
}

/// CPU time of one `ss`, ns: what its shell used, as the shell itself counts it.
fn ss() -> f64 {
    let times = Command::new("bash")
        .args(["-c", "TIMEFORMAT='%3U %3S'; time ss -tinmH >/dev/null"])
        .stderr(Stdio::piped())
        .output()
        .expect("bash runs");
    String::from_utf8_lossy(&times.stderr)
        .split_whitespace()
        .filter_map(|seconds| seconds.parse::<f64>().ok())
        .sum::<f64>()
        * 1e9
}

fn cpu(clock: ClockId) -> f64 {
    let time = clock_gettime(clock);
    time.tv_sec as f64 * 1e9 + time.tv_nsec as f64
}
