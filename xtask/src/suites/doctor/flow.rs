//! Faults that hold live connections: doctor says which and what they cost.

use anyhow::Result;

use super::bench::{Bench, Wanted, type_in};
use crate::lab::clock::{now_ns, seconds_ns};
use crate::lab::net::{Net, Side};
use crate::lab::run::lay_out;
use crate::lab::scenario::Scenario;
use crate::lab::traffic::Traffic;

/// A flow whose limit is known by construction, on a host where that is the one fault.
struct Plant {
    wanted: Wanted,
    scenario: &'static str,
    /// What they make without it, Mbit/s, where it is known by construction.
    without_mbit: Option<f64>,
    /// Seconds until the limit holds.
    after_s: f64,
}

const PLANTS: &[Plant] = &[
    Plant {
        wanted: Wanted {
            id: "tcp-wmem-max",
            severity: "hurts",
        },
        scenario: WMEM,
        without_mbit: Some(30.0),
        after_s: 6.0,
    },
    Plant {
        wanted: Wanted {
            id: "route-cwnd-lock",
            severity: "hurts",
        },
        scenario: r#"
            [path]
            rtt_ms = 30
            [hosts.sender]
            route = "cwnd lock 20"
            [hosts.sender.sysctls]
            "net.ipv4.tcp_no_metrics_save" = "0"
            [flow]
            warm_up = true
            [flow.pattern]
            kind = "bulk"
            [expect]
            bound = "window"
            limit = "cwnd_clamp"
            steady_after_s = 2
            seconds = 10
        "#,
        without_mbit: None,
        after_s: 6.0,
    },
    Plant {
        wanted: Wanted {
            id: "queue-bloat",
            severity: "hurts",
        },
        scenario: r#"
            [path]
            rtt_ms = 30
            [hosts.sender]
            qdisc = "tbf rate 20mbit burst 10kb limit 1000000"
            [hosts.sender.sysctls]
            "net.ipv4.tcp_no_metrics_save" = "0"
            [hosts.receiver.sysctls]
            "net.ipv4.tcp_rmem" = "4096 4194304 16777216"
            [flow]
            count = 60
            [flow.pattern]
            kind = "bulk"
            [expect]
            bound = "host"
            limit = "host"
            steady_after_s = 3
            seconds = 11
        "#,
        without_mbit: None,
        after_s: 6.0,
    },
    Plant {
        wanted: Wanted {
            id: "queue-drops",
            severity: "hurts",
        },
        scenario: r#"
            [path]
            rtt_ms = 60
            [hosts.sender]
            qdisc = "tbf rate 20mbit burst 10kb limit 14000"
            [hosts.sender.sysctls]
            "net.ipv4.tcp_no_metrics_save" = "0"
            [hosts.receiver.sysctls]
            "net.ipv4.tcp_rmem" = "4096 4194304 16777216"
            [flow]
            count = 8
            [flow.pattern]
            kind = "bulk"
            [expect]
            bound = "host"
            limit = "host"
            steady_after_s = 3
            seconds = 11
        "#,
        without_mbit: None,
        after_s: 4.0,
    },
    Plant {
        wanted: Wanted {
            id: "mtu-probing-off",
            severity: "hurts",
        },
        scenario: r#"
            [path]
            rtt_ms = 30
            mtu_blackhole_bytes = 1400
            [hosts.sender.sysctls]
            "net.ipv4.tcp_no_metrics_save" = "0"
            "net.ipv4.tcp_mtu_probing" = "0"
            [flow]
            connects = "receiver"
            [flow.pattern]
            kind = "turns"
            request_bytes = 200
            answer_bytes = 10000
            [expect]
            bound = "loss"
            limit = "mtu_blackhole"
            steady_after_s = 5
            seconds = 14
        "#,
        without_mbit: None,
        after_s: 8.0,
    },
    Plant {
        wanted: Wanted {
            id: "slow-start-after-idle",
            severity: "hurts",
        },
        scenario: r#"
            [path]
            rtt_ms = 30
            rate_mbit = 40
            queue_kb = 2000
            [hosts.sender.sysctls]
            "net.ipv4.tcp_no_metrics_save" = "0"
            "net.ipv4.tcp_slow_start_after_idle" = "1"
            [flow.pattern]
            kind = "alternate"
            [[flow.pattern.parts]]
            until_s = 2
            pattern = { kind = "periodic", write_bytes = 1000000, every_ms = 900 }
            [[flow.pattern.parts]]
            pattern = { kind = "periodic", write_bytes = 20000, every_ms = 1000 }
            [expect]
            bound = "app"
            limit = "app"
            steady_after_s = 3
            seconds = 11
        "#,
        without_mbit: None,
        after_s: 8.0,
    },
];

/// A host's tcp_wmem below a socket that paces itself at 30 Mbit/s: what comes next is known.
pub const WMEM: &str = r#"
    [path]
    rtt_ms = 30
    [hosts.sender.sysctls]
    "net.ipv4.tcp_wmem" = "4096 16384 65536"
    "net.ipv4.tcp_no_metrics_save" = "0"
    [hosts.receiver.sysctls]
    "net.ipv4.tcp_rmem" = "4096 4194304 16777216"
    [flow.pattern]
    kind = "bulk"
    method = "record"
    write_bytes = 16384
    [flow.sender]
    pacing_mbit = 30
    [expect]
    bound = "window"
    limit = "sndbuf"
    steady_after_s = 2
    seconds = 10
"#;

/// The same with a buffer that the program set: no setting reaches it.
const LOCKED: &str = r#"
    [path]
    rtt_ms = 30
    [hosts.sender.sysctls]
    "net.ipv4.tcp_no_metrics_save" = "0"
    [hosts.receiver.sysctls]
    "net.ipv4.tcp_rmem" = "4096 4194304 16777216"
    [flow.pattern]
    kind = "bulk"
    method = "record"
    [flow.sender]
    sndbuf_bytes = 65536
    pacing_mbit = 60
    [expect]
    bound = "window"
    limit = "sndbuf"
    steady_after_s = 2
    seconds = 10
"#;

pub fn run(bench: &mut Bench<'_>) -> Result<()> {
    for plant in PLANTS {
        check(bench, plant)?;
    }
    plain(bench)?;
    locked(bench)
}

/// The one whose cost is known by construction, and the one that only some kernels can put right.
pub fn few(bench: &mut Bench<'_>) -> Result<()> {
    check(bench, &PLANTS[0])?;
    plain(bench)
}

/// A flow that runs, and its hosts.
pub struct Running {
    /// The hosts.
    pub net: Net,
    traffic: Traffic,
}

impl Running {
    /// Starts it.
    pub fn start(scenario: &str) -> Result<Self> {
        let scenario = Scenario::parse(scenario)?;
        let (net, _) = lay_out(&scenario)?;
        let traffic = Traffic::start(&net, &scenario)?;
        Ok(Self { net, traffic })
    }

    /// Lets it run.
    pub fn listen(&mut self, seconds: f64) -> Result<()> {
        self.traffic.listen_until(now_ns() + seconds_ns(seconds))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Its namespaces go with it, whatever became of the programs.
        let _ = self.traffic.stop();
    }
}

fn check(bench: &mut Bench<'_>, plant: &Plant) -> Result<()> {
    let mut running = Running::start(plant.scenario)?;
    running.listen(plant.after_s)?;
    let said = bench.ask(running.net.host(Side::Sender), 2.0)?;
    let mut faults = said.faults(plant.wanted);
    let mut cost = String::new();
    if let Some(finding) = said.find(plant.wanted.id) {
        if finding["connections"].as_u64().unwrap_or(0) == 0 {
            faults.push("no connection is told".into());
        }
        if let Some(wanted) = plant.without_mbit {
            let figure = |name: &str| finding[name].as_f64().unwrap_or(0.0) / 1e6;
            let told = figure("rate_bps") + figure("cost_bps");
            cost = format!(
                "{:.1} Mbit/s now, {told:.1} told of {wanted} without it: ",
                figure("rate_bps")
            );
            if (told / wanted - 1.0).abs() > 0.1 {
                faults.push(format!(
                    "{told:.1} Mbit/s are said to come without it, not {wanted}"
                ));
            }
        }
    }
    // One for each address family where both have a route.
    let commands = said.commands_of(plant.wanted.id);
    for command in &commands {
        faults.extend(type_in(running.net.host(Side::Sender), command)?);
    }
    running.listen(3.0)?;
    let after = bench.ask(running.net.host(Side::Sender), 2.0)?;
    // Another may come up behind it; this one has gone.
    if after.find(plant.wanted.id).is_some() {
        faults.push("still there after the change".into());
    }
    let name = format!("{} on a live connection", plant.wanted.id);
    bench.tell(&name, &faults, &format!("{cost}{}", commands.join("; ")))
}

/// A shaper with a plain queue that counts packets, whatever their size; fair queueing takes its stead.
fn plain(bench: &mut Bench<'_>) -> Result<()> {
    const PLAIN: &str = r#"
        [path]
        rtt_ms = 30
        [hosts.sender]
        qdisc = "handle 1: tbf rate 5mbit burst 10kb limit 1000000"
        [hosts.sender.sysctls]
        "net.ipv4.tcp_no_metrics_save" = "0"
        [flow]
        count = 20
        [flow.pattern]
        kind = "bulk"
        [expect]
        bound = "host"
        limit = "host"
        steady_after_s = 3
        seconds = 11
    "#;
    let name = "queue-bloat in a shaper's own queue";
    let wanted = Wanted {
        id: "queue-bloat",
        severity: "hurts",
    };
    let mut running = Running::start(PLAIN)?;
    let sender = running.net.host(Side::Sender);
    sender.tc("qdisc add dev lab0 parent 1:1 handle 10: pfifo limit 1000")?;
    running.listen(5.0)?;
    let said = bench.ask(running.net.host(Side::Sender), 2.0)?;
    let mut faults = said.faults(wanted);
    let commands = said.commands_of(wanted.id);
    for command in &commands {
        match type_in(running.net.host(Side::Sender), command)? {
            Some(fault) if fault.contains("kind is unknown") => {
                return match faults.is_empty() {
                    true => bench.recorder.skip(
                        name,
                        format!("found, but this kernel has no fq_codel for `{command}`"),
                    ),
                    false => bench.tell(name, &faults, ""),
                };
            }
            fault => faults.extend(fault),
        }
    }
    running.listen(3.0)?;
    let after = bench.ask(running.net.host(Side::Sender), 2.0)?;
    faults.extend(
        after
            .find(wanted.id)
            .map(|_| "still there after the change".to_owned()),
    );
    bench.tell(name, &faults, &commands.join("; "))
}

/// Its fix is the program's: the same flow without SO_SNDBUF.
fn locked(bench: &mut Bench<'_>) -> Result<()> {
    let wanted = Wanted {
        id: "sndbuf-locked",
        severity: "hurts",
    };
    let mut faults = Vec::new();
    for scenario in [LOCKED.to_owned(), LOCKED.replace("sndbuf_bytes = 65536", "")] {
        let mut running = Running::start(&scenario)?;
        running.listen(5.0)?;
        let said = bench.ask(running.net.host(Side::Sender), 2.0)?;
        match said.find(wanted.id) {
            _ if scenario != LOCKED => {
                faults.extend(said.find(wanted.id).map(|_| "found without SO_SNDBUF".to_owned()));
            }
            Some(finding)
                if finding["reached"]
                    .as_str()
                    .is_some_and(|text| text.contains("does not reach")) =>
            {
                faults.extend(said.faults(wanted));
            }
            Some(finding) => faults.push(format!("what it reaches is said to be {}", finding["reached"])),
            None => faults.push(format!("not found, only {:?}", said.ids())),
        }
    }
    bench.tell(
        "sndbuf-locked on a live connection",
        &faults,
        "with SO_SNDBUF, then without",
    )
}
