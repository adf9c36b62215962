//! The interfaces of the calling thread's network namespace, as getifaddrs tells them.

use std::collections::BTreeMap;
use std::ffi::CStr;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The name of an interface of the calling thread's namespace; `None` when it is gone.
pub(super) fn name(index: u32) -> Option<String> {
    let mut name = [0; libc::IF_NAMESIZE];
    // SAFETY: the buffer has the size that if_indextoname asks for; it writes a C string, or returns null.
    let written = unsafe { libc::if_indextoname(index, name.as_mut_ptr()) };
    // SAFETY: not null, so the buffer holds a C string.
    (!written.is_null()).then(|| unsafe { CStr::from_ptr(written) }.to_string_lossy().into_owned())
}

/// An interface.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Interface {
    pub(super) name: String,
    /// Its link-layer address, `02:00:00:00:00:01`.
    pub(super) mac: Option<String>,
    pub(super) addresses: Vec<IpAddr>,
}

impl Interface {
    /// All; none where the kernel does not tell.
    pub(super) fn all() -> Vec<Self> {
        let mut first = std::ptr::null_mut();
        // SAFETY: fills the pointer, or fails and leaves it alone.
        if unsafe { libc::getifaddrs(&raw mut first) } != 0 {
            return Vec::new();
        }
        let mut interfaces = BTreeMap::<String, Self>::new();
        let mut next = first;
        // SAFETY: a list that getifaddrs made; it ends with null.
        while let Some(entry) = unsafe { next.as_ref() } {
            next = entry.ifa_next;
            // SAFETY: the name is a C string that lives as long as the list.
            let name = unsafe { CStr::from_ptr(entry.ifa_name) }
                .to_string_lossy()
                .into_owned();
            let interface = interfaces.entry(name.clone()).or_insert_with(|| Self {
                name,
                ..Self::default()
            });
            interface.note(entry.ifa_addr);
        }
        // SAFETY: the list is not used after.
        unsafe { libc::freeifaddrs(first) };
        interfaces.into_values().collect()
    }

    fn note(&mut self, address: *const libc::sockaddr) {
        // SAFETY: null, or an address of the family it names, which lives as long as the list.
        let Some(family) = (unsafe { address.as_ref() }).map(|address| i32::from(address.sa_family)) else {
            return;
        };
        match family {
            libc::AF_INET => {
                // SAFETY: as its family says.
                let v4 = unsafe { &*address.cast::<libc::sockaddr_in>() };
                let bits = u32::from_be(v4.sin_addr.s_addr);
                self.addresses.push(Ipv4Addr::from_bits(bits).into());
            }
            libc::AF_INET6 => {
                // SAFETY: as its family says.
                let v6 = unsafe { &*address.cast::<libc::sockaddr_in6>() };
                self.addresses.push(Ipv6Addr::from(v6.sin6_addr.s6_addr).into());
            }
            libc::AF_PACKET => {
                // SAFETY: as its family says.
                let link = unsafe { &*address.cast::<libc::sockaddr_ll>() };
                let len = usize::from(link.sll_halen).min(link.sll_addr.len());
                let bytes = link.sll_addr[..len].iter().map(|byte| format!("{byte:02x}"));
                self.mac = Some(bytes.collect::<Vec<_>>().join(":"));
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_is_among_them() {
        let all = Interface::all();
        let lo = all.iter().find(|interface| interface.name == "lo").unwrap();
        assert_eq!(lo.mac.as_deref(), Some("00:00:00:00:00:00"));
        assert_eq!(name(1).as_deref(), Some("lo"));
        assert_eq!(name(u32::MAX), None);
    }
}
