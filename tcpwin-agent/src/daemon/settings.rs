//! TCP settings of the network namespaces in which connections are busy: a container has its own tcp_wmem and tcp_rmem.

use std::collections::BTreeMap;
use std::path::Path;

use crate::connection::Table;
use crate::host::Sysctl;
use crate::recording::Recorder;
use crate::source::netns::{self, Discovery};
use crate::units::{Instant, Nanos};

/// Settings are read again after so long: somebody may follow the advice.
const EVERY: Nanos = Nanos(30_000_000_000);
/// Namespaces entered in one tick.
const MOST: usize = 16;

/// When which namespace was read last.
#[derive(Debug, Default)]
pub struct Settings {
    discovery: Discovery,
    read: BTreeMap<u32, Instant>,
}

impl Settings {
    /// Reads what is due and tells the table, and who writes it down. A namespace that cannot be entered has no settings, and is tried again later.
    pub fn follow(&mut self, now: Instant, table: &mut Table, recorder: &mut Recorder) {
        let is_due = |inum: &u32| self.read.get(inum).is_none_or(|read| now.since(*read) >= EVERY);
        let due: Vec<u32> = table.busy_namespaces().filter(is_due).take(MOST).collect();
        if due.is_empty() {
            return;
        }
        let own = netns::own().unwrap_or(0);
        if due.contains(&own) {
            self.read.insert(own, now);
            let read = read_here();
            recorder.settings(own, Some(&read));
            table.set_settings(own, Some(&read));
        }
        if due == [own] {
            return;
        }
        let Ok(Some(doors)) = self.discovery.when_due(now) else {
            return;
        };
        for inum in due.into_iter().filter(|inum| *inum != own) {
            let door = doors.get(&inum);
            let read = door.and_then(|door| netns::inside(inum, door, read_here).ok());
            self.read.insert(inum, now);
            recorder.settings(inum, read.as_ref());
            table.set_settings(inum, read.as_ref());
        }
        self.read.retain(|_, read| now.since(*read).0 < 10 * EVERY.0);
    }
}

fn read_here() -> Sysctl {
    Sysctl::read(Path::new("/proc/sys/net"))
}
