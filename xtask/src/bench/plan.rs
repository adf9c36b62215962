//! Which rows there are, in which order they are measured, and what each says of its method.

use std::path::Path;

use anyhow::Result;

use crate::bench::event::{self, Added, Effort, PerRun, Talk};
use crate::bench::herd::Herd;
use crate::bench::row::Row;
use crate::bench::scale::{self, Started};
use crate::bench::screen::Screen;
use crate::bench::stat::{Figure, short};
use crate::lab::netns::NetNs;
use crate::process::announce;

/// Names for `--rows`.
pub const GROUPS: [&str; 10] = [
    "idle",
    "busy",
    "probes",
    "events",
    "sock_diag",
    "rss",
    "scrape",
    "start",
    "tick",
    "top",
];

/// Share of the sockets of the middle size that are busy.
const BUSY_SHARE: usize = 10;
/// Between two requests of a busy connection, ms.
const EVERY_MS: u64 = 100;

/// How much is measured, and what of it.
pub struct Plan {
    quick: bool,
    rows: Vec<String>,
    /// Sockets: few, some, many.
    sizes: [usize; 3],
    seconds: usize,
    effort: Effort,
}

impl Plan {
    /// The full one, or a short one; all rows, or those named.
    pub fn new(quick: bool, rows: &[String]) -> Self {
        let full = Effort {
            blocks: 24,
            samples: 10,
            turns: 2_000,
            connects: 400,
        };
        Self {
            quick,
            rows: rows.to_vec(),
            sizes: if quick {
                [100, 1_000, 10_000]
            } else {
                [1_000, 10_000, 100_000]
            },
            seconds: if quick { 5 } else { 30 },
            effort: if quick {
                Effort {
                    blocks: 2,
                    samples: 5,
                    ..full
                }
            } else {
                full
            },
        }
    }

    /// In a few sentences.
    pub fn method(&self) -> String {
        let [few, some, many] = self.sizes;
        format!(
            "One run, everything in it: connections over loopback in a network namespace ({few}, {some} and {many} sockets, a \
             connection being two), `ss -tinmH` in that namespace beside the agent. CPU time is the kernel's (process CPU \
             clocks; `rusage` for `ss`), over {} seconds in which nobody asks the agent anything; wall time is not used. Time \
             in kernel programs is counted by `BPF_ENABLE_STATS`, less what an empty program costs at the same time. What \
             probes add is measured in {} pairs of alternating blocks without and with them, by the fastest tenth of each \
             block's samples, since neighbours on a machine only add.",
            self.seconds, self.effort.blocks
        )
    }

    fn wants(&self, groups: &[&str]) -> bool {
        self.rows.is_empty()
            || groups
                .iter()
                .any(|group| self.rows.iter().any(|row| row == group))
    }

    /// Measures all that is wanted.
    pub fn measure(&self, tcpwin: &Path, netns: &NetNs) -> Result<Vec<Row>> {
        let mut rows = Vec::new();
        if self.wants(&["probes", "events"]) {
            let mut talk = Talk::start(netns)?;
            if self.wants(&["probes"]) {
                announce("time of the probes by run");
                rows.extend(probe_rows(&event::probes(&mut talk, tcpwin, self.effort)?));
            }
            if self.wants(&["events"]) {
                announce("what the probes add to a request-response and to a short connection");
                let (turns, connects) = event::added(&mut talk, tcpwin, self.effort)?;
                rows.push(added_row("request-response", turns, 5.0, "tcptop +32 %"));
                rows.push(added_row(
                    "connect-request-close",
                    connects,
                    5.0,
                    "tcplife +14…44 %",
                ));
            }
        }
        let [few, some, many] = self.sizes;
        let mut herd = Herd::new(netns);
        if self.wants(&["tick"]) {
            self.at_few(tcpwin, &mut herd, few, &mut rows)?;
        }
        if self.wants(&["tick", "busy", "rss"]) {
            self.at_some(tcpwin, netns, &mut herd, some, &mut rows)?;
        }
        if self.wants(&["top"]) {
            self.at_screen(tcpwin, &mut herd, 2 * some, &mut rows)?;
        }
        if self.wants(&["tick", "idle", "rss", "scrape", "start", "sock_diag"]) {
            self.at_many(tcpwin, netns, &mut herd, many, &mut rows)?;
        }
        if self.rows.is_empty() {
            rows.push(Row::elsewhere(
                "verdict accuracy in the lab, each kernel (≥ 99 %)",
                "docs/accuracy.md, by `cargo xtask lab --report`",
            ));
            rows.push(Row::elsewhere(
                "predicted rate after the fix against the measured one (within 10 %)",
                "docs/accuracy.md, by `cargo xtask lab --report`",
            ));
        }
        Ok(rows)
    }

    fn at_few(&self, tcpwin: &Path, herd: &mut Herd<'_>, sockets: usize, rows: &mut Vec<Row>) -> Result<()> {
        announce(format_args!("{sockets} sockets"));
        herd.grow_to(sockets)?;
        let agent = Started::with_sockets(tcpwin, "ebpf", herd.sockets())?;
        rows.push(self.tick_row(&agent, herd.sockets())?);
        Ok(())
    }

    fn at_some(
        &self,
        tcpwin: &Path,
        netns: &NetNs,
        herd: &mut Herd<'_>,
        sockets: usize,
        rows: &mut Vec<Row>,
    ) -> Result<()> {
        announce(format_args!("{sockets} sockets"));
        let busy = sockets / BUSY_SHARE;
        herd.add_busy(busy, EVERY_MS)?;
        herd.grow_to(sockets)?;
        let agent = Started::with_sockets(tcpwin, "ebpf", herd.sockets())?;
        if self.wants(&["tick"]) {
            rows.push(self.tick_row(&agent, herd.sockets())?);
        }
        if self.wants(&["busy"]) {
            announce(format_args!("{busy} of them busy"));
            herd.be_busy(true)?;
            let cpu = agent.cpu_per_second(self.seconds)?.times(1e-7);
            let ss = scale::ss(netns, 3)?.times(1e-7);
            herd.be_busy(false)?;
            rows.push(
                Row::judged(
                    "busy",
                    format!("agent CPU, {sockets} sockets of which {busy} busy, 1 Hz"),
                    cpu,
                    "% of a core",
                    1.0,
                )
                .only_if(!self.quick)
                .beside(format!("ss {} %", short(ss.median)))
                .by(format!(
                    "process CPU clock over {} s, mean; busy: 64 B asked, 256 B answered each {EVERY_MS} ms",
                    self.seconds
                )),
            );
        }
        if self.wants(&["rss"]) {
            rows.push(self.rss_row(&agent, herd.sockets(), 25.0)?);
        }
        Ok(())
    }

    fn at_screen(
        &self,
        tcpwin: &Path,
        herd: &mut Herd<'_>,
        sockets: usize,
        rows: &mut Vec<Row>,
    ) -> Result<()> {
        announce(format_args!("the screen over {sockets} sockets"));
        let busy = sockets / 2 / BUSY_SHARE;
        if !herd.has_busy() {
            herd.add_busy(busy, EVERY_MS)?;
        }
        herd.grow_to(sockets)?;
        herd.be_busy(true)?;
        let agent = Started::with_sockets(tcpwin, "ebpf", herd.sockets())?;
        let alone = agent.cpu_per_second(self.seconds)?;
        let attached = Screen::start(tcpwin, &["--connect", agent.agent.url()], sockets)?;
        let both = agent.cpu_per_second(self.seconds)?.median + attached.cpu_per_second(self.seconds)?.median;
        let attached_rss = attached.resident()?.total as f64 / 1e6;
        drop((attached, agent));
        let screen = Screen::start(tcpwin, &["--no-connect"], sockets)?;
        let whole = screen.cpu_per_second(self.seconds)?;
        let key = screen.keystroke(whole)?;
        let rss = screen.resident()?.total as f64 / 1e6;
        herd.be_busy(false)?;
        let what = format!("{sockets} sockets of which {busy} busy, 1 Hz");
        let by = |rss: f64| {
            format!(
                "process CPU clocks over {} s, mean; 200 × 50 cells; RSS {} MB",
                self.seconds,
                short(rss)
            )
        };
        let beyond = |spent: f64| Figure::single((spent - alone.median) * 1e-7);
        rows.push(
            Row::judged(
                "top",
                format!("`top` beyond the agent, {what}"),
                beyond(whole.median),
                "% of a core",
                5.0,
            )
            .only_if(!self.quick)
            .beside(format!("the agent alone {} %", short(alone.median * 1e-7)))
            .by(by(rss)),
        );
        rows.push(
            Row::judged(
                "top",
                format!("`top --connect` and what it asks of the agent, {what}"),
                beyond(both),
                "% of a core",
                5.0,
            )
            .only_if(!self.quick)
            .beside(format!("the agent alone {} %", short(alone.median * 1e-7)))
            .by(by(attached_rss)),
        );
        rows.push(
            Row::judged("top", format!("a letter in the filter, {sockets} connections, from key to frame"), key.times(1e-6), "ms", 50.0)
                .only_if(!self.quick)
                .by("process CPU clock, what the screen does anyway taken off; mean, and the middle half of the letters"),
        );
        Ok(())
    }

    fn at_many(
        &self,
        tcpwin: &Path,
        netns: &NetNs,
        herd: &mut Herd<'_>,
        sockets: usize,
        rows: &mut Vec<Row>,
    ) -> Result<()> {
        announce(format_args!("{sockets} sockets"));
        herd.grow_to(sockets)?;
        let ss = scale::ss(netns, 3)?;
        let agent = Started::with_sockets(tcpwin, "ebpf", herd.sockets())?;
        if self.wants(&["start"]) {
            let what = format!("agent start with {sockets} sockets there, CPU until all are in its table");
            rows.push(
                Row::told("start", what, Figure::single(agent.cpu_ms), "ms")
                    .beside(format!("ss {} ms", short(ss.median / 1e6)))
                    .by(format!("one start; {} ms by the wall", short(agent.wall_ms))),
            );
        }
        let idle = agent.cpu_per_second(self.seconds)?;
        if self.wants(&["idle"]) {
            rows.push(
                Row::judged(
                    "idle",
                    format!("agent CPU, {sockets} idle sockets, 1 Hz"),
                    idle.times(1e-7),
                    "% of a core",
                    1.0,
                )
                .only_if(!self.quick)
                .beside(format!("ss {} %", short(ss.median / 1e7)))
                .by(format!("process CPU clock over {} s, mean", self.seconds)),
            );
        }
        if self.wants(&["tick"]) {
            rows.push(self.tick_row(&agent, sockets)?);
        }
        if self.wants(&["rss"]) {
            rows.push(self.rss_row(&agent, sockets, 80.0)?);
        }
        if self.wants(&["scrape"]) {
            let scrape = agent.scrapes(20, idle.median)?;
            rows.push(
                Row::judged(
                    "scrape",
                    format!("one scrape, {sockets} sockets watched, agent CPU"),
                    scrape.cpu_ms,
                    "ms",
                    2.0,
                )
                .only_if(!self.quick)
                .beside(format!("ss {} ms", short(ss.median / 1e6)))
                .by(format!(
                    "5 × 20 scrapes, the agent's other work taken off; {} series, {} bytes",
                    scrape.series, scrape.bytes
                )),
            );
        }
        drop(agent);
        if self.wants(&["sock_diag"]) {
            announce("the fallback on the same sockets");
            let agent = Started::with_sockets(tcpwin, "sock_diag", sockets)?;
            let each = agent
                .cpu_per_second(self.seconds.min(10))?
                .times(1e-3 / sockets as f64);
            rows.push(
                Row::judged("sock_diag", "sock_diag fallback, per socket", each, "µs", 1.5)
                    .only_if(!self.quick)
                    .beside(format!("ss {} µs", short(ss.median / 1e3 / sockets as f64)))
                    .by("the whole agent's CPU of a tick over the sockets, idle"),
            );
        }
        Ok(())
    }

    fn tick_row(&self, agent: &Started, sockets: usize) -> Result<Row> {
        let tick = agent.tick_us(self.seconds.min(10))?;
        Ok(
            Row::told("tick", format!("tick, {sockets} idle sockets, CPU"), tick, "µs")
                .beside(String::new())
                .by(format!(
                    "tick_cpu_us of /healthz; {} ns a socket",
                    short(tick.median * 1e3 / sockets as f64)
                )),
        )
    }

    fn rss_row(&self, agent: &Started, sockets: usize, budget: f64) -> Result<Row> {
        let resident = agent.resident()?;
        let megabytes = |bytes: u64| bytes as f64 / 1e6;
        let total = Figure::single(megabytes(resident.total));
        Ok(Row::judged(
            "rss",
            format!("agent RSS, {sockets} sockets"),
            total,
            "MB",
            budget,
        )
        .only_if(!self.quick)
        .by(format!(
            "smaps; of it {} MB are slots and rings in the kernel's memory, mapped",
            short(megabytes(resident.kernel_maps))
        )))
    }
}

fn probe_rows([turns, connects]: &[PerRun; 2]) -> [Row; 2] {
    let row = |what: &str, each: &str, run: &PerRun| {
        Row::judged(
            "probes",
            format!("probe time per event, warm, {what}"),
            Figure::single(run.mean),
            "ns",
            100.0,
        )
        .beside(format!("empty program {} ns, taken off", short(run.floor)))
        .by(format!(
            "BPF_ENABLE_STATS, the fastest tenth of the samples, mean over all runs; {} runs and {} ns a {each}: {}",
            short(run.runs_each),
            short(run.ns_each),
            run.by_program()
        ))
    };
    [
        row("request-response", "turn", turns),
        row("connect-request-close", "connection", connects),
    ]
}

fn added_row(what: &str, added: Added, budget: f64, documented: &str) -> Row {
    Row::judged(
        "events",
        format!("CPU per {what}, all probes on"),
        added.percent,
        "% more",
        budget,
    )
    .beside(format!(
        "{} µs without, {} µs with (documented: {documented})",
        short(added.without_us.median),
        short(added.with_us.median)
    ))
    .by(format!(
        "CPU clocks of client and server on one processor, softirq included; {} pairs of blocks off/on, on/off, the \
         fastest tenth of each block's samples; middle pair, and the middle half of the pairs",
        added.percent.samples
    ))
}
