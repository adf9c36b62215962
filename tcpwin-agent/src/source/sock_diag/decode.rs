//! Netlink answers → [`Record`]s. Total on any bytes: what is malformed is an error, never a panic.

use super::record::{Memory, Record};
use super::request::{AF_INET, AF_INET6};
use crate::observation::TcpState;
use crate::observation::tcp_info::TcpInfo;

/// The kernel's end of a dump.
pub const NLMSG_DONE: u16 = 3;
/// An error, or an acknowledgement with number 0.
pub const NLMSG_ERROR: u16 = 2;
/// The table changed under the dump: sockets may be missing from it.
pub const NLM_F_DUMP_INTR: u16 = 0x10;

const NLMSG_HEADER: usize = 16;
const ATTRIBUTE_HEADER: usize = 4;
/// `struct inet_diag_msg`.
const INET_DIAG_MSG: usize = 72;

const INET_DIAG_INFO: u16 = 2;
const INET_DIAG_CONG: u16 = 4;
const INET_DIAG_SKMEMINFO: u16 = 7;
const INET_DIAG_CGROUP_ID: u16 = 21;
/// `NLA_TYPE_MASK`: without the nested and byte-order flags.
const ATTRIBUTE_TYPE: u16 = 0x3fff;

/// Bytes that do not follow the layout of include/uapi/linux/{netlink,inet_diag}.h.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("malformed {0}")]
pub struct Malformed(pub &'static str);

/// One netlink message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message<'a> {
    /// `nlmsg_type`.
    pub kind: u16,
    /// `nlmsg_flags`.
    pub flags: u16,
    /// `nlmsg_seq`: that of the request.
    pub sequence: u32,
    /// What follows the header.
    pub payload: &'a [u8],
}

impl Message<'_> {
    /// The kernel's `errno` in an [`NLMSG_ERROR`] or [`NLMSG_DONE`]; 0 for success.
    #[must_use]
    pub fn errno(&self) -> i32 {
        u32_at(self.payload, 0).map_or(0, |number| number.cast_signed().saturating_neg())
    }
}

/// The messages of one datagram; a malformed one ends it.
#[derive(Clone, Debug)]
pub struct Messages<'a>(&'a [u8]);

/// Splits a datagram.
#[must_use]
pub fn messages(datagram: &[u8]) -> Messages<'_> {
    Messages(datagram)
}

impl<'a> Iterator for Messages<'a> {
    type Item = Result<Message<'a>, Malformed>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.0.is_empty() {
            return None;
        }
        let message = split_message(self.0);
        self.0 = match &message {
            Ok((_, rest)) => rest,
            Err(_) => &[],
        };
        Some(message.map(|(message, _)| message))
    }
}

fn split_message(bytes: &[u8]) -> Result<(Message<'_>, &[u8]), Malformed> {
    const BAD: Malformed = Malformed("netlink header");
    let len = u32_at(bytes, 0).ok_or(BAD)? as usize;
    let message = Message {
        kind: u16_at(bytes, 4).ok_or(BAD)?,
        flags: u16_at(bytes, 6).ok_or(BAD)?,
        sequence: u32_at(bytes, 8).ok_or(BAD)?,
        payload: bytes.get(NLMSG_HEADER..len).ok_or(BAD)?,
    };
    Ok((message, bytes.get(align(len)..).unwrap_or_default()))
}

/// What a `struct inet_diag_msg` with its attributes says.
///
/// # Errors
/// When the fixed part or an attribute does not fit its bytes, or the family or state is unknown.
pub fn socket(payload: &[u8]) -> Result<Record, Malformed> {
    const SHORT: Malformed = Malformed("inet_diag_msg");
    let fixed = payload.get(..INET_DIAG_MSG).ok_or(SHORT)?;
    if fixed[0] != AF_INET && fixed[0] != AF_INET6 {
        return Err(Malformed("address family"));
    }
    let mut record = Record {
        family: fixed[0],
        state: TcpState::from_kernel(fixed[1]).ok_or(Malformed("TCP state"))?,
        local_port: u16::from_be_bytes([fixed[4], fixed[5]]),
        peer_port: u16::from_be_bytes([fixed[6], fixed[7]]),
        local: bytes_at(fixed, 8).ok_or(SHORT)?,
        peer: bytes_at(fixed, 24).ok_or(SHORT)?,
        interface: u32_at(fixed, 40).ok_or(SHORT)?,
        cookie: u64::from(u32_at(fixed, 44).ok_or(SHORT)?) | u64::from(u32_at(fixed, 48).ok_or(SHORT)?) << 32,
        rqueue: u32_at(fixed, 56).ok_or(SHORT)?,
        wqueue: u32_at(fixed, 60).ok_or(SHORT)?,
        inode: u32_at(fixed, 68).ok_or(SHORT)?,
        cgroup: 0,
        congestion: [0; 16],
        memory: None,
        info: None,
    };
    attributes(&payload[INET_DIAG_MSG..], &mut record)?;
    Ok(record)
}

fn attributes(mut bytes: &[u8], record: &mut Record) -> Result<(), Malformed> {
    const BAD: Malformed = Malformed("attribute");
    while !bytes.is_empty() {
        let len = usize::from(u16_at(bytes, 0).ok_or(BAD)?);
        let kind = u16_at(bytes, 2).ok_or(BAD)? & ATTRIBUTE_TYPE;
        let value = bytes.get(ATTRIBUTE_HEADER..len).ok_or(BAD)?;
        match kind {
            INET_DIAG_INFO => record.info = Some(TcpInfo::parse(value)),
            INET_DIAG_CONG => record.congestion = name(value),
            INET_DIAG_SKMEMINFO => record.memory = Some(memory(value).ok_or(Malformed("SKMEMINFO"))?),
            INET_DIAG_CGROUP_ID => {
                record.cgroup = u64::from_ne_bytes(bytes_at(value, 0).ok_or(Malformed("CGROUP_ID"))?);
            }
            _ => {}
        }
        bytes = bytes.get(align(len)..).unwrap_or_default();
    }
    Ok(())
}

/// A name up to its NUL, cut to the kernel's own limit (`TCP_CA_NAME_MAX`).
fn name(value: &[u8]) -> [u8; 16] {
    let mut name = [0; 16];
    let text = value.iter().take(15).take_while(|&&byte| byte != 0);
    for (to, from) in name.iter_mut().zip(text) {
        *to = *from;
    }
    name
}

/// `SK_MEMINFO_RCVBUF` (1), `SK_MEMINFO_SNDBUF` (3) and `SK_MEMINFO_WMEM_QUEUED` (5) of the array of words.
fn memory(value: &[u8]) -> Option<Memory> {
    Some(Memory {
        rcvbuf: u32_at(value, 4)?,
        sndbuf: u32_at(value, 12)?,
        wmem_queued: u32_at(value, 20)?,
    })
}

fn align(len: usize) -> usize {
    len.saturating_add(3) & !3
}

fn bytes_at<const N: usize>(bytes: &[u8], offset: usize) -> Option<[u8; N]> {
    bytes.get(offset..)?.first_chunk().copied()
}

fn u16_at(bytes: &[u8], offset: usize) -> Option<u16> {
    bytes_at(bytes, offset).map(u16::from_ne_bytes)
}

fn u32_at(bytes: &[u8], offset: usize) -> Option<u32> {
    bytes_at(bytes, offset).map(u32::from_ne_bytes)
}

#[cfg(test)]
mod tests;
