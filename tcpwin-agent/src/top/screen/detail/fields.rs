//! The socket's fields as `ss -tinm` has them: its names, and every digit, so that one can be held against the other.

use ratatui::text::{Line, Span};

use super::section;
use crate::observation::FastOpen;
use crate::snapshot::Connection;
use crate::snapshot::figures::retransmit_share;
use crate::top::text::{clean, percent_text, state_text, width};
use crate::top::theme::Theme;
use crate::units::bits_text;

/// The section: as many fields on a line as fit.
pub(super) fn lines(connection: &Connection, cells: usize, theme: Theme) -> Vec<Line<'static>> {
    let mut lines = vec![section("socket, in the terms of ss", cells, theme)];
    let mut spans: Vec<Span<'static>> = Vec::new();
    let mut used = 0;
    for (name, value) in fields(connection) {
        let value = clean(&value, theme.ascii).into_owned();
        let more = width(name) + width(&value) + 3;
        if used > 0 && used + more > cells.saturating_sub(1) {
            lines.push(Line::from(std::mem::take(&mut spans)));
            used = 0;
        }
        spans.push(Span::styled(format!("  {name}:"), theme.dim()));
        spans.push(Span::raw(value));
        used += more;
    }
    lines.push(Line::from(spans));
    lines
}

/// Names and values of what is known.
fn fields(connection: &Connection) -> Vec<(&'static str, String)> {
    let tcp = &connection.tcp;
    let exact = |value: Option<u32>| value.map(|value| value.to_string());
    let long = |value: Option<u64>| value.map(|value| value.to_string());
    let rate = |value: Option<f64>| value.map(bits_text);
    let locked = |locked: Option<bool>| if locked == Some(true) { " (locked)" } else { "" };
    let buffer = |value: Option<u32>, is: Option<bool>| value.map(|value| format!("{value}{}", locked(is)));
    let millis = |us: u32| f64::from(us) / 1e3;
    let rtt = tcp.srtt_us.map(|srtt| match tcp.rttvar_us {
        Some(var) => format!("{}/{} ms", millis(srtt), millis(var)),
        None => format!("{} ms", millis(srtt)),
    });
    let wscale = match (tcp.snd_wscale, tcp.rcv_wscale) {
        (None, None) => None,
        (snd, rcv) => {
            let one = |shift: Option<u8>| shift.map_or_else(|| "-".to_owned(), |shift| shift.to_string());
            Some(format!("{},{}", one(snd), one(rcv)))
        }
    };
    let retransmits = tcp.retransmits_total.map(|total| {
        let kinds = tcp.retransmits.map_or(String::new(), |kinds| {
            format!(" (fast {}, rto {}, tlp {})", kinds.fast, kinds.rto, kinds.tlp)
        });
        let share =
            retransmit_share(connection).map_or(String::new(), |share| format!(" {}", percent_text(share)));
        format!("{}{share}{kinds}", total)
    });
    let calls = connection.calls;
    let all = [
        ("state", tcp.state.map(|state| state_text(state).to_owned())),
        ("cc", tcp.congestion.clone()),
        ("wscale", wscale),
        ("rtt", rtt),
        ("minrtt", tcp.min_rtt_us.map(|us| format!("{} ms", millis(us)))),
        ("mss", exact(tcp.mss)),
        ("cwnd", exact(tcp.cwnd)),
        ("ssthresh", exact(tcp.ssthresh)),
        ("snd_wnd", exact(tcp.snd_wnd_bytes)),
        ("rcv_wnd", exact(tcp.rcv_wnd_bytes)),
        ("tb (sndbuf)", buffer(tcp.sndbuf_bytes, tcp.sndbuf_locked)),
        ("rb (rcvbuf)", buffer(tcp.rcvbuf_bytes, tcp.rcvbuf_locked)),
        ("w (wmem_queued)", exact(tcp.wmem_queued_bytes)),
        ("in_flight", exact(tcp.in_flight_bytes)),
        ("notsent", exact(tcp.unsent_bytes)),
        ("recv-q (unread)", exact(tcp.unread_bytes)),
        ("bytes_acked", long(tcp.bytes_acked)),
        ("bytes_received", long(tcp.bytes_received)),
        ("delivered", exact(tcp.delivered)),
        ("retrans", retransmits),
        ("timeouts", tcp.timeouts.map(|timeouts| timeouts.to_string())),
        ("pacing_rate", rate(tcp.pacing_rate_bps)),
        ("max_pacing_rate", rate(tcp.max_pacing_rate_bps)),
        ("delivery_rate", rate(tcp.delivery_rate_bps)),
        (
            "fastopen",
            tcp.fastopen.map(|fastopen| fastopen_text(fastopen).to_owned()),
        ),
        (
            "handshake",
            tcp.handshake_us.map(|us| format!("{} ms", millis(us))),
        ),
        ("sends", calls.map(|calls| calls.sends.to_string())),
        ("recvs", calls.map(|calls| calls.recvs.to_string())),
        ("send_refused", calls.map(|calls| calls.send_refused.to_string())),
        ("turns", calls.map(|calls| calls.turns.to_string())),
        ("cgroup", connection.cgroup.clone()),
        (
            "netns",
            (connection.netns != 0).then(|| connection.netns.to_string()),
        ),
        ("cookie", Some(connection.id.clone())),
    ];
    all.into_iter()
        .filter_map(|(name, value)| Some((name, value?)))
        .collect()
}

fn fastopen_text(fastopen: FastOpen) -> &'static str {
    match fastopen {
        FastOpen::CookieRequested => "cookie requested",
        FastOpen::DataRefused => "data refused",
        FastOpen::DataAccepted => "data accepted",
    }
}
