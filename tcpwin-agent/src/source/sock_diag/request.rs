//! The questions asked of `NETLINK_SOCK_DIAG`, as bytes.

use std::net::IpAddr;

use crate::observation::Endpoints;

/// `SOCK_DIAG_BY_FAMILY`, include/uapi/linux/sock_diag.h.
pub const SOCK_DIAG_BY_FAMILY: u16 = 20;
/// `TCPDIAG_GETSOCK`, include/uapi/linux/inet_diag.h.
pub const TCPDIAG_GETSOCK: u16 = 18;
/// `AF_INET`.
pub const AF_INET: u8 = 2;
/// `AF_INET6`.
pub const AF_INET6: u8 = 10;

const NLM_F_REQUEST: u16 = 0x1;
const NLM_F_DUMP: u16 = 0x300;
const IPPROTO_TCP: u8 = 6;

/// `INET_DIAG_CONG`, as `1 << (number - 1)`.
const CONGESTION: u8 = 1 << 3;
/// `INET_DIAG_INFO`, `INET_DIAG_CONG` and `INET_DIAG_SKMEMINFO`.
const EXTENSIONS: u8 = 1 << 1 | CONGESTION | 1 << 6;

/// `1 << TCP_LISTEN`.
const LISTEN: u32 = 1 << 10;

/// States asked for, as `1 << TCP_*`: everything that carries a connection, and listeners for their ports.
///
/// Not TIME_WAIT and NEW_SYN_RECV (mini sockets without `tcp_info`), and not CLOSE (nothing on the wire any more).
pub const STATES: u32 = 1 << 1 | 1 << 2 | 1 << 3 | 1 << 4 | 1 << 5 | 1 << 8 | 1 << 9 | LISTEN | 1 << 11;

/// What to ask of the sockets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// All figures of all sockets in [`STATES`].
    Figures,
    /// Who they are: addresses, cookie, inode.
    Identities,
    /// Listeners alone, with their queues: the kernel then leaves the table of connections alone
    /// (`inet_diag_dump_icsk`), however many there are.
    Listeners,
    /// Next to nothing: if there is an answer at all.
    Answer,
}

impl Wanted {
    fn states(self) -> u32 {
        match self {
            Self::Figures => STATES,
            Self::Identities => STATES & !LISTEN,
            Self::Listeners => LISTEN,
            Self::Answer => 1 << 2,
        }
    }

    fn extensions(self) -> u8 {
        match self {
            Self::Figures => EXTENSIONS,
            Self::Listeners => CONGESTION,
            Self::Identities | Self::Answer => 0,
        }
    }
}

/// How to ask for all sockets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dump {
    /// IPv4 and IPv6 in one walk of the kernel's table: the older message, a fifth cheaper than asking twice
    /// (`inet_diag_dump_compat` sets the family to any).
    AnyFamily,
    /// One address family.
    Family(u8),
}

/// A dump of all sockets.
#[must_use]
pub fn dump(how: Dump, wanted: Wanted, sequence: u32) -> Vec<u8> {
    let no_socket = [0; 48];
    match how {
        Dump::AnyFamily => {
            let mut bytes = header(TCPDIAG_GETSOCK, NLM_F_REQUEST | NLM_F_DUMP, sequence);
            bytes.extend([0, 0, 0, wanted.extensions()]);
            bytes.extend(no_socket);
            bytes.extend(wanted.states().to_ne_bytes());
            bytes.extend(0u32.to_ne_bytes());
            finish(bytes)
        }
        Dump::Family(family) => by_family(family, wanted, NLM_F_REQUEST | NLM_F_DUMP, sequence, &no_socket),
    }
}

/// One socket, by its addresses and checked by its cookie (`sock_diag_check_cookie`).
///
/// `interface` is the device the socket is bound to, 0 for none: the kernel's look-up finds it by that only.
#[must_use]
pub fn one(cookie: u64, endpoints: &Endpoints, interface: u32, sequence: u32) -> Vec<u8> {
    let mut id = [0u8; 48];
    id[0..2].copy_from_slice(&endpoints.local.port().to_be_bytes());
    id[2..4].copy_from_slice(&endpoints.peer.port().to_be_bytes());
    let family = match (endpoints.local.ip(), endpoints.peer.ip()) {
        (IpAddr::V4(local), IpAddr::V4(peer)) => {
            id[4..8].copy_from_slice(&local.octets());
            id[20..24].copy_from_slice(&peer.octets());
            AF_INET
        }
        (local, peer) => {
            id[4..20].copy_from_slice(&v6_octets(local));
            id[20..36].copy_from_slice(&v6_octets(peer));
            AF_INET6
        }
    };
    id[36..40].copy_from_slice(&interface.to_ne_bytes());
    // idiag_cookie is two words, the lower one first.
    id[40..44].copy_from_slice(&(cookie as u32).to_ne_bytes());
    id[44..48].copy_from_slice(&((cookie >> 32) as u32).to_ne_bytes());
    by_family(family, Wanted::Figures, NLM_F_REQUEST, sequence, &id)
}

fn v6_octets(address: IpAddr) -> [u8; 16] {
    match address {
        IpAddr::V4(v4) => v4.to_ipv6_mapped().octets(),
        IpAddr::V6(v6) => v6.octets(),
    }
}

/// `struct nlmsghdr` + `struct inet_diag_req_v2`.
fn by_family(family: u8, wanted: Wanted, flags: u16, sequence: u32, id: &[u8; 48]) -> Vec<u8> {
    let mut bytes = header(SOCK_DIAG_BY_FAMILY, flags, sequence);
    bytes.extend([family, IPPROTO_TCP, wanted.extensions(), 0]);
    bytes.extend(wanted.states().to_ne_bytes());
    bytes.extend(id);
    finish(bytes)
}

/// `struct nlmsghdr` with its length still open; the kernel is port 0.
fn header(kind: u16, flags: u16, sequence: u32) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(80);
    bytes.extend(0u32.to_ne_bytes());
    bytes.extend(kind.to_ne_bytes());
    bytes.extend(flags.to_ne_bytes());
    bytes.extend(sequence.to_ne_bytes());
    bytes.extend(0u32.to_ne_bytes());
    bytes
}

fn finish(mut bytes: Vec<u8>) -> Vec<u8> {
    let len = bytes.len() as u32;
    bytes[0..4].copy_from_slice(&len.to_ne_bytes());
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_those_of_the_kernels_structures() {
        assert_eq!(dump(Dump::AnyFamily, Wanted::Figures, 1).len(), 16 + 60);
        assert_eq!(dump(Dump::Family(AF_INET6), Wanted::Answer, 1).len(), 16 + 56);
    }

    #[test]
    fn a_socket_is_named_by_addresses_and_cookie() {
        let endpoints = Endpoints {
            local: "192.0.2.1:443".parse().unwrap(),
            peer: "198.51.100.7:50000".parse().unwrap(),
        };
        let bytes = one(0x0000_0002_0000_0001, &endpoints, 3, 9);
        assert_eq!(bytes[16], AF_INET);
        let id = &bytes[24..];
        assert_eq!(&id[0..8], &[1, 187, 195, 80, 192, 0, 2, 1]);
        assert_eq!(&id[20..24], &[198, 51, 100, 7]);
        assert_eq!(&id[36..40], 3u32.to_ne_bytes());
        assert_eq!(&id[40..48], &[1u32.to_ne_bytes(), 2u32.to_ne_bytes()].concat());
    }
}
