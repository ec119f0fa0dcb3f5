//! The correlation of each function with a metric, over benchmarks.

use super::measures::NORMAL_95;
use super::{Correlation, sparse_pearson, spearman};
use crate::answer::{Answer, limited};
use crate::history::{FunctionIx, History, HistoryFunction};
use crate::tree::Order;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use sto_stats::{benjamini_hochberg, normal_two_sided};

/// What is correlated with the metric, and how.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct BottleneckOptions {
    /// The metric.
    pub metric: String,
    /// The coefficient.
    pub measure: Measure,
    /// How the coefficients of several benchmarks become one.
    pub combination: Combination,
    /// Whether samples that ended in a function are counted, instead of those whose stack has it.
    pub of_self: bool,
    /// Number of runs with the metric that a benchmark needs, and of these with the function that a
    /// function needs; at least 2.
    pub min_runs: usize,
    /// Whether what goes against the metric is looked for.
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
    /// Of values: how close to a line.
    Pearson,
    /// Of ranks: how close the orders are.
    Spearman,
}

/// How the coefficients of several benchmarks become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Combination {
    /// Their mean, as in the thesis.
    Mean,
    /// The one farthest in the direction that is looked for.
    Max,
}

/// Functions whose cost goes with a metric.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Bottlenecks {
    /// The metric.
    pub metric: String,
    /// The coefficient.
    pub measure: Measure,
    /// How the coefficients of several benchmarks become one.
    pub combination: Combination,
    /// Which samples are counted.
    pub by: Order,
    /// Runs that a benchmark, and a function in it, needs.
    pub min_runs: usize,
    /// Whether those that go against the metric stand first.
    pub negative: bool,
    /// The benchmarks, by program and name.
    pub benchmarks: Vec<Benchmark>,
    /// The functions that go with the metric most first, then by name.
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
    /// The benchmark; `None` for runs of none.
    #[serde(rename = "benchmark")]
    pub name: Option<String>,
    /// Number of runs.
    pub runs: usize,
}

/// A function and how its cost goes with the metric.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Bottleneck {
    /// The function.
    #[serde(flatten)]
    pub function: HistoryFunction,
    /// The coefficient over all benchmarks.
    pub coefficient: f64,
    /// The least that the coefficient may be, with a confidence of 95 %: of the mean, the coefficients
    /// transformed by Fisher and weighed by their pairs less 3; of the farthest one, its own.
    pub low: f64,
    /// The most that it may be.
    pub high: f64,
    /// Probability of a coefficient at least as far from zero by chance: of one benchmark, its own; of
    /// a mean, that of the weighed transformed coefficients; of the farthest of several, its own times
    /// their number.
    pub p: f64,
    /// `p` adjusted for the number of functions (Benjamini & Hochberg).
    pub q: f64,
    /// The coefficient in each benchmark, by its index in the list of benchmarks.
    pub benchmarks: Vec<InBenchmark>,
}

/// The coefficient in one benchmark.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct InBenchmark {
    /// Place of the benchmark in the list of benchmarks.
    pub benchmark: usize,
    /// The coefficient.
    #[serde(flatten)]
    pub correlation: Correlation,
}

/// Correlates the samples of each function with a metric in each benchmark that has enough runs:
/// functions that go with it most first, then by name; at most `limit` of them. A run without the function
/// counts as zero samples of it.
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
    // Stable: they come in the order of their names.
    found.sort_by(|a, b| match options.negative {
        false => b.coefficient.total_cmp(&a.coefficient),
        true => a.coefficient.total_cmp(&b.coefficient),
    });
    let omitted = limited(&mut found, limit);
    Bottlenecks {
        metric: options.metric.clone(),
        measure: options.measure,
        combination: options.combination,
        by: match options.of_self {
            true => Order::SelfCost,
            false => Order::Total,
        },
        min_runs: options.min_runs,
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
    // By run, the functions that have samples: of many functions, a run has few.
    let samples: Vec<Vec<(usize, f64)>> = runs
        .par_iter()
        .map_init(
            || vec![0u64; history.functions.len()],
            |sums, &(run, _)| samples_by_function(history, run, options.of_self, sums),
        )
        .collect();
    // By function, the runs that have samples of it.
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
        let correlation = match options.measure {
            Measure::Pearson => sparse_pearson(&samples, &metric),
            Measure::Spearman => {
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

/// The functions with samples in a run, and how many. `sums` is zero for each function,
/// before and after: it is made once for many runs.
fn samples_by_function(
    history: &History,
    run: usize,
    of_self: bool,
    sums: &mut [u64],
) -> Vec<(usize, f64)> {
    let mut functions: Vec<usize> = Vec::new();
    let mut add = |function: FunctionIx, samples: u64| {
        let sum = &mut sums[function.get()];
        if *sum == 0 && samples > 0 {
            functions.push(function.get());
        }
        *sum += samples;
    };
    match of_self {
        true => history.for_each_self(run, |function, cost| add(function, cost.samples)),
        false => history.for_each_outermost(run, |function, cost| add(function, cost.samples)),
    }
    let taken = functions.into_iter();
    taken
        .map(|function| (function, std::mem::take(&mut sums[function]) as f64))
        .collect()
}

fn combine(
    function: HistoryFunction,
    benchmarks: Vec<InBenchmark>,
    options: &BottleneckOptions,
) -> Bottleneck {
    let towards = |found: &InBenchmark| match options.negative {
        false => found.correlation.coefficient,
        true => -found.correlation.coefficient,
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

/// Interval and p of several coefficients together; nothing is known of those of fewer than four pairs.
fn pooled(correlations: impl Iterator<Item = Correlation>) -> ((f64, f64), f64) {
    let (mut weights, mut sum) = (0.0, 0.0);
    for correlation in correlations.filter(|correlation| correlation.pairs > 3) {
        let weight = correlation.pairs as f64 - 3.0;
        weights += weight;
        // A coefficient of 1 is infinite; that close to it, no run count makes a difference.
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
