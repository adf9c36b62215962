//! The views beside the table and the detail: how they are drawn, and the ways between them.

use insta::assert_snapshot;
use proptest::prelude::*;
use ratatui::style::Color;

use super::fixture::{connections, draw, empty, findings, host, press, snapshot, state, terminal};
use crate::classify::Limit;
use crate::top::action::{Action, Effect};
use crate::top::state::{Focus, State};
use crate::top::theme::{ColourMode, Theme};
use crate::top::update::update;
use crate::top::view::{By, View};

/// What leads to each view, and its name.
const WAYS: [(&str, &str); 13] = [
    ("1", "overview"),
    ("2", "processes"),
    ("3", "containers"),
    ("4", "peers"),
    ("5", "listeners"),
    ("6", "findings"),
    ("7", "host"),
    ("6<Enter>", "finding"),
    ("2<Enter>", "drilled"),
    ("1<Enter>", "detail"),
    ("?", "help"),
    (":p", "command"),
    ("C", "chooser"),
];

/// Ids of the connections in the table.
fn ids(state: &State) -> Vec<&str> {
    (0..state.rows.len())
        .filter_map(|row| state.row(row))
        .map(|connection| &*connection.id)
        .collect()
}

/// Names in the tree, set in by their depth.
fn tree(state: &State) -> Vec<String> {
    state
        .branches
        .iter()
        .map(|row| format!("{:1$}{2}", "", row.depth, row.label))
        .collect()
}

#[test]
fn why_stands_under_the_table() {
    let mut state = state(80, 24);
    press(&mut state, "j");
    assert_snapshot!(draw(&state));
}

#[test]
fn processes() {
    let mut state = state(80, 24);
    press(&mut state, "2<Right>j");
    assert_snapshot!(draw(&state));
}

#[test]
fn processes_200x50() {
    let mut state = state(200, 50);
    press(&mut state, "2<Right>j");
    assert_snapshot!(draw(&state));
}

#[test]
fn peers() {
    let mut state = state(100, 24);
    press(&mut state, "4<Right><Right><Right>");
    assert_snapshot!(draw(&state));
}

#[test]
fn containers() {
    let mut state = state(80, 24);
    press(&mut state, "3j");
    assert_snapshot!(draw(&state));
}

#[test]
fn listeners() {
    let mut state = state(80, 24);
    press(&mut state, "5");
    assert_snapshot!(draw(&state));
    update(&mut state, Action::Resize(200, 50));
    assert_snapshot!("listeners_200x50", draw(&state));
}

#[test]
fn findings_list() {
    let mut state = state(80, 24);
    press(&mut state, "6");
    assert_snapshot!(draw(&state));
    update(&mut state, Action::Resize(200, 50));
    assert_snapshot!("findings_list_200x50", draw(&state));
}

#[test]
fn the_host() {
    let mut state = state(80, 24);
    press(&mut state, "7");
    assert_snapshot!(draw(&state));
    update(&mut state, Action::Resize(200, 50));
    assert_snapshot!("the_host_200x50", draw(&state));
}

#[test]
fn findings_have_the_focus() {
    let mut state = state(120, 24);
    press(&mut state, "<Tab>j");
    assert_snapshot!(draw(&state));
}

#[test]
fn a_finding_is_opened() {
    let mut state = state(80, 24);
    press(&mut state, "<Tab><Enter>");
    assert_eq!(ids(&state), ["7"]);
    assert_snapshot!(draw(&state));
    update(&mut state, Action::Resize(200, 50));
    assert_snapshot!("a_finding_is_opened_200x50", draw(&state));
}

#[test]
fn gone_into_a_process() {
    let mut state = state(80, 24);
    press(&mut state, "2j<Enter>");
    assert_snapshot!(draw(&state));
}

#[test]
fn naming_a_view() {
    let mut state = state(80, 24);
    press(&mut state, ":p<Tab><Tab>");
    assert_snapshot!(draw(&state));
}

#[test]
fn views_without_colour() {
    for (keys, name) in WAYS {
        let mut state = state(100, 30);
        state.theme = Theme::new(ColourMode::Never, false, |_| None);
        press(&mut state, keys);
        let terminal = terminal(&state);
        let buffer = terminal.backend().buffer();
        assert!(
            buffer
                .content()
                .iter()
                .all(|cell| cell.fg == Color::Reset && cell.bg == Color::Reset),
            "{name}"
        );
    }
}

#[test]
fn views_in_ascii() {
    for (keys, name) in WAYS {
        let mut state = state(120, 40);
        state.theme = Theme::new(ColourMode::Sixteen, true, |_| None);
        press(&mut state, keys);
        let text = draw(&state);
        assert!(text.is_ascii(), "{name}: {text}");
        if matches!(name, "peers" | "listeners") {
            assert_snapshot!(format!("ascii_{name}"), text);
        }
    }
}

#[test]
fn no_view_lets_a_name_steer_the_terminal() {
    for (keys, name) in WAYS {
        let mut state = state(200, 50);
        press(&mut state, keys);
        let text = draw(&state);
        assert!(
            text.chars().all(|c| c == '\n' || !c.is_control()),
            "{name}: {text}"
        );
    }
}

#[test]
fn groups_unfold_and_fold() {
    let mut state = state(120, 40);
    press(&mut state, "4");
    let folded = tree(&state);
    assert_eq!(folded[0], "203.0.113.0/24", "the sickest prefix is first");
    press(&mut state, "<Right>");
    // Every address of the prefix, the sickest first.
    assert_eq!(tree(&state)[1], " 203.0.113.22");
    assert_eq!(tree(&state)[2], " 203.0.113.9");
    press(&mut state, "<Right><Right>");
    assert_eq!(tree(&state)[2], "  203.0.113.22:9000  envoy");
    press(&mut state, "<Right>h");
    assert_eq!(state.trees[By::Peer as usize].cursor.at, 1, "to the group around");
    press(&mut state, "hhh");
    assert_eq!(tree(&state), folded);
}

#[test]
fn a_group_within_a_group_that_is_the_same_is_not_shown() {
    let mut state = state(120, 40);
    press(&mut state, "2");
    press(&mut state, "<Right>");
    assert_eq!(tree(&state)[..2], ["envoy", " 203.0.113.22:9000"]);
}

#[test]
fn into_a_group_and_back() {
    let mut state = state(120, 40);
    press(&mut state, "2j<Enter>");
    assert_eq!((state.view, ids(&state)), (View::Overview, vec!["7"]));
    press(&mut state, "<Enter>");
    assert_eq!(state.view, View::Detail);
    press(&mut state, "<Esc>");
    assert_eq!((state.view, ids(&state)), (View::Overview, vec!["7"]));
    press(&mut state, "<Esc>");
    assert_eq!(state.view, View::Groups(By::Process));
    assert_eq!(state.trees[By::Process as usize].cursor.at, 1);
    assert_eq!(press(&mut state, "q"), Effect::Quit);
}

#[test]
fn a_filter_written_in_a_group_is_let_go_there() {
    let mut state = state(120, 40);
    press(&mut state, "/dir=send<Enter>4<Enter>/ rtt>100ms<Enter>");
    assert_eq!(ids(&state), ["7"]);
    press(&mut state, "<Esc>");
    assert_eq!(state.filter.text(), "dir=send");
    assert_eq!(ids(&state).len(), 4);
    press(&mut state, "<Esc>");
    assert_eq!(state.view, View::Groups(By::Peer));
    press(&mut state, "<Esc>");
    assert!(state.filter.is_empty());
}

#[test]
fn a_listener_has_its_connections() {
    let mut state = state(120, 40);
    press(&mut state, "5");
    assert_eq!(state.listener(0).map(|it| &*it.local), Some("198.51.100.7:443"));
    press(&mut state, "<Enter>");
    assert_eq!(ids(&state), ["7"]);
    press(&mut state, "q");
    assert_eq!(state.view, View::Listeners);
}

#[test]
fn a_finding_is_followed_and_outlives_its_end() {
    let mut state = state(120, 40);
    press(&mut state, "<Tab><Enter>");
    let copied = press(&mut state, "y");
    assert_eq!(
        copied,
        Effect::Copy("sysctl -w net.ipv4.tcp_window_scaling=1".into())
    );
    let mut changed = (*host(3)).clone();
    changed.findings[0].gain = Some(12.0);
    update(&mut state, Action::Snapshot(changed.into()));
    assert!(draw(&state).contains("once lifted (×12)"));
    press(&mut state, "<Enter>");
    assert_eq!(state.view, View::Detail);
    update(&mut state, Action::Snapshot(snapshot(4, connections())));
    press(&mut state, "<Esc>");
    assert!(draw(&state).contains("no longer so"));
    press(&mut state, "<Esc>");
    assert_eq!(state.view, View::Overview);
    assert_eq!(state.focus, Focus::Main);
}

#[test]
fn views_are_named() {
    let mut state = state(80, 24);
    press(&mut state, ":li<Enter>");
    assert_eq!(state.view, View::Listeners);
    press(&mut state, ":nowhere<Enter>");
    assert!(state.command.is_some(), "what is no view is not taken");
    press(&mut state, "<Esc>:pod<Enter>");
    assert_eq!(state.view, View::Groups(By::Container));
    assert_eq!(press(&mut state, ":q<Enter>"), Effect::Quit);
}

#[test]
fn tabs_and_rows_are_clicked() {
    let mut state = state(120, 40);
    let tabs = state.overview().tabs.y;
    update(&mut state, Action::Click(20, tabs));
    assert_eq!(state.view, View::Groups(By::Process));
    let head = state.overview().head.y;
    let conns = state
        .spots()
        .iter()
        .find(|spot| spot.field == 2)
        .map(|spot| spot.x);
    update(&mut state, Action::Click(conns.unwrap_or(0), head));
    assert_eq!(state.trees[0].sort.field, Some(2));
    let rows = state.overview().rows.y;
    update(&mut state, Action::Click(5, rows + 1));
    assert_eq!(state.view, View::Groups(By::Process));
    update(&mut state, Action::Click(5, rows + 1));
    assert_eq!(state.view, View::Overview);
    update(&mut state, Action::Click(3, tabs));
    assert_eq!(state.view, View::Groups(By::Process), "the trail leads back");
    press(&mut state, "1");
    let pane = state.overview().findings.y;
    update(&mut state, Action::Click(5, pane + 2));
    assert_eq!((state.focus, state.findings.cursor.at), (Focus::Aside, 1));
}

#[test]
fn lists_are_sorted_by_keys() {
    let mut state = state(120, 40);
    press(&mut state, "2<lt>");
    assert_eq!(state.trees[0].sort.field, Some(0));
    let names = tree(&state);
    press(&mut state, "I");
    assert_eq!(tree(&state), names.into_iter().rev().collect::<Vec<_>>());
    press(&mut state, ">s");
    assert_eq!(state.trees[0].sort.field, Some(2));
    press(&mut state, "6I");
    assert_eq!(state.finding(0).map(|finding| finding.limit), Some(Limit::Turns));
}

#[test]
fn the_way_to_the_help_leads_back() {
    for (keys, name) in WAYS
        .iter()
        .filter(|(_, name)| !matches!(*name, "command" | "help" | "chooser"))
    {
        let mut state = state(120, 40);
        press(&mut state, keys);
        let before = draw(&state);
        press(&mut state, "?<Esc>");
        assert_eq!(draw(&state), before, "{name}");
    }
}

#[test]
fn a_table_that_is_emptied_says_so() {
    let mut state = state(80, 24);
    press(&mut state, "2j<Enter>");
    let left = connections().split_off(7);
    update(&mut state, Action::Snapshot(snapshot(3, left)));
    assert!(draw(&state).contains("None of its connections is left."));
}

#[test]
fn only_what_is_shown_is_worked_out() {
    let mut state = state(80, 24);
    press(&mut state, "2");
    assert!(state.rows.is_empty() && state.listed.is_empty() && !state.branches.is_empty());
    press(&mut state, "7");
    assert!(state.rows.is_empty() && state.branches.is_empty());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    /// Any size in any view, and any size after it.
    #[test]
    fn no_size_breaks_a_view(
        way in 0..WAYS.len(),
        sizes in proptest::collection::vec((0_u16..300, 0_u16..100), 1..4),
        keys in "[jkGxsI<>,. hl/?1-9:ygoCPcpn]{0,6}",
        mode in 0_usize..3,
        ascii: bool,
    ) {
        let (width, height) = sizes[0];
        let mut state = state(width, height);
        let mode = [ColourMode::Never, ColourMode::Sixteen, ColourMode::Full][mode];
        state.theme = Theme::new(mode, ascii, |_| None);
        press(&mut state, WAYS[way].0);
        for (width, height) in sizes {
            update(&mut state, Action::Resize(width, height));
            for key in keys.chars() {
                let key = if key == '<' { "<lt>".to_owned() } else { key.to_string() };
                press(&mut state, &key);
                terminal(&state);
            }
            update(&mut state, Action::Snapshot(host(5)));
            terminal(&state);
        }
    }
}

#[test]
fn every_small_size_in_every_view() {
    for (keys, _) in WAYS {
        let mut state = state(80, 24);
        press(&mut state, keys);
        for width in [0, 1, 2, 39, 40, 59, 60, 61, 119, 120] {
            for height in [0, 1, 2, 5, 6, 11, 12, 13, 19, 20, 33, 34] {
                update(&mut state, Action::Resize(width, height));
                terminal(&state);
            }
        }
    }
}

#[test]
fn a_narrow_view_says_what_it_needs() {
    let mut state = empty(58, 10);
    update(&mut state, Action::Snapshot(host(1)));
    press(&mut state, "2");
    assert!(draw(&state).contains("`processes` needs 60×12"));
    press(&mut state, "7");
    assert!(draw(&state).contains("what held all connections"));
}

#[test]
fn a_thousand_findings_scroll() {
    let mut many = (*host(3)).clone();
    many.findings = (0..1_000)
        .map(|at| {
            let mut finding = findings()[0].clone();
            finding.process = Some(format!("worker-{at}"));
            finding
        })
        .collect();
    let mut state = state(80, 24);
    update(&mut state, Action::Snapshot(many.into()));
    press(&mut state, "<Tab>G");
    assert_eq!(state.findings.cursor.at, 999);
    assert!(draw(&state).contains("worker-999"));
    // The table under the focus keeps its own place.
    press(&mut state, "<Tab>j");
    assert_eq!(state.table.at, 1);
}
