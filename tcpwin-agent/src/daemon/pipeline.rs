//! The loop that owns the source and the table.

mod answer;
mod complaints;
mod running;
#[cfg(test)]
mod tests;

use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::time::{Interval, MissedTickBehavior, interval};

use crate::config::{Config, GroupBy, Metrics};
use crate::connection::{FindOwner, Grouping, Paths, Table, TableConfig};
use crate::host::{Host, Nic};
use crate::recording::{Choice, Recorder, Segments};
use crate::snapshot::feed::{self, Handle, Inlet};
use crate::snapshot::{Distribution, Health, Hour, Snapshot, Summary, TraceEvent};
use crate::source::{Source, netns};
use crate::units::{Instant, Nanos};

use super::history::FlightRecorder;
use super::record;
use super::settings::Settings;
use super::survey::Survey;
use super::usage;
use super::watching::Watching;

pub use self::running::Running;

use self::complaints::Complaints;

/// How often single events are fetched between ticks.
const DRAIN_EVERY: Duration = Duration::from_millis(100);

/// How often the network interfaces are looked at.
const LINKS_EVERY: Nanos = Nanos(60_000_000_000);

/// Tells the kernel's CLOCK_MONOTONIC.
pub type Clock = Box<dyn Fn() -> Instant + Send>;

/// Source and table, and where the result is laid.
pub struct Pipeline {
    source: Box<dyn Source>,
    table: Table,
    clock: Clock,
    inlet: Inlet,
    handle: Handle,
    interval: Duration,
    /// What does not change from tick to tick.
    about: Health,
    last_tick: Option<Instant>,
    /// When the network interfaces were last looked at.
    links_read: Option<Instant>,
    settings: Settings,
    survey: Survey,
    tick: u64,
    tick_cpu_us: u64,
    tick_costs: Arc<Distribution>,
    hour: Hour,
    overruns: u64,
    polls: Complaints,
    drains: Complaints,
    events: Vec<TraceEvent>,
    events_wanted: bool,
    recorder: Recorder,
    watching: Watching,
    history: Option<FlightRecorder>,
    /// The snapshot with connections, kept until something changes, so that many readers cost as much as one.
    full: Option<Arc<Snapshot>>,
}

impl std::fmt::Debug for Pipeline {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "Pipeline({}, tick {})", self.source.name(), self.tick)
    }
}

impl Pipeline {
    /// A pipeline that has not begun. `reason` is why not a better source runs.
    #[must_use]
    pub fn new(source: Box<dyn Source>, reason: Option<String>, config: &Config, clock: Clock) -> Self {
        let host = Host::read();
        let about = Health {
            source: source.name().to_owned(),
            source_reason: reason,
            hooks: source.hooks(),
            table_capacity: config.max_connections.count() as u64,
            host: host.name,
            kernel: host.kernel,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            ..Health::default()
        };
        let recorder = record::recorder(&about, config);
        let configured = config.path_bandwidth.iter();
        let table = Table::new(TableConfig {
            capacity: config.max_connections.count(),
        })
        .with_grouping(grouping(&config.metrics))
        .with_paths(Paths::new(configured.map(|said| (said.prefix, said.rate))));
        let (inlet, handle) = feed::channel(Snapshot {
            health: about.clone(),
            ..Snapshot::default()
        });
        Self {
            source,
            table,
            clock,
            inlet,
            handle,
            interval: config.interval.duration(),
            about,
            last_tick: None,
            links_read: None,
            settings: Settings::default(),
            survey: Survey::default(),
            tick: 0,
            tick_cpu_us: 0,
            tick_costs: Arc::default(),
            hour: Hour::default(),
            overruns: 0,
            polls: Complaints::default(),
            drains: Complaints::default(),
            events: Vec::new(),
            events_wanted: false,
            recorder,
            watching: Watching::default(),
            history: None,
            full: None,
        }
    }

    /// Writing down all that goes into the table.
    #[must_use]
    pub fn with_recording(mut self, file: Segments, choice: Choice) -> Self {
        self.recorder = self.recorder.with_file(file, choice);
        self
    }

    /// With a finder of owners.
    #[must_use]
    pub fn with_owners(mut self, owners: Box<dyn FindOwner>) -> Self {
        self.table = self.table.with_owners(owners);
        self
    }

    /// Keeping the last hours on disk.
    #[must_use]
    pub(super) fn with_history(mut self, history: FlightRecorder) -> Self {
        self.history = Some(history);
        self
    }

    /// The exits' end.
    #[must_use]
    pub fn handle(&self) -> Handle {
        self.handle.clone()
    }

    /// Starts the loop on a thread of its own.
    ///
    /// # Errors
    /// When the thread or its timers cannot be had.
    pub fn spawn(self) -> io::Result<Running> {
        let handle = self.handle();
        let ended = handle.watch();
        let (stop, stopped) = oneshot::channel::<()>();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build()?;
        let thread = std::thread::Builder::new()
            .name("tcpwin-pipeline".to_owned())
            .spawn(move || {
                runtime.block_on(self.run(async {
                    // Told to stop, or nobody is left to tell.
                    let _ = stopped.await;
                }));
            })?;
        Ok(Running {
            handle,
            ended,
            stop,
            thread,
        })
    }

    /// Goes round until `stop` is ready.
    pub async fn run(mut self, stop: impl Future<Output = ()>) {
        let mut ticks = ticking(self.interval);
        let mut drains = ticking(DRAIN_EVERY);
        tokio::pin!(stop);
        self.recorder.begin((self.clock)(), &mut self.table);
        loop {
            tokio::select! {
                biased;
                () = &mut stop => break,
                _ = ticks.tick() => self.end_interval(),
                _ = drains.tick() => self.drain(),
                Some(request) = self.inlet.requests.recv() => {
                    if let Some(interval) = self.answer(request) {
                        ticks = ticking(interval);
                    }
                }
            }
            self.inlet.counters.beat();
        }
        if let Some(history) = &mut self.history {
            history.end((self.clock)(), &mut self.table);
        }
    }

    fn end_interval(&mut self) {
        let cpu_before = usage::thread_cpu_us();
        let now = (self.clock)();
        let polled = self.source.poll(now, &mut |update| {
            self.recorder.update(&update);
            self.table.apply(update, &mut self.events);
            self.recorder.answers(&mut self.table);
        });
        self.polls.note(polled);
        self.watching.follow(now, &mut *self.source);
        self.read_links(now);
        let missed = self.source.missed_events();
        self.recorder.tick(now, missed);
        self.table.set_missed(missed);
        self.table.tick(now, &mut self.events);
        self.recorder.answers(&mut self.table);
        self.settings.follow(now, &mut self.table, &mut self.recorder);
        self.survey.tick(now);
        if let Some(history) = &mut self.history {
            history.tick(now, &mut self.table);
        }
        self.tell_events();

        self.tick += 1;
        let since = self.last_tick.replace(now).map_or(0, |last| now.since(last).0);
        let intervals = since / u64::try_from(self.interval.as_nanos()).unwrap_or(u64::MAX).max(1);
        self.overruns += intervals.saturating_sub(1);
        self.full = None;
        self.tick_cpu_us = usage::thread_cpu_us() - cpu_before;
        Arc::make_mut(&mut self.tick_costs).observe(self.tick_cpu_us as f64 / 1e6);
        let summary = self.summary();
        self.hour.tick(now.0, &summary);
        let snapshot = Arc::new(self.snapshot(now, since / 1_000, summary));
        let beside = (self.source.host_counts(), self.source.probe_cost());
        self.recorder.laid(&snapshot, beside, &mut self.table);
        if let Some(failure) = self.recorder.take_failure() {
            tracing::error!("{failure}");
        }
        self.inlet.latest.send_replace(snapshot);
    }

    /// Interfaces and their addresses come and go.
    fn read_links(&mut self, now: Instant) {
        let is_due = |read: Instant| now.since(read) >= LINKS_EVERY;
        if self.links_read.is_none_or(is_due) {
            self.links_read = Some(now);
            let nics = Nic::read();
            if let Ok(own) = netns::own() {
                self.recorder.links(own, &nics);
                self.table.set_links(own, &nics);
            }
            self.survey.set_links(nics);
        }
    }

    fn drain(&mut self) {
        self.follow_readers();
        let now = (self.clock)();
        let mut changed = false;
        let drained = self.source.drain(now, &mut |update| {
            changed = true;
            self.recorder.update(&update);
            self.table.apply(update, &mut self.events);
            self.recorder.answers(&mut self.table);
        });
        self.drains.note(drained);
        self.watching.follow(now, &mut *self.source);
        if changed {
            self.full = None;
        }
        self.recorder.keep_up(now);
        self.tell_events();
    }

    fn snapshot(&self, now: Instant, interval_us: u64, summary: Summary) -> Snapshot {
        Snapshot {
            at_ns: now.0,
            interval_us,
            tick: self.tick,
            health: self.health(),
            summary,
            tally: self.table.tally(),
            ticks: Arc::clone(&self.tick_costs),
            hour: self.hour.clone(),
            findings: Vec::new(),
            connections: Vec::new(),
            listeners: Vec::new(),
            facts: self.survey.facts().clone(),
            samples: Vec::new(),
            changes: None,
        }
    }

    /// The table's counts with those of the host that no connection stands for.
    fn summary(&self) -> Summary {
        self.table.summary_with(self.source.host_counts())
    }

    fn health(&self) -> Health {
        let cost = self.source.probe_cost();
        let of_source = self
            .source
            .losses()
            .into_iter()
            .map(|loss| (loss.cause, loss.count));
        let ours = [
            ("poll_failed", self.polls.count + self.drains.count),
            ("tick_overrun", self.overruns),
            ("trace_reader_behind", self.inlet.counters.missed()),
            ("sample_not_read", self.watching.missed()),
        ];
        let of_history = self.history.as_ref().map(FlightRecorder::loss);
        let ours = ours.into_iter().chain(self.recorder.losses()).chain(of_history);
        Health {
            hooks: self.source.hooks(),
            losses: of_source
                .chain(ours)
                .map(|(cause, count)| (cause.to_owned(), count))
                .collect(),
            table_used: self.table.len() as u64,
            evictions: self.table.evictions(),
            probe_runs: cost.map(|cost| cost.runs),
            probe_run_ns: cost.map(|cost| cost.run_ns),
            tick_cpu_us: self.tick_cpu_us,
            cpu_us: usage::process_cpu_us(),
            rss_bytes: usage::rss_bytes(),
            ..self.about.clone()
        }
    }

    fn tell_events(&mut self) {
        if self.inlet.events.receiver_count() == 0 {
            self.events.clear();
            return;
        }
        for event in self.events.drain(..) {
            // Fails only when the last reader has just gone.
            let _ = self.inlet.events.send(Arc::new(event));
        }
    }

    /// Single events cost the kernel programs time: they are told only while somebody reads or records them.
    fn follow_readers(&mut self) {
        let read = self.inlet.events.receiver_count() > 0;
        self.table.tell(read);
        let wanted = read || self.recorder.is_wanted();
        if wanted != self.events_wanted {
            self.events_wanted = wanted;
            self.source.want_events(wanted);
        }
    }
}

/// As the table takes it.
fn grouping(metrics: &Metrics) -> Grouping {
    Grouping {
        process: metrics.group_by.contains(&GroupBy::Process),
        cgroup: metrics.group_by.contains(&GroupBy::Cgroup),
        listener: metrics.group_by.contains(&GroupBy::Listener),
        peers: metrics.peer_prefix.iter().map(|prefix| prefix.0).collect(),
        most: metrics.max_groups.count(),
    }
}

fn ticking(every: Duration) -> Interval {
    let mut ticks = interval(every);
    // After a delay (a suspended host) one tick tells all; catching up would only burn CPU.
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    ticks
}
