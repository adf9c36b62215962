//! How much of what happened the source did not see.

/// The share of events missed in the last two intervals. What was missed in one spoils the next as well: its time is credited then.
#[derive(Debug, Default)]
pub(super) struct Blind {
    missed: u64,
    events: u64,
    last: f64,
    before: f64,
}

impl Blind {
    /// An interval ends; both counts only grow.
    pub(super) fn note(&mut self, missed: u64, events: u64) {
        let new_missed = missed.saturating_sub(self.missed) as f64;
        let new_events = events.saturating_sub(self.events) as f64;
        (self.missed, self.events) = (missed, events);
        self.before = self.last;
        self.last = if new_missed > 0.0 {
            new_missed / (new_missed + new_events)
        } else {
            0.0
        };
    }

    /// 0 to 1.
    pub(super) const fn share(&self) -> f64 {
        self.last.max(self.before)
    }
}

#[cfg(test)]
mod tests {
    use super::Blind;

    #[test]
    fn what_was_missed_spoils_two_intervals() {
        let mut blind = Blind::default();
        blind.note(0, 1_000);
        assert_eq!(blind.share(), 0.0);
        blind.note(100, 1_900);
        assert!((blind.share() - 0.1).abs() < 1e-9);
        blind.note(100, 2_900);
        assert!((blind.share() - 0.1).abs() < 1e-9);
        blind.note(100, 3_900);
        assert_eq!(blind.share(), 0.0);
    }
}
