//! Which columns the reader wants, in which order and how wide.

use std::collections::HashSet;
use std::fmt;
use std::str::FromStr;

use super::{Column, UnknownColumn};

/// A column that was chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Chosen {
    pub(crate) column: Column,
    /// Cells; by its text where the reader did not say.
    pub(crate) width: Option<u16>,
}

/// Columns in their order; none for those that the width of the screen decides.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Columns(Vec<Chosen>);

/// What is wrong with a list of columns.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ColumnsError {
    /// There is no such column.
    #[error(transparent)]
    Unknown(#[from] UnknownColumn),
    /// A width that is no width.
    #[error("`{0}` is no width of a column: give {least} to {most} cells", least = Columns::LEAST, most = Columns::MOST)]
    Width(String),
    /// A column stands twice.
    #[error("the column `{0}` stands twice")]
    Twice(&'static str),
    /// Nothing would be seen.
    #[error("a table needs a column; leave the list out for those that fit the screen")]
    None,
}

impl Columns {
    /// Least width of a column.
    pub(crate) const LEAST: u16 = 3;
    /// Greatest width of a column.
    pub(crate) const MOST: u16 = 200;

    /// From what was chosen; each once, at least one.
    pub(crate) fn new(chosen: Vec<Chosen>) -> Result<Self, ColumnsError> {
        let mut seen = HashSet::new();
        for one in &chosen {
            if !seen.insert(one.column) {
                return Err(ColumnsError::Twice(one.column.spec().name));
            }
            if let Some(width) = one
                .width
                .filter(|width| !(Self::LEAST..=Self::MOST).contains(width))
            {
                return Err(ColumnsError::Width(width.to_string()));
            }
        }
        if chosen.is_empty() {
            return Err(ColumnsError::None);
        }
        Ok(Self(chosen))
    }

    /// If the width of the screen decides.
    pub(crate) fn is_automatic(&self) -> bool {
        self.0.is_empty()
    }

    /// What was chosen, in order.
    pub(crate) fn chosen(&self) -> &[Chosen] {
        &self.0
    }
}

impl FromStr for Columns {
    type Err = ColumnsError;

    /// `limit,rate,peer=40`.
    fn from_str(text: &str) -> Result<Self, ColumnsError> {
        let one = |text: &str| -> Result<Chosen, ColumnsError> {
            let (name, width) = text
                .split_once('=')
                .map_or((text, None), |(name, width)| (name, Some(width)));
            let read = |width: &str| {
                width
                    .trim()
                    .parse()
                    .map_err(|_| ColumnsError::Width(width.to_owned()))
            };
            Ok(Chosen {
                column: name.trim().parse()?,
                width: width.map(read).transpose()?,
            })
        };
        Self::new(text.split(',').map(one).collect::<Result<_, _>>()?)
    }
}

impl fmt::Display for Columns {
    /// As `--columns` takes it.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, one) in self.0.iter().enumerate() {
            let comma = if at > 0 { "," } else { "" };
            write!(formatter, "{comma}{}", one.column.spec().name)?;
            if let Some(width) = one.width {
                write!(formatter, "={width}")?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_reads_back_as_it_is_written() {
        let text = "peer=40,limit,trend";
        assert_eq!(text.parse::<Columns>().unwrap().to_string(), text);
        assert!(Columns::default().is_automatic());
    }

    #[test]
    fn a_wrong_list_says_why() {
        let error = |text: &str| text.parse::<Columns>().unwrap_err().to_string();
        assert!(error("limit,speed").starts_with("no column `speed`"));
        assert_eq!(error("limit,peer,limit"), "the column `limit` stands twice");
        assert_eq!(
            error("peer=wide"),
            "`wide` is no width of a column: give 3 to 200 cells"
        );
        assert_eq!(
            error("peer=2"),
            "`2` is no width of a column: give 3 to 200 cells"
        );
        assert!(error("").starts_with("no column ``"));
    }
}
