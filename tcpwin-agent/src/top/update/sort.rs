//! The order of the table and of the lists.

use crate::query::Sort;
use crate::top::column::Column;
use crate::top::order;
use crate::top::state::State;

/// Sorts by the column at `x`.
pub(super) fn at(state: &mut State, x: u16) {
    let is_at = |left: u16, width: u16| (left..left + width).contains(&x);
    let column = state
        .columns()
        .into_iter()
        .find(|place| is_at(place.x, place.width));
    let field = state.spots().into_iter().find(|spot| is_at(spot.x, spot.width));
    if let Some(sorted) = state.grid_sort() {
        if let Some(field) = field {
            *sorted = sorted.by(field.field);
            state.rearrange();
        }
    } else if let Some(place) = column {
        by(state, order::by(&state.sort, place.column));
    }
}

/// Sorts by the next column.
pub(super) fn next(state: &mut State) {
    let shown = state.spots().len();
    match state.grid_sort() {
        Some(_) if shown > 0 => {
            let to = grid_column(state).map_or(0, |at| (at + 1) % shown);
            sort_grid(state, to);
        }
        Some(_) => {}
        None => by(state, order::next(&state.sort)),
    }
}

/// Sorts the other way round.
pub(super) fn inverted(state: &mut State) {
    match state.grid_sort() {
        Some(sorted) => {
            sorted.inverted = !sorted.inverted;
            state.rearrange();
        }
        None => by(state, state.sort.clone().inverted()),
    }
}

fn by(state: &mut State, sort: Sort) {
    state.sort = sort;
    state.rearrange();
}

/// Which of the columns on the screen the list is sorted by.
fn grid_column(state: &mut State) -> Option<usize> {
    let field = state.grid_sort()?.field?;
    state.spots().iter().position(|spot| spot.field == field)
}

/// Sorts the list by a column on the screen.
fn sort_grid(state: &mut State, column: usize) {
    let Some(field) = state.spots().get(column).map(|spot| spot.field) else {
        return;
    };
    if let Some(sorted) = state.grid_sort().filter(|sorted| sorted.field != Some(field)) {
        *sorted = sorted.by(field);
        state.rearrange();
    }
}

/// Sorts by the column on the screen `step` to the right of the one sorted by.
pub(super) fn beside(state: &mut State, step: isize) {
    if state.grid_sort().is_some() {
        let last = state.spots().len().saturating_sub(1);
        let to = grid_column(state).map_or(0, |at| at.saturating_add_signed(step).min(last));
        return sort_grid(state, to);
    }
    let shown = state.columns().into_iter().map(|place| place.column);
    let shown: Vec<Column> = shown.filter(|column| *column != Column::Trend).collect();
    let now = order::column(&state.sort);
    let at = shown.iter().position(|column| Some(*column) == now).unwrap_or(0);
    let to = at.saturating_add_signed(step).min(shown.len().saturating_sub(1));
    if let Some(column) = shown.get(to).filter(|column| Some(**column) != now) {
        by(state, order::natural(*column));
    }
}
