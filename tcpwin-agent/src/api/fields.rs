//! A part of each connection, by the JSON's names: `id,peer,tcp.srtt_us`.

use axum::http::StatusCode;
use serde::Serialize as _;
use serde::de::{DeserializeOwned, Deserializer, Error as _, Visitor, value::Error};
use serde_json::{Map, Value};

use crate::query;
use crate::snapshot::{Budget, Calls, Ceiling, Connection, Prevailing, Process, TcpFields};

use super::Refusal;

/// Names, each of one level or of two.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fields(Vec<(String, Option<String>)>);

impl Fields {
    /// From names with commas between.
    pub(super) fn read(text: &str) -> Result<Self, Refusal> {
        let names = text.split(',').map(|name| field(name.trim()));
        names.collect::<Result<_, _>>().map(Self)
    }

    /// What of `connection` they name. What is not known is absent.
    pub(super) fn of(&self, connection: &Connection) -> Value {
        // Strings, numbers and maps with string keys: they have their like in JSON.
        let whole = connection
            .serialize(serde_json::value::Serializer)
            .unwrap_or_default();
        let mut part = Map::new();
        for (name, below) in &self.0 {
            match (whole.get(name), below) {
                (Some(value), None) => {
                    part.insert(name.clone(), value.clone());
                }
                (Some(value), Some(below)) => {
                    let Some(value) = value.get(below) else { continue };
                    let object = part.entry(name).or_insert_with(|| Map::new().into());
                    object[below] = value.clone();
                }
                (None, _) => {}
            }
        }
        part.into()
    }
}

fn field(name: &str) -> Result<(String, Option<String>), Refusal> {
    let (first, below) = name
        .split_once('.')
        .map_or((name, None), |(first, below)| (first, Some(below)));
    let known = |names: &[&str], name: &str| names.contains(&name);
    if known(names::<Connection>(), first) && below.is_none_or(|below| known(names_below(first), below)) {
        return Ok((first.to_owned(), below.map(str::to_owned)));
    }
    let meant = query::json_name(name).map_or_else(
        || {
            format!(
                "there are {} and tcp.{}",
                names::<Connection>().join(" "),
                names::<TcpFields>().join(" tcp.")
            )
        },
        |json| format!("did you mean {json}?"),
    );
    let why = format!("fields: no field `{name}` in a connection's JSON; {meant}");
    Err(Refusal(StatusCode::BAD_REQUEST, why))
}

/// Names in the objects within a connection.
fn names_below(name: &str) -> &'static [&'static str] {
    match name {
        "tcp" => names::<TcpFields>(),
        "process" => names::<Process>(),
        "next" => names::<Ceiling>(),
        "prevailing" => names::<Prevailing>(),
        "budget" => names::<Budget>(),
        "calls" => names::<Calls>(),
        _ => &[],
    }
}

/// The names of a struct's fields, as serde knows them.
fn names<T: DeserializeOwned>() -> &'static [&'static str] {
    let mut asked = Asked(&[]);
    // It always fails: only what is asked for matters.
    let _ = T::deserialize(&mut asked);
    asked.0
}

struct Asked(&'static [&'static str]);

impl<'de> Deserializer<'de> for &mut Asked {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Error> {
        Err(Error::custom("only asked for its names"))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.0 = fields;
        self.deserialize_any(visitor)
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}
