//! By how much a function must grow for a comparison to find it.
//!
//! Nobody can make a run slower after it was recorded, but the baseline can be made faster: if each
//! of a function's samples is kept with the chance 1 / c, the other side has c times as many on
//! average. Where counts have the variance m + d m^2, the counts that are left have m/c + d (m/c)^2:
//! as much beyond Poisson as before, as if they had been recorded so. (Multiplying counts would
//! blow up their noise.)

use super::random::Random;
use crate::compare::counts::FunctionCounts;
use crate::compare::evidence::{Direction, Evidence, Setting, Tests, direction};
use crate::compare::pair::Pair;
use crate::compare::variation::Variations;

/// No larger growth is looked for.
const LARGEST: f64 = 1000.0;
/// Halvings of the interval of the logarithm: what is found is right to 0.2 %.
const STEPS: usize = 12;

/// The least growth of a function that the comparison would have found, everything else being as it
/// is; `None` beyond [`LARGEST`].
pub(super) fn least_change(
    seed: u64,
    function: usize,
    tests: &Tests,
    counts: &FunctionCounts,
    variations: &Variations,
    setting: &Setting,
) -> Option<f64> {
    let mut random = Random::new(seed);
    let (row, split) = (counts.attributed.row(function), counts.attributed.split);
    let deviates: Vec<f64> = (0..split).map(|_| random.normal()).collect();
    let limit = largest_p(function, tests, setting.options.alpha);
    let is_found = |change: f64| {
        let mut row = row.clone();
        for (count, deviate) in row.iter_mut().zip(&deviates) {
            *count = thinned(*count, 1.0 / change, *deviate);
        }
        let (baseline, candidate) = row.split_at(split);
        let sum = |side: &[f64]| side.iter().sum::<f64>() as u64;
        let sums = Pair::new(sum(baseline), sum(candidate));
        let share = Pair::new(
            sums.baseline as f64 / setting.samples.baseline as f64,
            sums.candidate as f64 / setting.samples.candidate as f64,
        );
        let min_share = setting.options.min_share;
        let is_large = share.baseline.max(share.candidate) >= min_share
            && share.baseline + share.candidate >= min_share;
        let means = setting.sizes.means(sums);
        let has_grown = direction(means, setting.options.min_effect) == Some(Direction::Up);
        is_large && has_grown && {
            let fit = variations.self_.fit(&row, &setting.design);
            variations.self_.p_value(&fit, &row, &setting.design) <= limit
        }
    };
    let (mut missed, mut found) = (0.0, LARGEST.ln());
    if !is_found(LARGEST) {
        return None;
    }
    for _ in 0..STEPS {
        let middle = (missed + found) / 2.0;
        if is_found(f64::exp(middle)) {
            found = middle;
        } else {
            missed = middle;
        }
    }
    Some(found.exp())
}

/// The p-value up to which a function is called changed, the other tests being as they are: the rule
/// of Benjamini and Hochberg, solved for one of its tests.
fn largest_p(function: usize, tests: &Tests, alpha: f64) -> f64 {
    let p = |evidence: &Evidence| evidence.tested.map(|tested| tested.p);
    let others = tests
        .attributed
        .iter()
        .enumerate()
        .filter(|&(other, _)| other != function)
        .map(|(_, evidence)| evidence);
    let mut others: Vec<f64> = others.chain(&tests.total).filter_map(p).collect();
    others.sort_unstable_by(f64::total_cmp);
    let tests = (others.len() + 1) as f64;
    let limit = |smaller: usize| alpha * (smaller + 1) as f64 / tests;
    let smaller = (0..=others.len())
        .rev()
        .find(|&smaller| smaller == 0 || others[smaller - 1] <= limit(smaller));
    limit(smaller.unwrap_or(0))
}

/// What is left of a count if each sample is kept with this chance: a binomial number, as a normal
/// deviate has it, so that less is left whenever the chance is smaller.
fn thinned(count: f64, chance: f64, deviate: f64) -> f64 {
    let spread = (count * chance * (1.0 - chance)).sqrt();
    (count * chance + deviate * spread)
        .round()
        .clamp(0.0, count)
}
