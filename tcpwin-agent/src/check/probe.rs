//! What all parts of a check share: whom they ask, how long it may take, and the shortest round trip seen.

use std::net::SocketAddr;

use rustls::pki_types::ServerName;

use super::Plan;
use super::answer::Taken;
use super::budget::Course;
use super::http1::Request;
use super::report::Report;
use super::wire::{ConnectError, Wire, now};
use crate::units::{Instant, Micros, Nanos};

/// Below this round-trip time flights cannot be told apart.
const NEAR_US: u32 = 2_000;

/// A check as it goes on.
pub struct Probe<'a> {
    /// What was asked for.
    pub plan: &'a Plan,
    /// The address that is checked.
    pub to: SocketAddr,
    /// What stands in Host.
    pub authority: String,
    /// The name in TLS.
    pub server_name: ServerName<'static>,
    /// Connections so far.
    pub opened: u32,
    /// The way to a first byte, once it was gone.
    pub course: Option<Course>,
    end: Instant,
    least_us: Option<u32>,
}

impl<'a> Probe<'a> {
    /// A check that has until `end`.
    pub fn new(
        plan: &'a Plan,
        to: SocketAddr,
        authority: String,
        server_name: ServerName<'static>,
        end: Instant,
    ) -> Self {
        Self {
            plan,
            to,
            authority,
            server_name,
            opened: 0,
            course: None,
            end,
            least_us: None,
        }
    }

    /// How long the next connection may take.
    pub fn within(&self) -> Nanos {
        self.plan.timeout.min(self.end.since(now()))
    }

    /// Opens a connection.
    pub fn open(&mut self) -> Result<Wire, ConnectError> {
        self.opened += 1;
        let wire = Wire::open(self.to, self.within())?;
        self.look(&wire);
        Ok(wire)
    }

    /// Takes its round-trip time into account.
    pub fn look(&mut self, wire: &Wire) {
        if let Some(rtt) = wire.info().min_rtt().filter(|rtt| *rtt != u32::MAX) {
            self.learn(rtt);
        }
    }

    /// A round-trip time that was seen.
    pub fn learn(&mut self, rtt_us: u32) {
        if rtt_us > 0 {
            self.least_us = Some(self.least_us.map_or(rtt_us, |least| least.min(rtt_us)));
        }
    }

    /// The shortest so far.
    pub fn rtt(&self) -> Micros {
        Micros(self.least_us.unwrap_or(0))
    }

    /// The same as a span.
    pub fn rtt_span(&self) -> Nanos {
        Nanos(u64::from(self.rtt().0) * 1000)
    }

    /// A pause that parts two flights, half a round trip; `None` where a process that is woken late looks the same.
    pub fn pause(&self) -> Option<Nanos> {
        (self.rtt().0 >= NEAR_US).then(|| Nanos(u64::from(self.rtt().0) * 500))
    }

    /// The request of this check.
    pub fn request(&self) -> Request<'_> {
        Request {
            host: &self.authority,
            path: &self.plan.target.path,
            most_bytes: self.plan.most_bytes,
        }
    }

    /// Puts an answer into the report, and remembers how it came.
    pub fn keep(&mut self, taken: Taken, report: &mut Report) {
        report.answer = Some(taken.answered);
        self.course = Some(taken.course);
    }
}
