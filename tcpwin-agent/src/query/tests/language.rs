//! What is written and what it means.

use super::fixture::{bare, connection, filter, passes};
use crate::query::Filter;

fn error(text: &str) -> String {
    text.parse::<Filter>().unwrap_err().to_string()
}

#[test]
fn the_sentence_of_the_issue() {
    assert!(passes(
        "rtt > 50ms and bound = window and proc = nginx and peer in 203.0.113.0/24"
    ));
    assert!(!passes(
        "rtt > 50ms and bound = window and proc = nginx and peer in 203.0.114.0/24"
    ));
}

#[test]
fn and_binds_closer_than_or_and_may_be_left_out() {
    assert!(passes("nginx or curl rtt<1"));
    assert!(!passes("(nginx or curl) rtt<1"));
    assert!(passes("not curl nginx"));
    assert!(!passes("not (nginx or curl)"));
    assert!(passes("NGINX AND NOT curl || curl"));
    assert!(passes("!(curl && nginx)"));
    assert!(passes("not not nginx"));
}

#[test]
fn one_of_several() {
    assert!(passes("limit in (sndbuf, rwnd_scale)"));
    assert!(passes("limit not in (sndbuf, rwnd)"));
    assert!(passes("limit in rwnd_scale"));
    assert!(passes("rtt in 100..200ms"));
    assert!(passes("rtt in (1..2, 181ms)"));
    assert!(!passes("rtt not in 100ms..0.2s"));
    assert!(passes("pid in 800..900 and peer_port in (22, 51000..52000)"));
    assert!(passes("proc in (curl, \"nginx\")"));
}

#[test]
fn ends_by_address_port_prefix_and_start() {
    for text in [
        "peer=203.0.113.9",
        "peer=203.0.113.9:51812",
        "peer = :51812",
        "peer=203.0.113.",
        "peer=203.0.113",
        "peer = 203.0.113.0/24",
        "peer in (10.0.0.0/8, 203.0.112.0/23)",
        "peer ~ 113.9",
        "peer != 203.0.113.8",
        "peer not in 10.0.0.0/8",
        "peer=::ffff:203.0.113.9",
        "dst = 203",
    ] {
        assert!(passes(text), "{text}");
    }
    for text in ["peer=203.0.11", "peer=20", "peer=:5181", "peer = ::/0"] {
        assert!(!passes(text), "{text}");
    }
    let six = bare();
    for text in [
        "peer=2001:db8:5::1",
        "peer=[2001:DB8:",
        "peer=[2001:db8:5::1]",
        "peer=[2001:db8:5::1]:22",
        "peer in 2001:db8::/32",
        "peer = 2001:db8",
    ] {
        assert!(filter(text).matches(&six), "{text}");
    }
}

#[test]
fn units() {
    for text in [
        "rtt = 181 and rtt = 181ms and rtt = 181000us and rtt = 0.181s",
        "rate > 2.8Mbit/s and rate < 2.9M and rate < 1Gbps",
        "snd_wnd < 64k and snd_wnd >= 65535 and sndbuf = 4MiB",
        "age > 1m and age < 100 and age = 90s",
        "retrans = 1% and retrans <= 1",
        "gain > 11 and gain < 13",
    ] {
        assert!(passes(text), "{text}");
    }
}

#[test]
fn what_is_not_known_is_neither_true_nor_false() {
    for text in ["rtt > 5", "rtt <= 5", "not rtt > 5", "not (rtt > 5 and nowhere)"] {
        let wanted = text.contains("nowhere");
        assert_eq!(filter(text).matches(&bare()), wanted, "{text}");
    }
    assert!(filter("not has rtt and not has proc and has peer").matches(&bare()));
    assert!(filter("rtt > 5 or peer = :22").matches(&bare()));
    assert!(!filter("proc != nginx").matches(&bare()));
}

#[test]
fn names_as_people_know_them() {
    for text in [
        "srtt>1",
        "process=nginx",
        "RTT > 1",
        "direction=send",
        "in_flight>1",
        "rwnd=65535",
        "sport=443",
    ] {
        assert!(passes(text), "{text}");
    }
    assert!(error("srtt_us>1").contains("did you mean rtt?"));
    assert!(error("tcp.snd_wnd_bytes>1").contains("did you mean snd_wnd?"));
    assert!(error("boudn=window").contains("did you mean bound?"));
    assert!(error("limt=window").contains("did you mean limit?"));
    assert!(error("retr>1").contains("did you mean retrans or retransmits?"));
}

#[test]
fn errors_point_at_the_column_and_say_what_is_expected() {
    for (text, says) in [
        (
            "nginx speed=3",
            "column 7: no field `speed`; there are bound limit ",
        ),
        ("rtt>5x", "column 5: no unit `x` here; there are ms us µs s"),
        (
            "rtt > fast",
            "column 7: `fast` is no number: give a time such as 50ms",
        ),
        ("bound=windo", "column 7: `bound` is one of window "),
        (
            "rtt~5",
            "column 4: `rtt` is a number: use = != < <= > >= in not in",
        ),
        ("proc<a", "column 5: `proc` is a text: use = != ~ !~ in not in"),
        ("rtt>", "column 5: a value comes after this: a time such as 50ms"),
        ("rtt in", "column 7: a value comes after this"),
        ("rtt in (5", "column 8: this `(` is not closed"),
        ("rtt in (5 6)", "column 11: a `,` or the `)` after the values"),
        ("rtt in 9..5", "column 8: nothing is in this range"),
        ("rtt = 1..5", "column 7: a range goes with `in`: `rtt in 1..5`"),
        ("=3", "column 1: a field name comes before this"),
        ("\"rtt\"=3", "column 1: a field name is not quoted"),
        ("a !", "column 3: `not` comes before a condition"),
        ("proc=\"ab", "column 6: this quote is not closed"),
        ("and nginx", "column 1: `and` joins two conditions"),
        ("nginx and", "column 7: `and` joins two conditions"),
        ("or nginx", "column 1: `or` joins two conditions"),
        ("nginx or", "column 7: `or` joins two conditions"),
        ("(nginx", "column 1: this `(` is not closed"),
        ("nginx)", "column 6: no `(` stands before this"),
        ("()", "column 1: nothing stands in these parentheses"),
        ("a, b", "column 2: commas stand between values"),
        ("peer = nginx", "column 8: `peer` is compared with an address, "),
        ("peer in 203.0.113.0/33", "column 9: `peer` is compared with"),
        ("has", "column 1: `has` comes before a field name"),
        (
            "rate > 999999999999999999999999999999999999999999999999999999999999",
            "",
        ),
    ] {
        match text.parse::<Filter>() {
            Err(error) => assert!(error.to_string().starts_with(says), "{text}: {error}"),
            Ok(_) => assert_eq!(says, "", "{text}"),
        }
    }
}

#[test]
fn the_caret_stands_under_the_fault() {
    let text = "é rtt>5x";
    let error = text.parse::<Filter>().unwrap_err();
    assert_eq!(
        error.pointed(text),
        "é rtt>5x\n      ^ no unit `x` here; there are ms us µs s"
    );
}

#[test]
fn a_filter_that_costs_too_much_is_refused() {
    assert!(error(&"(".repeat(4_000)).contains("inside one another"));
    assert!(error(&"not ".repeat(1_000)).contains("inside one another"));
    assert!(error(&"a ".repeat(2_000)).contains("more than 64 conditions"));
    assert!(error(&"a".repeat(4_097)).contains("at most 4096 characters"));
    assert!(error(&format!("pid in (1{})", ",1".repeat(300))).contains("more than 256 values"));
    assert!(error(&format!("rate > {}", "9".repeat(400))).contains("too large"));
}

#[test]
fn what_is_still_being_written_means_what_is_whole() {
    for (text, means) in [
        ("nginx rtt>", "nginx"),
        ("nginx or rtt>", "nginx"),
        ("(nginx or cur", "nginx or cur"),
        ("nginx and not", "nginx"),
        ("nginx (bound=win", "nginx"),
    ] {
        let (so_far, error) = Filter::so_far(text);
        assert_eq!(so_far.to_string(), means, "{text}");
        assert!(error.is_some(), "{text}");
    }
}

#[test]
fn it_is_written_in_one_way() {
    for (text, written) in [
        ("a b c", "a and b and c"),
        ("(a and b) and (c)", "a and b and c"),
        ("a or b c", "a or b and c"),
        ("(a or b) c", "(a or b) and c"),
        ("not(a b)", "not (a and b)"),
        ("rtt>50", "rtt > 50000us"),
        ("rate in 1..5M", "rate in 1000000bit..5000000bit"),
        ("\"and\" 'a b'", "\"and\" and \"a b\""),
        ("peer=203.0.113.77/24", "peer = 203.0.113.0/24"),
        ("LIMIT in(RWND,loss)", "limit in (rwnd, loss)"),
        ("has srtt", "has rtt"),
    ] {
        assert_eq!(filter(text).to_string(), written);
    }
}

#[test]
fn a_filter_is_its_text_in_a_file() {
    let kept: Filter = serde_json::from_str("\"rtt>5\"").unwrap();
    assert_eq!(serde_json::to_string(&kept).unwrap(), "\"rtt>5\"");
    let wrong = serde_json::from_str::<Filter>("\"rtt>5x\"").unwrap_err();
    assert!(wrong.to_string().contains("column 5"), "{wrong}");
    assert!(kept.matches(&connection()));
}

#[test]
fn what_is_neither_a_port_nor_a_start_of_an_address_is_refused() {
    for text in ["peer = [:001", "peer = :99999", "peer = [192.0.2.1:443"] {
        let error = text.parse::<Filter>().unwrap_err();
        assert!(error.to_string().contains("is compared with"), "{text}: {error}");
    }
    for (text, written) in [
        ("peer = :001", "peer = :1"),
        ("peer = [2001:db8:", "peer = 2001:db8:"),
    ] {
        assert_eq!(filter(text).to_string(), written);
    }
}
