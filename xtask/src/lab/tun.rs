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

#[cfg(test)]
mod tests {
    use super::{Framing, VNET_HEADER, wire_bytes};

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
