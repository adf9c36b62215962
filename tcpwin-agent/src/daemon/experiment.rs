//! `doctor --apply`: the changes of a plan are tried on live connections, measured, and taken back.
//!
//! What takes them back is a process of its own, which is started before anything is changed and holds the list of what to undo. It waits for
//! the end of its standard input: that comes when the experiment is over, and when whoever makes it dies, SIGKILL included. So there is one
//! way back, and each experiment goes it.

use std::collections::HashMap;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context as _, bail};
use serde::Serialize;

use crate::classify::Direction;
use crate::doctor::SettingEdit;
use crate::doctor::plan::Plan;
use crate::snapshot::{Feed, Snapshot};
use crate::source::netns;
use crate::units::bits_text;

mod edit;
mod guard;

pub use guard::restore;

use self::guard::Guard;

/// A plan whose changes can be made: everything is as it says.
#[derive(Debug)]
pub struct Experiment {
    plan: Plan,
    place: Place,
}

/// The network namespace of an experiment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, serde::Deserialize)]
struct Place {
    netns: u32,
    /// `None`: the one this process is in.
    door: Option<PathBuf>,
}

impl Place {
    fn inside<T: Send>(&self, work: impl FnOnce() -> anyhow::Result<T> + Send) -> anyhow::Result<T> {
        match &self.door {
            Some(door) => netns::inside(self.netns, door, work)?,
            None => work(),
        }
    }
}

/// What came of one change.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Measured {
    /// The finding that it came of.
    pub finding: String,
    /// What was changed, in words.
    pub change: String,
    /// Connections that it was measured on: alive before and after.
    pub connections: u64,
    /// What they made before, bits per second.
    pub before_bps: f64,
    /// What they made after.
    pub after_bps: f64,
    /// What was expected, where all of the plan's connections for it were still there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub predicted_bps: Option<f64>,
    /// How far that was off what was measured, as a share.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<f64>,
}

/// What came of an experiment.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Outcome {
    /// Change by change.
    pub measured: Vec<Measured>,
    /// It was ended before its time.
    pub interrupted: bool,
    /// What was taken back.
    pub restored: Vec<String>,
    /// What was not, and why.
    pub left: Vec<String>,
}

impl Outcome {
    /// If everything is as it was.
    #[must_use]
    pub fn is_taken_back(&self) -> bool {
        self.left.is_empty()
    }
}

impl Experiment {
    /// Compares everything with what the plan says it was.
    ///
    /// # Errors
    /// When something is different: then the plan was made for another state of things. Nothing was changed.
    pub fn prepare(plan: &Plan) -> anyhow::Result<Self> {
        let own = netns::own()?;
        let place = Place {
            netns: plan.netns,
            door: plan.path.clone().map(PathBuf::from),
        };
        if place.door.is_none() && own != plan.netns {
            bail!(
                "the plan is for network namespace {}, this is {own}: run it there, or name its path in the plan",
                plan.netns
            );
        }
        let edits: Vec<SettingEdit> = plan.changes.iter().map(|change| change.edit.clone()).collect();
        place.inside(|| edits.iter().try_for_each(edit::check))?;
        Ok(Self {
            plan: plan.clone(),
            place,
        })
    }

    /// Measures, changes, measures again and takes back. `wait` waits, and says if it was interrupted; `tell` is told how far it is.
    ///
    /// # Errors
    /// When a change cannot be made or the feed ends; what was changed until then is taken back.
    pub fn run(
        &self,
        feed: &mut dyn Feed,
        time: Duration,
        wait: &mut dyn FnMut(Duration) -> anyhow::Result<bool>,
        tell: &mut dyn FnMut(&str),
    ) -> anyhow::Result<Outcome> {
        // A feed that has only just begun has not seen every connection.
        let mut interrupted = wait(SETTLE)?;
        let mut looks = vec![self.bytes(&*feed.latest()?)];
        interrupted = interrupted || wait(time)?;
        looks.push(self.bytes(&*feed.latest()?));
        if interrupted {
            return Ok(Outcome {
                interrupted,
                ..Outcome::default()
            });
        }
        let edits: Vec<SettingEdit> = self
            .plan
            .changes
            .iter()
            .map(|change| change.edit.clone())
            .collect();
        let undo: Vec<SettingEdit> = edits.iter().rev().map(SettingEdit::reversed).collect();
        // Longer than all that follows.
        let guard = Guard::start(&self.place, &undo, time * 3 + SETTLE)?;
        let tried = self
            .place
            .inside(|| edits.iter().try_for_each(edit::make))
            .and_then(|()| {
                tell("changed as planned; it is taken back when this ends, however it does");
                // Windows grow by the round trip: what is measured is what they have grown to.
                interrupted = wait(time / 2)?;
                looks.push(self.bytes(&*feed.latest()?));
                interrupted = interrupted || wait(time)?;
                looks.push(self.bytes(&*feed.latest()?));
                Ok(())
            });
        let (restored, left) = guard.release()?;
        tried.context("what was changed has been taken back")?;
        Ok(Outcome {
            measured: if interrupted {
                Vec::new()
            } else {
                self.measured(&looks)
            },
            interrupted,
            restored,
            left,
        })
    }

    /// Bytes moved so far by each connection of the namespace, in its direction, and when that was.
    fn bytes(&self, snapshot: &Snapshot) -> (u64, HashMap<String, u64>) {
        let here = snapshot
            .connections
            .iter()
            .filter(|each| each.netns == self.plan.netns);
        let bytes = here.filter_map(|each| {
            let bytes = match each.direction {
                Direction::Send => each.tcp.bytes_acked,
                Direction::Receive => each.tcp.bytes_received,
            };
            Some((each.id.clone(), bytes?))
        });
        (snapshot.at_ns, bytes.collect())
    }

    fn measured(&self, looks: &[(u64, HashMap<String, u64>)]) -> Vec<Measured> {
        let [first, second, third, fourth] = looks else {
            return Vec::new();
        };
        let measure = |change: &crate::doctor::plan::Planned| {
            let wanted: Vec<&String> = match change.connections.is_empty() {
                true => first.1.keys().collect(),
                false => change.connections.iter().collect(),
            };
            let there: Vec<&String> = wanted
                .iter()
                .copied()
                .filter(|id| looks.iter().all(|(_, bytes)| bytes.contains_key(*id)))
                .collect();
            let (before_bps, after_bps) = (rate(&there, first, second), rate(&there, third, fourth));
            let is_whole = there.len() == wanted.len() && !there.is_empty();
            let predicted_bps = change.predicted_bps.filter(|_| is_whole);
            Measured {
                finding: change.finding.clone(),
                change: change.edit.to_string(),
                connections: there.len() as u64,
                before_bps,
                after_bps,
                predicted_bps,
                error: predicted_bps
                    .filter(|_| after_bps > 0.0)
                    .map(|predicted| predicted / after_bps - 1.0),
            }
        };
        self.plan.changes.iter().map(measure).collect()
    }
}

/// From here on a pipeline knows the connections.
const SETTLE: Duration = Duration::from_secs(2);

/// Of these connections between two looks, bits per second.
fn rate(ids: &[&String], from: &(u64, HashMap<String, u64>), to: &(u64, HashMap<String, u64>)) -> f64 {
    let seconds = to.0.saturating_sub(from.0) as f64 / 1e9;
    let moved: u64 = ids.iter().map(|id| to.1[*id].saturating_sub(from.1[*id])).sum();
    if seconds > 0.0 {
        moved as f64 * 8.0 / seconds
    } else {
        0.0
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.measured.len() > 1 {
            writeln!(f, "Measured with all {} changes made.", self.measured.len())?;
        }
        for measured in &self.measured {
            writeln!(f, "{}  {}", measured.finding, measured.change)?;
            write!(
                f,
                "  {} {}: {} before, {} after",
                measured.connections,
                if measured.connections == 1 {
                    "connection"
                } else {
                    "connections"
                },
                bits_text(measured.before_bps),
                bits_text(measured.after_bps)
            )?;
            match measured.predicted_bps.zip(measured.error) {
                Some((predicted, error)) => writeln!(
                    f,
                    "; {} was expected ({:+.1} %)",
                    bits_text(predicted),
                    error * 100.0
                )?,
                None => writeln!(f)?,
            }
        }
        if self.interrupted {
            writeln!(f, "Interrupted before all was measured.")?;
        }
        for restored in &self.restored {
            writeln!(f, "taken back: {restored}")?;
        }
        for left in &self.left {
            writeln!(f, "NOT taken back: {left}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn look(at_s: u64, bytes: &[(&str, u64)]) -> (u64, HashMap<String, u64>) {
        let bytes = bytes.iter().map(|(id, bytes)| ((*id).to_owned(), *bytes));
        (at_s * 1_000_000_000, bytes.collect())
    }

    fn experiment(connections: &[&str]) -> Experiment {
        let text = format!(
            "version = 1\nnetns = 1\n[[change]]\nfinding = \"tcp-wmem-max\"\npredicted_bps = 30e6\nconnections = {connections:?}\n\
             [change.edit.sysctl]\nname = \"net.ipv4.tcp_wmem\"\nold = \"4096 16384 65536\"\nnew = \"4096 16384 4194304\"\n"
        );
        Experiment {
            plan: Plan::parse(&text).unwrap(),
            place: Place { netns: 1, door: None },
        }
    }

    #[test]
    fn rates_are_those_of_the_plans_connections() {
        let looks = [
            look(0, &[("1", 0), ("2", 0)]),
            look(2, &[("1", 2_500_000), ("2", 9)]),
            look(3, &[("1", 4_000_000), ("2", 99)]),
            look(5, &[("1", 11_500_000), ("2", 999)]),
        ];
        let measured = &experiment(&["1"]).measured(&looks)[0];
        assert_eq!((measured.before_bps, measured.after_bps), (10e6, 30e6));
        assert_eq!((measured.connections, measured.error), (1, Some(0.0)));
    }

    #[test]
    fn a_promise_is_not_held_against_connections_that_have_gone() {
        let looks = [
            look(0, &[("1", 0), ("2", 0)]),
            look(1, &[("1", 1), ("2", 1)]),
            look(2, &[("1", 2)]),
            look(3, &[("1", 3)]),
        ];
        let measured = &experiment(&["1", "2"]).measured(&looks)[0];
        assert_eq!((measured.connections, measured.predicted_bps), (1, None));
    }

    #[test]
    fn what_was_not_taken_back_cannot_be_overlooked() {
        let outcome = Outcome {
            left: vec!["net.ipv4.tcp_sack is 1".to_owned()],
            ..Outcome::default()
        };
        assert!(!outcome.is_taken_back());
        assert!(outcome.to_string().contains("NOT taken back: net.ipv4.tcp_sack"));
    }
}
