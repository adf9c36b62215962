//! CPU time of the sock_diag source and of the search for owners for one socket, beside `ss` on the same sockets. Prints; asserts nothing.

use std::net::{TcpListener, TcpStream};
use std::process::{Command, Stdio};

use rustix::process::{Resource, getrlimit, setrlimit};
use rustix::time::{ClockId, clock_gettime};
use tcpwin_agent::connection::FindOwner;
use tcpwin_agent::connection::owner::Owners;
use tcpwin_agent::observation::OwnerHint;
use tcpwin_agent::source::sock_diag::{Lookup, SockDiag};
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
    owners();
    drop(held);
}

/// CPU time of the search for the owners of all sockets: of its longest step, and of one open file.
fn owners() {
    let mut lookup = Lookup::new().expect("/proc");
    let mut owners = Owners::new();
    let before = cpu(ClockId::ThreadCPUTime);
    let mut asked = 0;
    lookup
        .inodes(&mut |key, inode| {
            asked += 1;
            let hint = OwnerHint {
                inode: Some(inode),
                ..OwnerHint::default()
            };
            owners.resolve(key, &hint);
        })
        .expect("the kernel answers");
    println!(
        "inodes of all sockets       {:>8.0} ns a socket",
        (cpu(ClockId::ThreadCPUTime) - before) / f64::from(asked)
    );
    let mut found = Vec::new();
    let (mut steps, mut longest, mut total) = (0, 0.0, 0.0);
    while found.len() < asked as usize && steps < 1_000 {
        let before = cpu(ClockId::ThreadCPUTime);
        owners.refresh(kernel_clock(), &mut found);
        let step = cpu(ClockId::ThreadCPUTime) - before;
        longest = f64::max(longest, step);
        total += step;
        steps += 1;
    }
    println!("owners found                {:>8} in {steps} steps", found.len());
    println!("owners, longest step        {:>8.1} ms", longest / 1e6);
    println!(
        "owners                      {:>8.0} ns a socket",
        total / found.len() as f64
    );
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
