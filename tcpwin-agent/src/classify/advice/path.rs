//! The path: its bandwidth, its policers, its loss, its MTU, its end.

use super::Ask;
use super::directive::{self, Sets};
use crate::classify::{Remedy, Side};
use crate::units::{BytesPerSec, bits_text};

/// A full path.
#[must_use]
pub fn bandwidth(ask: &Ask) -> Vec<Remedy> {
    if ask.is_one_of_many {
        return vec![Remedy::new(
            Side::Path,
            "more bandwidth, or fewer flows on this path; larger windows would not help",
            "the path is full",
        )];
    }
    let full = Remedy::new(
        Side::Path,
        "more bandwidth, or fewer flows on this path",
        "the path is full",
    );
    let mut remedies = vec![match per_mebibyte(ask.now()) {
        Some(delay) => full.but(format!(
            "no larger window or buffer helps: each further MiB in flight only waits {delay} longer in the queue"
        )),
        None => full.but("no larger window or buffer helps: it only lengthens the queue"),
    }];
    if ask.is_queueing() && !ask.is_bbr {
        remedies.push(
            Remedy::new(
                Side::Path,
                "at the narrow place: tc qdisc replace dev DEV root fq_codel (or cake bandwidth … just below the link)",
                "a shorter queue keeps the delay down for everyone at the same rate",
            )
            .but("it does not make the path faster"),
        );
    }
    remedies
}

/// A token bucket.
#[must_use]
pub fn policer(ask: &Ask) -> Vec<Remedy> {
    let below = BytesPerSec(ask.now().0 * 0.95);
    let mut remedies = vec![
        Remedy::new(
            Side::LocalApp,
            format!("setsockopt(SO_MAX_PACING_RATE, {:.0})", below.0),
            format!(
                "bytes per second of payload: just below the {} that the policer lets through, so that nothing is dropped",
                bits_text(ask.now().bits())
            ),
        )
        .but("several flows through one policer share its rate: divide it between them"),
        Remedy::new(
            Side::LocalKernel,
            format!("tc qdisc replace dev DEV root fq maxrate {}", tc_rate(below)),
            "the same for every flow of the device, without touching the program",
        )
        .but("fq's maxrate holds for each flow by itself, not for their sum"),
    ];
    if !ask.is_bbr {
        remedies.push(congestion_control(
            "bbr measures what gets through and paces to it; since Linux 4.13 it needs no fq for that",
        ));
    }
    let burst = ask
        .rtt()
        .map(|rtt| ask.now().bdp(rtt).0)
        .filter(|bytes| *bytes > 0);
    let change = match burst {
        Some(bytes) => format!("at the policer: a burst of at least {bytes} bytes, or a shaper in its stead"),
        None => "at the policer: a larger burst, or a shaper in its stead".to_owned(),
    };
    remedies.push(Remedy::new(
        Side::Path,
        change,
        "a bucket smaller than a round trip's worth drops what TCP sends in one",
    ));
    remedies
}

/// SO_MAX_PACING_RATE.
#[must_use]
pub fn pacing(ask: &Ask) -> Vec<Remedy> {
    let now = ask
        .max_pacing_rate
        .map_or_else(String::new, |rate| format!(" (now {rate})"));
    let target = ask.target();
    let change = match ask.path {
        Some(_) => format!(
            "setsockopt(SO_MAX_PACING_RATE, {:.0}){now}, or leave it out",
            target.0
        ),
        None => format!("raise or remove the program's setsockopt(SO_MAX_PACING_RATE){now}"),
    };
    vec![
        Remedy::new(
            Side::LocalApp,
            change,
            "the cap is the program's own choice, in bytes of payload per second; a live connection takes a new one at once",
        )
        .but("no window, buffer or qdisc lifts it; it holds with and without fq"),
    ]
}

/// Random loss.
#[must_use]
pub fn loss(ask: &Ask) -> Vec<Remedy> {
    let mut remedies = vec![
        Remedy::new(
            Side::Path,
            "find the loss (interface errors, Wi-Fi, duplex, a failing optic) with mtr or ethtool -S",
            format!(
                "{:.2} % of segments are lost; a quarter of that doubles the rate",
                finite_share(ask.loss) * 100.0
            ),
        )
        .but("no larger window or buffer helps: cwnd falls at each loss"),
    ];
    if !ask.is_bbr {
        remedies.push(congestion_control(
            "bbr does not take random loss for a full path",
        ));
    }
    remedies
}

/// Full-size segments vanish.
#[must_use]
pub fn mtu_blackhole(ask: &Ask) -> Vec<Remedy> {
    // With timestamps a packet is 52 bytes longer than its MSS (IPv4), a ping 28 bytes longer than its payload; IPv6: 72 and 48.
    let probe = u64::from(ask.mss) + 24;
    vec![
        Remedy::new(
            Side::LocalKernel,
            "sysctl -w net.ipv4.tcp_mtu_probing=1",
            "after some timeouts TCP tries smaller segments by itself; live connections do so at their next timeout",
        )
        .but("it helps connections of this host only, and each has to find out anew"),
        Remedy::new(
            Side::Path,
            "on the router or tunnel: nft add rule inet filter forward tcp flags syn tcp option maxseg size set rt mtu",
            "both ends then never send what does not fit",
        )
        .for_new_connections()
        .but("the rule needs the right MTU on the tunnel's device"),
        Remedy::new(
            Side::Path,
            format!("ping -M do -s {probe} PEER, and smaller until it answers; let ICMP type 3 code 4 and ICMPv6 type 2 through"),
            format!("full-size segments of {} bytes get no answer, and nobody says why", ask.mss),
        ),
    ]
}

/// Nothing is acknowledged any more.
#[must_use]
pub fn stalled(ask: &Ask) -> Vec<Remedy> {
    let mut remedies = vec![Remedy::new(
        Side::Path,
        "check that the peer is up and the path whole",
        "each further timeout doubles the wait, up to 120 s",
    )];
    let why = "the program learns of it after 30 s instead of the 15 timeouts of net.ipv4.tcp_retries2 (about 15 minutes)";
    if let Some(pmtu) = ask.shrunk_below {
        let mss = ask.mss;
        let why =
            format!("the path carries {pmtu} B: losses of another cause must not shrink the MSS to {mss}");
        remedies.insert(
            0,
            Remedy::new(Side::LocalKernel, "sysctl -w net.ipv4.tcp_mtu_probing=0", why)
                .but("open connections keep their small MSS: reconnect"),
        );
    }
    remedies.push(directive::ours(ask, Sets::Patience, 0, why).unwrap_or_else(|| {
        Remedy::new(Side::LocalApp, "setsockopt(TCP_USER_TIMEOUT, 30000)", why)
            .but("SO_KEEPALIVE does not help: the kernel sends no keepalive while data is unacknowledged")
    }));
    remedies
}

impl Ask {
    /// The round trip has a queue in it.
    fn is_queueing(&self) -> bool {
        match (self.srtt, self.min_rtt) {
            (Some(srtt), Some(min)) => srtt.seconds() > 1.5 * min.seconds(),
            _ => false,
        }
    }
}

fn congestion_control(why: &str) -> Remedy {
    Remedy::new(
        Side::LocalKernel,
        "modprobe tcp_bbr; sysctl -w net.ipv4.tcp_congestion_control=bbr (or `congctl bbr` on the route)",
        why,
    )
    .for_new_connections()
}

/// How long a MiB waits at this rate.
fn per_mebibyte(rate: BytesPerSec) -> Option<String> {
    let seconds = f64::from(1u32 << 20) / rate.0;
    (rate.0 >= 1.0 && seconds.is_finite()).then(|| {
        if seconds >= 1.0 {
            format!("{seconds:.1} s")
        } else {
            format!("{:.0} ms", (seconds * 1e3).max(1.0))
        }
    })
}

/// A rate as tc reads it, in whole units: `19mbit`.
fn tc_rate(rate: BytesPerSec) -> String {
    let bits = rate.bits();
    if bits >= 1e7 {
        format!("{:.0}mbit", bits / 1e6)
    } else {
        format!("{:.0}kbit", (bits / 1e3).max(1.0))
    }
}

fn finite_share(loss: f64) -> f64 {
    if loss.is_finite() {
        loss.clamp(0.0, 1.0)
    } else {
        0.0
    }
}
