//! Points, the best curve, and the residuals, as an SVG.

use super::formula::amount;
use super::plot::Axis;
use super::{heading, sentence, unit};
use crate::models::CostModel;
use crate::render::plot::Px;
use crate::text::{printable, short};
use hashbrown::HashSet;
use maud::{Markup, html};
use sto_stats::models::Model;

const WIDTH: f64 = 960.0;
/// Margins of the plot for its labels.
const LEFT: f64 = 88.0;
const RIGHT: f64 = 24.0;
const TOP: f64 = 64.0;
/// Heights of the plot of points and curve, and of the plot of residuals below it.
const POINTS: f64 = 320.0;
const GAP: f64 = 40.0;
const RESIDUALS: f64 = 96.0;
const BOTTOM: f64 = 40.0;
const HEIGHT: f64 = TOP + POINTS + GAP + RESIDUALS + BOTTOM;
/// Number of line segments of a curve.
const STEPS: usize = 200;
/// Number of points above which only one per pixel is drawn.
const MANY: usize = 2_000;
/// Number of intervals between grid lines.
const TICKS: usize = 4;

const STYLE: &str = "text{font:12px sans-serif;fill:#1f2328}.title{font-size:14px}.grid{stroke:#d8dee4}\
    .curve{fill:none;stroke:#d1242f;stroke-width:2}circle{fill:#0969da;fill-opacity:.7}.paper{fill:#fff}\
    @media(prefers-color-scheme:dark){text{fill:#e6edf3}.paper{fill:#0d1117}.grid{stroke:#30363d}\
    .curve{stroke:#ff7b72}circle{fill:#79c0ff}}";

/// A plot area with its axes.
struct Frame {
    x: Axis,
    y: Axis,
    top: f64,
    height: f64,
}

impl Frame {
    fn across(&self, x: f64) -> f64 {
        LEFT + (WIDTH - LEFT - RIGHT) * self.x.part(x)
    }

    fn down(&self, y: f64) -> f64 {
        self.top + self.height * (1.0 - self.y.part(y))
    }

    fn has(&self, y: f64) -> bool {
        (0.0..=1.0).contains(&self.y.part(y))
    }

    /// Draws horizontal grid lines with labels.
    fn grid(&self, steps: usize, text: &dyn Fn(f64) -> String) -> Markup {
        html! {
            @for step in 0..=steps {
                @let value = self.y.value(step as f64 / steps as f64);
                @let y = self.down(value);
                line.grid x1=(LEFT) x2=(WIDTH - RIGHT) y1=(Px(y)) y2=(Px(y)) {}
                text x=(LEFT - 8.0) y=(Px(y + 4.0)) text-anchor="end" { (text(value)) }
            }
        }
    }

    /// Draws the points. If there are many, points at the same pixel are drawn once.
    fn dots(&self, points: &[(f64, f64)]) -> Markup {
        let mut taken = HashSet::new();
        let mut is_elsewhere = |x: f64, y: f64| {
            let place = (self.across(x), self.down(y));
            points.len() <= MANY || taken.insert((place.0.round() as i64, place.1.round() as i64))
        };
        let shown = points.iter().copied().filter(|(_, y)| self.has(*y));
        let shown: Vec<(f64, f64)> = shown.filter(|&(x, y)| is_elsewhere(x, y)).collect();
        html! {
            @for (x, y) in shown {
                circle cx=(Px(self.across(x))) cy=(Px(self.down(y))) r="3.5" {}
            }
        }
    }
}

/// Returns the models of one function as an SVG: the points and the best curve with its formula,
/// and the residuals below.
pub fn svg(report: &CostModel, by_logarithm: bool) -> String {
    let drawn = picture(report, by_logarithm, 1, Some(STYLE));
    printable(&drawn.0).into_owned() + "\n"
}

/// Draws up to `curves` curves, with the best one on top.
pub(super) fn picture(
    report: &CostModel,
    by_logarithm: bool,
    curves: usize,
    style: Option<&str>,
) -> Markup {
    let unit = unit(&report.of);
    let points: Vec<(f64, f64)> = report
        .function
        .points
        .iter()
        .map(|of| (of.x, of.y))
        .collect();
    let best = report.function.models.first();
    let x = Axis::from_values(points.iter().map(|point| point.0), by_logarithm);
    let main = Frame {
        x,
        y: Axis::from_values(points.iter().map(|point| point.1), by_logarithm),
        top: TOP,
        height: POINTS,
    };
    let curve = |model: &Model| {
        let at = (0..=STEPS).map(|step| main.x.value(step as f64 / STEPS as f64));
        let at = at
            .map(|x| (x, model.curve.at(x)))
            .filter(|(_, y)| main.has(*y));
        at.collect::<Vec<_>>()
    };
    let shown = report.function.models.iter().take(curves).enumerate();
    let residuals: Vec<(f64, f64)> = best.map_or_else(Vec::new, |best| {
        points
            .iter()
            .map(|&(x, y)| (x, y - best.curve.at(x)))
            .collect()
    });
    let farthest = residuals.iter().map(|(_, y)| y.abs()).fold(0.0, f64::max);
    let below = Frame {
        x,
        y: Axis::around_zero(farthest),
        top: TOP + POINTS + GAP,
        height: RESIDUALS,
    };
    let title = heading(report);
    let said = best.map_or_else(
        || "No model can be fitted.".to_owned(),
        |best| sentence(best, &report.of.x, unit),
    );
    let cost = |value: f64| amount(value, unit);
    html! {
        svg xmlns="http://www.w3.org/2000/svg" viewBox={ "0 0 " (WIDTH) " " (HEIGHT) } role="img" {
            title { (title) ": " (said) }
            @if let Some(style) = style { style { (style) } }
            rect.paper width="100%" height="100%" {}
            text.title x=(LEFT) y="24" { (title) }
            text x=(LEFT) y="46" { (said) }
            (main.grid(TICKS, &cost))
            @for (number, model) in shown.rev() {
                polyline.curve.{ "curve" (number) } points=(coordinates(&main, &curve(model))) {}
            }
            (main.dots(&points))
            @if best.is_some() {
                (below.grid(2, &cost))
                (below.dots(&residuals))
                text x=(LEFT) y=(below.top - 8.0) { "residuals" }
            }
            @for step in 0..=TICKS {
                @let value = x.value(step as f64 / TICKS as f64);
                text x=(Px(main.across(value))) y=(HEIGHT - 16.0) text-anchor="middle" {
                    @if step == 0 { (report.of.x) " = " }
                    (short(value))
                }
            }
        }
    }
}

fn coordinates(frame: &Frame, points: &[(f64, f64)]) -> Markup {
    html! {
        @for &(x, y) in points { (Px(frame.across(x))) "," (Px(frame.down(y))) " " }
    }
}
