//! Metrics built from single points, each with its name.

use super::TraceSeries;
use super::time::Seconds;
use crate::wire::text::excerpt;
use hashbrown::HashMap;
use sto_model::MetricKind;
use sto_model::limits::{MAX_METRIC_VALUES, MAX_METRICS, MAX_USER_STRING};

/// Metrics under construction, in order of first use.
#[derive(Default)]
pub(super) struct Points {
    by_name: HashMap<String, usize>,
    series: Vec<Series>,
    points: usize,
}

struct Series {
    name: String,
    kind: MetricKind,
    times: Vec<i64>,
    values: Vec<f64>,
}

impl Points {
    /// The time of a metric's last point.
    pub(super) fn last_time(&self, name: &str) -> Option<i64> {
        let series = &self.series[*self.by_name.get(name)?];
        series.times.last().copied()
    }

    /// Adds a point. The first point of a count only marks the begin of counting; its value is
    /// ignored.
    pub(super) fn push(
        &mut self,
        name: &str,
        kind: MetricKind,
        time: i64,
        value: f64,
    ) -> Result<(), String> {
        let index = match self.by_name.get(name) {
            Some(&index) => index,
            None => {
                check_name(name)?;
                check_count(self.series.len() + 1)?;
                self.by_name.insert(name.to_owned(), self.series.len());
                self.series.push(Series {
                    name: name.to_owned(),
                    kind,
                    times: Vec::new(),
                    values: Vec::new(),
                });
                self.series.len() - 1
            }
        };
        self.points += 1;
        check_points(self.points)?;
        let series = &mut self.series[index];
        let name = || excerpt(name.as_bytes());
        if series.kind != kind {
            return Err(format!(
                "{} is a {} here, and was a {} before",
                name(),
                word(kind),
                word(series.kind)
            ));
        }
        if let Some(&before) = series.times.last().filter(|&&before| before >= time) {
            return Err(not_after(&name(), time, before));
        }
        let value = match kind {
            MetricKind::Level => value,
            MetricKind::Count if value < 0.0 => {
                return Err(format!(
                    "expected a count, which is not negative, found {value} of {}",
                    name()
                ));
            }
            MetricKind::Count if series.times.is_empty() => 0.0,
            MetricKind::Count => value,
        };
        series.times.push(time);
        series.values.push(value);
        Ok(())
    }

    pub(super) fn finish(self) -> Vec<TraceSeries> {
        let series = self.series.into_iter().map(|series| TraceSeries {
            name: series.name,
            kind: series.kind,
            times: series.times.into(),
            values: series.values,
        });
        series.collect()
    }
}

/// The word for a kind in a trace.
fn word(kind: MetricKind) -> &'static str {
    match kind {
        MetricKind::Level => "level",
        MetricKind::Count => "count",
    }
}

/// Parses a kind; an empty text is a level.
pub(super) fn kind_of(text: &[u8]) -> Result<MetricKind, String> {
    match text.trim_ascii() {
        b"" | b"level" => Ok(MetricKind::Level),
        b"count" => Ok(MetricKind::Count),
        other => Err(format!(
            "expected the kind `level` or `count`, found {}",
            excerpt(other)
        )),
    }
}

/// The problem of a time that is not after the previous one.
pub(super) fn not_after(what: &str, time: i64, before: i64) -> String {
    let (time, before) = (Seconds(time.into()), Seconds(before.into()));
    format!(
        "the time of {what}, {time}, is not after the previous one, {before}; was the file made from several files?"
    )
}

pub(super) fn check_name(name: &str) -> Result<(), String> {
    match name.len() {
        1..=MAX_USER_STRING => Ok(()),
        found => Err(format!(
            "a metric has a name of {found} bytes; expected 1 to {MAX_USER_STRING}"
        )),
    }
}

pub(super) fn check_count(metrics: usize) -> Result<(), String> {
    match metrics {
        0..=MAX_METRICS => Ok(()),
        _ => Err(format!(
            "there are more than {MAX_METRICS} metrics; use fewer metrics"
        )),
    }
}

pub(super) fn check_points(points: usize) -> Result<(), String> {
    match points {
        0..=MAX_METRIC_VALUES => Ok(()),
        _ => Err(format!(
            "there are more than {MAX_METRIC_VALUES} values; use fewer metrics or fewer values of each"
        )),
    }
}
