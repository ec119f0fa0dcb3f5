//! Functions whose cost goes with a metric.

use crate::answer::limited;
use crate::correlate::{Bottleneck, BottleneckOptions, Combination, Measure, bottlenecks};
use crate::history::History;
use crate::history::HistoryFunctionReport;
use serde::Serialize;

/// Functions whose cost goes with a metric; schema `sto.bottlenecks/1`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Bottlenecks {
    /// `sto.bottlenecks/1`.
    pub schema: &'static str,
    /// The metric.
    pub metric: String,
    /// The coefficient.
    pub measure: Measure,
    /// How the coefficients of several benchmarks become one.
    pub combination: Combination,
    /// Which samples are counted: `self` or `total`.
    pub by: &'static str,
    /// Runs that a benchmark, and a function in it, needs.
    pub min_runs: usize,
    /// Whether those that go against the metric stand first.
    pub negative: bool,
    /// The benchmarks, by program and name.
    pub benchmarks: Vec<BenchmarkReport>,
    /// The functions that go with the metric most first, then by name.
    pub functions: Vec<BottleneckReport>,
    /// Number of functions that a limit left out.
    pub omitted: usize,
}

/// The runs of one program and benchmark that have the metric.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct BenchmarkReport {
    /// The program.
    pub executable: String,
    /// The benchmark; `None` for runs of none.
    pub benchmark: Option<String>,
    /// Number of runs.
    pub runs: usize,
}

/// A function.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BottleneckReport {
    /// The function.
    #[serde(flatten)]
    pub function: HistoryFunctionReport,
    /// The coefficient over all benchmarks, from -1 to 1.
    pub coefficient: f64,
    /// The least that it may be, with a confidence of 95 %.
    pub low: f64,
    /// The most that it may be.
    pub high: f64,
    /// Probability of a coefficient at least as far from zero by chance.
    pub p: f64,
    /// `p` adjusted for the number of functions (Benjamini & Hochberg).
    pub q: f64,
    /// The coefficient in each benchmark that has the function often enough.
    pub benchmarks: Vec<InBenchmarkReport>,
}

/// The coefficient in one benchmark.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct InBenchmarkReport {
    /// Place of the benchmark in `benchmarks` of the report, from 0.
    pub benchmark: usize,
    /// The coefficient.
    pub coefficient: f64,
    /// Its p.
    pub p: f64,
}

/// Lists the functions whose cost goes with a metric; at most `limit` of them.
pub fn bottlenecks_report(
    histories: &[History],
    options: &BottleneckOptions,
    limit: Option<usize>,
) -> Bottlenecks {
    let (benchmarks, mut found) = bottlenecks(histories, options);
    let omitted = limited(&mut found, limit);
    Bottlenecks {
        schema: "sto.bottlenecks/1",
        metric: options.metric.clone(),
        measure: options.measure,
        combination: options.combination,
        by: if options.of_self { "self" } else { "total" },
        min_runs: options.min_runs,
        negative: options.negative,
        benchmarks: benchmarks
            .into_iter()
            .map(|benchmark| BenchmarkReport {
                executable: benchmark.executable,
                benchmark: benchmark.name,
                runs: benchmark.runs,
            })
            .collect(),
        functions: found.into_iter().map(BottleneckReport::from).collect(),
        omitted,
    }
}

impl From<Bottleneck> for BottleneckReport {
    fn from(found: Bottleneck) -> Self {
        BottleneckReport {
            function: HistoryFunctionReport {
                function: found.function.symbol,
                module: found.function.module,
            },
            coefficient: found.coefficient,
            low: found.interval.0,
            high: found.interval.1,
            p: found.p,
            q: found.q,
            benchmarks: found
                .benchmarks
                .iter()
                .map(|found| InBenchmarkReport {
                    benchmark: found.benchmark,
                    coefficient: found.correlation.coefficient,
                    p: found.correlation.p,
                })
                .collect(),
        }
    }
}
