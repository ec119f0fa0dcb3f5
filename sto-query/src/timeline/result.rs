//! A run over time as plain data.

use super::{Grid, RowName, RowsBy, RunOverTime, TimelineError, resample};
use crate::answer::Answer;
use crate::tree::{CostShare, Order, Subject};
use serde::Serialize;
use sto_core::units::Cost;

/// Maximum number of slices of a timeline, more than the columns of a screen.
pub(crate) const MAX_SLICES: usize = 1000;

/// A run over time.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Timeline {
    /// The run.
    #[serde(flatten)]
    pub subject: Subject,
    /// Number of selected runs; this is the newest of them.
    pub runs: usize,
    /// Duration of the run in seconds.
    pub seconds: f64,
    /// Start of the first slice, in seconds since the run's first sample.
    pub from: f64,
    /// End of the last slice, in seconds since the run's first sample.
    pub to: f64,
    /// Number of slices, all of equal length: as many as the run has, but at most 1000.
    pub slices: usize,
    /// Start of each phase except the first, in seconds since the run's first sample; empty if a
    /// time window was selected.
    pub phases: Vec<f64>,
    /// Grouping of costs into rows.
    pub by: RowsBy,
    /// Cost of functions and modules that is shown.
    pub order: Order,
    /// Whether inlined code counts for the function that contains it.
    pub with_inlined: bool,
    /// The rows: most expensive first, equal ones by module and name.
    pub rows: Vec<TimelineRow>,
    /// Number of rows that a limit left out.
    pub omitted: usize,
    /// The requested metrics, in order.
    pub metrics: Vec<TimelineMetric>,
}

impl Answer for Timeline {
    const SCHEMA: &'static str = "sto.timeline/1";
}

/// A row of a timeline.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct TimelineRow {
    /// Name of the row.
    #[serde(flatten)]
    pub name: RowName,
    /// Total cost of the row.
    pub cost: CostShare,
    /// Cost in each slice, in the sample type's unit, or in samples if nothing has a value.
    pub values: Vec<f64>,
}

/// A metric of a timeline.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct TimelineMetric {
    /// The metric.
    pub name: String,
    /// Unit: for costs the unit of the event per second, such as `ns/s`; for other counts `/s`; `None` for levels and
    /// formulas.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
    /// Value in each slice; `None` if missing. Counts are per second.
    pub values: Vec<Option<f64>>,
}

/// Returns a run over time in one sample type: its rows, and these metrics.
///
/// # Errors
///
/// Returns an error if the rows or metrics do not exist.
pub(crate) fn timeline(
    run: &RunOverTime,
    sample_type: usize,
    (by, order): (&RowsBy, Order),
    metrics: &[String],
    limit: Option<usize>,
) -> Result<Timeline, TimelineError> {
    let own = run.grid();
    let grid = own.with_max_slices(MAX_SLICES);
    let rows = run.rows(sample_type, by, order, limit)?;
    let whole: Cost = run.view.self_costs(sample_type).into_iter().sum();
    let metrics = run
        .metrics(sample_type, metrics, grid)?
        .into_iter()
        .map(|series| TimelineMetric {
            unit: run.unit_of(sample_type, &series.name),
            name: series.name,
            values: series.values.into_iter().map(known).collect(),
        });
    let listed = rows.names.iter().zip(&rows.costs).enumerate();
    let seconds = |nanoseconds: f64| nanoseconds / 1e9;
    Ok(Timeline {
        subject: Subject::with_whole(&run.view, sample_type, whole),
        runs: run.runs,
        seconds: seconds(run.slices().duration().0 as f64),
        from: seconds(grid.from()),
        to: seconds(grid.to()),
        slices: grid.count(),
        phases: Vec::new(),
        by: by.clone(),
        order,
        with_inlined: run.view.is_without_inlined(),
        rows: listed
            .map(|(row, (name, &cost))| TimelineRow {
                name: name.clone(),
                cost: CostShare::new(cost, whole),
                values: resample(rows.row(row), own, grid),
            })
            .collect(),
        omitted: rows.omitted,
        metrics: metrics.collect(),
    })
}

fn known(value: f64) -> Option<f64> {
    Some(value).filter(|value| value.is_finite())
}

impl Timeline {
    /// The grid of its slices.
    pub(crate) fn grid(&self) -> Option<Grid> {
        Grid::new(self.from * 1e9, self.to * 1e9, self.slices)
    }
}
