//! Listeners, and those who connect to them.

use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use rustix::net::{AddressFamily, SocketFlags, SocketType, bind, connect, ipproto, listen, socket_with};

use super::bench::{Bench, LOOK, Wanted, release, value, well_set};
use crate::lab::flow::option;
use crate::lab::netns::NetNs;

pub fn run(bench: &mut Bench<'_>) -> Result<()> {
    lacks_fastopen(bench)?;
    server_off(bench)?;
    accept_queue(bench)?;
    fastopen_queue(bench)?;
    congestion(bench)?;
    buffer(bench)?;
    ports(bench)
}

fn lacks_fastopen(bench: &mut Bench<'_>) -> Result<()> {
    let netns = well_set(130)?;
    netns.sysctl("net.ipv4.tcp_fastopen", "3")?;
    let _listener = netns.enter(|| listening(Ipv4Addr::LOCALHOST, 64, None))?;
    let wanted = Wanted {
        id: "listener-lacks-fastopen",
        severity: "note",
    };
    bench.check_planted(wanted, &netns, LOOK)
}

fn server_off(bench: &mut Bench<'_>) -> Result<()> {
    let netns = well_set(131)?;
    let _listener = netns.enter(|| listening(Ipv4Addr::LOCALHOST, 64, Some(16)))?;
    let wanted = Wanted {
        id: "fastopen-server-off",
        severity: "risk",
    };
    bench.check_planted(wanted, &netns, LOOK)
}

/// A program that does not accept, and a backlog that the setting has cut.
fn accept_queue(bench: &mut Bench<'_>) -> Result<()> {
    let netns = well_set(132)?;
    netns.sysctl("net.core.somaxconn", "4")?;
    let listener = netns.enter(|| listening(Ipv4Addr::LOCALHOST, 64, None))?;
    let at = listener.local_addr()?;
    let _clients = netns.enter(|| (0..5).map(|_| connecting(at)).collect::<Result<Vec<_>>>())?;
    let wanted = Wanted {
        id: "accept-queue-full",
        severity: "hurts",
    };
    let said = bench.ask(&netns, LOOK)?;
    let mut faults = said.faults(wanted);
    let commands = said.commands();
    for command in &commands {
        faults.extend(super::bench::type_in(&netns, command)?);
    }
    // The backlog of a listener is the one of its listen(): the change reaches the next one.
    if bench.ask(&netns, LOOK)?.find(wanted.id).is_none() {
        faults.push("the change is said to reach a listener that listens already".into());
    }
    drop(listener);
    let _again = netns.enter(|| listening_at(at, 64, None))?;
    faults.extend(
        bench
            .ask(&netns, LOOK)?
            .ids()
            .iter()
            .map(|id| format!("after: {id}")),
    );
    bench.tell(wanted.id, &faults, &commands.join("; "))
}

/// Requests in SYNs whose handshakes never end: the answers go to nobody.
fn fastopen_queue(bench: &mut Bench<'_>) -> Result<()> {
    let (client, server) = (well_set(133)?, well_set(134)?);
    client.ip(&[
        format!("link add near type veth peer name near netns {}", server.name()),
        "link set near up".into(),
        "addr add 198.51.100.1/24 dev near".into(),
    ])?;
    server.ip(&[
        "link set near up".into(),
        "addr add 198.51.100.2/24 dev near".into(),
        "neigh replace 198.51.100.1 lladdr 02:00:00:00:00:99 dev near nud permanent".into(),
    ])?;
    client.sysctl("net.ipv4.tcp_fastopen", "5")?;
    server.sysctl("net.ipv4.tcp_fastopen", "515")?;
    let at = Ipv4Addr::new(198, 51, 100, 2);
    let mut faults = Vec::new();
    let wanted = Wanted {
        id: "fastopen-queue-full",
        severity: "hurts",
    };
    for queue in [1, 256] {
        let listener = server.enter(|| listening(at, 64, Some(queue)))?;
        let to = listener.local_addr()?;
        let said = while_asking_for(&client, to, || bench.ask(&server, 1.0))?;
        if queue == 1 {
            faults.extend(said.faults(wanted));
        } else if said.find(wanted.id).is_some() {
            faults.push(format!("still there with room for {queue}"));
        }
    }
    bench.tell(wanted.id, &faults, "TCP_FASTOPEN 1, then 256")
}

/// Sends requests in SYNs until the question is answered, some twenty a second.
fn while_asking_for<T: Send>(
    client: &NetNs,
    to: SocketAddr,
    question: impl FnOnce() -> Result<T>,
) -> Result<T> {
    const PERIOD: Duration = Duration::from_millis(50);
    let (answered, over) = mpsc::channel::<()>();
    thread::scope(|scope| {
        let requests = scope.spawn(move || {
            client.enter(move || {
                let mut open = vec![request(to)?];
                while over.recv_timeout(PERIOD) == Err(RecvTimeoutError::Timeout) {
                    open.push(request(to)?);
                }
                Ok(())
            })
        });
        let answer = question();
        drop(answered);
        let sent = requests.join();
        ensure!(sent.is_ok_and(|sent| sent.is_ok()), "requests could not be sent");
        answer
    })
}

fn request(to: SocketAddr) -> Result<OwnedFd> {
    let socket = socket_with(
        AddressFamily::INET,
        SocketType::STREAM,
        SocketFlags::CLOEXEC | SocketFlags::NONBLOCK,
        Some(ipproto::TCP),
    )?;
    let SocketAddr::V4(to) = to else {
        anyhow::bail!("{to} is not IPv4");
    };
    let address = libc::sockaddr_in {
        sin_family: libc::AF_INET as u16,
        sin_port: to.port().to_be(),
        sin_addr: libc::in_addr {
            s_addr: u32::from(*to.ip()).to_be(),
        },
        sin_zero: [0; 8],
    };
    // SAFETY: the socket is open; the request and the address live over the call, with their lengths. What it returns does not
    // matter: the SYN is out, or the next one will be.
    unsafe {
        libc::sendto(
            socket.as_raw_fd(),
            b"GET / HTTP/1.0\r\n\r\n".as_ptr().cast(),
            18,
            libc::MSG_FASTOPEN | libc::MSG_NOSIGNAL,
            (&raw const address).cast(),
            size_of::<libc::sockaddr_in>() as libc::socklen_t,
        )
    };
    Ok(socket)
}

/// A listener is older than the setting.
fn congestion(bench: &mut Bench<'_>) -> Result<()> {
    const NAME: &str = "net.ipv4.tcp_congestion_control";
    let netns = NetNs::create("135a")?;
    netns.ip(&["link set lo up".into()])?;
    let wanted = Wanted {
        id: "congestion-not-reached",
        severity: "note",
    };
    let before = value(&netns, NAME)?;
    if before == "reno" {
        return bench.recorder.skip(
            wanted.id,
            "new namespaces begin with reno, which is the other one",
        );
    }
    let listener = netns.enter(|| listening(Ipv4Addr::LOCALHOST, 64, None))?;
    netns.sysctl(NAME, "reno")?;
    let mut faults = Vec::new();
    if bench.ask(&netns, LOOK)?.find(wanted.id).is_none() {
        faults.push("not found".to_owned());
    }
    let at = listener.local_addr()?;
    drop(listener);
    let _again = netns.enter(|| listening_at(at, 64, None))?;
    if bench.ask(&netns, LOOK)?.find(wanted.id).is_some() {
        faults.push("still there once the program listens anew".to_owned());
    }
    bench.tell(wanted.id, &faults, &format!("{before}, then reno"))
}

/// What a program sets before it listens, everything that it accepts has.
fn buffer(bench: &mut Bench<'_>) -> Result<()> {
    if release() < (5, 14) {
        return bench
            .recorder
            .skip("listener-buffer-locked", "this kernel has no SO_BUF_LOCK to ask");
    }
    let netns = well_set(137)?;
    let wanted = Wanted {
        id: "listener-buffer-locked",
        severity: "risk",
    };
    let listener = netns.enter(|| listening(Ipv4Addr::LOCALHOST, 64, None))?;
    rustix::net::sockopt::set_socket_send_buffer_size(&listener, 65_536)?;
    let mut faults = bench.ask(&netns, LOOK)?.faults(wanted);
    drop(listener);
    let _again = netns.enter(|| listening(Ipv4Addr::LOCALHOST, 64, None))?;
    faults.extend(
        bench
            .ask(&netns, LOOK)?
            .ids()
            .iter()
            .map(|id| format!("after: {id}")),
    );
    bench.tell(wanted.id, &faults, "SO_SNDBUF 65536, then none")
}

/// Nearly all ports of a small range are taken towards one place.
fn ports(bench: &mut Bench<'_>) -> Result<()> {
    let netns = well_set(136)?;
    netns.sysctl("net.ipv4.ip_local_port_range", "40000 40019")?;
    let listener = netns.enter(|| listening(Ipv4Addr::LOCALHOST, 64, None))?;
    let at = listener.local_addr()?;
    let _open = netns.enter(|| {
        (0..18)
            .map(|_| Ok((TcpStream::connect(at)?, listener.accept()?)))
            .collect::<Result<Vec<_>>>()
    })?;
    let wanted = Wanted {
        id: "ephemeral-ports",
        severity: "hurts",
    };
    bench.check_planted(wanted, &netns, 2.0)
}

fn listening(at: Ipv4Addr, backlog: i32, fastopen: Option<i32>) -> Result<TcpListener> {
    listening_at((at, 0).into(), backlog, fastopen)
}

fn listening_at(at: SocketAddr, backlog: i32, fastopen: Option<i32>) -> Result<TcpListener> {
    let socket = socket_with(
        AddressFamily::INET,
        SocketType::STREAM,
        SocketFlags::CLOEXEC,
        Some(ipproto::TCP),
    )?;
    rustix::net::sockopt::set_socket_reuseaddr(&socket, true)?;
    bind(&socket, &at).with_context(|| format!("cannot bind {at}"))?;
    if let Some(queue) = fastopen {
        option(&socket, libc::IPPROTO_TCP, libc::TCP_FASTOPEN, queue).context("TCP_FASTOPEN")?;
    }
    listen(&socket, backlog).context("cannot listen")?;
    Ok(socket.into())
}

/// Its handshake may end or not.
fn connecting(to: SocketAddr) -> Result<OwnedFd> {
    let socket = socket_with(
        AddressFamily::INET,
        SocketType::STREAM,
        SocketFlags::CLOEXEC,
        Some(ipproto::TCP),
    )?;
    connect(&socket, &to)?;
    Ok(socket)
}
