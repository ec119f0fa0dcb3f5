//! Points at which the composition of counts changes over time.

use super::Random;
use rayon::prelude::*;
use std::ops::Range;

/// Minimum number of rows between two changes.
const MIN_ROWS: usize = 2;
/// Number of random shuffles per block length from which the penalty is estimated.
const SHUFFLES: u64 = 99;
/// Number of blocks of the longer block length. Neighbouring rows may be correlated, so both single rows and blocks
/// of `rows / BLOCKS` rows are shuffled.
const BLOCKS: usize = 40;
/// Multiple of the median squared difference above which a difference is treated as a change.
const OUTLIER: f64 = 9.0;
/// Factor between the gain of several changes and the same number of times the gain of the best single one.
const SEVERAL: f64 = 1.3;

/// Returns the rows at which the composition of counts changes, in order.
///
/// Each row has the counts by category of one of several consecutive stretches of time. The changes are found by
/// optimal partitioning (B. Jackson and others, IEEE Signal Process. Lett. 12:105, 2005) of the multinomial
/// likelihood. The penalty per change is the gain of the best change in rows without changes, which are simulated by
/// shuffling the differences between neighbouring rows.
pub fn change_points(rows: &[Vec<f64>]) -> Vec<usize> {
    if rows.len() < 2 * MIN_ROWS {
        return Vec::new();
    }
    let counts = Counts::new(rows);
    let blocks = [1, rows.len().div_ceil(BLOCKS)];
    let penalties = blocks.into_iter().map(|block| counts.penalty(block));
    // Counts that never vary would have a penalty of zero.
    let least = 2.0 * (rows.len() as f64).ln();
    counts.partition(penalties.fold(least, f64::max))
}

/// Cumulative sums of the counts before each row.
struct Counts<'a> {
    rows: &'a [Vec<f64>],
    before: Vec<Vec<f64>>,
}

impl Counts<'_> {
    fn new(rows: &[Vec<f64>]) -> Counts<'_> {
        let mut before = vec![vec![0.0; rows.first().map_or(0, Vec::len)]];
        for row in rows {
            let last = &before[before.len() - 1];
            before.push(
                last.iter()
                    .zip(row)
                    .map(|(sum, count)| sum + count)
                    .collect(),
            );
        }
        Counts { rows, before }
    }

    /// Returns twice the negative log-likelihood of `rows` under their best-fitting composition.
    fn cost(&self, rows: Range<usize>) -> f64 {
        let [from, to] = [&self.before[rows.start], &self.before[rows.end]];
        cost(from.iter().zip(to).map(|(from, to)| to - from))
    }

    /// Returns the changes of least total cost, where each change costs `penalty`.
    fn partition(&self, penalty: f64) -> Vec<usize> {
        let len = self.rows.len();
        let mut least = vec![f64::INFINITY; len + 1];
        let mut last = vec![0; len + 1];
        least[0] = -penalty;
        for end in MIN_ROWS..=len {
            let starts = (0..=end - MIN_ROWS).filter(|&start| least[start].is_finite());
            let starts: Vec<usize> = starts.collect();
            let costs = starts.par_iter().with_min_len(64);
            let costs: Vec<f64> = costs
                .map(|&start| least[start] + penalty + self.cost(start..end))
                .collect();
            for (start, cost) in starts.into_iter().zip(costs) {
                if cost < least[end] {
                    (least[end], last[end]) = (cost, start);
                }
            }
        }
        let mut changes = Vec::new();
        let mut end = last[len];
        while end > 0 {
            changes.push(end);
            end = last[end];
        }
        changes.reverse();
        changes
    }

    /// Returns the largest gain of the best change among shuffled differences, in any order and with either sign.
    fn penalty(&self, block: usize) -> f64 {
        let differences = self.differences(block);
        let all: f64 = differences.iter().map(|difference| difference.size).sum();
        let gains = (0..SHUFFLES).into_par_iter().map(|seed| {
            let mut random = Random::new(seed);
            let order = shuffled(0..differences.len(), 1, &mut random);
            let signed: Vec<(usize, f64)> = order
                .into_iter()
                .map(|ix| (ix, [1.0, -1.0][random.below(2)]))
                .collect();
            best_gain(&differences, &signed, all)
        });
        SEVERAL * gains.reduce(|| 0.0, f64::max)
    }

    /// Returns the differences between neighbouring blocks of `block` rows.
    fn differences(&self, block: usize) -> Vec<Difference> {
        let starts: Vec<usize> = (0..=self.rows.len()).step_by(block).collect();
        let sums: Vec<Vec<f64>> = starts
            .windows(2)
            .map(|rows| {
                let [from, to] = [&self.before[rows[0]], &self.before[rows[1]]];
                from.iter().zip(to).map(|(from, to)| to - from).collect()
            })
            .collect();
        let pairs = sums.windows(2).map(|pair| {
            let [a, b] = [pair[0].iter().sum::<f64>(), pair[1].iter().sum::<f64>()];
            let by_category = pair[0].iter().zip(&pair[1]).map(|(x, y)| {
                let part = (x + y) / (a + b);
                match part > 0.0 {
                    // In units of the standard deviation expected by chance for a block of this size.
                    true => (x * b - y * a) / (a + b) * (1.0 + a / b.max(1.0)).sqrt() / part.sqrt(),
                    false => 0.0,
                }
            });
            Difference {
                size: a,
                by_category: by_category.collect(),
            }
        });
        let pairs = pairs.filter(|difference| difference.size > 0.0);
        without_outliers(pairs.collect())
    }
}

/// Shrinks outliers among the differences: blocks on both sides of a change differ by more than chance.
fn without_outliers(mut differences: Vec<Difference>) -> Vec<Difference> {
    let length = |difference: &Difference| {
        let squares = difference.by_category.iter().map(|x| x * x);
        squares.sum::<f64>() / difference.size
    };
    let mut lengths: Vec<f64> = differences.iter().map(length).collect();
    lengths.sort_unstable_by(f64::total_cmp);
    let most = OUTLIER * lengths.get(lengths.len() / 2).copied().unwrap_or(0.0);
    for difference in &mut differences {
        let factor = (most / length(difference)).sqrt();
        if factor < 1.0 {
            difference.by_category.iter_mut().for_each(|x| *x *= factor);
        }
    }
    differences
}

/// The difference in counts between a block of rows and the next one, by category.
struct Difference {
    /// Sum of the block's counts.
    size: f64,
    by_category: Vec<f64>,
}

/// Returns the gain of the best change for these differences in the given order and with the given signs.
fn best_gain(differences: &[Difference], order: &[(usize, f64)], all: f64) -> f64 {
    let categories = differences
        .first()
        .map_or(0, |first| first.by_category.len());
    let add = |sums: &mut Vec<f64>, (ix, sign): (usize, f64)| {
        for (sum, difference) in sums.iter_mut().zip(&differences[ix].by_category) {
            *sum += sign * difference;
        }
    };
    let mut whole = vec![0.0; categories];
    order.iter().for_each(|&one| add(&mut whole, one));
    let mut left = vec![0.0; categories];
    let (mut size, mut best) = (0.0, 0.0_f64);
    for &one in &order[..order.len().saturating_sub(1)] {
        add(&mut left, one);
        size += differences[one.0].size;
        let part = size / all;
        let gain = left
            .iter()
            .zip(&whole)
            .map(|(left, whole)| (left - part * whole).powi(2));
        best = best.max(gain.sum::<f64>() / (all * part * (1.0 - part)));
    }
    best
}

fn cost(counts: impl Iterator<Item = f64>) -> f64 {
    let (mut sum, mut logs) = (0.0_f64, 0.0_f64);
    for count in counts.filter(|&count| count > 0.0) {
        sum += count;
        logs += count * count.ln();
    }
    if sum > 0.0 {
        2.0 * (sum * sum.ln() - logs)
    } else {
        0.0
    }
}

/// Returns the indices in `part`, with blocks of `block` of them in random order.
pub(super) fn shuffled(part: Range<usize>, block: usize, random: &mut Random) -> Vec<usize> {
    let mut starts: Vec<usize> = part.clone().step_by(block).collect();
    let len = starts.len();
    for ix in 0..len {
        starts.swap(ix, ix + random.below(len - ix));
    }
    let blocks = starts.into_iter();
    blocks
        .flat_map(|start| start..(start + block).min(part.end))
        .collect()
}
