//! The time to the first byte as a budget of round trips: what each step must take, what it took, and what each setting saves.

use serde::Serialize;

use crate::units::{Micros, Nanos};

/// A step on the way to the first byte.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Step {
    /// `dns`, `tcp`, `tls`, `request`.
    pub name: &'static str,
    /// Round trips that it must take; none for what does not go to this server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub round_trips: Option<u32>,
    /// What they take.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub least_us: Option<u64>,
    /// What it took.
    pub measured_us: u64,
}

/// What one change saves on a new connection.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Saving {
    /// The change.
    pub change: String,
    /// Round trips that it saves.
    pub round_trips: u32,
    /// In time.
    pub saves_us: u64,
}

/// The time to the first byte of an answer on a new connection.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Budget {
    /// In their order.
    pub steps: Vec<Step>,
    /// Round trips of them all.
    pub round_trips: u32,
    /// What those take.
    pub least_us: u64,
    /// From asking the resolver to the first byte.
    pub measured_us: u64,
    /// What could be saved, the largest first.
    pub savings: Vec<Saving>,
}

/// What was measured on the way.
#[derive(Clone, Copy, Debug, Default)]
pub struct Course {
    /// The resolver; `None` of what was an address.
    pub dns: Option<Nanos>,
    /// The TCP handshake.
    pub tcp: Nanos,
    /// The TLS handshake, and how it went.
    pub tls: Option<Shape>,
    /// From the request to the answer's first byte.
    pub request: Nanos,
    /// The answer's first record came in two flights.
    pub record_is_split: bool,
    /// The path's round-trip time.
    pub rtt: Micros,
    /// Fast Open was seen to work.
    pub fast_open_works: bool,
    /// This host's clients use it.
    pub fast_open_is_on: bool,
    /// Bytes that may be sent before the server's answer.
    pub early_data: bool,
}

/// A TLS handshake.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// How long it took.
    pub took: Nanos,
    /// It was of TLS 1.3.
    pub is_13: bool,
    /// The server asked for a second hello.
    pub is_retry: bool,
    /// The server resumed sessions when they were offered.
    pub resumes: bool,
    /// The server's flight did not fit into its first window; `None` where that is not known.
    pub is_split: Option<bool>,
}

impl Shape {
    /// Round trips of a full handshake (RFC 8446, section 2; RFC 5246, section 7.3).
    fn round_trips(self) -> u32 {
        let versions = if self.is_13 { 1 } else { 2 };
        versions + u32::from(self.is_retry) + u32::from(self.is_split == Some(true))
    }
}

/// Adds it up.
pub fn budget(course: &Course) -> Budget {
    let rtt = u64::from(course.rtt.0);
    let step = |name, round_trips: Option<u32>, measured: Nanos| Step {
        name,
        round_trips,
        least_us: round_trips.map(|trips| u64::from(trips) * rtt),
        measured_us: measured.0 / 1000,
    };
    let mut steps = Vec::new();
    steps.extend(course.dns.map(|took| step("dns", None, took)));
    steps.push(step("tcp", Some(1), course.tcp));
    if let Some(tls) = course.tls {
        steps.push(step("tls", Some(tls.round_trips()), tls.took));
    }
    let request = 1 + u32::from(course.record_is_split);
    steps.push(step("request", Some(request), course.request));
    let round_trips = steps.iter().filter_map(|step| step.round_trips).sum();
    Budget {
        round_trips,
        least_us: u64::from(round_trips) * rtt,
        measured_us: steps.iter().map(|step| step.measured_us).sum(),
        savings: savings(course),
        steps,
    }
}

fn savings(course: &Course) -> Vec<Saving> {
    let mut found = Vec::new();
    let mut saves = |round_trips: u32, change: &str| {
        found.push(Saving {
            change: change.to_owned(),
            round_trips,
            saves_us: u64::from(round_trips) * u64::from(course.rtt.0),
        });
    };
    match course.tls {
        Some(tls) if tls.is_13 => {
            if course.early_data {
                saves(
                    1,
                    "0-RTT, which this server allows, for a request that may be repeated: the second visit needs no round trip of TLS before it",
                );
            } else {
                saves(
                    1,
                    "0-RTT at the server (nginx: ssl_early_data on) and in the client, on later visits and for requests that may be repeated; resumption alone saves no round trip in TLS 1.3",
                );
            }
        }
        Some(tls) => {
            saves(1, "TLS 1.3 at the server: one round trip instead of two");
            if !tls.resumes {
                saves(
                    1,
                    "resumption of sessions at the server: saves one round trip of TLS 1.2 on later visits",
                );
            }
        }
        None => {}
    }
    if course.tls.is_some_and(|tls| tls.is_retry) {
        saves(
            1,
            "a group that clients send keys for (x25519, X25519MLKEM768) at the server: no second hello",
        );
    }
    if course.tls.is_some_and(|tls| tls.is_split == Some(true)) {
        saves(
            1,
            "a chain that fits into the first window: fewer or smaller certificates, or a larger initcwnd",
        );
    }
    if course.record_is_split {
        saves(
            1,
            "records at the start that fit into the first flight (nginx: ssl_buffer_size 4k), or a larger initcwnd",
        );
    }
    match (course.fast_open_works, course.fast_open_is_on) {
        (true, _) => saves(
            1,
            "Fast Open in the client, from the second connection on: the server takes data in the SYN",
        ),
        (false, true) => saves(
            1,
            "Fast Open at the server (net.ipv4.tcp_fastopen with 0x2, and the listener's own option), from the second connection on",
        ),
        (false, false) => {}
    }
    found
}

#[cfg(test)]
mod tests {
    use super::{Course, Shape, budget};
    use crate::units::{Micros, Nanos};

    const RTT: Micros = Micros(181_000);

    fn course(tls: Option<(bool, bool, bool)>) -> Course {
        Course {
            tls: tls.map(|(is_13, is_retry, is_split)| Shape {
                took: Nanos(0),
                is_13,
                is_retry,
                resumes: true,
                is_split: Some(is_split),
            }),
            rtt: RTT,
            ..Course::default()
        }
    }

    #[test]
    fn round_trips_of_the_posts() {
        for (tls, expected) in [
            (None, 2),
            (Some((true, false, false)), 3),
            (Some((false, false, false)), 4),
            (Some((true, true, false)), 4),
            (Some((true, false, true)), 4),
        ] {
            let told = budget(&course(tls));
            assert_eq!(told.round_trips, expected, "{tls:?}");
            assert_eq!(told.least_us, u64::from(expected) * 181_000);
        }
    }

    #[test]
    fn resumption_is_no_saving_in_tls_1_3_and_one_in_1_2() {
        let told = |is_13, resumes| {
            let mut course = course(Some((is_13, false, false)));
            if let Some(tls) = &mut course.tls {
                tls.resumes = resumes;
            }
            budget(&course).savings
        };
        assert!(
            told(true, false)
                .iter()
                .all(|saving| !saving.change.starts_with("resumption"))
        );
        assert!(
            told(false, false)
                .iter()
                .any(|saving| saving.change.starts_with("resumption"))
        );
        assert!(
            told(false, true)
                .iter()
                .all(|saving| !saving.change.starts_with("resumption"))
        );
    }

    #[test]
    fn each_saving_is_a_round_trip() {
        let mut course = course(Some((true, true, true)));
        course.fast_open_works = true;
        course.record_is_split = true;
        let told = budget(&course);
        assert_eq!((told.savings.len(), told.round_trips), (5, 6));
        assert!(told.savings.iter().all(|saving| saving.saves_us == 181_000));
    }
}
