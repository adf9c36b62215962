//! What a dashboard is made of, and what each expression says while the flows of the suite `prometheus` run.

/// One dashboard.
pub struct Dashboard {
    /// Its address and the name of its file.
    pub uid: &'static str,
    /// Its title.
    pub title: &'static str,
    /// What it answers.
    pub about: &'static str,
    /// Its rows, from the top.
    pub rows: Vec<Row>,
}

impl Dashboard {
    /// Every expression, with the title of its panel.
    pub fn queries(&self) -> impl Iterator<Item = (&'static str, &Query)> {
        let panels = self.rows.iter().flat_map(|row| &row.panels);
        panels.flat_map(|panel| panel.queries.iter().map(|query| (panel.title, query)))
    }
}

/// Panels under one heading.
pub struct Row {
    /// The heading.
    pub title: &'static str,
    /// From the left.
    pub panels: Vec<Panel>,
}

/// One panel.
pub struct Panel {
    /// Its title.
    pub title: &'static str,
    /// What it shows and how to read it.
    pub about: &'static str,
    /// How it is drawn.
    pub view: View,
    /// Grafana's name of the unit.
    pub unit: &'static str,
    /// What it asks for.
    pub queries: Vec<Query>,
}

/// How a panel is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum View {
    /// The newest value, large.
    Stat,
    /// A line a series over time.
    Lines,
    /// Areas on top of each other: series that add up to something.
    Stacked,
    /// The newest values as bars.
    Bars,
}

impl View {
    /// Whether only the newest value is shown.
    pub const fn is_instant(self) -> bool {
        matches!(self, Self::Stat | Self::Bars)
    }

    /// Width and height on Grafana's grid, which is 24 wide.
    pub const fn size(self) -> (u32, u32) {
        match self {
            Self::Stat => (6, 4),
            Self::Lines | Self::Stacked | Self::Bars => (12, 8),
        }
    }
}

/// One expression.
#[derive(Clone, Copy)]
pub struct Query {
    /// PromQL; `@` at the head of a selector stands for the chosen jobs and instances.
    short: &'static str,
    /// Name of its series, with their labels.
    pub legend: &'static str,
    /// What it says while the suite's flows run.
    pub expect: Expect,
}

/// What the values of an expression add up to while the flows of the suite run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Expect {
    /// Something within these bounds.
    Between(f64, f64),
    /// Nothing, or nought or more: no flow of the suite makes it, or not every kernel counts it.
    Maybe,
}

impl Expect {
    /// What is wrong with the values of an expression's series, if anything is.
    pub fn fault(self, values: &[f64]) -> Option<String> {
        let sum: f64 = values.iter().sum();
        if values.iter().any(|value| !value.is_finite() || *value < 0.0) {
            return (self != Self::Maybe || values.iter().any(|value| *value < 0.0))
                .then(|| format!("{values:?} is no figure"));
        }
        match self {
            Self::Maybe => None,
            Self::Between(..) if values.is_empty() => Some("no data".to_owned()),
            Self::Between(low, high) if (low..=high).contains(&sum) => None,
            Self::Between(low, high) => Some(format!("{sum} is not within {low} and {high}")),
        }
    }
}

impl Query {
    /// An expression and the name of its series.
    pub const fn new(short: &'static str, legend: &'static str, expect: Expect) -> Self {
        Self {
            short,
            legend,
            expect,
        }
    }

    /// The expression as Grafana asks for it.
    pub fn expr(&self) -> String {
        self.short.replace("{@", r#"{job=~"$job", instance=~"$instance""#)
    }
}
