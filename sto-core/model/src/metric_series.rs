//! Metrics over time.

use crate::limits::{MAX_USER_STRING, truncate_text};
use crate::units::Nanoseconds;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The kind of values of a metric over time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
#[repr(u8)]
pub enum MetricKind {
    /// The state at that time: the size of a heap, a temperature, a load.
    Level = 0,
    /// The count since the previous point, at an even rate: page faults, bytes read, nanoseconds of garbage
    /// collection. Counting begins at the first point, whose value is therefore 0.
    Count = 1,
}

/// The values of a metric at strictly increasing times.
#[derive(Clone, Debug, PartialEq)]
pub struct MetricSeries {
    name: String,
    kind: MetricKind,
    times: Arc<[Nanoseconds]>,
    values: Vec<f64>,
}

/// The metrics of a run over time, and the time of the run.
#[derive(Clone, Debug, PartialEq)]
pub struct RunMetrics {
    /// The time of the recording's first sample, by the recording's clock.
    pub first: Nanoseconds,
    /// The time of the recording's last sample.
    pub last: Nanoseconds,
    /// The metrics, in ascending order of their distinct names.
    pub series: Vec<MetricSeries>,
}

impl RunMetrics {
    /// Adds the metrics of `others`, and replaces metrics of the same name. The times are also taken from `others`.
    #[doc(hidden)]
    pub fn merge(self, others: &RunMetrics) -> RunMetrics {
        let all = self.series.into_iter().chain(others.series.iter().cloned());
        let by_name: BTreeMap<String, MetricSeries> =
            all.map(|series| (series.name.clone(), series)).collect();
        RunMetrics {
            first: others.first,
            last: others.last,
            series: by_name.into_values().collect(),
        }
    }

    /// The total number of values of all metrics.
    pub fn value_count(&self) -> usize {
        self.series.iter().map(|series| series.values.len()).sum()
    }
}

/// An invalid metric over time.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SeriesError {
    /// The name is empty or longer than [`MAX_USER_STRING`] bytes.
    #[error("a metric has a name of {found} bytes; expected 1 to {MAX_USER_STRING}")]
    Name {
        /// Length of the name in bytes.
        found: usize,
    },
    /// The number of values differs from the number of times.
    #[error("the metric has {values} values for {times} times")]
    Lengths {
        /// Number of times.
        times: usize,
        /// Number of values.
        values: usize,
    },
    /// A time is not later than the previous time.
    #[error("the time of value {index}, {} ns, is not later than the previous time", time.0)]
    TimeGoesBack {
        /// Index of the value, from 0.
        index: usize,
        /// The time of the value.
        time: Nanoseconds,
    },
    /// A value is not finite, a count is negative, or the first value of a count is not zero.
    #[error("value {index} is {value}; expected {expected}")]
    Value {
        /// Index of the value, from 0.
        index: usize,
        /// The value.
        value: f64,
        /// A description of valid values.
        expected: &'static str,
    },
}

impl MetricSeries {
    /// Creates a series of values at these times, by the recording's clock. Metrics that were read together can
    /// share their times.
    ///
    /// # Errors
    /// Returns an error if the name is empty or too long, the times do not increase, the numbers of times and values
    /// differ, or a value is invalid for the kind.
    pub fn new(
        name: impl Into<String>,
        kind: MetricKind,
        times: Arc<[Nanoseconds]>,
        values: Vec<f64>,
    ) -> Result<MetricSeries, SeriesError> {
        let name = name.into();
        if !(1..=MAX_USER_STRING).contains(&name.len()) {
            return Err(SeriesError::Name { found: name.len() });
        }
        if times.len() != values.len() {
            let (times, values) = (times.len(), values.len());
            return Err(SeriesError::Lengths { times, values });
        }
        if let Some(previous) = times.windows(2).position(|pair| pair[0] >= pair[1]) {
            let index = previous + 1;
            let time = times[index];
            return Err(SeriesError::TimeGoesBack { index, time });
        }
        for (index, &value) in values.iter().enumerate() {
            let expected = match (kind, index) {
                _ if !value.is_finite() => "a finite number",
                (MetricKind::Count, 0) if value != 0.0 => "0, because counting begins there",
                (MetricKind::Count, _) if value < 0.0 => "a count of 0 or more",
                _ => continue,
            };
            return Err(SeriesError::Value {
                index,
                value,
                expected,
            });
        }
        Ok(MetricSeries {
            name,
            kind,
            times,
            values,
        })
    }

    /// Appends a number to the metric's name, and shortens the name if it becomes too long.
    #[doc(hidden)]
    pub fn with_name_suffix(mut self, number: usize) -> MetricSeries {
        let number = format!(" ({number})");
        truncate_text(&mut self.name, MAX_USER_STRING - number.len());
        self.name += &number;
        self
    }

    /// The metric's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The kind of the values.
    pub fn kind(&self) -> MetricKind {
        self.kind
    }

    /// The time of each value, by the recording's clock, in ascending order.
    pub fn times(&self) -> &Arc<[Nanoseconds]> {
        &self.times
    }

    /// The values, one for each time.
    pub fn values(&self) -> &[f64] {
        &self.values
    }
}

#[cfg(test)]
mod tests {
    use super::{MetricKind, MetricSeries, SeriesError};
    use crate::units::Nanoseconds;

    fn series(
        kind: MetricKind,
        times: &[u64],
        values: &[f64],
    ) -> Result<MetricSeries, SeriesError> {
        let times = times.iter().copied().map(Nanoseconds).collect();
        MetricSeries::new("faults", kind, times, values.to_vec())
    }

    #[test]
    fn rejects_invalid_times_and_values() {
        assert!(series(MetricKind::Level, &[1, 2], &[-3.0, 4.5]).is_ok());
        assert!(series(MetricKind::Level, &[], &[]).is_ok());
        for (times, values) in [
            (&[1, 2][..], &[3.0][..]),
            (&[2, 2], &[3.0, 4.0]),
            (&[2, 1], &[3.0, 4.0]),
            (&[1, 2], &[3.0, f64::NAN]),
        ] {
            let error = series(MetricKind::Level, times, values);
            assert!(error.is_err(), "{times:?} {values:?}");
        }
    }

    #[test]
    fn counts_start_at_zero_and_are_not_negative() {
        assert!(series(MetricKind::Count, &[1, 2], &[0.0, 4.0]).is_ok());
        assert!(series(MetricKind::Count, &[1, 2], &[1.0, 4.0]).is_err());
        assert!(series(MetricKind::Count, &[1, 2], &[0.0, -4.0]).is_err());
    }
}
