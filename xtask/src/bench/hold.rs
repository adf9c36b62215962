//! A worker that holds many connections to itself, quiet or with small requests and answers on each.

use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsFd as _, AsRawFd as _};

use anyhow::{Context as _, Result, bail, ensure};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{Resource, getrlimit, setrlimit};

use crate::bench::worker::say;
use crate::lab::clock::Timer;

/// Connections opened in one go, and the pause after them: a bounded pace.
const BATCH: usize = 50;
const PACE_NS: u64 = 5_000_000;
/// Pings are spread over this many turns of a period.
const SLICES: usize = 10;
const REQUEST: usize = 64;
const ANSWER: usize = 256;

struct Pair {
    client: TcpStream,
    server: TcpStream,
}

/// Opens the connections, then does as told until stdin ends.
pub fn run(pairs: usize, listen: SocketAddr, every_ms: u64) -> Result<()> {
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    setrlimit(Resource::Nofile, limit).context("cannot raise the limit of open files")?;
    let held = open(pairs, listen)?;
    say("ready")?;

    let period = Timer::every(every_ms.max(SLICES as u64) * 1_000_000 / SLICES as u64)?;
    let mut busy = false;
    let mut slice = 0;
    let stdin = std::io::stdin();
    let input = stdin.as_fd();
    loop {
        let mut ready = [
            PollFd::from_borrowed_fd(input, PollFlags::IN),
            PollFd::new(period.fd(), PollFlags::IN),
        ];
        let watched = if busy { &mut ready[..] } else { &mut ready[..1] };
        poll(watched, None).context("poll")?;
        if !ready[0].revents().is_empty() {
            // Unbuffered: a line that waits in a buffer would not wake the poll.
            let mut order = [0; 16];
            let length = rustix::io::read(input, &mut order).context("reading orders")?;
            match &order[..length] {
                [] => return Ok(()),
                b"busy\n" => busy = true,
                b"idle\n" => busy = false,
                other => bail!("unknown order {:?}", String::from_utf8_lossy(other)),
            }
            say("ok")?;
        }
        if busy {
            period.wait();
            for pair in held.iter().skip(slice).step_by(SLICES) {
                ping(pair)?;
            }
            slice = (slice + 1) % SLICES;
        }
    }
}

fn open(pairs: usize, listen: SocketAddr) -> Result<Vec<Pair>> {
    let listener = TcpListener::bind(listen).with_context(|| format!("cannot listen on {listen}"))?;
    let address = listener.local_addr().context("getsockname")?;
    ensure!(
        address.ip() != Ipv4Addr::UNSPECIFIED,
        "listens on a particular address"
    );
    let pace = Timer::every(PACE_NS)?;
    let mut held = Vec::with_capacity(pairs);
    for number in 0..pairs {
        if number % BATCH == BATCH - 1 {
            pace.wait();
        }
        let client = TcpStream::connect(address).with_context(|| format!("connection {number}"))?;
        let (server, _) = listener
            .accept()
            .with_context(|| format!("connection {number}"))?;
        for side in [&client, &server] {
            end_at_once(side).context("SO_LINGER")?;
            side.set_nodelay(true).context("TCP_NODELAY")?;
        }
        held.push(Pair { client, server });
    }
    Ok(held)
}

/// Closing resets: nothing of tens of thousands of connections stays in TIME_WAIT.
fn end_at_once(stream: &TcpStream) -> std::io::Result<()> {
    let linger = libc::linger {
        l_onoff: 1,
        l_linger: 0,
    };
    // SAFETY: the kernel reads the live struct of the size told.
    let failed = unsafe {
        libc::setsockopt(
            stream.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_LINGER,
            (&raw const linger).cast(),
            size_of::<libc::linger>() as u32,
        )
    };
    if failed == 0 {
        Ok(())
    } else {
        Err(std::io::Error::last_os_error())
    }
}

fn ping(pair: &Pair) -> Result<()> {
    let mut buffer = [7; ANSWER];
    let (mut client, mut server) = (&pair.client, &pair.server);
    client.write_all(&buffer[..REQUEST]).context("request")?;
    server
        .read_exact(&mut buffer[..REQUEST])
        .context("reading a request")?;
    server.write_all(&buffer).context("answer")?;
    client.read_exact(&mut buffer).context("reading an answer")
}
