//! The agent ended in every way under load: nothing of it stays in the kernel, and no connection notices. Needs root and BPF.
//!
//! `TCPWIN_RESTARTS` sets how often it is started anew.

use std::env;
use std::fs;
use std::os::unix::process::ExitStatusExt as _;

use rustix::process::Signal;
use tcpwin_agent::source::kernel_clock;

#[path = "support/agent.rs"]
mod agent;
#[path = "support/connections.rs"]
mod connections;
#[path = "kill/footprint.rs"]
mod footprint;
#[path = "kill/load.rs"]
mod load;
#[path = "support/loss.rs"]
mod loss;
#[path = "support/netns.rs"]
mod netns;
#[path = "support/told.rs"]
mod told;

use agent::Agent;
use footprint::Footprint;
use load::Load;
use told::within_patience;

const CONNECTIONS: usize = 60;

#[test]
fn nothing_stays_and_nothing_breaks() {
    if let Some(reason) = netns::not_root() {
        println!("skipped: {reason}");
        return;
    }
    let restarts: usize = env::var("TCPWIN_RESTARTS").map_or(20, |count| count.parse().expect("a number"));
    let place = netns::Namespace::new();
    let load = Load::begin(&place, CONNECTIONS);
    let files = open_files();
    let mut left = Footprint::default();
    let mut largest = 0;
    for round in 0..restarts {
        let mut agent = Agent::start(&[
            "--source",
            "ebpf",
            "--max-connections",
            "4096",
            "--interval",
            "100ms",
        ]);
        agent.until_ready();
        let footprint = Footprint::of(agent.pid());
        assert!(footprint.programs.len() >= 10, "{footprint:?}");
        assert!(footprint.links.len() >= 10, "{footprint:?}");
        assert!(footprint.maps.len() >= 5, "{footprint:?}");
        largest = largest.max(footprint.len());
        let before = load.rounds();
        load.until(before + 1);
        if round % 2 == 0 {
            let status = agent.end(Signal::KILL);
            assert_eq!(status.signal(), Some(Signal::KILL.as_raw()));
        } else {
            let status = agent.end(Signal::TERM);
            assert_eq!(status.code(), Some(0), "{}", agent.log());
        }
        left.add(footprint);
        let after = load.rounds();
        load.until(after + 1);
    }
    // The kernel lets go of the last links a grace period after the process.
    let since = kernel_clock();
    while let Some(remains) = left.remaining() {
        within_patience(since, || format!("{remains:?} is still loaded"));
    }
    assert_eq!(open_files(), files, "open files of the test");
    let traffic = load.end(&place);
    println!(
        "{restarts} restarts of {largest} programs, maps and links; {CONNECTIONS} connections carried {} bytes meanwhile in \
         {} segments, {} sent again",
        traffic.bytes, traffic.counters["Tcp.OutSegs"], traffic.counters["Tcp.RetransSegs"],
    );
    traffic.consistent(CONNECTIONS);
}

fn open_files() -> usize {
    fs::read_dir("/proc/self/fd").expect("/proc").count()
}
