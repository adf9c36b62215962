//! What ethtool(8) asks: offloads and speed of an interface (include/uapi/linux/ethtool.h).

use std::collections::BTreeMap;
use std::io;
use std::os::fd::AsRawFd as _;

use rustix::net::{AddressFamily, SocketFlags, SocketType};

const SIOCETHTOOL: libc::Ioctl = 0x8946;
const ETHTOOL_GSTRINGS: u32 = 0x1b;
const ETHTOOL_GSSET_INFO: u32 = 0x37;
const ETHTOOL_GFEATURES: u32 = 0x3a;
const ETHTOOL_GLINKSETTINGS: u32 = 0x4c;
const ETH_SS_FEATURES: u32 = 4;
/// `ETH_GSTRING_LEN`.
const NAME: usize = 32;
/// More features than kernels have.
const MOST: u32 = 512;
/// `struct ethtool_link_settings` with room for the link modes that follow it.
const LINK_SETTINGS: usize = 48 + 3 * 4 * 127;
const SPEED_UNKNOWN: u32 = u32::MAX;

/// An offload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Feature {
    /// It can be switched on.
    pub can_change: bool,
    /// It is on.
    pub active: bool,
}

/// The offloads of one interface, by the names of `ethtool -k` in the kernel (`tx-tcp-segmentation`, `rx-gro` …).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Features(pub BTreeMap<String, Feature>);

impl Features {
    /// Asks the kernel.
    ///
    /// # Errors
    /// When there is no such interface, or it tells of no features.
    pub fn read(name: &str) -> io::Result<Self> {
        let names = names(name)?;
        let blocks = names.len().div_ceil(32);
        // struct ethtool_gfeatures: cmd, size, and four words a block: available, requested, active, never_changed.
        let mut words = vec![0u32; 2 + 4 * blocks];
        words[0] = ETHTOOL_GFEATURES;
        words[1] = blocks as u32;
        ask(name, &mut words)?;
        let feature = |(at, name): (usize, String)| {
            let block = &words[2 + at / 32 * 4..];
            let is = |word: usize| block[word] & (1 << (at % 32)) != 0;
            let feature = Feature {
                can_change: is(0) && !is(3),
                active: is(2),
            };
            (!name.is_empty()).then_some((name, feature))
        };
        Ok(Self(names.into_iter().enumerate().filter_map(feature).collect()))
    }

    /// If it could be on, and is off.
    #[must_use]
    pub fn is_switched_off(&self, name: &str) -> bool {
        self.0
            .get(name)
            .is_some_and(|feature| feature.can_change && !feature.active)
    }
}

/// The link's speed, Mbit/s; `None` where the driver does not know it.
///
/// # Errors
/// When there is no such interface, or its driver does not tell.
pub fn speed(name: &str) -> io::Result<Option<u32>> {
    let mut words = vec![0u32; LINK_SETTINGS / 4];
    words[0] = ETHTOOL_GLINKSETTINGS;
    ask(name, &mut words)?;
    // The first answer only says how long the masks are, as a negative number (`ethtool_get_link_ksettings`).
    let masks = words[4].to_ne_bytes()[2].cast_signed().unsigned_abs();
    words.fill(0);
    words[0] = ETHTOOL_GLINKSETTINGS;
    let mut word = [0; 4];
    word[2] = masks;
    words[4] = u32::from_ne_bytes(word);
    ask(name, &mut words)?;
    let speed = words[1];
    Ok((speed != 0 && speed != SPEED_UNKNOWN).then_some(speed))
}

fn names(name: &str) -> io::Result<Vec<String>> {
    // struct ethtool_sset_info: cmd, reserved, sset_mask (64 bits), data.
    let mut info = [ETHTOOL_GSSET_INFO, 0, 1 << ETH_SS_FEATURES, 0, 0];
    ask(name, &mut info)?;
    let count = info[4];
    if info[2] == 0 || count > MOST {
        return Err(io::Error::other("the interface tells of no features"));
    }
    // struct ethtool_gstrings: cmd, string_set, len, data.
    let mut strings = vec![0u32; 3 + count as usize * NAME / 4];
    strings[0] = ETHTOOL_GSTRINGS;
    strings[1] = ETH_SS_FEATURES;
    strings[2] = count;
    ask(name, &mut strings)?;
    let bytes: Vec<u8> = strings[3..].iter().flat_map(|word| word.to_ne_bytes()).collect();
    Ok(bytes.chunks(NAME).map(super::rtnetlink::text).collect())
}

/// One request; the kernel answers into `words`, which must be as long as the request says.
fn ask(name: &str, words: &mut [u32]) -> io::Result<()> {
    let socket =
        rustix::net::socket_with(AddressFamily::INET, SocketType::DGRAM, SocketFlags::CLOEXEC, None)?;
    // SAFETY: a structure of plain numbers; all zeros is one of them.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    if name.len() >= request.ifr_name.len() {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    for (to, from) in request.ifr_name.iter_mut().zip(name.bytes()) {
        *to = from.cast_signed();
    }
    request.ifr_ifru.ifru_data = words.as_mut_ptr().cast();
    // SAFETY: the socket is open, the request names an interface and points at the words, which are longer than what the kernel
    // writes for the counts in them.
    match unsafe { libc::ioctl(socket.as_raw_fd(), SIOCETHTOOL, &raw mut request) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_segments_by_itself() {
        let features = Features::read("lo").unwrap();
        assert!(features.0["tx-tcp-segmentation"].active, "{features:?}");
        assert!(Features::read("no-such-device").is_err());
    }
}
