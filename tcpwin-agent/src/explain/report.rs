//! What `explain` tells, in the names of the JSON contract.

use serde::Serialize;

use crate::classify::{Bound, Direction, Limit, Remedy, Side, Verdict};
use crate::explain::figures::Figures;
use crate::explain::join::Group;
use crate::observation::pasted::Pasted;
use crate::query::{Filter, Glimpse, Sort};
use crate::snapshot::{Ceiling, Process, TcpFields};

/// Everything that was told of a paste.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// One entry a socket, in the order of the paste.
    pub sockets: Vec<Explained>,
    /// Lines of the paste that are no `ss` output.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub text: Vec<String>,
}

/// Which ends were pasted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Seen {
    /// The end that sends the bulk.
    Sender,
    /// The end that receives it.
    Receiver,
    /// Both.
    Both,
}

/// A socket with its verdict. The fields are those of the API's connections, as far as a paste has them.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Explained {
    /// Line of the paste where its newest look begins; absent of what runs.
    #[serde(skip_serializing_if = "is_zero")]
    pub line: usize,
    /// Socket cookie as a decimal string.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// `ip:port` or `[ip6]:port`, as far as it was printed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub local: Option<String>,
    /// The same of the peer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub peer: Option<String>,
    /// Which way the bytes go.
    pub direction: Direction,
    /// Whose it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub process: Option<Process>,
    /// Its name where the id is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub process_name: Option<String>,
    /// Which ends were pasted.
    pub side_seen: Seen,
    /// Looks at this end; absent of what was watched.
    #[serde(skip_serializing_if = "is_zero")]
    pub looks: usize,
    /// Seconds between the last two of them, where they can be known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval_s: Option<f64>,
    /// Class of the verdict.
    pub bound: Bound,
    /// Cause of the verdict.
    pub limit: Limit,
    /// Who must act.
    pub side: Side,
    /// 0 to 1.
    pub confidence: f64,
    /// Observed rate in `direction`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate_bps: Option<f64>,
    /// What that is a rate of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate_over: Option<&'static str>,
    /// What the binding limit allows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ceiling_bps: Option<f64>,
    /// Its arithmetic.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ceiling_formula: Option<String>,
    /// The next limit, and the rate expected once the binding one is lifted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<Ceiling>,
    /// Every ceiling that is known, the lowest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ledger: Vec<Ceiling>,
    /// What in the figures cannot be.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inconsistent: Option<String>,
    /// One or two sentences with the numbers.
    pub proof: String,
    /// What to change.
    pub remedies: Vec<Remedy>,
    /// What else to collect.
    pub collect: Vec<String>,
    /// Tokens that were not understood.
    pub unknown: Vec<String>,
    /// The socket's fields.
    pub tcp: TcpFields,
}

impl Report {
    /// Leaves the sockets that pass the filter, in the order that is asked for, or that of the paste.
    #[must_use]
    pub fn only(self, filter: &Filter, sort: Option<&Sort>) -> Self {
        let mut sockets: Vec<_> = self.sockets.into_iter().map(Some).collect();
        let ends: Vec<_> = sockets.iter().flatten().map(Ends::of).collect();
        let glimpses: Vec<_> = sockets
            .iter()
            .flatten()
            .zip(&ends)
            .map(|(socket, ends)| socket.glimpse(ends))
            .collect();
        let order = sort.map_or_else(
            || (0..).take(glimpses.len()).collect(),
            |sort| sort.arrange_glimpses(&glimpses),
        );
        let passing = order.into_iter().map(|at: u32| at as usize);
        let passing: Vec<_> = passing
            .filter(|at| filter.matches_glimpse(&glimpses[*at]))
            .collect();
        drop(glimpses);
        Self {
            sockets: passing.into_iter().filter_map(|at| sockets[at].take()).collect(),
            text: self.text,
        }
    }
}

/// Both ends as a filter compares them.
struct Ends {
    local: String,
    peer: String,
}

impl Ends {
    fn of(socket: &Explained) -> Self {
        let [local, peer] = [&socket.local, &socket.peer].map(|end| comparable(end.as_deref().unwrap_or("")));
        Self { local, peer }
    }
}

/// `192.0.2.1%eth0:https` as `192.0.2.1:0`: the address can be compared, and a port that was printed by name is none.
fn comparable(end: &str) -> String {
    let Some((host, port)) = end.rsplit_once(':') else {
        return end.to_owned();
    };
    let is_closed = host.ends_with(']');
    let host = host.split('%').next().unwrap_or(host);
    let bracket = if is_closed && !host.ends_with(']') {
        "]"
    } else {
        ""
    };
    let port = if port.parse::<u16>().is_ok() { port } else { "0" };
    format!("{host}{bracket}:{port}")
}

impl Explained {
    fn glimpse<'a>(&'a self, ends: &'a Ends) -> Glimpse<'a> {
        let process = self.process.as_ref();
        Glimpse {
            id: self.id.as_deref().unwrap_or(""),
            local: &ends.local,
            peer: &ends.peer,
            process: process
                .map(|process| process.name.as_str())
                .or(self.process_name.as_deref()),
            pid: process.map(|process| process.pid),
            direction: self.direction,
            limit: self.limit,
            side: self.side,
            confidence: self.confidence,
            rate_bps: self.rate_bps,
            ceiling_bps: self.ceiling_bps,
            next: self.next.as_ref().map(|next| (next.limit, next.rate_bps)),
            proof: &self.proof,
            tcp: &self.tcp,
        }
    }
}

fn is_zero(count: &usize) -> bool {
    *count == 0
}

pub(super) fn explained(
    figures: &Figures<'_>,
    group: &Group<'_>,
    verdict: Verdict,
    collect: Vec<String>,
) -> Explained {
    let now = figures.now;
    let (process, process_name) = match &now.process {
        Some((name, Some(pid))) => {
            let (pid, name) = (*pid, name.clone());
            (Some(Process { pid, name }), None)
        }
        Some((name, None)) => (None, Some(name.clone())),
        None => (None, None),
    };
    let remedies = verdict.remedies();
    Explained {
        line: now.line,
        id: now.cookie.map(|cookie| cookie.to_string()),
        local: now.local.clone(),
        peer: now.peer.clone(),
        direction: verdict.direction,
        process,
        process_name,
        side_seen: match (figures.mate, verdict.direction) {
            (Some(_), _) => Seen::Both,
            (None, Direction::Send) => Seen::Sender,
            (None, Direction::Receive) => Seen::Receiver,
        },
        looks: group.looks.len(),
        interval_s: figures.span,
        bound: verdict.limit.bound(),
        limit: verdict.limit,
        side: verdict.side,
        confidence: verdict.confidence.clamp(0.0, 1.0),
        rate_bps: figures.rate.map(|rate| rate.rate.bits()),
        rate_over: figures.rate.map(|rate| rate.over),
        ceiling_bps: verdict.ceiling.as_ref().map(|ceiling| ceiling.rate.bits()),
        ceiling_formula: verdict.ceiling.as_ref().map(|ceiling| ceiling.formula.clone()),
        next: verdict.next.as_ref().map(ceiling),
        ledger: verdict.ledger.iter().map(ceiling).collect(),
        inconsistent: verdict.inconsistent,
        proof: verdict.proof,
        remedies,
        collect,
        unknown: group
            .looks
            .iter()
            .flat_map(|look| look.unknown.iter().cloned())
            .collect(),
        tcp: fields(now),
    }
}

fn ceiling(ceiling: &crate::classify::Ceiling) -> Ceiling {
    Ceiling {
        limit: ceiling.limit,
        rate_bps: ceiling.rate.bits(),
        formula: ceiling.formula.clone(),
    }
}

fn fields(now: &Pasted) -> TcpFields {
    TcpFields {
        state: now.state,
        ..TcpFields::of(&now.tcp, &now.totals)
    }
}

#[cfg(test)]
mod tests {
    use super::comparable;
    use crate::source::ss_text;

    const PASTE: &str = "ESTAB 0 0 192.0.2.1%eth0:ssh 198.51.100.9:51414 users:((\"sshd\",pid=7,fd=4))\n\t cubic rtt:2.5/0.4 mss:1448 cwnd:10\n\
        ESTAB 0 0 192.0.2.1:443 203.0.113.7:9 users:((\"nginx\",pid=12,fd=3))\n\t cubic rtt:181/2 mss:1448 cwnd:10\n\
        ESTAB 0 0 192.0.2.1:443 203.0.113.8:9\n\t cubic mss:1448 cwnd:11\n";

    /// Peers of the sockets that pass, in order.
    fn only(filter: &str, sort: Option<&str>) -> Vec<String> {
        let report = crate::explain::explain(&ss_text::parse(PASTE).observed());
        let sort = sort.map(|text| text.parse().unwrap());
        let report = report.only(&filter.parse().unwrap(), sort.as_ref());
        report
            .sockets
            .into_iter()
            .filter_map(|socket| socket.peer)
            .collect()
    }

    #[test]
    fn pastes_are_filtered_and_ordered_as_connections_are() {
        assert_eq!(
            only("peer in 203.0.113.0/24 and has rtt", None),
            ["203.0.113.7:9"]
        );
        assert_eq!(
            only("local in 192.0.2.0/24 and proc = sshd", None),
            ["198.51.100.9:51414"]
        );
        // Not known is neither true nor false, and comes last.
        assert_eq!(only("not rtt > 50ms", None), ["198.51.100.9:51414"]);
        assert_eq!(
            only("not has rate and not has age", Some("-rtt")),
            ["198.51.100.9:51414", "203.0.113.7:9", "203.0.113.8:9"]
        );
    }

    #[test]
    fn ends_as_ss_prints_them_can_be_compared() {
        for (printed, compared) in [
            ("192.0.2.1:443", "192.0.2.1:443"),
            ("192.0.2.1%eth0:https", "192.0.2.1:0"),
            ("[fe80::1%eth0]:22", "[fe80::1]:22"),
            ("[fe80::1]%eth0:22", "[fe80::1]:22"),
            ("*:http", "*:0"),
            ("", ""),
        ] {
            assert_eq!(comparable(printed), compared);
        }
    }
}
