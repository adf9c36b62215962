//! Figures of one connection at one tick.

use crate::snapshot::{Connection, Snapshot};

/// What the charts and sparklines draw; NaN where not known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Point {
    /// CLOCK_MONOTONIC of the tick, ns.
    pub(crate) at_ns: u64,
    pub(crate) rate_bps: f32,
    pub(crate) ceiling_bps: f32,
    pub(crate) srtt_us: f32,
    pub(crate) min_rtt_us: f32,
    pub(crate) cwnd: f32,
    pub(crate) ssthresh: f32,
    pub(crate) in_flight: f32,
    pub(crate) snd_wnd: f32,
    pub(crate) unread: f32,
    pub(crate) rcv_wnd: f32,
    /// Segments sent again over the connection's life.
    pub(crate) retransmits: Option<u32>,
}

impl Point {
    /// Of `connection` as `snapshot` has it.
    pub(crate) fn of(connection: &Connection, snapshot: &Snapshot) -> Self {
        let tcp = &connection.tcp;
        let known = |value: Option<u32>| value.map_or(f32::NAN, |value| value as f32);
        Self {
            at_ns: snapshot.at_ns,
            rate_bps: connection.rate_bps as f32,
            ceiling_bps: connection.ceiling_bps.map_or(f32::NAN, |rate| rate as f32),
            srtt_us: known(tcp.srtt_us),
            min_rtt_us: known(tcp.min_rtt_us),
            cwnd: known(tcp.cwnd),
            ssthresh: known(tcp.ssthresh),
            in_flight: known(tcp.in_flight_bytes),
            snd_wnd: known(tcp.snd_wnd_bytes),
            unread: known(tcp.unread_bytes),
            rcv_wnd: known(tcp.rcv_wnd_bytes),
            retransmits: tcp.retransmits_total,
        }
    }
}
