//! Compares some runs of a build with others.

use super::splits::Split;
use super::thin::EqualBuilds;
use crate::compare::counts::{Counts, FunctionCounts};
use crate::compare::evidence::{TestParameters, Tests};
use crate::compare::functions::{FunctionIx, Functions};
use crate::compare::metrics::{Compared, Side, metrics};
use crate::compare::normalise::SizeFactors;
use crate::compare::pair::Pair;
use crate::compare::result::{Basis, CompareOptions, MetricOutcome, NormalisationMethod, WorseIf};
use crate::compare::runs::Metrics;
use crate::compare::variation::Variations;
use std::cmp::Ordering;
use sto_core::units::Unit;

/// Samples of one run, by function.
#[derive(Clone, Debug, PartialEq, PartialOrd)]
pub(super) struct Run {
    attributed: Vec<u64>,
    /// Total counts.
    all: Vec<u64>,
    /// For each watched function, by function, the number of its attributed samples whose stacks
    /// contain that function.
    below: Vec<Vec<u64>>,
    period: f64,
    /// Amount of work of the run.
    amount: f64,
    metrics: Metrics,
    /// Total cost of the run.
    total: f64,
}

/// Samples of all runs, in an order that only depends on their values.
pub(super) struct SampleTable {
    pub(super) runs: Vec<Run>,
}

/// A comparison of equal builds.
pub(super) struct EqualComparison {
    /// Functions that are reported as changed.
    pub(super) reported: Vec<usize>,
    /// Outcomes of the metrics that count for the verdict.
    pub(super) metrics: Vec<(String, MetricOutcome)>,
    /// For each watched function, the smallest growth that would have been detected.
    pub(super) least_changes: Vec<Option<f64>>,
}

impl SampleTable {
    /// Creates a table. `below` has the columns of [`Run::below`], by run.
    pub(super) fn new(
        counts: FunctionCounts,
        below: Vec<Vec<Vec<u64>>>,
        periods: &[f64],
        amounts: &[f64],
        totals: Vec<(&Metrics, f64)>,
    ) -> SampleTable {
        let attributed = counts.attributed.runs.into_iter();
        let columns = attributed
            .zip(counts.total.runs)
            .zip(below)
            .zip(periods.iter().zip(amounts).zip(totals));
        let mut runs: Vec<Run> = columns
            .map(
                |(((attributed, all), below), ((&period, &amount), (metrics, total)))| Run {
                    attributed,
                    all,
                    below,
                    period,
                    amount,
                    metrics: metrics.clone(),
                    total,
                },
            )
            .collect();
        runs.sort_by(|a, b| {
            let counts = |run: &Run| (run.attributed.clone(), run.all.clone());
            counts(a)
                .cmp(&counts(b))
                .then(a.period.total_cmp(&b.period))
                .then(a.amount.total_cmp(&b.amount))
                .then(
                    a.metrics
                        .values()
                        .partial_cmp(b.metrics.values())
                        .unwrap_or(Ordering::Equal),
                )
        });
        SampleTable { runs }
    }

    /// Compares the sides of a split. `index` is the split's index among all splits.
    pub(super) fn compare_split(
        &self,
        index: usize,
        split: &Split,
        (functions, unit): (&Functions, Unit),
        watched: &[usize],
        (methods, options): (&[NormalisationMethod], &CompareOptions),
    ) -> EqualComparison {
        let counts = self.counts(split);
        let runs = || split.iter().flatten().map(|&run| &self.runs[run]);
        let periods: Vec<f64> = runs().map(|run| run.period).collect();
        let amounts: Vec<f64> = runs().map(|run| run.amount).collect();
        let samples = |side: &[usize]| -> u64 {
            let samples: f64 = side.iter().map(|&run| self.runs[run].samples()).sum();
            samples as u64
        };
        let setting = |method: &NormalisationMethod| {
            let sizes = SizeFactors::new(&counts.attributed, &periods, &amounts, method);
            let design = sizes.design();
            TestParameters {
                options,
                variations: Variations::new(&counts, &design, None),
                design,
                sizes,
                samples: Pair::new(samples(&split[0]), samples(&split[1])),
                unit,
                within_runs: false,
                has_stacks: true,
            }
        };
        let settings: Vec<TestParameters> = methods.iter().map(setting).collect();
        let tests: Vec<Tests> = settings
            .iter()
            .map(|setting| Tests::new(&counts, setting))
            .collect();
        let has_changed = |basis, function| {
            let mut changes = tests.iter().map(|tests| tests.changed(basis, function));
            let first = changes.next().flatten();
            first.is_some() && changes.all(|change| change == first)
        };
        let is_reported = |&f: &usize| {
            let function = FunctionIx(f as u32);
            has_changed(Basis::AttributedSelf, function)
                || !functions.list[f].is_attributed_to_caller()
                    && has_changed(Basis::Total, function)
        };
        let equal = EqualBuilds {
            counts: &counts,
            tests: &tests[0],
        };
        let least_change = |(watch, &function): (usize, &usize)| {
            let below: Vec<&Vec<u64>> = split[0]
                .iter()
                .map(|&run| &self.runs[run].below[watch])
                .collect();
            equal.min_detectable_change((index as u64) << 32 | function as u64, function, &below)
        };
        let least_changes = watched.iter().enumerate().map(least_change).collect();
        let compared = Compared {
            unit,
            rests_on_majority: settings[0].sizes.method == NormalisationMethod::Tmm,
            candidate_size: settings[0].sizes.candidate_size(),
        };
        let sides = [&split[0], &split[1]].map(|side| self.measured(side));
        let measured = metrics(
            Pair::new(&sides[0], &sides[1]),
            Some(compared),
            &[],
            options,
        );
        let counting = measured
            .into_iter()
            .filter(|m| m.worse_if != WorseIf::Never);
        EqualComparison {
            metrics: counting
                .map(|metric| (metric.name, metric.outcome))
                .collect(),
            reported: (0..functions.list.len()).filter(is_reported).collect(),
            least_changes,
        }
    }

    /// Returns the measurements of whole runs of a side.
    fn measured(&self, side: &[usize]) -> Side<'_> {
        let runs = side.iter().map(|&run| &self.runs[run]);
        Side {
            metrics: runs.clone().map(|run| &run.metrics).collect(),
            totals: runs.clone().map(|run| (&run.metrics, run.total)).collect(),
            mean_samples: runs.map(Run::samples).sum::<f64>() / side.len() as f64,
            is_per_second: false,
        }
    }

    fn counts(&self, split: &Split) -> FunctionCounts {
        let of = |column: fn(&Run) -> &Vec<u64>| Counts {
            runs: split
                .iter()
                .flatten()
                .map(|&run| column(&self.runs[run]).clone())
                .collect(),
            split: split[0].len(),
        };
        FunctionCounts {
            // Self counts are only displayed by comparisons, which calibration does not need.
            self_: Counts {
                runs: Vec::new(),
                split: 0,
            },
            attributed: of(|run| &run.attributed),
            total: of(|run| &run.all),
        }
    }
}

impl Run {
    fn samples(&self) -> f64 {
        self.attributed.iter().map(|&samples| samples as f64).sum()
    }
}
