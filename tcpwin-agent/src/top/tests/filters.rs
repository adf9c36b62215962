//! The filter language.

use proptest::prelude::*;

use super::fixture::{connections, unscaled};
use crate::query::Filter;

/// Ids of the connections that pass.
fn passing(filter: &str) -> Vec<String> {
    let filter: Filter = filter.parse().unwrap();
    connections()
        .into_iter()
        .filter(|connection| filter.matches(connection))
        .map(|connection| connection.id)
        .collect()
}

fn error(filter: &str) -> String {
    filter.parse::<Filter>().unwrap_err().to_string()
}

#[test]
fn words_occur_anywhere() {
    assert_eq!(passing("NGINX"), ["7"]);
    assert_eq!(passing("203.0.113.2"), ["3", "6", "8"]);
    assert_eq!(passing("cubic middlebox"), Vec::<String>::new());
    assert_eq!(passing("\"window scaling\""), ["7"]);
    assert_eq!(passing("バック"), ["2"]);
    assert_eq!(passing(" ").len(), 9);
}

#[test]
fn fields_are_compared() {
    assert_eq!(passing("bound=window"), ["3", "7"]);
    assert_eq!(passing("limit = rwnd_scale and proc = nginx"), ["7"]);
    assert_eq!(passing("limit~rwnd"), ["7"]);
    assert_eq!(
        passing("bound!=none bound != app limit!=unknown dir=send"),
        ["3", "4", "7", "8"]
    );
    assert_eq!(passing("rtt>50ms"), ["7"]);
    assert_eq!(passing("rtt>50000us"), ["7"]);
    assert_eq!(passing("rate>=17.1mbit"), ["3", "5"]);
    assert_eq!(passing("rate>10Mbit/s"), ["3", "5"]);
    assert_eq!(passing("snd_wnd<64k"), ["7"]);
    assert_eq!(passing("retrans>=1%"), ["4"]);
    assert_eq!(passing("gain>5"), ["7"]);
    assert_eq!(passing("age>7m"), ["7", "8", "9"]);
    assert_eq!(passing("pid=1007"), ["7"]);
    // What is not known is neither equal nor different.
    assert_eq!(passing("proc!=nginx").len(), 7);
}

#[test]
fn peers_by_address_port_and_prefix() {
    assert_eq!(passing("peer=203.0.113.9"), ["7"]);
    assert_eq!(passing("peer=203.0.113.9:51812"), ["7"]);
    assert_eq!(passing("peer=:443"), ["2", "5"]);
    assert_eq!(passing("peer=203.0.113."), ["3", "6", "7", "8"]);
    assert_eq!(passing("peer=203.0.113"), Vec::<String>::new());
    assert_eq!(passing("peer=2001:db8:5:1::1234:5678"), ["4"]);
    assert_eq!(passing("peer=[2001:DB8:"), ["4"]);
    assert_eq!(passing("peer~db8"), ["4"]);
}

#[test]
fn errors_point_at_the_column() {
    assert!(error("nginx speed=3").starts_with("column 7: no field `speed`; there are bound "));
    assert_eq!(
        error("rtt>5x"),
        "column 5: no unit `x` here; there are ms us µs s"
    );
    assert_eq!(error("rtt > fast"), "column 7: `fast` is no number");
    assert!(error("bound=windo").starts_with("column 7: `bound` is one of window "));
    assert_eq!(error("rtt~5"), "column 5: `rtt` is a number: use = != < <= > >=");
    assert_eq!(error("proc<a"), "column 6: `proc` is a text: use = != ~ !~");
    assert_eq!(error("rtt>"), "column 5: a value comes after this");
    assert_eq!(error("=3"), "column 1: a field name comes before this");
    assert_eq!(error("a !b"), "column 3: `!` is followed by `=` or `~`");
    assert_eq!(error("proc=\"ab"), "column 6: this quote is not closed");
    assert_eq!(error("and nginx"), "column 1: `and` joins two conditions");
    assert_eq!(error("nginx and"), "column 7: `and` joins two conditions");
}

proptest! {
    #[test]
    fn no_text_breaks_the_parser(text in any::<String>()) {
        if let Ok(filter) = text.parse::<Filter>() {
            prop_assert!(filter.is_empty() || !filter.text().is_empty());
            std::hint::black_box(filter.matches(&unscaled()));
        }
    }

    #[test]
    fn nor_text_that_is_nearly_right(
        text in r#"((bound|rtt|peer|proc|rate|x|é) ?(=|!=|<|>=|~|!~|!|==) ?("|window|:|\[|50ms|1e9|9{40}|.)? ?(and )?){0,5}"#,
    ) {
        match text.parse::<Filter>() {
            Ok(filter) => {
                std::hint::black_box(filter.matches(&unscaled()));
                let again: Filter = filter.text().parse().unwrap();
                prop_assert_eq!(again, filter);
            }
            Err(error) => prop_assert!(error.column <= text.chars().count(), "{}", error),
        }
    }
}
