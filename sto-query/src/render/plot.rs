//! Plots: an axis, coordinates, and values of runs over time with the expected range of each.
//!
//! Horizontal positions are in percent, so that a plot fills the available width while its text and
//! dots keep their size. Lines are in a nested SVG, which is stretched.

use crate::series::LevelShift;
use maud::{Markup, Render, html};
use std::ops::Range;

/// Maximum number of steps of an axis.
const STEPS: f64 = 5.0;

/// An axis that begins at zero.
pub(super) struct Axis {
    step: f64,
    end: f64,
}

impl Axis {
    /// Returns an axis up to at least `largest`, whose steps are 1, 2 or 5 times a power of ten.
    pub(super) fn up_to(largest: f64) -> Axis {
        let step = round_step(largest.max(1e-6) / STEPS);
        Axis {
            step,
            end: step * (largest / step).ceil().max(1.0),
        }
    }

    /// Returns the position of a value as a part of the axis' length.
    pub(super) fn part(&self, value: f64) -> f64 {
        value / self.end
    }

    /// Returns the values of the ticks, from zero to the end of the axis.
    pub(super) fn ticks(&self) -> impl ExactSizeIterator<Item = f64> {
        let steps = (self.end / self.step).round() as u32;
        let step = self.step;
        (0..steps + 1).map(move |number| f64::from(number) * step)
    }
}

/// Returns the least step that is 1, 2 or 5 times a power of ten and not below this one.
pub(super) fn round_step(rough: f64) -> f64 {
    let power = 10f64.powf(rough.log10().floor());
    let nice = [1.0, 2.0, 5.0, 10.0].map(|factor| factor * power);
    nice.into_iter()
        .find(|&step| step >= rough)
        .unwrap_or(rough)
}

/// A coordinate in pixels, written with at most two decimals.
#[derive(Clone, Copy)]
pub(super) struct Px(pub(super) f64);

impl Render for Px {
    fn render_to(&self, markup: &mut String) {
        let text = format!("{:.2}", self.0);
        markup.push_str(text.trim_end_matches('0').trim_end_matches('.'));
    }
}

/// A coordinate in percent of the width.
#[derive(Clone, Copy)]
pub(super) struct Percent(pub(super) f64);

impl Render for Percent {
    fn render_to(&self, markup: &mut String) {
        Px(self.0).render_to(markup);
        markup.push('%');
    }
}

/// Draws a vertical line with an optional tooltip.
pub(super) fn vertical(
    class: &str,
    x: f64,
    (top, bottom): (f64, f64),
    about: Option<&str>,
) -> Markup {
    html! {
        line class=(class) x1=(Percent(x)) x2=(Percent(x)) y1=(Px(top)) y2=(Px(bottom)) {
            @if let Some(about) = about { title { (about) } }
        }
    }
}

/// A run in a plot.
pub(super) struct Point {
    /// Index among all runs.
    pub(super) at: usize,
    /// The plotted value.
    pub(super) value: f64,
    /// Mean and range of the expected values.
    pub(super) expected: Option<(f64, Range<f64>)>,
    /// Whether the point is highlighted.
    pub(super) is_marked: bool,
    /// Tooltip.
    pub(super) text: String,
}

/// A value of runs over time. Runs can lack the value.
pub(super) struct Series {
    /// Number of all runs.
    pub(super) runs: usize,
    /// Runs that have the value.
    pub(super) points: Vec<Point>,
    /// Distance in pixels from the top of the SVG to the top of the plot.
    pub(super) top: f64,
    pub(super) height: f64,
}

/// Margin at the left and right for dots, in percent of the width.
pub(super) const MARGIN: f64 = 2.0;

impl Series {
    /// Returns the vertical axis of the series.
    pub(super) fn axis(&self) -> Axis {
        let highest = |point: &Point| match &point.expected {
            Some((_, band)) => point.value.max(band.end),
            None => point.value,
        };
        Axis::up_to(self.points.iter().map(highest).fold(0.0, f64::max))
    }

    /// Returns the horizontal position of a run in percent of the width.
    pub(super) fn x(&self, at: usize) -> f64 {
        let steps = self.runs.saturating_sub(1).max(1) as f64;
        MARGIN + (100.0 - 2.0 * MARGIN) * at as f64 / steps
    }

    /// Returns the vertical position of a value in pixels.
    pub(super) fn y(&self, axis: &Axis, value: f64) -> f64 {
        self.top + self.height * (1.0 - axis.part(value))
    }

    /// Returns the vertical positions of the top and the bottom of the plot.
    pub(super) fn ends(&self) -> (f64, f64) {
        (self.top, self.top + self.height)
    }

    /// Draws the grid, the range and mean of the expected values, and the line through the points.
    pub(super) fn curves(&self, axis: &Axis) -> Markup {
        let known = || {
            let points = self.points.iter();
            points.filter_map(|point| Some((point.at, point.expected.as_ref()?)))
        };
        let lower = known().map(|(at, (_, band))| (at, band.start.max(0.0)));
        let band = lower
            .rev()
            .chain(known().map(|(at, (_, band))| (at, band.end)));
        let mean = known().map(|(at, (mean, _))| (at, *mean));
        let values = self.points.iter().map(|point| (point.at, point.value));
        let bottom = Px(self.ends().1);
        html! {
            @for y in axis.ticks().map(|tick| Px(self.y(axis, tick))) {
                line.grid x2="100%" y1=(y) y2=(y) {}
            }
            svg viewBox={ "0 0 100 " (bottom) } preserveAspectRatio="none" width="100%" height=(bottom) {
                polygon.band points=(self.coordinates(axis, band)) {}
                polyline.mean points=(self.coordinates(axis, mean)) {}
                polyline.values points=(self.coordinates(axis, values)) {}
            }
        }
    }

    fn coordinates(&self, axis: &Axis, points: impl Iterator<Item = (usize, f64)>) -> Markup {
        html! {
            @for (at, value) in points { (Px(self.x(at))) "," (Px(self.y(axis, value))) " " }
        }
    }

    /// Draws a vertical line before the first run of a new level.
    pub(super) fn change(&self, change: &LevelShift, shown: impl Fn(f64) -> String) -> Markup {
        let x = (self.x(change.at) + self.x(change.at.saturating_sub(1))) / 2.0;
        let (before, after) = (shown(change.before), shown(change.after));
        let about = format!("changed from {before} to {after}, p {:.0e}", change.p);
        vertical("change", x, self.ends(), Some(&about))
    }

    /// Draws a dot for each point.
    pub(super) fn dots(&self, axis: &Axis) -> Markup {
        html! {
            @for point in &self.points {
                circle class=[point.is_marked.then_some("marked")] cx=(Percent(self.x(point.at)))
                    cy=(Px(self.y(axis, point.value))) r=(if point.is_marked { 5 } else { 3 }) {
                    title { (point.text) }
                }
            }
        }
    }
}
