//! Metrics over the time of a run.

use crate::limits::{MAX_GIVEN_NAME, cut};
use crate::units::Nanoseconds;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

/// What the values of a metric over time are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
#[repr(u8)]
pub enum MetricKind {
    /// What was so at that time: the size of a heap, a temperature, a load.
    Level = 0,
    /// What was counted since the point before, at an even pace: page faults, bytes read, nanoseconds of
    /// collections. Counting begins at the first point, so that this one's value is 0.
    Count = 1,
}

/// Values of a metric at times that only grow.
#[derive(Clone, Debug, PartialEq)]
pub struct MetricSeries {
    name: String,
    kind: MetricKind,
    times: Arc<[Nanoseconds]>,
    values: Vec<f64>,
}

/// The metrics over time of a run, and when it ran.
#[derive(Clone, Debug, PartialEq)]
pub struct RunMetrics {
    /// Time of the first sample of the recording, by its clock.
    pub first: Nanoseconds,
    /// Time of its last sample.
    pub last: Nanoseconds,
    /// The metrics, in ascending order of their names, no two of one name.
    pub series: Vec<MetricSeries>,
}

impl RunMetrics {
    /// The same with what others say: where both have a metric of one name, theirs.
    #[doc(hidden)]
    pub fn with(self, others: &RunMetrics) -> RunMetrics {
        let all = self.series.into_iter().chain(others.series.iter().cloned());
        let by_name: BTreeMap<String, MetricSeries> =
            all.map(|series| (series.name.clone(), series)).collect();
        RunMetrics {
            first: others.first,
            last: others.last,
            series: by_name.into_values().collect(),
        }
    }

    /// The number of values of all metrics.
    pub fn points(&self) -> usize {
        self.series.iter().map(|series| series.values.len()).sum()
    }
}

/// Why values at times are no series.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SeriesError {
    /// A metric has a name of 1 to [`MAX_GIVEN_NAME`] bytes.
    #[error("a metric has a name of {found} bytes; expected 1 to {MAX_GIVEN_NAME}")]
    Name {
        /// Length of the name in bytes.
        found: usize,
    },
    /// There are not as many values as times.
    #[error("the metric has {values} values for {times} times")]
    Lengths {
        /// Number of times.
        times: usize,
        /// Number of values.
        values: usize,
    },
    /// A time is not after the one before.
    #[error("the time of value {index}, {} ns, is not after the one before", time.0)]
    TimeGoesBack {
        /// Index of the value, from 0.
        index: usize,
        /// Its time.
        time: Nanoseconds,
    },
    /// A value is not finite, or of a count negative, or the first one of a count is not zero.
    #[error("value {index} is {value}; expected {expected}")]
    Value {
        /// Index of the value, from 0.
        index: usize,
        /// The value.
        value: f64,
        /// What it should be.
        expected: &'static str,
    },
}

impl MetricSeries {
    /// A series of values at these times, by the recording's clock. Metrics that were read together share their
    /// times.
    ///
    /// # Errors
    /// Where the name is empty or too long, times do not grow or have other values than one each, or a value is
    /// not what its kind has.
    pub fn new(
        name: impl Into<String>,
        kind: MetricKind,
        times: Arc<[Nanoseconds]>,
        values: Vec<f64>,
    ) -> Result<MetricSeries, SeriesError> {
        let name = name.into();
        if !(1..=MAX_GIVEN_NAME).contains(&name.len()) {
            return Err(SeriesError::Name { found: name.len() });
        }
        if times.len() != values.len() {
            let (times, values) = (times.len(), values.len());
            return Err(SeriesError::Lengths { times, values });
        }
        if let Some(before) = times.windows(2).position(|pair| pair[0] >= pair[1]) {
            let index = before + 1;
            let time = times[index];
            return Err(SeriesError::TimeGoesBack { index, time });
        }
        for (index, &value) in values.iter().enumerate() {
            let expected = match (kind, index) {
                _ if !value.is_finite() => "a finite number",
                (MetricKind::Count, 0) if value != 0.0 => "0, as counting begins there",
                (MetricKind::Count, _) if value < 0.0 => "a count, which is not negative",
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

    /// The same with a number after its name, which is cut where that makes it too long.
    #[doc(hidden)]
    pub fn numbered(mut self, number: usize) -> MetricSeries {
        let number = format!(" ({number})");
        cut(&mut self.name, MAX_GIVEN_NAME - number.len());
        self.name += &number;
        self
    }

    /// The metric's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What its values are.
    pub fn kind(&self) -> MetricKind {
        self.kind
    }

    /// When each value was read, by the recording's clock, in ascending order.
    pub fn times(&self) -> &Arc<[Nanoseconds]> {
        &self.times
    }

    /// A value for each time.
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
    fn a_series_has_a_finite_value_for_each_of_times_that_grow() {
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
    fn a_count_begins_at_its_first_point_and_is_never_negative() {
        assert!(series(MetricKind::Count, &[1, 2], &[0.0, 4.0]).is_ok());
        assert!(series(MetricKind::Count, &[1, 2], &[1.0, 4.0]).is_err());
        assert!(series(MetricKind::Count, &[1, 2], &[0.0, -4.0]).is_err());
    }
}
