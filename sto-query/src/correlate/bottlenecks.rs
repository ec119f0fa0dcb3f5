//! The correlation of each function with a metric, over benchmarks.

use super::measures::NORMAL_95;
use super::{Correlation, pearson, sparse_pearson, spearman};
use crate::answer::{Answer, truncate};
use crate::history::{FunctionIx, History, HistoryFunction};
use crate::tree::Order;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use sto_stats::{benjamini_hochberg, normal_two_sided};

/// Options of a bottleneck search.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct BottleneckOptions {
    /// The metric.
    pub metric: String,
    /// The correlation coefficient.
    pub measure: Measure,
    /// The way to combine the coefficients of several benchmarks.
    pub combination: Combination,
    /// Whether to count self samples instead of total samples.
    pub of_self: bool,
    /// Minimum number of runs with the metric in a benchmark, and of runs that contain a function among them; at
    /// least 2.
    pub min_runs: usize,
    /// Whether to leave out runs without a function, instead of counting them as zero samples.
    pub omit_absent: bool,
    /// Whether to look for negative correlations.
    pub negative: bool,
}

impl Default for BottleneckOptions {
    fn default() -> Self {
        BottleneckOptions {
            metric: String::new(),
            measure: Measure::Pearson,
            combination: Combination::Mean,
            of_self: true,
            min_runs: 5,
            omit_absent: false,
            negative: false,
        }
    }
}

/// A coefficient of correlation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Measure {
    /// Pearson's coefficient: linear correlation of values.
    Pearson,
    /// Spearman's coefficient: correlation of ranks.
    Spearman,
}

/// The way to combine the coefficients of several benchmarks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Combination {
    /// The mean, as in the thesis.
    Mean,
    /// The largest coefficient, or the smallest if negative correlations are looked for.
    Max,
}

/// Functions whose cost correlates with a metric.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Bottlenecks {
    /// The metric.
    pub metric: String,
    /// The correlation coefficient.
    pub measure: Measure,
    /// The way the coefficients of several benchmarks are combined.
    pub combination: Combination,
    /// The samples that are counted: self or total.
    pub by: Order,
    /// Minimum number of runs in a benchmark, and of runs that contain a function.
    pub min_runs: usize,
    /// Whether runs without a function are left out for it; otherwise, they count as zero samples.
    pub omit_absent: bool,
    /// Whether negative correlations come first.
    pub negative: bool,
    /// The benchmarks, by program and name.
    pub benchmarks: Vec<Benchmark>,
    /// The functions, strongest correlation first, then by name.
    pub functions: Vec<Bottleneck>,
    /// Number of functions that a limit left out.
    pub omitted: usize,
}

impl Answer for Bottlenecks {
    const SCHEMA: &'static str = "sto.bottlenecks/1";
}

/// The runs of one program and benchmark that have the metric.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Benchmark {
    /// The program.
    pub executable: String,
    /// The benchmark; `None` for runs without one.
    #[serde(rename = "benchmark")]
    pub name: Option<String>,
    /// Number of runs.
    pub runs: usize,
}

/// Correlation of a function's cost with the metric.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Bottleneck {
    /// The function.
    #[serde(flatten)]
    pub function: HistoryFunction,
    /// Coefficient over all benchmarks.
    pub coefficient: f64,
    /// Lower bound of the 95 % confidence interval. For a mean, it is computed from the Fisher-transformed coefficients
    /// weighted by their number of pairs less 3; for the largest coefficient, it is its own lower bound.
    pub low: f64,
    /// Upper bound of the interval.
    pub high: f64,
    /// Probability of a coefficient at least as far from zero by chance. For a mean, it is computed from the weighted
    /// Fisher-transformed coefficients; for the largest of several coefficients, it is multiplied by their number.
    pub p: f64,
    /// `p` adjusted for the number of functions (Benjamini & Hochberg).
    pub q: f64,
    /// Coefficients by benchmark.
    pub benchmarks: Vec<InBenchmark>,
}

/// Correlation in one benchmark.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct InBenchmark {
    /// Index in the list of benchmarks.
    pub benchmark: usize,
    /// The coefficient.
    #[serde(flatten)]
    pub correlation: Correlation,
}

/// Correlates the samples of each function with a metric in each benchmark that has enough runs. Returns the
/// strongest correlations first, then by name; at most `limit` functions.
pub fn bottlenecks(
    histories: &[History],
    options: &BottleneckOptions,
    limit: Option<usize>,
) -> Bottlenecks {
    let mut benchmarks = Vec::new();
    let mut by_function: BTreeMap<HistoryFunction, Vec<InBenchmark>> = BTreeMap::new();
    for history in histories {
        for (name, runs) in history.runs_with(&options.metric) {
            if runs.len() < options.min_runs.max(2) {
                continue;
            }
            for (function, correlation) in correlations(history, &runs, options) {
                by_function.entry(function).or_default().push(InBenchmark {
                    benchmark: benchmarks.len(),
                    correlation,
                });
            }
            benchmarks.push(Benchmark {
                executable: history.executable.clone(),
                name: name.map(str::to_owned),
                runs: runs.len(),
            });
        }
    }
    let found = by_function.into_iter();
    let mut found: Vec<Bottleneck> = found
        .map(|(function, benchmarks)| combine(function, benchmarks, options))
        .collect();
    let p_values: Vec<Option<f64>> = found.iter().map(|found| Some(found.p)).collect();
    for (found, q) in found.iter_mut().zip(benjamini_hochberg(&p_values)) {
        found.q = q.unwrap_or(1.0);
    }
    // The sort is stable, so functions with equal coefficients stay in the order of their names.
    found.sort_by(|a, b| {
        if options.negative {
            a.coefficient.total_cmp(&b.coefficient)
        } else {
            b.coefficient.total_cmp(&a.coefficient)
        }
    });
    let omitted = truncate(&mut found, limit);
    Bottlenecks {
        metric: options.metric.clone(),
        measure: options.measure,
        combination: options.combination,
        by: if options.of_self {
            Order::SelfCost
        } else {
            Order::Total
        },
        min_runs: options.min_runs,
        omit_absent: options.omit_absent,
        negative: options.negative,
        benchmarks,
        functions: found,
        omitted,
    }
}

fn correlations(
    history: &History,
    runs: &[(usize, f64)],
    options: &BottleneckOptions,
) -> Vec<(HistoryFunction, Correlation)> {
    let metric: Vec<f64> = runs.iter().map(|&(_, value)| value).collect();
    // Only the functions that a run has: these are few of all functions.
    let samples: Vec<Vec<(usize, f64)>> = runs
        .par_iter()
        .map_init(
            || vec![None; history.functions.len()],
            |sums, &(run, _)| samples_by_function(history, run, options, sums),
        )
        .collect();
    // The same by function.
    let mut by_function: Vec<Vec<(usize, f64)>> = vec![Vec::new(); history.functions.len()];
    for (ix, run) in samples.into_iter().enumerate() {
        for (function, samples) in run {
            by_function[function].push((ix, samples));
        }
    }
    let correlated = history.functions.par_iter().zip(by_function);
    let correlated = correlated.filter_map(|(function, samples)| {
        if samples.len() < options.min_runs {
            return None;
        }
        let pairs = samples.iter().map(|&(run, samples)| (samples, metric[run]));
        let (present, of_present): (Vec<f64>, Vec<f64>) = pairs.unzip();
        let correlation = match (options.measure, options.omit_absent) {
            (Measure::Pearson, true) => pearson(&present, &of_present),
            (Measure::Spearman, true) => spearman(&present, &of_present),
            (Measure::Pearson, false) => sparse_pearson(&samples, &metric),
            (Measure::Spearman, false) => {
                let mut column = vec![0.0; metric.len()];
                samples
                    .iter()
                    .for_each(|&(run, samples)| column[run] = samples);
                spearman(&column, &metric)
            }
        };
        Some((function.clone(), correlation?))
    });
    correlated.collect()
}

/// Returns the functions of a run, and their number of samples; functions without samples only if absent ones are
/// omitted. `sums` must be `None` for each function and is `None` again afterwards, so it can be reused.
fn samples_by_function(
    history: &History,
    run: usize,
    options: &BottleneckOptions,
    sums: &mut [Option<u64>],
) -> Vec<(usize, f64)> {
    let mut functions: Vec<usize> = Vec::new();
    let mut add = |function: FunctionIx, samples: u64| {
        let sum = &mut sums[function.get()];
        if sum.is_none() && (samples > 0 || options.omit_absent) {
            functions.push(function.get());
            *sum = Some(0);
        }
        *sum = sum.map(|sum| sum + samples);
    };
    if options.of_self {
        history.for_each_self(run, |function, cost| add(function, cost.samples));
    }
    if !options.of_self || options.omit_absent {
        let is_counted = u64::from(!options.of_self);
        history.for_each_outermost(run, |function, cost| {
            add(function, is_counted * cost.samples)
        });
    }
    let taken = functions.into_iter();
    let mut samples = |function: usize| sums[function].take().unwrap_or_default() as f64;
    taken
        .map(|function| (function, samples(function)))
        .collect()
}

fn combine(
    function: HistoryFunction,
    benchmarks: Vec<InBenchmark>,
    options: &BottleneckOptions,
) -> Bottleneck {
    let towards = |found: &InBenchmark| {
        if options.negative {
            -found.correlation.coefficient
        } else {
            found.correlation.coefficient
        }
    };
    let farthest = benchmarks
        .iter()
        .reduce(|a, b| if towards(b) > towards(a) { b } else { a })
        .expect("a function is listed because a benchmark has it")
        .correlation;
    let count = benchmarks.len() as f64;
    let (coefficient, (low, high), p) = match options.combination {
        Combination::Max => (
            farthest.coefficient,
            farthest.interval(),
            (farthest.p * count).min(1.0),
        ),
        Combination::Mean if benchmarks.len() == 1 => {
            (farthest.coefficient, farthest.interval(), farthest.p)
        }
        Combination::Mean => {
            let of_all = benchmarks.iter().map(|found| found.correlation);
            let sum: f64 = of_all.clone().map(|found| found.coefficient).sum();
            let (interval, p) = pooled(of_all);
            (sum / count, interval, p)
        }
    };
    Bottleneck {
        function,
        coefficient,
        low,
        high,
        p,
        q: p,
        benchmarks,
    }
}

/// Returns the interval and p of several coefficients combined; coefficients of fewer than four pairs are ignored.
fn pooled(correlations: impl Iterator<Item = Correlation>) -> ((f64, f64), f64) {
    let (mut weights, mut sum) = (0.0, 0.0);
    for correlation in correlations.filter(|correlation| correlation.pairs > 3) {
        let weight = correlation.pairs as f64 - 3.0;
        weights += weight;
        // A coefficient of 1 would become infinite; this close to 1, the number of runs makes no difference.
        sum += weight
            * correlation
                .coefficient
                .clamp(-1.0 + 1e-12, 1.0 - 1e-12)
                .atanh();
    }
    if weights == 0.0 {
        return ((-1.0, 1.0), 1.0);
    }
    let (z, deviation) = (sum / weights, 1.0 / weights.sqrt());
    let half = NORMAL_95 * deviation;
    let p = normal_two_sided(z / deviation);
    (((z - half).tanh(), (z + half).tanh()), p)
}
