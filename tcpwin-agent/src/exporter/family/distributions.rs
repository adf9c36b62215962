//! How figures of connections are distributed.

use super::{Family, Kind, Octaves, Sample, Unit, Value, labelled, one};
use crate::snapshot::{Distribution, Distributions};

/// 61 µs, 244 µs … 16 s.
const TIMES: Kind = Kind::Histogram(Octaves {
    first: -14,
    last: 4,
    step: 2,
});
/// 16 ms, 250 ms … 17 minutes, 4 hours.
const LIVES: Kind = Kind::Histogram(Octaves {
    first: -6,
    last: 14,
    step: 4,
});
/// 64 B, 1 KiB … 64 GiB.
const SIZES: Kind = Kind::Histogram(Octaves {
    first: 6,
    last: 36,
    step: 5,
});
/// 1, 2, 4 … 128.
const FACTORS: Kind = Kind::Histogram(Octaves {
    first: 0,
    last: 7,
    step: 1,
});

pub(super) static FAMILIES: [Family; 9] = [
    Family {
        name: "tcpwin_srtt",
        help: "Smoothed round-trip time of connections that moved data, at the end of each interval",
        unit: Unit::Seconds,
        kind: TIMES,
        labels: &[],
        bound: 1,
        example: "histogram_quantile(0.9, sum(rate(tcpwin_srtt_seconds[5m])))",
        read: |reading, samples| spread(samples, &reading.snapshot.tally.distributions.srtt),
    },
    Family {
        name: "tcpwin_min_rtt",
        help: "Minimum round-trip time of connections that moved data, at the end of each interval",
        unit: Unit::Seconds,
        kind: TIMES,
        labels: &[],
        bound: 1,
        example: "histogram_quantile(0.5, sum(rate(tcpwin_min_rtt_seconds[5m])))",
        read: |reading, samples| spread(samples, &reading.snapshot.tally.distributions.min_rtt),
    },
    Family {
        name: "tcpwin_bdp",
        help: "Rate of an interval x min_rtt: what connections must keep in flight for the rate they make",
        unit: Unit::Bytes,
        kind: SIZES,
        labels: &[],
        bound: 1,
        example: "histogram_quantile(0.99, sum(rate(tcpwin_bdp_bytes[5m])))",
        read: |reading, samples| spread(samples, &reading.snapshot.tally.distributions.bdp),
    },
    Family {
        name: "tcpwin_gain_ratio",
        help: "Factor by which the rate of a connection would rise once its limit is lifted, at the end of each interval \
               that moved data, where the next limit is known; bounded as tcpwin_not_moved_bytes_total is; 1 where nothing \
               is known to be gained",
        unit: Unit::Count("ratio"),
        kind: FACTORS,
        labels: &[],
        bound: 1,
        example: "1 - histogram_fraction(0, 2, sum(rate(tcpwin_gain_ratio[5m])))",
        read: |reading, samples| spread(samples, &reading.snapshot.tally.distributions.gain),
    },
    Family {
        name: "tcpwin_write_size",
        help: "What a send call of the program took, as the mean of each interval in which a connection's program sent; \
               only the kernel probes see calls",
        unit: Unit::Bytes,
        kind: SIZES,
        labels: &[],
        bound: 1,
        example: "histogram_quantile(0.5, sum(rate(tcpwin_write_size_bytes[5m])))",
        read: |reading, samples| spread(samples, &reading.snapshot.tally.distributions.write),
    },
    Family {
        name: "tcpwin_send_queue_delay",
        help: "Unsent data / rate of connections that send, at the end of each interval: how long a byte waits in our \
               buffer before it is first sent",
        unit: Unit::Seconds,
        kind: TIMES,
        labels: &[],
        bound: 1,
        example: "histogram_quantile(0.9, sum(rate(tcpwin_send_queue_delay_seconds[5m])))",
        read: |reading, samples| spread(samples, &reading.snapshot.tally.distributions.queue_delay),
    },
    Family {
        name: "tcpwin_handshake",
        help: "Time of TCP handshakes, by which end opened the connection: connect: from the first SYN until the connection is \
               established, SYNs sent again included; accept: from our SYN-ACK to its acknowledgement. Left out is whose \
               SYN-ACK, or whose SYN with Fast Open, was sent again; only the kernel probes tell",
        unit: Unit::Seconds,
        kind: TIMES,
        labels: &["origin"],
        bound: 2,
        example: r#"histogram_quantile(0.9, sum by (origin) (rate(tcpwin_handshake_seconds[5m])))"#,
        read: |reading, samples| {
            let of = &reading.snapshot.tally.distributions;
            samples.push(labelled(["connect"], Value::Spread(&of.handshake_connect)));
            samples.push(labelled(["accept"], Value::Spread(&of.handshake_accept)));
        },
    },
    Family {
        name: "tcpwin_connection_life",
        help: "Life of connections that have closed; those that are older than the agent are left out",
        unit: Unit::Seconds,
        kind: LIVES,
        labels: &[],
        bound: 1,
        example: "histogram_quantile(0.5, sum(rate(tcpwin_connection_life_seconds[5m])))",
        read: |reading, samples| spread(samples, &reading.snapshot.tally.distributions.life),
    },
    Family {
        name: "tcpwin_connection_size",
        help: "Data that connections which have closed moved over their life, by direction",
        unit: Unit::Bytes,
        kind: SIZES,
        labels: &["direction"],
        bound: 2,
        example: "histogram_quantile(0.5, sum by (direction) (rate(tcpwin_connection_size_bytes[5m])))",
        read: |reading, samples| {
            let Distributions { sent, received, .. } = &reading.snapshot.tally.distributions;
            samples.push(labelled(["send"], Value::Spread(sent)));
            samples.push(labelled(["receive"], Value::Spread(received)));
        },
    },
];

fn spread<'a>(samples: &mut Vec<Sample<'a>>, distribution: &'a Distribution) {
    samples.push(one(Value::Spread(distribution)));
}
