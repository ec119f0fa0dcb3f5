//! Bins of x, for points whose x are never exactly equal.

use serde::{Deserialize, Serialize};

/// Bins of x.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Bins {
    /// This number of bins of equal width.
    EqualWidth(u32),
    /// This number of bins with equally many points. Points with the same x are in the same bin.
    EqualCount(u32),
}

impl Bins {
    /// Replaces the x of each point by the mean x of all points in its bin. The sides have the same bins.
    pub fn apply(self, sides: &mut [Vec<(f64, f64)>]) {
        let mut x: Vec<f64> = sides.iter().flatten().map(|point| point.0).collect();
        x.sort_unstable_by(f64::total_cmp);
        let (Some(&low), Some(&high)) = (x.first(), x.last()) else {
            return;
        };
        let bin_of = |at: f64| match self {
            Bins::EqualWidth(bins) => (((at - low) / (high - low) * f64::from(bins)) as usize)
                .min(bins.saturating_sub(1) as usize),
            Bins::EqualCount(bins) => x.partition_point(|x| *x < at) * bins as usize / x.len(),
        };
        // Distances from the first x of a bin, so that the mean of equal x is exact.
        let mean = |bin: &[f64]| {
            let distances = bin.iter().map(|x| x - bin[0]);
            bin[0] + distances.sum::<f64>() / bin.len() as f64
        };
        let bins = x.chunk_by(|a, b| bin_of(*a) == bin_of(*b));
        let means: Vec<(usize, f64)> = bins.map(|bin| (bin_of(bin[0]), mean(bin))).collect();
        for point in sides.iter_mut().flatten() {
            let bin = bin_of(point.0);
            let place = means.partition_point(|(other, _)| *other < bin);
            point.0 = means.get(place).map_or(point.0, |(_, mean)| *mean);
        }
    }
}
