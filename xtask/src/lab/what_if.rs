//! `[what_if]` of a scenario: tcpwin's advice is really applied, and the rate that follows is compared with the one it
//! promised.
//!
//! The same scenario runs again with the rest of the table laid over it. What comes next is known by construction
//! too: something else is set to bind right above the limit that is lifted.

mod overlay;

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};
use toml::{Table, Value};

use overlay::{Advice, lay_over};

use super::scenario::Scenario;
use super::verdict::{Judgement, error, median};

/// How the advice is applied.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct WhatIf {
    /// A word of tcpwin's own remedy. The number after it is what is applied as `"$number"` or `"$text"`; what stands
    /// between backquotes around it is `"$directive"`. Absent where the advice is a removal.
    pub value: Option<String>,
    /// How far the predicted rate may be off the measured one, as a share.
    #[serde(default = "default_tolerance")]
    pub tolerance: f64,
    /// What is laid over the scenario, table by table: `"$none"` takes a key away, a pattern of another `kind` replaces
    /// the one below.
    #[serde(flatten)]
    pub overlay: Table,
}

fn default_tolerance() -> f64 {
    0.1
}

/// What tcpwin promised, and what came of it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Applied {
    /// The remedy that a number was taken from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change: Option<String>,
    /// The limit it promised to come next.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
    /// The rate it promised: the median over the right intervals.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub predicted_bps: Option<f64>,
    /// The rate before, as the receiver's program measured it.
    pub before_bps: f64,
    /// The rate after; absent: the advice could not be applied.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after_bps: Option<f64>,
    /// Why it is no success; empty: it is.
    pub faults: Vec<String>,
}

impl WhatIf {
    /// Refuses an overlay that makes no scenario, whatever the advice is.
    pub fn check(&self, scenario: &Scenario) -> Result<()> {
        if scenario.count() != 1 {
            bail!("a [what_if] is for one connection");
        }
        let change = self.value.as_ref().map(|word| format!("`{word} 4194304`"));
        self.applied(scenario, change.as_deref())
            .context("[what_if]")
            .map(|_| ())
    }

    /// The first remedy that gives what the overlay needs, and the scenario with it applied.
    fn first_applicable<'a>(
        &self,
        scenario: &Scenario,
        word: &str,
        changes: &'a [String],
    ) -> Option<(&'a str, Scenario)> {
        changes
            .iter()
            .filter(|change| change.contains(word))
            .find_map(|change| Some((change.as_str(), self.applied(scenario, Some(change)).ok()?)))
    }

    /// The scenario with this remedy's change applied.
    fn applied(&self, scenario: &Scenario, change: Option<&str>) -> Result<Scenario> {
        let mut table = Table::try_from(scenario).context("a scenario is a table")?;
        table.remove("what_if");
        table.remove("figures");
        if let Some(Value::Table(expect)) = table.get_mut("expect") {
            // What the flow makes by construction is another rate now.
            expect.remove("rate_mbit");
        }
        let advice = change
            .zip(self.value.as_deref())
            .map(|(change, word)| Advice { change, word });
        lay_over(&mut table, &self.overlay, advice)?;
        let again: Scenario = table.try_into().context("with the advice applied")?;
        again.check()?;
        Ok(again)
    }
}

/// The scenario to run again, and what is known before it does. `None` in place of the scenario: there is nothing to
/// apply, and the faults say why.
pub fn prepare(
    scenario: &Scenario,
    what_if: &WhatIf,
    judgement: &Judgement,
) -> Result<(Option<Scenario>, Applied)> {
    let mut predicted: Vec<f64> = judgement
        .intervals
        .iter()
        .filter(|interval| interval.is_right())
        .filter_map(|interval| interval.next_bps)
        .collect();
    let next = judgement.next.as_ref().and_then(|next| next["limit"].as_str());
    let mut applied = Applied {
        change: None,
        next: next.map(str::to_owned),
        predicted_bps: median(&mut predicted),
        before_bps: judgement.received_bps,
        after_bps: None,
        faults: Vec::new(),
    };
    if applied.predicted_bps.is_none() {
        applied.faults.push("no rate was promised".into());
    }
    let Some(word) = &what_if.value else {
        return Ok((Some(what_if.applied(scenario, None)?), applied));
    };
    let Some((change, again)) = what_if.first_applicable(scenario, word, &judgement.changes) else {
        applied
            .faults
            .push(format!("no remedy says what {word} is to be"));
        return Ok((None, applied));
    };
    applied.change = Some(change.to_owned());
    Ok((Some(again), applied))
}

impl Applied {
    /// Compares the promise with what the receiver's program measured.
    pub fn measured(&mut self, after_bps: f64, tolerance: f64) {
        self.after_bps = Some(after_bps);
        if let Some(error) = self.error()
            && error.abs() > tolerance
        {
            self.faults
                .push(format!("promised rate off by {:+.1} %", error * 100.0));
        }
    }

    /// The promise's relative error, where there was one and the advice was applied.
    pub fn error(&self) -> Option<f64> {
        Some(error(self.predicted_bps?, self.after_bps?))
    }
}

#[cfg(test)]
mod tests {
    use super::{WhatIf, prepare};
    use crate::lab::interval::Interval;
    use crate::lab::scenario::Scenario;
    use crate::lab::verdict::Judgement;

    const SCENARIO: &str = r#"
        [path]
        rtt_ms = 30
        [hosts.sender]
        route = "cwnd lock 20"
        [flow.pattern]
        kind = "turns"
        request_bytes = 200
        answer_bytes = 20000
        [flow.sender]
        sndbuf_bytes = 65536
        [expect]
        bound = "window"
        limit = "sndbuf"
        rate_mbit = 5.3
        steady_after_s = 2
        seconds = 10
        [what_if]
        value = "SO_SNDBUF"
        [what_if.flow.sender]
        sndbuf_bytes = "$number"
        [what_if.flow.pattern]
        kind = "bulk"
        [what_if.hosts.sender]
        route = "$none"
        [what_if.hosts.sender.sysctls]
        "net.ipv4.tcp_wmem" = "4096 16384 4194304"
    "#;

    fn judgement(changes: &[&str]) -> Judgement {
        let right = |next_bps| Interval {
            truth: "sndbuf".into(),
            said: "sndbuf".into(),
            next_bps,
            ..Interval::default()
        };
        let wrong = Interval {
            said: "rwnd".into(),
            ..right(Some(9e9))
        };
        Judgement {
            received_bps: 1e6,
            intervals: vec![right(Some(20e6)), wrong, right(Some(22e6)), right(Some(30e6))],
            changes: changes.iter().map(|change| (*change).to_owned()).collect(),
            ..Judgement::default()
        }
    }

    fn what_if(scenario: &Scenario) -> &WhatIf {
        scenario.what_if.as_ref().expect("a what_if")
    }

    #[test]
    fn the_number_applied_is_the_remedys_own() {
        let scenario = Scenario::parse(SCENARIO).expect("valid");
        let changes = [
            "remove the program's setsockopt(SO_SNDBUF)",
            "setsockopt(SO_SNDBUF, 655360)",
        ];
        let (again, mut applied) =
            prepare(&scenario, what_if(&scenario), &judgement(&changes)).expect("applies");
        let again = again.expect("a scenario");
        assert_eq!(again.flow.expect("a flow").sender.sndbuf_bytes, Some(655_360));
        assert_eq!(again.hosts.sender.route, None);
        assert_eq!(
            again.hosts.sender.sysctls["net.ipv4.tcp_wmem"],
            "4096 16384 4194304"
        );
        assert_eq!(again.expect.rate_mbit, None);
        assert!(again.what_if.is_none());
        assert_eq!(applied.predicted_bps, Some(22e6));
        assert_eq!(applied.change.as_deref(), Some(changes[1]));
        applied.measured(21e6, 0.1);
        assert!(applied.faults.is_empty(), "{:?}", applied.faults);
        applied.measured(19e6, 0.1);
        assert_eq!(applied.faults, ["promised rate off by +15.8 %"]);
    }

    #[test]
    fn advice_without_a_number_cannot_be_applied() {
        let scenario = Scenario::parse(SCENARIO).expect("valid");
        let (again, applied) = prepare(
            &scenario,
            what_if(&scenario),
            &judgement(&["remove setsockopt(SO_SNDBUF)"]),
        )
        .expect("reads");
        assert!(again.is_none());
        assert_eq!(applied.faults, ["no remedy says what SO_SNDBUF is to be"]);
    }

    #[test]
    fn an_overlay_that_makes_no_scenario_is_refused() {
        for (from, to) in [
            ("kind = \"bulk\"", "kind = \"bulky\""),
            ("value = \"SO_SNDBUF\"", ""),
            ("sndbuf_bytes = \"$number\"", "sndbuf_kb = \"$number\""),
        ] {
            assert!(Scenario::parse(&SCENARIO.replacen(from, to, 1)).is_err(), "{to}");
        }
    }
}
