//! The path between the two hosts: a thread that carries packets from one TUN device to the other, each direction
//! through its [`Link`]. It sleeps in epoll until a packet comes or one is due, and never spins.

mod link;

use std::collections::VecDeque;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use anyhow::{Context, Result};
use rustix::event::{EventfdFlags, epoll, eventfd};
use rustix::io::{Errno, retry_on_intr};

pub use link::{Drop as DropReason, Link, LinkSpec, Policer};

use super::clock::{Timer, now_ns};
use super::priority;
use super::tun::{self, Framing};

/// A packet this close to its time goes now: one wake-up serves a train.
const TRAIN_NS: u64 = 20_000;
/// Packets taken from one device before the other has its turn.
const BATCH: usize = 64;
const FRAME_MAX: usize = 65_536 + tun::VNET_HEADER;

/// Which way a packet goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From the sender's host to the receiver's.
    Forward,
    /// From the receiver's host to the sender's.
    Reverse,
}

/// Counters of one direction.
#[derive(Debug, Default)]
pub struct LinkCounters {
    packets: AtomicU64,
    bytes: AtomicU64,
    dropped_tail: AtomicU64,
    dropped_loss: AtomicU64,
    dropped_policer: AtomicU64,
    dropped_too_large: AtomicU64,
    dropped_blackhole: AtomicU64,
    write_errors: AtomicU64,
}

/// A reading of [`LinkCounters`].
#[derive(Clone, Copy, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct LinkStats {
    /// Packets delivered (super-packets count once).
    pub packets: u64,
    /// Bytes delivered, as on the wire.
    pub bytes: u64,
    /// Packets that found the queue full.
    pub dropped_tail: u64,
    /// Packets lost at random.
    pub dropped_loss: u64,
    /// Packets the policer dropped.
    pub dropped_policer: u64,
    /// Packets larger than the direction lets through.
    pub dropped_too_large: u64,
    /// Packets that came while the direction was dead.
    pub dropped_blackhole: u64,
    /// Packets the other device refused.
    pub write_errors: u64,
}

impl LinkCounters {
    fn read(&self) -> LinkStats {
        let get = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        LinkStats {
            packets: get(&self.packets),
            bytes: get(&self.bytes),
            dropped_tail: get(&self.dropped_tail),
            dropped_loss: get(&self.dropped_loss),
            dropped_policer: get(&self.dropped_policer),
            dropped_too_large: get(&self.dropped_too_large),
            dropped_blackhole: get(&self.dropped_blackhole),
            write_errors: get(&self.write_errors),
        }
    }

    fn count_drop(&self, reason: DropReason) {
        let counter = match reason {
            DropReason::Tail => &self.dropped_tail,
            DropReason::Loss => &self.dropped_loss,
            DropReason::Policer => &self.dropped_policer,
            DropReason::TooLarge => &self.dropped_too_large,
            DropReason::Blackhole => &self.dropped_blackhole,
        };
        counter.fetch_add(1, Ordering::Relaxed);
    }
}

#[derive(Debug, Default)]
struct Orders {
    links: [Option<LinkSpec>; 2],
    stop: bool,
}

struct Shared {
    orders: Mutex<Orders>,
    wake: OwnedFd,
    counters: [LinkCounters; 2],
}

/// A running relay; ends when dropped.
pub struct Relay {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

impl Relay {
    /// Joins the two devices (of the sender's host and the receiver's).
    pub fn start(devices: [OwnedFd; 2], framing: Framing, links: [LinkSpec; 2], seed: u64) -> Result<Self> {
        let wake =
            eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK).context("cannot create an eventfd")?;
        let shared = Arc::new(Shared {
            orders: Mutex::default(),
            wake,
            counters: Default::default(),
        });
        let mut worker = Worker::new(devices, framing, links, seed, Arc::clone(&shared))?;
        let thread = thread::Builder::new()
            .name("lab-relay".into())
            .spawn(move || {
                priority::of_the_path();
                if let Err(error) = worker.run() {
                    eprintln!("lab: the relay stopped: {error:#}");
                }
            })
            .context("cannot start the relay's thread")?;
        Ok(Self {
            shared,
            thread: Some(thread),
        })
    }

    /// Changes what one direction does from now on.
    pub fn set(&self, direction: Direction, spec: LinkSpec) {
        self.order(|orders| orders.links[direction as usize] = Some(spec));
    }

    /// What one direction has carried and dropped.
    pub fn stats(&self, direction: Direction) -> LinkStats {
        self.shared.counters[direction as usize].read()
    }

    fn order(&self, change: impl FnOnce(&mut Orders)) {
        change(&mut self.shared.orders.lock().unwrap_or_else(PoisonError::into_inner));
        let _ = rustix::io::write(&self.shared.wake, &1_u64.to_ne_bytes());
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.order(|orders| orders.stop = true);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

struct InFlight {
    due_ns: u64,
    wire_bytes: u64,
    frame: Box<[u8]>,
}

struct Worker {
    devices: [OwnedFd; 2],
    framing: Framing,
    links: [Link; 2],
    in_flight: [VecDeque<InFlight>; 2],
    timer: Timer,
    armed_ns: u64,
    epoll: OwnedFd,
    shared: Arc<Shared>,
    frame: Box<[u8]>,
}

const TOKEN_TIMER: u64 = 2;
const TOKEN_WAKE: u64 = 3;

impl Worker {
    fn new(
        devices: [OwnedFd; 2],
        framing: Framing,
        links: [LinkSpec; 2],
        seed: u64,
        shared: Arc<Shared>,
    ) -> Result<Self> {
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC).context("cannot create an epoll")?;
        let timer = Timer::new()?;
        let watched = [
            (&devices[0], 0),
            (&devices[1], 1),
            (timer.fd(), TOKEN_TIMER),
            (&shared.wake, TOKEN_WAKE),
        ];
        for (fd, token) in watched {
            epoll::add(
                &epoll,
                fd,
                epoll::EventData::new_u64(token),
                epoll::EventFlags::IN,
            )
            .context("cannot watch a descriptor")?;
        }
        Ok(Self {
            devices,
            framing,
            links: [Link::new(links[0], seed), Link::new(links[1], seed ^ 0x5555)],
            in_flight: Default::default(),
            timer,
            armed_ns: u64::MAX,
            epoll,
            shared,
            frame: vec![0; FRAME_MAX].into_boxed_slice(),
        })
    }

    fn run(&mut self) -> Result<()> {
        let mut events = Vec::with_capacity(4);
        loop {
            events.clear();
            retry_on_intr(|| epoll::wait(&self.epoll, rustix::buffer::spare_capacity(&mut events), None))
                .context("epoll")?;
            for event in &events {
                match event.data.u64() {
                    TOKEN_TIMER => {
                        self.timer.wait();
                        self.armed_ns = u64::MAX;
                    }
                    TOKEN_WAKE => {
                        if self.obey() {
                            return Ok(());
                        }
                    }
                    device => self.take_in(device as usize)?,
                }
            }
            self.give_out()?;
        }
    }

    /// Carries out what the owner asked for; true: stop.
    fn obey(&mut self) -> bool {
        let mut count = [0_u8; 8];
        let _ = rustix::io::read(&self.shared.wake, &mut count);
        let mut orders = self.shared.orders.lock().unwrap_or_else(PoisonError::into_inner);
        for (link, spec) in self.links.iter_mut().zip(&mut orders.links) {
            if let Some(spec) = spec.take() {
                link.set(spec);
            }
        }
        orders.stop
    }

    fn take_in(&mut self, from: usize) -> Result<()> {
        for _ in 0..BATCH {
            let read = match retry_on_intr(|| rustix::io::read(&self.devices[from], &mut self.frame[..])) {
                Ok(read) => read,
                Err(Errno::AGAIN) => return Ok(()),
                Err(error) => return Err(error).context("cannot read from a TUN device"),
            };
            let frame = &self.frame[..read];
            if self.links[from].drops_syn_data() && tun::is_syn_with_data(frame, self.framing) {
                self.shared.counters[from].count_drop(DropReason::Blackhole);
                continue;
            }
            let wire_bytes = tun::wire_bytes(frame, self.framing);
            match self.links[from].admit(now_ns(), wire_bytes) {
                Ok(due_ns) => self.in_flight[from].push_back(InFlight {
                    due_ns,
                    wire_bytes,
                    frame: frame.into(),
                }),
                Err(reason) => self.shared.counters[from].count_drop(reason),
            }
        }
        Ok(())
    }

    fn give_out(&mut self) -> Result<()> {
        let mut next_ns = u64::MAX;
        for (from, queue) in self.in_flight.iter_mut().enumerate() {
            let counters = &self.shared.counters[from];
            let mut now = now_ns() + TRAIN_NS;
            while let Some(head) = queue.front() {
                if head.due_ns > now {
                    now = now_ns() + TRAIN_NS;
                    if head.due_ns > now {
                        next_ns = next_ns.min(head.due_ns);
                        break;
                    }
                }
                match retry_on_intr(|| rustix::io::write(&self.devices[1 - from], &head.frame)) {
                    Ok(_) => {
                        counters.packets.fetch_add(1, Ordering::Relaxed);
                        counters.bytes.fetch_add(head.wire_bytes, Ordering::Relaxed);
                    }
                    Err(_) => {
                        counters.write_errors.fetch_add(1, Ordering::Relaxed);
                    }
                }
                queue.pop_front();
            }
        }
        if next_ns < self.armed_ns {
            self.timer.arm_at(next_ns)?;
            self.armed_ns = next_ns;
        }
        Ok(())
    }
}
