//! Figures and words that exits derive from one connection.

use crate::classify::{Bound, Limit, Side};
use crate::snapshot::{Connection, TcpFields};

/// The limit that screens show: what has held for a while, so that they stay calm; an agent that does not tell, its last one.
pub(crate) fn shown(connection: &Connection) -> Limit {
    connection
        .prevailing
        .map_or(connection.limit, |prevailing| prevailing.limit)
}

/// Factor by which the rate would rise once the binding limit is lifted.
pub(crate) fn gain(connection: &Connection) -> Option<f64> {
    gain_between(connection.rate_bps, connection.next.as_ref()?.rate_bps)
}

/// The same of two rates.
pub(crate) fn gain_between(rate_bps: f64, next_bps: f64) -> Option<f64> {
    (rate_bps > 0.0 && next_bps > 0.0).then(|| next_bps / rate_bps)
}

/// Bits per second that the binding limit withholds; the observed rate where the next limit is not known.
pub(crate) fn withheld_bps(connection: &Connection) -> f64 {
    let next = connection.next.as_ref().map(|next| next.rate_bps);
    withheld_between(connection.rate_bps, next)
}

/// The same of two rates.
pub(crate) fn withheld_between(rate_bps: f64, next_bps: Option<f64>) -> f64 {
    next_bps.map_or(rate_bps, |next| (next - rate_bps).max(0.0))
}

/// Share of segments sent again, over the connection's life.
pub(crate) fn retransmit_share(connection: &Connection) -> Option<f64> {
    share_sent_again(&connection.tcp)
}

/// The same of a socket's fields alone.
pub(crate) fn share_sent_again(tcp: &TcpFields) -> Option<f64> {
    let again = f64::from(tcp.retransmits_total?);
    let first = match (tcp.delivered, tcp.bytes_acked, tcp.mss) {
        (Some(delivered), _, _) => f64::from(delivered),
        (None, Some(bytes), Some(mss)) if mss > 0 => (bytes as f64 / f64::from(mss)).ceil(),
        _ => return None,
    };
    (first + again > 0.0).then(|| again / (first + again))
}

/// If somebody could act on what holds this connection back.
pub(crate) fn is_sick(connection: &Connection) -> bool {
    is_sickness(shown(connection))
}

/// If somebody could act on this limit.
pub(crate) fn is_sickness(limit: Limit) -> bool {
    severity_of(limit) < 2
}

/// Class in the order of sickness; 0 is the sickest.
pub(crate) fn severity(connection: &Connection) -> u8 {
    severity_of(shown(connection))
}

/// The same of a limit.
pub(crate) fn severity_of(limit: Limit) -> u8 {
    match (limit, limit.bound()) {
        (Limit::Stalled, _) => 0,
        // A young window opens by itself.
        (Limit::CwndStartup, _) => 3,
        (_, Bound::Window | Bound::Loss | Bound::Host) => 1,
        (_, Bound::Bandwidth) => 2,
        (_, Bound::App) => 4,
        (_, Bound::Unknown) => 5,
        (_, Bound::None) => 6,
    }
}

/// Congestion window in bytes.
pub(crate) fn cwnd_bytes(connection: &Connection) -> Option<u64> {
    let tcp = &connection.tcp;
    Some(u64::from(tcp.cwnd?) * u64::from(tcp.mss?))
}

/// Who must act, in words.
pub(crate) fn side_text(side: Side) -> &'static str {
    match side {
        Side::LocalApp => "the program on this host",
        Side::LocalKernel => "this host's kernel settings",
        Side::PeerKernel => "the peer's kernel settings",
        Side::PeerApp => "the peer's program",
        Side::Path => "the path",
        Side::Nobody => "nobody",
    }
}

/// What holds the connection, in words.
pub(crate) fn limit_text(limit: Limit) -> &'static str {
    match limit {
        Limit::Sndbuf => "our send buffer is full",
        Limit::Rwnd => "the peer's receive window is full",
        Limit::RwndScale => "the peer's window cannot grow: no window scaling",
        Limit::RwndReader => "the peer's program reads slowly",
        Limit::CwndStartup => "slow start, the congestion window is still opening",
        Limit::CwndClamp => "the congestion window is clamped",
        Limit::AppWindow => "a window of the protocol above TCP is full",
        Limit::Rcvbuf => "our receive buffer holds the peer",
        Limit::Reader => "our program reads slowly",
        Limit::Bandwidth => "the path carries no more",
        Limit::Policer => "a policer drops what exceeds its rate",
        Limit::Pacing => "the program's own SO_MAX_PACING_RATE",
        Limit::Loss => "loss keeps the congestion window small",
        Limit::MtuBlackhole => "full-size segments never arrive",
        Limit::Stalled => "nothing is acknowledged, the timer backs off",
        Limit::Turns => "one answer per round trip",
        Limit::SmallWrites => "writes smaller than a segment wait or cost",
        Limit::Host => "held on this host below TCP",
        Limit::App => "the program offers less than any window would carry",
        Limit::None => "idle or healthy",
        Limit::Unknown => "cannot be told yet",
    }
}

/// Control characters, and the invisible ones that reorder or hide text.
pub(crate) fn steers(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{feff}')
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}')
        || matches!(c, '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
}
