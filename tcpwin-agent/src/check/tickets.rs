//! Which sessions are resumed over several connections, and what that tells of the machines behind one address.
//!
//! Each connection offers the newest ticket there is, and none twice. OpenSSL's servers (nginx, Apache httpd, HAProxy) begin a ticket with the 16
//! bytes that name the key it is encrypted with (RFC 5077, section 4), and on the wire a client shows the ticket that it offers:
//! so the key of the machine that gave it is known, and whether the machine that was asked next has the same.

use std::collections::BTreeSet;

use serde::Serialize;

/// Bytes of a ticket key's name.
const NAME_BYTES: usize = 16;

/// One connection of the series.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Visit {
    /// A session was offered.
    pub offered: bool,
    /// Its ticket, where one was.
    pub ticket: Option<Vec<u8>>,
    /// It went on.
    pub resumed: bool,
    /// A ticket that the server gave in the clear (TLS 1.2).
    pub issued: Option<Vec<u8>>,
    /// Tickets of TLS 1.3 that it gave.
    pub tickets: u32,
    /// The server's own certificate; only full handshakes show it.
    pub certificate: Option<Vec<u8>>,
}

/// What the series showed.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Resumption {
    /// Connections of the series.
    pub connections: usize,
    /// Of them those with a full handshake.
    pub full: usize,
    /// Those that resumed.
    pub resumed: usize,
    /// Those that offered a session and had to shake hands in full.
    pub refused: usize,
    /// Resumed among those that offered one; absent where none did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub share: Option<f64>,
    /// Tickets of TLS 1.3 that came with a full handshake, at most; absent where none was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tickets_when_full: Option<u32>,
    /// The same of resumed ones: without new tickets a client that uses each once comes back with none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tickets_when_resumed: Option<u32>,
    /// Names of ticket keys in hexadecimal, in the order in which they were seen; empty where tickets do not begin with one.
    pub ticket_keys: Vec<String>,
    /// Machines do not share their keys: more than once a ticket was refused by one that gave one of another key.
    pub ticket_key_mismatch: bool,
    /// How often that was.
    pub ticket_key_changes: usize,
    /// Different certificates that were seen.
    pub certificates: usize,
}

/// Judges a series.
pub fn judge(visits: &[Visit]) -> Resumption {
    let offered = visits.iter().filter(|visit| visit.offered).count();
    let resumed = visits.iter().filter(|visit| visit.resumed).count();
    let refused = visits
        .iter()
        .filter(|visit| visit.offered && !visit.resumed)
        .count();
    let certificates: BTreeSet<_> = visits
        .iter()
        .filter_map(|visit| visit.certificate.as_ref())
        .collect();
    let names = names(visits);
    let changes = if names.is_empty() { 0 } else { changes(visits) };
    let tickets = |resumed: bool| {
        let of_kind = visits.iter().filter(|visit| visit.resumed == resumed);
        of_kind.map(|visit| visit.tickets).max()
    };
    Resumption {
        tickets_when_full: tickets(false),
        tickets_when_resumed: tickets(true),
        connections: visits.len(),
        full: visits.len() - resumed,
        resumed,
        refused,
        share: (offered > 0).then(|| resumed as f64 / offered as f64),
        // Once may be a machine that has changed its key meanwhile.
        ticket_key_mismatch: changes >= 2,
        ticket_key_changes: changes,
        ticket_keys: names.iter().map(|name| hex(name)).collect(),
        certificates: certificates.len(),
    }
}

/// The names that tickets begin with, if they do: what is random never comes again. One ticket alone does not tell.
fn names(visits: &[Visit]) -> Vec<&[u8]> {
    let mut seen: Vec<&[u8]> = Vec::new();
    let mut is_repeated = false;
    let mut tickets: Vec<&[u8]> = Vec::new();
    for (at, visit) in visits.iter().enumerate() {
        let of_this = [visit.ticket.as_deref(), issued(visits, at)];
        tickets.extend(of_this.into_iter().flatten());
    }
    // The same ticket offered and issued is one ticket.
    tickets.dedup();
    for name in tickets.into_iter().filter_map(name) {
        if seen.contains(&name) {
            is_repeated = true;
        } else {
            seen.push(name);
        }
    }
    match is_repeated {
        true => seen,
        false => Vec::new(),
    }
}

fn name(ticket: &[u8]) -> Option<&[u8]> {
    // Name, initialisation vector and authentication code stand around the session.
    ticket.get(..NAME_BYTES).filter(|_| ticket.len() >= 80)
}

/// The ticket that a connection was given: seen in TLS 1.2, else the one that the next connection offers.
fn issued(visits: &[Visit], at: usize) -> Option<&[u8]> {
    let visit = visits.get(at)?;
    let next = visits.get(at + 1).and_then(|next| next.ticket.as_deref());
    visit.issued.as_deref().or(next)
}

/// A refusal alone may be the server's policy: counted are those by a machine that then gives a ticket of another key.
fn changes(visits: &[Visit]) -> usize {
    let changed = |(at, visit): &(usize, &Visit)| {
        let offered = visit.ticket.as_deref().and_then(name);
        let given = issued(visits, *at).and_then(name);
        !visit.resumed
            && offered
                .zip(given)
                .is_some_and(|(offered, given)| offered != given)
    };
    visits.iter().enumerate().filter(changed).count()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::{Visit, judge};

    /// A ticket of the key, and the `number`th of all.
    fn ticket(key: u8, number: u8) -> Vec<u8> {
        let mut ticket = vec![key; 16];
        ticket.extend([number; 160]);
        ticket
    }

    /// A client that meets machines in this order. Each takes its own key's tickets and gives a new one.
    fn series(machines: &[u8], shared: bool) -> Vec<Visit> {
        let mut last: Option<(u8, Vec<u8>)> = None;
        let mut visits = Vec::new();
        for (number, machine) in machines.iter().enumerate() {
            let key = if shared { 9 } else { *machine };
            let resumed = last.as_ref().is_some_and(|(given, _)| *given == key);
            visits.push(Visit {
                offered: last.is_some(),
                ticket: last.as_ref().map(|(_, ticket)| ticket.clone()),
                resumed,
                issued: None,
                certificate: (!resumed).then(|| vec![1]),
                tickets: 1 + u32::from(!resumed),
            });
            last = Some((key, ticket(key, number as u8)));
        }
        visits
    }

    #[test]
    fn one_machine_resumes_all_but_the_first() {
        let told = judge(&series(&[1; 10], false));
        assert_eq!((told.full, told.resumed, told.refused), (1, 9, 0));
        assert_eq!(told.share, Some(1.0));
        assert_eq!(told.ticket_keys.len(), 1);
        assert!(!told.ticket_key_mismatch);
        assert_eq!(told.certificates, 1);
        assert_eq!(
            (told.tickets_when_full, told.tickets_when_resumed),
            (Some(2), Some(1))
        );
    }

    #[test]
    fn two_machines_with_keys_of_their_own_are_found() {
        let told = judge(&series(&[1, 2, 1, 2, 1, 2], false));
        assert_eq!((told.resumed, told.refused), (0, 5));
        assert_eq!(told.ticket_keys.len(), 2);
        assert!(told.ticket_key_mismatch);
        let told = judge(&series(&[1, 1, 2, 2, 1, 1], false));
        assert!(told.ticket_key_mismatch);
        assert_eq!(told.share, Some(0.6));
    }

    #[test]
    fn a_key_that_changed_once_is_no_mismatch_yet() {
        let told = judge(&series(&[1, 1, 1, 2, 2, 2], false));
        assert_eq!((told.ticket_key_changes, told.ticket_key_mismatch), (1, false));
        assert_eq!(told.ticket_keys.len(), 2);
    }

    #[test]
    fn two_machines_that_share_a_key_are_silent() {
        let told = judge(&series(&[1, 2, 1, 2], true));
        assert_eq!((told.resumed, told.ticket_key_mismatch), (3, false));
        assert_eq!(told.ticket_keys.len(), 1);
    }

    #[test]
    fn a_server_that_never_resumes_is_no_mismatch() {
        let mut visits = series(&[1; 6], false);
        for visit in &mut visits {
            visit.resumed = false;
        }
        let told = judge(&visits);
        assert_eq!((told.share, told.refused), (Some(0.0), 5));
        assert!(!told.ticket_key_mismatch, "all of one key");
    }

    #[test]
    fn tickets_that_begin_at_random_name_no_key() {
        let mut visits = series(&[1, 2, 1, 2], false);
        for (number, visit) in visits.iter_mut().enumerate() {
            if let Some(ticket) = &mut visit.ticket {
                ticket[..16].fill(100 + number as u8);
            }
        }
        let told = judge(&visits);
        assert!(told.ticket_keys.is_empty() && !told.ticket_key_mismatch);
        assert_eq!(told.refused, 3, "what was refused is told all the same");
    }

    #[test]
    fn tls_1_2_shows_the_ticket_it_gives() {
        let mut visits = series(&[1, 2], false);
        visits[0].issued = Some(ticket(1, 0));
        visits[1].issued = Some(ticket(2, 1));
        // Two tickets, two names: nothing repeats yet.
        assert!(!judge(&visits).ticket_key_mismatch);
        visits.push(Visit {
            offered: true,
            ticket: Some(ticket(2, 1)),
            issued: Some(ticket(1, 2)),
            ..Visit::default()
        });
        assert!(judge(&visits).ticket_key_mismatch);
    }

    #[test]
    fn nothing_is_told_of_no_connection() {
        let told = judge(&[]);
        assert_eq!((told.connections, told.share), (0, None));
    }
}
