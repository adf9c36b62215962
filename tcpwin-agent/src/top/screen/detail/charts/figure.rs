//! What each chart draws: a figure and what bounds it, with the values that the snapshot has now.

use super::axis::Unit;
use super::series::{Figure, Reading, rates, readings};
use crate::classify::Direction;
use crate::snapshot::Connection;
use crate::top::charts::Chart;
use crate::top::history::Closeup;
use crate::top::text::count_text;
use crate::units::{Micros, bits_text, bytes_text, rtt_text};

/// A figure's name, its readings and its value now.
pub(super) struct Drawn {
    pub(super) name: &'static str,
    pub(super) readings: Vec<Reading>,
    /// Absent while it is not known.
    pub(super) now: Option<String>,
}

/// What a chart draws: its unit, its line, and the line that bounds it.
pub(super) fn drawn(
    chart: Chart,
    connection: &Connection,
    closeup: &Closeup,
    step_ns: u64,
) -> (Unit, Drawn, Drawn) {
    let tcp = &connection.tcp;
    let sends = connection.direction == Direction::Send;
    let bytes = |value: Option<u32>| value.map(|value| bytes_text(u64::from(value)));
    let millis = |value: Option<u32>| value.map(|value| rtt_text(Micros(value)));
    let count = |value: Option<u32>| value.map(|value| count_text(u64::from(value)));
    let draw = |name, figure: &Figure, now| Drawn {
        name,
        readings: readings(closeup, figure),
        now,
    };
    let tick = |of_point| Figure {
        of_point,
        of_sample: None,
    };
    match chart {
        Chart::Rate => {
            let rate = Drawn {
                name: "rate",
                readings: if sends {
                    rates(closeup, step_ns)
                } else {
                    readings(closeup, &tick(|point| point.rate_bps))
                },
                now: Some(bits_text(connection.rate_bps)),
            };
            let ceiling = draw(
                "ceiling",
                &tick(|point| point.ceiling_bps),
                connection.ceiling_bps.map(bits_text),
            );
            (Unit::Bits, rate, ceiling)
        }
        Chart::InFlight if sends => {
            let in_flight = Figure {
                of_point: |point| point.in_flight,
                of_sample: Some(|sample| f64::from(sample.in_flight_bytes)),
            };
            let snd_wnd = Figure {
                of_point: |point| point.snd_wnd,
                of_sample: Some(|sample| f64::from(sample.snd_wnd_bytes)),
            };
            // A sample tells what is not acknowledged: while something is lost, that is more than what is in flight.
            let unacked = closeup.samples().next_back();
            let (name, now) = match unacked {
                Some(sample) => ("unacked", bytes(Some(sample.in_flight_bytes))),
                None => ("in flight", bytes(tcp.in_flight_bytes)),
            };
            (
                Unit::Bytes,
                draw(name, &in_flight, now),
                draw("snd_wnd", &snd_wnd, bytes(tcp.snd_wnd_bytes)),
            )
        }
        Chart::InFlight => (
            Unit::Bytes,
            draw("rcv_wnd", &tick(|point| point.rcv_wnd), bytes(tcp.rcv_wnd_bytes)),
            draw("unread", &tick(|point| point.unread), bytes(tcp.unread_bytes)),
        ),
        Chart::Cwnd => {
            let cwnd = Figure {
                of_point: |point| point.cwnd,
                of_sample: Some(|sample| f64::from(sample.cwnd)),
            };
            let ssthresh = Figure {
                of_point: |point| point.ssthresh,
                of_sample: Some(|sample| sample.ssthresh.map_or(f64::NAN, f64::from)),
            };
            (
                Unit::Segments,
                draw("cwnd", &cwnd, count(tcp.cwnd)),
                draw("ssthresh", &ssthresh, count(tcp.ssthresh)),
            )
        }
        Chart::Rtt => {
            let srtt = Figure {
                of_point: |point| point.srtt_us,
                of_sample: Some(|sample| f64::from(sample.srtt_us)),
            };
            (
                Unit::Micros,
                draw("srtt", &srtt, millis(tcp.srtt_us)),
                draw("min_rtt", &tick(|point| point.min_rtt_us), millis(tcp.min_rtt_us)),
            )
        }
    }
}
