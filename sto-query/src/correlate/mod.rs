//! Functions whose cost goes with a metric: bottlenecks, or what only fills the time.
//!
//! Source: Lundberg and Rettig, Modeling Profiling Data in a Graph Database (2024), sections 5.3 and
//! 6.2 and appendix A.2.
//!
#![doc = include_str!("correlate.md")]

mod bottlenecks;
mod measures;

pub use bottlenecks::{
    Benchmark, Bottleneck, BottleneckOptions, Bottlenecks, Combination, InBenchmark, Measure,
    bottlenecks,
};
pub use measures::{Correlation, pearson, sparse_pearson, spearman};
