//! Computes size factors: how many samples an unchanged function has in each run.
//!
//! Shares mislead: if one function grows, the shares of all others shrink, and they seem improved.
//! So counts are divided by a size factor of their run before they are compared. It is derived from
//! the majority of functions, by the trimmed mean of M values ([`tmm`]).
//!
//! This method needs a majority of unchanged functions. A small program may not have one (two of
//! three functions got slower), and one changed call can change dozens of library functions. But
//! most recordings are of benchmarks that do the same work each time, so that an unchanged function
//! costs the same in each run. Therefore, if functions with a good part of the program's cost are
//! stable, only these are the references, and they overrule the assumption of equal work only as
//! far as chance does not explain the difference. If fewer than [`MIN_REFERENCES`] functions can be
//! references, or most were [replaced](Survivors), equal work is assumed.
//!
//! Size factors are estimates: how much the references disagree adds to the variance of every test.

use super::counts::Counts;
use super::pair::Pair;
use super::result::{NormalisationMethod, round_for_output};
use sto_stats::{Design, student_quantile, tmm};

/// Minimum number of reference functions; one or two have no majority.
const MIN_REFERENCES: usize = 3;
/// Factor of change below which a function's cost per run is stable.
const STABLE: f64 = 1.1;
/// Minimum shares of the reference functions and of their weight that must be stable to assume that
/// each run did the same work. Hardly any are stable by chance if recordings differ in length. If
/// there are many functions, [`MIN_REFERENCES`] suffice, as they must still hold that share of the
/// weight.
const SAME_WORK_FUNCTIONS: f64 = 1.0 / 4.0;
const SAME_WORK_WEIGHT: f64 = 1.0 / 3.0;
/// Share of the reference functions that the trimmed mean averages: it leaves out 30 % at each end.
pub(super) const AVERAGED_SHARE: f64 = 0.4;
/// Factor by which size factors may be off before they say nothing, and equal work is assumed.
const MAX_DISAGREEMENT: f64 = 1.5;
/// Quantile at which the error of the size factors is compared with a normal distribution's.
const CONFIDENCE: f64 = 0.975;

/// Size factors of the runs, with a geometric mean of 1.
#[derive(Debug)]
pub(super) struct SizeFactors {
    factors: Vec<f64>,
    /// The cost that a sample stands for in each run; only the ratios matter.
    periods: Vec<f64>,
    split: usize,
    pub(super) method: NormalisationMethod,
    /// The cost, in the event's unit, that a sample in a run of size 1 stands for in a run of the
    /// baseline, or in a unit of its work.
    cost_of_sample: f64,
    /// Variance of the error of the log ratio of the sides' sizes.
    uncertainty: f64,
    /// Number of reference functions.
    pub(super) functions: usize,
    /// The functions that can be references, and the new and gone functions.
    pub(super) stayed: Survivors,
    /// Whether most functions with enough samples are new or gone, and the others are not stable.
    pub(super) without_majority: bool,
}

impl SizeFactors {
    /// Computes size factors.
    ///
    /// `counts` are attributed self counts, so an unchanged library function counts as part of its
    /// caller. `periods` is the cost that one sample stands for in each run; if runs were sampled
    /// at different rates, equal work means equal cost, not equal counts. `amounts` is how much
    /// work each run did: 1 each if they did the same.
    pub(super) fn new(
        counts: &Counts,
        periods: &[f64],
        amounts: &[f64],
        method: &NormalisationMethod,
    ) -> SizeFactors {
        let split = counts.split;
        let logs = amounts.iter().zip(periods).map(|(a, p)| (a / p).ln());
        let per_run = centred(logs.collect());
        let by_work = SizeFactors {
            factors: per_run.iter().map(|log| log.exp()).collect(),
            periods: periods.to_vec(),
            split,
            method: NormalisationMethod::PerRun,
            cost_of_sample: 1.0,
            uncertainty: 0.0,
            functions: 0,
            stayed: Survivors::new(counts),
            without_majority: false,
        };
        let mut sizes = match method {
            NormalisationMethod::PerRun => by_work,
            NormalisationMethod::PerMetric(_) => SizeFactors {
                method: method.clone(),
                ..by_work
            },
            NormalisationMethod::Total => {
                let logs = counts.totals().iter().map(|total| total.ln()).collect();
                SizeFactors {
                    factors: centred(logs).iter().map(|log| log.exp()).collect(),
                    method: NormalisationMethod::Total,
                    ..by_work
                }
            }
            NormalisationMethod::Tmm => by_work.corrected(counts),
        };
        let baseline = sizes.factors[..split].iter().zip(periods).zip(amounts);
        let cost: f64 = baseline
            .map(|((size, period), amount)| size * period / amount)
            .sum();
        sizes.cost_of_sample = cost / split as f64;
        sizes
    }

    /// Computes size factors of parts of runs, whose work may differ: if too few functions can be
    /// references, by totals instead of equal work.
    pub(super) fn of_parts(counts: &Counts, periods: &[f64]) -> SizeFactors {
        let totals = counts.totals();
        let amounts: Vec<f64> = totals.iter().zip(periods).map(|(n, p)| n * p).collect();
        let sizes = SizeFactors::new(counts, periods, &amounts, &NormalisationMethod::Tmm);
        match sizes.method {
            NormalisationMethod::PerRun => {
                SizeFactors::new(counts, periods, &amounts, &NormalisationMethod::Total)
            }
            _ => sizes,
        }
    }

    /// Returns the design of a test with these sizes.
    pub(super) fn design(&self) -> Design {
        Design::new(self.factors.clone(), self.split).with_uncertainty(self.uncertainty)
    }

    /// Returns factors based on stable functions, if there are enough. `self` has the factors of
    /// runs that did the same work.
    fn corrected(self, counts: &Counts) -> SizeFactors {
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
            return SizeFactors {
                without_majority: true,
                ..by_work
            };
        }
        let references = if same_work { &stable } else { all };
        if references.len() < MIN_REFERENCES {
            return by_work;
        }
        let by_references = by_tmm(counts, references);
        let kept = if same_work {
            beyond_chance(&by_work.factors, &by_references, counts, references)
        } else {
            1.0
        };
        let factors = by_work.factors.iter().zip(&by_references);
        let factors = factors.map(|(work, seen)| work * (seen / work).powf(kept));
        let factors: Vec<f64> = factors.collect();
        let disagreement = by_work.disagreement(&factors, counts, references);
        if disagreement.sqrt() > MAX_DISAGREEMENT.ln() {
            return by_work;
        }
        SizeFactors {
            factors,
            method: NormalisationMethod::Tmm,
            functions: references.len(),
            uncertainty: kept * kept * disagreement,
            ..by_work
        }
    }

    /// Returns the variance of the trimmed mean of the references' log ratios (K. K. Yuen, Biometrika
    /// 61:165, 1974), widened as Student's distribution is wider than the normal one.
    ///
    /// References may be few, or may disagree because some of them changed. It is 0 if the candidate
    /// has no runs.
    fn disagreement(&self, factors: &[f64], counts: &Counts, references: &[usize]) -> f64 {
        let (baseline, candidate) = factors.split_at(self.split);
        if candidate.is_empty() {
            return 0.0;
        }
        let size = candidate.iter().sum::<f64>() / baseline.iter().sum::<f64>();
        let log_ratio = |&function: &usize| {
            let sums = counts.sums(function);
            (sums.candidate as f64 / sums.baseline as f64 / size).ln()
        };
        let mut logs: Vec<f64> = references.iter().map(log_ratio).collect();
        logs.sort_unstable_by(f64::total_cmp);
        let trimmed = ((1.0 - AVERAGED_SHARE) / 2.0 * logs.len() as f64) as usize;
        let last = logs.len() - 1 - trimmed;
        let (low, high) = (logs[trimmed], logs[last]);
        logs.iter_mut().for_each(|log| *log = log.clamp(low, high));
        let mean = logs.iter().sum::<f64>() / logs.len() as f64;
        let squares: f64 = logs.iter().map(|log| (log - mean).powi(2)).sum();
        let df = (last - trimmed) as f64;
        let widened =
            student_quantile(CONFIDENCE, df) / student_quantile(CONFIDENCE, f64::INFINITY);
        squares / ((df + 1.0) * df) * widened * widened
    }

    /// Returns the sum of the size factors of each side's runs.
    pub(super) fn sums(&self) -> Pair<f64> {
        self.sides().map(|factors| factors.iter().sum())
    }

    /// Returns the size factors, baseline runs first.
    pub(super) fn factors(&self) -> &[f64] {
        &self.factors
    }

    /// Returns the cost of an unchanged function in a candidate run, relative to its cost in a
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

    /// Whether the factors are the same but for rounding.
    pub(super) fn equals(&self, other: &SizeFactors) -> bool {
        let mut factors = self.factors.iter().zip(&other.factors);
        factors.all(|(a, b)| (a / b).ln().abs() < 1e-9)
    }

    /// Returns the cost, in the event's unit, of samples in a run of size 1: in a run of the baseline,
    /// or in a unit of its work. `None` if only shares are compared.
    pub(super) fn cost(&self, samples: f64) -> Option<f64> {
        let is_known = self.method != NormalisationMethod::Total;
        is_known.then(|| round_for_output(samples * self.cost_of_sample))
    }

    /// Returns the size factors of each side's runs.
    pub(super) fn sides(&self) -> Pair<&[f64]> {
        let (baseline, candidate) = self.factors.split_at(self.split);
        Pair::new(baseline, candidate)
    }

    /// Returns the samples in a run of size 1, from the samples in all runs of each side.
    pub(super) fn means(&self, samples: Pair<u64>) -> Pair<f64> {
        let sums = self.sums();
        Pair::new(
            samples.baseline as f64 / sums.baseline,
            samples.candidate as f64 / sums.candidate,
        )
    }
}

/// Returns factors from total counts, corrected by the reference functions.
fn by_tmm(counts: &Counts, references: &[usize]) -> Vec<f64> {
    let rows: Vec<Vec<f64>> = references
        .iter()
        .map(|&f| counts.samples_by_run(f))
        .collect();
    let totals = counts.totals();
    let logs = tmm(&rows, &totals)
        .iter()
        .zip(&totals)
        .map(|(factor, total)| (factor * total).ln())
        .collect();
    centred(logs).into_iter().map(f64::exp).collect()
}

/// Returns the part of the difference between factors by reference functions and those by work that
/// chance does not explain, from 0 to 1.
///
/// With few samples, reference functions give an uncertain result: with 3,000 samples per run, it
/// is off by 3 %, and all functions then seem to vary by that. So the difference is reduced by the
/// share of its variance that sampling explains (as W. James and C. Stein, Proc. 4th Berkeley Symp.
/// 1:361, 1961, shrink means).
fn beyond_chance(
    by_work: &[f64],
    by_references: &[f64],
    counts: &Counts,
    references: &[usize],
) -> f64 {
    let log_ratio = |(work, references): (&f64, &f64)| (references / work).ln();
    let logs = by_work.iter().zip(by_references).map(log_ratio);
    let runs = by_work.len() as f64;
    let seen = logs.map(|log| log * log).sum::<f64>() / (runs - 1.0);
    let samples = |run: &Vec<u64>| references.iter().map(|&f| run[f] as f64).sum::<f64>();
    let of_run = |run: &Vec<u64>| 1.0 / (AVERAGED_SHARE * samples(run));
    let by_chance = counts.runs.iter().map(of_run).sum::<f64>() / runs;
    if seen > by_chance {
        1.0 - by_chance / seen
    } else {
        0.0
    }
}

/// Subtracts the mean from logarithms.
fn centred(mut logs: Vec<f64>) -> Vec<f64> {
    let mean = logs.iter().sum::<f64>() / logs.len().max(1) as f64;
    logs.iter_mut().for_each(|log| *log -= mean);
    logs
}

/// Minimum samples of a function in every run of a side. Below that, its ratio is mostly noise.
const MIN_SAMPLES: u64 = 10;

/// The functions with at least [`MIN_SAMPLES`] samples in every run of a side.
///
/// New and gone functions cannot be references although they did change. If they are the majority,
/// the other functions say nothing about the rest.
#[derive(Debug)]
pub(super) struct Survivors {
    /// Functions with enough samples in every run of both sides.
    pub(super) on_both: Vec<usize>,
    /// Functions of each side that have less than one sample per run on the other side. Chance does
    /// not turn 10 samples into that.
    pub(super) on_one: Pair<Vec<usize>>,
}

impl Survivors {
    pub(super) fn new(counts: &Counts) -> Survivors {
        let split = counts.split;
        let runs = Pair::new(split, counts.runs.len() - split).map(|runs| runs as u64);
        let mut stayed = Survivors {
            on_both: Vec::new(),
            on_one: Pair::new(Vec::new(), Vec::new()),
        };
        for function in 0..counts.functions() {
            let counted = counts
                .samples_by_side(function)
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

    /// Returns the numbers of new and gone functions if the others are fewer than the share that
    /// the trimmed mean averages. New and gone functions have infinite ratios, so the mean would
    /// then average over some of them.
    ///
    /// `is_renamed` tells which functions were only renamed.
    pub(super) fn most_replaced(&self, is_renamed: impl Fn(usize) -> bool) -> Option<Replaced> {
        let count = |functions: &Vec<usize>| functions.iter().filter(|&&f| !is_renamed(f)).count();
        let gone = count(&self.on_one.baseline);
        let new = count(&self.on_one.candidate);
        let stayed = self.on_both.len();
        let is_most = (stayed as f64) < AVERAGED_SHARE * (stayed + gone + new) as f64;
        is_most.then_some(Replaced { gone, new, stayed })
    }
}

/// Numbers of functions with enough samples that are gone, new, and on both sides.
#[derive(Clone, Copy, Debug)]
pub(super) struct Replaced {
    pub(super) gone: usize,
    pub(super) new: usize,
    pub(super) stayed: usize,
}
