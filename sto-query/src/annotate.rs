//! Metrics of many runs in one file: CSV or JSON lines.
//!
//! Each row is for one run, identified by the columns `profile`, `build`, `benchmark` and `label.KEY`; every other
//! column is a metric. Empty cells are ignored.

mod runs;

use crate::answer::Answer;
use crate::select::{SelectError, Selector};
use crate::text::printable;
use hashbrown::HashSet;
use runs::Runs;
use serde::Serialize;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use sto_core::Hint;
use sto_core::id::ProfileId;
use sto_core::store::{Annotated, StoredBuild};

/// Maximum number of runs named in an error message.
const MAX_NAMED: usize = 10;

/// Metrics from a file, by profile.
pub(crate) type MetricsByProfile = BTreeMap<ProfileId, BTreeMap<String, f64>>;

/// Error in a file of metrics. No part of the file is used.
#[derive(Debug, thiserror::Error)]
#[error("line {line}: {why}")]
#[non_exhaustive]
pub struct AnnotateError {
    /// Line number, from 1.
    pub(crate) line: u64,
    /// The problem.
    pub(crate) why: AnnotateFault,
}

impl AnnotateError {
    /// Returns a hint about how to resolve the error.
    pub fn hint(&self) -> Option<Hint> {
        match &self.why {
            AnnotateFault::Select(error) => error.hint(),
            AnnotateFault::NoSuchRun(_) => Some(Hint::ListRuns),
            _ => None,
        }
    }
}

/// Problem in a row of metrics.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum AnnotateFault {
    /// The row is malformed, or does not match the first line.
    #[error("{0}")]
    Malformed(String),
    /// No column identifies the run.
    #[error(
        "nothing identifies the run; expected `profile`, `build`, `benchmark` or `label.KEY` \
         besides the metrics"
    )]
    NoRun,
    /// The row has no metrics.
    #[error("there is no metric besides {0}")]
    NoMetric(String),
    /// A metric is not a number.
    #[error(
        "expected a finite number for the metric `{}`, found `{}`",
        printable(.metric),
        printable(.found)
    )]
    NotANumber {
        /// Name of the metric.
        metric: String,
        /// Content of the cell.
        found: String,
    },
    /// A column that identifies the run is not text.
    #[error("expected text for `{}`, found {}", printable(.column), printable(.found))]
    NotText {
        /// Name of the column.
        column: String,
        /// Content of the cell.
        found: String,
    },
    /// No profile has this name.
    #[error(transparent)]
    Select(#[from] SelectError),
    /// No run matches.
    #[error("no run has {0}")]
    NoSuchRun(String),
    /// Several runs match.
    #[error(
        "{} runs have {conditions}; say which one in the column `profile`, with an id: {}",
        .ids.len(),
        few(.ids)
    )]
    SeveralRuns {
        /// Values that identify the run.
        conditions: String,
        /// Matching profiles.
        ids: Vec<ProfileId>,
    },
    /// Another row has the same metric for the same run.
    #[error("the metric `{}` of the run {profile} is in an earlier line, too", printable(.metric))]
    Twice {
        /// The metric.
        metric: String,
        /// The run.
        profile: ProfileId,
    },
}

/// Reads metrics, and finds their runs among `builds`. Text that begins with `{` is read as JSON lines, other text as
/// CSV with column names in the first line. `resolve` replaces the revision of a selector by its commits.
///
/// # Errors
///
/// Returns an error if a row is malformed, or does not match exactly one run.
pub(crate) fn read_metrics(
    text: &str,
    builds: &[StoredBuild],
    resolve: &dyn Fn(Selector) -> Selector,
) -> Result<MetricsByProfile, AnnotateError> {
    let rows = if text.trim_start().starts_with('{') {
        json_lines(text)
    } else {
        csv_rows(text)
    }?;
    let runs = Runs::new(builds, resolve);
    let mut given = MetricsByProfile::new();
    for Row { line, run, metrics } in rows {
        let at = |why| AnnotateError { line, why };
        if metrics.is_empty() {
            return Err(at(AnnotateFault::NoMetric(run.conditions())));
        }
        let profile = run.find(&runs).map_err(at)?;
        let of_run = given.entry(profile).or_default();
        for (metric, value) in metrics {
            if of_run.contains_key(&metric) {
                return Err(at(AnnotateFault::Twice { metric, profile }));
            }
            of_run.insert(metric, value);
        }
    }
    Ok(given)
}

/// A line of the file.
struct Row {
    line: u64,
    run: Run,
    metrics: BTreeMap<String, f64>,
}

/// Columns that identify a run, with their values.
#[derive(Default)]
struct Run(BTreeMap<String, String>);

/// Returns `true` if a column identifies the run rather than being a metric.
fn is_of_run(column: &str) -> bool {
    matches!(column, "profile" | "build" | "benchmark") || column.starts_with("label.")
}

impl Row {
    /// Creates a row from non-empty cells.
    fn from_cells(
        line: u64,
        cells: impl Iterator<Item = (String, Value)>,
    ) -> Result<Self, AnnotateError> {
        let mut row = Row {
            line,
            run: Run::default(),
            metrics: BTreeMap::new(),
        };
        for (column, value) in cells {
            let at = |why| AnnotateError { line, why };
            match (is_of_run(&column), value) {
                (_, Value::Null) => {}
                (true, Value::String(text)) => {
                    row.run.0.insert(column, text);
                }
                (true, value) => {
                    let found = value.to_string();
                    return Err(at(AnnotateFault::NotText { column, found }));
                }
                (false, value) => match number(&value) {
                    Some(number) => {
                        row.metrics.insert(column, number);
                    }
                    None => {
                        return Err(at(AnnotateFault::NotANumber {
                            metric: column,
                            found: value.as_str().map_or(value.to_string(), str::to_owned),
                        }));
                    }
                },
            }
        }
        if row.run.0.is_empty() {
            Err(AnnotateError {
                line,
                why: AnnotateFault::NoRun,
            })
        } else {
            Ok(row)
        }
    }
}

fn number(value: &Value) -> Option<f64> {
    let number = match value {
        Value::String(text) => text.trim().parse().ok(),
        value => value.as_f64(),
    };
    number.filter(|number| number.is_finite())
}

/// Returns a row for each line that is not blank.
fn json_lines(text: &str) -> Result<Vec<Row>, AnnotateError> {
    let lines = (1..).zip(text.lines());
    let filled = lines.filter(|(_, text)| !text.trim().is_empty());
    let read = |(line, text)| {
        let object: Map<String, Value> = serde_json::from_str(text).map_err(|error| {
            let column = error.column();
            AnnotateError {
                line,
                why: AnnotateFault::Malformed(format!(
                    "expected a JSON object in one line, found something else at column {column}"
                )),
            }
        })?;
        Row::from_cells(line, object.into_iter())
    };
    filled.map(read).collect()
}

/// Returns a row for each record after the first, which contains the column names.
fn csv_rows(text: &str) -> Result<Vec<Row>, AnnotateError> {
    let mut reader = csv::ReaderBuilder::new()
        .trim(csv::Trim::All)
        .from_reader(text.trim_start_matches('\u{feff}').as_bytes());
    let columns = reader.headers().map_err(malformed)?.clone();
    let mut known = HashSet::new();
    if let Some(twice) = columns.iter().find(|&column| !known.insert(column)) {
        let name = printable(twice);
        let why = AnnotateFault::Malformed(format!("two columns have the name `{name}`"));
        return Err(AnnotateError { line: 1, why });
    }
    let mut rows = Vec::new();
    for record in reader.records() {
        let record = record.map_err(malformed)?;
        let line = record.position().map_or(0, csv::Position::line);
        let cells = columns.iter().zip(&record).map(|(column, cell)| {
            let value = match cell {
                "" => Value::Null,
                text => Value::from(text),
            };
            (column.to_owned(), value)
        });
        rows.push(Row::from_cells(line, cells)?);
    }
    Ok(rows)
}

fn malformed(error: csv::Error) -> AnnotateError {
    let why = match error.kind() {
        csv::ErrorKind::UnequalLengths {
            expected_len, len, ..
        } => {
            format!("expected {expected_len} columns as in the first line, found {len}")
        }
        _ => error.to_string(),
    };
    AnnotateError {
        line: error.position().map_or(1, csv::Position::line),
        why: AnnotateFault::Malformed(why),
    }
}

impl Run {
    /// Returns the only profile that matches.
    fn find(&self, runs: &Runs<'_>) -> Result<ProfileId, AnnotateFault> {
        let mut fitting = Vec::with_capacity(self.0.len());
        for (column, value) in &self.0 {
            fitting.push(match column.strip_prefix("label.") {
                None if column != "benchmark" => runs.find_by_name(value)?,
                key => runs
                    .by_value
                    .get(&(key, value.as_str()))
                    .cloned()
                    .unwrap_or_default(),
            });
        }
        // Each list is sorted, and only the shortest has to be searched completely.
        fitting.sort_by_key(|indices| indices.len());
        let (shortest, others) = fitting.split_first().expect("a row identifies its run");
        let is_in_all = |index: &&usize| others.iter().all(|all| all.binary_search(index).is_ok());
        let found: Vec<usize> = shortest.iter().filter(is_in_all).copied().collect();
        match found[..] {
            [one] => Ok(runs.all[one]),
            [] => Err(AnnotateFault::NoSuchRun(self.conditions())),
            _ => Err(AnnotateFault::SeveralRuns {
                conditions: self.conditions(),
                ids: found.into_iter().map(|index| runs.all[index]).collect(),
            }),
        }
    }

    /// Describes the values for messages.
    fn conditions(&self) -> String {
        let all = self.0.iter();
        let all =
            all.map(|(column, value)| format!("{} `{}`", printable(column), printable(value)));
        all.collect::<Vec<_>>().join(", ")
    }
}

/// Formats the first few ids.
fn few(ids: &[ProfileId]) -> String {
    let mut shown: Vec<String> = ids
        .iter()
        .take(MAX_NAMED)
        .map(ProfileId::to_string)
        .collect();
    if ids.len() > MAX_NAMED {
        shown.push("...".to_owned());
    }
    shown.join(", ")
}

/// Result of annotating runs.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct AnnotatedRuns {
    /// Number of annotated runs.
    pub runs: usize,
    /// Number of metrics that are new to their runs.
    pub new: usize,
    /// Number of metrics that replaced another value.
    pub replaced: usize,
    /// Number of metrics that already had this value.
    pub unchanged: usize,
}

impl Answer for AnnotatedRuns {
    const SCHEMA: &'static str = "sto.annotate/1";
}

impl AnnotatedRuns {
    /// Creates the report.
    pub fn new(given: &MetricsByProfile, annotated: &Annotated) -> Self {
        AnnotatedRuns {
            runs: given.len(),
            new: annotated.new,
            replaced: annotated.different.len(),
            unchanged: annotated.unchanged,
        }
    }
}
