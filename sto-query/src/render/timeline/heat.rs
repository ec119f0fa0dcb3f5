//! Heat maps: a row for each function, module, thread or label value, darker where it cost more.

use crate::timeline::{Grid, Timeline, resample};
use maud::{Markup, html};
use std::fmt::Write;

/// Height of a row in pixels.
pub(super) const ROW: usize = 20;
/// Lower bounds of the levels, as parts of the highest cost. Cells below the first stay empty.
pub(super) const LEVELS: [f64; 8] = [0.01, 0.05, 0.12, 0.22, 0.35, 0.5, 0.7, 0.9];
/// Height of a cell as a part of the row's height.
const HEIGHT: &str = ".9";

/// A heat map.
pub(super) struct HeatMap {
    /// The level of each cell, counted from 1; 0 is an empty cell.
    rows: Vec<Vec<usize>>,
    slices: usize,
    /// Highest cost of a cell, per second.
    pub(super) highest: f64,
}

impl HeatMap {
    pub(super) fn new(timeline: &Timeline, own: Grid, grid: Grid) -> HeatMap {
        let rows = timeline.rows.iter();
        let rows: Vec<Vec<f64>> = rows.map(|row| resample(&row.values, own, grid)).collect();
        let highest = rows.iter().flatten().copied().fold(0.0, f64::max);
        let level = |cost: &f64| {
            LEVELS
                .iter()
                .filter(|from| cost / highest >= **from)
                .count()
        };
        HeatMap {
            rows: rows
                .iter()
                .map(|row| row.iter().map(level).collect())
                .collect(),
            slices: grid.count(),
            highest: highest / grid.step(),
        }
    }

    /// Draws the cells as one path per level.
    pub(super) fn svg(&self, about: &str) -> Markup {
        let rows = self.rows.len().max(1);
        html! {
            svg.heat role="img" aria-label=(about) viewBox={ "0 0 " (self.slices) " " (rows) }
                preserveAspectRatio="none" width="100%" height=(rows * ROW) {
                @for level in 1..=LEVELS.len() {
                    @let cells = self.cells(level);
                    @if !cells.is_empty() { path class={ "h" (level) } d=(cells) {} }
                }
            }
        }
    }

    /// Returns the cells of one level as a path; adjacent cells are one rectangle.
    fn cells(&self, level: usize) -> String {
        let mut path = String::new();
        for (y, row) in self.rows.iter().enumerate() {
            let mut x = 0;
            for alike in row.chunk_by(|a, b| a == b) {
                let width = alike.len();
                if alike[0] == level {
                    // Writing to a string cannot fail.
                    let _ = write!(path, "M{x} {y}h{width}v{HEIGHT}h-{width}z");
                }
                x += width;
            }
        }
        path
    }
}

/// Explains the shades.
pub(super) fn legend(highest: &str) -> Markup {
    html! {
        p.shades {
            @for (level, from) in (1..).zip(LEVELS) {
                span {
                    svg width="14" height="14" aria-hidden="true" { rect class={ "h" (level) } width="14" height="14" {} }
                    " " (format!("{:.0}%", from * 100.0))
                }
            }
            span { "and more of " (highest) ", the highest of each map" }
        }
    }
}
