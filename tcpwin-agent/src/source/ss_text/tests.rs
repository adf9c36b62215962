use proptest::prelude::*;

use super::*;
use crate::observation::TcpState;
use crate::observation::pasted::TimerKind;

fn read(text: &str) -> Vec<Pasted> {
    parse(text).observed()
}

const WHOLE: &str = "tcp ESTAB 0 102304 192.0.2.1:443 198.51.100.7:51414 users:((\"web server\",pid=12,fd=3),(\"(sd-pam)\",pid=13,fd=4)) \
    timer:(on,1.204ms,2) uid:33 ino:178463 sk:9e cgroup:/system.slice/web.service <->\n\
    \t skmem:(r0,rb131072,t0,tb2626560,f4294966016,w106496,o0,bl0,d3) ts sack ecn cubic wscale:7,9 rto:204 backoff:1 rtt:12.5/0.4 ato:40 \
    mss:1448 pmtu:1500 rcvmss:536 advmss:1448 cwnd:40 ssthresh:20 bytes_sent:2353347537 bytes_retrans:1448 bytes_acked:2353000000 \
    bytes_received:90 segs_out:9 segs_in:8 data_segs_out:7 data_segs_in:1 send 37.1Mbps lastsnd:4 lastrcv:5803 lastack:4 pacing_rate \
    44.5Mbps/1.2Gbps delivery_rate 36Mbps delivered:7 app_limited busy:5789ms rwnd_limited:372ms(6.4%) sndbuf_limited:8ms(0.1%) \
    unacked:10 retrans:1/3 lost:1 sacked:2 dsack_dups:1 reordering:8 reord_seen:2 rcv_rtt:27 rcv_space:14600 rcv_ssthresh:31820 \
    notsent:87824 minrtt:12.1 rcv_ooopack:4 snd_wnd:308992 rcv_wnd:31872 rehash:1 tcp-ulp-tls version: 1.3 cipher: aes-gcm-256 rxconf: sw \
    txconf: sw";

#[test]
fn every_field_of_a_whole_line() {
    let reading = parse(WHOLE);
    assert!(!reading.repaired && reading.text.is_empty());
    let [socket] = reading.observed().try_into().unwrap();
    assert_eq!(socket.unknown, Vec::<String>::new());
    assert_eq!(socket.local.as_deref(), Some("192.0.2.1:443"));
    assert_eq!(socket.process, Some(("web server".to_owned(), Some(12))));
    assert_eq!(
        (socket.cookie, socket.state),
        (Some(0x9e), Some(TcpState::Established))
    );
    let tcp = &socket.tcp;
    assert_eq!(
        (tcp.srtt_us, tcp.rttvar_us, tcp.min_rtt_us),
        (Some(12_500), Some(400), Some(12_100))
    );
    assert_eq!((tcp.snd_wscale, tcp.rcv_wscale), (Some(7), Some(9)));
    assert_eq!(
        (tcp.sndbuf, tcp.wmem_queued, tcp.unsent),
        (Some(2_626_560), Some(106_496), Some(87_824))
    );
    // 10 − 2 − 1 + 1 segments.
    assert_eq!((tcp.packets_out, tcp.in_flight), (Some(10), Some(8 * 1448)));
    assert_eq!(
        (tcp.pacing_rate, tcp.max_pacing_rate),
        (Some(5_562_500), Some(150_000_000))
    );
    assert_eq!(socket.totals.chrono_us, Some([5_789_000, 372_000, 8_000]));
    assert_eq!(socket.totals.retransmits, Some(3));
    let timer = socket.ss.timer.unwrap();
    assert_eq!(
        (timer.kind, timer.left_ms, timer.expired),
        (TimerKind::Retransmit, Some(1204), Some(2))
    );
    assert_eq!(
        socket.ss.ktls.as_deref(),
        Some("version 1.3, cipher aes-gcm-256, rxconf sw, txconf sw")
    );
}

#[test]
fn timers_of_every_age() {
    for (printed, ms) in [
        ("(on,030ms,0)", Some(30)),
        ("(persist,7.639ms,8)", Some(7639)),
        ("(persist,2.456sec,0)", Some(2456)),
        ("(persist,1min23sec,9)", Some(83_000)),
        ("(keepalive,42min,0)", Some(2_520_000)),
        ("(persist,,0)", None),
    ] {
        let told = read(&format!("ESTAB 0 0 192.0.2.1:1 192.0.2.2:2 timer:{printed}"));
        assert_eq!(told[0].ss.timer.as_ref().unwrap().left_ms, ms, "{printed}");
        assert!(told[0].unknown.is_empty(), "{printed}");
    }
}

#[test]
fn what_lost_its_blanks_is_told_apart() {
    let text = "ESTAB 0 0 192.0.2.1:1 192.0.2.2:2 cubicwscale:9,7 data_segs_in:81send 9.5Mbps retrans:0/7rcv_space:14600 cwnd:10ESTAB 0 27474 \
                192.0.2.7:3 192.0.2.5:4 cubic cwnd:625";
    let reading = parse(text);
    assert!(reading.repaired);
    let told = reading.observed();
    assert_eq!(told.len(), 2);
    assert_eq!(
        (told[0].tcp.cwnd, told[0].totals.retransmits),
        (Some(10), Some(7))
    );
    assert_eq!((told[1].tcp.cwnd, told[1].ss.send_q), (Some(625), Some(27_474)));
    assert!(told.iter().all(|socket| socket.unknown.is_empty()), "{told:?}");
}

#[test]
fn absent_is_zero_only_where_nothing_was_cut() {
    let line = "ESTAB 0 10 192.0.2.1:1 192.0.2.2:2 cubic rto:204 mss:1448 cwnd:10 unacked:1 rcv_space:14480";
    let whole = &read(line)[0];
    assert_eq!(
        (whole.tcp.lost, whole.tcp.backoff, whole.tcp.unsent),
        (Some(0), Some(0), Some(0))
    );
    let cut = &read(&format!("{line} ..."))[0];
    assert!(cut.elided);
    assert_eq!((cut.tcp.lost, cut.tcp.backoff), (None, None));
    let underflow = &read("ESTAB 0 9 192.0.2.1:1 192.0.2.2:2 rto:204 mss:1448 cwnd:10 unacked:4294967295")[0];
    assert_eq!(underflow.tcp.packets_out, None, "the kernel's own −1");
}

#[test]
fn sockets_without_columns_are_told_apart_by_what_comes_twice() {
    let told = read("\t bbr wscale:7,7 rto:204 cwnd:14\n\t bbr wscale:7,7 rto:408 cwnd:1\n");
    assert_eq!(
        told.iter().map(|socket| socket.tcp.cwnd).collect::<Vec<_>>(),
        [Some(14), Some(1)]
    );
    assert_eq!(told[0].local, None);
}

#[test]
fn unknown_tokens_are_listed_and_other_families_left_out() {
    let text = "udp UNCONN 0 0 0.0.0.0:68 0.0.0.0:*\nu_str ESTAB 0 0 * 12345 * 12346\n\
                tcp ESTAB 0 0 192.0.2.1:1 192.0.2.2:2\n\t cubic quux wscale:7,7 frob:17 cwnd:10 skmem:(r,x)\nhttps://example.net/thread\n";
    let reading = parse(text);
    assert_eq!(reading.others, 2);
    let [socket] = reading.observed().try_into().unwrap();
    assert_eq!(socket.unknown, ["quux", "frob:17", "skmem:(r,x)"]);
    assert_eq!(reading.text, ["https://example.net/thread"]);
}

#[test]
fn mptcp_has_a_line_of_its_own() {
    let text = "tcp ESTAB 0 0 [2001:db8::2]:1 [2001:db8::1]:2 ino:0 sk:1 cgroup:unreachable:1bf <->\n\t cubic cwnd:40 tcp-ulp-mptcp flags:Mec \
                token:0000(id:0)/cdf9c645(id:0) seq:541df7e1 sfseq:58919 ssnoff:d72837ee maplen:fb90\n\
                mptcp FIN-WAIT-2 0 0 [2001:db8::2]:1 [2001:db8::1]:2 timer:(keepalive,59sec,0) ino:0 sk:2 ---\n\
                \t subflows:1 remote_key token:cdf9c645 write_seq:6968acbc snd_una:6968acbc rcv_nxt:541df7e1";
    let told = read(text);
    assert_eq!(
        told.iter().map(|socket| socket.is_mptcp).collect::<Vec<_>>(),
        [false, true]
    );
    assert!(told.iter().all(|socket| socket.unknown.is_empty()), "{told:?}");
    assert_eq!(told[0].tcp.cwnd, Some(40));
}

#[test]
fn a_line_that_begins_with_a_number_is_not_the_rest_of_another() {
    let text = "ESTAB 0 7 192.0.2.1:1 192.0.2.2:2 segs_out:2187\nprose stands between\n0 27474 192.0.2.7:3 192.0.2.5:4 cubic cwnd:625";
    let first = parse(text);
    assert_eq!(first.sockets.len(), 2);
    let again = parse(&render(&first));
    assert_eq!(again.sockets[0].value("segs_out"), Some(&Value::Count(2187)));
    assert_eq!(again.sockets[1].head, first.sockets[1].head);
}

#[test]
fn what_looks_like_markup_is_written_as_no_markup() {
    let text =
        "ESTAB 0 7 192.0.2.1:1 192.0.2.2:2 bbr:(bw:1bps,x<td\n\tsk:3b <-> y) cgroup:/a&amp;lt;b cwnd:3\n";
    let first = parse(text);
    let again = parse(&render(&first));
    assert_eq!(again.sockets, first.sockets, "{}", render(&first));
}

/// What people do to text on its way.
fn mangled() -> impl Strategy<Value = String> {
    let cut = (0..WHOLE.len(), 0..WHOLE.len()).prop_map(|(a, b)| WHOLE[a.min(b)..a.max(b)].to_owned());
    let broken = proptest::collection::vec(0..WHOLE.len(), 0..12).prop_map(|mut places| {
        places.sort_unstable();
        let mut text = WHOLE.to_owned();
        places.iter().rev().for_each(|place| text.insert(*place, '\n'));
        text
    });
    let spliced = proptest::collection::vec((0..WHOLE.len(), "[ -~]{0,6}"), 0..8).prop_map(|mut places| {
        places.sort();
        let mut text = WHOLE.to_owned();
        places
            .iter()
            .rev()
            .for_each(|(place, with)| text.insert_str(*place, with));
        text
    });
    prop_oneof![
        cut,
        broken,
        spliced,
        "\\PC{0,300}",
        "([a-z_]{2,8}:?[0-9/(),.]{0,9}[ \n|>]){0,40}",
        "((tcp|ESTAB|LISTEN|0|7|1.2.3.4:5|\\*:\\*|cwnd:10|rto:|skmem:\\(|users:\\(\\(|send|9Mbps|\\.\\.\\.|quux|\\?|=)[ \n]){0,40}",
    ]
}

proptest! {
    #[test]
    fn its_own_output_reads_as_the_same(text in mangled()) {
        let first = parse(&text);
        let again = parse(&render(&first));
        let bare = |reading: &Reading| {
            let sockets = reading.sockets.iter().map(|socket| Socket { line: 0, at: None, ..socket.clone() });
            sockets.filter(|socket| *socket != Socket::default()).collect::<Vec<_>>()
        };
        prop_assert_eq!(bare(&first), bare(&again), "{}", render(&first));
        prop_assert!(!again.repaired && again.text.is_empty(), "{:?}", again.text);
    }

    #[test]
    fn what_is_spliced_in_is_read_or_listed(at in 0usize..60, token in "[a-z]{3,9}[:][0-9]{1,4}") {
        let mut words: Vec<_> = WHOLE.split(' ').collect();
        // Not into the columns, which are five words and a family, nor between a name and its value.
        let at = 12 + at.min(words.len() - 13);
        let is_apart = words[at - 1].ends_with(':') || ["send", "pacing_rate", "delivery_rate", "pacing_rate\n"].contains(&words[at - 1]);
        prop_assume!(!is_apart && !words[at - 1].is_empty());
        words.insert(at, &token);
        let reading = parse(&words.join(" "));
        let is_listed = reading.observed().iter().any(|socket| socket.unknown.contains(&token));
        let is_known = field::take(&token).is_some_and(|(_, left)| left.is_empty());
        prop_assert!(is_listed || is_known, "{token} at {at}");
    }

    #[test]
    fn every_figure_is_finite(text in mangled()) {
        for socket in read(&text) {
            prop_assert!(socket.tcp.in_flight.is_none_or(|bytes| u64::from(bytes) <= u64::MAX / 2));
            prop_assert!(socket.line > 0);
        }
    }
}

/// Work is counted, not timed: the words that are looked at grow with the text, whatever it repeats.
#[test]
fn hostile_repetitions_stay_linear() {
    for unit in [
        "users:((",
        "skmem:(",
        "ESTAB 0 0 ",
        "=\n",
        "> ",
        "cwnd:1",
        "send ",
        "<",
        "&lt;",
        "1.1.1.1:1 ",
        "rto: ",
        "**",
    ] {
        // Quadratic work over this much would not end.
        let text = unit.repeat(300_000 / unit.len());
        let reading = parse(&text);
        assert!(reading.sockets.len() <= text.len());
    }
}
