//! Readings as dots: two by four in a cell where braille can be shown, else one in a cell.

use super::series::Reading;

/// Where readings are drawn.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    pub(super) columns: usize,
    pub(super) rows: usize,
    pub(super) from_ns: u64,
    pub(super) to_ns: u64,
    /// Value at the upper edge; zero is at the lower.
    pub(super) top: f64,
    /// Readings further apart are not joined: nobody looked in between.
    pub(super) gap_ns: u64,
}

impl Frame {
    /// The readings to be drawn: those in the frame, and one before it for the line that comes in.
    pub(super) fn seen<'a>(&self, readings: &'a [Reading]) -> &'a [Reading] {
        let from = readings.partition_point(|reading| reading.at_ns < self.from_ns);
        let to = readings.partition_point(|reading| reading.at_ns <= self.to_ns);
        &readings[from.saturating_sub(1).min(to)..to]
    }

    /// The column of a moment among `columns`.
    pub(super) fn column(&self, at_ns: u64, columns: usize) -> Option<usize> {
        let span = self.to_ns.checked_sub(self.from_ns).filter(|span| *span > 0)?;
        let into = at_ns.checked_sub(self.from_ns).filter(|into| *into <= span)?;
        let column = (into as f64 / span as f64 * columns as f64) as usize;
        Some(column.min(columns.checked_sub(1)?))
    }
}

/// Lowest and highest dot of a line in each column, counted from below.
fn ranges(frame: &Frame, readings: &[Reading], wide: usize, high: usize) -> Vec<Option<(usize, usize)>> {
    let mut ranges = vec![None; wide];
    if wide == 0 || high == 0 || frame.top <= 0.0 || frame.to_ns <= frame.from_ns {
        return ranges;
    }
    let span = (frame.to_ns - frame.from_ns) as f64;
    let x = |reading: &Reading| (reading.at_ns as f64 - frame.from_ns as f64) / span * wide as f64;
    let dot = |value: f64| ((value / frame.top * high as f64).max(0.0) as usize).min(high - 1);
    let mut put = |column: usize, value: f64| {
        if let Some(range) = ranges.get_mut(column) {
            let dot = dot(value);
            let (low, up) = range.unwrap_or((dot, dot));
            *range = Some((dot.min(low), dot.max(up)));
        }
    };
    let last = wide as f64 - 1.0;
    for (at, reading) in readings.iter().enumerate() {
        if !reading.value.is_finite() {
            continue;
        }
        let here = x(reading);
        if here >= 0.0 {
            put(here.min(last) as usize, reading.value);
        }
        let joined = readings.get(at + 1).filter(|next| {
            next.value.is_finite() && next.at_ns.saturating_sub(reading.at_ns) <= frame.gap_ns
        });
        let Some(next) = joined else { continue };
        let (from, to) = (here, x(next));
        if to <= from {
            continue;
        }
        // The line at both edges of each column it crosses, so that steep parts have no holes.
        let value = |x: f64| {
            reading.value + (next.value - reading.value) * ((x - from) / (to - from)).clamp(0.0, 1.0)
        };
        for column in from.max(0.0) as usize..=to.min(last) as usize {
            put(column, value((column as f64).max(from)));
            put(column, value((column as f64 + 1.0).min(to)));
        }
    }
    ranges
}

/// A line in braille: the lower bits of U+2800 by cell, rows from above; 0 where nothing is.
pub(super) fn braille(frame: &Frame, readings: &[Reading]) -> Vec<Vec<u8>> {
    /// Dots of a cell by column and by row from above.
    const DOTS: [[u8; 4]; 2] = [[0x01, 0x02, 0x04, 0x40], [0x08, 0x10, 0x20, 0x80]];
    let mut cells = vec![vec![0_u8; frame.columns]; frame.rows];
    for (x, range) in ranges(frame, readings, frame.columns * 2, frame.rows * 4)
        .into_iter()
        .enumerate()
    {
        let Some((low, high)) = range else { continue };
        for dot in low..=high {
            let from_above = frame.rows * 4 - 1 - dot;
            cells[from_above / 4][x / 2] |= DOTS[x % 2][from_above % 4];
        }
    }
    cells
}

/// A line in whole cells, rows from above.
pub(super) fn blocks(frame: &Frame, readings: &[Reading]) -> Vec<Vec<bool>> {
    let mut cells = vec![vec![false; frame.columns]; frame.rows];
    for (x, range) in ranges(frame, readings, frame.columns, frame.rows)
        .into_iter()
        .enumerate()
    {
        let Some((low, high)) = range else { continue };
        for dot in low..=high {
            cells[frame.rows - 1 - dot][x] = true;
        }
    }
    cells
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn frame(columns: usize, rows: usize) -> Frame {
        Frame {
            columns,
            rows,
            from_ns: 100,
            to_ns: 200,
            top: 10.0,
            gap_ns: 1_000,
        }
    }

    fn reading(at_ns: u64, value: f64) -> Reading {
        Reading { at_ns, value }
    }

    fn drawn(cells: &[Vec<bool>]) -> Vec<String> {
        let row = |row: &Vec<bool>| row.iter().map(|on| if *on { '*' } else { ' ' }).collect();
        cells.iter().map(row).collect()
    }

    #[test]
    fn a_line_goes_where_the_values_are() {
        let rise = [reading(100, 0.0), reading(200, 9.9)];
        assert_eq!(
            drawn(&blocks(&frame(5, 5), &rise)),
            ["    *", "   **", "  ** ", " **  ", "**   "]
        );
        let steep = [
            reading(100, 0.0),
            reading(149, 0.0),
            reading(151, 10.0),
            reading(200, 10.0),
        ];
        assert_eq!(drawn(&blocks(&frame(4, 3), &steep)), ["  **", " ** ", "**  "]);
    }

    #[test]
    fn what_nobody_saw_is_not_drawn() {
        let gap = [reading(110, 5.0), reading(120, f64::NAN), reading(190, 5.0)];
        assert_eq!(drawn(&blocks(&frame(10, 1), &gap)), [" *       *"]);
        let far = Frame {
            gap_ns: 10,
            ..frame(10, 1)
        };
        let apart = [reading(110, 5.0), reading(190, 5.0)];
        assert_eq!(drawn(&blocks(&far, &apart)), [" *       *"]);
    }

    #[test]
    fn a_line_comes_in_from_before_the_frame() {
        let readings = [
            reading(10, 1.0),
            reading(50, 5.0),
            reading(150, 5.0),
            reading(300, 1.0),
        ];
        let frame = frame(10, 1);
        assert_eq!(frame.seen(&readings), &readings[1..3]);
        assert_eq!(drawn(&blocks(&frame, frame.seen(&readings))), ["******    "]);
    }

    proptest! {
        #[test]
        fn no_reading_leaves_the_frame(
            columns in 0_usize..60, rows in 0_usize..12, from in any::<u64>(), span in 0_u64..1_000, top in -1.0..1e12_f64,
            readings in prop::collection::vec((any::<u64>(), any::<f64>()), 0..50),
        ) {
            let mut readings: Vec<Reading> = readings.into_iter().map(|(at_ns, value)| reading(at_ns, value)).collect();
            readings.sort_by_key(|reading| reading.at_ns);
            let frame = Frame { columns, rows, from_ns: from, to_ns: from.saturating_add(span), top, gap_ns: u64::MAX };
            let seen = frame.seen(&readings);
            prop_assert_eq!(braille(&frame, seen).len(), rows);
            prop_assert_eq!(blocks(&frame, seen).len(), rows);
            for reading in seen {
                prop_assert!(frame.column(reading.at_ns, columns).is_none_or(|column| column < columns));
            }
        }
    }
}
