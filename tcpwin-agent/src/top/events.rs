//! Where events come from: the feed, the terminal, the kernel's signals. A thread each, one channel.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::Duration;

use crossterm::event;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::oneshot;

use crate::snapshot::{Feed, FeedError, Snapshot, Watch};

/// How long the terminal is waited for before it is looked whether the screen is still wanted.
const PATIENCE: Duration = Duration::from_millis(200);
/// How long the feed may take to end; it never blocks longer than a round trip.
const GRACE: Duration = Duration::from_millis(500);

/// What a thread tells the loop.
pub(super) enum Event {
    Feed(Result<Arc<Snapshot>, FeedError>),
    /// The feed watches this connection from the next snapshot on.
    Watching(Option<Watch>),
    Terminal(event::Event),
    /// The terminal cannot be read any more.
    TerminalLost(io::Error),
    /// A signal asks to end.
    End,
    /// The process was stopped and goes on.
    Continued,
    /// A thread panicked.
    Died,
}

/// What the loop asks of the feed's thread.
enum Wish {
    Interval(Duration),
    Watch(Option<Watch>),
}

/// The threads. Dropping it ends them.
pub(super) struct Events {
    pub(super) receiver: Receiver<Event>,
    wishes: Option<Sender<Wish>>,
    feed_done: Receiver<()>,
    over: Arc<AtomicBool>,
    signals_over: Option<oneshot::Sender<()>>,
}

impl Events {
    /// Starts them.
    pub(super) fn start(feed: Box<dyn Feed>, interval: Duration) -> io::Result<Self> {
        let (sender, receiver) = mpsc::channel();
        let (wish_sender, wish_receiver) = mpsc::channel();
        let (done_sender, feed_done) = mpsc::channel();
        let (over_sender, over_receiver) = oneshot::channel();
        let over = Arc::new(AtomicBool::new(false));
        let events = Self {
            receiver,
            wishes: Some(wish_sender),
            feed_done,
            over: Arc::clone(&over),
            signals_over: Some(over_sender),
        };
        let tell = Tell(sender.clone());
        spawn("top-feed", move || {
            fetch(feed, interval, &wish_receiver, &tell);
            let _ = done_sender.send(());
        })?;
        let tell = Tell(sender.clone());
        spawn("top-input", move || read(&over, &tell))?;
        let tell = Tell(sender);
        spawn("top-signals", move || watch(over_receiver, &tell))?;
        Ok(events)
    }

    /// Asks the feed at another pace, at once.
    pub(super) fn pace(&self, interval: Duration) {
        self.wish(Wish::Interval(interval));
    }

    /// Has the feed bring samples of this connection from the next snapshot on, or of none.
    pub(super) fn watch(&self, connection: Option<Watch>) {
        self.wish(Wish::Watch(connection));
    }

    fn wish(&self, wish: Wish) {
        if let Some(sender) = &self.wishes {
            let _ = sender.send(wish);
        }
    }
}

impl Drop for Events {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        drop(self.wishes.take());
        drop(self.signals_over.take());
        // The feed may hold the pipeline: it ends before the caller goes on. The others hold nothing; a lost terminal may
        // keep the reader for ever.
        let _ = self.feed_done.recv_timeout(GRACE);
    }
}

fn spawn(name: &str, work: impl FnOnce() + Send + 'static) -> io::Result<()> {
    thread::Builder::new()
        .name(name.to_owned())
        .spawn(work)
        .map(|_| ())
}

/// The loop's ear, which also hears of a panic.
struct Tell(Sender<Event>);

impl Tell {
    /// If the loop still listens.
    fn tell(&self, event: Event) -> bool {
        self.0.send(event).is_ok()
    }
}

impl Drop for Tell {
    fn drop(&mut self) {
        if thread::panicking() {
            let _ = self.0.send(Event::Died);
        }
    }
}

/// Asks the feed each interval until the loop is gone.
fn fetch(mut feed: Box<dyn Feed>, mut interval: Duration, wishes: &Receiver<Wish>, loop_: &Tell) {
    loop {
        if !loop_.tell(Event::Feed(feed.latest())) {
            return;
        }
        match wishes.recv_timeout(interval) {
            Ok(Wish::Interval(changed)) => interval = changed,
            Ok(Wish::Watch(connection)) => {
                feed.watch(connection.clone());
                // In the order of the snapshots: the loop knows whose samples each one brings.
                if !loop_.tell(Event::Watching(connection)) {
                    return;
                }
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return,
        }
    }
}

/// Reads the terminal until it is lost or not wanted any more.
fn read(over: &AtomicBool, loop_: &Tell) {
    while !over.load(Ordering::Relaxed) {
        let event = match event::poll(PATIENCE) {
            Ok(false) => continue,
            Ok(true) => event::read(),
            Err(error) => Err(error),
        };
        let (event, last) = match event {
            Ok(event) => (Event::Terminal(event), false),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => (Event::TerminalLost(error), true),
        };
        if !loop_.tell(event) || last {
            return;
        }
    }
}

/// Waits for signals. Those that would end the process end the screen first.
fn watch(over: oneshot::Receiver<()>, loop_: &Tell) {
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_io().build() else {
        return;
    };
    runtime.block_on(async {
        let (Ok(mut term), Ok(mut hup), Ok(mut int), Ok(mut cont)) = (
            signal(SignalKind::terminate()),
            signal(SignalKind::hangup()),
            signal(SignalKind::interrupt()),
            signal(SignalKind::from_raw(rustix::process::Signal::CONT.as_raw())),
        ) else {
            return;
        };
        tokio::pin!(over);
        loop {
            let event = tokio::select! {
                _ = term.recv() => Event::End,
                _ = hup.recv() => Event::End,
                _ = int.recv() => Event::End,
                _ = cont.recv() => Event::Continued,
                _ = &mut over => return,
            };
            if !loop_.tell(event) {
                return;
            }
        }
    });
}
