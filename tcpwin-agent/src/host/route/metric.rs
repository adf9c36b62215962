//! The metrics of a route (`RTAX_*`, include/uapi/linux/rtnetlink.h).

use std::collections::BTreeMap;
use std::fmt;

use super::super::rtnetlink::{attributes, text, u32_at};

const RTAX_LOCK: u16 = 1;

/// A metric, by its `RTAX_` number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "the names of ip-route(8)")]
pub enum Metric {
    Mtu = 2,
    Window = 3,
    Rtt = 4,
    Rttvar = 5,
    Ssthresh = 6,
    Cwnd = 7,
    Advmss = 8,
    Reordering = 9,
    Hoplimit = 10,
    Initcwnd = 11,
    Features = 12,
    RtoMin = 13,
    Initrwnd = 14,
    Quickack = 15,
    CcAlgo = 16,
    FastopenNoCookie = 17,
}

impl Metric {
    /// All there are.
    pub const ALL: [Self; 16] = [
        Self::Mtu,
        Self::Window,
        Self::Rtt,
        Self::Rttvar,
        Self::Ssthresh,
        Self::Cwnd,
        Self::Advmss,
        Self::Reordering,
        Self::Hoplimit,
        Self::Initcwnd,
        Self::Features,
        Self::RtoMin,
        Self::Initrwnd,
        Self::Quickack,
        Self::CcAlgo,
        Self::FastopenNoCookie,
    ];

    /// As ip-route(8) writes it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Mtu => "mtu",
            Self::Window => "window",
            Self::Rtt => "rtt",
            Self::Rttvar => "rttvar",
            Self::Ssthresh => "ssthresh",
            Self::Cwnd => "cwnd",
            Self::Advmss => "advmss",
            Self::Reordering => "reordering",
            Self::Hoplimit => "hoplimit",
            Self::Initcwnd => "initcwnd",
            Self::Features => "features",
            Self::RtoMin => "rto_min",
            Self::Initrwnd => "initrwnd",
            Self::Quickack => "quickack",
            Self::CcAlgo => "congctl",
            Self::FastopenNoCookie => "fastopen_no_cookie",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Value {
    word: String,
    number: Option<u32>,
    locked: bool,
}

/// What is to become of a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edit {
    /// The route has it no more.
    Drop,
    /// Its lock goes, its value stays.
    Unlock,
    /// This value.
    Set(u32),
}

/// The metrics of one route.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Metrics(BTreeMap<Metric, Value>);

impl Metrics {
    /// From the nested attributes of `RTA_METRICS`.
    pub(super) fn of(bytes: &[u8]) -> Self {
        let locks = attributes(bytes)
            .find_map(|(kind, value)| (kind == RTAX_LOCK).then(|| u32_at(value, 0))?)
            .unwrap_or(0);
        let value = |(kind, bytes): (u16, &[u8])| {
            let metric = Metric::ALL.into_iter().find(|metric| *metric as u16 == kind)?;
            let number = match metric {
                Metric::CcAlgo => None,
                _ => Some(u32_at(bytes, 0)?),
            };
            let value = Value {
                word: word(metric, number, bytes),
                number,
                locked: locks & (1 << kind) != 0,
            };
            Some((metric, value))
        };
        Self(attributes(bytes).filter_map(value).collect())
    }

    /// A metric's number.
    #[must_use]
    pub fn number(&self, metric: Metric) -> Option<u32> {
        self.0.get(&metric)?.number
    }

    /// The congestion control that connections on the route begin with.
    #[must_use]
    pub fn congestion(&self) -> Option<&str> {
        Some(self.0.get(&Metric::CcAlgo)?.word.as_str())
    }

    /// A metric as it is written, `lock` included.
    #[must_use]
    pub fn written(&self, metric: Metric) -> Option<String> {
        let value = self.0.get(&metric)?;
        let lock = if value.locked { "lock " } else { "" };
        Some(format!("{} {lock}{}", metric.name(), value.word))
    }

    /// If the metric is locked: what the kernel learns of the path does not change it.
    #[must_use]
    pub fn is_locked(&self, metric: Metric) -> bool {
        self.0.get(&metric).is_some_and(|value| value.locked)
    }

    /// The same metrics with one of them edited.
    #[must_use]
    pub fn with(&self, metric: Metric, edit: Edit) -> Self {
        let mut metrics = self.clone();
        match edit {
            Edit::Drop => {
                metrics.0.remove(&metric);
            }
            Edit::Unlock => {
                if let Some(value) = metrics.0.get_mut(&metric) {
                    value.locked = false;
                }
            }
            Edit::Set(number) => {
                let locked = metrics.is_locked(metric);
                let value = Value {
                    word: word(metric, Some(number), &[]),
                    number: Some(number),
                    locked,
                };
                metrics.0.insert(metric, value);
            }
        }
        metrics
    }
}

/// The unit in which ip(8) takes it back.
fn word(metric: Metric, number: Option<u32>, bytes: &[u8]) -> String {
    match (metric, number) {
        (_, None) => text(bytes),
        (Metric::RtoMin, Some(millis)) => format!("{millis}ms"),
        (Metric::Features, Some(1)) => "ecn".to_owned(),
        // rtt and rttvar too: ip takes bare numbers for the kernel's eighths and quarters of a millisecond.
        (_, Some(number)) => number.to_string(),
    }
}

/// Each with a space before it, so that it follows the route's other words.
impl fmt::Display for Metrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Metric::ALL
            .into_iter()
            .filter_map(|metric| self.written(metric))
            .try_for_each(|written| write!(f, " {written}"))
    }
}
