//! A connection that is watched closely: a sample at each of its events, no more and no less, with what the kernel itself
//! says of it. Needs root and BPF.

use std::fs;
use std::mem::MaybeUninit;
use std::net::TcpStream;
use std::os::fd::AsRawFd as _;

use tcpwin_agent::observation::{Key, Observation, Sample};
use tcpwin_agent::source::ebpf::{EbpfSource, LoadOptions};
use tcpwin_agent::source::{Source, netns as namespaces};

#[path = "support/connections.rs"]
mod connections;
#[path = "support/loss.rs"]
mod loss;
#[path = "support/netns.rs"]
mod netns;
#[path = "support/told.rs"]
mod told;

use connections::Family;
use told::Told;

const TURNS: usize = 200;

#[test]
fn each_event_of_a_watched_connection_is_sampled() {
    if let Some(reason) = netns::not_root() {
        println!("skipped: {reason}");
        return;
    }
    let mut source = EbpfSource::open(&LoadOptions { slots: 16_384 }).expect("the probes attach");
    let mut told = Told::default();
    let namespace = netns::Namespace::new();
    let mut connection = namespace.inside(|| {
        // However long the test is kept waiting between two turns, cwnd stays what it is (RFC 2861).
        fs::write("/proc/sys/net/ipv4/tcp_slow_start_after_idle", "0").expect("a sysctl of the namespace");
        connections::open(Family::V4, 1).remove(0)
    });
    let key = Key {
        cookie: connections::cookie(&connection.client),
        netns: namespace.inum,
    };
    told.poll(&mut source);
    connection.exchange(1_000, 1_000);
    assert!(taken(&mut source).is_empty(), "nobody watches yet");
    told.poll(&mut source);
    let before = events(&told.last[&key]);

    source.watch(key, true);
    let mut cwnd = Vec::new();
    for turn in 0..TURNS {
        let least = snd_cwnd(&connection.client);
        connection.exchange(100 + 200 * turn, 3_000);
        cwnd.push((least, snd_cwnd(&connection.client)));
    }
    drop(connection);
    told.until_closed(&mut source, &[key]);
    let [end] = &told.closed[&key][..] else {
        panic!("it closes once")
    };

    let samples = taken(&mut source);
    assert!(samples.iter().all(|(of, _)| *of == key), "of this socket alone");
    let samples: Vec<Sample> = samples.into_iter().map(|(_, sample)| sample).collect();
    let lost = source
        .losses()
        .iter()
        .find(|loss| loss.cause == "ring_full")
        .map_or(0, |loss| loss.count);
    let missed = source.missed_events();
    println!(
        "{} samples of {} events, {lost} lost, {missed} missed",
        samples.len(),
        events(end) - before
    );
    assert!(
        samples.len() >= 2 * TURNS,
        "a send and an answer each turn at least"
    );
    assert_eq!(samples.len() as u64 + lost, events(end) - before);

    assert!(samples.is_sorted_by_key(|sample| sample.at_ns));
    assert!(samples.is_sorted_by_key(|sample| sample.bytes_acked));
    // Nothing is lost on loopback: cwnd only grows, and each sample lies between what the kernel said before and after.
    let (first, last) = (cwnd[0].0, cwnd[TURNS - 1].1);
    assert!(last > first, "the flow grows cwnd: {first} to {last}");
    for sample in &samples {
        assert!(
            (first..=last).contains(&sample.cwnd),
            "{sample:?}, {first} to {last}"
        );
    }
    assert_eq!(samples[samples.len() - 1].cwnd, last);
    assert!(
        samples
            .iter()
            .any(|sample| sample.in_flight_bytes > 10_000 && sample.srtt_us > 0)
    );
}

#[test]
fn who_is_no_longer_watched_is_not_sampled() {
    if let Some(reason) = netns::not_root() {
        println!("skipped: {reason}");
        return;
    }
    let mut source = EbpfSource::open(&LoadOptions { slots: 16_384 }).expect("the probes attach");
    let mut told = Told::default();
    let mut connection = connections::open(Family::V6, 1).remove(0);
    let key = Key {
        cookie: connections::cookie(&connection.server),
        netns: namespaces::own().expect("/proc"),
    };
    told.poll(&mut source);
    source.watch(key, true);
    connection.exchange(1_000, 1_000);
    told.poll(&mut source);
    assert!(!taken(&mut source).is_empty());
    source.watch(key, false);
    connection.exchange(1_000, 1_000);
    told.poll(&mut source);
    assert_eq!(taken(&mut source), []);
}

/// Segments that came and calls that sent: those are sampled.
fn events(seen: &Observation) -> u64 {
    seen.totals.segments_in.expect("counted") + seen.calls.expect("counted").sends
}

fn taken(source: &mut EbpfSource) -> Vec<(Key, Sample)> {
    let mut samples = Vec::new();
    source.take_samples(&mut |key, sample| samples.push((key, sample)));
    samples
}

/// `tcpi_snd_cwnd`, which `ss` shows.
fn snd_cwnd(socket: &TcpStream) -> u32 {
    let mut info = MaybeUninit::<libc::tcp_info>::zeroed();
    let mut size = size_of::<libc::tcp_info>() as libc::socklen_t;
    // SAFETY: a buffer of the size told; zeroes are a value of each field.
    let (outcome, info) = unsafe {
        let outcome = libc::getsockopt(
            socket.as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_INFO,
            info.as_mut_ptr().cast(),
            &raw mut size,
        );
        (outcome, info.assume_init())
    };
    assert_eq!(outcome, 0, "getsockopt: {}", std::io::Error::last_os_error());
    info.tcpi_snd_cwnd
}
