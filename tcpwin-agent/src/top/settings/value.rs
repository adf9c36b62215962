//! Values of the settings, written as on the command line, and what was probably meant.

use std::fmt::Display;
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Deserializer, de};

use crate::top::SHORTEST;
use crate::top::column::Columns;
use crate::top::text::meant;

/// Longest interval.
const LONGEST: Duration = Duration::from_secs(60);

/// A value in the form it has on the command line.
pub(super) fn text<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: FromStr<Err: Display>,
{
    let text = String::deserialize(deserializer)?;
    text.parse().map(Some).map_err(de::Error::custom)
}

/// `["limit", "peer=40"]`.
pub(super) fn columns<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Columns>, D::Error> {
    let names = Vec::<String>::deserialize(deserializer)?;
    let columns = match &*names {
        [] => Columns::new(Vec::new()),
        names => names.join(",").parse(),
    };
    columns.map(Some).map_err(de::Error::custom)
}

/// `500ms`, `2s`, `1m`.
pub(super) fn interval<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Duration>, D::Error> {
    let text = String::deserialize(deserializer)?;
    let given = [("ms", 1), ("s", 1_000), ("m", 60_000)]
        .into_iter()
        .find_map(|(unit, ms)| {
            let number: u64 = text.strip_suffix(unit)?.parse().ok()?;
            Some(Duration::from_millis(number.checked_mul(ms)?))
        });
    given
        .filter(|given| (SHORTEST..=LONGEST).contains(given))
        .map(Some)
        .ok_or_else(|| {
            let allowed = "give a duration from 100ms to 60s, such as \"500ms\", \"1s\" or \"1m\"";
            de::Error::custom(format!("`{text}` is not allowed: {allowed}"))
        })
}

/// serde's message; where it lists what it knows, with the name that was probably meant.
pub(super) fn with_nearest(message: &str) -> String {
    let mut names = message
        .strip_prefix("unknown field ")
        .into_iter()
        .flat_map(|rest| rest.split('`').skip(1).step_by(2));
    let name = names.next().unwrap_or_default();
    format!("{message}{}", meant(name, names))
}
