//! Labels of the time axis and of values.

use crate::render::plot::round_step;
use crate::text::{format_count, quantity, short};
use crate::timeline::Grid;
use sto_core::units::Unit;

/// Returns the ticks of the time axis: the position of each as a part of the whole, and its label.
///
/// Ticks are 1, 2 or 5 times a power of ten apart, and at least `least` of the whole.
pub(super) fn ticks(grid: Grid, least: f64) -> Vec<(f64, String)> {
    let (from, to) = (grid.from() / 1e9, grid.to() / 1e9);
    let step = round_step((to - from) * least);
    let (scale, unit) = match to {
        ..1e-3 => (1e6, "µs"),
        ..1.0 => (1e3, "ms"),
        _ => (1.0, "s"),
    };
    let decimals = (-(step * scale).log10().floor()).clamp(0.0, 9.0) as usize;
    let first = (from / step).ceil();
    let count = ((to / step).ceil() - first).max(0.0) as usize;
    let times = (0..count).map(|ix| (first + ix as f64) * step);
    let tick = |time: f64| {
        let text = match time {
            0.0 => format!("0 {unit}"),
            time => format!("{:.decimals$} {unit}", time * scale),
        };
        ((time - from) / (to - from), text)
    };
    times.map(tick).collect()
}

/// Formats a cost per second: `998 ms/s`.
pub(super) fn rate(rate: f64, unit: Unit) -> String {
    let shown = quantity(rate.round() as u64, unit);
    let shown = shown.unwrap_or_else(|| format_count(rate.round() as u64, "sample"));
    format!("{shown}/s")
}

/// Formats a value of a metric.
pub(super) fn format_value(value: f64, unit: Option<&str>) -> String {
    let unit_of_cost = unit.and_then(|unit| unit.strip_suffix("/s"));
    match unit_of_cost.and_then(|unit| unit.parse().ok()) {
        Some(unit) => rate(value, unit),
        None => format!("{}{}", short(value), unit.unwrap_or_default()),
    }
}
