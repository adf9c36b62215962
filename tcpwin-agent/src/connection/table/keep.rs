//! The table's inputs and state for those who write them down and go on from there.

use std::sync::Arc;

use super::Table;
use crate::connection::entry::Ownership;
use crate::connection::kept::Kept;
use crate::connection::quiet::Quiet;
use crate::connection::spent::Spent;
use crate::connection::tallies::IDLE;
use crate::observation::Key;
use crate::snapshot::Summary;
use crate::source::HostCounts;
use crate::units::Instant;

impl Table {
    /// Whether the finder's answers are noted, for [`Table::take_answers`].
    pub fn note_answers(&mut self, wanted: bool) {
        if wanted != self.answers.is_some() {
            self.answers = wanted.then(Vec::new);
        }
    }

    /// What the finder of owners has answered since the last call.
    pub fn take_answers(&mut self) -> Vec<(Key, Arc<Ownership>)> {
        self.answers.as_mut().map(std::mem::take).unwrap_or_default()
    }

    pub(super) fn note_answer(&mut self, key: Key, owner: Option<&Arc<Ownership>>) {
        if let (Some(answers), Some(owner)) = (&mut self.answers, owner) {
            answers.push((key, Arc::clone(owner)));
        }
    }

    /// What connections were held by since the last call. Nothing the first time: it is noted from then on.
    pub fn take_spent(&mut self) -> Spent {
        self.spent.replace(Spent::default()).unwrap_or_default()
    }

    /// When the last tick was.
    #[must_use]
    pub fn ticked(&self) -> Instant {
        self.ticked
    }

    /// Every connection as it was last seen.
    pub fn kept(&self) -> impl Iterator<Item = Kept> {
        let owner = |owner: &Option<Arc<Ownership>>| owner.as_deref().cloned();
        let active = self.active.values().map(move |entry| Kept {
            last: entry.last.clone(),
            owner: owner(&entry.owner),
            causes: entry.causes.clone(),
        });
        let quiet = self.quiet.values().filter_map(move |quiet| {
            let (last, causes) = quiet.unpack()?;
            Some(Kept {
                last,
                owner: owner(&quiet.owner),
                causes,
            })
        });
        active.chain(quiet)
    }

    /// Goes on where another table stopped after its tick at `ticked`.
    pub fn resume(&mut self, ticked: Instant) {
        self.ticked = ticked;
    }

    /// Takes over a connection of that table: nothing is known to have happened on it yet.
    pub fn restore(&mut self, kept: Kept) {
        let Kept { last, owner, causes } = kept;
        if self.len() >= self.config.capacity || self.look(&last.key, |_| ()).is_some() {
            return;
        }
        if let Some(quiet) = Quiet::pack(&last, &causes, owner.map(Arc::new), &mut self.room) {
            self.account.found(IDLE);
            self.journal.note_until_ticked(last.key);
            self.quiet.insert(last.key, quiet);
        }
    }

    /// The counts over all connections, with those of the host that no connection stands for.
    #[must_use]
    pub fn summary_with(&self, of_host: HostCounts) -> Summary {
        let of_connections = self.summary();
        Summary {
            // SYNs are those of connections, SYN-ACKs those of the host.
            retransmits_syn: of_connections.retransmits_syn + of_host.syn_retransmits,
            resets_sent: of_host.resets_sent,
            resets_received: of_host.resets_received,
            ..of_connections.clone()
        }
    }
}
