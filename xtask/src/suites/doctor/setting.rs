//! Settings that are wrong by their value.

use anyhow::Result;

use super::bench::{Bench, GOOD, LOOK, Wanted, has, release, type_in, well_set};

/// A finding, how bad it is to be, and the settings that give it.
type Plant = (
    &'static str,
    &'static str,
    &'static [(&'static str, &'static str)],
);

const PLANTS: &[Plant] = &[
    (
        "window-scaling-off",
        "risk",
        &[("net.ipv4.tcp_window_scaling", "0")],
    ),
    ("sack-off", "risk", &[("net.ipv4.tcp_sack", "0")]),
    ("timestamps-off", "risk", &[("net.ipv4.tcp_timestamps", "0")]),
    (
        "ecn-without-fallback",
        "risk",
        &[("net.ipv4.tcp_ecn", "1"), ("net.ipv4.tcp_ecn_fallback", "0")],
    ),
    (
        "moderate-rcvbuf-off",
        "risk",
        &[("net.ipv4.tcp_moderate_rcvbuf", "0")],
    ),
    (
        "notsent-lowat-low",
        "risk",
        &[("net.ipv4.tcp_notsent_lowat", "1")],
    ),
    (
        "tcp-wmem-max",
        "risk",
        &[("net.ipv4.tcp_wmem", "4096 16384 65536")],
    ),
    (
        "tcp-rmem-max",
        "risk",
        &[("net.ipv4.tcp_rmem", "4096 131072 174760")],
    ),
    (
        "tcp-rmem-initial",
        "risk",
        &[("net.ipv4.tcp_rmem", "4096 8192 6291456")],
    ),
    (
        "tail-loss-probe-off",
        "risk",
        &[("net.ipv4.tcp_early_retrans", "0")],
    ),
    ("rack-off", "risk", &[("net.ipv4.tcp_recovery", "0")]),
    ("retries2-low", "risk", &[("net.ipv4.tcp_retries2", "3")]),
    (
        "limit-output-low",
        "risk",
        &[("net.ipv4.tcp_limit_output_bytes", "4096")],
    ),
    ("somaxconn-low", "risk", &[("net.core.somaxconn", "64")]),
    (
        "syn-backlog-low",
        "risk",
        &[
            ("net.ipv4.tcp_syncookies", "0"),
            ("net.ipv4.tcp_max_syn_backlog", "16"),
        ],
    ),
    ("syncookies-off", "risk", &[("net.ipv4.tcp_syncookies", "0")]),
    ("syncookies-always", "risk", &[("net.ipv4.tcp_syncookies", "2")]),
    (
        "abort-on-overflow",
        "risk",
        &[("net.ipv4.tcp_abort_on_overflow", "1")],
    ),
    (
        "ephemeral-ports",
        "risk",
        &[("net.ipv4.ip_local_port_range", "40000 40999")],
    ),
    (
        "fastopen-without-cookie",
        "risk",
        &[("net.ipv4.tcp_fastopen", "517")],
    ),
    ("fastopen-client-off", "note", &[("net.ipv4.tcp_fastopen", "2")]),
    (
        "fastopen-key-weak",
        "risk",
        &[
            ("net.ipv4.tcp_fastopen", "3"),
            ("net.ipv4.tcp_fastopen_key", "11111111-11111111-11111111-11111111"),
        ],
    ),
    ("fack-inert", "note", &[("net.ipv4.tcp_fack", "1")]),
    ("low-latency-inert", "note", &[("net.ipv4.tcp_low_latency", "1")]),
    ("fin-timeout-inert", "note", &[("net.ipv4.tcp_fin_timeout", "15")]),
    (
        "no-metrics-save",
        "note",
        &[("net.ipv4.tcp_no_metrics_save", "1")],
    ),
];

pub fn run(bench: &mut Bench<'_>) -> Result<()> {
    let netns = well_set(100)?;
    bench.check_silent("a well-set namespace", &netns)?;
    for (id, severity, settings) in PLANTS {
        if let Some((name, _)) = settings
            .iter()
            .find(|(name, _)| !has(&netns, name).unwrap_or(false))
        {
            bench
                .recorder
                .skip(id, format!("a network namespace of this kernel has no {name}"))?;
            continue;
        }
        for (name, value) in *settings {
            netns.sysctl(name, value)?;
        }
        bench.check_planted(Wanted { id, severity }, &netns, LOOK)?;
        // What the change leaves may be another good value than the one before.
        for (name, value) in GOOD {
            if has(&netns, name)? {
                netns.sysctl(name, value)?;
            }
        }
    }
    reuse(bench)?;
    blackhole(bench)?;
    scale(bench)
}

/// All that this kernel has and that do not contradict each other, at once.
pub fn together(bench: &mut Bench<'_>) -> Result<()> {
    let netns = well_set(100)?;
    bench.check_silent("a well-set namespace", &netns)?;
    let (mut names, mut wanted) = (Vec::new(), Vec::new());
    for (id, severity, settings) in PLANTS {
        let is_new = settings.iter().all(|(name, _)| !names.contains(name));
        let is_there = settings
            .iter()
            .all(|(name, _)| has(&netns, name).unwrap_or(false));
        if !is_new || !is_there {
            continue;
        }
        for (name, value) in *settings {
            netns.sysctl(name, value)?;
            names.push(name);
        }
        wanted.push(Wanted { id, severity });
    }
    bench.check_together("settings", &wanted, &netns)?;
    blackhole(bench)?;
    scale(bench)
}

/// One cause, two findings: that timestamps are off is the worse of them.
fn reuse(bench: &mut Bench<'_>) -> Result<()> {
    let netns = well_set(102)?;
    netns.sysctl("net.ipv4.tcp_tw_reuse", "1")?;
    netns.sysctl("net.ipv4.tcp_timestamps", "0")?;
    let both = ["timestamps-off", "tw-reuse-inert"];
    let said = bench.ask(&netns, LOOK)?;
    let mut faults = Vec::new();
    if said.ids() != both {
        faults.push(format!("{:?}", said.ids()));
    }
    for command in said.commands() {
        faults.extend(type_in(&netns, &command)?);
    }
    faults.extend(
        bench
            .ask(&netns, LOOK)?
            .ids()
            .iter()
            .map(|id| format!("after the change: {id}")),
    );
    bench.tell("tw-reuse-inert", &faults, &said.commands().join("; "))
}

/// What it means depends on the kernel's age, and so does how bad it is.
fn scale(bench: &mut Bench<'_>) -> Result<()> {
    const NAME: &str = "net.ipv4.tcp_adv_win_scale";
    let netns = well_set(101)?;
    if !has(&netns, NAME)? {
        return bench
            .recorder
            .skip("adv-win-scale", "a network namespace of this kernel has none");
    }
    netns.sysctl(NAME, "-2")?;
    let is_new = release() >= (6, 6);
    let severity = if is_new { "note" } else { "risk" };
    bench.check_planted(
        Wanted {
            id: "adv-win-scale",
            severity,
        },
        &netns,
        LOOK,
    )
}

/// Older kernels have a timeout by themselves.
fn blackhole(bench: &mut Bench<'_>) -> Result<()> {
    let netns = well_set(103)?;
    netns.sysctl("net.ipv4.tcp_fastopen_blackhole_timeout_sec", "3600")?;
    if release() < (5, 14) {
        return bench.check_silent("fastopen-blackhole by default", &netns);
    }
    let wanted = Wanted {
        id: "fastopen-blackhole",
        severity: "risk",
    };
    bench.check_planted(wanted, &netns, LOOK)
}
