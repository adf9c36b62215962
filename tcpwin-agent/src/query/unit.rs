//! Numbers as people write them.

/// What a bare number means and which units it may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    Count,
    /// 0 to 1 inside and outside.
    Share,
    Bytes,
    /// Bits per second.
    Rate,
    /// Microseconds inside, milliseconds where no unit is written.
    Rtt,
    /// Microseconds inside, seconds where no unit is written.
    Age,
    Percent,
}

impl Unit {
    /// Units and what one is in the field's own measure; the first is the one meant without any.
    const fn scales(self) -> &'static [(&'static str, f64)] {
        match self {
            Self::Count => &[("", 1.0), ("k", 1e3), ("m", 1e6)],
            Self::Share => &[("", 1.0)],
            Self::Bytes => &[
                ("b", 1.0),
                ("k", 1024.0),
                ("kb", 1024.0),
                ("kib", 1024.0),
                ("m", 1_048_576.0),
                ("mb", 1_048_576.0),
                ("mib", 1_048_576.0),
                ("g", 1_073_741_824.0),
                ("gb", 1_073_741_824.0),
                ("gib", 1_073_741_824.0),
            ],
            Self::Rate => &[
                ("bit", 1.0),
                ("bps", 1.0),
                ("k", 1e3),
                ("kbit", 1e3),
                ("kbps", 1e3),
                ("m", 1e6),
                ("mbit", 1e6),
                ("mbps", 1e6),
                ("g", 1e9),
                ("gbit", 1e9),
                ("gbps", 1e9),
            ],
            Self::Rtt => &[("ms", 1e3), ("us", 1.0), ("µs", 1.0), ("s", 1e6)],
            Self::Age => &[
                ("s", 1e6),
                ("us", 1.0),
                ("ms", 1e3),
                ("m", 60e6),
                ("h", 3_600e6),
                ("d", 86_400e6),
            ],
            Self::Percent => &[("%", 1.0)],
        }
    }

    /// The unit whose one is one inside: numbers written with it lose nothing.
    pub(super) const fn plain(self) -> &'static str {
        match self {
            Self::Count | Self::Share => "",
            Self::Bytes => "b",
            Self::Rate => "bit",
            Self::Rtt | Self::Age => "us",
            Self::Percent => "%",
        }
    }

    /// What may be written, for people.
    pub(super) const fn example(self) -> &'static str {
        match self {
            Self::Count => "a number such as 10 or 5k",
            Self::Share => "a number from 0 to 1",
            Self::Bytes => "an amount such as 1500 or 64KiB",
            Self::Rate => "a rate such as 500kbit or 10M",
            Self::Rtt => "a time such as 50ms or 300us",
            Self::Age => "a time such as 30s or 5m",
            Self::Percent => "a share such as 1%",
        }
    }

    /// A number with or without a unit.
    pub(super) fn read(self, text: &str) -> Result<f64, String> {
        let (number, unit) = split(text);
        self.scaled(text, number, unit)
    }

    /// `10..50ms`; a lower end without a unit has the upper one's.
    pub(super) fn range(self, text: &str) -> Option<Result<(f64, f64), String>> {
        let (low, high) = text.split_once("..")?;
        Some(self.ends(low, high))
    }

    fn ends(self, low: &str, high: &str) -> Result<(f64, f64), String> {
        let (number, unit) = split(low);
        let upper = split(high).1;
        let from = self.scaled(low, number, if unit.is_empty() { upper } else { unit })?;
        let to = self.read(high)?;
        if from > to {
            return Err(format!("nothing is in this range: {low} is more than {high}"));
        }
        Ok((from, to))
    }

    fn scaled(self, text: &str, number: &str, unit: &str) -> Result<f64, String> {
        let wrong = || format!("`{text}` is no number: give {}", self.example());
        let number: f64 = number.parse().map_err(|_| wrong())?;
        let unit = unit.strip_suffix("/s").unwrap_or(unit);
        let scales = self.scales();
        let scale = if unit.is_empty() {
            Some(scales[0].1)
        } else {
            let known = scales.iter().find(|(name, _)| name.eq_ignore_ascii_case(unit));
            known.map(|(_, scale)| *scale)
        };
        let Some(scale) = scale else {
            let names: Vec<_> = scales
                .iter()
                .map(|(name, _)| *name)
                .filter(|name| !name.is_empty())
                .collect();
            return Err(if names.is_empty() {
                format!("no unit `{unit}` here: give {}", self.example())
            } else {
                format!("no unit `{unit}` here; there are {}", names.join(" "))
            });
        };
        Some(number * scale)
            .filter(|number| number.is_finite())
            .ok_or_else(|| format!("`{text}` is too large"))
    }
}

/// Digits and what follows them.
fn split(text: &str) -> (&str, &str) {
    let end = text
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(text.len());
    text.split_at(end)
}
