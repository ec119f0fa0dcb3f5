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
//! good part of the program are stable, they alone are the reference, and they overrule that the runs
//! did the same work only as far as chance does not explain their answer; and where fewer than
//! [`MIN_REFERENCES`] functions can be references, or most were [replaced](Stayed), that each run did the same
//! work is taken as given.

use super::counts::Counts;
use super::pair::Pair;
use super::result::NormalisationMethod;
use sto_stats::tmm;

/// Of one or two functions none is a majority.
const MIN_REFERENCES: usize = 3;
/// A function's cost a run is stable if it changed by less than this factor.
const STABLE: f64 = 1.1;
/// Parts of the reference functions and of their weight that must be stable to believe that each run did
/// the same work. By chance, with recordings of different length, hardly any do; where there are
/// many functions, [`MIN_REFERENCES`] will do, as they still hold that part of the weight.
const SAME_WORK_FUNCTIONS: f64 = 1.0 / 4.0;
const SAME_WORK_WEIGHT: f64 = 1.0 / 3.0;
/// Part of the reference functions that the trimmed mean averages: it leaves out 30 % at each end.
pub(super) const AVERAGED: f64 = 0.4;

/// Size factors of the runs; their geometric mean is 1.
#[derive(Debug)]
pub(super) struct Sizes {
    factors: Vec<f64>,
    /// What each run's samples stand for; only their ratios matter.
    periods: Vec<f64>,
    split: usize,
    pub(super) method: NormalisationMethod,
    /// Number of reference functions.
    pub(super) functions: usize,
    /// The functions that can be references, and those that cannot as they came or went.
    pub(super) stayed: Stayed,
    /// Whether most functions with enough samples came or went, and those that stayed are not stable.
    pub(super) without_majority: bool,
}

impl Sizes {
    /// `counts` are attributed self counts: a library function that did not change counts as a part
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

    /// Factors that rest on stable functions, where there are enough; these are the
    /// factors of runs that did the same work.
    fn corrected(self, counts: &Counts) -> Sizes {
        let by_work = self;
        let all = &by_work.stayed.on_both;
        let is_stable = |&f: &usize| {
            let change = by_work.means(counts.sums(f));
            (change.candidate / change.baseline).ln().abs() <= STABLE.ln()
        };
        let stable: Vec<usize> = all.iter().copied().filter(is_stable).collect();
        // The weight of a ratio is one over its variance, 1/x1 + 1/x2 for Poisson counts.
        let weight = |functions: &[usize]| -> f64 {
            let sums = functions
                .iter()
                .map(|&f| counts.sums(f).map(|count| count as f64));
            sums.map(|x| 1.0 / (1.0 / x.baseline + 1.0 / x.candidate))
                .sum()
        };
        let enough_functions = (SAME_WORK_FUNCTIONS * all.len() as f64).min(MIN_REFERENCES as f64);
        let enough_weight = SAME_WORK_WEIGHT * weight(all);
        let same_work = stable.len() as f64 >= enough_functions && weight(&stable) >= enough_weight;
        if !same_work && by_work.stayed.most_replaced(|_| false).is_some() {
            return Sizes {
                without_majority: true,
                ..by_work
            };
        }
        let references = if same_work { &stable } else { all };
        if references.len() < MIN_REFERENCES {
            return by_work;
        }
        let factors = match same_work {
            true => drawn_to(
                &by_work.factors,
                &by_tmm(counts, references),
                counts,
                references,
            ),
            false => by_tmm(counts, references),
        };
        Sizes {
            factors,
            method: NormalisationMethod::Tmm,
            functions: references.len(),
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

/// Totals, corrected by what the reference functions show.
fn by_tmm(counts: &Counts, references: &[usize]) -> Vec<f64> {
    let rows: Vec<Vec<f64>> = references.iter().map(|&f| counts.row(f)).collect();
    let totals = counts.totals();
    let logs = tmm(&rows, &totals)
        .iter()
        .zip(&totals)
        .map(|(factor, total)| (factor * total).ln())
        .collect();
    centred(logs).into_iter().map(f64::exp).collect()
}

/// Factors by reference functions, drawn towards those by work as far as chance explains that they differ.
///
/// Of few samples, their answer is a guess: with 3,000 a run it is off by 3 %, in which all
/// functions then seem to vary. So of how far they differ, that part is kept by which the variance
/// exceeds the one from sampling alone (as W. James and C. Stein, Proc. 4th Berkeley Symp. 1:361,
/// 1961, draw means together).
fn drawn_to(
    by_work: &[f64],
    by_references: &[f64],
    counts: &Counts,
    references: &[usize],
) -> Vec<f64> {
    let log_ratio = |(work, references): (&f64, &f64)| (references / work).ln();
    let logs: Vec<f64> = by_work.iter().zip(by_references).map(log_ratio).collect();
    let runs = logs.len() as f64;
    let seen = logs.iter().map(|log| log * log).sum::<f64>() / (runs - 1.0);
    let samples = |run: &Vec<u64>| references.iter().map(|&f| run[f] as f64).sum::<f64>();
    let of_run = |run: &Vec<u64>| 1.0 / (AVERAGED * samples(run));
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

/// Samples that a function needs in every run of a side to count: below that, its ratio is mostly noise.
const MIN_SAMPLES: u64 = 10;

/// The functions with at least [`MIN_SAMPLES`] samples in every run of a side. One that came or went is no
/// reference function, though it did change: where most did, those that stayed say nothing of the rest.
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
            let counted = counts
                .of(function)
                .map(|mut runs| runs.all(|samples| samples >= MIN_SAMPLES));
            let sums = counts.sums(function);
            if counted.baseline && counted.candidate {
                stayed.on_both.push(function);
            } else if counted.baseline && sums.candidate < runs.candidate {
                stayed.on_one.baseline.push(function);
            } else if counted.candidate && sums.baseline < runs.baseline {
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

/// How many functions that cost enough to count are gone, new, and on both sides.
#[derive(Clone, Copy, Debug)]
pub(super) struct Replaced {
    pub(super) gone: usize,
    pub(super) new: usize,
    pub(super) stayed: usize,
}
