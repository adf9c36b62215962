//! Names of what is one of a few, as they are in the JSON.

use crate::classify::{Bound, Direction, Limit, Side};
use crate::observation::{Origin, RetransmitKind, TcpState};

pub(super) const BOUNDS: [&str; Bound::ALL.len()] = {
    let mut names = [""; Bound::ALL.len()];
    let mut at = 0;
    while at < names.len() {
        names[at] = Bound::ALL[at].name();
        at += 1;
    }
    names
};

pub(super) const LIMITS: [&str; Limit::ALL.len()] = {
    let mut names = [""; Limit::ALL.len()];
    let mut at = 0;
    while at < names.len() {
        names[at] = Limit::ALL[at].name();
        at += 1;
    }
    names
};

pub(super) const YES_NO: [&str; 2] = ["yes", "no"];

pub(super) const fn yes_no(yes: bool) -> &'static str {
    if yes { "yes" } else { "no" }
}

pub(super) const DIRECTIONS: [&str; 2] = ["send", "receive"];

pub(super) const fn direction(direction: Direction) -> &'static str {
    match direction {
        Direction::Send => "send",
        Direction::Receive => "receive",
    }
}

pub(super) const SIDES: [&str; 6] = [
    "local_app",
    "local_kernel",
    "peer_kernel",
    "peer_app",
    "path",
    "nobody",
];

pub(super) const fn side(side: Side) -> &'static str {
    match side {
        Side::LocalApp => "local_app",
        Side::LocalKernel => "local_kernel",
        Side::PeerKernel => "peer_kernel",
        Side::PeerApp => "peer_app",
        Side::Path => "path",
        Side::Nobody => "nobody",
    }
}

pub(super) const ORIGINS: [&str; 3] = ["connect", "accept", "seeded"];

pub(super) const fn origin(origin: Origin) -> &'static str {
    match origin {
        Origin::Connect => "connect",
        Origin::Accept => "accept",
        Origin::Seeded => "seeded",
    }
}

pub(super) const STATES: [&str; 12] = [
    "established",
    "syn_sent",
    "syn_recv",
    "fin_wait1",
    "fin_wait2",
    "time_wait",
    "close",
    "close_wait",
    "last_ack",
    "listen",
    "closing",
    "new_syn_recv",
];

pub(super) const fn state(state: TcpState) -> &'static str {
    match state {
        TcpState::Established => "established",
        TcpState::SynSent => "syn_sent",
        TcpState::SynRecv => "syn_recv",
        TcpState::FinWait1 => "fin_wait1",
        TcpState::FinWait2 => "fin_wait2",
        TcpState::TimeWait => "time_wait",
        TcpState::Close => "close",
        TcpState::CloseWait => "close_wait",
        TcpState::LastAck => "last_ack",
        TcpState::Listen => "listen",
        TcpState::Closing => "closing",
        TcpState::NewSynRecv => "new_syn_recv",
    }
}

pub(super) const RETRANSMIT_KINDS: [&str; 4] = ["fast", "rto", "tlp", "syn_ack"];

pub(super) const fn retransmit_kind(kind: RetransmitKind) -> &'static str {
    match kind {
        RetransmitKind::Fast => "fast",
        RetransmitKind::Rto => "rto",
        RetransmitKind::Tlp => "tlp",
        RetransmitKind::SynAck => "syn_ack",
    }
}
