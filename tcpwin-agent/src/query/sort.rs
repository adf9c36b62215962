//! In which order: a list of fields, each the other way round with a `-` before it.

use std::cmp::Ordering;
use std::fmt;
use std::net::SocketAddr;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::FilterError;
use super::field::{self, Field, Kind};
use super::subject::{Glimpse, Subject};
use crate::snapshot::{Connection, figures};

/// Most fields in one order.
const MOST: usize = 8;

/// An order of connections: by the first field, where that is equal by the second, and so on. What is not known comes last.
#[derive(Clone, Debug, PartialEq)]
pub struct Sort {
    by: Vec<By>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct By {
    field: &'static Field,
    /// Against the natural order: numbers fall, texts rise, and by `limit` the sickest come first.
    inverted: bool,
}

/// The sickest first.
impl Default for Sort {
    fn default() -> Self {
        Self::natural("limit")
    }
}

impl FromStr for Sort {
    type Err = FilterError;

    /// `rate`, `-rate`, `limit,-age`.
    fn from_str(text: &str) -> Result<Self, FilterError> {
        let mut by = Vec::new();
        let mut column = 0;
        for part in text.split(',') {
            let at = column + part.chars().take_while(|c| c.is_whitespace()).count();
            column += part.chars().count() + 1;
            let part = part.trim();
            let (inverted, name) = part.strip_prefix('-').map_or((false, part), |name| (true, name));
            let message = match field::find(name) {
                _ if by.len() == MOST => format!("more than {MOST} fields"),
                _ if name.is_empty() => "a field name comes here, such as `rate` or `-rate`".to_owned(),
                Some(field) => {
                    by.push(By { field, inverted });
                    continue;
                }
                None => field::unknown(name),
            };
            let column = at + usize::from(inverted);
            return Err(FilterError { column, message });
        }
        Ok(Self { by })
    }
}

impl fmt::Display for Sort {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, by) in self.by.iter().enumerate() {
            let comma = if at > 0 { "," } else { "" };
            let sign = if by.inverted { "-" } else { "" };
            write!(formatter, "{comma}{sign}{}", by.field.name)?;
        }
        Ok(())
    }
}

/// By its text.
impl Serialize for Sort {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// By its text.
impl<'de> Deserialize<'de> for Sort {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(de::Error::custom)
    }
}

impl Sort {
    /// The fastest first.
    #[must_use]
    pub fn fastest() -> Self {
        Self::natural("rate")
    }

    /// The same with its first field the other way round.
    #[must_use]
    pub(crate) fn inverted(mut self) -> Self {
        if let Some(first) = self.by.first_mut() {
            first.inverted = !first.inverted;
        }
        self
    }

    /// By one field; by none if there is no such field.
    pub(crate) fn natural(name: &str) -> Self {
        let by = field::find(name).map(|field| By {
            field,
            inverted: false,
        });
        Self {
            by: by.into_iter().collect(),
        }
    }

    /// Fields by name, the first one first, and if each is the other way round.
    pub fn fields(&self) -> impl Iterator<Item = (&'static str, bool)> {
        self.by.iter().map(|by| (by.field.name, by.inverted))
    }

    /// The first `most` of `chosen`, which are indices into `connections`, in order. Keys are worked out once for each
    /// connection, never in a comparison; connections that are equal in all of them keep the order they come in, which is by
    /// id: quiet rows do not jump between ticks.
    #[must_use]
    pub fn arrange(&self, connections: &[Arc<Connection>], chosen: &[u32], most: usize) -> Vec<u32> {
        let of = |index: u32| Subject::from(&*connections[index as usize]);
        self.places(chosen, of, most)
    }

    /// Glimpses in order, as indices; those that are equal stay as they stand.
    #[must_use]
    pub fn arrange_glimpses(&self, glimpses: &[Glimpse<'_>]) -> Vec<u32> {
        let all: Vec<u32> = (0..).take(glimpses.len()).collect();
        let of = |index: u32| Subject::from(&glimpses[index as usize]);
        self.places(&all, of, all.len())
    }

    fn places<'a>(&self, chosen: &[u32], of: impl Fn(u32) -> Subject<'a>, most: usize) -> Vec<u32> {
        let width = self.by.len();
        let mut keys = Vec::with_capacity(chosen.len() * width);
        for index in chosen {
            keys.extend(self.by.iter().map(|by| by.key(of(*index))));
        }
        let compare = |a: &usize, b: &usize| {
            let (these, those) = (&keys[a * width..][..width], &keys[b * width..][..width]);
            let pairs = self.by.iter().zip(these.iter().zip(those));
            pairs
                .map(|(by, (this, that))| this.compare(that, by.inverted))
                .find(|order| order.is_ne())
                .unwrap_or_else(|| a.cmp(b))
        };
        let mut places: Vec<usize> = (0..chosen.len()).collect();
        if 0 < most && most < places.len() {
            places.select_nth_unstable_by(most - 1, compare);
        }
        places.truncate(most);
        // The stable sort, since it finds the many that are idle in order already.
        places.sort_by(compare);
        places.into_iter().map(|at| chosen[at]).collect()
    }
}

/// What a connection is ordered by; numbers are negated, so that all keys rise.
#[derive(Clone, Copy, Debug)]
enum Key<'a> {
    Unknown,
    /// Class of sickness, and what the limit withholds.
    Sickness(u8, f64),
    Number(f64),
    Address(SocketAddr),
    Text(&'a str),
}

impl Key<'_> {
    fn compare(&self, other: &Self, inverted: bool) -> Ordering {
        let order = match (self, other) {
            (Self::Unknown, Self::Unknown) => return Ordering::Equal,
            (Self::Unknown, _) => return Ordering::Greater,
            (_, Self::Unknown) => return Ordering::Less,
            (Self::Sickness(a, x), Self::Sickness(b, y)) => a.cmp(b).then(x.total_cmp(y)),
            (Self::Number(a), Self::Number(b)) => a.total_cmp(b),
            (Self::Address(a), Self::Address(b)) => a.cmp(b),
            (Self::Text(a), Self::Text(b)) => a.cmp(b),
            // Keys of one field are of one kind.
            _ => Ordering::Equal,
        };
        if inverted { order.reverse() } else { order }
    }
}

impl By {
    fn key(self, subject: Subject<'_>) -> Key<'_> {
        if matches!(self.field.name, "limit" | "bound" | "sick") {
            let severity = subject.limit().map_or(u8::MAX, figures::severity_of);
            return Key::Sickness(severity, -subject.withheld_bps());
        }
        let text = |text: Option<_>| text.map_or(Key::Unknown, Key::Text);
        match &self.field.kind {
            Kind::Choice(_, of) => text(of(subject)),
            Kind::Text(of) => text(of(subject)),
            Kind::Endpoint(of) => of(subject).parse().map_or(Key::Unknown, Key::Address),
            Kind::Number(_, of) => of(subject).map_or(Key::Unknown, |number| Key::Number(-number)),
        }
    }
}
