//! `tcpwin check`: a server as its clients meet it, asked by a client that measures.
//!
//! It opens some twenty connections one after another, never two at a time, and reads what passed over each: [`wire`] keeps the bytes
//! and their times, [`crate::handshake`] reads what is in the clear, rustls speaks TLS. What was measured goes into the [`Report`];
//! [`find`](mod@find) says what it means.

mod answer;
mod budget;
mod certificate;
mod claim;
mod fastopen;
mod find;
mod flight;
mod hpack;
mod http1;
mod http2;
mod probe;
mod report;
mod resolve;
mod roots;
mod session;
mod stamp;
mod stream;
mod target;
mod text;
mod tickets;
mod tls;
mod versions;
mod wire;
mod witness;

use std::net::SocketAddr;

use rustls::RootCertStore;
use rustls::pki_types::ServerName;

pub use claim::{Claim, NoClaim};
pub use report::{Finding, Report, Severity};
pub use resolve::ResolveError;
pub use roots::{RootsError, roots};
pub use target::{Target, TargetError};
pub use text::write;

use self::budget::{Course, Shape};
use self::fastopen::State;
use self::flight::INITCWND;
use self::probe::Probe;
use self::report::{Address, Download, Resolver};
use self::tls::{Client, MODERN};
use self::wire::Wire;
use crate::classify::floor;
use crate::observation::tcp_info::{OPTION_ECN, OPTION_SACK, OPTION_TIMESTAMPS, OPTION_WSCALE};
use crate::units::{Bytes, Instant, Micros, Nanos};

/// Addresses of a name that are tried at most.
const ADDRESSES: usize = 16;
/// Sizes of downloads whose least time is told.
const SIZES: [u64; 3] = [60_000, 1_000_000, 8 << 20];

/// Which addresses are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// IPv4.
    V4,
    /// IPv6.
    V6,
}

/// What to check, and how far to go.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Whom.
    pub target: Target,
    /// Whom to ask for in TLS and HTTP, where it is not the host.
    pub name: Option<String>,
    /// Only addresses of this family.
    pub family: Option<Family>,
    /// Connections of the series that tells how sessions are resumed.
    pub connections: usize,
    /// For each connection.
    pub timeout: Nanos,
    /// For all of it.
    pub total: Nanos,
    /// Whom to trust.
    pub roots: RootCertStore,
    /// No more of an answer is read.
    pub most_bytes: u64,
    /// What somebody says of this server.
    pub claims: Vec<Claim>,
}

/// Nothing could be measured.
#[derive(Debug, thiserror::Error)]
pub enum CheckError {
    /// No address.
    #[error(transparent)]
    Resolve(#[from] ResolveError),
    /// None of the family that was asked for.
    #[error("{0} has no address of the family that was asked for")]
    Family(String),
    /// No connection to any.
    #[error("{0}")]
    Unreachable(String),
    /// What TLS cannot ask for.
    #[error("`{0}` is no name that TLS can ask for: give one with --name")]
    Name(String),
}

/// Checks.
///
/// # Errors
/// When there is no address, or none takes a connection. What fails later is in the report.
pub fn run(plan: &Plan) -> Result<Report, CheckError> {
    let target = &plan.target;
    let end = wire::after(plan.total);
    let name = plan.name.clone().unwrap_or_else(|| target.host.clone());
    let server_name = ServerName::try_from(name.clone()).map_err(|_| CheckError::Name(name.clone()))?;
    let resolved = resolve::resolve(&target.host, target.port, plan.timeout)?;
    let wanted = |address: &SocketAddr| match plan.family {
        None => true,
        Some(Family::V4) => address.is_ipv4(),
        Some(Family::V6) => address.is_ipv6(),
    };
    let addresses: Vec<_> = resolved
        .addresses
        .into_iter()
        .filter(wanted)
        .take(ADDRESSES)
        .collect();
    if addresses.is_empty() {
        return Err(CheckError::Family(target.host.clone()));
    }
    let mut report = Report {
        host: target.host.clone(),
        port: target.port,
        resolver: resolved.took.map(|[first, again]| Resolver {
            first_us: first.0 / 1000,
            again_us: again.0 / 1000,
        }),
        ..Report::default()
    };
    let to = connect_all(plan, &addresses, end, &mut report)?;
    let mut probe = Probe::new(plan, to, authority(&name, target), server_name, end);
    let connect_us = u32::try_from(report.tcp.connect_us).unwrap_or(u32::MAX);
    probe.learn(report.tcp.rtt_us.unwrap_or(connect_us));
    measure(&mut probe, &addresses, &mut report);
    report.connections += probe.opened;
    report.rtt_us = probe.rtt().0;
    conclude(&probe, resolved.took.map(|[first, _]| first), &mut report);
    report.findings = find::findings(&report);
    Ok(report)
}

/// What stands in Host (RFC 9110, section 7.2).
fn authority(name: &str, target: &Target) -> String {
    let name = match name.contains(':') {
        true => format!("[{name}]"),
        false => name.to_owned(),
    };
    match (target.tls, target.port) {
        (true, 443) | (false, 80) => name,
        (_, port) => format!("{name}:{port}"),
    }
}

/// Opens a connection to each address; the first that answers is the one that is checked.
fn connect_all(
    plan: &Plan,
    addresses: &[SocketAddr],
    end: Instant,
    report: &mut Report,
) -> Result<SocketAddr, CheckError> {
    let mut checked = None;
    for address in addresses {
        let mut told = Address {
            address: address.to_string(),
            ..Address::default()
        };
        report.connections += 1;
        match Wire::open(*address, plan.timeout.min(end.since(wire::now()))) {
            Ok(wire) => {
                let took = wire.opened.map_or(0, |opened| opened.since(wire.began).0 / 1000);
                told.connect_us = Some(took);
                if checked.is_none() {
                    checked = Some(*address);
                    report.checked = address.to_string();
                    report.tcp = tcp(&wire, took);
                }
            }
            Err(error) => told.error = Some(error.to_string()),
        }
        report.addresses.push(told);
    }
    let errors = report
        .addresses
        .iter()
        .filter_map(|address| address.error.clone());
    checked.ok_or_else(|| CheckError::Unreachable(errors.collect::<Vec<_>>().join("; ")))
}

fn tcp(wire: &Wire, connect_us: u64) -> report::Tcp {
    let info = wire.info();
    let options = info.options().unwrap_or(0);
    let has = |option| options & option != 0;
    let wscales = info.wscales().filter(|_| has(OPTION_WSCALE));
    let server_wscale = wscales.map(|both| both & 15);
    report::Tcp {
        connect_us,
        rtt_us: info.rtt().filter(|rtt| *rtt > 0),
        mss_bytes: info.snd_mss(),
        our_mss_bytes: info.advmss(),
        window_scaling: has(OPTION_WSCALE),
        server_wscale,
        our_wscale: wscales.map(|both| both >> 4),
        server_window_bytes: info.snd_wnd().filter(|window| *window > 0),
        largest_window_bytes: Some(65_535 << server_wscale.unwrap_or(0)),
        sack: has(OPTION_SACK),
        timestamps: has(OPTION_TIMESTAMPS),
        ecn: has(OPTION_ECN),
    }
}

fn measure(probe: &mut Probe<'_>, addresses: &[SocketAddr], report: &mut Report) {
    if !probe.plan.target.tls {
        match answer::plain(probe) {
            Ok(answered) => probe.keep(answered, report),
            Err(error) => report.failed.push(format!("the request: {error}")),
        }
        report.fastopen = Some(versions::plain_fast_open(probe));
        return;
    }
    match versions::first(probe, report) {
        Ok(tls) => report.tls = Some(tls),
        Err(error) => {
            report.tls_error = Some(error.to_string());
            return;
        }
    }
    versions::rest(probe, report);
    versions::other_families(probe, addresses, report);
    let client = Client::new(&probe.plan.roots, &probe.server_name, MODERN);
    match client {
        Ok(client) => report.fastopen = Some(versions::fast_open(probe, &client)),
        Err(error) => report.failed.push(format!("Fast Open: {error}")),
    }
}

/// What follows from all figures together.
fn conclude(probe: &Probe<'_>, dns: Option<Nanos>, report: &mut Report) {
    let rtt = probe.rtt();
    let mss = report.tcp.mss_bytes.unwrap_or(0);
    let seen = report
        .answer
        .as_ref()
        .and_then(|answer| answer.first_flight?.segments);
    for size in SIZES {
        report.download.push(download(size, seen, mss, rtt));
    }
    if let Some(course) = probe.course {
        let fast_open = report.fastopen.as_ref().map(|told| told.state);
        let early = report.tls.as_ref().and_then(|tls| tls.early_data);
        let course = Course {
            dns,
            rtt,
            tls: course.tls.map(|shape| Shape {
                resumes: report
                    .tls
                    .as_ref()
                    .is_some_and(|tls| tls.resumption.as_ref().is_some_and(|told| told.resumed > 0)),
                ..shape
            }),
            fast_open_works: fast_open == Some(State::Accepted),
            fast_open_is_on: fast_open.is_some_and(|state| state == State::NoCookie),
            early_data: early.is_some_and(|early| early.allowed_bytes > 0),
            ..course
        };
        report.first_byte = Some(budget::budget(&course));
    }
    let path = claim::Path {
        rtt,
        round_trips: report
            .first_byte
            .as_ref()
            .map_or(if report.tls.is_some() { 3 } else { 2 }, |budget| {
                budget.round_trips
            }),
        is_tls: probe.plan.target.tls,
        first_flight: seen,
        mss,
    };
    report.claims = probe.plan.claims.iter().map(|claim| claim.judge(&path)).collect();
}

fn download(bytes: u64, seen: Option<u64>, mss: u32, rtt: Micros) -> Download {
    let segments = seen.unwrap_or(INITCWND);
    let flight = Bytes(segments * u64::from(mss));
    let least = floor::least_time(Bytes(bytes), flight, rtt);
    Download {
        bytes,
        first_flight_segments: segments,
        first_flight_is_measured: seen.is_some(),
        round_trips: floor::rounds(Bytes(bytes), flight),
        least_us: least.0 / 1000,
        most_bps: Bytes(bytes).per(least).bits(),
    }
}
