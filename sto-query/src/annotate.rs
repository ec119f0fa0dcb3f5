//! Metrics of many runs, in one file: CSV or JSON lines.
//!
//! A row is of one run. The columns `profile`, `build`, `benchmark` and `label.KEY` say which; every
//! other column is a metric. A cell without a value says nothing.

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

/// Runs that an error message names.
const MAX_NAMED: usize = 10;

/// The metrics that a file gives to profiles.
pub(crate) type GivenMetrics = BTreeMap<ProfileId, BTreeMap<String, f64>>;

/// Why a file of metrics cannot be used. Nothing of it is, then.
#[derive(Debug, thiserror::Error)]
#[error("line {line}: {why}")]
#[non_exhaustive]
pub struct AnnotateError {
    /// The line, from 1.
    pub(crate) line: u64,
    /// What is wrong there.
    pub(crate) why: AnnotateFault,
}

impl AnnotateError {
    /// What can be done about it.
    pub fn hint(&self) -> Option<Hint> {
        match &self.why {
            AnnotateFault::Select(error) => error.hint(),
            AnnotateFault::NoSuchRun(_) => Some(Hint::ListRuns),
            _ => None,
        }
    }
}

/// What can be wrong with a row of metrics.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum AnnotateFault {
    /// It is not of the form that the first line has.
    #[error("{0}")]
    Malformed(String),
    /// No column says which run it is.
    #[error(
        "nothing says which run this is; expected `profile`, `build`, `benchmark` or `label.KEY` \
         beside the metrics"
    )]
    NoRun,
    /// There is nothing but the run.
    #[error("there is no metric beside {0}")]
    NoMetric(String),
    /// A metric is no number.
    #[error(
        "expected a finite number for the metric `{}`, found `{}`",
        printable(.metric),
        printable(.found)
    )]
    NotANumber {
        /// The metric.
        metric: String,
        /// What stands there.
        found: String,
    },
    /// A column that says which run it is must be text.
    #[error("expected text for `{}`, found {}", printable(.column), printable(.found))]
    NotText {
        /// The column.
        column: String,
        /// What stands there.
        found: String,
    },
    /// No profile is of this name.
    #[error(transparent)]
    Select(#[from] SelectError),
    /// No run fits.
    #[error("no run has {0}")]
    NoSuchRun(String),
    /// Several runs fit.
    #[error(
        "{} runs have {conditions}; say which one in the column `profile`, with an id: {}",
        .ids.len(),
        few(.ids)
    )]
    SeveralRuns {
        /// What was asked for.
        conditions: String,
        /// The profiles.
        ids: Vec<ProfileId>,
    },
    /// Another row gives the metric to the same run.
    #[error("the metric `{}` of the run {profile} stands in a line above, too", printable(.metric))]
    Twice {
        /// The metric.
        metric: String,
        /// The run.
        profile: ProfileId,
    },
}

/// Reads metrics, and finds the runs that they are of among those of `builds`. What begins with `{`
/// is JSON lines, everything else CSV with the names of the columns in its first line. `resolve` gives a selector
/// the commits that its revision is.
///
/// # Errors
/// Where a row is not of its form, or is not of exactly one run.
pub(crate) fn metrics_of(
    text: &str,
    builds: &[StoredBuild],
    resolve: &dyn Fn(Selector) -> Selector,
) -> Result<GivenMetrics, AnnotateError> {
    let rows = match text.trim_start().starts_with('{') {
        true => json_lines(text),
        false => csv_rows(text),
    }?;
    let runs = Runs::of(builds, resolve);
    let mut given = GivenMetrics::new();
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

/// What a row says of its run: columns and values.
#[derive(Default)]
struct Run(BTreeMap<String, String>);

/// Whether a column says which run it is, and is no metric.
fn is_of_run(column: &str) -> bool {
    matches!(column, "profile" | "build" | "benchmark") || column.starts_with("label.")
}

impl Row {
    /// Sorts a row's cells, of which each has a value.
    fn of(line: u64, cells: impl Iterator<Item = (String, Value)>) -> Result<Self, AnnotateError> {
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
        match row.run.0.is_empty() {
            true => Err(AnnotateError {
                line,
                why: AnnotateFault::NoRun,
            }),
            false => Ok(row),
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

/// A row for each line that is not blank.
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
        Row::of(line, object.into_iter())
    };
    filled.map(read).collect()
}

/// A row for each record after the first, which names the columns.
fn csv_rows(text: &str) -> Result<Vec<Row>, AnnotateError> {
    let mut reader = csv::ReaderBuilder::new()
        .trim(csv::Trim::All)
        .from_reader(text.trim_start_matches('\u{feff}').as_bytes());
    let columns = reader.headers().map_err(malformed)?.clone();
    let mut known = HashSet::new();
    if let Some(twice) = columns.iter().find(|&column| !known.insert(column)) {
        let name = printable(twice);
        let why = AnnotateFault::Malformed(format!("two columns are called `{name}`"));
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
        rows.push(Row::of(line, cells)?);
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
    /// The one profile that has all of it.
    fn find(&self, runs: &Runs<'_>) -> Result<ProfileId, AnnotateFault> {
        let mut fitting = Vec::with_capacity(self.0.len());
        for (column, value) in &self.0 {
            fitting.push(match column.strip_prefix("label.") {
                None if column != "benchmark" => runs.named(value)?,
                key => runs
                    .by_value
                    .get(&(key, value.as_str()))
                    .cloned()
                    .unwrap_or_default(),
            });
        }
        // Each is in order, and of the shortest all have to be looked at.
        fitting.sort_by_key(|indices| indices.len());
        let (shortest, others) = fitting
            .split_first()
            .expect("a row says which run it is of");
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

    /// What it says, for messages.
    fn conditions(&self) -> String {
        let all = self.0.iter();
        let all =
            all.map(|(column, value)| format!("{} `{}`", printable(column), printable(value)));
        all.collect::<Vec<_>>().join(", ")
    }
}

/// The first ids of many.
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

/// What was given to runs.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct AnnotatedRuns {
    /// Number of runs that the metrics are of.
    pub runs: usize,
    /// Metrics that their runs did not have.
    pub new: usize,
    /// Metrics that replaced another value.
    pub replaced: usize,
    /// Metrics that their runs had with this value.
    pub unchanged: usize,
}

impl Answer for AnnotatedRuns {
    const SCHEMA: &'static str = "sto.annotate/1";
}

impl AnnotatedRuns {
    /// Reports what was given, and what became of it.
    pub fn of(given: &GivenMetrics, annotated: &Annotated) -> Self {
        AnnotatedRuns {
            runs: given.len(),
            new: annotated.new,
            replaced: annotated.different.len(),
            unchanged: annotated.unchanged,
        }
    }
}
