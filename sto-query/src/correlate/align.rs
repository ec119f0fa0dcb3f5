//! Alignment of two runs of the same work in time by a common metric (sections 3.2 and 3.3 of the paper).

use super::error::CorrelateError;
use super::grid::{self, DRAWN_STRETCHES, fill_gaps, is_same};
use crate::answer::Answer;
use crate::select::full_name;
use crate::timeline::{Grid, NamedSeries, RunOverTime};
use crate::tree::Subject;
use serde::Serialize;
use std::ops::Range;
use sto_stats::warp::{self, Path, WarpError};

/// Maximum number of slices per run; a path through this many squared takes half a second.
pub const MAX_ALIGNED: usize = 10_000;

/// Alignment in time of two runs of the same work.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Alignment {
    /// The reference run, and the run aligned to it.
    pub runs: [AlignedRun; 2],
    /// Quality of the alignment.
    #[serde(flatten)]
    pub fit: Fit,
    /// The best path: pairs of matching times in both runs, in seconds since the first sample of each.
    pub path: Vec<[f64; 2]>,
    /// Unit of the metric, if it has one.
    #[serde(skip)]
    pub(crate) unit: Option<String>,
    /// Means of the metric over equal stretches of each run, for pages.
    #[serde(skip)]
    pub(crate) means: [Vec<f64>; 2],
}

impl Answer for Alignment {
    const SCHEMA: &'static str = "sto.align/1";
}

/// An aligned run.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct AlignedRun {
    /// The run.
    #[serde(flatten)]
    pub subject: Subject,
    /// Duration in seconds.
    pub seconds: f64,
    /// Number of slices of time.
    pub slices: usize,
}

impl AlignedRun {
    pub(super) fn new((run, sample_type): (&RunOverTime, usize), grid: Grid) -> AlignedRun {
        AlignedRun {
            subject: Subject::new(&run.view, sample_type),
            seconds: run.grid().to() / 1e9,
            slices: grid.count(),
        }
    }
}

/// A run whose metrics are ranked.
#[derive(Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct RankedRun {
    /// The run.
    #[serde(flatten)]
    pub run: AlignedRun,
    /// Quality of the alignment to the first run; `None` for the first run, and if runs are compared by the time
    /// since their first samples.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fit: Option<Fit>,
}

/// Quality of an alignment.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Fit {
    /// The metric by which the runs are aligned.
    pub metric: String,
    /// Sum of the metric's differences along the path (equation 1), in its unit.
    pub error: f64,
    /// Mean difference along the path, as a share of the metric's range in both runs.
    pub mean_error: f64,
    /// Reasons not to trust the path.
    pub warnings: Vec<Doubt>,
}

/// Reason why an alignment may be wrong. Times are in seconds since the first sample of each run.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Doubt {
    /// The metric is nearly constant, so noise decides the alignment (figure 4).
    NearlyConstant {
        /// Start and end in the first run.
        first: [f64; 2],
        /// Start and end in the second run.
        second: [f64; 2],
    },
    /// The metric is periodic, so the path may match different repetitions (figure 5).
    Repetitive {
        /// The periodic run: 0 or 1.
        run: usize,
        /// The period in seconds.
        period: f64,
        /// Maximum distance of the path from the line between the ends, in seconds of that run.
        shift: f64,
        /// Start and end of the part of the first run where the distance exceeds half a period.
        first: [f64; 2],
        /// Start and end of that part in the second run.
        second: [f64; 2],
    },
}

/// A path between two runs, by index of slice.
pub(super) struct WarpPath {
    pub(super) fit: Fit,
    path: Path,
    /// The metric in both runs.
    series: [Vec<f64>; 2],
}

impl WarpPath {
    fn new([a, b]: [&NamedSeries; 2], grids: [Grid; 2]) -> Result<WarpPath, WarpError> {
        let path = warp::path(&a.values, &b.values, None)?;
        let doubts = warp::warnings(&a.values, &b.values, &path);
        let doubts = doubts
            .into_iter()
            .map(|warning| Doubt::from_warning(warning, grids));
        let both = || a.values.iter().chain(&b.values).copied();
        let range = both().fold(f64::MIN, f64::max) - both().fold(f64::MAX, f64::min);
        let mean = path.error / path.pairs.len() as f64;
        Ok(WarpPath {
            fit: Fit {
                metric: a.name.clone(),
                error: path.error,
                mean_error: if range > 0.0 { mean / range } else { 0.0 },
                warnings: doubts.collect(),
            },
            path,
            series: [a, b].map(|series| series.values.clone()),
        })
    }

    /// Returns `true` if these values of the second run are the metric used for the alignment.
    pub(super) fn is_alignment_metric(&self, values: &[f64]) -> bool {
        is_same(&self.series[1], values)
    }

    /// Maps a series of the second run to the time of the first: the mean of the values matched to each slice.
    pub(super) fn map_to_first(&self, values: &[f64]) -> Vec<f64> {
        let of_slice = self.path.pairs.chunk_by(|a, b| a.0 == b.0);
        let mean = |pairs: &[(usize, usize)]| {
            let known = pairs.iter().map(|pair| values[pair.1]);
            let known = known.filter(|value| !value.is_nan());
            let (sum, count) =
                known.fold((0.0, 0.0), |(sum, count), value| (sum + value, count + 1.0));
            sum / count
        };
        of_slice.map(mean).collect()
    }
}

impl Doubt {
    fn from_warning(warning: warp::Warning, grids: [Grid; 2]) -> Doubt {
        let [first, second] = grids;
        let seconds = |slices: Range<usize>, grid: Grid| {
            let begin = grid.from() / 1e9;
            [slices.start, slices.end].map(|slice| begin + slice as f64 * grid.step())
        };
        match warning {
            warp::Warning::NearlyConstant { a, b, .. } => Doubt::NearlyConstant {
                first: seconds(a, first),
                second: seconds(b, second),
            },
            warp::Warning::Repetitive {
                series,
                period,
                shift,
                a,
                b,
            } => {
                let run = usize::from(series == warp::Side::B);
                Doubt::Repetitive {
                    run,
                    period: period as f64 * grids[run].step(),
                    shift: shift as f64 * grids[run].step(),
                    first: seconds(a, first),
                    second: seconds(b, second),
                }
            }
        }
    }
}

/// Aligns two runs by a common metric, named as for [`RunOverTime::metrics`]; each run has at most `most` slices.
///
/// # Errors
///
/// Returns an error if a run does not have the metric or has no value of it.
pub(crate) fn align(
    runs: [(&RunOverTime, usize); 2],
    metric: &str,
    most: usize,
) -> Result<Alignment, CorrelateError> {
    let grids = runs.map(|(run, _)| run.grid().with_max_slices(most.min(MAX_ALIGNED)));
    let warped = find_path([(runs[0], grids[0]), (runs[1], grids[1])], metric)?;
    let times = grids.map(Grid::times);
    let pairs = warped.path.pairs.iter();
    let means = |ix: usize| grid::Grid::new(&times[ix], DRAWN_STRETCHES).means(&warped.series[ix]);
    Ok(Alignment {
        runs: [0, 1].map(|ix| AlignedRun::new(runs[ix], grids[ix])),
        path: pairs.map(|&(a, b)| [times[0][a], times[1][b]]).collect(),
        unit: runs[0].0.unit_of(runs[0].1, &warped.fit.metric),
        means: [0, 1].map(means),
        fit: warped.fit,
    })
}

/// Finds the best path between two runs by a common metric.
pub(super) fn find_path(
    runs: [((&RunOverTime, usize), Grid); 2],
    metric: &str,
) -> Result<WarpPath, CorrelateError> {
    let texts = [metric.to_owned()];
    let of_run = |((run, sample_type), grid): ((&RunOverTime, usize), Grid)| {
        let mut series = run.metrics(sample_type, &texts, grid)?.remove(0);
        if series.values.iter().all(|value| value.is_nan()) {
            return Err(CorrelateError::NoValue {
                metric: series.name,
                build: full_name(&run.view.selection.build),
            });
        }
        fill_gaps(&grid.times(), &mut series.values);
        Ok(series)
    };
    let [a, b] = [of_run(runs[0])?, of_run(runs[1])?];
    Ok(WarpPath::new([&a, &b], runs.map(|(_, grid)| grid))?)
}
