//! The queueing disciplines of the calling thread's network namespace, over rtnetlink.

use std::collections::HashMap;
use std::io;

use super::rtnetlink::{attribute, dump, text, u32_at, u64_at};

const RTM_NEWQDISC: u16 = 36;
const RTM_GETQDISC: u16 = 38;
/// `TC_H_ROOT`, include/uapi/linux/pkt_sched.h.
const TC_H_ROOT: u32 = u32::MAX;
const TCA_KIND: u16 = 1;
const TCA_OPTIONS: u16 = 2;
const TCA_STATS2: u16 = 7;
/// `struct gnet_stats_queue`, include/uapi/linux/gen_stats.h.
const TCA_STATS_QUEUE: u16 = 3;
const TCA_TBF_PARMS: u16 = 1;
const TCA_TBF_RATE64: u16 = 4;

/// `struct tcmsg`.
const TCMSG: usize = 20;
/// Nanoseconds of a tick in which tc counts (`PSCHED_SHIFT`).
const TICK_NS: u64 = 64;

/// The root queueing discipline of an interface.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Qdisc {
    /// `fq_codel`, `mq` …
    pub kind: String,
    /// Its handle's major number; 0 of one that the kernel set by itself.
    pub major: u32,
    /// Packets it dropped since it was set; those of its children are among them (`qdisc_tree_reduce_backlog`).
    pub dropped: u64,
    /// Bytes that wait in it now.
    pub backlog: u64,
    /// The discipline that has the packets of a shaper, where it is another one than the shaper's own.
    pub child: Option<String>,
    /// Of a token bucket.
    pub bucket: Option<Bucket>,
}

/// How a token bucket (`tbf`) is set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bucket {
    /// Its rate, bytes per second.
    pub rate: u64,
    /// What may pass at once, bytes.
    pub burst: u64,
    /// What may wait, bytes.
    pub limit: u32,
}

impl Qdisc {
    /// By interface index. An interface without a queue has none.
    ///
    /// # Errors
    /// When the kernel has no queueing disciplines, or refuses the question.
    pub fn read() -> io::Result<HashMap<u32, Self>> {
        let mut found = Found::default();
        dump(RTM_GETQDISC, &[0; TCMSG], RTM_NEWQDISC, &mut |payload| {
            found.take(payload);
        })?;
        Ok(found.roots())
    }
}

#[derive(Default)]
struct Found {
    roots: HashMap<u32, Qdisc>,
    /// The kind of a child, by interface index and its parent's major number.
    children: HashMap<(u32, u32), String>,
}

impl Found {
    fn take(&mut self, payload: &[u8]) -> Option<()> {
        let (index, handle, parent) = (u32_at(payload, 4)?, u32_at(payload, 8)?, u32_at(payload, 12)?);
        let attributes = payload.get(TCMSG..)?;
        let kind = text(attribute(attributes, TCA_KIND)?);
        if parent != TC_H_ROOT {
            self.children.insert((index, parent >> 16), kind);
            return Some(());
        }
        let queue = attribute(attribute(attributes, TCA_STATS2)?, TCA_STATS_QUEUE)?;
        let bucket = (kind == "tbf").then(|| bucket(attribute(attributes, TCA_OPTIONS)?));
        let root = Qdisc {
            kind,
            major: handle >> 16,
            dropped: u32_at(queue, 8)?.into(),
            backlog: u32_at(queue, 4)?.into(),
            child: None,
            bucket: bucket.flatten(),
        };
        self.roots.insert(index, root);
        Some(())
    }

    fn roots(self) -> HashMap<u32, Qdisc> {
        let Self { mut roots, children } = self;
        for (index, root) in &mut roots {
            root.child = children.get(&(*index, root.major)).cloned();
        }
        roots
    }
}

/// `struct tc_tbf_qopt`: two `tc_ratespec` of 12 bytes, then limit and buffer. The bucket is kept as the time it takes to fill.
fn bucket(options: &[u8]) -> Option<Bucket> {
    let parameters = attribute(options, TCA_TBF_PARMS)?;
    let narrow = u64::from(u32_at(parameters, 8)?);
    let rate = attribute(options, TCA_TBF_RATE64)
        .and_then(|rate| u64_at(rate, 0))
        .unwrap_or(narrow);
    let fills_ns = u64::from(u32_at(parameters, 28)?) * TICK_NS;
    let burst = u128::from(rate) * u128::from(fills_ns) / 1_000_000_000;
    Some(Bucket {
        rate,
        burst: u64::try_from(burst).ok()?,
        limit: u32_at(parameters, 24)?,
    })
}

#[cfg(test)]
mod tests {
    use super::super::rtnetlink::made;
    use super::*;

    fn qdisc(index: u32, handle: u32, parent: u32, kind: &str, dropped: u32) -> Vec<u8> {
        let mut payload = vec![0; 4];
        for word in [index, handle, parent, 2] {
            payload.extend(word.to_ne_bytes());
        }
        payload.extend(made::attribute(TCA_KIND, format!("{kind}\0").as_bytes()));
        if kind == "tbf" {
            // 10 Mbit/s, a bucket of 10 ms, and room for 20 kB.
            let words = [
                0,
                0,
                1_250_000,
                0,
                0,
                0,
                20_000,
                10_000_000 / TICK_NS as u32,
                0u32,
            ];
            let parameters: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
            payload.extend(made::attribute(
                TCA_OPTIONS | 0x8000,
                &made::attribute(TCA_TBF_PARMS, &parameters),
            ));
        }
        let queue: Vec<u8> = [2u32, 3000, dropped, 0, 0]
            .iter()
            .flat_map(|word| word.to_ne_bytes())
            .collect();
        let stats = [
            made::attribute(1, &[0; 12]),
            made::attribute(TCA_STATS_QUEUE, &queue),
        ]
        .concat();
        payload.extend(made::attribute(TCA_STATS2 | 0x8000, &stats));
        payload
    }

    #[test]
    fn roots_are_told_with_their_drops_and_what_waits() {
        let mut found = Found::default();
        found.take(&qdisc(2, 0, TC_H_ROOT, "mq", 7));
        found.take(&qdisc(2, 0, 1, "fq_codel", 7));
        found.take(&qdisc(3, 1 << 16, TC_H_ROOT, "tbf", 9));
        found.take(&qdisc(3, 2 << 16, 1 << 16 | 1, "pfifo", 0));
        let roots = found.roots();
        assert_eq!(roots.len(), 2);
        assert_eq!(
            roots[&3],
            Qdisc {
                kind: "tbf".to_owned(),
                major: 1,
                dropped: 9,
                backlog: 3000,
                child: Some("pfifo".to_owned()),
                bucket: Some(Bucket {
                    rate: 1_250_000,
                    burst: 12_500,
                    limit: 20_000
                }),
            }
        );
    }

    #[test]
    fn what_is_cut_is_left_out() {
        let whole = qdisc(3, 1 << 16, TC_H_ROOT, "tbf", 9);
        for len in 0..whole.len() {
            let mut found = Found::default();
            found.take(&whole[..len]);
        }
    }

    #[test]
    fn the_running_kernel_answers() {
        Qdisc::read().unwrap();
    }
}
