//! The text of a cell, and how it is cut where it has no room.

use std::borrow::Cow;

use super::Column;
use crate::classify::{Direction, Limit};
use crate::snapshot::Connection;
use crate::snapshot::figures;
use crate::top::text::{
    age_text, clean, count_text, elide, elide_middle, gain_text, percent_text, rtt_pair, state_text,
};
use crate::top::theme::{Sign, Theme};
use crate::units::{bits_text, bytes_text};

impl Column {
    /// The text of a cell; empty where the value is not known.
    pub(crate) fn text(self, connection: &Connection, theme: Theme) -> Cow<'_, str> {
        let tcp = &connection.tcp;
        let bytes = |value: Option<u32>| value.map_or(Cow::Borrowed(""), |n| bytes_text(u64::from(n)).into());
        let count = |value: Option<u32>| value.map_or(Cow::Borrowed(""), |n| count_text(u64::from(n)).into());
        match self {
            // Drawn from what the screen remembers.
            Self::Trend => Cow::Borrowed(""),
            Self::Limit => figures::shown(connection).name().into(),
            Self::Gain => figures::gain(connection)
                .filter(|gain| *gain >= 1.05)
                .map_or(Cow::Borrowed(""), |gain| {
                    gain_text(gain, theme.sign(Sign::Times)).into()
                }),
            Self::Direction => match connection.direction {
                Direction::Send => "send".into(),
                Direction::Receive => "recv".into(),
            },
            Self::Rate => bits_text(connection.rate_bps).into(),
            Self::Ceiling => connection
                .ceiling_bps
                .map_or(Cow::Borrowed(""), |rate| bits_text(rate).into()),
            Self::Local => clean(&connection.local, theme.ascii),
            Self::Peer => clean(&connection.peer, theme.ascii),
            Self::Process => connection
                .process
                .as_ref()
                .map_or(Cow::Borrowed(""), |process| clean(&process.name, theme.ascii)),
            Self::Pid => connection
                .process
                .as_ref()
                .map_or(Cow::Borrowed(""), |process| process.pid.to_string().into()),
            Self::Cgroup => connection
                .cgroup
                .as_deref()
                .map_or(Cow::Borrowed(""), |path| clean(cgroup_text(path), theme.ascii)),
            Self::Netns if connection.netns == 0 => Cow::Borrowed(""),
            Self::Netns => connection.netns.to_string().into(),
            Self::State => tcp
                .state
                .map_or(Cow::Borrowed(""), |state| state_text(state).into()),
            Self::Congestion => tcp
                .congestion
                .as_deref()
                .map_or(Cow::Borrowed(""), |name| clean(name, theme.ascii)),
            Self::Mss => count(tcp.mss),
            Self::Ssthresh => count(tcp.ssthresh),
            Self::RcvWnd => bytes(tcp.rcv_wnd_bytes),
            Self::Rcvbuf => bytes(tcp.rcvbuf_bytes),
            Self::Unread => bytes(tcp.unread_bytes),
            Self::Confidence if connection.limit == Limit::Unknown => Cow::Borrowed(""),
            Self::Confidence => percent_text(connection.confidence).into(),
            Self::Rtt => rtt_pair(tcp.srtt_us, tcp.min_rtt_us).into(),
            Self::Cwnd => count(tcp.cwnd),
            Self::InFlight => bytes(tcp.in_flight_bytes),
            Self::SndWnd => bytes(tcp.snd_wnd_bytes),
            Self::Sndbuf => bytes(tcp.sndbuf_bytes),
            Self::Unsent => bytes(tcp.unsent_bytes),
            Self::Retrans => figures::retransmit_share(connection)
                .map_or(Cow::Borrowed(""), |share| percent_text(share).into()),
            Self::Age => age_text(connection.age_us).into(),
            Self::Proof => clean(&connection.proof, theme.ascii),
        }
    }

    /// `text` cut to `cells` in the column's own way.
    pub(crate) fn fit<'a>(self, text: &'a str, cells: usize, theme: Theme) -> Cow<'a, str> {
        let mark = theme.sign(Sign::Ellipsis);
        match self {
            Self::Local | Self::Peer => elide_middle(text, cells, mark),
            _ => elide(text, cells, mark),
        }
    }
}

/// The last part of a cgroup's path, which names the service or container; of an id of 64 digits the first twelve, as
/// container tools write it.
fn cgroup_text(path: &str) -> &str {
    let last = path.trim_end_matches('/').rsplit('/').next().unwrap_or(path);
    let bare = last.strip_suffix(".scope").unwrap_or(last);
    let id = bare.rsplit('-').next().unwrap_or(bare);
    if id.len() == 64 && id.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        &id[..12]
    } else {
        last
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cgroup_is_named_as_people_name_it() {
        let id = "0123456789abcdef".repeat(4);
        assert_eq!(cgroup_text("/system.slice/nginx.service"), "nginx.service");
        assert_eq!(
            cgroup_text(&format!("/system.slice/docker-{id}.scope")),
            "0123456789ab"
        );
        assert_eq!(
            cgroup_text(&format!("/kubepods/burstable/pod1/{id}")),
            "0123456789ab"
        );
        assert_eq!(cgroup_text("/user.slice/session-3.scope"), "session-3.scope");
        assert_eq!(cgroup_text("/"), "");
    }
}
