//! Points and curves in a plot area with axes, as parts of an SVG.

use super::plot::Axis;
use crate::render::plot::Px;
use crate::text::short;
use hashbrown::HashSet;
use maud::{Markup, html};
use sto_stats::models::Curve;

pub(super) const WIDTH: f64 = 960.0;
/// Margins at the left and right of plot areas.
pub(super) const LEFT: f64 = 88.0;
const RIGHT: f64 = 24.0;
/// Height of the title, and of each row of the legend below it.
const TITLE: f64 = 36.0;
const ROW: f64 = 18.0;
/// Length of the sample of a line in the legend.
const SAMPLE: f64 = 28.0;
/// Number of line segments of a formula's curve, and maximum number of samples that are all drawn.
const STEPS: usize = 200;
const SAMPLES: usize = 1_000;
/// Number of points above which only one per pixel is drawn.
const MANY: usize = 2_000;
/// Maximum number of intervals between the ticks of the horizontal axis.
const TICKS: u32 = 8;
/// Maximum distance of a vertex outside the plot area, in heights of the plot area.
const FARTHEST: f64 = 1e6;
/// Minimum width of a shaded part of x.
const NARROWEST: f64 = 2.0;

/// Style of an SVG that is not part of a page.
pub(super) const STYLE: &str = concat!(
    "svg{color-scheme:light dark;--ink:#1f2328;--panel:#fff;--line:#d8dee4;font:12px sans-serif}\
    @media(prefers-color-scheme:dark){svg{--ink:#e6edf3;--panel:#0d1117;--line:#30363d}}",
    include_str!("curves.css")
);

/// A plot area with its axes.
pub(super) struct Frame {
    pub(super) x: Axis,
    pub(super) y: Axis,
    pub(super) top: f64,
    pub(super) height: f64,
}

impl Frame {
    /// Returns the position of the plot area below a title and a legend.
    pub(super) fn top_below_legend(rows: usize) -> f64 {
        TITLE + ROW * rows as f64 + ROW / 2.0
    }

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
    pub(super) fn grid(&self, steps: u32, text: &dyn Fn(f64) -> String) -> Markup {
        html! {
            @for value in self.y.ticks(steps) {
                @let y = self.down(value);
                line.grid x1=(LEFT) x2=(WIDTH - RIGHT) y1=(Px(y)) y2=(Px(y)) {}
                text x=(LEFT - 8.0) y=(Px(y + 4.0)) text-anchor="end" { (round(text(value))) }
            }
        }
    }

    /// Labels the horizontal axis, at this distance from the top of the SVG. The first label has the name of x.
    pub(super) fn x_labels(&self, name: &str, y: f64) -> Markup {
        html! {
            @for (number, value) in self.x.ticks(TICKS).into_iter().enumerate() {
                text x=(Px(self.across(value))) y=(Px(y)) text-anchor="middle" {
                    @if number == 0 { (name) " = " }
                    (round(short(value)))
                }
            }
        }
    }

    /// Draws the points. If there are many, points at the same pixel are drawn once.
    pub(super) fn dots(&self, points: &[(f64, f64)]) -> Markup {
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

    /// Draws a curve as lines that are interrupted where it is undefined, and end at the border of the plot area.
    pub(super) fn curve(&self, curve: &Curve, class: &str) -> Markup {
        let vertices = self.vertices(curve).into_iter();
        let vertices: Vec<(f64, f64)> = vertices
            .map(|(x, y)| (self.across(x), self.y.part(y).clamp(-FARTHEST, FARTHEST)))
            .collect();
        let vertices = with_border_crossings(&vertices);
        let lines = vertices.split(|(_, part)| !(0.0..=1.0).contains(part));
        html! {
            @for line in lines.filter(|line| !line.is_empty()) {
                polyline.curve.(class) points={
                    @for &(x, part) in line { (Px(x)) "," (Px(self.top + self.height * (1.0 - part))) " " }
                } {}
            }
        }
    }

    /// Returns the vertices of a curve, with y NaN where it is undefined.
    fn vertices(&self, curve: &Curve) -> Vec<(f64, f64)> {
        match curve {
            Curve::Steps { edges, values } => {
                let steps = edges.windows(2).zip(values);
                let ends = steps.flat_map(|(edge, value)| {
                    let y = value.unwrap_or(f64::NAN);
                    [(edge[0], y), (edge[1], y)]
                });
                ends.collect()
            }
            Curve::Samples { x, .. } if x.len() <= SAMPLES => {
                x.iter().map(|&x| (x, curve.at(x))).collect()
            }
            _ => {
                let at = (0..=STEPS).map(|step| self.x.value(step as f64 / STEPS as f64));
                at.map(|x| (x, curve.at(x))).collect()
            }
        }
    }

    /// Shades a part of x.
    pub(super) fn shade(&self, (from, to): (f64, f64), class: &str) -> Markup {
        let [from, to] = [from, to].map(|x| self.across(x));
        let width = (to - from).max(NARROWEST);
        html! {
            rect.part.(class) x=(Px(from)) y=(Px(self.top)) width=(Px(width)) height=(Px(self.height)) {}
        }
    }
}

/// Adds a vertex wherever the line between two vertices crosses the lower or upper border, which are at 0 and 1.
fn with_border_crossings(vertices: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let mut all: Vec<(f64, f64)> = vertices.iter().take(1).copied().collect();
    for pair in vertices.windows(2) {
        let [(x, from), (next, to)] = [pair[0], pair[1]];
        let borders = if from < to { [0.0, 1.0] } else { [1.0, 0.0] };
        let is_crossed = |border: &f64| (from - border) * (to - border) < 0.0;
        let crossed = borders.into_iter().filter(is_crossed);
        all.extend(crossed.map(|border| (x + (next - x) * (border - from) / (to - from), border)));
        all.push((next, to));
    }
    all
}

/// Draws a title, and below it a row for each curve with its class and description.
pub(super) fn legend(title: &str, rows: &[(String, String)]) -> Markup {
    html! {
        text.title x=(LEFT) y="24" { (title) }
        @for (number, (class, text)) in rows.iter().enumerate() {
            @let y = TITLE + ROW * number as f64;
            line.curve.(class) x1=(LEFT) x2=(LEFT + SAMPLE) y1=(Px(y + 6.0)) y2=(Px(y + 6.0)) {}
            text x=(LEFT + SAMPLE + 8.0) y=(Px(y + 10.0)) { (text) }
        }
    }
}

/// Removes zeros at the end of the number that a text begins with: `50.0 ms` becomes `50 ms`.
fn round(text: String) -> String {
    let end = text.find(|letter: char| !matches!(letter, '0'..='9' | '.' | '-'));
    let (number, unit) = text.split_at(end.unwrap_or(text.len()));
    if number.contains('.') {
        let number = number.trim_end_matches('0').trim_end_matches('.');
        format!("{number}{unit}")
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use super::{Axis, Curve, Frame, round};

    #[test]
    fn steps_are_drawn_up_to_empty_buckets() {
        let axis = Axis::from_values([0.0, 4.0].into_iter(), false);
        let frame = Frame {
            x: axis,
            y: axis,
            top: 0.0,
            height: 100.0,
        };
        let curve = Curve::Steps {
            edges: vec![0.0, 1.0, 2.0, 3.0, 4.0],
            values: vec![Some(1.0), Some(2.0), None, Some(4.0)],
        };
        let drawn = frame.curve(&curve, "curve0").0;
        let lines = drawn.matches("points=\"").count();
        assert_eq!(lines, 2, "{drawn}");
        assert!(
            drawn.contains("points=\"88,75 300,75 300,50 512,50 \""),
            "{drawn}"
        );
        assert!(drawn.contains("points=\"724,0 936,0 \""), "{drawn}");
    }

    #[test]
    fn curves_end_at_the_border_of_the_plot_area() {
        let frame = Frame {
            x: Axis::from_values([0.0, 4.0].into_iter(), false),
            y: Axis::from_values([0.0, 10.0].into_iter(), false),
            top: 0.0,
            height: 100.0,
        };
        let drawn = |y: [f64; 5]| {
            let x = vec![0.0, 1.0, 2.0, 3.0, 4.0];
            let curve = Curve::Samples { x, y: y.to_vec() };
            frame.curve(&curve, "curve0").0
        };
        let peak = drawn([5.0, 15.0, 5.0, 5.0, 5.0]);
        assert!(peak.contains("points=\"88,50 194,0 \""), "{peak}");
        assert!(
            peak.contains("points=\"406,0 512,50 724,50 936,50 \""),
            "{peak}"
        );
        let across = drawn([-10.0, 20.0, 20.0, 20.0, 10.0]);
        assert!(
            across.contains("points=\"158.67,100 229.33,0 \""),
            "{across}"
        );
        assert!(across.contains("points=\"936,0 \""), "{across}");
        let infinite = drawn([5.0, f64::INFINITY, f64::NEG_INFINITY, 5.0, 5.0]);
        assert!(
            !infinite.contains("NaN") && !infinite.contains("inf"),
            "{infinite}"
        );
    }

    #[test]
    fn labels_of_ticks_have_no_zeros_at_their_end() {
        let labels = ["50.0", "2.50 ms", "-10.0 kB", "100", "1.00e-4", "0"];
        let expected = ["50", "2.5 ms", "-10 kB", "100", "1e-4", "0"];
        assert_eq!(labels.map(|label| round(label.to_owned())), expected);
    }
}
