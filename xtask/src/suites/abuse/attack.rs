//! What is done to the agent, one function an abuse. Each goes on until what it gives back is dropped.

use std::any::Any;
use std::io::Write as _;
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

use anyhow::{Context as _, Result, ensure};
use rustix::net::sockopt;

use crate::lab::clock::Timer;
use crate::lab::priority;

use super::http;
use super::victim::Victim;

pub const DRIPPING: usize = 40;
pub const HUGE_HEADS: usize = 100;
pub const BODIES: usize = 100;
pub const LONG_PATHS: usize = 100;
/// Fewer than one address may have connections: each ends by itself.
pub const BAD_HANDSHAKES: usize = 60;
const CROWD: usize = 1_000;
const BOMBS: usize = 40;
const PIPELINED: usize = 2_000;
const DEAF: usize = 40;
const GUESSERS: usize = 24;

type Held = Result<Box<dyn Any>>;

/// Connections that ask for nothing.
pub fn crowd(victim: &Victim) -> Held {
    let connected: Result<Vec<_>> = (0..CROWD).map(|_| victim.connect()).collect();
    Ok(Box::new(connected?))
}

/// Heads whose bytes come one a second, on fewer connections than one address may have.
pub fn drip(victim: &Victim) -> Held {
    let streams: Result<Vec<_>> = (0..DRIPPING).map(|_| victim.connect()).collect();
    let mut streams = streams?;
    let seconds = Timer::every(1_000_000_000)?;
    going_on(move |stop| {
        let head = http::get("/metrics", "");
        for byte in head.bytes() {
            for stream in &mut streams {
                // Those that were cut stay so.
                let _ = stream.write_all(&[byte]);
            }
            seconds.wait();
            if stop.load(Ordering::Relaxed) {
                return;
            }
        }
    })
}

/// A megabyte of headers each.
pub fn huge_heads(victim: &Victim) -> Held {
    let line = format!("X-Filler: {}\r\n", "x".repeat(1_000));
    let request = http::get("/metrics", &line.repeat(1_000));
    refused(victim, HUGE_HEADS, &request, &[431, 0])
}

/// Announced, and in part sent.
pub fn bodies(victim: &Victim) -> Held {
    let request = http::get("/api/v1/connections", "Content-Length: 1000000000\r\n") + &"x".repeat(10_000);
    refused(victim, BODIES, &request, &[413, 0])
}

/// Ten thousand bytes: the head is still within its limit.
pub fn long_paths(victim: &Victim) -> Held {
    let path = format!("/api/v1/connections?filter={}", "x".repeat(10_000));
    refused(victim, LONG_PATHS, &http::get(&path, ""), &[414])
}

/// As much as a path may hold of parentheses, of negations, of values and of conditions.
pub fn filter_bombs(victim: &Victim) -> Held {
    let filters = [
        "(".repeat(8_000),
        "not%20".repeat(1_300),
        format!("port%20in%20({}1)", "1,".repeat(3_900)),
        format!("{}port=1", "port=1%20or%20".repeat(550)),
    ];
    for filter in filters {
        let request = http::get(&format!("/api/v1/connections?filter={filter}"), "");
        drop(refused(victim, BOMBS, &request, &[400])?);
    }
    Ok(Box::new(()))
}

/// Sends it over and over; each must be answered with one of these. What is cut while it is still sent gives 0.
fn refused(victim: &Victim, times: usize, request: &str, statuses: &[u16]) -> Held {
    for _ in 0..times {
        let mut stream = victim.connect()?;
        let sent = stream.write_all(request.as_bytes());
        let (status, body) = http::answer(&stream);
        ensure!(
            statuses.contains(&status) && (sent.is_ok() || status != 200),
            "answered {status}: {body}"
        );
    }
    Ok(Box::new(()))
}

/// Each is answered, in order, on the one connection.
pub fn pipeline(victim: &Victim) -> Held {
    let stream = victim.connect()?;
    let mut writer = stream.try_clone()?;
    let writing = thread::spawn(move || {
        let one = "GET /-/healthy HTTP/1.1\r\nHost: localhost\r\n\r\n";
        writer.write_all((one.repeat(PIPELINED) + &http::get("/-/healthy", "")).as_bytes())
    });
    let (_, rest) = http::answer(stream);
    let written = writing
        .join()
        .map_err(|_| anyhow::anyhow!("the writer panicked"))?;
    written.context("cannot send them")?;
    // The first answer's head is taken off.
    let answered = 1 + rest.matches("HTTP/1.1 200").count();
    ensure!(
        answered == PIPELINED + 1,
        "{answered} of {} answered",
        PIPELINED + 1
    );
    Ok(Box::new(()))
}

/// More readers of events than are served, with the smallest buffer the kernel allows; events are made meanwhile.
pub fn deaf_readers(victim: &Victim) -> Held {
    deaf(victim, "/api/v1/events", DEAF)
}

/// Whole snapshots, the largest of all answers.
pub fn unread_snapshots(victim: &Victim) -> Held {
    deaf(victim, "/api/v1/snapshot", DEAF)
}

fn deaf(victim: &Victim, path: &str, count: usize) -> Held {
    let mut streams = Vec::new();
    for _ in 0..count {
        let mut stream = victim.connect()?;
        sockopt::set_socket_recv_buffer_size(&stream, 1).context("SO_RCVBUF")?;
        stream.write_all(http::get(path, "").as_bytes())?;
        streams.push(stream);
    }
    let address = victim.addresses()?[0];
    let events = going_on(move |stop| {
        while !stop.load(Ordering::Relaxed) {
            // Each connection is an `open` and a `close`.
            let Ok(stream) = TcpStream::connect(address) else {
                return;
            };
            drop(http::ask(stream, &http::get("/-/healthy", "")));
        }
    })?;
    Ok(Box::new((streams, events)))
}

/// A new wrong password with each request, from many connections at once.
pub fn guesses(victim: &Victim) -> Held {
    let address = victim.addresses()?[0];
    let mut guessers: Vec<Box<dyn Any>> = Vec::new();
    for guesser in 0..GUESSERS {
        guessers.push(going_on(move |stop| {
            let mut guess = 0_u32;
            while !stop.load(Ordering::Relaxed) {
                guess += 1;
                // A different valid text of base64 for each guess: `alice:` and three bytes of it.
                let password = format!("Authorization: Basic YWxpY2U6{:04}{guess:08}\r\n", guesser);
                let Ok(stream) = TcpStream::connect(address) else {
                    return;
                };
                drop(http::ask(stream, &http::get("/metrics", &password)));
            }
        })?);
    }
    Ok(Box::new(guessers))
}

/// Plain HTTP, noise, and hellos that end too soon.
pub fn bad_handshakes(victim: &Victim) -> Held {
    let noise: Vec<u8> = (0..4_000_u32).map(|index| (index * 7 % 251) as u8).collect();
    let hello = [&[22, 3, 1, 2, 0, 1, 0, 1, 252, 3, 3][..], &noise[..64]].concat();
    let record = [&[22, 3, 1, 0x40, 0][..], &noise].concat();
    let first: [&[u8]; 3] = [b"GET / HTTP/1.1\r\n\r\n", &hello, &record];
    let mut streams = Vec::new();
    for index in 0..BAD_HANDSHAKES {
        let mut stream = victim.connect()?;
        stream.write_all(first[index % first.len()])?;
        // The agent may have hung up already.
        let _ = stream.shutdown(Shutdown::Write);
        streams.push(stream);
    }
    Ok(Box::new(streams))
}

/// A thread that goes on until it is dropped.
struct Going {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

fn going_on(work: impl FnOnce(&AtomicBool) + Send + 'static) -> Held {
    let stop = Arc::new(AtomicBool::new(false));
    let seen = Arc::clone(&stop);
    let thread = thread::Builder::new()
        .name("abuse".to_owned())
        .spawn(move || {
            // Attackers are elsewhere, and take no processor of whom they attack.
            priority::of_a_stranger();
            work(&seen);
        })
        .context("cannot start a thread")?;
    Ok(Box::new(Going {
        stop,
        thread: Some(thread),
    }))
}

impl Drop for Going {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        let ended = self.thread.take().map(JoinHandle::join);
        drop(ended);
    }
}
