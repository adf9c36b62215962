//! Rows of the table: what was measured, beside the budget.

use std::fmt::Write as _;

use serde::Serialize;

use crate::bench::stat::{Figure, short};

/// How a figure stands to its budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Judgement {
    /// Within it.
    Ok,
    /// Not.
    FallsShort,
    /// There is no budget for it, or it was measured at another size.
    Told,
    /// Measured by another command.
    Elsewhere,
}

impl Judgement {
    const fn text(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::FallsShort => "FALLS SHORT",
            Self::Told => "–",
            Self::Elsewhere => "elsewhere",
        }
    }
}

/// One row.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// What `--rows` calls it.
    pub group: &'static str,
    /// What was measured.
    pub what: String,
    /// The figure; none where another command gives it.
    pub measured: Option<Figure>,
    /// Its unit.
    pub unit: &'static str,
    /// At most this, in the same unit.
    pub budget: Option<f64>,
    /// How it stands.
    pub judgement: Judgement,
    /// Others in the same run.
    pub peer: String,
    /// How it was measured, or where it comes from.
    pub how: String,
}

impl Row {
    /// A figure with a budget.
    pub fn judged(
        group: &'static str,
        what: impl Into<String>,
        measured: Figure,
        unit: &'static str,
        budget: f64,
    ) -> Self {
        let judgement = if measured.median <= budget {
            Judgement::Ok
        } else {
            Judgement::FallsShort
        };
        Self {
            budget: Some(budget),
            judgement,
            ..Self::told(group, what, measured, unit)
        }
    }

    /// A figure without one.
    pub fn told(group: &'static str, what: impl Into<String>, measured: Figure, unit: &'static str) -> Self {
        Self {
            group,
            what: what.into(),
            measured: Some(measured),
            unit,
            budget: None,
            judgement: Judgement::Told,
            peer: String::new(),
            how: String::new(),
        }
    }

    /// A budget that another command measures.
    pub fn elsewhere(what: &str, how: &str) -> Self {
        Self {
            group: "elsewhere",
            what: what.to_owned(),
            measured: None,
            unit: "",
            budget: None,
            judgement: Judgement::Elsewhere,
            peer: String::new(),
            how: how.to_owned(),
        }
    }

    /// At the budget's size only: otherwise it is told, not judged.
    pub fn only_if(mut self, at_size: bool) -> Self {
        if !at_size && self.judgement != Judgement::Elsewhere {
            self.judgement = Judgement::Told;
        }
        self
    }

    /// With what others cost.
    pub fn beside(mut self, peer: impl Into<String>) -> Self {
        self.peer = peer.into();
        self
    }

    /// With the method.
    pub fn by(mut self, how: impl Into<String>) -> Self {
        self.how = how.into();
        self
    }

    fn cells(&self) -> [String; 6] {
        let measured = match self.measured {
            Some(figure) if figure.samples > 1 => format!(
                "{} {} ({} to {})",
                short(figure.median),
                self.unit,
                short(figure.least),
                short(figure.most)
            ),
            Some(figure) => format!("{} {}", short(figure.median), self.unit),
            None => String::new(),
        };
        let budget = self
            .budget
            .map_or_else(String::new, |budget| format!("≤ {budget} {}", self.unit));
        [
            self.what.clone(),
            measured,
            budget,
            self.judgement.text().to_owned(),
            self.peer.clone(),
            self.how.clone(),
        ]
    }
}

const HEAD: [&str; 6] = [
    "what",
    "measured (spread)",
    "budget",
    "",
    "beside it, same run",
    "how",
];

/// As text for a terminal: one line a row, and the method of each below the table.
pub fn table(rows: &[Row]) -> String {
    let mut lines: Vec<[String; 6]> = vec![HEAD.map(str::to_owned)];
    lines.extend(rows.iter().map(Row::cells));
    let width = |column: usize| {
        lines
            .iter()
            .map(|line| line[column].chars().count())
            .max()
            .unwrap_or(0)
    };
    let widths: [usize; 5] = std::array::from_fn(width);
    let mut text = String::new();
    for line in &lines {
        for (cell, width) in line.iter().zip(widths) {
            let _ = write!(text, "{cell:<width$}  ");
        }
        let _ = writeln!(text);
    }
    let _ = writeln!(text, "\nHow:");
    for row in rows.iter().filter(|row| !row.how.is_empty()) {
        let _ = writeln!(text, "  {}: {}", row.what, row.how);
    }
    text
}

/// As Markdown.
pub fn markdown(rows: &[Row]) -> String {
    let mut text = String::new();
    for (index, cells) in std::iter::once(HEAD.map(str::to_owned))
        .chain(rows.iter().map(Row::cells))
        .enumerate()
    {
        let _ = writeln!(
            text,
            "| {} |",
            cells.map(|cell| cell.replace('|', "\\|")).join(" | ")
        );
        if index == 0 {
            let _ = writeln!(text, "|{}", "---|".repeat(HEAD.len()));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_over_its_budget_falls_short_but_only_at_its_size() {
        let over = Row::judged("cpu", "agent", Figure::single(1.2), "%", 1.0);
        assert_eq!(over.judgement, Judgement::FallsShort);
        assert_eq!(over.clone().only_if(false).judgement, Judgement::Told);
        assert!(table(std::slice::from_ref(&over)).contains("FALLS SHORT"));
        assert_eq!(
            Row::judged("cpu", "agent", Figure::single(0.4), "%", 1.0).judgement,
            Judgement::Ok
        );
    }
}
