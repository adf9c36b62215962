//! Columns, presets and palettes as the reader chooses them.

use insta::assert_snapshot;
use proptest::prelude::*;
use ratatui::style::Color;

use super::fixture::{connections, draw, empty, press, snapshot, state, terminal};
use crate::top::action::{Action, Effect};
use crate::top::column::Column;
use crate::top::order;
use crate::top::preset::Preset;
use crate::top::state::State;
use crate::top::theme::{ColourMode, Theme};
use crate::top::update::update;

fn shown(state: &State) -> Vec<&'static str> {
    let columns = state.columns();
    columns.iter().map(|place| place.column.spec().name).collect()
}

#[test]
fn chooser_80x24() {
    let mut state = state(80, 24);
    press(&mut state, "Cjj");
    assert_snapshot!(draw(&state));
    press(&mut state, "G ");
    assert_snapshot!("chooser_80x24_end", draw(&state));
}

#[test]
fn chooser_ascii_120x30() {
    let mut state = state(120, 30);
    state.theme = Theme::new(ColourMode::Never, true, |_| None);
    press(&mut state, "C-- ");
    let text = draw(&state);
    assert_snapshot!(text);
    assert!(text.is_ascii());
}

#[test]
fn chosen_columns() {
    let mut state = empty(120, 14);
    state.chosen = "trend,rate,peer=18,limit,cgroup,pid,state,cc,rcv_wnd,confidence"
        .parse()
        .unwrap();
    for tick in 1..=12 {
        let mut connections = connections();
        for (at, connection) in connections.iter_mut().enumerate() {
            connection.rate_bps *= 1.0 + (tick * (at as u64 + 1) % 5) as f64 / 4.0;
        }
        update(&mut state, Action::Snapshot(snapshot(tick, connections)));
    }
    assert_snapshot!(draw(&state));
}

#[test]
fn what_is_chosen_is_shown_at_once_and_esc_takes_it_back() {
    let mut state = state(80, 24);
    let before = shown(&state);
    // With the gain, the limit behind it, and wider; the direction stays out.
    press(&mut state, "Cj kJ+++");
    assert_eq!(shown(&state)[..3], ["gain", "limit", "rate"]);
    assert_eq!(state.chosen.to_string().split(',').nth(1), Some("limit=16"));
    press(&mut state, "jj ");
    assert!(!shown(&state).contains(&"rate"));
    press(&mut state, "<Esc>");
    assert_eq!(shown(&state), before);
    press(&mut state, "CJJJ<Enter>");
    assert_eq!(shown(&state)[..2], ["rate", "limit"]);
    press(&mut state, "Ca<Enter>");
    assert_eq!(shown(&state), before);
}

#[test]
fn the_last_column_stays() {
    let mut state = state(80, 24);
    state.chosen = "peer".parse().unwrap();
    press(&mut state, "C ");
    assert_eq!(shown(&state), ["peer"]);
    assert!(draw(&state).contains("the table needs at least one column"));
}

#[test]
fn columns_go_to_the_settings_file_when_asked() {
    let mut state = state(80, 24);
    let Effect::WriteColumns(columns) = press(&mut state, "CJJJw") else {
        panic!("nothing is written");
    };
    assert!(columns.to_string().starts_with("rate,limit,"));
    update(&mut state, Action::Said("columns written to top.toml".into()));
    assert!(draw(&state).contains("columns written to top.toml"));
}

#[test]
fn presets_come_round_to_the_start() {
    let mut state = state(80, 24);
    press(&mut state, "P");
    assert!(draw(&state).contains("there are no presets"));
    let preset = |name: &str, filter: Option<&str>, sort: Option<Column>| Preset {
        name: name.into(),
        columns: None,
        sort: sort.map(order::natural),
        filter: filter.map(|filter| filter.parse().unwrap()),
        sick: None,
    };
    state.presets.all = vec![
        preset("slow", None, Some(Column::Rtt)),
        preset("web", Some("proc=nginx"), None),
    ];
    press(&mut state, "P");
    assert_eq!(
        (order::column(&state.sort), state.rows.len()),
        (Some(Column::Rtt), 9)
    );
    press(&mut state, "P");
    assert_eq!(
        (order::column(&state.sort), state.rows.len()),
        (Some(Column::Limit), 1)
    );
    assert!(draw(&state).contains("preset: web"));
    press(&mut state, "P");
    assert_eq!(
        (order::column(&state.sort), state.rows.len()),
        (Some(Column::Limit), 9)
    );
    press(&mut state, ":preset web<Enter>");
    assert_eq!(state.rows.len(), 1);
    press(&mut state, ":preset wbe<Enter>");
    assert!(draw(&state).contains("no preset `wbe`; there are slow, web"));
}

#[test]
fn a_palette_changes_every_colour() {
    let colours = |palette: &str| -> Vec<Color> {
        let mut state = state(120, 30);
        state.theme = state.theme.with_palette(palette.parse().unwrap());
        let terminal = terminal(&state);
        let cells = terminal.backend().buffer().content();
        cells.iter().flat_map(|cell| [cell.fg, cell.bg]).collect()
    };
    let orange = Color::Indexed(208);
    assert!(colours("okabe-ito").contains(&orange));
    assert!(!colours("high-contrast").contains(&orange));
    let own = colours("terminal");
    assert!(
        own.iter()
            .all(|colour| !matches!(colour, Color::Indexed(_) | Color::Rgb(..)))
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn no_size_and_no_key_break_the_chooser(
        width in 1_u16..300, height in 1_u16..100, keys in prop::collection::vec(0_usize..12, 0..30), ascii in any::<bool>(),
    ) {
        let mut state = state(width, height);
        if ascii {
            state.theme = Theme::new(ColourMode::Never, true, |_| None);
        }
        press(&mut state, "C");
        for key in keys {
            press(&mut state, ["j", "k", "G", "gg", " ", "J", "K", "+", "-", "a", "C", "<Enter>"][key]);
            draw(&state);
            prop_assert!(!state.columns().is_empty() || width < 60);
        }
    }
}
