//! What holds of every filter and every connection.

use proptest::prelude::*;

use super::fixture::{any_connection, any_filter, bare, connection, filter};
use crate::query::{Filter, complete};

proptest! {
    #[test]
    fn printed_and_read_again_it_means_the_same(text in any_filter()) {
        let read = filter(&text);
        let printed = read.to_string();
        let again = filter(&printed);
        prop_assert_eq!(&again.root, &read.root, "{}", printed);
        prop_assert_eq!(again.to_string(), printed);
    }

    #[test]
    fn the_laws_of_logic(a in any_filter(), b in any_filter(), connection in any_connection()) {
        let holds = |text: String| filter(&text).matches(&connection);
        prop_assert_eq!(holds(format!("not not ({a})")), holds(a.clone()));
        prop_assert_eq!(holds(format!("({a}) and ({b})")), holds(format!("({b}) and ({a})")));
        prop_assert_eq!(holds(format!("({a}) or ({b})")), holds(format!("({b}) or ({a})")));
        prop_assert_eq!(holds(format!("({a}) ({b})")), holds(a.clone()) && holds(b.clone()));
        prop_assert_eq!(holds(format!("({a}) or ({b})")), holds(a.clone()) || holds(b.clone()));
        prop_assert_eq!(
            holds(format!("not (({a}) and ({b}))")),
            holds(format!("not ({a}) or not ({b})"))
        );
        prop_assert_eq!(
            holds(format!("not (({a}) or ({b}))")),
            holds(format!("not ({a}) and not ({b})"))
        );
        let both = holds(a.clone()) && holds(format!("not ({a})"));
        prop_assert!(!both);
    }

    #[test]
    fn no_text_breaks_it(text in any::<String>(), cursor in 0_usize..40) {
        unbroken(&text, cursor);
    }

    #[test]
    fn nor_text_that_is_nearly_right(
        text in r#"((bound|rtt|peer|proc|rate|x|é|not|has|\() ?(=|!=|<|>=|~|!~|!|==|in|not in|,) ?("|'|window|:|\[|\(|50ms|1\.\.|1e9|9{40}|203\.0|::/|.)? ?(and |or |\)|\\)?){0,5}"#,
        cursor in 0_usize..80,
    ) {
        unbroken(&text, cursor);
    }
}

fn unbroken(text: &str, cursor: usize) {
    let (so_far, fault) = Filter::so_far(text);
    for connection in [connection(), bare()] {
        std::hint::black_box(so_far.matches(&connection));
    }
    let length = text.chars().count();
    match fault {
        Some(fault) => assert!(fault.column <= length, "{fault}"),
        None => {
            assert_eq!(filter(so_far.text()), so_far);
            assert_eq!(filter(&so_far.to_string()).root, so_far.root);
        }
    }
    let completion = complete(text, cursor, |_| vec!["a \"b\"".to_owned()]);
    assert!(completion.from <= cursor.min(length));
}
