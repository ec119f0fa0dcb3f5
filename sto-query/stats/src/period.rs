//! Detection of a period in the composition of counts over time.

use super::Random;
use super::change_points::shuffled;
use rayon::prelude::*;

/// Number of principal components that are examined.
const COMPONENTS: usize = 3;
/// Number of power iterations for a component.
const STEPS: usize = 60;
/// Number of shuffles; a period must exceed the peaks in all of them.
const SHUFFLES: u64 = 99;
/// Minimum number of repetitions.
const MIN_CYCLES: usize = 3;
/// Minimum number of blocks in which rows are shuffled.
const MIN_BLOCKS: usize = 20;
/// Share of the highest peak that an earlier peak must reach to be taken as the period.
const FIRST: f64 = 0.8;
/// Share of the first peak that peaks at its multiples must reach to refine the period.
const LATER: f64 = 0.3;

/// A period of repeating counts.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Period {
    /// Rows from one repetition to the next.
    pub rows: f64,
    /// Deviation of each row from the mean along the first principal component; its sign says which of the two phases
    /// of a cycle the row is in.
    pub sides: Vec<f64>,
}

/// Finds the period of counts by category over consecutive rows; `None` if they do not repeat.
///
/// The period is the lag of the first high peak of the autocorrelation of the counts' components, measured above the
/// trough half a period earlier. It must exceed such peaks in shuffled rows, whose blocks are as long as the
/// correlation between neighbouring rows.
pub fn period(rows: &[Vec<f64>]) -> Option<Period> {
    if rows.len() < 4 * MIN_CYCLES {
        return None;
    }
    let series = components(rows);
    let order: Vec<usize> = (0..rows.len()).collect();
    let own = Correlogram::new(&series, &order);
    let peak = own.highest()?;
    let block = own.decay().clamp(1, (rows.len() / MIN_BLOCKS).max(1));
    let is_exceeded = (0..SHUFFLES).into_par_iter().any(|seed| {
        let order = shuffled(0..rows.len(), block, &mut Random::new(seed));
        let other = Correlogram::new(&series, &order);
        other
            .highest()
            .is_some_and(|highest| other.contrast(highest) >= own.contrast(peak))
    });
    if is_exceeded || own.contrast(peak) <= 0.0 {
        return None;
    }
    let first = own.first_like(peak);
    Some(Period {
        rows: own.refined(first),
        sides: series.into_iter().next()?,
    })
}

/// Autocorrelations by lag, up to the longest lag that allows the minimum number of repetitions.
struct Correlogram(Vec<f64>);

impl Correlogram {
    fn new(series: &[Vec<f64>], order: &[usize]) -> Correlogram {
        let len = order.len();
        let series: Vec<Vec<f64>> = series
            .iter()
            .map(|series| order.iter().map(|&row| series[row]).collect())
            .collect();
        let variance: f64 = series.iter().flatten().map(|x| x * x).sum::<f64>() / len as f64;
        let at = |lag: usize| {
            let products = series.iter().map(|series| -> f64 {
                series.iter().zip(&series[lag..]).map(|(a, b)| a * b).sum()
            });
            products.sum::<f64>() / (len - lag) as f64 / variance.max(f64::MIN_POSITIVE)
        };
        Correlogram((0..=len / MIN_CYCLES).map(at).collect())
    }

    /// Returns the difference between the autocorrelation at a lag and at half that lag.
    fn contrast(&self, lag: usize) -> f64 {
        let half = (self.0[lag / 2] + self.0[lag.div_ceil(2)]) / 2.0;
        self.0[lag] - half
    }

    fn is_peak(&self, lag: usize) -> bool {
        let around = [lag - 1, lag + 1];
        around
            .iter()
            .all(|&other| self.0.get(other).is_none_or(|r| *r <= self.0[lag]))
    }

    fn peaks(&self) -> impl Iterator<Item = usize> {
        (2..self.0.len()).filter(|&lag| self.is_peak(lag) && self.0[lag] > 0.0)
    }

    fn highest(&self) -> Option<usize> {
        self.peaks()
            .max_by(|&a, &b| self.contrast(a).total_cmp(&self.contrast(b)))
    }

    fn first_like(&self, peak: usize) -> usize {
        let high = FIRST * self.contrast(peak);
        let mut peaks = self.peaks();
        peaks
            .find(|&lag| self.contrast(lag) >= high)
            .unwrap_or(peak)
    }

    /// Returns the lag from which rows are uncorrelated.
    fn decay(&self) -> usize {
        let low = self.0.iter().position(|&r| r <= 0.0);
        low.unwrap_or(self.0.len())
    }

    /// Refines a period with the peaks at its multiples.
    fn refined(&self, lag: usize) -> f64 {
        let mut period = self.top(lag);
        let mut multiple = 1;
        while (multiple as f64 * 2.0 + 0.25) * period < self.0.len() as f64 {
            multiple *= 2;
            let expected = multiple as f64 * period;
            let reach = (period / 4.0).max(1.0);
            let [from, to] = [expected - reach, expected + reach].map(|lag| lag.round() as usize);
            let to = to.min(self.0.len() - 1);
            let Some(peak) = (from..=to).max_by(|&a, &b| self.0[a].total_cmp(&self.0[b])) else {
                break;
            };
            if self.0[peak] < LATER * self.0[lag] || !self.is_peak(peak) {
                break;
            }
            period = self.top(peak) / multiple as f64;
        }
        period
    }

    /// Returns the vertex of the parabola through a peak and its neighbours.
    fn top(&self, peak: usize) -> f64 {
        let Some(&[before, at, after]) = self.0.get(peak - 1..=peak + 1) else {
            return peak as f64;
        };
        let bend = before - 2.0 * at + after;
        if bend < 0.0 {
            peak as f64 + ((before - after) / 2.0 / bend).clamp(-0.5, 0.5)
        } else {
            peak as f64
        }
    }
}

/// Returns the principal components of the composition: the deviations of each row from its expected counts, in units
/// of their standard deviation by chance.
fn components(rows: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let categories = rows[0].len();
    let mut sums = vec![0.0; categories];
    for row in rows {
        for (sum, count) in sums.iter_mut().zip(row) {
            *sum += count;
        }
    }
    let all: f64 = sums.iter().sum();
    let deviations: Vec<Vec<f64>> = rows
        .iter()
        .map(|row| {
            let of_row: f64 = row.iter().sum();
            let deviation = |(count, sum): (&f64, &f64)| {
                if *sum > 0.0 {
                    (count - of_row * sum / all) / (sum / all).sqrt()
                } else {
                    0.0
                }
            };
            row.iter().zip(&sums).map(deviation).collect()
        })
        .collect();
    let mut covariances = vec![vec![0.0; categories]; categories];
    for row in &deviations {
        for (covariances, a) in covariances.iter_mut().zip(row) {
            for (covariance, b) in covariances.iter_mut().zip(row) {
                *covariance += a * b;
            }
        }
    }
    let mut series = Vec::new();
    for _ in 0..COMPONENTS.min(categories) {
        let component = leading(&covariances);
        let project = |row: &Vec<f64>| row.iter().zip(&component).map(|(x, c)| x * c).sum();
        series.push(deviations.iter().map(project).collect());
        let applied = product(&covariances, &component);
        let value: f64 = applied.iter().zip(&component).map(|(a, c)| a * c).sum();
        for (covariances, a) in covariances.iter_mut().zip(&component) {
            for (covariance, b) in covariances.iter_mut().zip(&component) {
                *covariance -= value * a * b;
            }
        }
    }
    series
}

/// Returns the leading eigenvector, by power iteration.
fn leading(matrix: &[Vec<f64>]) -> Vec<f64> {
    let mut vector: Vec<f64> = (0..matrix.len()).map(|ix| 1.0 + ix as f64).collect();
    for _ in 0..STEPS {
        let next = product(matrix, &vector);
        let length = next.iter().map(|x| x * x).sum::<f64>().sqrt();
        if length <= f64::MIN_POSITIVE {
            break;
        }
        vector = next.into_iter().map(|x| x / length).collect();
    }
    let length = vector.iter().map(|x| x * x).sum::<f64>().sqrt();
    vector.into_iter().map(|x| x / length).collect()
}

fn product(matrix: &[Vec<f64>], vector: &[f64]) -> Vec<f64> {
    let row = |row: &Vec<f64>| row.iter().zip(vector).map(|(a, b)| a * b).sum();
    matrix.iter().map(row).collect()
}
