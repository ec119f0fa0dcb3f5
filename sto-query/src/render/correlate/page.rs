//! Metrics ranked by how well they explain a target, as a page.

use super::text::{agreement, answer, basis, duration, relation, score, score_by};
use crate::correlate::{DrawnSeries, RankedMetric, RankedMetrics};
use crate::render::align::sentences;
use crate::render::header::full_name;
use crate::render::html::{Page, numbers};
use crate::render::plot::Px;
use crate::render::timeline::{LINE, Line};
use crate::text::{format_count, printable, probability};
use maud::{Markup, html};

/// Id of the target's drawing, which each metric is drawn over.
const TARGET: &str = "target";

/// Returns the ranking as a self-contained page: a line for each metric, drawn over the target, with the
/// segments of both. Its script finds metrics by name, and keeps those that are pinned in view.
pub fn html(ranked: &RankedMetrics) -> String {
    let title = format!("What explains {}", printable(&ranked.target));
    let page = Page {
        title: &title,
        style: concat!(include_str!("../series.css"), include_str!("correlate.css")),
        script: include_str!("correlate.js"),
    };
    page.render(&html! {
        header {
            h1 { (title) }
            p.reason { (answer(ranked)) "." }
            @if let Some(sentence) = agreement(ranked) { p { (sentence) } }
        }
        main {
            @for fit in ranked.runs.iter().filter_map(|run| run.fit.as_ref()) {
                @for sentence in sentences(fit) { p.unsure { (sentence) } }
            }
            @if !ranked.drawn.means.is_empty() { (ranking(ranked)) }
            p.soft { (basis(ranked)) }
        }
    })
}

fn ranking(ranked: &RankedMetrics) -> Markup {
    let [from, to] = [ranked.from, ranked.to].map(|time| duration(ranked, time));
    html! {
        section.kept {
            .metric {
                p { code { (ranked.target) } }
                (plot(&ranked.target, &ranked.drawn, true))
            }
            p.ends { span { (from) } span { (to) } }
            ol.pinned {}
        }
        p.find hidden {
            label { "Find " input type="search" spellcheck="false" autocomplete="off" placeholder="part of a name"; }
            " " span.soft role="status" {}
        }
        p.soft {
            span.target { "The target" } " is drawn behind each metric. Dashed lines are the borders of its segments, which \
            the correlator same-splits tries on each metric; solid lines are the borders of the metric's own segments, \
            which best-splits compares with them. The straight line in each segment is its linear regression."
        }
        ol.metrics { @for metric in &ranked.metrics { (row(ranked, metric)) } }
        @if ranked.omitted > 0 { p.soft { (format_count(ranked.omitted as u64, "more metric")) " not shown." } }
    }
}

fn row(ranked: &RankedMetrics, metric: &RankedMetric) -> Markup {
    let chance = |name: &str, value: Option<f64>| {
        value.map(|value| format!(", {name} {}", probability(value)))
    };
    let run = metric.run.and_then(|run| ranked.runs.get(run));
    html! {
        li.metric {
            p {
                label.pin hidden { input type="checkbox"; " Pin" }
                strong { (score(ranked, metric)) } " "
                span.names { code { (metric.name) } @for same in &metric.same { ", " code { (same) } } }
                " " span.soft {
                    (relation(ranked, metric).as_deref().unwrap_or("is constant"))
                    @for chance in [chance("p", metric.p), chance("q", metric.q)].iter().flatten() { (chance) }
                    @if let Some(run) = run.filter(|_| ranked.runs.len() > 1) { ", in " (full_name(&run.run.subject)) }
                }
            }
            (plot(&metric.name, &metric.drawn, false))
            details {
                summary { "Scores" }
                table {
                    @for (by, &value) in &metric.scores {
                        @let rank = metric.ranks.get(by).copied().unwrap_or_default();
                        tr { th scope="row" { (by.name()) } (numbers([&*score_by(*by, value), &format!("rank {rank}")])) }
                    }
                }
            }
        }
    }
}

/// Draws a series with the borders of its segments; a metric over the drawing of the target.
fn plot(name: &str, series: &DrawnSeries, is_target: bool) -> Markup {
    let line = Line::from_values(series.means.clone(), series.unit.clone());
    let count = series.means.len();
    html! {
        .plot {
            svg.series viewBox={ "0 0 " (count) " " (LINE) } preserveAspectRatio="none" width="100%" height=(LINE)
                role="img" aria-label={ (name) ": " (line.least()) " to " (line.most()) } {
                @if !is_target { use href={ "#" (TARGET) } {} }
                g id=[is_target.then_some(TARGET)] class=[is_target.then_some("target")] {
                    path d=(line.path()) {}
                    path.fit d={
                        @for [(from, first), (to, last)] in &series.lines {
                            "M" (Px(*from)) " " (Px(line.y(*first))) "L" (Px(*to)) " " (Px(line.y(*last)))
                        }
                    } {}
                    @for x in series.boundaries.iter().copied().map(Px) { line x1=(x) x2=(x) y2=(LINE) {} }
                }
            }
            .range { span { (line.most()) } span { (line.least()) } }
        }
    }
}
