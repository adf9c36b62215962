//! Figures that cannot be true together: whatever explained them would be invented.

use crate::explain::figures::Figures;
use crate::units::{Bytes, bits_text, bytes_text, rtt_text};

/// What in the figures cannot be.
pub fn found(figures: &Figures<'_>) -> Option<String> {
    totals(figures)
        .or_else(|| times(figures))
        .or_else(|| segments(figures))
        .or_else(|| above_every_window(figures))
}

fn totals(figures: &Figures<'_>) -> Option<String> {
    let ss = &figures.now.ss;
    let sent = ss.bytes_sent?;
    // A SYN and a FIN count as acknowledged, never as sent.
    if let Some(acked) = figures
        .now
        .totals
        .bytes_acked
        .filter(|acked| *acked > sent.saturating_add(2))
    {
        return Some(format!(
            "{acked} bytes acknowledged are more than the {sent} that were sent"
        ));
    }
    let again = ss.bytes_retrans.filter(|again| *again > sent)?;
    Some(format!(
        "{again} bytes sent again are more than the {sent} sent in all"
    ))
}

fn times(figures: &Figures<'_>) -> Option<String> {
    let ss = &figures.now.ss;
    let busy = ss.busy_us?;
    let (rwnd, sndbuf) = (
        ss.rwnd_limited.map_or(0, |it| it.0),
        ss.sndbuf_limited.map_or(0, |it| it.0),
    );
    // Each is rounded to a jiffy of its own.
    let limited = rwnd.saturating_add(sndbuf);
    (limited > busy.saturating_add(busy / 20).saturating_add(50_000)).then(|| {
        format!(
            "{} ms limited by the peer's window and the send buffer are more than the {} ms busy",
            limited / 1000,
            busy / 1000
        )
    })
}

fn segments(figures: &Figures<'_>) -> Option<String> {
    let tcp = figures.tcp();
    let out = tcp.packets_out.filter(|out| *out > 0)?;
    let gone = tcp.sacked?.saturating_add(tcp.lost?);
    if gone > out {
        return Some(format!(
            "{gone} segments lost or acknowledged selectively are more than the {out} that were out"
        ));
    }
    let queued = figures.now.ss.send_q?;
    let unsent = figures.unsent();
    (unsent > queued).then(|| format!("{unsent} bytes unsent are more than the {queued} of Send-Q"))
}

/// More a round trip than the largest window that the scale agreed on can say (RFC 7323, section 2.2).
fn above_every_window(figures: &Figures<'_>) -> Option<String> {
    let tcp = figures.tcp();
    if tcp
        .srtt_us
        .zip(tcp.min_rtt_us)
        .is_some_and(|(srtt, min)| u64::from(srtt) * 12 < u64::from(min) * 10)
    {
        return Some(format!(
            "the smoothed round-trip time of {} µs is below the least one, {} µs",
            tcp.srtt_us?, tcp.min_rtt_us?
        ));
    }
    let rate = figures.rate?;
    let min_rtt = figures.min_rtt().filter(|rtt| rtt.0 >= 50)?;
    let most = Bytes(65_535u64 << tcp.snd_wscale?.min(14)).per_rtt(min_rtt)?;
    let is_sending = figures.direction == crate::classify::Direction::Send;
    (is_sending && rate.rate.0 > most.0 * 1.2).then(|| {
        format!(
            "{} is more than the largest window of scale {} lets through: {} ÷ {} = {}",
            figures.rate_text(),
            tcp.snd_wscale.unwrap_or(0),
            bytes_text(65_535u64 << tcp.snd_wscale.unwrap_or(0).min(14)),
            rtt_text(min_rtt),
            bits_text(most.bits()),
        )
    })
}
