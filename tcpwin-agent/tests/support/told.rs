//! What a source told, by socket.
#![allow(dead_code, reason = "each test uses a part of it")]

use std::collections::HashMap;
use std::time::Duration;

use tcpwin_agent::observation::{Key, Observation};
use tcpwin_agent::source::{Source, Update, kernel_clock};
use tcpwin_agent::units::{Instant, Nanos};

/// The kernel hands over the end of a socket and the acknowledgement of data within milliseconds; a test that waits for
/// longer has failed.
const PATIENCE: Duration = Duration::from_secs(60);
/// Longer than any source pauses between two looks at what went quiet.
const LATER: u64 = 3_600_000_000_000;

/// The last word on every socket, and how often it opened and closed.
#[derive(Default)]
pub struct Told {
    pub last: HashMap<Key, Observation>,
    pub closed: HashMap<Key, Vec<Observation>>,
    pub opened: HashMap<Key, usize>,
    /// How far ahead of the kernel's clock the source's is, ns.
    ahead: u64,
}

impl Told {
    /// Whatever the source has to tell now.
    pub fn poll(&mut self, source: &mut dyn Source) {
        let now = Instant(kernel_clock().0 + self.ahead);
        source
            .drain(now, &mut |update| self.apply(update))
            .expect("the source drains");
        source
            .poll(now, &mut |update| self.apply(update))
            .expect("the source polls");
    }

    /// What changed, and after a pause the last figures of what went quiet. The pause is in the clock alone.
    pub fn settle(&mut self, source: &mut dyn Source) {
        self.poll(source);
        self.ahead += LATER;
        self.poll(source);
    }

    /// Polls until every one of these sockets is told closed.
    pub fn until_closed(&mut self, source: &mut dyn Source, keys: &[Key]) {
        let since = kernel_clock();
        loop {
            self.poll(source);
            let open = keys.iter().filter(|key| !self.closed.contains_key(key)).count();
            if open == 0 {
                return;
            }
            let what = || {
                let (losses, counts) = (source.losses(), source.host_counts());
                let (told, open_now) = (self.closed.len(), self.last.len());
                format!(
                    "{open} of {} sockets are not told closed; {told} closed, {open_now} open, {losses:?}, {counts:?}",
                    keys.len()
                )
            };
            within_patience(since, what);
        }
    }

    fn apply(&mut self, update: Update) {
        match update {
            Update::Observed(seen) => {
                self.opens(seen.key);
                self.last.insert(seen.key, seen);
            }
            Update::Closed(seen) => {
                // Of a life between two looks the end is all there is.
                self.opens(seen.key);
                self.last.remove(&seen.key);
                self.closed.entry(seen.key).or_default().push(seen);
            }
            Update::Vanished { key, .. } => {
                self.last.remove(&key);
            }
            Update::Retransmit { .. } | Update::CwndFall { .. } | Update::Reset { .. } => {}
        }
    }

    fn opens(&mut self, key: Key) {
        if !self.last.contains_key(&key) {
            *self.opened.entry(key).or_default() += 1;
        }
    }
}

/// Fails after a long wait, else lets others run.
pub fn within_patience(since: Instant, what: impl FnOnce() -> String) {
    let waited = kernel_clock().since(since);
    assert!(
        waited < Nanos(PATIENCE.as_nanos() as u64),
        "after {PATIENCE:?}: {}",
        what()
    );
    std::thread::yield_now();
}
