use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::*;
use crate::config::{File, Overrides};
use crate::daemon::scripted::{Asked, Scripted};

/// A clock that is 10 ms further each time it is asked.
fn clock() -> Clock {
    let now = AtomicU64::new(0);
    Box::new(move || Instant(now.fetch_add(10_000_000, Ordering::Relaxed)))
}

fn pipeline(source: Box<Scripted>) -> Pipeline {
    let config = Config::merge(File::default(), Overrides::default());
    Pipeline::new(source, Some("no better one".to_owned()), &config, clock())
}

/// Runs the loop beside the test, on paused time.
fn start(pipeline: Pipeline) -> (Handle, oneshot::Sender<()>, tokio::task::JoinHandle<()>) {
    let handle = pipeline.handle();
    let (stop, stopped) = oneshot::channel::<()>();
    let task = tokio::spawn(pipeline.run(async {
        let _ = stopped.await;
    }));
    (handle, stop, task)
}

#[tokio::test(start_paused = true)]
async fn a_tick_tells_of_source_and_agent() {
    let asked = Asked::default();
    let (handle, _stop, _) = start(pipeline(Scripted::new(&asked)));
    assert_eq!(handle.summary().tick, 0);
    let snapshot = handle
        .watch()
        .wait_for(|snapshot| snapshot.tick == 2)
        .await
        .unwrap()
        .clone();
    let health = &snapshot.health;
    assert_eq!(health.source, "scripted");
    assert_eq!(health.source_reason.as_deref(), Some("no better one"));
    assert_eq!(health.losses["ring_full"], 3);
    assert_eq!(health.probe_runs, Some(10));
    assert_eq!(health.table_capacity, 131_072);
    assert!(health.rss_bytes > 0);
    assert!(snapshot.interval_us > 0);
    assert!(asked.count("drain") >= 9, "{}", asked.count("drain"));
    assert_eq!(asked.count("poll"), 2);
}

#[tokio::test(start_paused = true)]
async fn the_end_drops_the_source() {
    let asked = Asked::default();
    let (handle, stop, task) = start(pipeline(Scripted::new(&asked)));
    handle.full().await.unwrap();
    stop.send(()).unwrap();
    task.await.unwrap();
    assert_eq!(asked.count("dropped"), 1);
    assert!(handle.full().await.is_err());
    assert!(handle.subscribe().await.is_err());
}

#[tokio::test(start_paused = true)]
async fn events_are_wanted_only_while_somebody_reads() {
    let asked = Asked::default();
    let (handle, stop, task) = start(pipeline(Scripted::new(&asked)));
    let first = handle.subscribe().await.unwrap();
    let second = handle.subscribe().await.unwrap();
    assert_eq!((asked.count("events on"), asked.count("events off")), (1, 0));
    drop(first);
    tokio::time::advance(DRAIN_EVERY * 2).await;
    handle.full().await.unwrap();
    assert_eq!(asked.count("events off"), 0);
    drop(second);
    let tick = handle.summary().tick;
    handle
        .watch()
        .wait_for(|snapshot| snapshot.tick > tick)
        .await
        .unwrap();
    assert_eq!(asked.count("events off"), 1);
    let mut third = handle.subscribe().await.unwrap();
    stop.send(()).unwrap();
    task.await.unwrap();
    assert_eq!(third.next().await, None);
}

#[tokio::test(start_paused = true)]
async fn many_readers_of_one_tick_share_a_snapshot() {
    let (handle, _stop, _) = start(pipeline(Scripted::new(&Asked::default())));
    let first = handle.full().await.unwrap();
    let second = handle.full().await.unwrap();
    assert!(Arc::ptr_eq(&first, &second));
    handle
        .watch()
        .wait_for(|snapshot| snapshot.tick > first.tick)
        .await
        .unwrap();
    assert!(!Arc::ptr_eq(&first, &handle.full().await.unwrap()));
}

#[tokio::test(start_paused = true)]
async fn the_interval_changes_while_running() {
    let (handle, _stop, _) = start(pipeline(Scripted::new(&Asked::default())));
    handle.set_interval(Duration::from_secs(10)).await.unwrap();
    let began = tokio::time::Instant::now();
    let tick = handle.full().await.unwrap().tick;
    handle
        .watch()
        .wait_for(|snapshot| snapshot.tick == tick + 2)
        .await
        .unwrap();
    assert!(
        began.elapsed() >= Duration::from_secs(10),
        "{:?}",
        began.elapsed()
    );
}

#[tokio::test(start_paused = true)]
async fn a_failed_poll_is_counted_and_the_loop_goes_on() {
    let source = Scripted::failing(&Asked::default());
    let (handle, _stop, _) = start(pipeline(source));
    let snapshot = handle
        .watch()
        .wait_for(|snapshot| snapshot.tick == 3)
        .await
        .unwrap()
        .clone();
    assert_eq!(snapshot.health.losses["poll_failed"], 3);
}

#[test]
fn on_its_thread_it_feeds_a_blocking_reader_and_ends() {
    use crate::snapshot::Feed as _;
    let asked = Asked::default();
    let running = pipeline(Scripted::new(&asked)).spawn().unwrap();
    let mut feed = running.handle();
    feed.latest().unwrap();
    running.stop().unwrap();
    assert_eq!(asked.count("dropped"), 1);
    assert!(feed.latest().is_err());
}
