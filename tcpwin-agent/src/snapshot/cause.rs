//! What a connection's life was spent on, and the sentence that sums it up.

use serde::{Deserialize, Serialize};

use crate::classify::Limit;
use crate::units::bytes_text;

/// Time and bytes of a connection under one limit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Cause {
    /// Which.
    pub limit: Limit,
    /// How long, all its intervals together.
    pub seconds: f64,
    /// Bytes moved in that time, both ways.
    pub bytes: u64,
    /// Bytes that lifting the limit would have moved beside these; absent where the next limit was never known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes_not_moved: Option<u64>,
}

/// Causes named in the sentence.
const NAMED: usize = 3;
/// What took less is no cost, and what might have moved in it is not known well enough to be told.
const WORTH_SECONDS: f64 = 1e-3;

/// Which causes cost how many of the connection's seconds, and how many bytes that would have moved; the longest first.
/// `None` where nobody could have done anything: it was idle, its program offered no more, or nothing could be told.
#[must_use]
pub fn cost(causes: &[Cause], duration_us: u64) -> Option<String> {
    let named: Vec<String> = causes
        .iter()
        .filter(|cause| !matches!(cause.limit, Limit::None | Limit::App | Limit::Unknown))
        .filter(|cause| cause.seconds >= WORTH_SECONDS)
        .take(NAMED)
        .map(|cause| {
            let time = seconds_text(cause.seconds);
            match cause.bytes_not_moved {
                Some(bytes) => format!(
                    "{} cost {time} and {} that would have moved",
                    cause.limit.name(),
                    bytes_text(bytes)
                ),
                None => format!("{} cost {time}", cause.limit.name()),
            }
        })
        .collect();
    let life = seconds_text(duration_us as f64 / 1e6);
    (!named.is_empty()).then(|| format!("of {life} {}", named.join(", ")))
}

/// Three digits where there are as many.
fn seconds_text(seconds: f64) -> String {
    if seconds < 1.0 {
        format!("{:.0} ms", seconds * 1e3)
    } else if seconds < 10.0 {
        format!("{seconds:.2} s")
    } else if seconds < 100.0 {
        format!("{seconds:.1} s")
    } else {
        format!("{seconds:.0} s")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cause(limit: Limit, seconds: f64, bytes_not_moved: Option<u64>) -> Cause {
        Cause {
            limit,
            seconds,
            bytes: 1,
            bytes_not_moved,
        }
    }

    #[test]
    fn one_sentence_names_what_cost_time_and_bytes() {
        let causes = [
            cause(Limit::RwndScale, 12.44, Some(34 << 20)),
            cause(Limit::None, 2.0, None),
            cause(Limit::CwndStartup, 0.42, None),
        ];
        assert_eq!(
            cost(&causes, 14_860_000).unwrap(),
            "of 14.9 s rwnd_scale cost 12.4 s and 34.0 MiB that would have moved, cwnd_startup cost 420 ms"
        );
    }

    #[test]
    fn a_healthy_life_costs_nothing() {
        let causes = [cause(Limit::None, 2.0, None), cause(Limit::App, 1.0, None)];
        assert_eq!(cost(&causes, 3_000_000), None);
        let moment = [cause(Limit::Rwnd, 0.0003, Some(91 << 20))];
        assert_eq!(cost(&moment, 300), None);
    }
}
