//! The call tree over builds as a page.

use super::{change, heading};
use crate::history::{Evolution, EvolvedStack};
use crate::render::html::Page;
use crate::render::plot::Px;
use crate::text::names::cut_path;
use crate::text::{cost, short_name};
use maud::{Markup, html};

/// Height of a box, in pixels.
const ROW: usize = 38;

/// Number of characters of a label that fit into the whole width of a wide window.
const WIDEST_LABEL: f64 = 165.0;

/// Changes of the cost that colour a box, as ratios of the last build's and the first one's.
const MUCH: [f64; 2] = [0.9, 1.1];

/// A stack's place in the drawing.
struct Place {
    /// Left edge and width, as parts of the whole width.
    left: f64,
    width: f64,
    row: usize,
    /// Left edge of the next callee.
    next: f64,
}

/// Returns the tree as a self-contained page: a box for each stack, below its caller, with a line
/// that shows its cost in each build.
pub fn html(report: &Evolution) -> String {
    let title = heading(report);
    let places = places(report);
    let rows = places.iter().map(|place| place.row + 1).max().unwrap_or(0);
    let page = Page {
        title: &title,
        style: include_str!("evolution.css"),
        script: "",
    };
    page.render(&html! {
        header {
            h1 { (title) }
            p {
                "Each box is a stack, below its caller. Its width is its mean cost over all builds, \
                 and its line shows the cost of a run in each build, from zero to the largest, oldest \
                 build first. "
                span.more { "Red" } " costs over 10% more in the last build than in the first, "
                span.less { "blue" } " over 10% less. Point at a box to read its costs in "
                (report.history.sample_type.event) "."
            }
        }
        main {
            figure.evolution {
                svg width="100%" height=(rows * ROW) role="img" {
                    @for (stack, place) in report.stacks.iter().zip(&places) {
                        @if !stack.folded { (stack_box(report, stack, place)) }
                    }
                }
            }
        }
    })
}

/// Lays out the stacks. Those that are folded take the place of their only callee.
fn places(report: &Evolution) -> Vec<Place> {
    let whole: f64 = report.builds.iter().map(|build| build.cost).sum();
    let mut places: Vec<Place> = Vec::with_capacity(report.stacks.len());
    let mut next_root = 0.0;
    for stack in &report.stacks {
        let width = stack.costs.iter().sum::<f64>() / whole.max(f64::MIN_POSITIVE);
        let (left, row) = match stack.parent {
            Some(parent) => {
                let is_drawn = !report.stacks[parent].folded;
                let parent = &mut places[parent];
                parent.next += width;
                (parent.next - width, parent.row + usize::from(is_drawn))
            }
            None => {
                next_root += width;
                (next_root - width, 0)
            }
        };
        places.push(Place {
            left,
            width,
            row,
            next: left,
        });
    }
    places
}

fn stack_box(report: &Evolution, stack: &EvolvedStack, place: &Place) -> Markup {
    let percent = |part: f64| format!("{:.3}%", part * 100.0);
    let name = short_name(&stack.frame.function);
    let label = cut_path(&name, (place.width * WIDEST_LABEL).ceil() as usize);
    let class = match stack.ends() {
        (first, last) if last > first * MUCH[1] => "more",
        (first, last) if last < first * MUCH[0] => "less",
        _ => "same",
    };
    let unit = report.history.sample_type.unit;
    let costs = report.builds.iter().zip(&stack.costs);
    let largest = stack
        .costs
        .iter()
        .copied()
        .fold(f64::MIN_POSITIVE, f64::max);
    let last = stack.costs.len().saturating_sub(1).max(1) as f64;
    let points = stack.costs.iter().enumerate();
    html! {
        svg.(class) x=(percent(place.left)) y=(place.row * ROW)
            width=(percent(place.width)) height=(ROW - 1) {
            title {
                (name) " (" (change(stack)) ")"
                @for (build, &value) in costs { "; " (build.build) ": " (cost(value, unit)) }
            }
            rect width="100%" height="100%" {}
            text x="4" y="13" { (label) }
            svg y="17" width="100%" height=(ROW - 20) viewBox="0 0 100 100"
                preserveAspectRatio="none" {
                polyline points={
                    @for (ix, value) in points {
                        (Px(ix as f64 * 100.0 / last)) "," (Px(100.0 - value / largest * 95.0)) " "
                    }
                } {}
            }
        }
    }
}
