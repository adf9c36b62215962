//! What somebody claims, held against what the path allows at all.

use std::str::FromStr;

use serde::Serialize;

use super::flight::INITCWND;
use crate::classify::floor;
use crate::units::{Bytes, Micros, bits_text, bytes_text, rtt_text};

/// What measuring may be off by.
const SLACK: f64 = 0.98;
/// The segment of an Ethernet path with timestamps.
const MSS: u64 = 1_448;

/// Figures that belong together: `first-byte=120ms`, `rate=100mbit size=8MiB`, with `rtt=` and `initcwnd=` where they are known.
#[derive(Clone, Debug, PartialEq)]
pub struct Claim {
    text: String,
    first_byte_us: Option<f64>,
    time_us: Option<f64>,
    rate_bps: Option<f64>,
    size: Option<u64>,
    rtt_us: Option<f64>,
    initcwnd: Option<u64>,
}

/// What became of a claim.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Judged {
    /// As it was given.
    pub claim: String,
    /// Whether it can be at all.
    pub possible: bool,
    /// The arithmetic.
    pub why: String,
}

/// What it is held against.
#[derive(Clone, Copy, Debug)]
pub struct Path {
    /// Its round-trip time.
    pub rtt: Micros,
    /// Round trips to the first byte on a new connection as the server is set now.
    pub round_trips: u32,
    /// TLS is spoken.
    pub is_tls: bool,
    /// Segments of the server's first flight, where it was seen.
    pub first_flight: Option<u64>,
    /// Bytes of a segment.
    pub mss: u32,
}

impl Claim {
    /// Judges it.
    pub fn judge(&self, path: &Path) -> Judged {
        let rtt = self.rtt_us.map_or(path.rtt, |us| Micros(us as u32));
        let mut faults = Vec::new();
        let mut notes = Vec::new();
        if let Some(claimed) = self.first_byte_us {
            first_byte(claimed, rtt, path, &mut faults, &mut notes);
        }
        if let Some(size) = self.size
            && (self.rate_bps.is_some() || self.time_us.is_some())
        {
            self.transfer(size, rtt, path, &mut faults, &mut notes);
        }
        Judged {
            claim: self.text.clone(),
            possible: faults.is_empty(),
            why: if faults.is_empty() { notes } else { faults }.join("; "),
        }
    }

    fn transfer(
        &self,
        size: u64,
        rtt: Micros,
        path: &Path,
        faults: &mut Vec<String>,
        notes: &mut Vec<String>,
    ) {
        let segments = self.initcwnd.or(path.first_flight).unwrap_or(INITCWND);
        let mss = if path.mss > 0 { path.mss.into() } else { MSS };
        let flight = Bytes(segments * mss);
        let rounds = floor::rounds(Bytes(size), flight);
        let least = floor::least_time(Bytes(size), flight, rtt);
        let most_bps = Bytes(size).per(least).bits();
        let told = format!(
            "{} from {segments} segments of {mss} B takes slow start {rounds} round trips of {} = {:.2} s at least, thus {} at most",
            bytes_text(size),
            rtt_text(rtt),
            least.seconds(),
            bits_text(most_bps),
        );
        let claimed_us = self
            .time_us
            .or(self.rate_bps.map(|rate| size as f64 * 8e6 / rate));
        let is_possible = claimed_us.is_none_or(|us| us >= least.seconds() * 1e6 * SLACK);
        if is_possible { notes } else { faults }.push(told);
    }
}

fn first_byte(claimed_us: f64, rtt: Micros, path: &Path, faults: &mut Vec<String>, notes: &mut Vec<String>) {
    let trip = f64::from(rtt.0);
    let at_most = claimed_us / SLACK;
    let opening = if path.is_tls {
        "TCP, TLS and the request"
    } else {
        "TCP and the request"
    };
    let full = f64::from(path.round_trips) * trip;
    let trips = path.round_trips;
    let full_text = format!(
        "{opening} take {trips} round trips of {} = {:.0} ms",
        rtt_text(rtt),
        full / 1e3
    );
    if at_most < trip {
        faults.push(format!(
            "no answer comes within less than one round trip of {}, on any connection",
            rtt_text(rtt)
        ));
    } else if at_most < full {
        let ways = if path.is_tls {
            "a connection that was open already, or Fast Open and 0-RTT"
        } else {
            "a connection that was open already, or Fast Open"
        };
        faults.push(format!(
            "on a new connection {full_text}; below that is only {ways}"
        ));
    } else {
        notes.push(format!(
            "{full_text}, which leaves {:.0} ms",
            (claimed_us - full) / 1e3
        ));
    }
}

/// What is no claim.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0}: write first-byte=120ms, or rate=100mbit size=8MiB, or time=1s size=8MiB; rtt=181ms and initcwnd=10 may be added"
)]
pub struct NoClaim(String);

impl FromStr for Claim {
    type Err = NoClaim;

    fn from_str(text: &str) -> Result<Self, NoClaim> {
        let mut claim = Self {
            text: text.to_owned(),
            first_byte_us: None,
            time_us: None,
            rate_bps: None,
            size: None,
            rtt_us: None,
            initcwnd: None,
        };
        for word in text.split_whitespace() {
            let wrong = || NoClaim(format!("`{word}` is not understood"));
            let (name, value) = word.split_once('=').ok_or_else(wrong)?;
            match name {
                "first-byte" => claim.first_byte_us = Some(time(value).ok_or_else(wrong)?),
                "time" => claim.time_us = Some(time(value).ok_or_else(wrong)?),
                "rtt" => claim.rtt_us = Some(time(value).ok_or_else(wrong)?),
                "rate" => claim.rate_bps = Some(rate(value).ok_or_else(wrong)?),
                "size" => claim.size = Some(size(value).ok_or_else(wrong)?),
                "initcwnd" => {
                    let segments = value
                        .parse()
                        .ok()
                        .filter(|segments| (1..=10_000).contains(segments));
                    claim.initcwnd = Some(segments.ok_or_else(wrong)?);
                }
                _ => return Err(wrong()),
            }
        }
        let of_size = claim.rate_bps.is_some() || claim.time_us.is_some();
        if of_size != claim.size.is_some() {
            return Err(NoClaim(format!(
                "`{text}` has a rate or a time without a size, or a size without them"
            )));
        }
        if !of_size && claim.first_byte_us.is_none() {
            return Err(NoClaim(format!("`{text}` claims nothing")));
        }
        Ok(claim)
    }
}

/// Microseconds, above 0 and below an hour.
fn time(text: &str) -> Option<f64> {
    let us = scaled(text, &[("us", 1.0), ("ms", 1e3), ("s", 1e6)])?;
    (us <= 3.6e9).then_some(us)
}

/// Bits a second.
fn rate(text: &str) -> Option<f64> {
    let lower = text.to_ascii_lowercase();
    let lower = lower.trim_end_matches("/s");
    scaled(
        lower,
        &[("kbit", 1e3), ("mbit", 1e6), ("gbit", 1e9), ("bit", 1.0)],
    )
}

fn size(text: &str) -> Option<u64> {
    let units = [
        ("KiB", 1_024.0),
        ("MiB", 1_048_576.0),
        ("GiB", 1_073_741_824.0),
        ("kB", 1e3),
        ("KB", 1e3),
        ("MB", 1e6),
        ("GB", 1e9),
        ("B", 1.0),
    ];
    let bytes = scaled(text, &units)?;
    (1.0..=1e15).contains(&bytes).then_some(bytes as u64)
}

/// A number above 0 with one of the units, which are tried in their order.
fn scaled(text: &str, units: &[(&str, f64)]) -> Option<f64> {
    let (number, factor) = units
        .iter()
        .find_map(|(unit, factor)| text.strip_suffix(unit).map(|number| (number, factor)))?;
    let number: f64 = number.trim().parse().ok()?;
    let value = number * factor;
    (value.is_finite() && value > 0.0).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::{Claim, Judged, Path};
    use crate::units::Micros;

    const PATH: Path = Path {
        rtt: Micros(181_000),
        round_trips: 3,
        is_tls: true,
        first_flight: Some(10),
        mss: 1_448,
    };

    fn judged(text: &str) -> Judged {
        text.parse::<Claim>().expect("a claim").judge(&PATH)
    }

    #[test]
    fn eight_mebibytes_at_181_ms_take_1_8_seconds() {
        let told = judged("rate=100mbit size=8MiB");
        assert!(!told.possible);
        assert!(
            told.why.contains("10 round trips of 181 ms = 1.81 s"),
            "{}",
            told.why
        );
        assert!(told.why.contains("37.1 Mbit/s at most"), "{}", told.why);
        assert!(judged("rate=37mbit size=8MiB").possible);
        assert!(judged("time=1.9s size=8MiB").possible);
        assert!(!judged("time=1.5s size=8MiB initcwnd=10").possible);
        assert!(judged("time=1.5s size=8MiB initcwnd=32").possible);
        assert!(judged("rate=100mbit size=8MiB rtt=30ms").possible);
    }

    #[test]
    fn a_first_byte_needs_its_round_trips() {
        let told = judged("first-byte=120ms");
        assert!(
            !told.possible && told.why.contains("on any connection"),
            "{}",
            told.why
        );
        let told = judged("first-byte=400ms");
        assert!(
            !told.possible && told.why.contains("3 round trips of 181 ms = 543 ms"),
            "{}",
            told.why
        );
        let told = judged("first-byte=600ms");
        assert!(told.possible && told.why.contains("leaves 57 ms"), "{}", told.why);
        assert!(judged("first-byte=120ms rtt=30ms").possible);
    }

    #[test]
    fn what_is_no_claim_is_refused_with_a_reason() {
        for text in [
            "",
            "rtt=181ms",
            "first-byte",
            "first-byte=120",
            "first-byte=-1ms",
            "first-byte=nanms",
            "rate=100mbit",
            "size=8MiB",
            "speed=3",
            "initcwnd=0 first-byte=1s",
            "time=2h size=1B",
        ] {
            let error = text.parse::<Claim>().expect_err(text);
            assert!(error.to_string().contains("first-byte=120ms"), "{error}");
        }
    }
}
