//! Which of the functions that cost enough to tell stayed, and whether most were replaced.
//!
//! What most functions did is what the [normalisation](super::normalise) rests on. A function that came
//! or went is no reference function, though it did change: where most did, those that stayed say nothing of the rest.

use super::counts::Counts;
use super::normalise::AVERAGED;
use super::pair::Pair;

/// Samples that a function needs in every run of a side to tell: below that, its ratio is mostly noise.
const MIN_SAMPLES: u64 = 10;

/// The functions with at least [`MIN_SAMPLES`] samples in every run of a side.
#[derive(Debug)]
pub(super) struct Stayed {
    /// Those that have them in every run of both sides.
    pub(super) on_both: Vec<usize>,
    /// Those of each side that have less than one sample a run on the other. Chance does not make that
    /// of 10.
    pub(super) on_one: Pair<Vec<usize>>,
}

impl Stayed {
    pub(super) fn of(counts: &Counts) -> Stayed {
        let split = counts.split;
        let runs = Pair::new(split, counts.runs.len() - split).map(|runs| runs as u64);
        let mut stayed = Stayed {
            on_both: Vec::new(),
            on_one: Pair::new(Vec::new(), Vec::new()),
        };
        for function in 0..counts.functions() {
            let tells = counts
                .of(function)
                .map(|mut runs| runs.all(|samples| samples >= MIN_SAMPLES));
            let sums = counts.sums(function);
            if tells.baseline && tells.candidate {
                stayed.on_both.push(function);
            } else if tells.baseline && sums.candidate < runs.candidate {
                stayed.on_one.baseline.push(function);
            } else if tells.candidate && sums.baseline < runs.baseline {
                stayed.on_one.candidate.push(function);
            }
        }
        stayed
    }

    /// How many came and went, where those that stayed are less than the part that the trimmed mean
    /// averages: with those that came or went at its ends, their ratios being infinite, it would have none.
    /// `is_renamed` says which have only got another name.
    pub(super) fn most_replaced(&self, is_renamed: impl Fn(usize) -> bool) -> Option<Replaced> {
        let count = |functions: &Vec<usize>| functions.iter().filter(|&&f| !is_renamed(f)).count();
        let gone = count(&self.on_one.baseline);
        let new = count(&self.on_one.candidate);
        let stayed = self.on_both.len();
        let is_most = (stayed as f64) < AVERAGED * (stayed + gone + new) as f64;
        is_most.then_some(Replaced { gone, new, stayed })
    }
}

/// How many functions that cost enough to tell are gone, new, and on both sides.
#[derive(Clone, Copy, Debug)]
pub(super) struct Replaced {
    pub(super) gone: usize,
    pub(super) new: usize,
    pub(super) stayed: usize,
}
