//! Tables of separated values with a header: one value per line (`time,name,value`), or one metric
//! per column.

use super::points::{Points, check_count, check_name, check_points, kind_of, not_after};
use super::time::unit_of_times;
use super::{Reader, TraceSeries, number, time_in};
use crate::wire::csv::fields_by;
use crate::wire::text::{excerpt, excerpts};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;
use sto_model::MetricKind;
use sto_model::limits::MAX_METRICS;

/// Limit to the fields of a line: a time, the metrics, and one to notice that there are too many.
const MOST_FIELDS: usize = MAX_METRICS + 2;

/// Possible separators; the first one that occurs in the header is used.
const SEPARATORS: [u8; 3] = [b',', b';', b'\t'];

/// The columns of a table.
struct Columns {
    separator: u8,
    count: usize,
    time: usize,
    /// Nanoseconds per unit of the times.
    unit: i64,
}

impl Columns {
    fn fields<'l>(&self, line: &'l [u8]) -> Result<Vec<Cow<'l, [u8]>>, String> {
        let fields = fields_by(line, self.separator, MOST_FIELDS);
        if fields.len() == self.count {
            Ok(fields)
        } else {
            let (found, expected) = (fields.len(), self.count);
            Err(format!(
                "expected {expected} fields, as in the first line, found {found}; was the file cut short?"
            ))
        }
    }

    fn time(&self, fields: &[Cow<'_, [u8]>]) -> Result<i64, String> {
        time_in(&fields[self.time], self.unit)
    }
}

/// The reader of a table with this header.
pub(super) fn reader(header: &[u8]) -> Result<Box<dyn Reader>, String> {
    let separator = SEPARATORS
        .into_iter()
        .find(|separator| header.contains(separator));
    let separator = separator.unwrap_or(SEPARATORS[0]);
    let names = fields_by(header, separator, MOST_FIELDS);
    let names: Vec<String> = names
        .iter()
        .map(|name| String::from_utf8_lossy(name).trim().to_owned())
        .collect();
    check_count(names.len().saturating_sub(1))?;
    let mut times = names.iter().enumerate();
    let times = times.find_map(|(column, name)| Some((column, unit_of_times(name)?)));
    let Some((time, unit)) = times else {
        return Err(format!(
            "expected column names including `time`, or output of `perf stat -I 10 -x,`, found {}",
            excerpt(header)
        ));
    };
    let columns = Columns {
        separator,
        count: names.len(),
        time,
        unit,
    };
    let named = |expected: &str| {
        names
            .iter()
            .position(|name| name.eq_ignore_ascii_case(expected))
    };
    if let (Some(name), Some(value)) = (named("name"), named("value")) {
        return Ok(Box::new(Long {
            columns,
            name,
            value,
            kind: named("kind"),
            is_header: true,
            points: Points::default(),
        }));
    }
    let mut seen = BTreeSet::new();
    for (column, name) in names
        .iter()
        .enumerate()
        .filter(|&(column, _)| column != time)
    {
        if name.is_empty() {
            return Err(format!("column {} has no name", column + 1));
        }
        check_name(name)?;
        if !seen.insert(name) {
            return Err(format!(
                "two columns are called {}",
                excerpt(name.as_bytes())
            ));
        }
    }
    Ok(Box::new(Wide {
        columns,
        is_header: true,
        times: Vec::new(),
        metrics: names.into_iter().map(Metric::new).collect(),
    }))
}

/// A table with one value per line.
struct Long {
    columns: Columns,
    name: usize,
    value: usize,
    kind: Option<usize>,
    is_header: bool,
    points: Points,
}

impl Reader for Long {
    fn line(&mut self, line: &[u8]) -> Result<(), String> {
        if std::mem::take(&mut self.is_header) {
            return Ok(());
        }
        let fields = self.columns.fields(line)?;
        let time = self.columns.time(&fields)?;
        let kind = self
            .kind
            .map_or(Ok(MetricKind::Level), |column| kind_of(&fields[column]))?;
        let name = String::from_utf8_lossy(&fields[self.name]);
        match number(&fields[self.value])? {
            Some(value) => self.points.push(&name, kind, time, value),
            None => Ok(()),
        }
    }

    fn finish(self: Box<Self>) -> Result<(Vec<TraceSeries>, Vec<String>), String> {
        Ok((self.points.finish(), Vec::new()))
    }
}

/// A table with one metric per column.
struct Wide {
    columns: Columns,
    is_header: bool,
    times: Vec<i64>,
    /// The metrics by column; the column of times has no values.
    metrics: Vec<Metric>,
}

struct Metric {
    name: String,
    /// One value per time; NaN if it is missing.
    values: Vec<f64>,
    has_all: bool,
    /// Whether the first value is text.
    is_text: bool,
}

impl Metric {
    fn new(name: String) -> Self {
        Metric {
            name,
            values: Vec::new(),
            has_all: true,
            is_text: false,
        }
    }

    fn push(&mut self, field: &[u8]) -> Result<(), String> {
        if self.is_text {
            return Ok(());
        }
        match number(field) {
            Ok(value) => {
                self.has_all &= value.is_some();
                self.values.push(value.unwrap_or(f64::NAN));
                Ok(())
            }
            Err(_) if self.values.iter().all(|value| value.is_nan()) && !is_numeric(field) => {
                self.is_text = true;
                self.values = Vec::new();
                Ok(())
            }
            Err(problem) => Err(format!(
                "{problem} in column {}",
                excerpt(self.name.as_bytes())
            )),
        }
    }
}

/// Returns `true` if a field is a number, even one that is not finite.
fn is_numeric(field: &[u8]) -> bool {
    str::from_utf8(field).is_ok_and(|text| text.trim().parse::<f64>().is_ok())
}

impl Reader for Wide {
    fn line(&mut self, line: &[u8]) -> Result<(), String> {
        if std::mem::take(&mut self.is_header) {
            return Ok(());
        }
        let fields = self.columns.fields(line)?;
        let time = self.columns.time(&fields)?;
        if let Some(&before) = self.times.last().filter(|&&before| before >= time) {
            return Err(not_after("this line", time, before));
        }
        self.times.push(time);
        check_points(self.times.len() * (self.columns.count - 1))?;
        for (column, (metric, field)) in self.metrics.iter_mut().zip(&fields).enumerate() {
            if column != self.columns.time {
                metric.push(field)?;
            }
        }
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<(Vec<TraceSeries>, Vec<String>), String> {
        let times: Arc<[i64]> = self.times.into();
        let mut metrics = self.metrics;
        metrics.remove(self.columns.time);
        let (text, numbers): (Vec<Metric>, Vec<Metric>) =
            metrics.into_iter().partition(|metric| metric.is_text);
        let series = numbers.into_iter().map(|metric| {
            if metric.has_all {
                level(metric.name, Arc::clone(&times), metric.values)
            } else {
                let points = times
                    .iter()
                    .zip(metric.values)
                    .filter(|(_, value)| !value.is_nan());
                let (times, values): (Vec<i64>, Vec<f64>) = points.unzip();
                level(metric.name, times.into(), values)
            }
        });
        let names = text.iter().map(|metric| metric.name.as_bytes()).collect();
        let names = excerpts(&names);
        let warnings = names.map(|names| format!("columns of text were left out: {names}."));
        Ok((series.collect(), warnings.into_iter().collect()))
    }
}

fn level(name: String, times: Arc<[i64]>, values: Vec<f64>) -> TraceSeries {
    TraceSeries {
        name,
        kind: MetricKind::Level,
        times,
        values,
    }
}
