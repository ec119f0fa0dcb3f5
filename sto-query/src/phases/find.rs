//! Detection of phases and periods.

use super::composition::categories;
use sto_core::tree::{NodeIx, SliceGrid, StackTree};
use sto_core::units::Nanoseconds;
use sto_stats::{change_points, period};

/// Maximum number of stretches of time for finding changes and for finding a period.
const STRETCHES: usize = 256;
const PERIOD_STRETCHES: usize = 1024;
/// Mean number of samples per stretch.
const SAMPLES: u64 = 8;
/// Minimum number of stretches for detection.
const MIN_STRETCHES: usize = 8;
/// Minimum share of the cost that moves between consecutive phases.
const MIN_CHANGE: f64 = 0.1;
/// Number of repetitions from which changes within them are not phases.
const MANY_CYCLES: f64 = 10.0;

/// Samples of a run by slice and node, in one sample type.
pub(crate) struct CostOverTime<'a> {
    pub(crate) tree: &'a StackTree,
    pub(crate) grid: SliceGrid,
    pub(crate) samples: Vec<(u32, NodeIx, u64)>,
}

/// Borders of phases, and the period of the run.
pub(crate) struct PhaseBorders {
    /// First slice of each phase, and the end of the last one.
    pub(crate) slices: Vec<u32>,
    /// Mean length of a stretch, which is the precision of the borders.
    pub(crate) stretch: Nanoseconds,
    /// The period, and for each slice which of two parts of the cycle it belongs to.
    pub(crate) period: Option<(Nanoseconds, Vec<bool>)>,
}

/// Finds the changes in the composition of cost.
pub(crate) fn borders(cost: &CostOverTime) -> PhaseBorders {
    let count = cost.grid.count().get();
    let mut of_nodes = vec![0; cost.tree.len()];
    for &(_, node, samples) in &cost.samples {
        of_nodes[node.get()] += samples;
    }
    let all: u64 = of_nodes.iter().sum();
    let (category_of, categories) = categories(cost.tree, &of_nodes);
    let rows = |borders: &[u32]| {
        let mut stretch_of = vec![0_usize; count as usize];
        for (ix, slices) in borders.windows(2).enumerate() {
            stretch_of[slices[0] as usize..slices[1] as usize].fill(ix);
        }
        let mut rows = vec![vec![0.0; categories]; borders.len() - 1];
        for &(slice, node, samples) in &cost.samples {
            rows[stretch_of[slice as usize]][category_of[node.get()] as usize] += samples as f64;
        }
        rows
    };
    let most = |samples: u64| usize::try_from(all / samples).unwrap_or(usize::MAX);
    let stretches = STRETCHES.min(count as usize).min(most(SAMPLES));
    let whole = |stretches: usize| PhaseBorders {
        slices: vec![0, count],
        stretch: Nanoseconds(cost.grid.duration().0 / stretches.max(1) as u64),
        period: None,
    };
    if stretches < MIN_STRETCHES {
        return whole(stretches);
    }
    let fine = evenly(
        count,
        f64::from(count) / PERIOD_STRETCHES.min(count as usize).min(most(1)) as f64,
    );
    let period = period(&rows(&fine)).map(|found| {
        let slices = found.rows * f64::from(count) / (fine.len() - 1) as f64;
        let mut sides = vec![false; count as usize];
        for (slices, side) in fine.windows(2).zip(found.sides) {
            sides[slices[0] as usize..slices[1] as usize].fill(side > 0.0);
        }
        (slices, sides)
    });
    let mut length = f64::from(count) / stretches as f64;
    if let Some((slices, _)) = &period
        && f64::from(count) / slices >= MANY_CYCLES
    {
        length = slices * (length / slices).ceil();
    }
    let borders = evenly(count, length);
    let stretches = borders.len() - 1;
    let mut found = whole(stretches);
    if stretches >= MIN_STRETCHES {
        let rows = rows(&borders);
        let changes = change_points(&rows);
        let changes = without_small(&rows, changes);
        found.slices = changes.into_iter().map(|change| borders[change]).collect();
        found.slices.insert(0, 0);
        found.slices.push(count);
    }
    found.period = period.map(|(slices, sides)| {
        let time = slices / f64::from(count) * cost.grid.duration().0 as f64;
        (Nanoseconds(time.round() as u64), sides)
    });
    found
}

/// Returns the borders of stretches of this length, in slices.
fn evenly(count: u32, length: f64) -> Vec<u32> {
    let stretches = (f64::from(count) / length).round().max(1.0) as u32;
    let mut borders: Vec<u32> = (0..stretches)
        .map(|ix| (f64::from(ix) * length).round() as u32)
        .collect();
    borders.push(count);
    borders.dedup();
    borders
}

/// Removes changes of less than [`MIN_CHANGE`], smallest first.
fn without_small(rows: &[Vec<f64>], mut changes: Vec<usize>) -> Vec<usize> {
    loop {
        let borders: Vec<usize> = [0]
            .into_iter()
            .chain(changes.iter().copied())
            .chain([rows.len()])
            .collect();
        let shares: Vec<Vec<f64>> = borders
            .windows(2)
            .map(|b| shares(&rows[b[0]..b[1]]))
            .collect();
        let elsewhere = |pair: &[Vec<f64>]| {
            let differences = pair[0].iter().zip(&pair[1]).map(|(a, b)| (a - b).abs());
            differences.sum::<f64>() / 2.0
        };
        let changed: Vec<f64> = shares.windows(2).map(elsewhere).collect();
        let smallest = (0..changed.len()).min_by(|&a, &b| changed[a].total_cmp(&changed[b]));
        match smallest.filter(|&ix| changed[ix] < MIN_CHANGE) {
            Some(ix) => changes.remove(ix),
            None => return changes,
        };
    }
}

/// Returns the share of each category in some rows.
fn shares(rows: &[Vec<f64>]) -> Vec<f64> {
    let mut sums = vec![0.0; rows[0].len()];
    for row in rows {
        for (sum, count) in sums.iter_mut().zip(row) {
            *sum += count;
        }
    }
    let all: f64 = sums.iter().sum::<f64>().max(1.0);
    sums.into_iter().map(|sum| sum / all).collect()
}
