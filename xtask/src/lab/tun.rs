//! TUN devices (Documentation/networking/tuntap.rst).

use std::os::fd::{AsRawFd, OwnedFd};
use std::{fs, io};

use anyhow::{Context, Result};

/// What a TUN device hands over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framing {
    /// One IP packet of at most the MTU at a time: what shaping and loss must see.
    Packets,
    /// Packets as large as the sender made them, with a virtio header that says how to cut them: light.
    SuperPackets,
}

/// Bytes of `struct virtio_net_hdr` before each packet under [`Framing::SuperPackets`].
pub const VNET_HEADER: usize = 10;

const TUN_F_CSUM: libc::c_uint = 1;
const TUN_F_TSO4: libc::c_uint = 2;
const TUN_F_TSO6: libc::c_uint = 4;

/// Makes the device `name` in the network namespace of the calling thread. It lives as long as the descriptor.
pub fn open(name: &str, framing: Framing) -> Result<OwnedFd> {
    let file = fs::File::options()
        .read(true)
        .write(true)
        .open("/dev/net/tun")
        .context("cannot open /dev/net/tun (is the tun module loaded?)")?;
    let flags = libc::IFF_TUN | libc::IFF_NO_PI;
    let flags = match framing {
        Framing::Packets => flags,
        Framing::SuperPackets => flags | libc::IFF_VNET_HDR,
    };
    // SAFETY: an all-zero ifreq is valid; the name is shorter than the field and the ioctl reads only the ifreq.
    let made = unsafe {
        let mut request: libc::ifreq = std::mem::zeroed();
        for (to, from) in request
            .ifr_name
            .iter_mut()
            .take(libc::IFNAMSIZ - 1)
            .zip(name.bytes())
        {
            *to = from.cast_signed();
        }
        request.ifr_ifru.ifru_flags = flags as libc::c_short;
        libc::ioctl(file.as_raw_fd(), libc::TUNSETIFF, &raw mut request)
    };
    if made != 0 {
        return Err(io::Error::last_os_error()).context("cannot make a TUN device");
    }
    if framing == Framing::SuperPackets {
        let offloads = libc::c_ulong::from(TUN_F_CSUM | TUN_F_TSO4 | TUN_F_TSO6);
        // SAFETY: TUNSETOFFLOAD takes its flags by value.
        if unsafe { libc::ioctl(file.as_raw_fd(), libc::TUNSETOFFLOAD, offloads) } != 0 {
            return Err(io::Error::last_os_error()).context("cannot turn TSO on for a TUN device");
        }
    }
    rustix::io::ioctl_fionbio(&file, true).context("cannot make a TUN device non-blocking")?;
    Ok(file.into())
}

/// Bytes the packet takes on a link, headers of every segment included.
pub fn wire_bytes(frame: &[u8], framing: Framing) -> u64 {
    let (Framing::SuperPackets, Some((header, packet))) = (framing, frame.split_at_checked(VNET_HEADER))
    else {
        return frame.len() as u64;
    };
    let field = |at: usize| u64::from(u16::from_ne_bytes([header[at], header[at + 1]]));
    let (gso_type, header_bytes, segment) = (header[1], field(2), field(4));
    let packet = packet.len() as u64;
    if gso_type == 0 || segment == 0 {
        return packet;
    }
    let segments = packet.saturating_sub(header_bytes).div_ceil(segment).max(1);
    packet + (segments - 1) * header_bytes
}

/// Whether the packet is the SYN of an IPv4 connection with payload: Fast Open (RFC 7413).
pub fn is_syn_with_data(frame: &[u8], framing: Framing) -> bool {
    let packet = match framing {
        Framing::Packets => frame,
        Framing::SuperPackets => frame.get(VNET_HEADER..).unwrap_or_default(),
    };
    let Some([version_and_length, _, high, low]) = packet.first_chunk() else {
        return false;
    };
    let (total, ip) = (
        usize::from(u16::from_be_bytes([*high, *low])),
        usize::from(version_and_length & 15) * 4,
    );
    let is_tcp = version_and_length >> 4 == 4 && packet.get(9) == Some(&6);
    let Some(&[offset, flags]) = packet.get(ip + 12..ip + 14) else {
        return false;
    };
    is_tcp && flags & 2 != 0 && total > ip + usize::from(offset >> 4) * 4
}

#[cfg(test)]
mod tests {
    use super::{Framing, VNET_HEADER, is_syn_with_data, wire_bytes};

    #[test]
    fn a_syn_with_data_is_told_from_one_without() {
        let mut packet = vec![0_u8; 20 + 20 + 5];
        packet[0] = 0x45;
        packet[3] = 45;
        packet[9] = 6;
        packet[32] = 0x50;
        packet[33] = 2;
        assert!(is_syn_with_data(&packet, Framing::Packets));
        packet[3] = 40;
        assert!(!is_syn_with_data(&packet[..40], Framing::Packets));
        packet[3] = 45;
        packet[33] = 0x10;
        assert!(!is_syn_with_data(&packet, Framing::Packets), "no SYN");
        assert!(!is_syn_with_data(&packet[..3], Framing::Packets));
    }

    #[test]
    fn a_super_packet_counts_the_headers_of_its_segments() {
        let mut frame = vec![0_u8; VNET_HEADER + 52 + 3 * 1448];
        frame[1] = 1;
        frame[2..4].copy_from_slice(&52_u16.to_ne_bytes());
        frame[4..6].copy_from_slice(&1448_u16.to_ne_bytes());
        assert_eq!(wire_bytes(&frame, Framing::SuperPackets), 3 * 1500);
        assert_eq!(wire_bytes(&frame[..VNET_HEADER + 52], Framing::Packets), 62);
    }
}
