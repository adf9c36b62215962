//! Every screen as it is drawn.

use insta::assert_snapshot;
use ratatui::style::{Color, Modifier};

use super::fixture::{connections, degraded, draw, empty, press, snapshot, state, terminal};
use crate::top::action::Action;
use crate::top::theme::{ColourMode, Theme};
use crate::top::update::update;

#[test]
fn overview_80x24() {
    assert_snapshot!(draw(&state(80, 24)));
}

#[test]
fn overview_200x50() {
    assert_snapshot!(draw(&state(200, 50)));
}

#[test]
fn overview_60x12() {
    assert_snapshot!(draw(&state(60, 12)));
}

#[test]
fn degraded_source_and_losses() {
    let mut state = empty(120, 24);
    update(&mut state, Action::Snapshot(degraded(1)));
    update(&mut state, Action::Snapshot(degraded(2)));
    assert_snapshot!(draw(&state));
}

#[test]
fn disconnected() {
    let mut state = state(80, 24);
    let cause = || "cannot reach the agent at 127.0.0.1:10430: connection refused".to_owned();
    update(&mut state, Action::FeedLost(cause()));
    update(&mut state, Action::FeedLost(cause()));
    assert_snapshot!(draw(&state));
    let terminal = terminal(&state);
    let cell = &terminal.backend().buffer()[(2, 8)];
    assert!(cell.modifier.contains(Modifier::DIM), "what is old is greyed");
}

#[test]
fn detail_80x24() {
    let mut state = state(80, 24);
    press(&mut state, "/nginx<Enter><Enter>");
    assert_snapshot!(draw(&state));
    press(&mut state, "G");
    assert_snapshot!("detail_80x24_end", draw(&state));
}

#[test]
fn detail_200x50() {
    let mut state = state(200, 50);
    press(&mut state, "/nginx<Enter><Enter>");
    assert_snapshot!(draw(&state));
}

#[test]
fn detail_without_signals() {
    let mut state = state(80, 40);
    press(&mut state, "/bound=unknown<Enter><Enter>");
    update(
        &mut state,
        Action::Snapshot(snapshot(3, connections().split_off(9))),
    );
    assert_snapshot!(draw(&state));
}

#[test]
fn help() {
    let mut state = state(80, 24);
    press(&mut state, "?");
    assert_snapshot!(draw(&state));
    press(&mut state, "G");
    assert_snapshot!("help_end", draw(&state));
}

#[test]
fn too_small() {
    assert_snapshot!(draw(&state(40, 10)));
    for (width, height) in [(0, 0), (1, 1), (200, 3), (59, 50)] {
        terminal(&state(width, height));
    }
}

#[test]
fn nothing_there() {
    let mut state = empty(80, 14);
    assert_snapshot!("loading", draw(&state));
    update(&mut state, Action::Snapshot(snapshot(1, Vec::new())));
    assert_snapshot!("empty", draw(&state));
    update(&mut state, Action::Snapshot(snapshot(2, connections())));
    press(&mut state, "/nowhere<Enter>");
    assert_snapshot!("none_passes", draw(&state));
}

#[test]
fn filter_error() {
    let mut state = state(80, 24);
    press(&mut state, "/bound=window rtt>5x");
    assert_snapshot!(draw(&state));
    press(&mut state, "<Ctrl-w>speed=3");
    assert_snapshot!("filter_error_long", draw(&state));
}

#[test]
fn filter_completion() {
    let mut state = state(80, 24);
    press(&mut state, "/rt");
    assert_snapshot!("filter_offer", draw(&state));
    press(&mut state, "<Tab><Tab>");
    assert_snapshot!("filter_offer_chosen", draw(&state));
    press(&mut state, " <lt> 5");
    assert_snapshot!("filter_offer_hint", draw(&state));
}

#[test]
fn frozen_and_narrowed() {
    let mut state = state(100, 16);
    press(&mut state, "x/203.0.113.<Enter> ");
    assert_snapshot!(draw(&state));
}

#[test]
fn no_colour() {
    let mut state = state(80, 24);
    state.theme = Theme::new(ColourMode::Auto, false, |name| {
        (name == "NO_COLOR").then(|| "1".to_owned())
    });
    assert_snapshot!(draw(&state));
    press(&mut state, "jj<Enter>");
    assert_snapshot!("no_colour_detail", draw(&state));
    for view in [state.clone(), {
        press(&mut state, "<Esc>");
        state
    }] {
        let terminal = terminal(&view);
        let buffer = terminal.backend().buffer();
        assert!(
            buffer
                .content()
                .iter()
                .all(|cell| cell.fg == Color::Reset && cell.bg == Color::Reset)
        );
    }
}

#[test]
fn ascii() {
    let mut state = state(120, 30);
    state.theme = Theme::new(ColourMode::Sixteen, true, |_| None);
    let overview = draw(&state);
    assert_snapshot!(overview);
    press(&mut state, "/nginx<Enter><Enter>");
    let detail = draw(&state);
    assert_snapshot!("ascii_detail", detail);
    assert!(overview.is_ascii() && detail.is_ascii());
}

#[test]
fn no_screen_lets_a_name_steer_the_terminal() {
    let mut state = state(200, 50);
    for keys in ["", "/evil<Enter><Enter>"] {
        press(&mut state, keys);
        let text = draw(&state);
        assert!(text.chars().all(|c| c == '\n' || !c.is_control()), "{text}");
        assert!(!text.contains('\u{202e}'));
    }
}
