//! The queueing disciplines of the calling thread's network namespace, over rtnetlink.

use std::collections::HashMap;
use std::io;
use std::time::Duration;

use rustix::net::netlink::SocketAddrNetlink;
use rustix::net::sockopt::{self, Timeout};
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType};

/// Larger than one datagram of a dump (`netlink_dump`).
const BUFFER: usize = 32 << 10;
/// A dump answers at once; this only keeps a broken kernel from holding the daemon.
const PATIENCE: Duration = Duration::from_secs(2);

const NLMSG_ERROR: u16 = 2;
const NLMSG_DONE: u16 = 3;
const RTM_NEWQDISC: u16 = 36;
const RTM_GETQDISC: u16 = 38;
/// `NLM_F_REQUEST | NLM_F_DUMP`.
const DUMP: u16 = 0x301;
/// `TC_H_ROOT`, include/uapi/linux/pkt_sched.h.
const TC_H_ROOT: u32 = u32::MAX;
const TCA_KIND: u16 = 1;
const TCA_STATS2: u16 = 7;
/// `struct gnet_stats_queue`, include/uapi/linux/gen_stats.h.
const TCA_STATS_QUEUE: u16 = 3;
const ATTRIBUTE_TYPE: u16 = 0x3fff;

const HEADER: usize = 16;
/// `struct tcmsg`.
const TCMSG: usize = 20;

/// The root queueing discipline of an interface.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Qdisc {
    /// `fq_codel`, `mq` …
    pub kind: String,
    /// Packets it dropped since it was set; those of its children are among them (`qdisc_tree_reduce_backlog`).
    pub dropped: u64,
}

impl Qdisc {
    /// By interface index. An interface without a queue has none.
    ///
    /// # Errors
    /// When the kernel has no queueing disciplines, or refuses the question.
    pub fn read() -> io::Result<HashMap<u32, Self>> {
        // NETLINK_ROUTE is protocol 0, which is written as none.
        let socket = rustix::net::socket_with(
            AddressFamily::NETLINK,
            SocketType::RAW,
            SocketFlags::CLOEXEC,
            None,
        )?;
        rustix::net::bind(&socket, &SocketAddrNetlink::new(0, 0))?;
        sockopt::set_socket_timeout(&socket, Timeout::Recv, Some(PATIENCE))?;
        rustix::net::send(&socket, &question(), SendFlags::empty())?;
        let mut found = HashMap::new();
        let mut buffer = vec![0; BUFFER];
        loop {
            let (read, _) = rustix::net::recv(&socket, &mut buffer[..], RecvFlags::empty())?;
            if answered(&buffer[..read], &mut found)? {
                return Ok(found);
            }
        }
    }
}

fn question() -> Vec<u8> {
    let len = (HEADER + TCMSG) as u32;
    let mut bytes = Vec::with_capacity(HEADER + TCMSG);
    bytes.extend(len.to_ne_bytes());
    bytes.extend(RTM_GETQDISC.to_ne_bytes());
    bytes.extend(DUMP.to_ne_bytes());
    bytes.extend(1u32.to_ne_bytes());
    bytes.extend(0u32.to_ne_bytes());
    bytes.extend([0; TCMSG]);
    bytes
}

/// Takes one datagram of the answer; true when it was the last. What is malformed ends it.
fn answered(mut bytes: &[u8], found: &mut HashMap<u32, Qdisc>) -> io::Result<bool> {
    while let Some((len, kind)) = u32_at(bytes, 0).zip(u16_at(bytes, 4)) {
        let payload = bytes.get(HEADER..len as usize).ok_or_else(malformed)?;
        match kind {
            NLMSG_DONE => return Ok(true),
            NLMSG_ERROR => {
                let errno = u32_at(payload, 0).ok_or_else(malformed)?.cast_signed();
                return Err(io::Error::from_raw_os_error(errno.saturating_neg()));
            }
            RTM_NEWQDISC => found.extend(root(payload)),
            _ => {}
        }
        bytes = bytes.get(align(len as usize)..).unwrap_or_default();
    }
    Ok(false)
}

/// The interface's index and what is told of its root; `None` of a child.
fn root(payload: &[u8]) -> Option<(u32, Qdisc)> {
    let index = u32_at(payload, 4)?;
    if u32_at(payload, 12)? != TC_H_ROOT {
        return None;
    }
    let attributes = payload.get(TCMSG..)?;
    let kind = attribute(attributes, TCA_KIND)?.split(|byte| *byte == 0).next()?;
    let queue = attribute(attribute(attributes, TCA_STATS2)?, TCA_STATS_QUEUE)?;
    Some((
        index,
        Qdisc {
            kind: String::from_utf8_lossy(kind).into_owned(),
            dropped: u32_at(queue, 8)?.into(),
        },
    ))
}

fn attribute(mut bytes: &[u8], wanted: u16) -> Option<&[u8]> {
    loop {
        let len = usize::from(u16_at(bytes, 0)?);
        let value = bytes.get(4..len)?;
        if u16_at(bytes, 2)? & ATTRIBUTE_TYPE == wanted {
            return Some(value);
        }
        bytes = bytes.get(align(len)..)?;
    }
}

fn malformed() -> io::Error {
    io::Error::other("malformed answer of rtnetlink")
}

const fn align(len: usize) -> usize {
    len.saturating_add(3) & !3
}

fn u16_at(bytes: &[u8], offset: usize) -> Option<u16> {
    Some(u16::from_ne_bytes(*bytes.get(offset..)?.first_chunk()?))
}

fn u32_at(bytes: &[u8], offset: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(*bytes.get(offset..)?.first_chunk()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attribute_bytes(kind: u16, value: &[u8]) -> Vec<u8> {
        let mut bytes = ((value.len() + 4) as u16).to_ne_bytes().to_vec();
        bytes.extend(kind.to_ne_bytes());
        bytes.extend(value);
        bytes.resize(align(bytes.len()), 0);
        bytes
    }

    fn message(kind: u16, payload: &[u8]) -> Vec<u8> {
        let mut bytes = ((payload.len() + HEADER) as u32).to_ne_bytes().to_vec();
        bytes.extend(kind.to_ne_bytes());
        bytes.extend([0; 10]);
        bytes.extend(payload);
        bytes
    }

    fn qdisc(index: u32, parent: u32, kind: &str, dropped: u32) -> Vec<u8> {
        let mut payload = vec![0; 4];
        for word in [index, 0x8001_0000, parent, 2] {
            payload.extend(word.to_ne_bytes());
        }
        payload.extend(attribute_bytes(TCA_KIND, format!("{kind}\0").as_bytes()));
        let queue: Vec<u8> = [0u32, 0, dropped, 0, 0]
            .iter()
            .flat_map(|word| word.to_ne_bytes())
            .collect();
        let stats = [
            attribute_bytes(1, &[0; 12]),
            attribute_bytes(TCA_STATS_QUEUE, &queue),
        ]
        .concat();
        payload.extend(attribute_bytes(TCA_STATS2 | 0x8000, &stats));
        message(RTM_NEWQDISC, &payload)
    }

    #[test]
    fn roots_are_told_with_their_drops() {
        let mut found = HashMap::new();
        let datagram = [
            qdisc(2, TC_H_ROOT, "mq", 7),
            qdisc(2, 1, "fq_codel", 7),
            qdisc(3, TC_H_ROOT, "tbf", 9),
        ]
        .concat();
        assert!(!answered(&datagram, &mut found).unwrap());
        assert!(answered(&message(NLMSG_DONE, &[0; 4]), &mut found).unwrap());
        assert_eq!(found.len(), 2);
        assert_eq!(
            found[&3],
            Qdisc {
                kind: "tbf".to_owned(),
                dropped: 9
            }
        );
    }

    #[test]
    fn bytes_that_are_cut_or_refused_are_no_panic() {
        let whole = qdisc(2, TC_H_ROOT, "mq", 7);
        for len in 0..whole.len() {
            let _ = answered(&whole[..len], &mut HashMap::new());
            let mut cut = whole[..len].to_vec();
            if len >= HEADER {
                cut[..4].copy_from_slice(&(len as u32).to_ne_bytes());
            }
            let mut found = HashMap::new();
            assert!(!answered(&cut, &mut found).unwrap_or(false));
        }
        // A length of 0 does not go on for ever.
        assert!(answered(&[0; 16], &mut HashMap::new()).is_err());
        let refused = message(NLMSG_ERROR, &(-95i32).to_ne_bytes());
        assert_eq!(
            answered(&refused, &mut HashMap::new())
                .unwrap_err()
                .raw_os_error(),
            Some(95)
        );
    }

    #[test]
    fn the_running_kernel_answers() {
        Qdisc::read().unwrap();
    }
}
