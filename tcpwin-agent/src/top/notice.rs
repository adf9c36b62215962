//! What the reader must know beside the figures: a lost feed, losses, a lesser source.

use super::state::{FeedState, State};
use super::text::count_text;

/// How loud.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Weight {
    /// The figures are not to be trusted as they stand.
    Alarm,
    /// Something is less than it could be.
    Note,
}

/// The loudest first. One line each.
pub(crate) fn notices(state: &State) -> Vec<(Weight, String)> {
    let mut notices = Vec::new();
    if let Some(playback) = &state.playback {
        let (place, fault) = playback.text();
        notices.push((Weight::Note, place));
        notices.extend(fault.map(|fault| (Weight::Alarm, fault)));
    }
    if let FeedState::Lost { cause, tries } = &state.feed {
        let since = if *tries > 1 {
            format!(" ({tries} tries)")
        } else {
            String::new()
        };
        notices.push((Weight::Alarm, format!("agent gone, retrying{since}: {cause}")));
    }
    let Some(snapshot) = &state.snapshot else {
        return notices;
    };
    let health = &snapshot.health;
    let losses: Vec<String> = health
        .losses
        .iter()
        .filter(|(_, count)| **count > 0)
        .map(|(cause, count)| format!("{cause} {}", count_text(*count)))
        .collect();
    if !losses.is_empty() {
        // Old losses stay on the screen, quietly; growing ones shout.
        let weight = if state.pulse.lost > 0 {
            Weight::Alarm
        } else {
            Weight::Note
        };
        notices.push((weight, format!("lost since the start: {}", losses.join(", "))));
    }
    if health.evictions > 0 {
        let (evicted, most) = (count_text(health.evictions), count_text(health.table_capacity));
        notices.push((
            Weight::Note,
            format!("table full: {evicted} connections put out, {most} fit"),
        ));
    }
    if let Some(queues) = snapshot.facts.accept_queues.filter(|queues| queues.full > 0) {
        let (full, of) = (count_text(queues.full), count_text(queues.listeners));
        let text = format!("{full} of {of} accept queues full, new connections are dropped: see listeners");
        notices.push((Weight::Alarm, text));
    }
    if let Some(reason) = &health.source_reason {
        notices.push((Weight::Note, format!("source {}: {reason}", health.source)));
    }
    let mut missing = health
        .hooks
        .iter()
        .filter_map(|hook| Some((&hook.hook, hook.missing.as_ref()?)));
    if let Some((hook, why)) = missing.next() {
        let more = missing.count();
        let more = if more > 0 {
            format!(" (and {more} more)")
        } else {
            String::new()
        };
        notices.push((Weight::Note, format!("hook {hook} missing{more}: {why}")));
    }
    notices
}
