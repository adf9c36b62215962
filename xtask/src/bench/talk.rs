//! Two workers that talk: a server, and a client that asks on one connection or on a new one each time.

use std::io::{self, BufRead as _, Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};

use anyhow::{Context as _, Result, bail};
use rustix::thread::{CpuSet, sched_setaffinity};

use crate::bench::worker::say;

const REQUEST: usize = 100;
const ANSWER: usize = 1_000;
/// First byte of a request whose answer ends the connection.
const LAST: u8 = 1;

/// Answers one connection after the other.
pub fn serve() -> Result<()> {
    share_one_processor()?;
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).context("cannot listen")?;
    say(&listener.local_addr().context("getsockname")?.to_string())?;
    // Ends with who started us: its stdin closes, and a thread sees it.
    std::thread::Builder::new()
        .name("end".into())
        .spawn(|| {
            let _ = io::stdin().lock().read_to_end(&mut Vec::new());
            std::process::exit(0);
        })
        .context("cannot start a thread")?;
    for stream in listener.incoming() {
        // A client that went away is no failure.
        let _ = answer(stream.context("accept")?);
    }
    Ok(())
}

fn answer(mut stream: TcpStream) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut request = [0; REQUEST];
    let answer = [9; ANSWER];
    loop {
        stream.read_exact(&mut request)?;
        stream.write_all(&answer)?;
        if request[0] == LAST {
            return Ok(());
        }
    }
}

/// Asks as told, until stdin ends.
pub fn ask(server: SocketAddr) -> Result<()> {
    share_one_processor()?;
    say("ready")?;
    for line in io::stdin().lock().lines() {
        let line = line.context("reading orders")?;
        match line
            .split_once(' ')
            .and_then(|(what, count)| Some((what, count.parse::<u64>().ok()?)))
        {
            Some(("turns", count)) => turns(server, count)?,
            Some(("connects", count)) => (0..count).try_for_each(|_| exchange(server))?,
            _ => bail!("unknown order `{line}`"),
        }
        say("done")?;
    }
    Ok(())
}

fn connect(server: SocketAddr) -> Result<TcpStream> {
    let stream = TcpStream::connect(server).with_context(|| format!("cannot connect to {server}"))?;
    stream.set_nodelay(true).context("TCP_NODELAY")?;
    Ok(stream)
}

/// The last answer ends the connection: the server takes one at a time.
fn turns(server: SocketAddr, count: u64) -> Result<()> {
    let stream = connect(server)?;
    (1..count).try_for_each(|_| turn(&stream, 0))?;
    turn(&stream, LAST)
}

fn turn(mut stream: &TcpStream, first: u8) -> Result<()> {
    let mut request = [0; REQUEST];
    request[0] = first;
    stream.write_all(&request).context("request")?;
    stream.read_exact(&mut [0; ANSWER]).context("answer")
}

/// Connect, request, answer; the server closes first, so that ports of ours stay free.
fn exchange(server: SocketAddr) -> Result<()> {
    let mut stream = connect(server)?;
    turn(&stream, LAST)?;
    let left = stream.read(&mut [0; 1]).context("the end")?;
    if left != 0 {
        bail!("more than the answer came");
    }
    Ok(())
}

/// Both on the last processor: what one turn costs then has no wake-up across processors in it, which varies.
fn share_one_processor() -> Result<()> {
    let count = std::thread::available_parallelism().map_or(1, usize::from);
    let mut set = CpuSet::new();
    set.set(count - 1);
    sched_setaffinity(None, &set).context("cannot choose a processor")
}
