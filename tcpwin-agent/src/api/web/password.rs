//! Passwords: bcrypt is costly by design, so that it is computed off the runtime, one at a time, for a bounded share of a
//! processor, and once for each right password.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};

use aws_lc_rs::constant_time::verify_slices_are_equal;
use aws_lc_rs::hmac;
use aws_lc_rs::rand::SystemRandom;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};
use tokio::time::{Instant, sleep};

use super::value::BcryptHash;

/// Requests that wait for their password to be looked at, all together and from one address.
const WAITING: usize = 32;
const WAITING_FROM_ONE: usize = 8;

/// Wrong passwords remembered, so that a client that asks with one over and over costs nothing.
const WRONG_KEPT: usize = 256;

/// After a wrong password nobody's is computed for so many times as long: guessing takes at most a quarter of a processor.
const REST: u32 = 3;

/// Who may ask.
#[derive(Debug, Default)]
pub(super) struct Users {
    hashes: BTreeMap<String, BcryptHash>,
    /// What the password of an unknown user is compared with, so that he is refused no sooner than a known one.
    nobody: String,
}

impl Users {
    pub(super) fn new(hashes: BTreeMap<String, BcryptHash>) -> Self {
        let cost = hashes.values().map(|hash| hash.cost).max().unwrap_or(10);
        // Salt and digest of nothing: valid, and no password is known for it.
        let nobody = format!("$2y${cost:02}${}", ".".repeat(53));
        Self { hashes, nobody }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.hashes.is_empty()
    }
}

/// What came of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::api) enum Judged {
    /// It is his password.
    Right,
    /// It is not, or there is no such user.
    Wrong,
    /// Too many wait to be judged.
    Busy,
}

/// A keyed digest of user, hash and password: what is remembered instead of them.
type Tag = [u8; 32];

/// Judges passwords and remembers what came of it.
pub(super) struct Verifier {
    key: hmac::Key,
    known: Arc<Mutex<Known>>,
    lane: Arc<Semaphore>,
    waiting: Arc<Mutex<Waiting>>,
}

#[derive(Default)]
struct Known {
    /// Of each user the one that was right.
    right: HashMap<String, Tag>,
    wrong: VecDeque<Tag>,
}

#[derive(Default)]
struct Waiting {
    all: usize,
    from: HashMap<Option<IpAddr>, usize>,
}

impl Verifier {
    pub(super) fn new() -> Self {
        // Without random numbers from the kernel nothing of TLS works either; a fixed key only weakens what is remembered.
        let key = hmac::Key::generate(hmac::HMAC_SHA256, &SystemRandom::new())
            .unwrap_or_else(|_| hmac::Key::new(hmac::HMAC_SHA256, b"no random numbers"));
        Self {
            key,
            known: Arc::default(),
            lane: Arc::new(Semaphore::new(1)),
            waiting: Arc::default(),
        }
    }

    pub(super) async fn judge(
        &self,
        users: &Users,
        user: &str,
        password: &[u8],
        from: Option<IpAddr>,
    ) -> Judged {
        let known_user = users.hashes.get(user);
        let hash = known_user.map_or(users.nobody.as_str(), |hash| hash.text.reveal());
        let tag = self.tag(user, hash, password);
        if let Some(judged) = look_up(&self.known, user, &tag) {
            return judged;
        }
        let Some(ticket) = Ticket::take(&self.waiting, from) else {
            return Judged::Busy;
        };
        let Ok(permit) = Arc::clone(&self.lane).acquire_owned().await else {
            return Judged::Busy;
        };
        // Somebody may have asked the same meanwhile.
        if let Some(judged) = look_up(&self.known, user, &tag) {
            return judged;
        }
        let case = Case {
            user: user.to_owned(),
            exists: known_user.is_some(),
            hash: hash.to_owned(),
            password: password.to_vec(),
            tag,
        };
        let (tell, told) = oneshot::channel();
        // A task of its own: a client that goes away does not make room for the next.
        tokio::spawn(decide(case, Arc::clone(&self.known), permit, tell));
        let judged = told.await.unwrap_or(Judged::Busy);
        drop(ticket);
        judged
    }

    fn tag(&self, user: &str, hash: &str, password: &[u8]) -> Tag {
        let mut context = hmac::Context::with_key(&self.key);
        for part in [user.as_bytes(), hash.as_bytes(), password] {
            context.update(&part.len().to_le_bytes());
            context.update(part);
        }
        let mut tag = Tag::default();
        tag.copy_from_slice(context.sign().as_ref());
        tag
    }
}

struct Case {
    user: String,
    exists: bool,
    hash: String,
    password: Vec<u8>,
    tag: Tag,
}

async fn decide(
    case: Case,
    known: Arc<Mutex<Known>>,
    permit: OwnedSemaphorePermit,
    tell: oneshot::Sender<Judged>,
) {
    let began = Instant::now();
    let Case {
        user,
        exists,
        hash,
        password,
        tag,
    } = case;
    let computed = tokio::task::spawn_blocking(move || bcrypt::verify(&password, &hash));
    let matches = matches!(computed.await, Ok(Ok(true)));
    let judged = if matches && exists {
        Judged::Right
    } else {
        Judged::Wrong
    };
    remember(&known, user, tag, judged);
    // Nobody waits for it once the client has gone.
    let _ = tell.send(judged);
    if judged == Judged::Wrong {
        sleep(began.elapsed() * REST).await;
    }
    drop(permit);
}

fn look_up(known: &Mutex<Known>, user: &str, tag: &Tag) -> Option<Judged> {
    let known = known.lock().unwrap_or_else(PoisonError::into_inner);
    let same = |other: &Tag| verify_slices_are_equal(other, tag).is_ok();
    if known.right.get(user).is_some_and(same) {
        return Some(Judged::Right);
    }
    known.wrong.iter().any(same).then_some(Judged::Wrong)
}

fn remember(known: &Mutex<Known>, user: String, tag: Tag, judged: Judged) {
    let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
    match judged {
        // As many as there are users in the file, and in those that came before it.
        Judged::Right => drop(known.right.insert(user, tag)),
        _ => {
            if known.wrong.len() == WRONG_KEPT {
                known.wrong.pop_front();
            }
            known.wrong.push_back(tag);
        }
    }
}

/// A place in the queue; given back when dropped.
struct Ticket {
    waiting: Arc<Mutex<Waiting>>,
    from: Option<IpAddr>,
}

impl Ticket {
    fn take(waiting: &Arc<Mutex<Waiting>>, from: Option<IpAddr>) -> Option<Self> {
        let mut queue = waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let ahead = queue.from.get(&from).copied().unwrap_or(0);
        if queue.all >= WAITING || ahead >= WAITING_FROM_ONE {
            return None;
        }
        queue.all += 1;
        queue.from.insert(from, ahead + 1);
        drop(queue);
        Some(Self {
            waiting: Arc::clone(waiting),
            from,
        })
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        let mut queue = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        queue.all -= 1;
        let left = queue.from.get(&self.from).map_or(0, |ahead| ahead - 1);
        if left == 0 {
            queue.from.remove(&self.from);
        } else {
            queue.from.insert(self.from, left);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Cost 4, of `wonderland`.
    fn users() -> Users {
        let hash = bcrypt::hash("wonderland", 4).unwrap();
        let hash: BcryptHash = serde_saphyr::from_str(&format!("{hash:?}")).unwrap();
        Users::new([("alice".to_owned(), hash)].into())
    }

    #[tokio::test(start_paused = true)]
    async fn only_the_password_of_that_user_is_right() {
        let (verifier, users) = (Verifier::new(), users());
        let judge = |user: &'static str, password: &'static str| {
            verifier.judge(&users, user, password.as_bytes(), None)
        };
        // The second time it is remembered.
        for _ in 0..2 {
            assert_eq!(judge("alice", "wonderland").await, Judged::Right);
            assert_eq!(judge("alice", "Wonderland").await, Judged::Wrong);
            assert_eq!(judge("alice", "").await, Judged::Wrong);
            assert_eq!(judge("bob", "wonderland").await, Judged::Wrong);
            assert_eq!(judge("", "").await, Judged::Wrong);
        }
        let known = verifier.known.lock().unwrap();
        assert_eq!((known.right.len(), known.wrong.len()), (1, 4));
    }

    #[tokio::test(start_paused = true)]
    async fn a_changed_hash_forgets_the_old_password() {
        let verifier = Verifier::new();
        assert_eq!(
            verifier.judge(&users(), "alice", b"wonderland", None).await,
            Judged::Right
        );
        let hash = bcrypt::hash("other", 4).unwrap();
        let hash: BcryptHash = serde_saphyr::from_str(&format!("{hash:?}")).unwrap();
        let changed = Users::new([("alice".to_owned(), hash)].into());
        assert_eq!(
            verifier.judge(&changed, "alice", b"wonderland", None).await,
            Judged::Wrong
        );
    }

    #[tokio::test(start_paused = true)]
    async fn one_address_cannot_fill_the_queue_and_those_known_do_not_wait() {
        let (verifier, users) = (Verifier::new(), users());
        assert_eq!(
            verifier.judge(&users, "alice", b"wonderland", None).await,
            Judged::Right
        );
        let lane = Arc::clone(&verifier.lane).acquire_owned().await.unwrap();
        let near = Some("192.0.2.1".parse().unwrap());
        let queued: Vec<_> = (0..WAITING_FROM_ONE)
            .map(|_| Ticket::take(&verifier.waiting, near).unwrap())
            .collect();
        assert_eq!(
            verifier.judge(&users, "alice", b"guess", near).await,
            Judged::Busy
        );
        assert_eq!(
            verifier.judge(&users, "alice", b"wonderland", near).await,
            Judged::Right
        );
        assert!(Ticket::take(&verifier.waiting, None).is_some());
        drop((queued, lane));
        assert_eq!(
            verifier.judge(&users, "alice", b"guess", near).await,
            Judged::Wrong
        );
        assert_eq!(verifier.waiting.lock().unwrap().all, 0);
    }
}
