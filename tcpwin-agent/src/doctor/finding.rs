//! Findings: one file a subject.

use serde::Serialize;

use super::place::{Hurt, Place};

mod buffer;
mod change;
mod congestion;
mod device;
mod fastopen;
mod file;
mod inert;
mod option;
mod port;
mod queue;
mod recovery;
mod route;
mod rule;

pub use change::{Change, SettingEdit};

/// A kind of finding: its stable name, and what it is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kind {
    /// `tcp-wmem-max`.
    pub id: &'static str,
    /// What is wrong, in a few words.
    pub about: &'static str,
}

const fn kind(id: &'static str, about: &'static str) -> Kind {
    Kind { id, about }
}

/// Every kind there is, by subject.
pub const KINDS: &[(&str, &[Kind])] = &[
    ("Buffers", buffer::KINDS),
    ("Options of the SYN", option::KINDS),
    ("Recovery and pace", recovery::KINDS),
    ("Congestion control", congestion::KINDS),
    ("Routes", route::KINDS),
    ("Fast Open", fastopen::KINDS),
    ("Listeners", queue::KINDS),
    ("Interfaces", device::KINDS),
    ("Ports and tables", port::KINDS),
    ("Settings that do nothing", inert::KINDS),
    ("Sysctl files", file::KINDS),
];

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Live connections are held by it now, or packets and connections were dropped while it was watched.
    Hurts,
    /// No live connection is hurt; some will be.
    Risk,
    /// It does nothing, or not what is believed.
    Note,
}

impl Severity {
    /// As the JSON has it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Hurts => "hurts",
            Self::Risk => "risk",
            Self::Note => "note",
        }
    }
}

/// Something that is set wrongly.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Finding {
    /// Its kind: a stable name, see docs/doctor.md.
    pub id: String,
    /// How bad it is.
    pub severity: Severity,
    /// Network namespace.
    pub netns: u32,
    /// The path that leads to the namespace; absent of the one that doctor runs in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// What is set: a setting's name, a route, an interface, a listener.
    pub subject: String,
    /// To what.
    pub value: String,
    /// Why that matters here.
    pub why: String,
    /// Live connections that it hurts.
    pub connections: u64,
    /// Ids of the first of them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ids: Vec<String>,
    /// What these make together now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate_bps: Option<f64>,
    /// What lifting it would give them beside that, where it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_bps: Option<f64>,
    /// What the setting, and its change, reaches of what is open already.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reached: Option<String>,
    /// What to type; any one of them where several do the same is said in `why`.
    pub changes: Vec<Change>,
    /// What the change may cost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub risk: Option<String>,
}

/// Ids told of a finding.
const IDS: usize = 10;

impl Finding {
    fn new(kind: Kind, place: &Place<'_>, subject: impl Into<String>, value: impl Into<String>) -> Self {
        Self {
            id: kind.id.to_owned(),
            severity: Severity::Risk,
            netns: place.namespace.inum,
            path: place.namespace.door.clone(),
            subject: subject.into(),
            value: value.into(),
            why: String::new(),
            connections: 0,
            ids: Vec::new(),
            rate_bps: None,
            cost_bps: None,
            reached: None,
            changes: Vec::new(),
            risk: None,
        }
    }

    /// Of a setting below `net.`, with its value now.
    fn setting(kind: Kind, place: &Place<'_>, name: &str) -> Self {
        let value = place.settings().text(name).unwrap_or_default();
        Self::new(kind, place, name, value)
    }

    fn because(mut self, why: impl Into<String>) -> Self {
        self.why = why.into();
        self
    }

    const fn rated(mut self, severity: Severity) -> Self {
        self.severity = severity;
        self
    }

    /// With those it hurts, which makes it as bad as can be; without any it stays as it is.
    fn hurting(mut self, hurt: &Hurt<'_>) -> Self {
        if hurt.is_empty() {
            return self;
        }
        self.severity = Severity::Hurts;
        self.connections = hurt.0.len() as u64;
        self.ids = hurt.0.iter().take(IDS).map(|each| each.id.clone()).collect();
        self.rate_bps = Some(hurt.rate_bps());
        self.cost_bps = hurt.cost_bps();
        self
    }

    fn reaching(mut self, reached: impl Into<String>) -> Self {
        self.reached = Some(reached.into());
        self
    }

    fn changed_by(mut self, change: impl Into<Option<Change>>) -> Self {
        self.changes.extend(change.into());
        self
    }

    /// A setting's change, its value now being known.
    fn set_to(self, place: &Place<'_>, name: &str, new: &str) -> Self {
        let change = Change::setting(place, name, new);
        self.changed_by(change)
    }

    fn risking(mut self, risk: impl Into<String>) -> Self {
        self.risk = Some(risk.into());
        self
    }
}

/// All of one namespace.
pub(super) fn find(place: &Place<'_>) -> Vec<Finding> {
    [
        buffer::find(place),
        option::find(place),
        recovery::find(place),
        congestion::find(place),
        route::find(place),
        fastopen::find(place),
        queue::find(place),
        device::find(place),
        port::find(place),
        inert::find(place),
        file::find(place),
    ]
    .concat()
}

/// What hurts first, and of that what costs most.
pub(super) fn sort(findings: &mut [Finding]) {
    let cost = |finding: &Finding| finding.cost_bps.unwrap_or(0.0);
    findings.sort_by(|a, b| {
        a.severity
            .cmp(&b.severity)
            .then(cost(b).total_cmp(&cost(a)))
            .then(b.connections.cmp(&a.connections))
            .then_with(|| (&a.id, a.netns, &a.subject).cmp(&(&b.id, b.netns, &b.subject)))
    });
}
