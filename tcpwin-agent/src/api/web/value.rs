//! The values of the web configuration file, in the words of Go's crypto/tls.

use std::fmt;
use std::time::Duration;

use axum::http::HeaderValue;
use bcrypt::HashParts;
use rustls::crypto::SupportedKxGroup;
use rustls::crypto::aws_lc_rs::{ALL_CIPHER_SUITES, kx_group};
use rustls::{ProtocolVersion, SupportedCipherSuite};
use serde::{Deserialize, Deserializer, de};

use super::secret::Secret;

/// Costs above this take minutes for each wrong password.
const HIGHEST_COST: u32 = 18;

/// `min_version`, `max_version`.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, PartialOrd, Ord)]
#[serde(rename_all = "UPPERCASE")]
pub(super) enum Version {
    Tls10,
    Tls11,
    Tls12,
    Tls13,
}

/// `client_auth_type`.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
pub(super) enum ClientAuth {
    #[default]
    NoClientCert,
    RequestClientCert,
    // The toolkit's name of before Go's.
    #[serde(alias = "RequireClientCert")]
    RequireAnyClientCert,
    VerifyClientCertIfGiven,
    RequireAndVerifyClientCert,
}

/// One of `cipher_suites`.
#[derive(Clone, Debug)]
pub(super) enum Suite {
    /// One of TLS 1.2 that rustls has.
    Offered(SupportedCipherSuite),
    /// One of TLS 1.3, all of which are always offered, as in Go.
    Always,
    /// One that Go has and rustls has not: block chaining, or a key exchange without forward secrecy.
    Absent(String),
}

/// Suites that Go's `CipherSuites()` names, now or in the releases that toolkits were built with, and rustls lacks.
const ABSENT_SUITES: [&str; 8] = [
    "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA",
    "TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA",
    "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA",
    "TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA",
    "TLS_RSA_WITH_AES_128_CBC_SHA",
    "TLS_RSA_WITH_AES_256_CBC_SHA",
    "TLS_RSA_WITH_AES_128_GCM_SHA256",
    "TLS_RSA_WITH_AES_256_GCM_SHA384",
];

impl<'de> Deserialize<'de> for Suite {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        let named = |suite: &&SupportedCipherSuite| suite.suite().as_str().map(go_name) == Some(name.clone());
        match ALL_CIPHER_SUITES.iter().find(named) {
            Some(suite) if suite.version().version == ProtocolVersion::TLSv1_3 => Ok(Self::Always),
            Some(suite) => Ok(Self::Offered(*suite)),
            None if ABSENT_SUITES.contains(&name.as_str()) => Ok(Self::Absent(name)),
            None => Err(de::Error::custom(format!(
                "unknown cipher suite `{name}`: names are those of Go's crypto/tls, such as \
                 TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256"
            ))),
        }
    }
}

/// rustls says `TLS13_AES_…` where Go and the registry say `TLS_AES_…`.
fn go_name(rustls: &str) -> String {
    rustls.replacen("TLS13_", "TLS_", 1)
}

/// One of `curve_preferences`.
#[derive(Clone, Copy)]
pub(super) enum Curve {
    Offered(&'static dyn SupportedKxGroup),
    /// One that Go has and rustls has not.
    Absent(&'static str),
}

impl fmt::Debug for Curve {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Offered(group) => write!(formatter, "{:?}", group.name()),
            Self::Absent(name) => formatter.write_str(name),
        }
    }
}

impl<'de> Deserialize<'de> for Curve {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        Ok(match name.as_str() {
            "CurveP256" => Self::Offered(kx_group::SECP256R1),
            "CurveP384" => Self::Offered(kx_group::SECP384R1),
            "CurveP521" => Self::Absent("CurveP521"),
            "X25519" => Self::Offered(kx_group::X25519),
            _ => {
                return Err(de::Error::custom(format!(
                    "unknown curve `{name}`: give CurveP256, CurveP384, CurveP521 or X25519"
                )));
            }
        })
    }
}

/// The hash of a password.
#[derive(Clone, Debug)]
pub(super) struct BcryptHash {
    pub text: Secret,
    pub cost: u32,
}

impl<'de> Deserialize<'de> for BcryptHash {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        // Whatever stands there instead may be the password itself: it is not repeated.
        let parts: HashParts = text.parse().map_err(|error| {
            de::Error::custom(format!(
                "not a bcrypt hash ({error}): `htpasswd -nBC 10 \"\" | tr -d ':\\n'` makes one"
            ))
        })?;
        let cost = parts.get_cost();
        if !(4..=HIGHEST_COST).contains(&cost) {
            return Err(de::Error::custom(format!(
                "a bcrypt hash of cost {cost}: give one of 4 to {HIGHEST_COST}, 10 is usual"
            )));
        }
        Ok(Self {
            text: Secret::from(text),
            cost,
        })
    }
}

/// The value of a header.
#[derive(Clone, Debug)]
pub(super) struct HeaderText(pub HeaderValue);

impl<'de> Deserialize<'de> for HeaderText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let value = HeaderValue::from_str(&text);
        value
            .map(Self)
            .map_err(|_| de::Error::custom("not the value of an HTTP header: it has control characters"))
    }
}

/// As Go's `time.ParseDuration` reads it; a bare number is nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct GoDuration(pub Duration);

impl<'de> Deserialize<'de> for GoDuration {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        go_duration(&text)
            .map(Self)
            .ok_or_else(|| de::Error::custom(format!("`{text}` is not a duration: write 500ms, 1s or 1m30s")))
    }
}

fn go_duration(text: &str) -> Option<Duration> {
    if let Ok(nanos) = text.parse() {
        return Some(Duration::from_nanos(nanos));
    }
    let mut rest = text;
    let mut seconds = 0.0;
    while !rest.is_empty() {
        let unit_at = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let (number, tail) = rest.split_at(unit_at);
        let unit_ends = tail
            .find(|c: char| c.is_ascii_digit() || c == '.')
            .unwrap_or(tail.len());
        let (unit, after) = tail.split_at(unit_ends);
        let scale = match unit {
            "ns" => 1e-9,
            "us" | "µs" | "μs" => 1e-6,
            "ms" => 1e-3,
            "s" => 1.0,
            "m" => 60.0,
            "h" => 3_600.0,
            _ => return None,
        };
        seconds += number.parse::<f64>().ok()? * scale;
        rest = after;
    }
    (!text.is_empty())
        .then(|| Duration::try_from_secs_f64(seconds).ok())
        .flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_as_go_writes_them() {
        assert_eq!(go_duration("1s"), Some(Duration::from_secs(1)));
        assert_eq!(go_duration("1m30.5s"), Some(Duration::from_millis(90_500)));
        assert_eq!(go_duration("0"), Some(Duration::ZERO));
        assert_eq!(go_duration("250"), Some(Duration::from_nanos(250)));
        for wrong in ["", "s", "1 s", "-1s", "1d", "1s2"] {
            assert_eq!(go_duration(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn every_suite_of_rustls_has_gos_name() {
        for suite in ALL_CIPHER_SUITES {
            let name = go_name(suite.suite().as_str().unwrap());
            let read: Suite = serde_saphyr::from_str(&name).unwrap();
            assert!(!matches!(read, Suite::Absent(_)), "{name}");
        }
    }
}
