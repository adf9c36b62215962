//! Presets: looks with a name, and the one the screen began with.

use super::column::Columns;
use super::state::State;
use crate::query::{Filter, Sort};

/// A look with a name. What it does not say is as at the start.
#[derive(Clone, Debug, PartialEq)]
pub struct Preset {
    /// Its name.
    pub name: String,
    /// Columns of the table.
    pub columns: Option<Columns>,
    /// Order of the table.
    pub sort: Option<Sort>,
    /// What is shown.
    pub filter: Option<Filter>,
    /// Only the sick.
    pub sick: Option<bool>,
}

/// The presets there are, and the look to come back to.
#[derive(Clone, Debug, Default)]
pub(crate) struct Presets {
    pub(crate) all: Vec<Preset>,
    /// Which is on.
    at: Option<usize>,
    start: Option<Start>,
}

#[derive(Clone, Debug)]
struct Start {
    columns: Columns,
    sort: Sort,
    filter: Filter,
    sick: bool,
}

/// Puts the next preset on, after the last the look of the start.
pub(crate) fn next(state: &mut State) {
    let count = state.presets.all.len();
    if count == 0 {
        state.message =
            Some("there are no presets: [top.presets.NAME] of the settings file has them".to_owned());
        return;
    }
    let next = state.presets.at.map_or(0, |at| at + 1);
    put_on(state, (next < count).then_some(next));
}

/// Puts the preset of this name on.
pub(crate) fn named(state: &mut State, name: &str) {
    match state.presets.all.iter().position(|preset| preset.name == name) {
        Some(at) => put_on(state, Some(at)),
        None => {
            let names: Vec<&str> = state.presets.all.iter().map(|preset| &*preset.name).collect();
            let there_are = match &*names {
                [] => "there are none".to_owned(),
                names => format!("there are {}", names.join(", ")),
            };
            state.message = Some(format!("no preset `{name}`; {there_are}"));
        }
    }
}

/// Puts a preset on, or the look of the start.
fn put_on(state: &mut State, at: Option<usize>) {
    let start = state.presets.start.get_or_insert_with(|| Start {
        columns: state.chosen.clone(),
        sort: state.sort.clone(),
        filter: state.filter.clone(),
        sick: state.sick_only,
    });
    let preset = at.and_then(|at| state.presets.all.get(at));
    let of_preset = |preset: &Preset| {
        (
            preset.columns.clone(),
            preset.sort.clone(),
            preset.filter.clone(),
            preset.sick,
        )
    };
    let (columns, sort, filter, sick) = preset.map_or((None, None, None, None), of_preset);
    state.chosen = columns.unwrap_or_else(|| start.columns.clone());
    state.sort = sort.unwrap_or_else(|| start.sort.clone());
    state.filter = filter.unwrap_or_else(|| start.filter.clone());
    state.sick_only = sick.unwrap_or(start.sick);
    let name = preset.map_or("as at the start", |preset| &preset.name);
    state.message = Some(format!("preset: {name}"));
    state.presets.at = at;
    state.rearrange();
}
