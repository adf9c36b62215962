//! The lists of listening sockets and of findings: their columns.

use std::borrow::Cow;

use ratatui::style::Style;

use super::grid::{Field, GridSort, Grow, Order};
use super::group::cgroup_text;
use super::text::{count_text, gain_text, percent_text, width};
use super::theme::{Sign, Theme};
use crate::classify::group::FindingKind;
use crate::snapshot::figures::limit_text;
use crate::snapshot::{Finding, Listener};
use crate::units::bits_text;

/// Share of a listener's accept queue that is full.
pub(crate) fn fill(listener: &Listener) -> Option<f64> {
    (listener.backlog > 0).then(|| f64::from(listener.accept_queue) / f64::from(listener.backlog))
}

/// From this share on an accept queue is nearly full.
pub(crate) const NEARLY_FULL: f64 = 0.8;

/// Cells of the bar that shows it.
const BAR: usize = 20;

fn plain<T>(_: &T, _: Theme) -> Style {
    Style::new()
}

/// As listeners are sorted until somebody chooses: the fullest first.
pub(crate) const FULLEST_FIRST: GridSort = GridSort::of(4);

/// Columns of the listeners.
pub(crate) const LISTENERS: &[Field<Listener>] = &[
    Field {
        title: "local",
        width: 21,
        rank: 1,
        right: false,
        grow: Grow::ToText,
        text: |it, _| Cow::Borrowed(&it.local),
        order: |it| Order::Text(Cow::Borrowed(&it.local)),
        style: plain,
    },
    Field {
        title: "process",
        width: 15,
        rank: 2,
        right: false,
        grow: Grow::No,
        text: |it, _| {
            it.process
                .as_ref()
                .map_or(Cow::Borrowed(""), |process| Cow::Borrowed(&process.name))
        },
        order: |it| {
            let name = it.process.as_ref().map_or("\u{10ffff}", |process| &process.name);
            Order::Text(Cow::Borrowed(name))
        },
        style: plain,
    },
    Field {
        title: "waiting",
        width: 7,
        rank: 3,
        right: true,
        grow: Grow::No,
        text: |it, _| count_text(u64::from(it.accept_queue)).into(),
        order: |it| Order::falling(Some(f64::from(it.accept_queue))),
        style: full,
    },
    Field {
        title: "backlog",
        width: 8,
        rank: 4,
        right: true,
        grow: Grow::No,
        text: |it, _| count_text(u64::from(it.backlog)).into(),
        order: |it| Order::falling(Some(f64::from(it.backlog))),
        style: plain,
    },
    Field {
        title: "full",
        width: 6,
        rank: 5,
        right: true,
        grow: Grow::No,
        text: |it, _| fill(it).map_or(Cow::Borrowed(""), |share| percent_text(share).into()),
        order: |it| Order::falling(fill(it)),
        style: full,
    },
    Field {
        title: "conns",
        width: 6,
        rank: 6,
        right: true,
        grow: Grow::No,
        text: |it, _| it.connections.map_or(Cow::Borrowed(""), |n| count_text(n).into()),
        order: |it| Order::falling(it.connections.map(|n| n as f64)),
        style: plain,
    },
    Field {
        title: "accept queue",
        width: BAR as u16,
        rank: 7,
        right: false,
        grow: Grow::No,
        text: |it, theme| {
            let share = fill(it).unwrap_or(0.0).min(1.0);
            // One who waits is seen.
            let cells = ((share * BAR as f64).round() as usize).max(usize::from(it.accept_queue > 0));
            let (on, off) = (theme.sign(Sign::Full), theme.sign(Sign::Dot));
            format!("{}{}", on.repeat(cells), off.repeat(BAR - cells.min(BAR))).into()
        },
        order: |it| Order::falling(fill(it)),
        style: |it, theme| {
            if is_nearly_full(it) {
                theme.alarm_text()
            } else {
                theme.chart()
            }
        },
    },
    Field {
        title: "cc",
        width: 6,
        rank: 8,
        right: false,
        grow: Grow::No,
        text: |it, _| Cow::Borrowed(it.congestion.as_deref().unwrap_or("")),
        order: |it| Order::Text(Cow::Borrowed(it.congestion.as_deref().unwrap_or("\u{10ffff}"))),
        style: plain,
    },
    Field {
        title: "pid",
        width: 8,
        rank: 9,
        right: true,
        grow: Grow::No,
        text: |it, _| {
            it.process
                .as_ref()
                .map_or(Cow::Borrowed(""), |process| process.pid.to_string().into())
        },
        order: |it| Order::Number(it.process.as_ref().map_or(f64::INFINITY, |p| f64::from(p.pid))),
        style: plain,
    },
    Field {
        title: "netns",
        width: 10,
        rank: 10,
        right: true,
        grow: Grow::No,
        text: |it, _| {
            if it.netns == 0 {
                Cow::Borrowed("")
            } else {
                it.netns.to_string().into()
            }
        },
        order: |it| Order::Number(f64::from(it.netns)),
        style: |_, theme| theme.dim(),
    },
    Field {
        title: "cgroup",
        width: 16,
        rank: 11,
        right: false,
        grow: Grow::Rest,
        text: |it, _| it.cgroup.as_deref().map_or(Cow::Borrowed(""), cgroup_text),
        order: |it| Order::Text(Cow::Borrowed(it.cgroup.as_deref().unwrap_or("\u{10ffff}"))),
        style: |_, theme| theme.dim(),
    },
];

/// If hardly anybody more can wait.
pub(crate) fn is_nearly_full(listener: &Listener) -> bool {
    fill(listener).is_some_and(|share| share >= NEARLY_FULL)
}

fn full(listener: &Listener, theme: Theme) -> Style {
    if is_nearly_full(listener) {
        theme.alarm_text()
    } else {
        Style::new()
    }
}

/// Columns of the findings. As they come, what gives most stands first.
pub(crate) const FINDINGS: &[Field<Finding>] = &[
    Field {
        title: "limit",
        width: 12,
        rank: 1,
        right: false,
        grow: Grow::No,
        text: |it, _| it.limit.name().into(),
        order: |it| Order::Text(it.limit.name().into()),
        style: |it, theme| theme.bound(it.bound),
    },
    Field {
        title: "gain",
        width: 6,
        rank: 3,
        right: true,
        grow: Grow::No,
        text: |it, theme| {
            it.gain.map_or(Cow::Borrowed(""), |gain| {
                gain_text(gain, theme.sign(Sign::Times)).into()
            })
        },
        order: |it| Order::falling(it.gain),
        style: |_, theme| theme.title(),
    },
    Field {
        title: "conns",
        width: 6,
        rank: 4,
        right: true,
        grow: Grow::No,
        text: |it, _| count_text(it.connections).into(),
        order: |it| Order::falling(Some(it.connections as f64)),
        style: plain,
    },
    Field {
        title: "rate",
        width: 11,
        rank: 7,
        right: true,
        grow: Grow::No,
        text: |it, _| bits_text(it.rate_bps).into(),
        order: |it| Order::falling(Some(it.rate_bps)),
        style: plain,
    },
    Field {
        title: "process",
        width: 12,
        rank: 5,
        right: false,
        grow: Grow::No,
        text: |it, _| Cow::Borrowed(it.process.as_deref().unwrap_or("")),
        order: |it| Order::Text(Cow::Borrowed(it.process.as_deref().unwrap_or("\u{10ffff}"))),
        style: plain,
    },
    Field {
        title: "peers",
        width: 18,
        rank: 2,
        right: false,
        grow: Grow::ToText,
        text: |it, _| Cow::Borrowed(it.peer.as_deref().unwrap_or("several places")),
        order: |it| Order::Text(Cow::Borrowed(it.peer.as_deref().unwrap_or("\u{10ffff}"))),
        style: plain,
    },
    Field {
        title: "proof",
        width: 18,
        rank: 6,
        right: false,
        grow: Grow::Rest,
        text: |it, _| Cow::Borrowed(&it.proof),
        order: |it| Order::Text(Cow::Borrowed(&it.proof)),
        style: |_, theme| theme.dim(),
    },
];

/// A finding as an engineer would say it, without its gain: whose, what holds them, what to change. In words where there
/// is room for all of it in `cells`, else by the limit's name.
pub(crate) fn sentence(finding: &Finding, cells: usize) -> String {
    let what = match finding.kind {
        FindingKind::SharedLimit => limit_text(finding.limit),
        FindingKind::SlowSibling => "slower than its equals",
        FindingKind::AppWindow => "the same bytes per round trip everywhere: a window of the program's own",
    };
    let change = finding
        .remedies
        .first()
        .map_or(String::new(), |remedy| format!("; {}", remedy.change));
    let whose = whose(finding);
    let said = format!("{whose}: {what}{change}");
    if width(&said) <= cells || finding.kind != FindingKind::SharedLimit {
        return said;
    }
    let whose = match &finding.process {
        Some(_) => whose
            .replacen(" connections of", " of", 1)
            .replacen(" connection of", " of", 1),
        None => whose,
    };
    format!("{whose}: {}{change}", finding.limit.name())
}

/// `37 connections of nginx to 203.0.113.0/24`.
pub(crate) fn whose(finding: &Finding) -> String {
    let plural = if finding.connections == 1 { "" } else { "s" };
    let process = finding
        .process
        .as_ref()
        .map_or(String::new(), |name| format!(" of {name}"));
    let peer = finding
        .peer
        .as_ref()
        .map_or(String::new(), |peer| format!(" to {peer}"));
    format!(
        "{} connection{plural}{process}{peer}",
        count_text(finding.connections)
    )
}
