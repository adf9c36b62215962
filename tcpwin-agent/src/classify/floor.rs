//! What arithmetic forbids: the least time that slow start takes, and more than a window in a round trip.
//!
//! Figures beyond it are wrong, or were put together from different times; explaining them would be inventing.

use crate::connection::interval::Interval;
use crate::observation::Origin;
use crate::units::{Bytes, Micros, Nanos, bytes_text, rtt_text};

/// The largest first flight that anybody configures, segments. The kernel's own is 10 (RFC 6928).
const LARGEST_INITCWND: u64 = 64;
/// The segment of an Ethernet path; an MSS that has shrunk since the opening explains more.
const ETHERNET_MSS: u32 = 1460;
/// What measuring may be off by.
const SLACK: f64 = 1.1;

/// Round trips that slow start takes for `bytes` from a first flight: it doubles with each (RFC 5681, section 3.1).
#[must_use]
pub fn rounds(bytes: Bytes, first_flight: Bytes) -> u32 {
    let mut flight = first_flight.0.max(1);
    let mut sent = 0u64;
    let mut rounds = 0;
    while sent < bytes.0 {
        sent = sent.saturating_add(flight);
        flight = flight.saturating_mul(2);
        rounds += 1;
    }
    rounds
}

/// The least time from the first byte's sending to the last one's acknowledgement.
#[must_use]
pub fn least_time(bytes: Bytes, first_flight: Bytes, rtt: Micros) -> Nanos {
    let rounds = u64::from(rounds(bytes, first_flight));
    Nanos(rounds.saturating_mul(u64::from(rtt.0)).saturating_mul(1000))
}

/// What in these figures cannot be; `None` where nothing speaks against them.
#[must_use]
pub fn inconsistent(interval: &Interval) -> Option<String> {
    above_the_window(interval).or_else(|| before_slow_start(interval))
}

/// More acknowledged than the largest window the peer can have offered lets through: what was out at the start, and one window a
/// round trip after that.
fn above_the_window(interval: &Interval) -> Option<String> {
    let tcp = &interval.tcp;
    let rtt = Micros(tcp.min_rtt_us.filter(|us| *us > 0)?);
    let acked = interval.acked?;
    let most = match (tcp.max_window, tcp.wscale_ok) {
        (Some(most), _) => u64::from(most),
        (None, Some(true)) => 65_535 << tcp.snd_wscale?.min(14),
        (None, Some(false)) => 65_535,
        (None, None) => return None,
    };
    let trips = interval.span.seconds() / rtt.seconds() + 1.0;
    let allowed = most as f64 * trips * SLACK;
    (most > 0 && acked.0 as f64 > allowed).then(|| {
        format!(
            "{} acknowledged in {trips:.1} round trips of {} is more than a window of {} lets through",
            bytes_text(acked.0),
            rtt_text(rtt),
            bytes_text(most),
        )
    })
}

/// More acknowledged since the opening than slow start can have sent, whatever the first flight was.
fn before_slow_start(interval: &Interval) -> Option<String> {
    // Only the probes see the opening itself; a poll finds the connection later.
    if interval.origin == Origin::Seeded || interval.budget.is_none() {
        return None;
    }
    let tcp = &interval.tcp;
    let rtt = Micros(tcp.min_rtt_us.filter(|us| *us > 0)?);
    let acked = interval.acked?;
    let flight = Bytes(LARGEST_INITCWND * u64::from(tcp.mss?.max(ETHERNET_MSS)));
    let least = least_time(acked, flight, rtt);
    // The opening may have been seen up to a round trip late.
    let age = Nanos(interval.age.0.saturating_add(u64::from(rtt.0) * 1000));
    (least.seconds() > age.seconds() * SLACK).then(|| {
        format!(
            "{} acknowledged {:.0} ms after the opening: slow start takes {} round trips of {} for that, even from {LARGEST_INITCWND} segments",
            bytes_text(acked.0),
            interval.age.seconds() * 1e3,
            rounds(acked, flight),
            rtt_text(rtt),
        )
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::connection::interval::BudgetShares;
    use crate::observation::Tcp;
    use crate::units::BytesPerSec;

    #[test]
    fn rounds_from_each_first_flight() {
        for (bytes, expected) in [
            (60_000, [3, 2, 2, 2]),
            (1_000_000, [7, 6, 5, 5]),
            (8 << 20, [10, 9, 8, 8]),
        ] {
            let told = [10, 20, 28, 32].map(|segments| rounds(Bytes(bytes), Bytes(segments * 1448)));
            assert_eq!(told, expected, "{bytes} B");
        }
        assert_eq!(
            [10, 20, 28, 32].map(|segments| segments * 1448),
            [14_480, 28_960, 40_544, 46_336]
        );
    }

    #[test]
    fn eight_mebibytes_at_181_milliseconds_take_1_8_seconds() {
        let least = least_time(Bytes(8 << 20), Bytes(14_480), Micros(181_000));
        assert_eq!(least, Nanos(1_810_000_000));
    }

    #[test]
    fn bandwidth_delay_products_of_the_posts() {
        assert_eq!(BytesPerSec(12.5e6).bdp(Micros(181_000)), Bytes(2_262_500));
        assert_eq!(BytesPerSec(1.25e9).bdp(Micros(30_000)), Bytes(37_500_000));
        let connection = Bytes(4 << 20).per_rtt(Micros(30_000)).unwrap();
        assert!((connection.bits() / 1.118e9 - 1.0).abs() < 0.001);
        // 64 streams on one connection's window of 65,535 bytes.
        assert_eq!(65_535u64.div_ceil(64), 1024);
    }

    /// `acked` in `span_ms`, at 181 ms.
    fn interval(acked: u64, span_ms: u64, age_ms: u64) -> Interval {
        Interval {
            origin: Origin::Connect,
            acked: Some(Bytes(acked)),
            budget: Some(BudgetShares::default()),
            tcp: Tcp {
                min_rtt_us: Some(181_000),
                mss: Some(1448),
                wscale_ok: Some(false),
                ..Tcp::default()
            },
            ..Interval::unknown(Nanos(span_ms * 1_000_000), Nanos(age_ms * 1_000_000))
        }
    }

    #[test]
    fn a_window_a_round_trip_is_all_there_is() {
        // 2.9 Mbit/s over ten seconds.
        assert_eq!(inconsistent(&interval(3_620_000, 10_000, 60_000)), None);
        let told = inconsistent(&interval(8_000_000, 10_000, 60_000)).unwrap();
        assert!(told.contains("more than a window of 64.0 KiB"), "{told}");
        // A window that was out already may be acknowledged at once.
        assert_eq!(inconsistent(&interval(65_535, 1, 60_000)), None);
    }

    #[test]
    fn eight_mebibytes_in_half_a_second_at_181_milliseconds_cannot_be() {
        let mut early = interval(8 << 20, 500, 500);
        early.tcp.wscale_ok = Some(true);
        early.tcp.snd_wscale = Some(14);
        let told = inconsistent(&early).unwrap();
        assert!(
            told.contains("slow start takes 7 round trips of 181 ms"),
            "{told}"
        );
        let polled = Interval {
            budget: None,
            ..early.clone()
        };
        assert_eq!(inconsistent(&polled), None, "its opening was not seen");
        early.origin = Origin::Seeded;
        assert_eq!(inconsistent(&early), None, "nor was this one's");
    }

    proptest! {
        #[test]
        fn any_figures_are_judged(acked in any::<u64>(), span in any::<u64>(), age in any::<u64>(), rtt in any::<Option<u32>>(),
            window in any::<Option<u32>>(), scale in any::<Option<u8>>(), mss in any::<Option<u32>>(), ok in any::<Option<bool>>()) {
            let tcp = Tcp { min_rtt_us: rtt, max_window: window, snd_wscale: scale, wscale_ok: ok, mss, ..Tcp::default() };
            let figures = Interval { origin: Origin::Accept, acked: Some(Bytes(acked)), tcp, ..Interval::unknown(Nanos(span), Nanos(age)) };
            if let Some(told) = inconsistent(&figures) {
                prop_assert!(!told.contains("NaN") && !told.contains("inf "), "{told}");
            }
        }

        #[test]
        fn a_full_window_is_never_inconsistent(window in 1_448u32..1 << 30, rtt in 20u32..500_000, trips in 1u64..1_000) {
            let tcp = Tcp { min_rtt_us: Some(rtt), max_window: Some(window), mss: Some(1448), ..Tcp::default() };
            let span = Nanos(u64::from(rtt) * 1000 * trips);
            let figures = Interval { acked: Some(Bytes(u64::from(window) * trips)), tcp, ..Interval::unknown(span, span) };
            prop_assert_eq!(inconsistent(&figures), None);
        }
    }
}
