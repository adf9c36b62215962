//! How often a figure took which value, in the buckets of Prometheus' native histograms.

/// Buckets to a factor of two: each is 19 % wider than the one before, so that a quantile is off by 9 % at most.
const PER_OCTAVE: i32 = 4;
/// What is not above 2^-20 (a microsecond, or nothing) is counted as zero.
const ZERO_OCTAVE: i32 = -20;
/// What is above 2^44 (sixteen terabytes, or half a million years) is counted as that.
const LAST_OCTAVE: i32 = 44;
/// The roots between one and two, 2^(1/4) to 2^(3/4).
const ROOTS: [f64; 3] = [
    1.189_207_115_002_721,
    std::f64::consts::SQRT_2,
    1.681_792_830_507_429,
];

/// Counts by exponential bucket. Bucket `i` holds what is above 2^((i-1)/4) and not above 2^(i/4): schema 2 of
/// Prometheus' native histograms. The bounds of classic ones are powers of two, so that their counts are exact too.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Distribution {
    count: u64,
    sum: f64,
    zero: u64,
    /// Number of the first bucket.
    first: i32,
    buckets: Vec<u64>,
}

impl Distribution {
    /// Its schema, in Prometheus' numbering.
    pub const SCHEMA: i32 = 2;

    /// The largest value that counts as zero.
    #[must_use]
    pub fn zero_threshold() -> f64 {
        f64::from(ZERO_OCTAVE).exp2()
    }

    /// Counts one value. A negative or infinite one, which no figure is, is left out.
    pub fn observe(&mut self, value: f64) {
        if !value.is_finite() || value < 0.0 {
            return;
        }
        self.count += 1;
        self.sum += value;
        if value <= Self::zero_threshold() {
            self.zero += 1;
            return;
        }
        let at = self.place(bucket_of(value).min(LAST_OCTAVE * PER_OCTAVE));
        self.buckets[at] += 1;
    }

    /// Where a bucket is kept; makes room for it.
    fn place(&mut self, bucket: i32) -> usize {
        if self.buckets.is_empty() {
            self.first = bucket;
        }
        if bucket < self.first {
            let more = vec![0; (self.first - bucket) as usize];
            self.buckets.splice(0..0, more);
            self.first = bucket;
        }
        let at = (bucket - self.first) as usize;
        if at >= self.buckets.len() {
            self.buckets.resize(at + 1, 0);
        }
        at
    }

    /// How many values.
    #[must_use]
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// Their sum.
    #[must_use]
    pub const fn sum(&self) -> f64 {
        self.sum
    }

    /// How many of them were zero.
    #[must_use]
    pub const fn zero(&self) -> u64 {
        self.zero
    }

    /// The number of the first bucket, and the counts from it on.
    #[must_use]
    pub fn buckets(&self) -> (i32, &[u64]) {
        (self.first, &self.buckets)
    }

    /// How many values were not above 2^`octave`.
    #[must_use]
    pub fn up_to_octave(&self, octave: i32) -> u64 {
        let through = octave * PER_OCTAVE - self.first + 1;
        let through = usize::try_from(through).unwrap_or(0).min(self.buckets.len());
        self.zero + self.buckets[..through].iter().sum::<u64>()
    }
}

/// The bucket of a normal positive number, from its exponent and its place between two powers of two.
fn bucket_of(value: f64) -> i32 {
    const MANTISSA_BITS: u32 = f64::MANTISSA_DIGITS - 1;
    const BIAS: i32 = f64::MAX_EXP - 1;
    let bits = value.to_bits();
    let octave = (bits >> MANTISSA_BITS) as i32 - BIAS;
    let between = f64::from_bits(bits & ((1 << MANTISSA_BITS) - 1) | 1.0_f64.to_bits());
    let roots_below = ROOTS.iter().filter(|root| between > **root).count() as i32;
    octave * PER_OCTAVE + roots_below + i32::from(between > 1.0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of(values: &[f64]) -> Distribution {
        let mut distribution = Distribution::default();
        for value in values {
            distribution.observe(*value);
        }
        distribution
    }

    #[test]
    fn powers_of_two_are_the_upper_bounds_of_their_buckets() {
        for octave in ZERO_OCTAVE + 1..=LAST_OCTAVE {
            let power = f64::from(octave).exp2();
            assert_eq!(bucket_of(power), octave * PER_OCTAVE);
            assert_eq!(bucket_of(power.next_up()), octave * PER_OCTAVE + 1);
        }
    }

    #[test]
    fn classic_counts_are_cumulative_and_exact() {
        let seen = of(&[0.0, 0.030, 0.031_25, 0.0313, 4.0, 1e300]);
        assert_eq!(seen.up_to_octave(-21), 1);
        assert_eq!(seen.up_to_octave(-5), 3);
        assert_eq!(seen.up_to_octave(-4), 4);
        assert_eq!(seen.up_to_octave(2), 5);
        assert_eq!(seen.up_to_octave(44), 6);
        assert_eq!((seen.count(), seen.zero()), (6, 1));
    }

    #[test]
    fn what_no_figure_is_is_left_out() {
        assert_eq!(of(&[-1.0, f64::NAN, f64::INFINITY]), Distribution::default());
    }

    proptest! {
        #[test]
        fn every_value_is_within_its_bucket(value in 1e-6_f64..1e13) {
            let bucket = f64::from(bucket_of(value));
            let (below, upper) = (((bucket - 1.0) / 4.0).exp2(), (bucket / 4.0).exp2());
            prop_assert!(below * (1.0 - 1e-12) < value && value <= upper * (1.0 + 1e-12));
        }

        #[test]
        fn nothing_is_lost_and_memory_is_bounded(values in prop::collection::vec(0.0_f64..1e20, 0..100)) {
            let seen = of(&values);
            let (_, buckets) = seen.buckets();
            prop_assert_eq!(seen.count(), values.len() as u64);
            prop_assert_eq!(seen.zero() + buckets.iter().sum::<u64>(), seen.count());
            prop_assert!(buckets.len() <= ((LAST_OCTAVE - ZERO_OCTAVE) * PER_OCTAVE) as usize);
        }
    }
}
