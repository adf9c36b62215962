//! Where a socket begins: `[Netid] [State] Recv-Q Send-Q Local:Port Peer:Port`, in all their variants.

use std::net::IpAddr;

use crate::observation::TcpState;

/// The columns of a socket's line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Head {
    /// What kind of socket it is.
    pub family: Family,
    /// Its state; absent where `ss` was asked for one state only.
    pub state: Option<TcpState>,
    /// Recv-Q.
    pub recv_q: Option<u64>,
    /// Send-Q.
    pub send_q: Option<u64>,
    /// This end.
    pub local: Option<String>,
    /// The other end.
    pub peer: Option<String>,
}

/// What kind of socket a line is about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Family {
    /// TCP, also where the column was not printed.
    #[default]
    Tcp,
    /// Multipath TCP.
    Mptcp,
    /// Another (`ss -a` shows them all); read, and left out.
    Other,
}

const STATES: &[(&str, TcpState)] = &[
    ("ESTABLISHED", TcpState::Established),
    ("ESTAB", TcpState::Established),
    ("SYN-SENT", TcpState::SynSent),
    ("SYN-RECV", TcpState::SynRecv),
    ("FIN-WAIT-1", TcpState::FinWait1),
    ("FIN-WAIT-2", TcpState::FinWait2),
    ("TIME-WAIT", TcpState::TimeWait),
    ("CLOSE-WAIT", TcpState::CloseWait),
    ("LAST-ACK", TcpState::LastAck),
    ("LISTEN", TcpState::Listen),
    ("CLOSING", TcpState::Closing),
    ("UNCONN", TcpState::Close),
];

const OTHERS: &[&str] = &[
    "udp", "udp6", "udpl", "raw", "icmp", "icmp6", "u_str", "u_dgr", "u_seq", "nl", "p_raw", "p_dgr", "sctp",
    "dccp", "v_str", "v_dgr", "ti_st", "ti_sq", "ti_rd", "ti_dg", "xdp", "???",
];

/// How `ss` calls a state.
#[must_use]
pub fn state_name(state: TcpState) -> &'static str {
    STATES
        .iter()
        .rev()
        .find(|(_, known)| *known == state)
        .map_or("UNKNOWN", |(name, _)| name)
}

/// The state that a word is, and what is glued to it (`LISTEN0`).
pub fn state(word: &str) -> Option<(TcpState, &str)> {
    STATES.iter().find_map(|(name, state)| {
        let rest = word.strip_prefix(name)?;
        rest.bytes()
            .all(|byte| byte.is_ascii_digit())
            .then_some((*state, rest))
    })
}

fn family(word: &str) -> Option<Family> {
    match word {
        "tcp" | "tcp6" => Some(Family::Tcp),
        "mptcp" => Some(Family::Mptcp),
        _ => OTHERS.contains(&word).then_some(Family::Other),
    }
}

/// The most words that a head has.
pub const LONGEST: usize = 8;

/// Reads a head at the start of the words; gives the number of words it took, and what is left of the last one.
#[must_use]
pub fn head<'a>(words: &[&'a str]) -> Option<(Head, usize, &'a str)> {
    let mut head = Head::default();
    let mut at = 0;
    let named = family(words.first()?);
    if let Some(family) = named {
        head.family = family;
        at = 1;
    }
    let mut glued = "";
    if let Some((state, rest)) = words.get(at).and_then(|word| state(word)) {
        head.state = Some(state);
        glued = rest;
        at += 1;
    }
    if head.family == Family::Other {
        return head.state.is_some().then(|| {
            let rest = words[at..].iter().take(6);
            let columns = rest.take_while(|word| is_column(word)).count();
            (head, at + columns, "")
        });
    }
    head.recv_q = if glued.is_empty() {
        number(words, &mut at)
    } else {
        glued.parse().ok()
    };
    if head.recv_q.is_some() {
        head.send_q = number(words, &mut at);
    }
    let is_stateless = head.state.is_none();
    if is_stateless && head.send_q.is_none() || head.recv_q.is_some() != head.send_q.is_some() {
        return None;
    }
    let (local, left) = address(words.get(at)?, is_stateless)?;
    if !left.is_empty() {
        return None;
    }
    let (peer, left) = address(words.get(at + 1)?, is_stateless)?;
    head.local = Some(local);
    head.peer = Some(peer);
    Some((head, at + 2, left))
}

/// A word of another family's columns.
fn is_column(word: &str) -> bool {
    let is_field = super::field::take(word).is_some() || family(word).is_some() || state(word).is_some();
    !is_field && !word.starts_with("users:")
}

fn number(words: &[&str], at: &mut usize) -> Option<u64> {
    let word = words.get(*at)?;
    let is_number = word.len() <= 12 && word.bytes().all(|byte| byte.is_ascii_digit());
    let number = is_number.then(|| word.parse().ok())??;
    *at += 1;
    Some(number)
}

/// `host:port` in whichever way it was printed or masked. `strict` where nothing before it says that an address comes.
fn address(word: &str, strict: bool) -> Option<(String, &str)> {
    let (host, port, rest) = split(word)?;
    let plain = host.trim_start_matches('[').split(['%', ']']).next()?;
    // An interface may stand behind the bracket or within it.
    let scope = host.split_once('%').map(|(_, scope)| scope.trim_end_matches(']'));
    let text = match plain.parse::<IpAddr>() {
        Ok(ip) => {
            let ip = ip.to_canonical();
            let scope = scope.map_or_else(String::new, |scope| format!("%{scope}"));
            match ip {
                IpAddr::V4(_) => format!("{ip}{scope}:{port}"),
                IpAddr::V6(_) => format!("[{ip}{scope}]:{port}"),
            }
        }
        Err(_) if host == "*" => format!("*:{port}"),
        // A name, or what somebody wrote in an address' stead.
        Err(_) if !strict && is_masked(host) => format!("{host}:{port}"),
        Err(_) => return None,
    };
    Some((text, rest))
}

fn is_masked(host: &str) -> bool {
    let is_name = |letter: char| letter.is_alphanumeric() || "._-<>[]%:*#$+".contains(letter);
    !host.is_empty()
        && host.len() <= 255
        && host.chars().all(is_name)
        && !super::field::is_whole(&format!("{host}:0"))
}

/// Host, port and what is glued behind the port: a number, `*`, or the name of a service.
fn split(word: &str) -> Option<(&str, &str, &str)> {
    // `[fe80::1]%eth0:22`, `[::]:*`: the last colon that is followed by a port. Glued words have more of them.
    let from = word.find(']').unwrap_or(0);
    let tail = &word[from..];
    let is_bare_v6 = from == 0
        && tail
            .bytes()
            .take_while(|byte| *byte != b'%')
            .filter(|byte| *byte == b':')
            .count()
            > 1;
    let colon = from
        + if is_bare_v6 {
            tail.rfind(':')?
        } else {
            tail.find(':')?
        };
    let (host, port) = (&word[..colon], &word[colon + 1..]);
    let end = if port.starts_with('*') {
        1
    } else if port.starts_with(|letter: char| letter.is_ascii_digit()) {
        port.find(|letter: char| !letter.is_ascii_digit())
            .filter(|end| super::field::take(&port[*end..]).is_some() || port[*end..].starts_with("users:"))
            .unwrap_or(port.len())
    } else {
        port.len()
    };
    let (port, rest) = port.split_at(end);
    let is_port = |letter: char| letter.is_ascii_alphanumeric() || "_-+.*".contains(letter);
    let is_one = !port.is_empty() && port.len() <= 32 && port.chars().all(is_port);
    (is_one && !host.is_empty()).then_some((host, port, rest))
}

/// If the word can be nothing but an end of a connection.
#[must_use]
pub fn is_address(word: &str) -> bool {
    address(word, true).is_some_and(|(_, rest)| rest.is_empty())
}

/// If the word begins a socket's line.
#[must_use]
pub fn may_begin(word: &str) -> bool {
    state(word).is_some() || family(word).is_some() || word.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ends(line: &str) -> Option<(String, String)> {
        let words: Vec<_> = line.split_whitespace().collect();
        let (head, _, _) = head(&words)?;
        Some((head.local?, head.peer?))
    }

    #[test]
    fn addresses_in_every_way_they_are_printed() {
        for (printed, meant) in [
            ("192.0.2.1:443", "192.0.2.1:443"),
            ("192.0.2.1%eth0:443", "192.0.2.1%eth0:443"),
            ("[2001:db8::1]:443", "[2001:db8::1]:443"),
            ("2001:db8::1:443", "[2001:db8::1]:443"),
            ("::ffff:192.0.2.1:80", "192.0.2.1:80"),
            ("[::ffff:192.0.2.1]:80", "192.0.2.1:80"),
            ("[fe80::1]%eth0:ssh", "[fe80::1%eth0]:ssh"),
            ("fe80::1%eth0:ssh", "[fe80::1%eth0]:ssh"),
            ("[fe80::1%eth0]:22", "[fe80::1%eth0]:22"),
            (":::22", "[::]:22"),
            ("*:*", "*:*"),
            ("[::]:*", "[::]:*"),
            ("x.x.x.x:5201", "x.x.x.x:5201"),
            ("web-1.example.net:https", "web-1.example.net:https"),
        ] {
            let line = format!("ESTAB 0 0 {printed} 192.0.2.9:1");
            assert_eq!(ends(&line).map(|ends| ends.0), Some(meant.to_owned()), "{line}");
            let again = format!("ESTAB 0 0 {meant} 192.0.2.9:1");
            assert_eq!(ends(&again).map(|ends| ends.0), Some(meant.to_owned()), "{again}");
        }
    }

    #[test]
    fn columns_that_are_missing_or_glued() {
        let read = |line: &str| {
            let words: Vec<_> = line.split_whitespace().collect();
            head(&words)
                .map(|(head, taken, left)| (head.state, head.recv_q, head.send_q, taken, left.to_owned()))
        };
        let estab = Some(TcpState::Established);
        assert_eq!(
            read("tcp ESTAB 1 2 192.0.2.1:1 192.0.2.2:2 x"),
            Some((estab, Some(1), Some(2), 6, String::new()))
        );
        assert_eq!(
            read("1 2 192.0.2.1:1 192.0.2.2:2"),
            Some((None, Some(1), Some(2), 4, String::new()))
        );
        assert_eq!(
            read("LISTEN0 128 *:22 *:*"),
            Some((Some(TcpState::Listen), Some(0), Some(128), 4, String::new()))
        );
        assert_eq!(
            read("ESTAB 0 0 192.0.2.1:1 192.0.2.2:2cubic"),
            Some((estab, Some(0), Some(0), 5, "cubic".to_owned()))
        );
        assert_eq!(
            read("ESTAB 192.0.2.1:1 192.0.2.2:2"),
            Some((estab, None, None, 3, String::new()))
        );
        assert_eq!(read("1 2 words of:prose"), None);
        assert_eq!(read("The ESTAB sockets"), None);
    }
}
