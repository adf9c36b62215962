//! Names to addresses, by the resolver that every program of this host uses: `getaddrinfo`, thus /etc/hosts, nsswitch and DNS.

use std::net::{SocketAddr, ToSocketAddrs as _};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use super::wire::now;
use crate::units::Nanos;

/// What the resolver gave.
#[derive(Debug)]
pub struct Resolved {
    /// In its order, each once.
    pub addresses: Vec<SocketAddr>,
    /// How long it took, and how long it took to be told the same again. `None` of what was an address already.
    pub took: Option<[Nanos; 2]>,
}

/// A name without an address.
#[derive(Debug, thiserror::Error)]
pub enum ResolveError {
    /// The resolver says so.
    #[error("the resolver of this host knows no address of {host}: {reason}")]
    Unknown {
        /// The name.
        host: String,
        /// In the resolver's words.
        reason: String,
    },
    /// It says nothing.
    #[error("the resolver of this host does not answer within {seconds:.0} s: see /etc/resolv.conf")]
    TimedOut {
        /// How long it was given.
        seconds: f64,
    },
}

/// Asks twice: what is as slow again is not cached on this host.
pub fn resolve(host: &str, port: u16, within: Nanos) -> Result<Resolved, ResolveError> {
    if let Ok(address) = host.parse() {
        let addresses = vec![SocketAddr::new(address, port)];
        return Ok(Resolved {
            addresses,
            took: None,
        });
    }
    let (found, first) = ask(host, port, within)?;
    let (_, again) = ask(host, port, within)?;
    let mut addresses: Vec<SocketAddr> = Vec::new();
    for address in found {
        if !addresses.contains(&address) {
            addresses.push(address);
        }
    }
    Ok(Resolved {
        addresses,
        took: Some([first, again]),
    })
}

/// `getaddrinfo` knows no deadline; a thread that it keeps ends with the process.
fn ask(host: &str, port: u16, within: Nanos) -> Result<(Vec<SocketAddr>, Nanos), ResolveError> {
    let (tell, told) = mpsc::channel();
    let asked = host.to_owned();
    let lookup = move || {
        let began = now();
        let found = (asked.as_str(), port).to_socket_addrs();
        let _ = tell.send((found.map(Vec::from_iter), now().since(began)));
    };
    let unknown = |reason: String| ResolveError::Unknown {
        host: host.to_owned(),
        reason,
    };
    thread::Builder::new()
        .name("resolver".to_owned())
        .spawn(lookup)
        .map_err(|error| unknown(error.to_string()))?;
    match told.recv_timeout(Duration::from_nanos(within.0)) {
        Ok((Ok(found), took)) if !found.is_empty() => Ok((found, took)),
        Ok((Ok(_), _)) => Err(unknown("it has none".to_owned())),
        Ok((Err(error), _)) => Err(unknown(error.to_string())),
        Err(_) => Err(ResolveError::TimedOut {
            seconds: within.seconds(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::{ResolveError, resolve};
    use crate::units::Nanos;

    const LONG: Nanos = Nanos(20_000_000_000);

    #[test]
    fn an_address_is_not_asked_for() {
        let found = resolve("192.0.2.7", 443, LONG).unwrap();
        assert_eq!(found.addresses, ["192.0.2.7:443".parse().unwrap()]);
        assert!(found.took.is_none());
        assert_eq!(
            resolve("::1", 80, LONG).unwrap().addresses,
            ["[::1]:80".parse().unwrap()]
        );
    }

    #[test]
    fn what_is_no_name_has_no_address() {
        let error = resolve("no host", 443, LONG).unwrap_err();
        assert!(matches!(error, ResolveError::Unknown { .. }), "{error}");
    }
}
