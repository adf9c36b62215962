//! Judges what tcpwin said of a flow against the flow's truth. Pure: samples and truth in, judgement out.

mod fault;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::interval::{Interval, NOT_LISTED};
use super::net::Side;
use super::peers::Rule;
use super::scenario::{Cause, Expect};
use super::truth::Truth;

/// What the agent said of one connection at one second.
#[derive(Clone, Debug, Serialize)]
pub struct Sample {
    /// Second of the flow.
    pub second: u32,
    /// The judged end; absent: the agent did not list it.
    pub connection: Option<Value>,
}

/// The fields that are judged.
#[derive(Clone, Debug, Deserialize)]
struct Said {
    bound: String,
    limit: Option<String>,
    direction: Option<String>,
    #[serde(default)]
    confidence: f64,
    rate_bps: Option<f64>,
    ceiling_bps: Option<f64>,
    next: Option<Next>,
}

/// What comes once the limit is lifted.
#[derive(Clone, Debug, Deserialize)]
struct Next {
    rate_bps: f64,
}

/// One connection's judgement.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Judgement {
    /// Samples taken in the steady part.
    pub samples: usize,
    /// Those with the expected verdict.
    pub right: usize,
    /// Those that said `unknown`.
    pub unknown: usize,
    /// Those in which the connection was not listed or not readable.
    pub missing: usize,
    /// Those with another verdict.
    pub wrong: usize,
    /// Those with another verdict and confidence.
    pub wrong_confident: usize,
    /// How often each verdict was given.
    pub verdicts: BTreeMap<String, usize>,
    /// The true ceiling.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub true_ceiling_bps: Option<f64>,
    /// Median of the ceilings given with a right verdict.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ceiling_bps: Option<f64>,
    /// Mean of the rates given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed_bps: Option<f64>,
    /// What the receiver's program counted.
    pub received_bps: f64,
    /// The last `next` given with a right verdict.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<Value>,
    /// The changes advised with the last right verdict.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<String>,
    /// The last proof sentence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proof: Option<String>,
    /// Why it failed; empty: it passed.
    pub faults: Vec<String>,
    /// Each judged second.
    pub intervals: Vec<Interval>,
}

/// The relative error of what was said.
pub fn error(said: f64, truth: f64) -> f64 {
    said / truth - 1.0
}

/// Judges the samples of one connection.
pub fn judge(expect: &Expect, samples: &[Sample], truth: &Truth) -> Judgement {
    let judged = || {
        samples
            .iter()
            .filter_map(|sample| Some((sample, expect.cause_at(sample.second)?)))
    };
    let mut judgement = Judgement {
        samples: judged().count(),
        received_bps: truth.received_bps,
        true_ceiling_bps: match expect.ceiling_mbit {
            Some(mbit) => Some(mbit * 1e6),
            None => expect.ceiling_is_achieved.then_some(truth.received_bps),
        },
        ..Judgement::default()
    };
    let (mut ceilings, mut rates) = (Vec::new(), Vec::new());
    for (sample, cause) in judged() {
        let said = sample
            .connection
            .as_ref()
            .and_then(|connection| Said::deserialize(connection).ok());
        let (Some(said), Some(connection)) = (said, &sample.connection) else {
            judgement.missing += 1;
            *judgement.verdicts.entry("not listed".into()).or_default() += 1;
            judgement.intervals.push(interval(sample, cause, truth));
            continue;
        };
        let seen = Interval {
            said: named(expect.side, &said),
            confidence: said.confidence,
            ceiling_bps: said.ceiling_bps,
            next_bps: said.next.as_ref().map(|next| next.rate_bps),
            ..interval(sample, cause, truth)
        };
        judgement.count(expect.side, &said, &seen);
        rates.extend(said.rate_bps);
        if seen.is_right() {
            ceilings.extend(said.ceiling_bps);
            judgement.next = connection.get("next").cloned();
            judgement.changes = changes(connection);
        }
        judgement.proof = connection.get("proof").and_then(Value::as_str).map(str::to_owned);
        judgement.intervals.push(seen);
    }
    judgement.ceiling_bps = median(&mut ceilings);
    // Each phase has a rate of its own, and the samples do not cover all of any.
    let one_rate = expect.phases.is_empty() && !rates.is_empty();
    judgement.observed_bps = one_rate.then(|| rates.iter().sum::<f64>() / rates.len() as f64);
    judgement.faults = judgement.faults(expect);
    judgement
}

/// What its remedies would change, as one would type it.
fn changes(connection: &Value) -> Vec<String> {
    let remedies = connection
        .get("remedies")
        .and_then(Value::as_array)
        .into_iter()
        .flatten();
    remedies
        .filter_map(|remedy| remedy["change"].as_str().map(str::to_owned))
        .collect()
}

/// A second of which nothing has been said yet.
fn interval(sample: &Sample, cause: Cause<'_>, truth: &Truth) -> Interval {
    let clocks = truth.clocks.get(&sample.second);
    Interval {
        second: sample.second,
        truth: cause.limit.unwrap_or("none").to_owned(),
        said: NOT_LISTED.to_owned(),
        largest: clocks.map(|clocks| Rule::Largest.says(*clocks)),
        ndt: clocks.map(|clocks| Rule::Ndt.says(*clocks)),
        ..Interval::default()
    }
}

/// The limit that was named. The receiver's end is asked of what it gets: a verdict on its few bytes the other way
/// answers something else.
fn named(side: Side, said: &Said) -> String {
    let limit = said.limit.as_deref().unwrap_or("none");
    if is_other_way(side, said) && said.bound != "unknown" {
        format!("{limit} of sending")
    } else {
        limit.to_owned()
    }
}

fn is_other_way(side: Side, said: &Said) -> bool {
    side == Side::Receiver && said.direction.as_deref() != Some("receive")
}

impl Judgement {
    /// Counts one verdict.
    fn count(&mut self, side: Side, said: &Said, seen: &Interval) {
        if seen.is_right() {
            self.right += 1;
        } else if seen.is_unknown() {
            self.unknown += 1;
        } else {
            self.wrong += 1;
            self.wrong_confident += usize::from(seen.is_wrong_with_confidence());
        }
        let verdict = Cause {
            bound: &said.bound,
            limit: said.limit.as_deref(),
        };
        let of_sending = if is_other_way(side, said) {
            " of sending"
        } else {
            ""
        };
        *self.verdicts.entry(format!("{verdict}{of_sending}")).or_default() += 1;
    }
}

/// The middle value; `None` of none.
pub fn median(values: &mut [f64]) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Sample, judge};
    use crate::lab::net::Side;
    use crate::lab::scenario::Scenario;
    use crate::lab::scenario::expect::Phase;
    use crate::lab::truth::Truth;

    fn truth(received_bps: f64) -> Truth {
        Truth {
            received_bps,
            ..Truth::default()
        }
    }

    fn samples(said: &[Value]) -> Vec<Sample> {
        said.iter()
            .zip(10..)
            .map(|(said, second)| Sample {
                second,
                connection: Some(said.clone()),
            })
            .collect()
    }

    fn said(bound: &str, limit: &str, confidence: f64) -> Value {
        json!({"bound": bound, "limit": limit, "confidence": confidence, "rate_bps": 2.9e6, "ceiling_bps": 2.9e6})
    }

    #[test]
    fn right_verdicts_pass() {
        let expect = Scenario::named("rwnd_scale_181ms").expect("a scenario").expect;
        let judgement = judge(
            &expect,
            &samples(&vec![said("window", "rwnd_scale", 0.9); 10]),
            &truth(2.88e6),
        );
        assert_eq!(
            (judgement.right, judgement.faults.len()),
            (10, 0),
            "{:?}",
            judgement.faults
        );
    }

    #[test]
    fn one_confident_wrong_verdict_fails_and_unknown_only_lowers_the_share() {
        let mut expect = Scenario::named("rwnd_scale_181ms").expect("a scenario").expect;
        expect.min_share = 0.5;
        let mut all = vec![said("window", "rwnd_scale", 0.9); 10];
        all[3] = said("unknown", "unknown", 0.0);
        let judgement = judge(&expect, &samples(&all), &truth(2.88e6));
        assert_eq!(
            (judgement.unknown, judgement.faults.len()),
            (1, 0),
            "{:?}",
            judgement.faults
        );
        all[3] = said("window", "sndbuf", 0.9);
        let judgement = judge(&expect, &samples(&all), &truth(2.88e6));
        assert_eq!(judgement.faults, ["1 wrong with confidence"]);
    }

    #[test]
    fn a_ceiling_or_a_rate_that_is_off_fails() {
        let expect = Scenario::named("sndbuf_30ms").expect("a scenario").expect;
        let judgement = judge(
            &expect,
            &samples(&vec![said("window", "sndbuf", 0.9); 10]),
            &truth(3.2e6),
        );
        assert_eq!(
            judgement.faults,
            ["ceiling off by -9.4 %", "observed rate off by -9.4 %"]
        );
    }

    #[test]
    fn nothing_listed_is_no_pass() {
        let expect = Scenario::named("none_quiet_30ms").expect("a scenario").expect;
        let unlisted = [Sample {
            second: 10,
            connection: None,
        }];
        assert_eq!(judge(&expect, &unlisted, &truth(0.0)).faults.len(), 2);
        let quiet = json!({"bound": "none", "confidence": 1.0, "rate_bps": 0.0});
        assert!(judge(&expect, &samples(&[quiet]), &truth(0.0)).faults.is_empty());
    }

    #[test]
    fn the_receivers_end_is_judged_by_what_it_says_of_receiving() {
        let mut expect = Scenario::named("rwnd_scale_181ms").expect("a scenario").expect;
        expect.side = Side::Receiver;
        let mut receives = said("window", "rwnd_scale", 0.9);
        receives["direction"] = json!("receive");
        let mut sends = receives.clone();
        sends["direction"] = json!("send");
        let judgement = judge(&expect, &samples(&[receives, sends]), &truth(2.9e6));
        assert_eq!((judgement.right, judgement.wrong), (1, 1));
        assert_eq!(judgement.verdicts["window/rwnd_scale of sending"], 1);
    }

    #[test]
    fn samples_between_two_phases_are_not_judged() {
        let mut expect = Scenario::named("rwnd_scale_181ms").expect("a scenario").expect;
        let phase = |from_s, to_s, bound: &str, limit: &str| Phase {
            from_s,
            to_s,
            bound: bound.into(),
            limit: Some(limit.into()),
        };
        expect.bound = None;
        expect.ceiling_mbit = None;
        expect.phases = vec![
            phase(5.0, 12.0, "window", "rwnd"),
            phase(15.0, 20.0, "app", "app"),
        ];
        // Seconds 10 to 20: 13 to 16 speak of time that is in no phase.
        let mut all = vec![said("window", "rwnd", 0.9); 3];
        all.extend(vec![said("bandwidth", "bandwidth", 0.9); 4]);
        all.extend(vec![said("app", "app", 0.9); 4]);
        let judgement = judge(&expect, &samples(&all), &truth(9e6));
        assert_eq!(
            (judgement.samples, judgement.right, judgement.faults.len()),
            (7, 7, 0),
            "{:?}",
            judgement.faults
        );
    }
}
