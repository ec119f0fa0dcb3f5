//! A metric over time as a line.

use super::axis::format_value;
use super::text::means;
use crate::timeline::{Grid, TimelineMetric};
use maud::{Markup, html};

/// Height of a metric's line in pixels.
pub(in crate::render) const LINE: usize = 40;

/// A metric as a line.
pub(in crate::render) struct Line {
    values: Vec<f64>,
    pub(super) ends: Option<(f64, f64)>,
    unit: Option<String>,
}

impl Line {
    pub(super) fn new(metric: &TimelineMetric, own: Grid, grid: Grid) -> Line {
        Line::from_values(means(&metric.values, own, grid), metric.unit.clone())
    }

    /// Creates the line of one value for each slice; NaN if missing.
    pub(in crate::render) fn from_values(values: Vec<f64>, unit: Option<String>) -> Line {
        let known = || values.iter().copied().filter(|value| value.is_finite());
        let least = known().reduce(f64::min);
        Line {
            ends: least.zip(known().reduce(f64::max)),
            unit,
            values,
        }
    }

    pub(super) fn svg(&self, name: &str) -> Markup {
        let about = match self.ends {
            Some(_) => format!("{name}: {} to {}", self.least(), self.most()),
            None => format!("{name}: no value"),
        };
        html! {
            svg.line role="img" aria-label=(about) viewBox={ "0 0 " (self.values.len()) " " (LINE) }
                preserveAspectRatio="none" width="100%" height=(LINE) {
                path d=(self.path()) {}
            }
        }
    }

    /// Returns a path with a step for each slice and gaps where the metric has no value.
    pub(in crate::render) fn path(&self) -> String {
        let mut path = String::new();
        let mut before = f64::NAN;
        for (slice, &value) in self.values.iter().enumerate() {
            if value.is_finite() {
                let y = self.y(value);
                let command = match (before.is_finite(), before == value) {
                    (false, _) => format!("M{slice} {y:.1}h1"),
                    (true, true) => "h1".to_owned(),
                    (true, false) => format!("V{y:.1}h1"),
                };
                path += &command;
            }
            before = value;
        }
        path
    }

    /// Returns the vertical position of a value; a constant is in the middle.
    pub(in crate::render) fn y(&self, value: f64) -> f64 {
        let part = match self.ends {
            Some((least, most)) if most > least => (value - least) / (most - least),
            _ => 0.5,
        };
        2.0 + (LINE - 4) as f64 * (1.0 - part)
    }

    /// Formats the least value.
    pub(in crate::render) fn least(&self) -> String {
        self.ends.map_or(String::new(), |(least, _)| {
            format_value(least, self.unit.as_deref())
        })
    }

    /// Formats the largest value.
    pub(in crate::render) fn most(&self) -> String {
        self.ends.map_or(String::new(), |(_, most)| {
            format_value(most, self.unit.as_deref())
        })
    }
}
