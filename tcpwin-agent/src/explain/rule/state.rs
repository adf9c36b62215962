//! What the TCP state says before any figure does.

use super::{ms_text, verdict};
use crate::classify::{Limit, Side, Verdict};
use crate::explain::figures::Figures;
use crate::observation::TcpState;

/// What the state alone tells.
pub fn tell(figures: &Figures<'_>) -> Option<Verdict> {
    let none = |proof: String| Some(Verdict::none(figures.direction, proof));
    let queued = figures.now.ss.send_q.unwrap_or(0);
    if figures.now.is_mptcp {
        return none(
            "The Multipath TCP connection itself: what may limit it is seen at its subflows.".to_owned(),
        );
    }
    match figures.now.state? {
        TcpState::Listen => none(listener(figures)),
        TcpState::SynSent | TcpState::SynRecv | TcpState::NewSynRecv => Some(handshake(figures)),
        TcpState::TimeWait => none("TIME-WAIT: the connection is over.".to_owned()),
        TcpState::Close => none("Not connected.".to_owned()),
        TcpState::FinWait2 if queued == 0 => {
            none("FIN-WAIT-2: all was sent and acknowledged; the peer has not closed yet.".to_owned())
        }
        TcpState::CloseWait if queued == 0 && figures.now.ss.recv_q.unwrap_or(0) <= 1 => {
            none("CLOSE-WAIT: the peer has closed; the program on this host has not.".to_owned())
        }
        _ => None,
    }
}

/// Recv-Q and Send-Q of a listener are of its accept queue.
fn listener(figures: &Figures<'_>) -> String {
    match (figures.now.ss.recv_q, figures.now.ss.send_q) {
        (Some(waiting), Some(backlog)) if backlog > 0 && waiting > backlog => format!(
            "A listener whose accept queue is full ({waiting} wait, backlog {backlog}): new connections are dropped until the program accepts."
        ),
        (Some(waiting), Some(backlog)) => {
            format!("A listener: {waiting} connections wait to be accepted, backlog {backlog}.")
        }
        _ => "A listener.".to_owned(),
    }
}

fn handshake(figures: &Figures<'_>) -> Verdict {
    let again = figures
        .now
        .totals
        .retransmits
        .unwrap_or(0)
        .max(figures.timeouts());
    if again == 0 {
        return Verdict::none(figures.direction, "The handshake is under way.".to_owned());
    }
    let next = figures.now.ss.rto_us.map_or_else(String::new, |rto| {
        format!(", the next within {}", ms_text(rto / 1000))
    });
    let (what, why) = match figures.now.state {
        Some(TcpState::SynSent) => (
            "SYN",
            "the port is filtered, the peer is down, or the path back is broken",
        ),
        _ => ("SYN-ACK", "the client is gone, or the path to it is broken"),
    };
    let proof = format!(
        "The {what} gets no answer: sent again {again} times{next}; {why}. No window is in play yet."
    );
    verdict(figures, Limit::Stalled, Side::Path, 0.8, None, proof)
}
