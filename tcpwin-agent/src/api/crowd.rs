//! Who is connected: bounded, and when it is full those make room who have asked for nothing for longest.

use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;
use tokio::time::Instant;

use crate::exporter::{HttpCounts, Refused};

/// HTTP connections at once, all listeners together.
const CONNECTIONS: usize = 256;

/// Of them from one address; all of unix sockets are one.
const FROM_ONE: usize = 64;

/// Everybody who is connected.
#[derive(Clone, Debug)]
pub(super) struct Crowd {
    members: Arc<Mutex<Members>>,
    counts: Arc<HttpCounts>,
}

#[derive(Debug, Default)]
struct Members {
    next: u64,
    seats: BTreeMap<u64, Arc<Seat>>,
}

/// The place of one connection.
#[derive(Debug)]
pub(super) struct Seat {
    from: Option<IpAddr>,
    doing: Mutex<Doing>,
    leave: Notify,
}

/// What a connection is doing.
#[derive(Clone, Copy, Debug)]
enum Doing {
    /// Nothing has come of a request.
    Waiting { since: Instant },
    /// A part of a request's head has come.
    Asking { since: Instant },
    /// It is being answered.
    Answered,
}

/// A connection that was let in; leaves when dropped.
#[derive(Debug)]
pub(super) struct Guest {
    id: u64,
    seat: Arc<Seat>,
    crowd: Crowd,
}

/// While it lives, the connection is being answered and keeps its place.
#[derive(Debug)]
pub(super) struct Answering(Arc<Seat>);

impl Crowd {
    pub(super) fn new(counts: Arc<HttpCounts>) -> Self {
        Self {
            members: Arc::default(),
            counts,
        }
    }

    /// Lets one in, for which another may have to leave; `None` if all are being answered.
    pub(super) fn enter(&self, from: Option<IpAddr>) -> Option<Guest> {
        let mut members = self.lock();
        if let Some(crowded) = members.too_many(from) {
            self.counts.refuse(Refused::Connections);
            let longest = members.longest_waiting(crowded)?;
            if let Some(seat) = members.seats.remove(&longest) {
                seat.leave.notify_one();
            }
        }
        let seat = Arc::new(Seat {
            from,
            doing: Mutex::new(Doing::Waiting {
                since: Instant::now(),
            }),
            leave: Notify::new(),
        });
        let id = members.next;
        members.next += 1;
        members.seats.insert(id, Arc::clone(&seat));
        self.counts.set_connections(members.seats.len());
        drop(members);
        Some(Guest {
            id,
            seat,
            crowd: self.clone(),
        })
    }

    fn lock(&self) -> MutexGuard<'_, Members> {
        self.members.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Members {
    /// The address of which one must leave before another from `from` may come.
    fn too_many(&self, from: Option<IpAddr>) -> Option<Option<IpAddr>> {
        let mut by_address: HashMap<Option<IpAddr>, usize> = HashMap::new();
        let mut waiting: HashMap<Option<IpAddr>, usize> = HashMap::new();
        for seat in self.seats.values() {
            *by_address.entry(seat.from).or_default() += 1;
            *waiting.entry(seat.from).or_default() += usize::from(seat.waits_since().is_some());
        }
        if by_address.get(&from).is_some_and(|count| *count >= FROM_ONE) {
            return Some(from);
        }
        if self.seats.len() < CONNECTIONS {
            return None;
        }
        let most = waiting.into_iter().max_by_key(|(_, count)| *count);
        Some(most.map_or(from, |(address, _)| address))
    }

    fn longest_waiting(&self, from: Option<IpAddr>) -> Option<u64> {
        let theirs = self.seats.iter().filter(|(_, seat)| seat.from == from);
        let waiting = theirs.filter_map(|(id, seat)| Some((seat.waits_since()?, *id)));
        waiting.min().map(|(_, id)| id)
    }
}

impl Seat {
    fn waits_since(&self) -> Option<Instant> {
        match *self.doing() {
            Doing::Waiting { since } | Doing::Asking { since } => Some(since),
            Doing::Answered => None,
        }
    }

    /// When the head that is still coming began to come.
    pub(super) fn asks_since(&self) -> Option<Instant> {
        match *self.doing() {
            Doing::Asking { since } => Some(since),
            Doing::Waiting { .. } | Doing::Answered => None,
        }
    }

    /// Bytes came from the client.
    pub(super) fn heard(&self) {
        let mut doing = self.doing();
        if matches!(*doing, Doing::Waiting { .. }) {
            *doing = Doing::Asking {
                since: Instant::now(),
            };
        }
    }

    /// A request is there; it is being answered until what is given back is dropped.
    pub(super) fn answer(self: &Arc<Self>) -> Answering {
        *self.doing() = Doing::Answered;
        Answering(Arc::clone(self))
    }

    fn doing(&self) -> MutexGuard<'_, Doing> {
        self.doing.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Answering {
    fn drop(&mut self) {
        *self.0.doing() = Doing::Waiting {
            since: Instant::now(),
        };
    }
}

impl Guest {
    pub(super) fn seat(&self) -> Arc<Seat> {
        Arc::clone(&self.seat)
    }

    /// Ready once the place is wanted for another. Cancel-safe.
    pub(super) async fn told_to_leave(&self) {
        self.seat.leave.notified().await;
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        let mut members = self.crowd.lock();
        members.seats.remove(&self.id);
        self.crowd.counts.set_connections(members.seats.len());
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn address(last: usize) -> Option<IpAddr> {
        Some(IpAddr::from([192, 0, 2, u8::try_from(last).unwrap()]))
    }

    async fn is_told(guest: &Guest) -> bool {
        tokio::time::timeout(Duration::from_millis(1), guest.told_to_leave())
            .await
            .is_ok()
    }

    #[tokio::test(start_paused = true)]
    async fn one_address_makes_room_for_itself() {
        let crowd = Crowd::new(Arc::default());
        let other = crowd.enter(address(9)).unwrap();
        let mut guests = Vec::new();
        for _ in 0..=FROM_ONE {
            guests.push(crowd.enter(address(1)).unwrap());
            tokio::time::advance(Duration::from_millis(1)).await;
        }
        assert!(is_told(&guests[0]).await);
        assert!(!is_told(&guests[1]).await && !is_told(&other).await);
        // Who is being answered stays, and then nobody more comes in.
        let answering: Vec<_> = guests.iter().map(|guest| guest.seat.answer()).collect();
        assert!(crowd.enter(address(1)).is_none());
        drop(answering);
        assert!(crowd.enter(address(1)).is_some());
    }

    #[tokio::test(start_paused = true)]
    async fn when_full_the_address_with_most_makes_room() {
        let crowd = Crowd::new(Arc::default());
        let few = crowd.enter(address(200)).unwrap();
        let mut guests = Vec::new();
        for index in 1..CONNECTIONS {
            guests.push(crowd.enter(address(index % 4)).unwrap());
        }
        tokio::time::advance(Duration::from_millis(1)).await;
        let came = crowd.enter(address(201)).unwrap();
        let mut told = 0;
        for guest in &guests {
            told += usize::from(is_told(guest).await);
        }
        assert_eq!(told, 1);
        assert!(!is_told(&few).await && !is_told(&came).await);
        assert_eq!(crowd.lock().seats.len(), CONNECTIONS);
        drop((guests, few, came));
        assert_eq!(crowd.lock().seats.len(), 0);
    }
}
