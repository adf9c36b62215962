//! Output of `ss` that people had and diagnosed, as it was pasted: every token of it is understood or listed, and out comes the cause they
//! found, or `unknown`. Never another with confidence.

use std::path::Path;

use tcpwin_agent::classify::Limit;
use tcpwin_agent::explain::{self, Explained, Report, Seen};
use tcpwin_agent::source::ss_text;

/// From this confidence on a verdict is a claim.
const CLAIM: f64 = 0.5;

/// Each paste, and what may be claimed of its sockets beside `unknown`: the cause, that of the other end, and `none` of what lies idle
/// beside it.
const CASES: &[(&str, &[Limit])] = &[
    ("mss-64-after-mtu-probing", &[Limit::Stalled, Limit::MtuBlackhole]),
    ("steady-audio-behind-a-window-of-1024", &[Limit::None, Limit::App]),
    (
        "window-closed-over-a-hole",
        &[Limit::Rwnd, Limit::RwndReader, Limit::Stalled, Limit::Rcvbuf],
    ),
    ("probes-that-never-arrive", &[Limit::Host, Limit::Stalled]),
    ("tso-bursts-on-a-slow-link", &[Limit::Host]),
    (
        "bbr-flows-share-10-mbit",
        &[Limit::Bandwidth, Limit::Policer, Limit::None],
    ),
    ("reno-over-600-ms-with-rare-loss", &[Limit::Loss]),
    (
        "bbr-at-10-ms-below-its-shaper",
        &[Limit::Bandwidth, Limit::Loss, Limit::Pacing],
    ),
    (
        "receiver-writes-to-a-slow-disk",
        &[Limit::RwndReader, Limit::Reader],
    ),
    ("receive-buffer-of-4096", &[Limit::Rwnd, Limit::Rcvbuf]),
    ("bbr-with-20-percent-loss", &[Limit::Loss]),
    (
        "equal-send-queues-behind-a-shaper",
        &[Limit::Sndbuf, Limit::Host, Limit::Bandwidth],
    ),
    (
        "silly-window-of-one-granule",
        &[Limit::Rwnd, Limit::RwndReader, Limit::Rcvbuf],
    ),
    ("wifi-bridge-that-drops-tcp", &[Limit::Loss]),
    ("idle-rpc", &[Limit::None, Limit::App, Limit::Turns]),
    (
        "both-ends-write-and-none-reads",
        &[Limit::RwndReader, Limit::Reader],
    ),
    ("deep-queue-at-1-mbit", &[Limit::Bandwidth, Limit::None]),
    ("cdn-download-with-a-queue", &[Limit::Bandwidth]),
    (
        "stream-push-over-a-lossy-path",
        &[Limit::Loss, Limit::None, Limit::App],
    ),
    ("idle-subflow", &[Limit::None]),
    ("cable-pulled", &[Limit::Stalled]),
    ("connect-without-an-answer", &[Limit::Stalled, Limit::None]),
    (
        "large-writes-never-arrive",
        &[Limit::MtuBlackhole, Limit::Stalled],
    ),
    ("proxy-stream-with-1-4-percent-loss", &[Limit::Loss]),
    ("pooled-connection-to-a-dead-peer", &[Limit::Stalled]),
    ("bbr-whose-min-rtt-is-of-another-time", &[Limit::Loss]),
    ("subflow-of-a-cut-path", &[Limit::Stalled, Limit::None]),
    // Whose point is how they are written.
    ("rto-with-a-fraction-and-listeners", &[Limit::None]),
    ("kernel-tls", &[Limit::None, Limit::App]),
    (
        "glued-and-marked-up",
        &[Limit::Reader, Limit::Bandwidth, Limit::Policer, Limit::None],
    ),
    (
        "timers-of-every-age",
        &[Limit::None, Limit::Stalled, Limit::Rwnd, Limit::RwndReader],
    ),
    (
        "figures-without-columns",
        &[Limit::None, Limit::App, Limit::Turns],
    ),
    ("receive-buffer-shrunk-below-a-segment", &[Limit::Rcvbuf]),
];

fn paste(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/explain")
        .join(name)
        .with_extension("txt");
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn explained(text: &str) -> Report {
    explain::explain(&ss_text::parse(text).observed())
}

#[test]
fn every_case_gets_its_cause_or_unknown() {
    let (mut right, mut unknown, mut wrong) = (0, 0, Vec::new());
    for (name, accepted) in CASES {
        let report = explained(&paste(name));
        assert!(!report.sockets.is_empty(), "{name}");
        let mut told = Vec::new();
        for socket in &report.sockets {
            let is_claim = socket.limit != Limit::Unknown && socket.confidence >= CLAIM;
            if is_claim && !accepted.contains(&socket.limit) {
                wrong.push(format!(
                    "{name}: {} ({:.2}): {}",
                    socket.limit.name(),
                    socket.confidence,
                    socket.proof
                ));
            }
            told.push(socket.limit.name());
        }
        // The cause itself, and not only what lies beside it.
        let is_right = report.sockets.iter().any(|socket| socket.limit == accepted[0]);
        right += usize::from(is_right);
        unknown += usize::from(!is_right);
        println!(
            "{name:<45} {:<8} {}",
            if is_right { "right" } else { "unknown" },
            told.join(" ")
        );
    }
    println!(
        "{right} right, {unknown} unknown, {} wrong of {}",
        wrong.len(),
        CASES.len()
    );
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(right * 10 >= CASES.len() * 8, "{right} of {}", CASES.len());
}

#[test]
fn every_token_of_every_case_is_understood() {
    for (name, _) in CASES {
        let reading = ss_text::parse(&paste(name));
        for socket in reading.observed() {
            assert!(socket.unknown.is_empty(), "{name}: {:?}", socket.unknown);
        }
        assert!(reading.text.is_empty(), "{name}: {:?}", reading.text);
    }
}

#[test]
fn a_token_that_is_not_known_is_listed_wherever_it_stands() {
    const TOKEN: &str = "zz_probe:7";
    for (name, _) in CASES {
        let text = paste(name);
        let words: Vec<_> = text.split_inclusive(char::is_whitespace).collect();
        for at in 1..words.len() {
            // Before a field; not within the columns, nor between a name and its value.
            let (before, after) = (words[at - 1].trim(), words[at].trim());
            let is_field = after.split_once(':').is_some_and(|(name, _)| {
                name.len() > 1 && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')
            });
            let is_apart = before.ends_with(':')
                || before.is_empty()
                || ["send", "pacing_rate", "delivery_rate"].contains(&before);
            if !is_field || is_apart {
                continue;
            }
            let spliced = format!("{}{TOKEN} {}", words[..at].concat(), words[at..].concat());
            let reading = ss_text::parse(&spliced);
            let listed: usize = reading
                .observed()
                .iter()
                .map(|socket| socket.unknown.iter().filter(|token| *token == TOKEN).count())
                .sum();
            assert_eq!(listed, 1, "{name}: before `{after}`");
        }
    }
}

#[test]
fn cases_read_the_same_from_their_canonical_form() {
    for (name, _) in CASES {
        let first = ss_text::parse(&paste(name));
        let again = ss_text::parse(&ss_text::render(&first));
        let verdicts = |reading: &ss_text::Reading| {
            let report = explain::explain(&reading.observed());
            report
                .sockets
                .into_iter()
                .map(|socket| (socket.limit, socket.proof))
                .collect::<Vec<_>>()
        };
        assert_eq!(verdicts(&first), verdicts(&again), "{name}");
    }
}

#[test]
fn mail_pages_and_terminals_change_no_verdict() {
    for (name, _) in CASES {
        let text = paste(name);
        let told = |text: &str| {
            let report = explained(text);
            report
                .sockets
                .into_iter()
                .map(|socket| (socket.limit, socket.proof))
                .collect::<Vec<_>>()
        };
        let plain = told(&text);
        let quoted: String = text.lines().map(|line| format!("> > {line}\n")).collect();
        let windows = text.replace('\n', "\r\n");
        let fenced = format!("Here is what I see:\n\n```\n$ ss -tin\n{text}```\nWhat is wrong?\n");
        let page = format!(
            "<pre>{}</pre>",
            text.replace('&', "&amp;")
                .replace('<', "&lt;")
                .replace('>', "&gt;")
        );
        let encoded = text.replace('=', "=3D");
        for (how, text) in [
            ("quoted", quoted),
            ("windows", windows),
            ("fenced", fenced),
            ("page", page),
            ("encoded", encoded),
        ] {
            assert_eq!(told(&text), plain, "{name}, {how}");
        }
    }
}

#[test]
fn two_looks_are_differenced_and_two_ends_joined() {
    let report = explained(&paste("cdn-download-with-a-queue"));
    let [socket] = report.sockets.try_into().unwrap();
    assert_eq!(socket.looks, 2);
    // lastrcv and busy grow by the same 3.92 s.
    assert_eq!(socket.interval_s, Some(3.92));
    let rate = socket.rate_bps.unwrap();
    assert!((rate / 646e6 - 1.0).abs() < 0.01, "{rate}");
    let report = explained(&paste("receive-buffer-of-4096"));
    assert!(report.sockets.iter().all(|socket| socket.side_seen == Seen::Both));
    assert_eq!(report.sockets[0].limit, Limit::Rwnd);
    assert_eq!(report.sockets[1].limit, Limit::Rcvbuf);
}

#[test]
fn figures_that_cannot_be_are_said_to() {
    let line = "ESTAB 0 9000 192.0.2.1:443 198.51.100.7:51414 cubic wscale:7,7 rto:204 rtt:12.5/0.4 mss:1448 cwnd:40 bytes_sent:1000 \
                bytes_acked:900000 busy:5000ms unacked:2 rcv_space:14600 notsent:6104 minrtt:12.1";
    let [socket] = explained(line).sockets.try_into().unwrap();
    assert_eq!((socket.limit, socket.confidence), (Limit::Unknown, 0.0));
    assert!(
        socket
            .inconsistent
            .unwrap()
            .contains("more than the 1000 that were sent")
    );
    // 65,535 B without scaling over 181 ms are 2.9 Mbit/s, and no more.
    let fast = "ESTAB 0 9000 192.0.2.1:443 198.51.100.7:51414 cubic wscale:0,7 rto:404 rtt:181/0.4 mss:1448 cwnd:40 bytes_acked:90000000 \
                busy:50000ms unacked:2 rcv_space:14600 notsent:6104 minrtt:181";
    let [socket] = explained(fast).sockets.try_into().unwrap();
    assert!(
        socket
            .inconsistent
            .unwrap()
            .contains("more than the largest window of scale 0")
    );
}

#[test]
fn a_window_of_65535_at_181_ms_is_told_with_its_arithmetic() {
    let line = "ESTAB 0 300000 192.0.2.1:443 198.51.100.7:51414 cubic wscale:0,7 rto:404 rtt:181/0.4 mss:1448 cwnd:90 bytes_acked:36000000 \
                busy:100000ms rwnd_limited:98000ms(98.0%) unacked:46 rcv_space:14600 notsent:234465 minrtt:181 snd_wnd:65535";
    let [socket] = explained(line).sockets.try_into().unwrap();
    assert_eq!(socket.limit, Limit::RwndScale, "{}", socket.proof);
    assert!((socket.ceiling_bps.unwrap() / 2.8966e6 - 1.0).abs() < 0.001);
    assert!(!socket.remedies.is_empty() && !socket.collect.is_empty());
}

/// Flows of the lab, whose limit is known by construction, at the moment in which `ss -tinm` was asked at both ends (Linux 6.18, `cargo xtask
/// lab all --no-agent`).
#[test]
fn flows_of_the_lab_get_their_limit_or_unknown() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/explain/lab-6.18.lab");
    let text = std::fs::read_to_string(path).unwrap();
    let mut told = Tally::default();
    let mut alone = Tally::default();
    for flow in text.split("== ").filter(|flow| !flow.is_empty()) {
        let (head, rest) = flow.split_once('\n').unwrap();
        let mut words = head.split(' ');
        let name = words.next().unwrap();
        let truth: Vec<_> = words.map(limit).collect();
        let (sender, receiver) = rest
            .strip_prefix("-- sender\n")
            .unwrap()
            .split_once("-- receiver\n")
            .unwrap();
        alone.judge(name, &truth, &explained(sender));
        told.judge(name, &truth, &explained(&format!("{sender}\n{receiver}")));
    }
    println!("of the sender alone: {alone}");
    println!("of both ends: {told}");
    assert!(
        alone.wrong.is_empty() && told.wrong.is_empty(),
        "{:#?} {:#?}",
        alone.wrong,
        told.wrong
    );
    assert!(alone.right * 10 >= alone.unknown * 20, "{alone}");
}

fn limit(name: &str) -> Limit {
    let found = Limit::ALL.into_iter().find(|limit| limit.name() == name);
    found.unwrap_or_else(|| panic!("{name} is no limit"))
}

#[derive(Default)]
struct Tally {
    right: usize,
    unknown: usize,
    wrong: Vec<String>,
}

impl std::fmt::Display for Tally {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            to,
            "{} right, {} unknown, {} wrong",
            self.right,
            self.unknown,
            self.wrong.len()
        )
    }
}

impl Tally {
    fn judge(&mut self, name: &str, truth: &[Limit], report: &Report) {
        // What a proxy passes on over loopback is another flow.
        let is_loopback = |socket: &&Explained| {
            socket
                .local
                .as_deref()
                .is_some_and(|local| local.starts_with("127."))
        };
        for socket in report.sockets.iter().filter(|socket| !is_loopback(socket)) {
            let is_claim = socket.limit != Limit::Unknown && socket.confidence >= CLAIM;
            if !is_claim {
                self.unknown += 1;
            } else if truth.iter().any(|truth| is_told(*truth, socket.limit))
                || is_bulk_beside(name, socket.limit)
            {
                self.right += 1;
            } else {
                self.wrong
                    .push(format!("{name}: {}: {}", socket.limit.name(), socket.proof));
            }
        }
    }
}

/// The same cause by the name that it has at this end; what waits for a program is as idle to TCP.
fn is_told(truth: Limit, told: Limit) -> bool {
    truth == told
        || match truth {
            Limit::Rwnd | Limit::RwndScale => matches!(told, Limit::Rwnd | Limit::Rcvbuf),
            Limit::RwndReader => told == Limit::Reader,
            Limit::Rcvbuf => told == Limit::Rwnd,
            Limit::Reader => told == Limit::RwndReader,
            Limit::MtuBlackhole => told == Limit::Stalled,
            Limit::App | Limit::Turns | Limit::SmallWrites => matches!(told, Limit::App | Limit::None),
            _ => false,
        }
}

/// The flows that fill the path beside the one the scenario is about.
fn is_bulk_beside(name: &str, told: Limit) -> bool {
    name.contains("beside_bulk") && told == Limit::Bandwidth
}
