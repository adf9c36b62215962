//! The axes: round upper ends and short labels.

/// What a value counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    /// Bits per second, by thousands.
    Bits,
    /// Bytes, by 1,024s.
    Bytes,
    /// Microseconds, written in milliseconds.
    Micros,
    Segments,
}

impl Unit {
    /// What one is in, at this size of value, and its prefix.
    fn scale(self, value: f64) -> (f64, &'static str) {
        const DECIMAL: [&str; 5] = ["", "k", "M", "G", "T"];
        const BINARY: [&str; 5] = ["", "Ki", "Mi", "Gi", "Ti"];
        let (base, names) = match self {
            Self::Micros => return (1_000.0, ""),
            Self::Bytes => (1_024.0, BINARY),
            Self::Bits | Self::Segments => (1_000.0, DECIMAL),
        };
        let mut scale = 1.0;
        let mut at = 0;
        while value / scale >= base && at + 1 < names.len() {
            (scale, at) = (scale * base, at + 1);
        }
        (scale, names[at])
    }

    /// The unit's name beside a title.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Bits => "bit/s",
            Self::Bytes => "bytes",
            Self::Micros => "ms",
            Self::Segments => "segments",
        }
    }

    /// A round value that is not below `peak`: 1, 1.5, 2, 2.5, 3, 4, 5, 6 or 8 times a power of ten of the unit's step.
    pub(super) fn round_up(self, peak: f64) -> f64 {
        const STEPS: [f64; 10] = [1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0];
        if !peak.is_finite() || peak <= 0.0 {
            return self.scale(0.0).0;
        }
        let (scale, _) = self.scale(peak);
        let value = peak / scale;
        let power = 10_f64.powf(value.log10().floor());
        let step = STEPS
            .iter()
            .map(|step| step * power)
            // Sums of rounded parts stay below what they are equal to.
            .find(|step| *step >= value * (1.0 - 1e-9));
        step.unwrap_or(value) * scale
    }

    /// A label in at most seven cells.
    pub(super) fn label(self, value: f64) -> String {
        if value <= 0.0 {
            return "0".to_owned();
        }
        let (scale, name) = self.scale(value);
        let value = value / scale;
        let digits = match value {
            v if v >= 100.0 || (v - v.round()).abs() < 1e-6 => 0,
            v if v >= 1.0 => 1,
            v if v >= 0.1 => 2,
            _ => 3,
        };
        let text = format!("{value:.digits$}");
        // Half of a round number has a digit more than it needs.
        let text = if digits > 1 {
            text.trim_end_matches('0')
        } else {
            &text
        };
        format!("{text}{name}")
    }
}

/// How long ago, short: `30s`, `1m30`, `10m`, `2h05`.
pub(super) fn ago(ns: u64) -> String {
    let ms = (ns + 500_000) / 1_000_000;
    let seconds = (ms + 500) / 1_000;
    match seconds {
        0..10 if !ms.is_multiple_of(1_000) => format!("-{}.{}s", ms / 1_000, ms / 100 % 10),
        0..120 => format!("-{seconds}s"),
        120..7_200 if seconds.is_multiple_of(60) => format!("-{}m", seconds / 60),
        120..7_200 => format!("-{}m{:02}", seconds / 60, seconds % 60),
        _ => format!("-{}h{:02}", seconds / 3_600, seconds / 60 % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn upper_ends_are_round_and_above() {
        assert_eq!(Unit::Bits.label(Unit::Bits.round_up(2.85e6)), "3M");
        assert_eq!(Unit::Bytes.label(Unit::Bytes.round_up(65_535.0)), "80Ki");
        assert_eq!(Unit::Bytes.label(Unit::Bytes.round_up(65_536.0 * 1.01)), "80Ki");
        assert_eq!(Unit::Micros.label(Unit::Micros.round_up(181_300.0)), "200");
        assert_eq!(Unit::Micros.label(Unit::Micros.round_up(42.0)), "0.05");
        assert_eq!(Unit::Segments.label(Unit::Segments.round_up(120.0)), "150");
        assert_eq!(Unit::Segments.label(Unit::Segments.round_up(0.0)), "1");
    }

    #[test]
    fn labels_are_short_whatever_the_value() {
        for unit in [Unit::Bits, Unit::Bytes, Unit::Micros, Unit::Segments] {
            let mut value = 1e-3;
            let most = if unit == Unit::Micros {
                f64::from(u32::MAX)
            } else {
                5e12
            };
            while value < most {
                let top = unit.round_up(value);
                assert!(top >= value * 0.999_999, "{unit:?} {value} {top}");
                let label = unit.label(top);
                assert!(label.len() <= 7, "{unit:?} {value}: {label}");
                value *= 1.37;
            }
        }
    }

    #[test]
    fn times_as_people_say_them() {
        assert_eq!(ago(30_000_000_000), "-30s");
        assert_eq!(ago(2_500_000_000), "-2.5s");
        assert_eq!(ago(90_000_000_000), "-90s");
        assert_eq!(ago(600_000_000_000), "-10m");
        assert_eq!(ago(150_000_000_000), "-2m30");
        assert_eq!(ago(9_000_000_000_000), "-2h30");
    }
}
