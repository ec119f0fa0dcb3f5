//! Correlations: of the cost of functions with a metric over runs, and of metrics with each other over time.
//!
//! Sources: Lundberg and Rettig, Modeling Profiling Data in a Graph Database (2024), sections 5.3 and 6.2 and
//! appendix A.2; M. Hauswirth, P. F. Sweeney, A. Diwan and M. Mozer, Automating Vertical Profiling (OOPSLA 2005),
//! section 5.
//!
//! See [the manual](crate::manual::correlate).
//!
//! See [the manual](crate::manual::metrics).

mod align;
mod bottlenecks;
mod chance;
mod correlators;
mod error;
mod grid;
mod measures;
mod rank;
mod result;
mod runs;
mod segments;
mod table;
mod windows;

pub use measures::Correlation;

pub use error::LeftOut;

pub use bottlenecks::{Benchmark, Bottleneck, InBenchmark};

pub use align::{AlignedRun, Fit, RankedRun};

pub(crate) use align::align;
pub use align::{Alignment, Doubt, MAX_ALIGNED};
pub use bottlenecks::{BottleneckOptions, Bottlenecks, Combination, Measure, bottlenecks};
pub use correlators::{Correlator, Sign};
pub use error::{CorrelateError, WhyLeftOut};
pub use measures::{pearson, sparse_pearson, spearman};
pub use rank::CorrelateOptions;
pub(crate) use rank::correlate_table;
pub(crate) use result::DrawnSeries;
pub use result::{RankedMetric, RankedMetrics};
pub(crate) use runs::{RunMetrics, correlate_runs, slices_for};
