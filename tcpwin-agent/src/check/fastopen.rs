//! TCP Fast Open (RFC 7413) as this client's kernel does it: a cookie asked for, data in the SYN, and what becomes of it.

use std::fs;
use std::net::SocketAddr;

use serde::Serialize;

use super::wire::{ConnectError, Wire};
use crate::observation::tcp_info::{OPTION_SYN_DATA, TcpInfo};
use crate::units::{Instant, Nanos};

/// Connections that are made at most: one to get a cookie, one to use it, one to see a failure again, one to spare.
const CONNECTIONS: usize = 4;
/// The client's bit of net.ipv4.tcp_fastopen; 0x2 is the server's.
const CLIENT: u32 = 1;

/// What is known of Fast Open to this server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// This host's sysctl has the client's bit off: nothing was tried.
    ClientOff,
    /// Data in the SYN was taken.
    Accepted,
    /// The server gives no cookie.
    NoCookie,
    /// There is a cookie, and the server takes the SYN without its data.
    DataRefused,
    /// SYNs with data or with the option get no answer; the connection came about by a plain one sent again.
    Blackholed,
    /// One SYN got lost; a second connection did not show the same.
    Unclear,
    /// No connection came about, or no answer.
    Failed,
}

/// One connection that tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Attempt {
    /// A cookie was in the kernel's cache, so the SYN took data along.
    pub had_cookie: bool,
    /// The SYN-ACK acknowledged the data.
    pub data_accepted: bool,
    /// `tcpi_fastopen_client_fail`, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fallback: Option<Fallback>,
    /// SYNs and data sent again.
    pub retransmits: u32,
    /// From `connect` to the first answer to the data.
    pub first_answer_us: u64,
}

/// Why the kernel fell back to a plain handshake (include/uapi/linux/tcp.h, `tcp_fastopen_client_fail`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Fallback {
    /// There was no cookie to use.
    CookieUnavailable,
    /// The SYN-ACK did not acknowledge the data.
    DataNotAcked,
    /// The SYN had to be sent again, without data.
    SynRetransmitted,
}

/// What came of it.
#[derive(Clone, Debug, Serialize)]
pub struct FastOpen {
    /// The outcome.
    pub state: State,
    /// Whether a cookie is in the kernel's cache by now.
    pub cookie: bool,
    /// Each connection in its order.
    pub attempts: Vec<Attempt>,
}

/// Whether this network namespace's clients use Fast Open.
pub fn client_is_on() -> bool {
    let value = fs::read_to_string("/proc/sys/net/ipv4/tcp_fastopen").unwrap_or_default();
    value.trim().parse::<u32>().is_ok_and(|bits| bits & CLIENT != 0)
}

/// Makes connections until it is known. `talk` sends the first bytes, and returns when the first answer to them came.
pub fn measure(
    to: SocketAddr,
    within: Nanos,
    mut talk: impl FnMut(Wire) -> Option<(Wire, Instant)>,
) -> FastOpen {
    let mut attempts = Vec::new();
    if !client_is_on() {
        return FastOpen {
            state: State::ClientOff,
            cookie: false,
            attempts,
        };
    }
    while attempts.len() < CONNECTIONS && !is_settled(&attempts) {
        let Ok(attempt) = attempt(to, within, &mut talk) else {
            break;
        };
        let Some(attempt) = attempt else { break };
        attempts.push(attempt);
    }
    FastOpen {
        state: judge(&attempts),
        cookie: attempts.iter().any(|attempt| attempt.had_cookie),
        attempts,
    }
}

fn attempt(
    to: SocketAddr,
    within: Nanos,
    talk: &mut impl FnMut(Wire) -> Option<(Wire, Instant)>,
) -> Result<Option<Attempt>, ConnectError> {
    let wire = Wire::open_fast(to, within)?;
    let (began, had_cookie) = (wire.began, wire.opened.is_none());
    let Some((wire, answered)) = talk(wire) else {
        return Ok(None);
    };
    let info = wire.info();
    Ok(Some(Attempt {
        had_cookie,
        data_accepted: info.options().unwrap_or(0) & OPTION_SYN_DATA != 0,
        fallback: fallback(&info),
        retransmits: info.total_retrans().unwrap_or(0),
        first_answer_us: answered.since(began).0 / 1000,
    }))
}

fn fallback(info: &TcpInfo) -> Option<Fallback> {
    match info.flags()? >> 1 & 3 {
        1 => Some(Fallback::CookieUnavailable),
        2 => Some(Fallback::DataNotAcked),
        3 => Some(Fallback::SynRetransmitted),
        _ => None,
    }
}

/// Whether one more would tell nothing new. A cookie that was refused may have been an old one, and one lost SYN is no blackhole:
/// both are tried again.
fn is_settled(attempts: &[Attempt]) -> bool {
    match judge(attempts) {
        State::Accepted => true,
        State::NoCookie | State::Blackholed => attempts.len() >= 2,
        State::DataRefused => attempts.iter().filter(|attempt| attempt.had_cookie).count() >= 2,
        _ => false,
    }
}

fn judge(attempts: &[Attempt]) -> State {
    let lost = attempts.iter().filter(|attempt| attempt.is_lost()).count();
    let Some(last) = attempts.last() else {
        return State::Failed;
    };
    if attempts.iter().any(|attempt| attempt.data_accepted) {
        State::Accepted
    } else if lost >= 2 {
        State::Blackholed
    } else if lost == 1 {
        State::Unclear
    } else if last.had_cookie {
        State::DataRefused
    } else {
        State::NoCookie
    }
}

impl Attempt {
    fn is_lost(&self) -> bool {
        self.fallback == Some(Fallback::SynRetransmitted)
    }
}

#[cfg(test)]
mod tests {
    use super::{Attempt, Fallback, State, is_settled, judge};

    fn attempt(had_cookie: bool, data_accepted: bool, fallback: Option<Fallback>) -> Attempt {
        Attempt {
            had_cookie,
            data_accepted,
            fallback,
            retransmits: 0,
            first_answer_us: 1,
        }
    }

    #[test]
    fn each_outcome_is_told_from_its_connections() {
        let asked = attempt(false, false, Some(Fallback::CookieUnavailable));
        let taken = attempt(true, true, None);
        let refused = attempt(true, false, Some(Fallback::DataNotAcked));
        let lost = attempt(true, false, Some(Fallback::SynRetransmitted));
        for (attempts, state, settled) in [
            (vec![], State::Failed, false),
            (vec![asked], State::NoCookie, false),
            (vec![asked, asked], State::NoCookie, true),
            (vec![asked, taken], State::Accepted, true),
            (vec![asked, refused], State::DataRefused, false),
            (vec![asked, refused, taken], State::Accepted, true),
            (vec![asked, refused, refused], State::DataRefused, true),
            (vec![asked, lost], State::Unclear, false),
            (vec![asked, lost, lost], State::Blackholed, true),
            (vec![asked, lost, taken], State::Accepted, true),
        ] {
            assert_eq!(
                (judge(&attempts), is_settled(&attempts)),
                (state, settled),
                "{attempts:?}"
            );
        }
    }
}
