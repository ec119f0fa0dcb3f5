//! Size factors: how many samples a function that did not change has in each run.
//!
//! Shares mislead: where one function grows, all others' shares shrink, and seem improved. So
//! counts are compared after division by a size factor of their run, in which most functions have
//! a say: the trimmed mean of M values ([`tmm`]).
//!
//! That needs a majority of functions that did not change. A small program may not have one
//! (three functions, of which two got slower), and one changed call can take dozens of library
//! functions with it. But most recordings are of a benchmark that does the same work each time:
//! then a function that did not change costs the same in each run. So if functions that hold a
//! good part of the program did stand still, it is they who vote, and they overrule that the runs
//! did the same work only as far as chance does not explain their answer; and where fewer than
//! [`MIN_VOTES`] functions can vote, or most were [replaced](super::stayed), that each run did the same
//! work is taken as given.

use super::counts::Counts;
use super::pair::Pair;
use super::result::NormalisationMethod;
use super::stayed::Stayed;
use crate::statistics::tmm;

/// Of one or two votes none is a majority.
const MIN_VOTES: usize = 3;
/// A function's cost a run stood still if it changed by less than this factor.
const STOOD_STILL: f64 = 1.1;
/// Parts of the votes and of their weight that must have stood still to believe that each run did
/// the same work. By chance, with recordings of different length, hardly any do; where there are
/// many votes, [`MIN_VOTES`] will do, as they still hold that part of the weight.
const SAME_WORK_VOTES: f64 = 1.0 / 4.0;
const SAME_WORK_WEIGHT: f64 = 1.0 / 3.0;
/// Part of the voters that the trimmed mean averages: it leaves out 30 % at each end.
pub(super) const AVERAGED: f64 = 0.4;

/// Size factors of the runs; their geometric mean is 1.
#[derive(Debug)]
pub(super) struct Sizes {
    factors: Vec<f64>,
    /// What each run's samples stand for; only their ratios matter.
    periods: Vec<f64>,
    split: usize,
    pub(super) method: NormalisationMethod,
    /// Number of functions that voted.
    pub(super) functions: usize,
    /// The functions that can vote, and those that cannot as they came or went.
    pub(super) stayed: Stayed,
    /// Whether most functions that can tell came or went, and those that stayed did not stand still.
    pub(super) without_majority: bool,
}

impl Sizes {
    /// `counts` are attributed self counts: a library function that did not change votes as a part
    /// of its caller. `periods` is what one sample stands for in each run; where runs were sampled
    /// at different rates, it is equal cost that means equal work, not equal counts. `amounts` is how
    /// much work each run did: 1 each where they did the same.
    pub(super) fn of(
        counts: &Counts,
        periods: &[f64],
        amounts: &[f64],
        method: &NormalisationMethod,
    ) -> Sizes {
        let split = counts.split;
        let logs = amounts.iter().zip(periods).map(|(a, p)| (a / p).ln());
        let per_run = centred(logs.collect());
        let by_work = Sizes {
            factors: per_run.iter().map(|log| log.exp()).collect(),
            periods: periods.to_vec(),
            split,
            method: NormalisationMethod::PerRun,
            functions: 0,
            stayed: Stayed::of(counts),
            without_majority: false,
        };
        match method {
            NormalisationMethod::PerRun => by_work,
            NormalisationMethod::PerMetric(_) => Sizes {
                method: method.clone(),
                ..by_work
            },
            NormalisationMethod::Total => {
                let logs = counts.totals().iter().map(|total| total.ln()).collect();
                Sizes {
                    factors: centred(logs).iter().map(|log| log.exp()).collect(),
                    method: NormalisationMethod::Total,
                    ..by_work
                }
            }
            NormalisationMethod::Tmm => by_work.corrected(counts),
        }
    }

    /// Factors that rest on functions that stood still, where there are enough; these are the
    /// factors of runs that did the same work.
    fn corrected(self, counts: &Counts) -> Sizes {
        let by_work = self;
        let votes = &by_work.stayed.on_both;
        let stood_still = |&f: &usize| {
            let change = by_work.means(counts.sums(f));
            (change.candidate / change.baseline).ln().abs() <= STOOD_STILL.ln()
        };
        let still: Vec<usize> = votes.iter().copied().filter(stood_still).collect();
        // The weight of a ratio is one over its variance, 1/x1 + 1/x2 for Poisson counts.
        let weight = |functions: &[usize]| -> f64 {
            let sums = functions
                .iter()
                .map(|&f| counts.sums(f).map(|count| count as f64));
            sums.map(|x| 1.0 / (1.0 / x.baseline + 1.0 / x.candidate))
                .sum()
        };
        let enough_votes = (SAME_WORK_VOTES * votes.len() as f64).min(MIN_VOTES as f64);
        let enough_weight = SAME_WORK_WEIGHT * weight(votes);
        let same_work = still.len() as f64 >= enough_votes && weight(&still) >= enough_weight;
        if !same_work && by_work.stayed.most_replaced(|_| false).is_some() {
            return Sizes {
                without_majority: true,
                ..by_work
            };
        }
        let voters = if same_work { &still } else { votes };
        if voters.len() < MIN_VOTES {
            return by_work;
        }
        let factors = match same_work {
            true => drawn_to(&by_work.factors, &by_tmm(counts, voters), counts, voters),
            false => by_tmm(counts, voters),
        };
        Sizes {
            factors,
            method: NormalisationMethod::Tmm,
            functions: voters.len(),
            ..by_work
        }
    }

    /// Sum of the size factors of each side's runs.
    pub(super) fn sums(&self) -> Pair<f64> {
        self.sides().map(|factors| factors.iter().sum())
    }

    /// The size factors, baseline runs first.
    pub(super) fn factors(&self) -> &[f64] {
        &self.factors
    }

    /// What a function that did not change costs in a candidate run, in units of its cost in a
    /// baseline run.
    pub(super) fn candidate_size(&self) -> f64 {
        let costs: Vec<f64> = self
            .factors
            .iter()
            .zip(&self.periods)
            .map(|(f, p)| f * p)
            .collect();
        let (baseline, candidate) = costs.split_at(self.split);
        let mean = |costs: &[f64]| costs.iter().sum::<f64>() / costs.len() as f64;
        mean(candidate) / mean(baseline)
    }

    /// The size factors of each side's runs.
    pub(super) fn sides(&self) -> Pair<&[f64]> {
        let (baseline, candidate) = self.factors.split_at(self.split);
        Pair::new(baseline, candidate)
    }

    /// Samples in a run of size 1, from the samples in all runs of each side.
    pub(super) fn means(&self, samples: Pair<u64>) -> Pair<f64> {
        let sums = self.sums();
        Pair::new(
            samples.baseline as f64 / sums.baseline,
            samples.candidate as f64 / sums.candidate,
        )
    }
}

/// Totals, corrected by what the voters tell.
fn by_tmm(counts: &Counts, voters: &[usize]) -> Vec<f64> {
    let rows: Vec<Vec<f64>> = voters.iter().map(|&f| counts.row(f)).collect();
    let totals = counts.totals();
    let logs = tmm(&rows, &totals)
        .iter()
        .zip(&totals)
        .map(|(factor, total)| (factor * total).ln())
        .collect();
    centred(logs).into_iter().map(f64::exp).collect()
}

/// Factors by voters, drawn towards those by work as far as chance explains that they differ.
///
/// Of few samples, the voters' answer is a guess: with 3,000 a run it is off by 3 %, in which all
/// functions then seem to vary. So of how far they differ, that part is kept by which the variance
/// exceeds the one from sampling alone (as W. James and C. Stein, Proc. 4th Berkeley Symp. 1:361,
/// 1961, draw means together).
fn drawn_to(by_work: &[f64], by_votes: &[f64], counts: &Counts, voters: &[usize]) -> Vec<f64> {
    let apart = |(work, votes): (&f64, &f64)| (votes / work).ln();
    let logs: Vec<f64> = by_work.iter().zip(by_votes).map(apart).collect();
    let runs = logs.len() as f64;
    let seen = logs.iter().map(|log| log * log).sum::<f64>() / (runs - 1.0);
    let votes = |run: &Vec<u64>| voters.iter().map(|&f| run[f] as f64).sum::<f64>();
    let of_run = |run: &Vec<u64>| 1.0 / (AVERAGED * votes(run));
    let by_chance = counts.runs.iter().map(of_run).sum::<f64>() / runs;
    let kept = if seen > by_chance {
        1.0 - by_chance / seen
    } else {
        0.0
    };
    let drawn = |(work, log): (&f64, f64)| work * (kept * log).exp();
    by_work.iter().zip(logs).map(drawn).collect()
}

/// Logarithms less their mean.
fn centred(mut logs: Vec<f64>) -> Vec<f64> {
    let mean = logs.iter().sum::<f64>() / logs.len().max(1) as f64;
    logs.iter_mut().for_each(|log| *log -= mean);
    logs
}
