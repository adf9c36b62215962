//! Which scenario shows which limit: the ones that ask least of the machine, since all run at once.

use anyhow::{Context as _, Result};

use crate::lab::scenario::Scenario;

/// A limit's part.
#[derive(Clone, Copy, Debug)]
pub struct Part {
    /// The scenario.
    pub scenario: &'static str,
    /// It shows its limit for some seconds only, and begins again after them.
    pub is_short: bool,
}

impl Part {
    const fn of(scenario: &'static str) -> Self {
        Self {
            scenario,
            is_short: false,
        }
    }

    /// What the scenario's truth is.
    pub fn limit(&self) -> Result<String> {
        let expect = Scenario::named(self.scenario)?.expect;
        let cause = expect
            .causes()
            .next()
            .with_context(|| format!("{} has no verdict", self.scenario))?;
        Ok(cause.limit.unwrap_or(cause.bound).to_owned())
    }
}

/// All of them; those that take longest to show come first.
pub const CAST: [Part; 20] = [
    Part::of("policer_10mbit_30ms"),
    Part::of("stalled_30ms"),
    Part::of("mtu_blackhole_30ms"),
    Part::of("loss_1percent_30ms"),
    Part::of("bandwidth_default_30ms"),
    Part::of("host_tbf_181ms"),
    Part::of("rwnd_scale_181ms"),
    Part::of("sndbuf_181ms"),
    Part::of("rwnd_rcvbuf_181ms"),
    Part::of("rwnd_reader_30ms"),
    Part::of("rcvbuf_30ms"),
    Part::of("reader_30ms"),
    Part::of("app_window_65535_181ms"),
    Part::of("cwnd_clamp_30ms"),
    Part::of("pacing_8mbit"),
    Part::of("turns_30ms"),
    Part::of("small_writes_30ms"),
    Part::of("app_periodic_30ms"),
    Part::of("none_quiet_30ms"),
    Part {
        scenario: "cwnd_startup_600ms",
        is_short: true,
    },
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::CAST;
    use crate::lab::scenario::{self, Scenario};

    #[test]
    fn the_page_of_verdicts_says_how_to_try_each() {
        let page =
            std::fs::read_to_string(crate::paths::workspace().join("docs/verdicts.md")).expect("the page");
        let sections: Vec<_> = page.split("\n## ").collect();
        for part in CAST {
            let limit = part.limit().expect("valid");
            let section = sections
                .iter()
                .find(|section| section.lines().next() == Some(&limit));
            let section = section.unwrap_or_else(|| panic!("no section of {limit}"));
            let told = format!("`cargo xtask lab --shell {}`", part.scenario);
            assert!(section.contains(&told), "{limit}: {told}");
        }
    }

    #[test]
    fn every_limit_of_the_lab_has_its_part() {
        let shown: BTreeSet<String> = CAST.iter().map(|part| part.limit().expect("valid")).collect();
        assert_eq!(shown.len(), CAST.len(), "one part a limit");
        let judged = scenario::judged().expect("valid").into_iter().flat_map(|name| {
            let expect = Scenario::named(name).expect("valid").expect;
            let names = expect
                .causes()
                .map(|cause| cause.limit.unwrap_or(cause.bound).to_owned());
            names.collect::<Vec<_>>()
        });
        assert_eq!(shown, judged.collect());
    }
}
