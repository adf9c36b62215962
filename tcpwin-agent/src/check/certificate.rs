//! What a chain says: for whom, until when, how large, and whether there is a responder to ask for a staple.

use serde::Serialize;
use x509_parser::certificate::X509Certificate;
use x509_parser::extensions::{GeneralName, ParsedExtension};
use x509_parser::oid_registry::{OID_PKIX_ACCESS_DESCRIPTOR_OCSP, OID_PKIX_AUTHORITY_INFO_ACCESS, Oid};
use x509_parser::prelude::FromDer as _;
use x509_parser::public_key::PublicKey;

use super::witness::Shown;

/// TLS features a certificate insists on (RFC 7633), 1.3.6.1.5.5.7.1.24; 5 among them is the staple.
const TLS_FEATURE: &[u64] = &[1, 3, 6, 1, 5, 5, 7, 1, 24];
/// Names that are shown of one certificate.
const NAMES: usize = 20;

/// A server's chain.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Certificate {
    /// Whether a client on this host takes it.
    pub trusted: bool,
    /// Why not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fault: Option<String>,
    /// Whom it is for; the first of many.
    pub names: Vec<String>,
    /// Who issued it.
    pub issuer: String,
    /// Seconds since 1970 from which it is valid.
    pub not_before: i64,
    /// Until when.
    pub not_after: i64,
    /// Days until then, rounded down; negative once it is over.
    pub days_left: i64,
    /// `ECDSA 256`, `RSA 2048`.
    pub key: String,
    /// Certificates in the chain.
    pub chain: usize,
    /// Bytes of them all.
    pub chain_bytes: usize,
    /// An OCSP response came with it.
    pub ocsp_staple: bool,
    /// Bytes of it.
    pub ocsp_staple_bytes: usize,
    /// Where the certificate says its state can be asked for; without one there is nothing to staple.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ocsp_responder: Option<String>,
    /// It insists on a staple.
    pub must_staple: bool,
}

/// Reads what a server showed; `None` where its first certificate is none.
pub fn read(shown: &Shown) -> Option<Certificate> {
    let (_, leaf) = X509Certificate::from_der(shown.chain.first()?).ok()?;
    let not_after = leaf.validity().not_after.timestamp();
    let now = i64::try_from(shown.at).unwrap_or(i64::MAX);
    Some(Certificate {
        trusted: shown.fault.is_none(),
        fault: shown.fault.clone(),
        names: names(&leaf),
        issuer: leaf.issuer().to_string(),
        not_before: leaf.validity().not_before.timestamp(),
        not_after,
        days_left: not_after.saturating_sub(now).div_euclid(86_400),
        key: key(&leaf),
        chain: shown.chain.len(),
        chain_bytes: shown.chain.iter().map(Vec::len).sum(),
        ocsp_staple: !shown.staple.is_empty(),
        ocsp_staple_bytes: shown.staple.len(),
        ocsp_responder: responder(&leaf),
        must_staple: must_staple(&leaf),
    })
}

/// The alternative names, or the subject's own where there are none.
fn names(leaf: &X509Certificate<'_>) -> Vec<String> {
    let alternative = leaf.subject_alternative_name().ok().flatten();
    let Some(alternative) = alternative else {
        return leaf
            .subject()
            .iter_common_name()
            .filter_map(|name| name.as_str().ok().map(str::to_owned))
            .collect();
    };
    let names = alternative
        .value
        .general_names
        .iter()
        .filter_map(|name| match name {
            GeneralName::DNSName(name) => Some((*name).to_owned()),
            GeneralName::IPAddress(bytes) => address(bytes),
            _ => None,
        });
    names.take(NAMES).collect()
}

fn address(bytes: &[u8]) -> Option<String> {
    if let Ok(four) = <[u8; 4]>::try_from(bytes) {
        return Some(std::net::Ipv4Addr::from(four).to_string());
    }
    let sixteen = <[u8; 16]>::try_from(bytes).ok()?;
    Some(std::net::Ipv6Addr::from(sixteen).to_string())
}

fn key(leaf: &X509Certificate<'_>) -> String {
    match leaf.public_key().parsed() {
        Ok(PublicKey::RSA(key)) => format!("RSA {}", key.key_size()),
        // An uncompressed point is one byte and two coordinates; P-521 pads its own.
        Ok(PublicKey::EC(point)) => match point.data().len() {
            133 => "ECDSA 521".to_owned(),
            length => format!("ECDSA {}", length.saturating_sub(1) * 4),
        },
        _ => leaf.public_key().algorithm.algorithm.to_id_string(),
    }
}

fn responder(leaf: &X509Certificate<'_>) -> Option<String> {
    let access = leaf
        .extensions()
        .iter()
        .find(|extension| extension.oid == OID_PKIX_AUTHORITY_INFO_ACCESS)?;
    let ParsedExtension::AuthorityInfoAccess(access) = access.parsed_extension() else {
        return None;
    };
    access
        .iter()
        .find_map(|described| match &described.access_location {
            GeneralName::URI(uri) if described.access_method == OID_PKIX_ACCESS_DESCRIPTOR_OCSP => {
                Some((*uri).to_owned())
            }
            _ => None,
        })
}

/// A sequence of small numbers, 5 among them.
fn must_staple(leaf: &X509Certificate<'_>) -> bool {
    let Ok(feature) = Oid::from(TLS_FEATURE) else {
        return false;
    };
    let found = leaf
        .extensions()
        .iter()
        .find(|extension| extension.oid == feature);
    found.is_some_and(|extension| extension.value.windows(3).any(|value| value == [2, 1, 5]))
}

#[cfg(test)]
mod tests {
    use super::{Shown, read};

    #[test]
    fn what_is_no_certificate_is_not_read() {
        assert_eq!(read(&Shown::default()), None);
        let shown = Shown {
            chain: vec![vec![0x30, 0x03, 0x02, 0x01, 0x01]],
            ..Shown::default()
        };
        assert_eq!(read(&shown), None);
    }
}
