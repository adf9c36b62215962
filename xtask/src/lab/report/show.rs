//! A report for people.

use std::fmt;

use super::Report;
use crate::lab::net::Side;
use crate::lab::relay::LinkStats;
use crate::lab::truth::Truth;
use crate::lab::verdict::{Judgement, error};
use crate::lab::what_if::Applied;

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:<8} {:<34}",
            self.outcome.to_string().to_uppercase(),
            self.name
        )?;
        for (number, cause) in self.expect.causes().enumerate() {
            let word = if number == 0 { "expects" } else { "then" };
            write!(f, " {word} {cause}")?;
        }
        if self.expect.side == Side::Receiver {
            write!(f, " of the receiver")?;
        }
        writeln!(f)?;
        if let Some(error) = &self.error {
            writeln!(f, "         {error}")?;
        }
        for (number, truth) in self.truths.iter().enumerate() {
            self.show_truth(f, truth)?;
            if let Some(judgement) = self.judgements.get(number) {
                show_judgement(f, judgement)?;
            }
        }
        if let Some(applied) = &self.what_if {
            show_what_if(f, applied)?;
        }
        if let Some(path) = self.path {
            show_path(f, path)?;
        }
        if let Some([sender, receiver]) = &self.ss {
            write!(
                f,
                "         ss -tinm, sender's host:\n{sender}         ss -tinm, receiver's host:\n{receiver}"
            )?;
        }
        Ok(())
    }
}

impl Report {
    fn show_truth(&self, f: &mut fmt::Formatter<'_>, truth: &Truth) -> fmt::Result {
        write!(
            f,
            "         truth    received {:.3} Mbit/s",
            truth.received_bps / 1e6
        )?;
        if let Some(mbit) = self.expect.rate_mbit {
            let percent = error(truth.received_bps, mbit * 1e6) * 100.0;
            write!(f, " ({percent:+.1} % of {mbit} by construction)")?;
        }
        writeln!(
            f,
            ", min_rtt {:.2} ms, srtt {:.2} ms, cwnd {}, snd_wnd {} B, {} retransmits",
            f64::from(truth.min_rtt_us) / 1e3,
            truth.srtt_us / 1e3,
            truth.cwnd,
            truth.snd_wnd_bytes,
            truth.retransmits,
        )?;
        writeln!(
            f,
            "         kernel   busy {:.0} % of the time; of that rwnd_limited {:.0} %, sndbuf_limited {:.0} %",
            truth.busy * 100.0,
            truth.rwnd_limited * 100.0,
            truth.sndbuf_limited * 100.0,
        )
    }
}

fn show_judgement(f: &mut fmt::Formatter<'_>, judgement: &Judgement) -> fmt::Result {
    let verdicts: Vec<_> = judgement
        .verdicts
        .iter()
        .map(|(verdict, count)| format!("{count} {verdict}"))
        .collect();
    write!(
        f,
        "         tcpwin   {} of {} right ({})",
        judgement.right,
        judgement.samples,
        verdicts.join(", ")
    )?;
    if judgement.unsteady > 0 {
        write!(f, "; {} not steady", judgement.unsteady)?;
    }
    if let (Some(said), Some(truth)) = (judgement.ceiling_bps, judgement.true_ceiling_bps) {
        let percent = error(said, truth) * 100.0;
        write!(
            f,
            "; ceiling {:.3} Mbit/s ({percent:+.1} % of {:.3})",
            said / 1e6,
            truth / 1e6
        )?;
    }
    if let Some(said) = judgement.observed_bps {
        write!(f, "; observed {:.3} Mbit/s", said / 1e6)?;
        if judgement.received_bps > 0.0 {
            write!(f, " ({:+.1} %)", error(said, judgement.received_bps) * 100.0)?;
        }
    }
    writeln!(f)?;
    if let Some(proof) = &judgement.proof {
        writeln!(f, "         proof    {proof}")?;
    }
    if !judgement.faults.is_empty() {
        writeln!(f, "         faults   {}", judgement.faults.join("; "))?;
    }
    Ok(())
}

fn show_what_if(f: &mut fmt::Formatter<'_>, applied: &Applied) -> fmt::Result {
    let change = applied.change.as_deref().unwrap_or("as the scenario says");
    write!(
        f,
        "         what if  {change}: {:.3} Mbit/s before",
        applied.before_bps / 1e6
    )?;
    if let Some(promised) = applied.predicted_bps {
        write!(
            f,
            ", {:.3} promised ({} next)",
            promised / 1e6,
            applied.next.as_deref().unwrap_or("nothing")
        )?;
    }
    if let Some(after) = applied.after_bps {
        write!(f, ", {:.3} measured", after / 1e6)?;
    }
    if let Some(error) = applied.error() {
        write!(f, " ({:+.1} %)", error * 100.0)?;
    }
    if !applied.faults.is_empty() {
        write!(f, "; {}", applied.faults.join("; "))?;
    }
    writeln!(f)
}

fn show_path(f: &mut fmt::Formatter<'_>, [forward, reverse]: [LinkStats; 2]) -> fmt::Result {
    write!(
        f,
        "         path     {} packets forward, {} back",
        forward.packets, reverse.packets
    )?;
    let causes = [
        ("tail", forward.dropped_tail + reverse.dropped_tail),
        ("loss", forward.dropped_loss + reverse.dropped_loss),
        ("policer", forward.dropped_policer + reverse.dropped_policer),
        ("too large", forward.dropped_too_large + reverse.dropped_too_large),
        ("cut", forward.dropped_blackhole + reverse.dropped_blackhole),
        ("refused", forward.write_errors + reverse.write_errors),
    ];
    for (cause, count) in causes {
        if count > 0 {
            write!(f, ", {count} dropped ({cause})")?;
        }
    }
    writeln!(f)
}
