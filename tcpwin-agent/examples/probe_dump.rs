//! dev
use tcpwin_agent::source::{
    Source, Update,
    ebpf::{EbpfSource, LoadOptions},
};
use tcpwin_agent::units::Instant;
fn now() -> Instant {
    let t = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    Instant(t.tv_sec as u64 * 1_000_000_000 + t.tv_nsec as u64)
}
fn main() {
    tracing_subscriber::fmt().init();
    let t0 = now();
    let mut s = match EbpfSource::open(&LoadOptions { slots: 4096 }, t0) {
        Ok(s) => s,
        Err(e) => {
            println!("{e}");
            std::process::exit(1)
        }
    };
    println!("open took {} ms", (now().0 - t0.0) / 1_000_000);
    for h in s.hooks() {
        println!("{h:?}");
    }
    for _ in 0..std::env::args().nth(1).map_or(3, |a| a.parse().unwrap()) {
        std::thread::sleep(std::time::Duration::from_secs(1));
        let r = s.poll(now(), &mut |u| match u {
            Update::Observed(o) => println!(
                "OBS {:?} {:?} {:?} {} {:?}\n   {:?}\n   {:?} {:?}",
                o.key,
                o.endpoints,
                o.state,
                o.owner.name.as_deref().unwrap_or("-"),
                o.totals,
                o.tcp,
                o.budget,
                o.calls
            ),
            Update::Closed(o) => println!(
                "CLOSED {:?} {:?} {:?} {:?}",
                o.key, o.endpoints, o.totals, o.calls
            ),
            u => println!("{u:?}"),
        });
        if let Err(e) = r {
            println!("{e}");
        }
    }
    println!("{:?} {:?} {:?}", s.losses(), s.host_counts(), s.probe_cost());
}
