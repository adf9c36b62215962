//! The filter language over the connections of the screens; its own tests are in the room `query`.

use super::fixture::connections;
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
    assert_eq!(passing("peer=203.0.11"), Vec::<String>::new());
    assert_eq!(passing("peer=2001:db8:5:1::1234:5678"), ["4"]);
    assert_eq!(passing("peer=[2001:DB8:"), ["4"]);
    assert_eq!(passing("peer~db8"), ["4"]);
}
