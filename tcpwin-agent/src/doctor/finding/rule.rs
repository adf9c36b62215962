//! Settings that are wrong by their value alone; connections say whether that hurts.

use super::super::place::Place;
use super::{Finding, Kind, Severity};
use crate::host::Settings;
use crate::snapshot::Connection;

/// A setting and the values it should not have.
pub(super) struct Rule {
    pub(super) kind: Kind,
    pub(super) name: &'static str,
    /// The value it should have.
    pub(super) good: &'static str,
    pub(super) is_wrong: fn(&Settings) -> bool,
    /// Where it hurts nobody; `None`: it is then no finding.
    pub(super) without_hurt: Option<Severity>,
    pub(super) hurts: fn(&Connection) -> bool,
    pub(super) why: &'static str,
    pub(super) reached: &'static str,
    pub(super) risk: &'static str,
}

/// What no connection shows by itself.
pub(super) const NOBODY: fn(&Connection) -> bool = |_| false;

pub(super) fn apply(rules: &[Rule], place: &Place<'_>) -> Vec<Finding> {
    rules.iter().filter_map(|rule| judge(rule, place)).collect()
}

fn judge(rule: &Rule, place: &Place<'_>) -> Option<Finding> {
    place.settings().text(rule.name)?;
    if !(rule.is_wrong)(place.settings()) {
        return None;
    }
    let hurt = place.hurt(rule.hurts);
    let severity = match (hurt.is_empty(), rule.without_hurt) {
        (false, _) => Severity::Hurts,
        (true, severity) => severity?,
    };
    let finding = Finding::setting(rule.kind, place, rule.name)
        .because(rule.why)
        .rated(severity)
        .hurting(&hurt)
        .reaching(rule.reached)
        .set_to(place, rule.name, rule.good)
        .risking(rule.risk);
    Some(finding)
}

/// The setting is this number.
pub(super) fn is(settings: &Settings, name: &str, value: i64) -> bool {
    settings.number(name) == Some(value)
}

/// The setting is known, and below this number.
pub(super) fn is_below(settings: &Settings, name: &str, value: i64) -> bool {
    settings.number::<i64>(name).is_some_and(|now| now < value)
}
