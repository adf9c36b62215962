//! Any source against `ss`: every figure of every connection of two namespaces, then the totals at their ends.

use std::collections::BTreeMap;

use tcpwin_agent::observation::{Key, Observation, TcpState};
use tcpwin_agent::source::{Source, kernel_clock, netns};

use super::connections::{self, Connection, Family};
use super::netns::Namespace;
use super::ss::{self, SsSocket};
use super::told::{Told, within_patience};

/// Connections of each family in each namespace.
const EACH: usize = 40;
/// Short connections in each namespace.
const SHORT: usize = 500;
/// The namespace of the test and a second one.
struct Places {
    own: u32,
    second: Namespace,
}

impl Places {
    fn each<T: Send>(&self, work: impl Fn() -> T + Send + Sync) -> [(u32, T); 2] {
        [(self.own, work()), (self.second.inum, self.second.inside(&work))]
    }
}

/// Opens a source, makes connections before and after, and holds every figure against `ss`.
///
/// `open` is called when half of the connections are there already, so that both seeded and new ones are compared.
pub fn against_ss(open: impl FnOnce() -> Box<dyn Source>) {
    let places = Places {
        own: netns::own().expect("/proc"),
        second: Namespace::new(),
    };
    let mut told = Told::default();
    let older = connect(&places);
    let mut source = open();
    told.poll(&mut *source);
    let mut connections = older;
    connections.extend(connect(&places));
    told.poll(&mut *source);
    for (index, (_, connection)) in connections.iter_mut().enumerate() {
        connection.exchange(index * 997, index * 331);
    }
    lose(&mut connections);
    half_close(&mut connections);
    // One whose window is shut in each family and namespace.
    let mut stuffed = Vec::new();
    for (_, connection) in connections.iter_mut().step_by(EACH) {
        connection.stuff();
        stuffed.push(connections::cookie(&connection.client));
    }

    let shown = quiet(&places, &connections, &stuffed);
    told.settle(&mut *source);
    let again = places.each(ss::sockets);
    let mut compared = 0;
    for ((inum, before), (_, after)) in shown.iter().zip(&again) {
        for (_, connection) in connections.iter().filter(|(netns, _)| netns == inum) {
            for end in connection.ends() {
                let cookie = connections::cookie(end);
                let (before, after) = (&before[&cookie], &after[&cookie]);
                assert_eq!(before, after, "{} held still", source.name());
                let key = Key { cookie, netns: *inum };
                let seen = told
                    .last
                    .get(&key)
                    .unwrap_or_else(|| panic!("{key:?} is watched: {before:?}"));
                same(seen, before);
                compared += 1;
            }
        }
    }
    assert_eq!(compared, 2 * connections.len());
    assert!(connections.len() >= 200);
    let again: u64 = shown
        .iter()
        .flat_map(|(_, sockets)| sockets.values())
        .filter_map(|socket| socket.retransmits)
        .sum();
    assert!(again > 0, "segments were lost and sent again");
    ends(&mut *source, &mut told, connections);
    short_ones(&places, &mut *source, &mut told);
    println!("{compared} sockets of {} equal ss", source.name());
}

fn connect(places: &Places) -> Vec<(u32, Connection)> {
    places
        .each(|| Family::ALL.map(|family| connections::open(family, EACH / 2)))
        .into_iter()
        .flat_map(|(inum, families)| families.into_iter().flatten().map(move |one| (inum, one)))
        .collect()
}

/// Data of which one segment in four is lost on the way to the server.
fn lose(connections: &mut [(u32, Connection)]) {
    std::thread::scope(|scope| {
        for (_, connection) in connections.iter_mut().skip(3).step_by(10) {
            scope.spawn(|| connection.exchange_with_loss(256 << 10));
        }
    });
}

/// The client says that it sends no more, and the server goes on.
fn half_close(connections: &mut [(u32, Connection)]) {
    for (_, connection) in connections.iter_mut().skip(6).step_by(20) {
        connection.half_close();
        connection.exchange(0, 50_000);
    }
}

/// What `ss` shows once nothing moves any more: everything is acknowledged, or held back by a window that is shut.
fn quiet(
    places: &Places,
    connections: &[(u32, Connection)],
    stuffed: &[u64],
) -> [(u32, BTreeMap<u64, SsSocket>); 2] {
    let since = kernel_clock();
    loop {
        let shown = places.each(ss::sockets);
        let busy = connections
            .iter()
            .flat_map(|(inum, one)| one.ends().map(|end| (*inum, connections::cookie(end))))
            .filter(|(inum, cookie)| {
                let (_, sockets) = shown.iter().find(|(at, _)| at == inum).expect("two places");
                sockets.get(cookie).is_none_or(|socket| {
                    let shut = socket.unsent == Some(socket.send_q) && socket.snd_wnd.is_none();
                    if stuffed.contains(cookie) {
                        !shut
                    } else {
                        socket.send_q > 0
                    }
                })
            })
            .count();
        if busy == 0 {
            return shown;
        }
        within_patience(since, || format!("data of {busy} sockets still moves"));
    }
}

/// Equal figures; `ss` leaves out what is zero.
fn same(seen: &Observation, shown: &SsSocket) {
    let tcp = &seen.tcp;
    let totals = &seen.totals;
    let word = |value: Option<u32>| value.map(u64::from);
    let unless_zero = |value: Option<u64>| value.filter(|&value| value != 0);
    let figures = [
        ("unread", word(tcp.unread), Some(shown.recv_q)),
        ("sndbuf", word(tcp.sndbuf), shown.sndbuf),
        ("rcvbuf", word(tcp.rcvbuf), shown.rcvbuf),
        ("wmem_queued", word(tcp.wmem_queued), shown.wmem_queued),
        ("snd_wscale", tcp.snd_wscale.map(u64::from), shown.snd_wscale),
        ("rcv_wscale", tcp.rcv_wscale.map(u64::from), shown.rcv_wscale),
        ("srtt", word(tcp.srtt_us), shown.srtt_us),
        ("rttvar", word(tcp.rttvar_us), shown.rttvar_us),
        ("min_rtt", word(tcp.min_rtt_us), shown.min_rtt_us),
        ("mss", word(tcp.mss), shown.mss),
        ("cwnd", word(tcp.cwnd), shown.cwnd),
        ("ssthresh", word(tcp.ssthresh), shown.ssthresh),
        ("snd_wnd", unless_zero(word(tcp.snd_wnd)), shown.snd_wnd),
        ("unsent", unless_zero(word(tcp.unsent)), shown.unsent),
        ("packets_out", unless_zero(word(tcp.packets_out)), shown.unacked),
        ("bytes_acked", unless_zero(totals.bytes_acked), shown.bytes_acked),
        (
            "bytes_received",
            unless_zero(totals.bytes_received),
            shown.bytes_received,
        ),
        ("delivered", unless_zero(word(totals.delivered)), shown.delivered),
        (
            "retransmits",
            unless_zero(word(totals.retransmits)),
            shown.retransmits,
        ),
    ];
    if let Some(kinds) = totals.retransmits_by_kind {
        let sum = kinds.fast + kinds.rto + kinds.tlp;
        assert_eq!(
            Some(sum),
            totals.retransmits,
            "every retransmit is of a kind: {seen:?}"
        );
    }
    assert_eq!(in_words_of_ss(seen.state), shown.state, "state of {seen:?}");
    for (name, told, shown_value) in figures {
        assert_eq!(told, shown_value, "{name} of {seen:?}, shown by ss as {shown:?}");
    }
    assert_eq!(Some(seen.endpoints.local), shown.local);
    assert_eq!(Some(seen.endpoints.peer), shown.peer);
    assert_eq!(tcp.congestion.as_deref(), shown.congestion.as_deref());
}

fn in_words_of_ss(state: TcpState) -> &'static str {
    match state {
        TcpState::Established => "ESTAB",
        TcpState::FinWait1 => "FIN-WAIT-1",
        TcpState::FinWait2 => "FIN-WAIT-2",
        TcpState::CloseWait => "CLOSE-WAIT",
        _ => "another",
    }
}

/// Closes every connection: each end is told closed once, with what was acknowledged and received in all.
fn ends(source: &mut dyn Source, told: &mut Told, connections: Vec<(u32, Connection)>) {
    let mut expected = Vec::new();
    for (index, (netns, connection)) in connections.into_iter().enumerate() {
        let [client, server] = connection.ends().map(|end| Key {
            cookie: connections::cookie(end),
            netns,
        });
        if index % EACH != 0 {
            expected.push((client, connection.client_sent, connection.server_sent));
            expected.push((server, connection.server_sent, connection.client_sent));
        }
    }
    settle(source, told, expected);
}

/// Connections shorter than any interval between polls: each is told opening and closing, with its totals.
fn short_ones(places: &Places, source: &mut dyn Source, told: &mut Told) {
    let lived = places.each(|| {
        connections::open_and_close(Family::V4, SHORT)
            .into_iter()
            .chain(connections::open_and_close(Family::V6, SHORT / 2))
            .collect::<Vec<_>>()
    });
    let expected = lived
        .into_iter()
        .flat_map(|(netns, all)| {
            all.into_iter()
                .map(move |(cookie, sent, received)| (Key { cookie, netns }, sent, received))
        })
        .collect();
    settle(source, told, expected);
}

/// Waits for the ends of these sockets, each with what it sent and received.
fn settle(source: &mut dyn Source, told: &mut Told, expected: Vec<(Key, u64, u64)>) {
    let keys: Vec<Key> = expected.iter().map(|(key, ..)| *key).collect();
    told.until_closed(source, &keys);
    for (key, sent, received) in expected {
        assert_eq!(told.opened.get(&key), Some(&1), "{key:?} opens once");
        let ends = &told.closed[&key];
        assert_eq!(ends.len(), 1, "{key:?} closes once: {ends:?}");
        let totals = &ends[0].totals;
        // A SYN and a FIN of ours count one each, where they were acknowledged before the end.
        let acked = totals.bytes_acked.expect("every kernel tells");
        assert!(
            (sent..=sent + 2).contains(&acked),
            "{acked} of {sent} acknowledged: {ends:?}"
        );
        let got = totals.bytes_received.expect("every kernel tells");
        assert!(
            (received..=received + 1).contains(&got),
            "{got} of {received} received: {ends:?}"
        );
    }
}
