//! Samples → one figure and its spread.

use serde::Serialize;

/// Median with the least and the greatest sample.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Figure {
    /// The figure.
    pub median: f64,
    /// Least sample.
    pub least: f64,
    /// Greatest sample.
    pub most: f64,
    /// How many samples.
    pub samples: usize,
}

impl Figure {
    /// Of samples; `None` of none.
    pub fn of(samples: &[f64]) -> Option<Self> {
        let mut sorted = samples.to_vec();
        sorted.sort_by(f64::total_cmp);
        let (least, most) = (*sorted.first()?, *sorted.last()?);
        let middle = sorted.len() / 2;
        let median = if sorted.len().is_multiple_of(2) {
            f64::midpoint(sorted[middle - 1], sorted[middle])
        } else {
            sorted[middle]
        };
        Some(Self {
            median,
            least,
            most,
            samples: sorted.len(),
        })
    }

    /// Median of samples with their quartiles instead of the outermost; `None` of none.
    pub fn quartiles(samples: &[f64]) -> Option<Self> {
        let mut sorted = samples.to_vec();
        sorted.sort_by(f64::total_cmp);
        let quarter = sorted.len() / 4;
        Some(Self {
            least: *sorted.get(quarter)?,
            most: *sorted.get(sorted.len() - 1 - quarter)?,
            ..Self::of(samples)?
        })
    }

    /// One value without a spread.
    pub const fn single(value: f64) -> Self {
        Self {
            median: value,
            least: value,
            most: value,
            samples: 1,
        }
    }

    /// Every sample times this.
    pub fn times(self, factor: f64) -> Self {
        Self {
            median: self.median * factor,
            least: self.least * factor,
            most: self.most * factor,
            samples: self.samples,
        }
    }
}

/// The sample that a tenth of them is below: neighbours on the machine only add to CPU time, never take from it.
pub fn fastest_tenth(samples: &[f64]) -> Option<f64> {
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 10).copied()
}

/// Four significant figures at most.
pub fn short(value: f64) -> String {
    let magnitude = value.abs();
    if magnitude >= 100.0 {
        format!("{value:.0}")
    } else if magnitude >= 10.0 {
        format!("{value:.1}")
    } else if magnitude >= 0.1 || magnitude == 0.0 {
        format!("{value:.2}")
    } else {
        format!("{value:.4}")
    }
}

#[cfg(test)]
mod tests {
    use super::Figure;

    #[test]
    fn the_median_is_of_the_middle() {
        let figure = Figure::of(&[5.0, 1.0, 3.0]).unwrap();
        assert_eq!((figure.median, figure.least, figure.most), (3.0, 1.0, 5.0));
        assert_eq!(Figure::of(&[1.0, 2.0]).unwrap().median, 1.5);
        assert!(Figure::of(&[]).is_none());
    }
}
