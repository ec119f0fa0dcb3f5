//! The alignment of two runs in time as a page.

use super::text::{answer, names, sentences, time};
use crate::correlate::{Alignment, Doubt};
use crate::render::html::Page;
use crate::render::plot::{Percent, Px};
use crate::render::timeline::{LINE, Line};
use maud::{Markup, html};

/// Length of a side of the path's square, in units of the drawing.
const SIDE: f64 = 300.0;

/// Returns the alignment as a self-contained page: the path through both runs, with the metric of each at its side.
pub fn html(alignment: &Alignment) -> String {
    let [first, second] = names(alignment);
    let title = format!("{second} aligned with {first}");
    let page = Page {
        title: &title,
        style: concat!(include_str!("../series.css"), include_str!("align.css")),
        script: "",
    };
    let lines = alignment.means.clone();
    let lines = lines.map(|means| Line::from_values(means, alignment.unit.clone()));
    let end = |run: usize| time(alignment.runs[run].seconds);
    page.render(&html! {
        header {
            h1 { "Two runs aligned in time" }
            p.reason { (answer(alignment)) "." }
            @for sentence in sentences(&alignment.fit) { p.unsure { (sentence) } }
        }
        main {
            figure {
                (path(alignment, &lines))
                figcaption {
                    "To the right, the " (end(0)) " of " (first) "; upwards, the " (end(1)) " of " (second) ". The path is \
                    on the dashed line where the second run keeps the pace of the first."
                    @if !alignment.fit.warnings.is_empty() { " Where it is shaded, the alignment is doubtful." }
                    " The lines are " (alignment.fit.metric) ", from " (lines[0].least()) " to " (lines[0].most())
                    " in the first run, from " (lines[1].least()) " to " (lines[1].most()) " in the second."
                }
            }
        }
    })
}

/// Draws the path in a square, above the line of the first run and to the right of the line of the second.
fn path(alignment: &Alignment, lines: &[Line; 2]) -> Markup {
    let line = LINE as f64;
    let place = |run: usize, time: f64| time / alignment.runs[run].seconds * SIDE;
    let series = |run: usize, y: f64| {
        let count = alignment.means[run].len();
        html! {
            svg y=(Px(y)) width=(Percent(SIDE / (SIDE + line) * 100.0)) height=(LINE) viewBox={ "0 0 " (count) " " (LINE) }
                preserveAspectRatio="none" {
                path d=(lines[run].path()) {}
            }
        }
    };
    let doubtful = alignment.fit.warnings.iter().map(|doubt| match doubt {
        Doubt::NearlyConstant { first, second } | Doubt::Repetitive { first, second, .. } => (
            first.map(|time| place(0, time)),
            second.map(|time| place(1, time)),
        ),
    });
    html! {
        svg.series.path viewBox={ "0 0 " (Px(SIDE + line)) " " (Px(SIDE + line)) } role="img"
            aria-label="path through both runs" {
            g transform={ "translate(0 " (Px(SIDE)) ") rotate(-90)" } { (series(1, 0.0)) }
            g transform={ "translate(" (LINE) " 0)" } {
                (series(0, SIDE))
                rect width=(Px(SIDE)) height=(Px(SIDE)) {}
                @for ([left, right], [bottom, top]) in doubtful {
                    rect.doubt x=(Px(left)) width=(Px(right - left)) y=(Px(SIDE - top)) height=(Px(top - bottom)) {}
                }
                line.pace y1=(Px(SIDE)) x2=(Px(SIDE)) {}
                polyline points={
                    @for &[first, second] in &alignment.path {
                        (Px(place(0, first))) "," (Px(SIDE - place(1, second))) " "
                    }
                } {}
            }
        }
    }
}
