//! What a run did over time, as plain data.

use super::{Grid, RowName, RowsBy, RunOverTime, TimelineError, resampled};
use crate::answer::Answer;
use crate::tree::{CostShare, Order, Subject};
use serde::Serialize;
use sto_core::units::Cost;

/// The most slices of a timeline: more than a screen has columns.
pub(crate) const MAX_SLICES: usize = 1000;

/// What a run did over time.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Timeline {
    /// The run.
    #[serde(flatten)]
    pub subject: Subject,
    /// Number of the runs that were selected, of which it is the newest.
    pub runs: usize,
    /// Length of the run in seconds.
    pub seconds: f64,
    /// When the first slice begins, in seconds since the run's first sample.
    pub from: f64,
    /// When the last slice ends.
    pub to: f64,
    /// Number of slices, all of one length: those of the run, at most [`MAX_SLICES`].
    pub slices: usize,
    /// When each of its [phases](crate::phases) but the first begins, in seconds since the run's first sample; none
    /// where a part of its time was taken.
    pub phases: Vec<f64>,
    /// What rows are of.
    pub by: RowsBy,
    /// Which cost of functions and modules is meant.
    pub order: Order,
    /// Whether code that was inlined counts for the function that it was compiled into.
    pub with_inlined: bool,
    /// The rows: most expensive first, equals by module and name.
    pub rows: Vec<TimelineRow>,
    /// Number of rows that a limit left out.
    pub omitted: usize,
    /// The metrics that were asked for, in that order.
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
    /// What it is of.
    #[serde(flatten)]
    pub name: RowName,
    /// What it cost over all of the time.
    pub cost: CostShare,
    /// What it cost in each slice: values in the sample type's unit, or samples where nothing has a value.
    pub values: Vec<f64>,
}

/// A metric of a timeline.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct TimelineMetric {
    /// The metric.
    pub name: String,
    /// Of costs the unit of the event, per second: `ns/s`; of other counts `/s`; none of levels and formulas.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
    /// Its value in each slice; none where it has none. What counts is per second.
    pub values: Vec<Option<f64>>,
}

/// What a run did over time in one sample type: its rows and these metrics.
///
/// # Errors
/// Where there are no such rows, or no such metrics.
pub(crate) fn timeline(
    run: &RunOverTime,
    sample_type: usize,
    (by, order): (&RowsBy, Order),
    metrics: &[String],
    limit: Option<usize>,
) -> Result<Timeline, TimelineError> {
    let own = run.grid();
    let grid = own.at_most(MAX_SLICES);
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
        subject: Subject::new(&run.view, sample_type, whole),
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
                values: resampled(rows.row(row), own, grid),
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
    /// Its slices.
    pub(crate) fn grid(&self) -> Option<Grid> {
        Grid::new(self.from * 1e9, self.to * 1e9, self.slices)
    }
}
