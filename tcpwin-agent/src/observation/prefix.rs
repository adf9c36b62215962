//! A prefix of addresses: what is behind one path, as far as addresses tell.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

/// An address and how many of its leading bits count; the others are zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Prefix {
    address: IpAddr,
    len: u8,
}

impl Prefix {
    /// The first `len` bits of an address, all of them if it has no more.
    #[must_use]
    pub fn new(address: IpAddr, len: u8) -> Self {
        let address = address.to_canonical();
        match address {
            IpAddr::V4(v4) => {
                let len = len.min(32);
                let mask = u32::MAX.checked_shl(32 - u32::from(len)).unwrap_or(0);
                Self {
                    address: Ipv4Addr::from_bits(v4.to_bits() & mask).into(),
                    len,
                }
            }
            IpAddr::V6(v6) => {
                let len = len.min(128);
                let mask = u128::MAX.checked_shl(128 - u32::from(len)).unwrap_or(0);
                Self {
                    address: Ipv6Addr::from_bits(v6.to_bits() & mask).into(),
                    len,
                }
            }
        }
    }

    /// The network an address is most likely to share a path with: /24, or /48.
    #[must_use]
    pub fn around(address: IpAddr) -> Self {
        let len = if address.to_canonical().is_ipv4() { 24 } else { 48 };
        Self::new(address, len)
    }

    /// The address alone.
    #[must_use]
    pub fn host(address: IpAddr) -> Self {
        Self::new(address, 128)
    }

    /// The address, its other bits zero.
    #[must_use]
    pub const fn address(self) -> IpAddr {
        self.address
    }

    /// How many bits count.
    #[must_use]
    pub const fn bits(self) -> u8 {
        self.len
    }

    /// If `address` is in it.
    #[must_use]
    pub fn contains(self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        self.address.is_ipv4() == address.is_ipv4() && Self::new(address, self.len) == self
    }
}

impl fmt::Display for Prefix {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/{}", self.address, self.len)
    }
}

/// Neither `ADDRESS/BITS` nor an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoPrefix;

impl FromStr for Prefix {
    type Err = NoPrefix;

    fn from_str(text: &str) -> Result<Self, NoPrefix> {
        let (address, len) = text
            .split_once('/')
            .map_or((text, None), |(a, len)| (a, Some(len)));
        let address: IpAddr = address.parse().map_err(|_| NoPrefix)?;
        let most = if address.is_ipv4() { 32 } else { 128 };
        let len = match len {
            None => most,
            Some(len) => len.parse().map_err(|_| NoPrefix)?,
        };
        if len > most {
            return Err(NoPrefix);
        }
        Ok(Self::new(address, len))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_masked_and_written_back() {
        for (text, written) in [
            ("203.0.113.77/24", "203.0.113.0/24"),
            ("203.0.113.77", "203.0.113.77/32"),
            ("0.0.0.0/0", "0.0.0.0/0"),
            ("2001:db8:1:2::3/48", "2001:db8:1::/48"),
            ("::/0", "::/0"),
        ] {
            assert_eq!(text.parse::<Prefix>().unwrap().to_string(), written);
        }
        for wrong in [
            "",
            "/24",
            "203.0.113.0/33",
            "2001:db8::/129",
            "203.0.113.0/-1",
            "host/8",
        ] {
            assert_eq!(wrong.parse::<Prefix>(), Err(NoPrefix), "{wrong}");
        }
    }

    #[test]
    fn families_do_not_mix() {
        let all: Prefix = "0.0.0.0/0".parse().unwrap();
        assert!(all.contains("203.0.113.9".parse().unwrap()));
        assert!(all.contains("::ffff:203.0.113.9".parse().unwrap()));
        assert!(!all.contains("2001:db8::1".parse().unwrap()));
        let near = Prefix::around("203.0.113.9".parse().unwrap());
        assert!(near.contains("203.0.113.200".parse().unwrap()));
        assert!(!near.contains("203.0.114.9".parse().unwrap()));
    }
}
