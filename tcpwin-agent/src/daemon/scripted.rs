//! A source for tests of the wiring.

use std::io;
use std::sync::{Arc, Mutex};

use crate::source::{HookState, LossCount, ProbeCost, Source, SourceError, Update};
use crate::units::Instant;

/// What a scripted source was asked.
#[derive(Clone, Debug, Default)]
pub(super) struct Asked(Arc<Mutex<Vec<&'static str>>>);

impl Asked {
    fn note(&self, what: &'static str) {
        self.0.lock().unwrap().push(what);
    }

    pub(super) fn count(&self, what: &str) -> usize {
        self.0
            .lock()
            .unwrap()
            .iter()
            .filter(|each| **each == what)
            .count()
    }
}

/// A source that sees nothing and says so in every way a source can.
#[derive(Debug)]
pub(super) struct Scripted {
    asked: Asked,
    fails: bool,
}

impl Scripted {
    pub(super) fn new(asked: &Asked) -> Box<Self> {
        let asked = asked.clone();
        Box::new(Self { asked, fails: false })
    }

    pub(super) fn failing(asked: &Asked) -> Box<Self> {
        let asked = asked.clone();
        Box::new(Self { asked, fails: true })
    }

    fn outcome(&self) -> Result<(), SourceError> {
        if !self.fails {
            return Ok(());
        }
        let cause = io::Error::from_raw_os_error(libc::EPERM);
        Err(SourceError::Io {
            operation: "read the script",
            cause,
        })
    }
}

impl Drop for Scripted {
    fn drop(&mut self) {
        self.asked.note("dropped");
    }
}

impl Source for Scripted {
    fn name(&self) -> &'static str {
        "scripted"
    }

    fn poll(&mut self, _: Instant, _: &mut dyn FnMut(Update)) -> Result<(), SourceError> {
        self.asked.note("poll");
        self.outcome()
    }

    fn drain(&mut self, _: Instant, _: &mut dyn FnMut(Update)) -> Result<(), SourceError> {
        self.asked.note("drain");
        Ok(())
    }

    fn want_events(&mut self, wanted: bool) {
        self.asked.note(if wanted { "events on" } else { "events off" });
    }

    fn losses(&self) -> Vec<LossCount> {
        vec![LossCount {
            cause: "ring_full",
            count: 3,
        }]
    }

    fn hooks(&self) -> Vec<HookState> {
        vec![HookState {
            hook: "tcp_probe".to_owned(),
            missing: None,
        }]
    }

    fn probe_cost(&self) -> Option<ProbeCost> {
        Some(ProbeCost {
            runs: 10,
            run_ns: 840,
        })
    }
}
