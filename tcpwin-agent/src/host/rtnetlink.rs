//! Questions to rtnetlink in the calling thread's network namespace, and the bytes of its answers.

use std::io;
use std::time::Duration;

use rustix::net::netlink::SocketAddrNetlink;
use rustix::net::sockopt::{self, Timeout};
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType};

/// Larger than one datagram of a dump (`netlink_dump`).
const BUFFER: usize = 32 << 10;
/// A dump answers at once; this only keeps a broken kernel from holding the program.
const PATIENCE: Duration = Duration::from_secs(2);

const NLMSG_ERROR: u16 = 2;
const NLMSG_DONE: u16 = 3;
/// `NLM_F_REQUEST | NLM_F_DUMP`.
const DUMP: u16 = 0x301;
const ATTRIBUTE_TYPE: u16 = 0x3fff;
const HEADER: usize = 16;

/// Asks for all of a kind: `fixed` is the structure that the question carries, such as `struct tcmsg`. Hands the payload of each
/// answer of the wanted kind to `each`.
pub(super) fn dump(question: u16, fixed: &[u8], wanted: u16, each: &mut dyn FnMut(&[u8])) -> io::Result<()> {
    // NETLINK_ROUTE is protocol 0, which is written as none.
    let socket = rustix::net::socket_with(
        AddressFamily::NETLINK,
        SocketType::RAW,
        SocketFlags::CLOEXEC,
        None,
    )?;
    rustix::net::bind(&socket, &SocketAddrNetlink::new(0, 0))?;
    sockopt::set_socket_timeout(&socket, Timeout::Recv, Some(PATIENCE))?;
    rustix::net::send(&socket, &message(question, fixed), SendFlags::empty())?;
    let mut buffer = vec![0; BUFFER];
    loop {
        let (read, _) = rustix::net::recv(&socket, &mut buffer[..], RecvFlags::empty())?;
        if answered(&buffer[..read], wanted, each)? {
            return Ok(());
        }
    }
}

fn message(kind: u16, fixed: &[u8]) -> Vec<u8> {
    let len = (HEADER + fixed.len()) as u32;
    let mut bytes = Vec::with_capacity(HEADER + fixed.len());
    bytes.extend(len.to_ne_bytes());
    bytes.extend(kind.to_ne_bytes());
    bytes.extend(DUMP.to_ne_bytes());
    bytes.extend(1u32.to_ne_bytes());
    bytes.extend(0u32.to_ne_bytes());
    bytes.extend(fixed);
    bytes
}

/// Takes one datagram of the answer; true when it was the last. What is malformed ends it.
pub(super) fn answered(mut bytes: &[u8], wanted: u16, each: &mut dyn FnMut(&[u8])) -> io::Result<bool> {
    while let Some((len, kind)) = u32_at(bytes, 0).zip(u16_at(bytes, 4)) {
        let payload = bytes.get(HEADER..len as usize).ok_or_else(malformed)?;
        match kind {
            NLMSG_DONE => return Ok(true),
            NLMSG_ERROR => {
                let errno = u32_at(payload, 0).ok_or_else(malformed)?.cast_signed();
                return Err(io::Error::from_raw_os_error(errno.saturating_neg()));
            }
            _ if kind == wanted => each(payload),
            _ => {}
        }
        bytes = bytes.get(align(len as usize)..).unwrap_or_default();
    }
    Ok(false)
}

/// The attributes in these bytes, each with its type; those after a malformed one are left out.
pub(super) fn attributes(mut bytes: &[u8]) -> impl Iterator<Item = (u16, &[u8])> {
    std::iter::from_fn(move || {
        let len = usize::from(u16_at(bytes, 0)?);
        let kind = u16_at(bytes, 2)? & ATTRIBUTE_TYPE;
        let value = bytes.get(4..len)?;
        bytes = bytes.get(align(len)..).unwrap_or_default();
        Some((kind, value))
    })
}

/// The first attribute of this type.
pub(super) fn attribute(bytes: &[u8], wanted: u16) -> Option<&[u8]> {
    attributes(bytes).find_map(|(kind, value)| (kind == wanted).then_some(value))
}

/// The C string that these bytes hold.
pub(super) fn text(bytes: &[u8]) -> String {
    let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    String::from_utf8_lossy(&bytes[..end]).into_owned()
}

fn malformed() -> io::Error {
    io::Error::other("malformed answer of rtnetlink")
}

const fn align(len: usize) -> usize {
    len.saturating_add(3) & !3
}

pub(super) fn u8_at(bytes: &[u8], offset: usize) -> Option<u8> {
    bytes.get(offset).copied()
}

pub(super) fn u16_at(bytes: &[u8], offset: usize) -> Option<u16> {
    Some(u16::from_ne_bytes(*bytes.get(offset..)?.first_chunk()?))
}

pub(super) fn u32_at(bytes: &[u8], offset: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(*bytes.get(offset..)?.first_chunk()?))
}

pub(super) fn u64_at(bytes: &[u8], offset: usize) -> Option<u64> {
    Some(u64::from_ne_bytes(*bytes.get(offset..)?.first_chunk()?))
}

/// Bytes as the kernel writes them, for the tests of who reads them.
#[cfg(test)]
pub(super) mod made {
    use super::{HEADER, align};

    pub(in super::super) fn attribute(kind: u16, value: &[u8]) -> Vec<u8> {
        let mut bytes = ((value.len() + 4) as u16).to_ne_bytes().to_vec();
        bytes.extend(kind.to_ne_bytes());
        bytes.extend(value);
        bytes.resize(align(bytes.len()), 0);
        bytes
    }

    pub(in super::super) fn message(kind: u16, payload: &[u8]) -> Vec<u8> {
        let mut bytes = ((payload.len() + HEADER) as u32).to_ne_bytes().to_vec();
        bytes.extend(kind.to_ne_bytes());
        bytes.extend([0; 10]);
        bytes.extend(payload);
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_that_are_cut_or_refused_are_no_panic() {
        let whole = made::message(36, &made::attribute(1, b"mq\0"));
        for len in 0..whole.len() {
            let _ = answered(&whole[..len], 36, &mut |_| {});
            let mut cut = whole[..len].to_vec();
            if len >= HEADER {
                cut[..4].copy_from_slice(&(len as u32).to_ne_bytes());
            }
            let read = answered(&cut, 36, &mut |payload| assert!(attributes(payload).count() <= 1));
            assert!(!read.unwrap_or(false));
        }
        // A length of 0 does not go on for ever.
        assert!(answered(&[0; 16], 36, &mut |_| {}).is_err());
        assert_eq!(attributes(&[0; 16]).count(), 0);
        let refused = made::message(NLMSG_ERROR, &(-95i32).to_ne_bytes());
        let error = answered(&refused, 36, &mut |_| {}).unwrap_err();
        assert_eq!(error.raw_os_error(), Some(95));
        assert!(answered(&made::message(NLMSG_DONE, &[0; 4]), 36, &mut |_| {}).unwrap());
    }
}
