//! What is true of a flow, and when.

use std::fmt;

use anyhow::{Result, bail};
use serde::{Deserialize, Serialize};

use crate::lab::net::Side;

/// A sample speaks of the agent's last interval, which is one second long and ended up to one second before.
pub const SAMPLE_SPAN_S: f64 = 2.0;

/// `[expect]` of a scenario: the truth, known before anything runs.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expect {
    /// Whose end of the connection is judged: the sender's verdict on what it sends, or the receiver's on what it gets.
    #[serde(default = "default_side")]
    pub side: Side,
    /// The class of the verdict; absent, and without phases: the scenario only measures the lab.
    pub bound: Option<String>,
    /// The cause within it; absent where the class has none.
    pub limit: Option<String>,
    /// Instead of one cause: which holds when. What lies between two phases is not judged.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub phases: Vec<Phase>,
    /// The ceiling by construction.
    pub ceiling_mbit: Option<f64>,
    /// The ceiling is what the receiver measures: only the binding limit holds the rate.
    #[serde(default)]
    pub ceiling_is_achieved: bool,
    /// How far tcpwin's ceiling may be off, as a share.
    #[serde(default = "default_ceiling_tolerance")]
    pub ceiling_tolerance: f64,
    /// How far tcpwin's observed rate may be off the receiver's, as a share.
    #[serde(default = "default_observed_tolerance")]
    pub observed_tolerance: f64,
    /// What the receiver must measure by construction; else the lab itself is off.
    pub rate_mbit: Option<f64>,
    /// How far the receiver's measurement may be off, as a share.
    #[serde(default = "default_rate_tolerance")]
    pub rate_tolerance: f64,
    /// The truth holds from this second of the flow on.
    pub steady_after_s: f64,
    /// Length of the flow.
    pub seconds: f64,
    /// Share of the steady samples that must have the right verdict.
    #[serde(default = "default_min_share")]
    pub min_share: f64,
}

fn default_side() -> Side {
    Side::Sender
}

fn default_ceiling_tolerance() -> f64 {
    0.05
}

fn default_observed_tolerance() -> f64 {
    0.03
}

fn default_rate_tolerance() -> f64 {
    0.03
}

fn default_min_share() -> f64 {
    0.95
}

/// A part of the flow with a cause of its own.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Phase {
    /// The truth holds from this second of the flow on …
    pub from_s: f64,
    /// … to this one.
    pub to_s: f64,
    /// The class of the verdict.
    pub bound: String,
    /// The cause within it; absent where the class has none.
    pub limit: Option<String>,
}

/// A true verdict: its class and, where the class has several, the cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cause<'a> {
    /// The class.
    pub bound: &'a str,
    /// The cause within it.
    pub limit: Option<&'a str>,
}

impl fmt::Display for Cause<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.bound, self.limit.unwrap_or("none"))
    }
}

impl Expect {
    /// Whether a verdict is expected at all.
    pub fn is_judged(&self) -> bool {
        self.bound.is_some() || !self.phases.is_empty()
    }

    /// What is true of all the time that a sample taken at this second of the flow may speak of.
    pub fn cause_at(&self, second: u32) -> Option<Cause<'_>> {
        let to_s = f64::from(second);
        let from_s = to_s - SAMPLE_SPAN_S;
        if let Some(bound) = &self.bound {
            return (from_s >= self.steady_after_s).then_some(Cause {
                bound,
                limit: self.limit.as_deref(),
            });
        }
        let whole = |phase: &&Phase| phase.from_s <= from_s && to_s <= phase.to_s;
        self.phases.iter().find(whole).map(Phase::cause)
    }

    /// Every cause, in the order in which they come.
    pub fn causes(&self) -> impl Iterator<Item = Cause<'_>> {
        let only = self.bound.as_deref().map(|bound| Cause {
            bound,
            limit: self.limit.as_deref(),
        });
        only.into_iter().chain(self.phases.iter().map(Phase::cause))
    }

    /// Refuses what has no meaning.
    pub fn check(&self) -> Result<()> {
        if !(0.0..=self.seconds - 2.0).contains(&self.steady_after_s) || self.seconds > 120.0 {
            bail!("expect.steady_after_s must leave two seconds of at most 120 expect.seconds");
        }
        if self.ceiling_is_achieved && self.ceiling_mbit.is_some() {
            bail!("expect.ceiling_mbit and expect.ceiling_is_achieved exclude each other");
        }
        if self.limit.is_some() && self.bound.is_none() {
            bail!("expect.limit needs expect.bound");
        }
        if self.phases.is_empty() {
            return Ok(());
        }
        if self.bound.is_some() || self.ceiling_is_achieved || self.ceiling_mbit.is_some() {
            bail!("expect.phases replaces expect.bound and has no one ceiling");
        }
        let mut since_s = self.steady_after_s;
        for phase in &self.phases {
            if phase.from_s < since_s
                || phase.to_s < phase.from_s + SAMPLE_SPAN_S
                || phase.to_s > self.seconds
            {
                bail!(
                    "a phase from {} to {} s: phases follow one another within the steady part, each of two seconds or more",
                    phase.from_s,
                    phase.to_s
                );
            }
            since_s = phase.to_s;
        }
        Ok(())
    }
}

impl Phase {
    fn cause(&self) -> Cause<'_> {
        Cause {
            bound: &self.bound,
            limit: self.limit.as_deref(),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::lab::net::Side;
    use crate::lab::scenario::Scenario;

    const PHASES: &str = r#"
        [path]
        rtt_ms = 30
        [flow.pattern]
        kind = "bulk"
        [expect]
        side = "receiver"
        steady_after_s = 2
        seconds = 12
        [[expect.phases]]
        from_s = 2
        to_s = 6
        bound = "window"
        limit = "rwnd"
        [[expect.phases]]
        from_s = 7.5
        to_s = 12
        bound = "none"
    "#;

    #[test]
    fn a_sample_is_judged_by_the_phase_that_holds_all_of_its_time() {
        let expect = Scenario::parse(PHASES).expect("valid").expect;
        assert!(expect.is_judged());
        assert_eq!(expect.side, Side::Receiver);
        let named: Vec<_> = (1..=13)
            .map(|second| expect.cause_at(second).map(|cause| cause.to_string()))
            .collect();
        let (rwnd, none) = (Some("window/rwnd".to_owned()), Some("none/none".to_owned()));
        for second in 1..=13 {
            let wanted = match second {
                4..=6 => &rwnd,
                10..=12 => &none,
                _ => &None,
            };
            assert_eq!(&named[second - 1], wanted, "second {second}");
        }
        assert_eq!(expect.causes().count(), 2);
    }

    #[test]
    fn one_cause_holds_once_it_is_steady() {
        let expect = Scenario::named("sndbuf_30ms").expect("valid").expect;
        assert_eq!(expect.cause_at(3), None);
        assert_eq!(
            expect.cause_at(4).map(|cause| cause.to_string()).as_deref(),
            Some("window/sndbuf")
        );
    }

    #[test]
    fn phases_that_overlap_or_share_a_ceiling_are_refused() {
        for (from, to) in [
            ("from_s = 7.5", "from_s = 5"),
            ("to_s = 12", "to_s = 13"),
            ("to_s = 6", "to_s = 3"),
            ("seconds = 12", "seconds = 12\nceiling_is_achieved = true"),
            ("seconds = 12", "seconds = 12\nbound = \"none\""),
        ] {
            assert!(Scenario::parse(&PHASES.replacen(from, to, 1)).is_err(), "{to}");
        }
    }
}
