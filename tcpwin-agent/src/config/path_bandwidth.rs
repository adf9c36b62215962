//! `--path-bandwidth`: what paths can carry.

use std::fmt;
use std::str::FromStr;

use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, de};

use super::setting::{Invalid, Setting};
use crate::observation::Prefix;
use crate::units::BytesPerSec;

/// What the paths to the peers in a prefix can carry, or all paths.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PathBandwidth {
    /// Of which peers; all where there is none.
    pub prefix: Option<Prefix>,
    /// How much.
    pub rate: BytesPerSec,
}

impl Setting for PathBandwidth {
    const ALLOWED: &'static str = "a bandwidth from 1kbit to 10Tbit such as \"1Gbit\", or that of the paths to a prefix, \"203.0.113.0/24=1Gbit\"";
}

impl FromStr for PathBandwidth {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        let refused = || Self::refuse(text);
        let (prefix, rate) = match text.split_once('=') {
            Some((prefix, rate)) => (Some(prefix.parse().map_err(|_| refused())?), rate),
            None => (None, text),
        };
        Ok(Self {
            prefix,
            rate: bandwidth(rate).ok_or_else(refused)?,
        })
    }
}

/// `100Mbit`, `2.5gbit`, `1Gbit/s`; `None` for anything else.
fn bandwidth(text: &str) -> Option<BytesPerSec> {
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.')?;
    let (number, unit) = text.split_at(digits);
    let unit = unit.to_ascii_lowercase();
    let scale = match unit.strip_suffix("/s").unwrap_or(&unit) {
        "kbit" => 1e3,
        "mbit" => 1e6,
        "gbit" => 1e9,
        "tbit" => 1e12,
        _ => return None,
    };
    let bits = number.parse::<f64>().ok()? * scale;
    (1e3..=1e13).contains(&bits).then_some(BytesPerSec(bits / 8.0))
}

/// One of them, or several, as the file may say it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PathBandwidths(pub Vec<PathBandwidth>);

impl<'de> Deserialize<'de> for PathBandwidths {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(OneOrMore)
    }
}

struct OneOrMore;

impl<'de> Visitor<'de> for OneOrMore {
    type Value = PathBandwidths;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}, or a list of these", PathBandwidth::ALLOWED)
    }

    fn visit_str<E: de::Error>(self, value: &str) -> Result<PathBandwidths, E> {
        let one = value.parse().map_err(E::custom)?;
        Ok(PathBandwidths(vec![one]))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<PathBandwidths, A::Error> {
        let mut all = Vec::new();
        while let Some(one) = sequence.next_element()? {
            all.push(one);
        }
        Ok(PathBandwidths(all))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bandwidths_as_people_write_them() {
        for (text, bits) in [
            ("1Gbit", 1e9),
            ("100mbit", 1e8),
            ("2.5Gbit/s", 2.5e9),
            ("64kbit", 64e3),
        ] {
            let parsed: PathBandwidth = text.parse().unwrap();
            assert_eq!((parsed.prefix, parsed.rate.bits()), (None, bits), "{text}");
        }
        let parsed: PathBandwidth = "2001:db8:7::1/48=10Gbit".parse().unwrap();
        assert_eq!(parsed.prefix.unwrap().to_string(), "2001:db8:7::/48");
        for wrong in [
            "",
            "1",
            "1G",
            "1GB",
            "1 Gbit",
            "-1Gbit",
            "0.1kbit",
            "99Tbit",
            "10.0.0.0/40=1Gbit",
            "=1Gbit",
        ] {
            assert!(wrong.parse::<PathBandwidth>().is_err(), "{wrong}");
        }
    }
}
