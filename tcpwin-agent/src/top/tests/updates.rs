//! What keys, mouse and snapshots do to the state.

use std::time::Duration;

use super::fixture::{connection, connections, draw, empty, press, snapshot, state};
use crate::classify::Limit;
use crate::snapshot::Connection;
use crate::top::action::{Action, Effect, Motion};
use crate::top::column::Column;
use crate::top::history::{CONNECTIONS, Point, TICKS};
use crate::top::prompt::Prompt;
use crate::top::state::{FeedState, State};
use crate::top::update::update;
use crate::top::view::View;

/// Ids in the order they are shown.
fn order(state: &State) -> Vec<&str> {
    (0..state.rows.len())
        .filter_map(|row| state.row(row))
        .map(|connection| &*connection.id)
        .collect()
}

fn selected(state: &State) -> &str {
    state.row(state.table.at).map_or("", |connection| &connection.id)
}

fn many(count: u64) -> Vec<Connection> {
    (1..=count)
        .map(|id| connection(id, Limit::App, "worker", "192.0.2.1:80", id as f64))
        .collect()
}

#[test]
fn the_sickest_come_first() {
    // Stalled; windows and loss by what they withhold; bandwidth; app; unknown; none.
    assert_eq!(
        order(&state(80, 24)),
        ["8", "7", "4", "3", "5", "2", "6", "9", "1"]
    );
}

#[test]
fn the_selection_follows_the_connection() {
    let mut state = state(80, 24);
    press(&mut state, "jj");
    assert_eq!(selected(&state), "4");
    let mut changed = connections();
    changed[3].limit = Limit::App;
    changed[3].bound = Limit::App.bound();
    changed.reverse();
    update(&mut state, Action::Snapshot(snapshot(3, changed)));
    assert_eq!(selected(&state), "4");
    press(&mut state, "sI");
    assert_eq!(selected(&state), "4");
}

#[test]
fn who_has_chosen_nothing_sees_the_top() {
    let mut state = state(80, 24);
    press(&mut state, "s>");
    assert_eq!((state.table.at, selected(&state)), (0, "5"));
    press(&mut state, "jjggI");
    assert_eq!(state.table.at, 0);
    press(&mut state, "G<Esc>");
    assert_eq!((state.table.at, state.table.offset), (0, 0));
}

#[test]
fn the_selection_of_a_closed_connection_stays_in_its_row() {
    let mut state = state(80, 24);
    press(&mut state, "jj");
    let left = connections()
        .into_iter()
        .filter(|connection| connection.id != "4")
        .collect();
    update(&mut state, Action::Snapshot(snapshot(3, left)));
    assert_eq!((state.table.at, selected(&state)), (2, "3"));
    update(&mut state, Action::Snapshot(snapshot(4, Vec::new())));
    assert_eq!((state.table.at, selected(&state)), (0, ""));
}

#[test]
fn a_socket_of_another_namespace_is_another_connection() {
    let mut twin = connection(1, Limit::App, "a", "192.0.2.1:80", 1.0);
    twin.netns += 1;
    let both = || vec![connection(1, Limit::App, "a", "192.0.2.1:80", 9.0), twin.clone()];
    let mut state = empty(80, 24);
    update(&mut state, Action::Snapshot(snapshot(1, both())));
    press(&mut state, "j");
    update(&mut state, Action::Snapshot(snapshot(2, both())));
    assert_eq!(state.table.at, 1);
}

#[test]
fn moving_goes_no_further_than_the_list() {
    let mut state = empty(80, 24);
    update(&mut state, Action::Snapshot(snapshot(1, many(500))));
    let page = state.page_rows();
    press(&mut state, "G");
    assert_eq!((state.table.at, state.table.offset), (499, 500 - page));
    press(&mut state, "j<PgDn>");
    assert_eq!(state.table.at, 499);
    press(&mut state, "gg");
    assert_eq!((state.table.at, state.table.offset), (0, 0));
    press(&mut state, "k<PgDn>j");
    assert_eq!(state.table.at, page + 1);
    // A broken sequence is not remembered.
    press(&mut state, "gjg");
    assert_eq!(state.table.at, page + 2);
    update(&mut state, Action::Move(Motion::WheelUp));
    assert_eq!(state.table.at, page - 1);
    update(&mut state, Action::Resize(80, 12));
    assert!(state.table.offset <= state.table.at && state.table.at < state.table.offset + state.page_rows());
}

#[test]
fn tab_completes_fields_and_values() {
    let mut state = state(80, 24);
    let text = |state: &State| state.prompt.as_ref().map(Prompt::text).unwrap_or_default();
    press(&mut state, "/boun<Tab>");
    assert_eq!(text(&state), "bound ");
    press(&mut state, "= w<Tab>");
    assert_eq!(text(&state), "bound = window ");
    assert_eq!(order(&state), ["7", "3"]);
    press(&mut state, "proc = ng<Tab>");
    assert_eq!(text(&state), "bound = window proc = nginx ");
    assert_eq!(order(&state), ["7"]);
    press(&mut state, "min<Tab><Tab>");
    assert!(text(&state).ends_with("min_rtt ="), "an operator comes next");
    press(&mut state, "<Ctrl-w><Ctrl-w>rt<Tab>");
    assert!(text(&state).ends_with("rtt"));
    press(&mut state, "<Tab>");
    assert!(text(&state).ends_with("rttvar"));
    press(&mut state, "<Tab>");
    assert!(text(&state).ends_with(" rtt"), "and round");
}

#[test]
fn a_filter_works_while_it_is_written() {
    let mut state = state(80, 24);
    press(&mut state, "/bound=window");
    assert_eq!(order(&state), ["7", "3"]);
    // Half a condition is wrong; what comes before it stays in force.
    press(&mut state, " rtt>");
    assert!(state.prompt.as_ref().is_some_and(|prompt| prompt.error.is_some()));
    assert_eq!(order(&state), ["7", "3"]);
    press(&mut state, "<Enter>");
    assert!(state.prompt.is_some(), "a wrong filter is not taken");
    press(&mut state, "50ms<Enter>");
    assert_eq!(order(&state), ["7"]);
    press(&mut state, "/<Ctrl-w><Ctrl-w>");
    assert_eq!(order(&state).len(), 9);
    update(&mut state, Action::FilterPaste("proc=\x1bcurl\n".into()));
    assert_eq!(order(&state), ["5"], "control characters are not taken in");
    press(&mut state, "<Esc>");
    assert_eq!(order(&state), ["7"], "Esc goes back to the filter before");
    press(&mut state, "<Esc>");
    assert_eq!(order(&state).len(), 9, "and Esc in the table clears it");
}

#[test]
fn only_the_sick() {
    let mut state = state(80, 24);
    press(&mut state, "x");
    assert_eq!(order(&state), ["8", "7", "4", "3"]);
}

#[test]
fn frozen_is_frozen_and_loses_nothing() {
    let mut state = state(80, 24);
    press(&mut state, " ");
    for tick in 3..=5 {
        update(&mut state, Action::Snapshot(snapshot(tick, many(tick))));
    }
    assert_eq!(state.total(), 9);
    assert_eq!(state.pulse.send_bps.len(), 5);
    press(&mut state, " ");
    assert_eq!(state.total(), 5);
}

#[test]
fn sorting_by_keys_and_mouse() {
    let mut state = state(200, 50);
    press(&mut state, ">>>");
    assert_eq!(state.sort.to_string(), "rate");
    assert_eq!(order(&state)[0], "5");
    press(&mut state, "I");
    assert_eq!(order(&state).last(), Some(&"5"));
    press(&mut state, "<lt>");
    assert_eq!(state.sort.to_string(), "dir");
    let peer = state
        .columns()
        .into_iter()
        .find(|place| place.column == Column::Peer)
        .map(|place| place.x);
    let head = state.overview().head.y;
    update(&mut state, Action::Click(peer.unwrap_or(0) + 1, head));
    assert_eq!(state.sort.to_string(), "peer");
    // Addresses as addresses: 192.0.2.80 after 192.0.2.5, IPv6 last.
    assert_eq!(order(&state), ["1", "2", "5", "9", "7", "3", "6", "8", "4"]);
    update(&mut state, Action::Click(peer.unwrap_or(0) + 1, head));
    assert_eq!(state.sort.to_string(), "-peer");
    let rows = state.overview().rows.y;
    update(&mut state, Action::Click(5, rows + 2));
    assert_eq!((state.table.at, state.view), (2, View::Overview));
    update(&mut state, Action::Click(5, rows + 2));
    assert_eq!(state.view, View::Detail);
}

#[test]
fn the_detail_outlives_its_connection() {
    let mut state = state(80, 24);
    press(&mut state, "j<Enter>");
    let left = connections()
        .into_iter()
        .filter(|connection| connection.id != "7")
        .collect();
    update(&mut state, Action::Snapshot(snapshot(3, left)));
    assert!(draw(&state).contains("closed: these are its last figures"));
    assert!(
        matches!(press(&mut state, "y"), Effect::Copy(text) if text == "sysctl -w net.ipv4.tcp_window_scaling=1")
    );
    press(&mut state, "?q<Esc>");
    assert_eq!(state.view, View::Overview);
    assert_eq!(press(&mut state, "q"), Effect::Quit);
}

#[test]
fn a_lost_feed_keeps_what_was_seen() {
    let mut state = state(80, 24);
    update(&mut state, Action::FeedLost("gone".into()));
    update(&mut state, Action::FeedLost("gone".into()));
    assert_eq!(
        state.feed,
        FeedState::Lost {
            cause: "gone".into(),
            tries: 2
        }
    );
    assert_eq!(state.total(), 9);
    update(&mut state, Action::Snapshot(snapshot(2, connections())));
    assert_eq!(state.feed, FeedState::Live);
}

#[test]
fn figures_of_two_ticks() {
    let mut state = state(80, 24);
    let close = |value: Option<f64>, wanted: f64| value.is_some_and(|value| (value - wanted).abs() < 1e-9);
    assert!(close(state.pulse.retransmits_per_s, 3.0));
    assert!(close(state.pulse.cpu_share, 0.0042));
    assert!(close(state.pulse.probe_share, 0.00062));
    assert!(close(state.pulse.probe_ns, 62.0));
    // The same tick again is no tick; an agent that began anew has no rates yet.
    update(&mut state, Action::Snapshot(snapshot(2, connections())));
    assert_eq!(state.pulse.send_bps.len(), 2);
    update(&mut state, Action::Snapshot(snapshot(1, connections())));
    assert_eq!(state.pulse.cpu_share, None);
}

#[test]
fn intervals_step_within_bounds() {
    let mut state = state(80, 24);
    assert_eq!(press(&mut state, "+"), Effect::Interval);
    assert_eq!(state.interval, Duration::from_secs(2));
    press(&mut state, "---------");
    assert_eq!(
        (state.interval, press(&mut state, "-")),
        (Duration::from_millis(100), Effect::None)
    );
}

#[test]
fn history_is_bounded() {
    let mut state = empty(80, 24);
    let page = state.page_rows() as u64;
    for tick in 1..=TICKS as u64 + 5 {
        update(&mut state, Action::Snapshot(snapshot(tick, many(1_500))));
    }
    let of = |state: &State, id: u64| {
        let connection = connection(id, Limit::App, "", "", 0.0);
        state.history.of(&connection).len()
    };
    // The fastest stand at the top.
    let last = 1_501 - CONNECTIONS as u64;
    assert_eq!((of(&state, 1_500), of(&state, last)), (TICKS, TICKS));
    assert_eq!((of(&state, last - 1), state.history.len()), (0, CONNECTIONS));
    // What is on the screen always is followed, and makes room for itself.
    press(&mut state, "G");
    for tick in 200..=202 {
        update(&mut state, Action::Snapshot(snapshot(tick, many(1_500))));
        assert_eq!(state.history.len(), CONNECTIONS);
    }
    assert_eq!((of(&state, 1), of(&state, page)), (3, 3));
    assert_eq!(of(&state, 1_500), TICKS, "those that were seen go last");
    update(&mut state, Action::Snapshot(snapshot(150, many(1_500))));
    assert_eq!(of(&state, 1_500), 1, "who goes back in time begins anew");
    update(&mut state, Action::Snapshot(snapshot(1_000, many(1))));
    assert_eq!(
        (of(&state, 1_500), state.history.len()),
        (0, 1),
        "what is gone is forgotten"
    );
}

/// However many connections there are and wherever one looks among them.
#[test]
fn history_of_twenty_thousand_stays_within_its_bound() {
    let mut state = empty(200, 100);
    for tick in 1..=3 {
        update(&mut state, Action::Snapshot(snapshot(tick, many(20_000))));
        press(&mut state, "G<PgUp><PgUp>");
        assert_eq!(state.history.len(), CONNECTIONS);
    }
    let bytes = CONNECTIONS * TICKS.next_power_of_two() * size_of::<Point>();
    assert!(bytes < 4_000_000, "{bytes}");
}

#[test]
fn keys_without_meaning_draw_nothing() {
    let mut state = state(80, 24);
    assert_eq!(press(&mut state, "Z"), Effect::None);
    assert_eq!(press(&mut state, "g"), Effect::None);
}

/// What ticks, keys and frames cost with many connections, in CPU time of this thread: run by hand with `--nocapture`, in
/// an optimised build, never a timed test.
#[test]
#[ignore = "a load to be measured, not judged"]
fn twenty_thousand_connections() {
    let limits = Limit::ALL;
    let many = |tick: u64| -> Vec<Connection> {
        (1..=20_000)
            .map(|id| {
                let limit = limits[(id % 14) as usize];
                connection(
                    id,
                    limit,
                    &format!("worker-{}", id % 40),
                    &format!("192.0.{}.{}:{id}", id % 100, id % 250),
                    ((id * 7 + tick) % 1_000) as f64,
                )
            })
            .collect()
    };
    let ticks: Vec<_> = (1..=2).map(|tick| snapshot(tick, many(tick))).collect();
    let mut state = empty(200, 50);
    let mut terminal = super::fixture::terminal(&state);
    let mut round = 0;
    let mut tick = |state: &mut State| {
        round += 1;
        let mut tick = (*ticks[(round % 2) as usize]).clone();
        (tick.tick, tick.at_ns) = (round + 1, (round + 1) * 1_000_000_000);
        let tick = std::sync::Arc::new(tick);
        cpu_ms(|| {
            update(state, Action::Snapshot(tick));
        })
    };
    for (keys, name) in [
        ("1", "connections"),
        ("2", "processes"),
        ("4", "peers"),
        ("4l", "peers, one unfolded"),
        ("6", "findings"),
        ("7", "host"),
        ("1<Enter>", "detail"),
    ] {
        press(&mut state, keys);
        const ROUNDS: u32 = 20;
        let (mut ticking, mut drawing, mut moving) = (0.0, 0.0, 0.0);
        for _ in 0..ROUNDS {
            ticking += tick(&mut state);
            let mut draw = |state: &State| {
                cpu_ms(|| {
                    terminal
                        .draw(|frame| crate::top::screen::render(frame, state))
                        .unwrap();
                })
            };
            drawing += draw(&state);
            moving += cpu_ms(|| {
                press(&mut state, "j");
            });
            moving += draw(&state);
        }
        let each = |total: f64| total / f64::from(ROUNDS);
        println!(
            "{name}: a tick {:.1} ms, a frame {:.1} ms, a key and its frame {:.1} ms",
            each(ticking),
            each(drawing),
            each(moving)
        );
        press(&mut state, "<Esc><Esc>");
    }
    press(&mut state, "1/");
    for keys in ["r", "t", "t", ">", "5", " ", "w", "o"] {
        let key = cpu_ms(|| {
            press(&mut state, keys);
        });
        println!("`{keys}` in the filter: {key:.1} ms");
    }
}

/// CPU time that `work` takes this thread.
fn cpu_ms(work: impl FnOnce()) -> f64 {
    let now = || {
        let now = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
        now.tv_sec as f64 * 1e3 + now.tv_nsec as f64 / 1e6
    };
    let before = now();
    work();
    now() - before
}
