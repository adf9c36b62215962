//! Metrics of routes.

use anyhow::Result;

use super::bench::{Bench, LOOK, Wanted, well_set};
use crate::lab::netns::{NetNs, tool};

/// What is given to a route, and the finding it is to give.
const PLANTS: &[(&str, &str, &str)] = &[
    ("route-initcwnd", "risk", "initcwnd 2"),
    ("route-initcwnd", "risk", "initcwnd 400"),
    ("route-initrwnd", "risk", "initrwnd 20"),
    ("route-cwnd-lock", "risk", "cwnd lock 20"),
    ("route-window", "risk", "window 32768"),
    ("route-rto-min", "risk", "rto_min 3s"),
    ("route-quickack", "note", "quickack 1"),
    ("route-mtu-lock", "risk", "mtu lock 1300"),
    ("route-advmss", "risk", "advmss 536"),
    ("route-congctl", "note", "congctl bbr"),
    ("route-fastopen-no-cookie", "risk", "fastopen_no_cookie 1"),
];

/// A well-set namespace with an interface.
fn with_interface(number: u32) -> Result<NetNs> {
    let netns = well_set(number)?;
    netns.ip(&[
        "link add near type veth peer name far".into(),
        "link set far up".into(),
        "link set near up".into(),
        "addr add 198.51.100.1/24 dev near".into(),
        "addr add 2001:db8:7::1/64 dev near nodad".into(),
    ])?;
    Ok(netns)
}

/// Each on a route of its own, at once.
pub fn together(bench: &mut Bench<'_>) -> Result<()> {
    let netns = with_interface(110)?;
    let mut wanted = Vec::new();
    for (number, (id, severity, metrics)) in PLANTS.iter().enumerate() {
        let route = format!("203.0.113.{number}/32 via 198.51.100.2 dev near metric 77 {metrics}");
        netns.ip(&[format!("route add {route}")])?;
        wanted.push(Wanted { id, severity });
    }
    netns.ip(&["-6 route add 2001:db8:9::/48 via 2001:db8:7::2 dev near metric 77 initcwnd 3".into()])?;
    bench.check_together("routes", &wanted, &netns)
}

pub fn run(bench: &mut Bench<'_>) -> Result<()> {
    let netns = with_interface(110)?;
    bench.check_silent("a well-set namespace with routes", &netns)?;
    for (id, severity, metrics) in PLANTS {
        // With a gateway, a metric and a source of its own: all of it must be there after the change.
        let before = "203.0.113.0/24 via 198.51.100.2 dev near proto static src 198.51.100.1 metric 77";
        netns.ip(&[format!("route replace {before} {metrics}")])?;
        bench.check_planted(Wanted { id, severity }, &netns, LOOK)?;
        let kept = shown(&netns, "-4", "203.0.113.0/24")?;
        let metric = metrics.split(' ').next().unwrap_or_default();
        let rest = if metric == "mtu" { " mtu 1300" } else { "" };
        let wanted = format!("{before}{rest}");
        let faults = if kept == wanted {
            Vec::new()
        } else {
            vec![format!("it is now `{kept}`, not `{wanted}`")]
        };
        bench.tell(&format!("{id} keeps the rest of the route"), &faults, &kept)?;
        netns.ip(&["route del 203.0.113.0/24 metric 77".into()])?;
    }
    let v6 = "2001:db8:9::/48 via 2001:db8:7::2 dev near metric 77 initcwnd 3";
    netns.ip(&[format!("-6 route replace {v6}")])?;
    let wanted = Wanted {
        id: "route-initcwnd",
        severity: "risk",
    };
    bench.check_planted(wanted, &netns, LOOK)?;
    let kept = shown(&netns, "-6", "2001:db8:9::/48")?;
    let faults: Vec<String> = (!kept.starts_with("2001:db8:9::/48 via 2001:db8:7::2 dev near metric 77"))
        .then(|| format!("it is now `{kept}`"))
        .into_iter()
        .collect();
    bench.tell("an IPv6 route keeps the rest", &faults, &kept)
}

/// The routes to a prefix, as `ip route show` tells them.
pub fn shown(netns: &NetNs, family: &str, prefix: &str) -> Result<String> {
    let output = netns
        .command(tool("ip")?)?
        .args([family, "route", "show", prefix])
        .output()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    Ok(text
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
        .replace(" linkdown", ""))
}
