//! The table itself: which keys mean what, and where.

use super::{Binding, Mode};
use crate::snapshot::playback::Jump;
use crate::top::action::{Action, Motion, Play};
use crate::top::chooser::Choose;
use crate::top::prompt::Edit;
use crate::top::view::{By, View};

const fn bind(
    modes: &'static [Mode],
    keys: &'static [&'static str],
    action: Action,
    help: &'static str,
) -> Binding {
    Binding {
        modes,
        keys,
        action,
        help,
    }
}

const TABLE: &[Mode] = &[Mode::Overview, Mode::Finding];
const TREE: &[Mode] = &[Mode::Tree];
const LIST: &[Mode] = &[Mode::List];
const CONNECTIONS: &[Mode] = &[Mode::Overview, Mode::Tree, Mode::Finding];
const SORTED: &[Mode] = &[Mode::Overview, Mode::Tree, Mode::List, Mode::Finding];
const ROOTS: &[Mode] = &[Mode::Overview, Mode::Tree, Mode::List, Mode::Finding, Mode::Host];
/// Where digits go to views; elsewhere they copy remedies.
pub(super) const DIGITS: &[Mode] = &[Mode::Overview, Mode::Tree, Mode::List, Mode::Host];
const TEXTS: &[Mode] = &[Mode::Detail, Mode::Help];
const DETAIL: &[Mode] = &[Mode::Detail];
const REMEDIES: &[Mode] = &[Mode::Detail, Mode::Finding];
const PROMPT: &[Mode] = &[Mode::Prompt];
const CHOOSER: &[Mode] = &[Mode::Chooser];
const COMMAND: &[Mode] = &[Mode::Command];
const VIEWS: &[Mode] = &[
    Mode::Overview,
    Mode::Tree,
    Mode::List,
    Mode::Finding,
    Mode::Host,
    Mode::Detail,
];
const LISTS: &[Mode] = &[
    Mode::Overview,
    Mode::Tree,
    Mode::List,
    Mode::Finding,
    Mode::Host,
    Mode::Detail,
    Mode::Help,
];
const ALL: &[Mode] = &[
    Mode::Overview,
    Mode::Tree,
    Mode::List,
    Mode::Finding,
    Mode::Host,
    Mode::Detail,
    Mode::Help,
    Mode::Prompt,
    Mode::Command,
    Mode::Chooser,
];

/// All keys, in the order of the help screen.
pub(crate) const BINDINGS: &[Binding] = &[
    bind(LISTS, &["?", "F1"], Action::Help, "this help"),
    bind(
        LISTS,
        &[":"],
        Action::CommandStart,
        "go to a view by its name; Tab completes",
    ),
    bind(
        VIEWS,
        &["/"],
        Action::FilterStart,
        "filter, such as  bound=window rtt>50ms",
    ),
    bind(
        LISTS,
        &["j", "Down", "Ctrl-n"],
        Action::Move(Motion::Down),
        "one down",
    ),
    bind(LISTS, &["k", "Up", "Ctrl-p"], Action::Move(Motion::Up), "one up"),
    bind(
        LISTS,
        &["PgDn", "Ctrl-f"],
        Action::Move(Motion::PageDown),
        "a page down",
    ),
    bind(
        LISTS,
        &["PgUp", "Ctrl-b"],
        Action::Move(Motion::PageUp),
        "a page up",
    ),
    bind(
        LISTS,
        &["Ctrl-d"],
        Action::Move(Motion::HalfDown),
        "half a page down",
    ),
    bind(LISTS, &["Ctrl-u"], Action::Move(Motion::HalfUp), "half a page up"),
    bind(
        LISTS,
        &["g g", "Home"],
        Action::Move(Motion::First),
        "to the first, and stay there",
    ),
    bind(LISTS, &["G", "End"], Action::Move(Motion::Last), "to the last"),
    bind(VIEWS, &["Space"], Action::Freeze, "freeze, go on"),
    bind(VIEWS, &["+", "="], Action::Slower, "longer interval"),
    bind(VIEWS, &["-"], Action::Faster, "shorter interval"),
    bind(VIEWS, &["p"], Action::Play(Play::Pause), "replay: pause, go on"),
    bind(
        VIEWS,
        &["n"],
        Action::Play(Play::Jump(Jump::Step)),
        "replay: one interval on, and pause",
    ),
    bind(
        VIEWS,
        &["["],
        Action::Play(Play::Jump(Jump::By(-10))),
        "replay: 10 s back",
    ),
    bind(
        VIEWS,
        &["]"],
        Action::Play(Play::Jump(Jump::By(10))),
        "replay: 10 s on",
    ),
    bind(
        VIEWS,
        &["{"],
        Action::Play(Play::Jump(Jump::By(-60))),
        "replay: a minute back",
    ),
    bind(
        VIEWS,
        &["}"],
        Action::Play(Play::Jump(Jump::By(60))),
        "replay: a minute on",
    ),
    bind(
        VIEWS,
        &["("],
        Action::Play(Play::Jump(Jump::Start)),
        "replay: to the start",
    ),
    bind(
        VIEWS,
        &[")"],
        Action::Play(Play::Jump(Jump::End)),
        "replay: to the end",
    ),
    bind(VIEWS, &["*"], Action::Play(Play::Faster), "replay: twice as fast"),
    bind(VIEWS, &["\\"], Action::Play(Play::Slower), "replay: half as fast"),
    bind(
        VIEWS,
        &["m"],
        Action::Mouse,
        "give the mouse back to the terminal, take it again",
    ),
    bind(ALL, &["Ctrl-l"], Action::Redraw, "draw anew"),
    bind(ALL, &["Ctrl-z"], Action::Suspend, "suspend; fg comes back"),
    bind(LISTS, &["Ctrl-c", "Q"], Action::Quit, "quit from anywhere"),
    bind(DIGITS, &["1"], Action::Go(View::Overview), "connections"),
    bind(
        DIGITS,
        &["2"],
        Action::Go(View::Groups(By::Process)),
        "processes, with the sums of their connections",
    ),
    bind(
        DIGITS,
        &["3"],
        Action::Go(View::Groups(By::Container)),
        "containers and services, by cgroup",
    ),
    bind(
        DIGITS,
        &["4"],
        Action::Go(View::Groups(By::Peer)),
        "peers, by prefix",
    ),
    bind(
        DIGITS,
        &["5"],
        Action::Go(View::Listeners),
        "listeners and their accept queues",
    ),
    bind(
        DIGITS,
        &["6"],
        Action::Go(View::Findings),
        "findings, what gives most first",
    ),
    bind(
        DIGITS,
        &["7"],
        Action::Go(View::Host),
        "the host: counters, hooks, losses, own cost",
    ),
    bind(
        TABLE,
        &["Enter", "Right", "l"],
        Action::Open,
        "open the connection: proof, arithmetic, remedies",
    ),
    bind(
        TABLE,
        &["Tab"],
        Action::Focus,
        "to the findings and back; Enter opens one",
    ),
    bind(TABLE, &["Left", "h", "Backspace"], Action::Back, "back"),
    bind(
        TREE,
        &["Enter"],
        Action::Open,
        "the connections of the group, or the connection",
    ),
    bind(TREE, &["Right", "l"], Action::Unfold, "unfold the group"),
    bind(
        TREE,
        &["Left", "h"],
        Action::Fold,
        "fold the group, or go to the one around",
    ),
    bind(
        LIST,
        &["Enter", "Right", "l"],
        Action::Open,
        "open the finding; the connections of the listener",
    ),
    bind(
        CONNECTIONS,
        &["x"],
        Action::SickOnly,
        "only the sick: held by window, loss or this host",
    ),
    bind(SORTED, &["s"], Action::SortNext, "sort by the next column"),
    bind(
        SORTED,
        &["<", ","],
        Action::SortLeft,
        "sort by the column to the left",
    ),
    bind(
        SORTED,
        &[">", "."],
        Action::SortRight,
        "sort by the column to the right",
    ),
    bind(SORTED, &["I"], Action::SortInvert, "sort the other way round"),
    bind(
        TABLE,
        &["C"],
        Action::ChooserStart,
        "columns: which, in which order, how wide",
    ),
    bind(
        TABLE,
        &["P"],
        Action::PresetNext,
        "the next preset; after the last, as at the start",
    ),
    bind(
        ROOTS,
        &["Esc"],
        Action::Escape,
        "clear the filter; back; let go of the selection",
    ),
    bind(ROOTS, &["q"], Action::Leave, "back; at the root quit"),
    bind(
        TEXTS,
        &["Esc", "q", "Left", "h", "Backspace"],
        Action::Back,
        "back",
    ),
    bind(
        REMEDIES,
        &["y"],
        Action::Copy,
        "copy the first remedy (terminals with OSC 52)",
    ),
    bind(
        REMEDIES,
        &["1", "2", "3", "4", "5", "6", "7", "8", "9"],
        Action::CopyNumber(1),
        "copy the remedy of this number",
    ),
    bind(
        DETAIL,
        &["Tab"],
        Action::DetailPage,
        "the charts on a page of their own, and back",
    ),
    bind(
        DETAIL,
        &["<", ","],
        Action::ZoomIn,
        "charts: less time, more closely",
    ),
    bind(DETAIL, &[">", "."], Action::ZoomOut, "charts: more time"),
    bind(
        DETAIL,
        &["c"],
        Action::ChartNext,
        "charts: one alone, the next, all again",
    ),
    bind(
        CHOOSER,
        &["j", "Down", "Ctrl-n"],
        Action::Choose(Choose::Down),
        "one down",
    ),
    bind(
        CHOOSER,
        &["k", "Up", "Ctrl-p"],
        Action::Choose(Choose::Up),
        "one up",
    ),
    bind(
        CHOOSER,
        &["g g", "Home"],
        Action::Choose(Choose::First),
        "to the first",
    ),
    bind(
        CHOOSER,
        &["G", "End"],
        Action::Choose(Choose::Last),
        "to the last",
    ),
    bind(
        CHOOSER,
        &["Space", "x"],
        Action::Choose(Choose::Toggle),
        "show the column, hide it",
    ),
    bind(
        CHOOSER,
        &["K", "<"],
        Action::Choose(Choose::Earlier),
        "move it to the left",
    ),
    bind(
        CHOOSER,
        &["J", ">"],
        Action::Choose(Choose::Later),
        "move it to the right",
    ),
    bind(
        CHOOSER,
        &["+", "=", "Right", "l"],
        Action::Choose(Choose::Wider),
        "wider",
    ),
    bind(
        CHOOSER,
        &["-", "Left", "h"],
        Action::Choose(Choose::Narrower),
        "narrower",
    ),
    bind(
        CHOOSER,
        &["a"],
        Action::Choose(Choose::Automatic),
        "those that fit the screen, as without a choice",
    ),
    bind(
        CHOOSER,
        &["w"],
        Action::WriteColumns,
        "write them to the settings file",
    ),
    bind(CHOOSER, &["Enter"], Action::Choose(Choose::Accept), "keep them"),
    bind(
        CHOOSER,
        &["Esc", "q", "C"],
        Action::Choose(Choose::Cancel),
        "back to the columns before",
    ),
    bind(CHOOSER, &["Ctrl-c", "Q"], Action::Quit, "quit"),
    bind(PROMPT, &["Enter"], Action::FilterAccept, "keep the filter"),
    bind(
        PROMPT,
        &["Esc", "Ctrl-c"],
        Action::FilterCancel,
        "back to the filter before",
    ),
    bind(
        PROMPT,
        &["Tab"],
        Action::FilterComplete,
        "complete; again for the next that fits",
    ),
    bind(
        PROMPT,
        &["Backspace", "Ctrl-h"],
        Action::FilterEdit(Edit::Backspace),
        "delete before the cursor",
    ),
    bind(
        PROMPT,
        &["Delete", "Ctrl-d"],
        Action::FilterEdit(Edit::Delete),
        "delete at the cursor",
    ),
    bind(
        PROMPT,
        &["Ctrl-w"],
        Action::FilterEdit(Edit::DeleteWord),
        "delete the word before the cursor",
    ),
    bind(
        PROMPT,
        &["Ctrl-u"],
        Action::FilterEdit(Edit::DeleteStart),
        "delete all before the cursor",
    ),
    bind(
        PROMPT,
        &["Left", "Ctrl-b"],
        Action::FilterEdit(Edit::Left),
        "left",
    ),
    bind(
        PROMPT,
        &["Right", "Ctrl-f"],
        Action::FilterEdit(Edit::Right),
        "right",
    ),
    bind(
        PROMPT,
        &["Home", "Ctrl-a"],
        Action::FilterEdit(Edit::Start),
        "to the start",
    ),
    bind(
        PROMPT,
        &["End", "Ctrl-e"],
        Action::FilterEdit(Edit::End),
        "to the end",
    ),
    bind(COMMAND, &["Enter"], Action::CommandAccept, "go there"),
    bind(
        COMMAND,
        &["Tab", "Down", "Ctrl-n"],
        Action::CommandComplete(true),
        "the next name that begins so",
    ),
    bind(
        COMMAND,
        &["Shift-Tab", "Up", "Ctrl-p"],
        Action::CommandComplete(false),
        "the name before",
    ),
    bind(COMMAND, &["Esc", "Ctrl-c"], Action::CommandCancel, "stay here"),
    bind(
        COMMAND,
        &["Backspace", "Ctrl-h"],
        Action::CommandEdit(Edit::Backspace),
        "delete the last letter",
    ),
    bind(
        COMMAND,
        &["Ctrl-u", "Ctrl-w"],
        Action::CommandEdit(Edit::DeleteStart),
        "delete all",
    ),
];
