//! The fallback: netlink sock_diag, what `ss` reads. Needs no BPF and no privilege for its own namespace.
//!
//! A dump of all sockets at each [`Source::poll`] gives the live ones; the kernel's notice of each destroyed socket
//! ([`Source::drain`]) gives exact final totals, also of connections too short for any dump. Where a notice is lost, or
//! a program holds a dead socket, a socket that two dumps in a row lack is told vanished: its last known figures may be
//! short of the final ones.
//!
//! Not seen from here: the time budget, the writer blocked on buffer space, calls of the program, the kind of a
//! retransmit, locked buffers, clamps, resets, what happened between two polls.

use std::collections::BTreeMap;

use self::lookup::io_error;
use self::netlink::{BUFFER, Dumped, Events, Questions};
use self::poll::Sockets;
use self::request::Wanted;
use super::netns::{self, Discovery, Doors, NetnsError};
use super::{LossCount, ProbeCost, Source, SourceError, Update, kernel_clock};
use crate::kernel;
use crate::observation::HookState;
use crate::units::Instant;

mod decode;
mod listening;
mod lookup;
mod netlink;
mod poll;
mod record;
mod request;

pub use self::listening::{Listening, listening};
pub use self::lookup::Lookup;

/// One network namespace that is watched.
///
/// Its netlink sockets keep the namespace alive, so they are closed as soon as no process and no mount leads to it.
#[derive(Debug)]
struct Namespace {
    questions: Questions,
    events: Option<Events>,
    sockets: Sockets,
}

impl Namespace {
    /// In the calling thread's.
    fn open(inum: u32) -> std::io::Result<Self> {
        Ok(Self {
            questions: Questions::open()?,
            events: Events::open().ok(),
            sockets: Sockets::new(inum),
        })
    }
}

/// Causes of [`Source::losses`].
#[derive(Clone, Copy, Debug, Default)]
struct Losses {
    undecoded: u64,
    interrupted: u64,
    overruns: u64,
    namespaces: u64,
}

impl Losses {
    fn add(&mut self, dumped: Dumped) {
        self.undecoded += dumped.undecoded;
        self.interrupted += u64::from(dumped.interrupted);
        self.overruns += dumped.overruns;
    }
}

/// All TCP sockets of the host through `NETLINK_SOCK_DIAG`.
#[derive(Debug)]
pub struct SockDiag {
    own: u32,
    namespaces: BTreeMap<u32, Namespace>,
    discovery: Discovery,
    /// Why other namespaces are not watched.
    denied: Option<String>,
    losses: Losses,
    buffer: Box<[u8]>,
}

impl SockDiag {
    /// Watches the namespaces there are; later ones are found while it polls.
    ///
    /// # Errors
    /// When the kernel has no `NETLINK_SOCK_DIAG`, or `/proc` is not mounted.
    pub fn new() -> Result<Self, SourceError> {
        let own = netns::own().map_err(io_error("read /proc/thread-self/ns/net"))?;
        let mut namespace = Namespace::open(own).map_err(io_error("open NETLINK_SOCK_DIAG"))?;
        let mut buffer = vec![0; BUFFER].into_boxed_slice();
        namespace
            .questions
            .dump(Wanted::Answer, &mut buffer, &mut |_, _| {})
            .map_err(io_error(
                "ask NETLINK_SOCK_DIAG for TCP sockets (is the module tcp_diag there?)",
            ))?;
        let mut source = Self {
            own,
            namespaces: BTreeMap::from([(own, namespace)]),
            discovery: Discovery::default(),
            denied: None,
            losses: Losses::default(),
            buffer,
        };
        if let Ok(Some(doors)) = source.discovery.when_due(kernel_clock()) {
            source.follow(&doors, Instant(0), &mut |_| {});
        }
        Ok(source)
    }

    /// Looks for namespaces at the next poll, however short ago it did.
    pub fn hasten_discovery(&mut self) {
        self.discovery.hasten();
    }

    /// Sockets watched now.
    #[must_use]
    pub fn len(&self) -> usize {
        self.namespaces
            .values()
            .map(|namespace| namespace.sockets.len())
            .sum()
    }

    /// If none is.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn follow(&mut self, doors: &Doors, at: Instant, sink: &mut dyn FnMut(Update)) {
        self.namespaces.retain(|inum, namespace| {
            let stays = *inum == self.own || doors.contains_key(inum);
            if !stays {
                namespace.sockets.close_all(at, sink);
            }
            stays
        });
        self.denied =
            kernel::against_namespaces(kernel::effective_capabilities()).map(|lack| lack.to_string());
        if self.denied.is_some() {
            return;
        }
        for (&inum, door) in doors {
            if self.namespaces.contains_key(&inum) {
                continue;
            }
            match netns::inside(inum, door, || Namespace::open(inum)) {
                Ok(Ok(namespace)) => {
                    self.namespaces.insert(inum, namespace);
                }
                Err(cause) if cause.is_denied() => {
                    let count = doors.len().saturating_sub(self.namespaces.len());
                    self.denied = Some(format!("{count} network namespaces may not be entered: {cause}"));
                    return;
                }
                // Its process ended meanwhile: the next look finds another door, or no need for one.
                Err(NetnsError::Moved { .. }) => {}
                Err(_) | Ok(Err(_)) => self.losses.namespaces += 1,
            }
        }
    }

    fn drain_events(&mut self, sink: &mut dyn FnMut(Update)) -> Result<(), SourceError> {
        let mut outcome = Ok(());
        for namespace in self.namespaces.values_mut() {
            let Some(events) = &mut namespace.events else {
                continue;
            };
            let at = kernel_clock();
            let sockets = &mut namespace.sockets;
            match events.drain(&mut self.buffer, &mut |record| {
                sockets.destroyed(record, at, sink)
            }) {
                Ok(drained) => self.losses.add(drained),
                Err(cause) => outcome = Err(io_error("read destroyed sockets")(cause)),
            }
        }
        outcome
    }
}

impl Source for SockDiag {
    fn name(&self) -> &'static str {
        "sock_diag"
    }

    fn poll(&mut self, now: Instant, sink: &mut dyn FnMut(Update)) -> Result<(), SourceError> {
        let doors = self.discovery.when_due(now);
        if let Ok(Some(doors)) = &doors {
            self.follow(doors, now, sink);
        }
        let mut outcome = doors
            .map(|_| ())
            .map_err(io_error("look for network namespaces in /proc"));
        for namespace in self.namespaces.values_mut() {
            let sockets = &mut namespace.sockets;
            sockets.begin();
            match namespace
                .questions
                .dump(Wanted::Figures, &mut self.buffer, &mut |at, record| {
                    sockets.observed(record, at, sink);
                }) {
                Ok(dumped) => {
                    self.losses.add(dumped);
                    if dumped.is_complete() {
                        sockets.complete(kernel_clock(), sink);
                    } else {
                        sockets.incomplete();
                    }
                }
                Err(cause) => {
                    sockets.incomplete();
                    outcome = Err(io_error("dump TCP sockets")(cause));
                }
            }
        }
        // After the dumps: whatever is destroyed by now was in them or is told here.
        outcome.and(self.drain_events(sink))
    }

    fn drain(&mut self, _now: Instant, sink: &mut dyn FnMut(Update)) -> Result<(), SourceError> {
        self.drain_events(sink)
    }

    fn want_events(&mut self, _wanted: bool) {}

    fn losses(&self) -> Vec<LossCount> {
        let Losses {
            undecoded,
            interrupted,
            overruns,
            namespaces,
        } = self.losses;
        [
            ("undecoded", undecoded),
            ("dump_interrupted", interrupted),
            ("overrun", overruns),
            ("namespace_unreachable", namespaces),
        ]
        .map(|(cause, count)| LossCount { cause, count })
        .into()
    }

    fn hooks(&self) -> Vec<HookState> {
        let hook = |hook: &str, missing| HookState {
            hook: hook.to_owned(),
            missing,
        };
        let no_events = self
            .namespaces
            .values()
            .any(|namespace| namespace.events.is_none());
        vec![
            hook("sock_diag dump", None),
            hook(
                "sock_diag destroy",
                no_events.then(|| {
                    "the kernel refuses notice of destroyed sockets: final totals may be short, and connections \
                     that live between two polls are not seen"
                        .to_owned()
                }),
            ),
            hook(
                "other network namespaces",
                self.denied.clone(),
            ),
        ]
    }

    fn probe_cost(&self) -> Option<ProbeCost> {
        None
    }
}
