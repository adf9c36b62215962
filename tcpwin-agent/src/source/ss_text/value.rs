//! How `ss` writes values, and back.

use std::fmt;

/// How a field's value is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A number of 32 bits. The kernel's own negatives come as 4294967295.
    Count,
    /// A number of 64 bits.
    Total,
    /// Milliseconds, with a fraction where the kernel knows one.
    Millis,
    /// Two of them: `rtt:12.3/0.4`.
    Pair,
    /// Milliseconds with a unit, and their share of the busy time: `209ms(0.0%)`.
    Share,
    /// `7,7`.
    Scale,
    /// Outstanding and in all: `0/15`.
    Ratio,
    /// Bits per second: `9.5Mbps`, and after a slash the most allowed.
    Rate,
    /// `(r0,rb131072,…)`.
    Memory,
    /// Anything in parentheses, and dctcp's `fallback_mode`.
    Group,
    /// `(on,200ms,0)`.
    Timer,
    /// Up to the next blank.
    Text,
}

/// What a field said.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Nothing beside its name.
    Flag,
    /// [`Kind::Count`] and [`Kind::Total`]; a negative that was printed without its sign has it again.
    Count(i128),
    /// [`Kind::Millis`].
    Millis(f64),
    /// [`Kind::Pair`].
    Pair(f64, Option<f64>),
    /// [`Kind::Share`].
    Share(f64, Option<f64>),
    /// [`Kind::Scale`].
    Scale(u8, u8),
    /// [`Kind::Ratio`].
    Ratio(i128, i128),
    /// [`Kind::Rate`], bits per second.
    Rate(f64, Option<f64>),
    /// [`Kind::Memory`]: name and amount.
    Memory(Vec<(String, i128)>),
    /// [`Kind::Timer`]: kind, milliseconds left, times expired.
    Timer(String, Option<u64>, Option<u32>),
    /// [`Kind::Group`] and [`Kind::Text`].
    Text(String),
}

/// Reads a value from the start of a text; gives what is left.
#[must_use]
pub fn take(kind: Kind, text: &str) -> Option<(Value, &str)> {
    match kind {
        Kind::Count => count(text, 32),
        Kind::Total => count(text, 64),
        Kind::Millis => millis(text).map(|(ms, rest)| (Value::Millis(ms), rest)),
        Kind::Pair => pair(text),
        Kind::Share => share(text),
        Kind::Scale => scale(text),
        Kind::Ratio => ratio(text),
        Kind::Rate => take_rate(text, false),
        Kind::Memory => memory(text),
        Kind::Group => group(text),
        Kind::Timer => timer(text),
        Kind::Text => text_value(text),
    }
}

fn count(text: &str, bits: u32) -> Option<(Value, &str)> {
    let (number, rest) = integer(text, bits)?;
    // An amount with a fraction or a unit is none of ours.
    let is_over = !rest.starts_with(['.', ',', '/', '%']);
    is_over.then_some((Value::Count(number), rest))
}

/// A whole number; what is above the sign bit of its width is a negative that lost its sign.
fn integer(text: &str, bits: u32) -> Option<(i128, &str)> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let len = digits.bytes().take_while(u8::is_ascii_digit).count();
    let (digits, rest) = digits.split_at(len);
    // Nothing that the kernel prints is longer than 20 digits.
    let number: i128 = (len <= 20).then(|| digits.parse().ok())??;
    let number = match bits {
        _ if text.starts_with('-') => -number,
        32 if (1 << 31..1 << 32).contains(&number) => number - (1 << 32),
        64 if (1 << 63..1 << 64).contains(&number) => number - (1 << 64),
        _ => number,
    };
    Some((number, rest))
}

/// A number as `%g` prints it.
fn decimal(text: &str) -> Option<(f64, &str)> {
    let bytes = text.as_bytes();
    let digits = |from: usize| {
        bytes[from..]
            .iter()
            .take_while(|byte| byte.is_ascii_digit())
            .count()
    };
    let mut end = digits(0);
    if end == 0 || end > 20 {
        return None;
    }
    if bytes.get(end) == Some(&b'.') {
        let fraction = digits(end + 1);
        if fraction > 0 {
            end += 1 + fraction;
        }
    }
    if matches!(bytes.get(end), Some(b'e' | b'E')) {
        let signed = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        let exponent = bytes
            .get(end + 1 + signed..)
            .map_or(0, |_| digits(end + 1 + signed));
        if exponent > 0 {
            end += 1 + signed + exponent;
        }
    }
    let number: f64 = text[..end].parse().ok()?;
    (number.is_finite() && number < 1e15).then_some((number, &text[end..]))
}

/// Milliseconds, whatever unit somebody wrote behind them.
fn millis(text: &str) -> Option<(f64, &str)> {
    let (number, rest) = decimal(text)?;
    for (unit, factor) in [
        ("msec", 1.0),
        ("ms", 1.0),
        ("usec", 1e-3),
        ("us", 1e-3),
        ("sec", 1e3),
        ("s", 1e3),
    ] {
        let Some(after) = rest.strip_prefix(unit) else {
            continue;
        };
        // `lastsnd:5send` is a lost blank and no unit.
        if !after.starts_with(|letter: char| letter.is_ascii_alphabetic() || letter == '_') {
            return Some((number * factor, after));
        }
    }
    Some((number, rest))
}

fn pair(text: &str) -> Option<(Value, &str)> {
    let (first, rest) = millis(text)?;
    match rest.strip_prefix('/').and_then(millis) {
        Some((second, rest)) => Some((Value::Pair(first, Some(second)), rest)),
        None if rest.starts_with('/') => None,
        None => Some((Value::Pair(first, None), rest)),
    }
}

fn share(text: &str) -> Option<(Value, &str)> {
    let (ms, rest) = millis(text)?;
    let percent = rest.strip_prefix('(').and_then(|inside| {
        let (percent, rest) = decimal(inside)?;
        Some((percent, rest.strip_prefix("%)")?))
    });
    match percent {
        Some((percent, rest)) => Some((Value::Share(ms, Some(percent)), rest)),
        None if rest.starts_with('(') => None,
        None => Some((Value::Share(ms, None), rest)),
    }
}

fn scale(text: &str) -> Option<(Value, &str)> {
    let (snd, rest) = integer(text, 0)?;
    let (rcv, rest) = integer(rest.strip_prefix(',')?, 0)?;
    Some((Value::Scale(snd.try_into().ok()?, rcv.try_into().ok()?), rest))
}

fn ratio(text: &str) -> Option<(Value, &str)> {
    let (out, rest) = integer(text, 32)?;
    let (total, rest) = integer(rest.strip_prefix('/')?, 32)?;
    Some((Value::Ratio(out, total), rest))
}

/// A rate; where a blank stood before it, only with its unit, since any number may follow a word.
#[must_use]
pub fn take_rate(text: &str, is_unit_due: bool) -> Option<(Value, &str)> {
    let (rate, rest) = rate(text, is_unit_due)?;
    match rest
        .strip_prefix('/')
        .and_then(|most| self::rate(most, is_unit_due))
    {
        Some((most, rest)) => Some((Value::Rate(rate, Some(most)), rest)),
        None => Some((Value::Rate(rate, None), rest)),
    }
}

fn rate(text: &str, is_unit_due: bool) -> Option<(f64, &str)> {
    let (number, rest) = decimal(text)?;
    let (factor, after) = match rest.bytes().next() {
        Some(b'k' | b'K') => (1e3, &rest[1..]),
        Some(b'M') => (1e6, &rest[1..]),
        Some(b'G') => (1e9, &rest[1..]),
        Some(b'T') => (1e12, &rest[1..]),
        _ => (1.0, rest),
    };
    // A rate beyond any device's would not stay finite in the arithmetic.
    let bounded = |rate: f64| (rate < 1e18).then_some(rate);
    match after.strip_prefix("bps").or_else(|| after.strip_prefix("bit/s")) {
        Some(rest) => Some((bounded(number * factor)?, rest)),
        None if is_unit_due => None,
        None => Some((bounded(number)?, rest)),
    }
}

/// What stands in the parentheses that open here, and what follows them.
fn parentheses(text: &str) -> Option<(&str, &str)> {
    text.strip_prefix('(')?.split_once(')')
}

fn memory(text: &str) -> Option<(Value, &str)> {
    let (inside, rest) = parentheses(text)?;
    let amounts = inside.split(',').map(|part| {
        let digits = part.find(|letter: char| letter.is_ascii_digit() || letter == '-')?;
        let (name, amount) = part.split_at(digits);
        let (amount, left) = integer(amount, 32)?;
        let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_lowercase());
        (is_name && left.is_empty()).then(|| (name.to_owned(), amount))
    });
    Some((Value::Memory(amounts.collect::<Option<_>>()?), rest))
}

fn group(text: &str) -> Option<(Value, &str)> {
    if let Some(rest) = text.strip_prefix("fallback_mode") {
        return Some((Value::Text("fallback_mode".to_owned()), rest));
    }
    let (inside, rest) = parentheses(text)?;
    is_figures(inside).then(|| (Value::Text(format!("({inside})")), rest))
}

/// If parentheses hold names and numbers alone, as those of `ss` do.
#[must_use]
pub fn is_figures(inside: &str) -> bool {
    inside
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || b"_-+:.,%/".contains(&byte))
}

fn timer(text: &str) -> Option<(Value, &str)> {
    let (inside, rest) = parentheses(text)?;
    let mut parts = inside.split(',');
    let kind = parts.next()?;
    let left = parts.next().unwrap_or("");
    let expired = parts.next().unwrap_or("");
    let is_kind = !kind.is_empty() && kind.bytes().all(|byte| byte.is_ascii_lowercase());
    if !is_kind || parts.next().is_some() {
        return None;
    }
    let left = if left.is_empty() {
        None
    } else {
        Some(expiry(left)?)
    };
    let expired = if expired.is_empty() {
        None
    } else {
        Some(expired.parse().ok()?)
    };
    Some((Value::Timer(kind.to_owned(), left, expired), rest))
}

/// `1min23sec`, `35sec`, `2.456sec`, `030ms` in ms. Older iproute2 prints 1.204 s as `1.204ms`.
fn expiry(text: &str) -> Option<u64> {
    let mut rest = text;
    let mut ms = 0.0;
    while !rest.is_empty() {
        let (number, after) = decimal(rest)?;
        let is_fraction = rest[..rest.len() - after.len()].contains('.');
        let (unit, after) = [
            ("min", 60e3),
            ("sec", 1e3),
            ("ms", 1.0),
            ("s", 1e3),
            ("hour", 3600e3),
        ]
        .iter()
        .find_map(|(unit, factor)| Some((*factor, after.strip_prefix(unit)?)))?;
        let is_mislabelled = is_fraction && (unit - 1.0f64).abs() < 0.5;
        ms += number * if is_mislabelled { 1e3 } else { unit };
        rest = after;
    }
    (0.0..1e15).contains(&ms).then(|| ms.round() as u64)
}

/// Up to the next blank. What is to be a name may have lost the one behind it, but nobody can see where.
fn text_value(text: &str) -> Option<(Value, &str)> {
    (!text.is_empty()).then(|| (Value::Text(text.to_owned()), ""))
}

/// As `ss` writes it; what is read back is equal.
impl fmt::Display for Value {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag => Ok(()),
            Self::Count(number) => write!(to, "{number}"),
            Self::Millis(ms) | Self::Pair(ms, None) => write!(to, "{ms}"),
            Self::Pair(first, Some(second)) => write!(to, "{first}/{second}"),
            Self::Share(ms, None) => write!(to, "{ms}ms"),
            Self::Share(ms, Some(percent)) => write!(to, "{ms}ms({percent}%)"),
            Self::Scale(snd, rcv) => write!(to, "{snd},{rcv}"),
            Self::Ratio(out, total) => write!(to, "{out}/{total}"),
            Self::Rate(rate, None) => write!(to, "{rate}bps"),
            Self::Rate(rate, Some(most)) => write!(to, "{rate}bps/{most}bps"),
            Self::Memory(amounts) => {
                to.write_str("(")?;
                for (at, (name, amount)) in amounts.iter().enumerate() {
                    let comma = if at == 0 { "" } else { "," };
                    write!(to, "{comma}{name}{amount}")?;
                }
                to.write_str(")")
            }
            Self::Timer(kind, left, expired) => {
                write!(to, "({kind},")?;
                left.map_or(Ok(()), |ms| write!(to, "{ms}ms"))?;
                to.write_str(",")?;
                expired.map_or(Ok(()), |count| write!(to, "{count}"))?;
                to.write_str(")")
            }
            Self::Text(text) => to.write_str(text),
        }
    }
}
