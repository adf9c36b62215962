//! Any text as a filter, as an order, and as what is being completed: nothing panics, what is read and printed reads as the
//! same again, and `not not` changes nothing.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use serde_json::json;
use tcpwin_agent::query::{Filter, Sort, complete};
use tcpwin_agent::snapshot::Connection;

/// The longest text that is read: `99g` is printed as `99000000000bit`.
const LONGEST: usize = 4_096;

/// One of which much is known, and one of which nothing is.
static CONNECTIONS: LazyLock<[Connection; 2]> = LazyLock::new(|| {
    let known = json!({
        "id": "77", "netns": 1, "local": "192.0.2.1:443", "peer": "203.0.113.9:51812", "direction": "send",
        "process": { "pid": 812, "name": "nginx" }, "cgroup": "/system.slice/nginx.service", "origin": "accept",
        "age_us": 90_000_000, "bound": "window", "limit": "rwnd_scale", "side": "peer_kernel", "confidence": 0.9,
        "rate_bps": 2.89e6, "send_bps": 2.89e6, "receive_bps": 0.0, "proof": "in flight = the peer's window",
        "next": { "limit": "bandwidth", "rate_bps": 34.68e6, "formula": "" }, "remedies": [],
        "tcp": { "srtt_us": 181_000, "cwnd": 120, "snd_wnd_bytes": 65_535, "congestion": "cubic" },
    });
    let mut bare = known.clone();
    bare["peer"] = "[2001:db8:5::1]:22".into();
    bare["tcp"] = json!({});
    if let Some(fields) = bare.as_object_mut() {
        fields.retain(|name, _| !matches!(name.as_str(), "process" | "cgroup" | "next"));
    }
    [known, bare].map(|fields| serde_json::from_value(fields).expect("a connection"))
});

fuzz_target!(|text: &str| {
    let length = text.chars().count();
    match text.parse::<Filter>() {
        Err(error) => assert!(error.column <= length, "{error}"),
        Ok(filter) => {
            let printed = filter.to_string();
            if printed.chars().count() > LONGEST {
                return;
            }
            let again: Filter = printed.parse().expect("what is printed can be read");
            assert_eq!(again.to_string(), printed);
            // A filter may be as deep as it can be: then `not not` of it is refused.
            let twice = format!("not not ({printed})").parse::<Filter>();
            for connection in &*CONNECTIONS {
                let passes = filter.matches(connection);
                assert_eq!(again.matches(connection), passes, "{printed}");
                if let (Ok(twice), false) = (&twice, filter.is_empty()) {
                    assert_eq!(twice.matches(connection), passes, "{printed}");
                }
            }
        }
    }
    match text.parse::<Sort>() {
        Err(error) => assert!(error.column <= length, "{error}"),
        Ok(sort) => assert_eq!(sort.to_string().parse::<Sort>().as_ref(), Ok(&sort)),
    }
    for cursor in [0, length / 2, length, length + 1] {
        let completion = complete(text, cursor, |_| vec!["a \"b\"".to_owned()]);
        assert!(completion.from <= cursor.min(length));
    }
});
