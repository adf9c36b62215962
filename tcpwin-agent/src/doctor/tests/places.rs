//! One namespace and its connections.

use super::fixture::{connection, found, ids, namespace, only, report};
use crate::classify::Limit;
use crate::doctor::{Machine, Severity};
use crate::host::{Listener, Options};
use crate::snapshot::TcpFields;

fn sndbuf(bytes: u32, locked: bool) -> TcpFields {
    TcpFields {
        sndbuf_bytes: Some(bytes),
        sndbuf_locked: Some(locked),
        ..TcpFields::default()
    }
}

#[test]
fn a_well_set_host_gives_no_finding() {
    assert_eq!(ids(&found(namespace(&[]), Vec::new())), [""; 0]);
    for limit in Limit::ALL {
        let healthy = TcpFields {
            cwnd: Some(100),
            ssthresh: Some(80),
            retransmits_total: Some(0),
            congestion: Some("cubic".to_owned()),
            ..sndbuf(2_000_000, false)
        };
        // What these settings have no part in is none of their findings; a blackhole is one, since nothing probes for it.
        let findings = found(namespace(&[]), vec![connection(limit, healthy)]);
        let wanted: &[&str] = match limit {
            Limit::MtuBlackhole => &["mtu-probing-off"],
            _ => &[],
        };
        assert_eq!(ids(&findings), wanted, "{}", limit.name());
    }
}

#[test]
fn a_small_wmem_costs_what_its_connections_would_make() {
    let set = [("net.ipv4.tcp_wmem", "4096 16384 65536")];
    let held = connection(Limit::Sndbuf, sndbuf(65_536, false));
    let finding = only(found(namespace(&set), vec![held]), "tcp-wmem-max");
    assert_eq!(finding.severity, Severity::Hurts);
    assert_eq!(finding.cost_bps, Some(12.5e6));
    let change = &finding.changes[0];
    // Ten times 17.5 Mbit/s over 30 ms is 656 KB in flight, twice that in buffer.
    assert_eq!(
        change.command,
        "sysctl -w net.ipv4.tcp_wmem=\"4096 16384 2097152\""
    );
    assert_eq!(
        change.undo.as_deref(),
        Some("sysctl -w net.ipv4.tcp_wmem=\"4096 16384 65536\"")
    );
    assert_eq!(
        change.sysctl_d.as_deref(),
        Some("net.ipv4.tcp_wmem = 4096 16384 2097152")
    );
    let reached = finding.reached.unwrap();
    assert!(
        reached.contains("none of 1 live connections set SO_SNDBUF"),
        "{reached}"
    );
    assert!(
        reached.contains("net.core.wmem_max (4194304) bounds SO_SNDBUF only"),
        "{reached}"
    );
}

#[test]
fn a_small_wmem_that_hurts_nobody_is_a_risk() {
    let set = [("net.ipv4.tcp_wmem", "4096 16384 65536")];
    let finding = only(found(namespace(&set), Vec::new()), "tcp-wmem-max");
    assert_eq!((finding.severity, finding.cost_bps), (Severity::Risk, None));
    assert!(
        finding.why.contains("no live connection is hurt"),
        "{}",
        finding.why
    );
}

#[test]
fn a_buffer_that_a_program_set_is_not_wmems_fault() {
    let held = connection(Limit::Sndbuf, sndbuf(131_072, true));
    let finding = only(found(namespace(&[]), vec![held]), "sndbuf-locked");
    assert_eq!(finding.severity, Severity::Hurts);
    assert!(
        finding
            .reached
            .unwrap()
            .contains("does not reach sockets whose buffer was set")
    );
    assert!(!finding.changes.is_empty());
    assert!(finding.changes.iter().all(|change| !change.is_command));
}

#[test]
fn wmem_max_is_said_to_do_nothing_for_tuned_sockets() {
    let set = [("net.core.wmem_max", "67108864")];
    let finding = only(found(namespace(&set), Vec::new()), "wmem-max-inert");
    assert_eq!(finding.severity, Severity::Note);
    assert_eq!(
        finding.changes[0].command,
        "sysctl -w net.ipv4.tcp_wmem=\"4096 16384 67108864\""
    );
}

#[test]
fn what_costs_more_comes_first() {
    let set = [
        ("net.ipv4.tcp_wmem", "4096 16384 65536"),
        ("net.ipv4.tcp_window_scaling", "0"),
        ("net.ipv4.tcp_sack", "0"),
        ("net.ipv4.tcp_fack", "1"),
    ];
    let mut scale = connection(Limit::RwndScale, TcpFields::default());
    scale.next.as_mut().unwrap().rate_bps = 100e6;
    let held = vec![connection(Limit::Sndbuf, sndbuf(65_536, false)), scale];
    assert_eq!(
        ids(&found(namespace(&set), held)),
        ["window-scaling-off", "tcp-wmem-max", "sack-off", "fack-inert"]
    );
}

#[test]
fn connections_of_other_namespaces_are_not_hurt_here() {
    let set = [("net.ipv4.tcp_wmem", "4096 16384 65536")];
    let mut held = connection(Limit::Sndbuf, sndbuf(65_536, false));
    held.netns = 7;
    let finding = only(found(namespace(&set), vec![held]), "tcp-wmem-max");
    assert_eq!(finding.severity, Severity::Risk);
}

#[test]
fn a_cwnd_below_ssthresh_without_loss_was_cut_in_silence() {
    let tcp = |retransmits| TcpFields {
        cwnd: Some(10),
        ssthresh: Some(90),
        retransmits_total: Some(retransmits),
        congestion: Some("cubic".to_owned()),
        ..TcpFields::default()
    };
    let finding = only(
        found(namespace(&[]), vec![connection(Limit::CwndStartup, tcp(0))]),
        "slow-start-after-idle",
    );
    assert_eq!(finding.severity, Severity::Hurts);
    assert_eq!(
        ids(&found(namespace(&[]), vec![connection(Limit::App, tcp(3))])),
        [""; 0]
    );
    let set = [("net.ipv4.tcp_slow_start_after_idle", "0")];
    assert_eq!(
        ids(&found(namespace(&set), vec![connection(Limit::App, tcp(0))])),
        [""; 0]
    );
}

#[test]
fn the_congestion_control_has_not_reached_older_sockets() {
    let set = [("net.ipv4.tcp_congestion_control", "bbr")];
    let older = TcpFields {
        congestion: Some("cubic".to_owned()),
        ..TcpFields::default()
    };
    let finding = only(
        found(namespace(&set), vec![connection(Limit::App, older)]),
        "congestion-not-reached",
    );
    assert!(
        finding.why.starts_with("1 of 1 live connections"),
        "{}",
        finding.why
    );
}

#[test]
fn the_old_scale_of_windows_is_read_by_the_kernels_age() {
    let set = [("net.ipv4.tcp_adv_win_scale", "-2")];
    let finding = only(found(namespace(&set), Vec::new()), "adv-win-scale");
    assert_eq!(finding.severity, Severity::Note);
    let mut old = namespace(&set);
    old.kernel = (6, 1);
    let finding = only(found(old, Vec::new()), "adv-win-scale");
    assert_eq!(finding.severity, Severity::Risk);
    assert!(finding.why.contains("one part in 4"), "{}", finding.why);
}

#[test]
fn a_listener_that_cannot_be_asked_is_not_blamed() {
    let mut open = namespace(&[("net.ipv4.tcp_fastopen", "3")]);
    open.listeners = vec![Listener::default()];
    assert_eq!(ids(&found(open.clone(), Vec::new())), [""; 0]);
    open.listeners[0].options = Options {
        fastopen_queue: Some(0),
        ..Options::default()
    };
    let finding = only(found(open, Vec::new()), "listener-lacks-fastopen");
    assert_eq!(finding.changes[0].command, "sysctl -w net.ipv4.tcp_fastopen=1027");
}

#[test]
fn the_key_of_no_listener_yet_is_no_weak_one() {
    let set = [("net.ipv4.tcp_fastopen", "3")];
    assert_eq!(ids(&found(namespace(&set), Vec::new())), [""; 0]);
}

#[test]
fn people_read_what_to_type() {
    let set = [
        ("net.ipv4.tcp_wmem", "4096 16384 65536"),
        ("net.ipv4.tcp_sack", "0"),
        ("net.ipv4.tcp_fin_timeout", "15"),
    ];
    let held = connection(Limit::Sndbuf, sndbuf(65_536, false));
    let machine = Machine {
        watched_s: 5.0,
        ..Machine::default()
    };
    let mut report = report(&machine, namespace(&set), vec![held]);
    report.source = "ebpf".to_owned();
    let mut text = Vec::new();
    crate::doctor::write(&report, &mut text).unwrap();
    insta::assert_snapshot!(String::from_utf8(text).unwrap());
}
