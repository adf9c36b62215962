use std::path::Path;
use std::sync::Arc;

use tokio::sync::mpsc;

use super::*;
use crate::classify::{Bound, Direction, Limit, Side};
use crate::observation::{Origin, RetransmitKind};
use crate::snapshot::{Cause, Connection, Process, TcpFields, TraceEvent, Whose, cost};

#[path = "../../tests/support/schema.rs"]
mod schema;

const MS: u64 = 1_000_000;

fn causes() -> Vec<Cause> {
    vec![Cause {
        limit: Limit::RwndScale,
        seconds: 3.31,
        bytes: 1_199_000,
        bytes_not_moved: Some(7_075_000),
    }]
}

fn connection() -> Connection {
    Connection {
        id: "9".to_owned(),
        netns: 1,
        local: "192.0.2.1:44312".to_owned(),
        peer: "198.51.100.7:443".to_owned(),
        direction: Direction::Send,
        process: Some(Process {
            pid: 4_242,
            name: "curl".to_owned(),
        }),
        cgroup: None,
        origin: Origin::Connect,
        age_us: 1,
        bound: Bound::Window,
        limit: Limit::RwndScale,
        side: Side::PeerKernel,
        confidence: 0.9,
        prevailing: None,
        rate_bps: 2.89e6,
        send_bps: 2.89e6,
        receive_bps: 0.0,
        ceiling_bps: None,
        ceiling_formula: None,
        next: None,
        gain: None,
        nothing_to_gain: false,
        ledger: Vec::new(),
        inconsistent: None,
        budget: None,
        causes: causes(),
        proof: "in flight 65535 B = the peer's window".to_owned(),
        remedies: Vec::new(),
        tcp: TcpFields {
            bytes_acked: Some(1_258_291),
            bytes_received: Some(812),
            retransmits_total: Some(3),
            ..TcpFields::default()
        },
        calls: None,
    }
}

fn events() -> Vec<TraceEvent> {
    let Connection {
        id,
        netns,
        local,
        peer,
        process,
        ..
    } = connection();
    let whose = || Whose {
        id: id.clone(),
        netns,
        local: local.clone(),
        peer: peer.clone(),
        process: process.clone(),
        ..Whose::default()
    };
    let standing = || Whose {
        limit: Some(Limit::RwndScale),
        rate_bps: Some(2.89e6),
        tcp: TcpFields {
            srtt_us: Some(181_000),
            cwnd: Some(40),
            ..TcpFields::default()
        },
        ..whose()
    };
    let untold = Connection {
        local: "[2001:db8::1]:22".to_owned(),
        peer: "[2001:db8:ffff:ffff:ffff:ffff:ffff:2]:50000".to_owned(),
        process: None,
        limit: Limit::None,
        tcp: TcpFields::default(),
        ..connection()
    };
    vec![
        TraceEvent::Open {
            ts_ns: 0,
            whose: whose(),
            origin: Origin::Connect,
        },
        TraceEvent::Retransmit {
            ts_ns: 181 * MS,
            whose: standing(),
            kind: RetransmitKind::Tlp,
            segments: 1,
        },
        TraceEvent::Retransmit {
            ts_ns: 190 * MS,
            whose: standing(),
            kind: RetransmitKind::Rto,
            segments: 2,
        },
        TraceEvent::Cwnd {
            ts_ns: 191 * MS,
            whose: standing(),
            cwnd: 40,
            ssthresh: 28,
            by_timeout: false,
        },
        TraceEvent::Verdict {
            ts_ns: 1_000 * MS,
            whose: standing(),
            from: Limit::CwndStartup,
            to: Limit::RwndScale,
            proof: connection().proof,
        },
        TraceEvent::Reset {
            ts_ns: 2_000 * MS,
            whose: Whose {
                local: "[2001:db8::1]:22".to_owned(),
                peer: "[2001:db8:ffff:ffff:ffff:ffff:ffff:2]:50000".to_owned(),
                process: Some(Process {
                    pid: 7_000_123,
                    name: "a long \u{1b}[31mname".to_owned(),
                }),
                ..standing()
            },
            sent: false,
        },
        TraceEvent::Close {
            ts_ns: 3_477 * MS,
            duration_us: 3_477_000,
            cost: cost(&causes(), 3_477_000),
            connection: Box::new(connection()),
        },
        TraceEvent::Close {
            ts_ns: 3_478 * MS,
            duration_us: 640,
            cost: None,
            connection: Box::new(untold),
        },
    ]
}

/// A stream that tells `told` and ends; its channel is filled before it is read.
fn stream(told: Vec<Told>) -> Events {
    let (tell, stream) = mpsc::channel(told.len().max(1));
    for each in told {
        tell.try_send(each).unwrap();
    }
    Events::from_channel(stream)
}

fn of_events() -> Vec<Told> {
    events()
        .into_iter()
        .map(|event| Told::Event(Arc::new(event)))
        .collect()
}

async fn traced(told: Vec<Told>, options: Options) -> (String, Outcome) {
    let mut out = Vec::new();
    let stamp = Stamp::with_offset(50_531_123_000_000);
    let outcome = run(stream(told), stamp, options, &mut out, std::future::pending())
        .await
        .unwrap();
    (String::from_utf8(out).unwrap(), outcome)
}

#[tokio::test]
async fn lines_for_people() {
    let (text, outcome) = traced(of_events(), Options::default()).await;
    insta::assert_snapshot!(text);
    assert!(outcome.cut);
}

#[tokio::test]
async fn lines_for_terminals() {
    for columns in [100, 140, 60] {
        let options = Options {
            columns: Some(columns),
            ..Options::default()
        };
        let (text, _) = traced(of_events(), options).await;
        let widest = text.lines().map(|line| line.chars().count()).max();
        assert!(columns < 80 || widest <= Some(columns), "{text}");
        insta::assert_snapshot!(format!("lines_for_{columns}_columns"), text);
    }
}

#[tokio::test]
async fn only_what_passes_is_told_and_counted() {
    let told = async |filter: &str, kinds: &[&str]| {
        let options = Options {
            json: true,
            filter: filter.parse().unwrap(),
            kinds: kinds.iter().map(|kind| (*kind).to_owned()).collect(),
            ..Options::default()
        };
        traced(of_events(), options).await.1.told
    };
    assert_eq!(told("", &[]).await, 8);
    assert_eq!(told("event = retransmit", &[]).await, 2);
    assert_eq!(
        told("event = retransmit and kind = rto and proc = curl", &[]).await,
        1
    );
    assert_eq!(
        told("rtt > 100ms and cwnd = 40", &["cwnd", "retransmit"]).await,
        3
    );
    assert_eq!(told("limit = rwnd_scale", &["verdict"]).await, 1);
    assert_eq!(told("sick = yes", &["verdict", "cwnd", "open"]).await, 2);
    assert_eq!(told("from = cwnd_startup", &[]).await, 1);
    assert_eq!(
        told("origin = connect and peer in 198.51.100.0/24", &["open", "close"]).await,
        2
    );
    assert_eq!(told("acked > 1MiB", &["close"]).await, 1);
    assert_eq!(told("not has rtt", &["open"]).await, 1);
    assert_eq!(told("tail", &[]).await, 0);
}

#[tokio::test]
async fn json_is_one_event_a_line_and_reads_back() {
    let options = Options {
        json: true,
        ..Options::default()
    };
    let (text, _) = traced(of_events(), options).await;
    let read: Vec<TraceEvent> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(read, events());
    insta::assert_snapshot!(text.lines().take(6).collect::<Vec<_>>().join("\n"));
}

#[tokio::test]
async fn ends_after_the_count_and_tells_what_was_missed() {
    let mut told = of_events();
    told.insert(1, Told::Missed(7));
    let options = Options {
        json: true,
        count: Some(2),
        ..Options::default()
    };
    let (text, outcome) = traced(told, options).await;
    assert_eq!(text.lines().count(), 2);
    let expected = Outcome {
        told: 2,
        missed: 7,
        cut: false,
        short: false,
    };
    assert_eq!(outcome, expected);
}

#[tokio::test(start_paused = true)]
async fn ends_after_the_duration() {
    let (_open, told) = mpsc::channel(1);
    let options = Options {
        duration: Some(Duration::from_secs(30)),
        count: Some(1),
        ..Options::default()
    };
    let began = tokio::time::Instant::now();
    let never = std::future::pending();
    let outcome = run(
        Events::from_channel(told),
        Stamp::with_offset(0),
        options,
        Vec::new(),
        never,
    )
    .await
    .unwrap();
    assert_eq!(
        outcome,
        Outcome {
            short: true,
            ..Outcome::default()
        }
    );
    assert_eq!(began.elapsed().as_secs(), 30);
}

/// A reader that goes away after the first write.
struct Head(u32);

impl Write for Head {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += 1;
        if self.0 > 1 {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn a_reader_that_goes_away_is_no_failure() {
    let options = Options {
        json: true,
        ..Options::default()
    };
    let stamp = Stamp::with_offset(0);
    let outcome = run(
        stream(of_events()),
        stamp,
        options,
        Head(0),
        std::future::pending(),
    )
    .await
    .unwrap();
    assert!(!outcome.cut);
}

/// `docs/trace.schema.json` is made from the types: `TCPWIN_WRITE_DOCS=1` writes it.
#[test]
fn the_schema_is_that_of_the_types() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/trace.schema.json");
    let settings = schemars::generate::SchemaSettings::draft2020_12().for_serialize();
    let schema = settings.into_generator().into_root_schema_for::<TraceEvent>();
    let schema = serde_json::to_string_pretty(&schema).unwrap() + "\n";
    if std::env::var_os("TCPWIN_WRITE_DOCS").is_some() {
        std::fs::write(&path, &schema).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        written == schema,
        "docs/trace.schema.json is old: run this test with TCPWIN_WRITE_DOCS=1, and tell CHANGELOG.md what changed"
    );
}

#[test]
fn events_keep_to_the_schema() {
    let text = include_str!("../../../docs/trace.schema.json");
    let schema: serde_json::Value = serde_json::from_str(text).unwrap();
    for event in events() {
        let event = serde_json::to_value(event).unwrap();
        assert_eq!(schema::fault(&schema, &event), None);
    }
    let wrong = serde_json::json!({ "event": "reset", "ts_ns": "soon" });
    assert!(schema::fault(&schema, &wrong).is_some());
}
