//! Comparisons as one page: the verdict first, then for each the sides, the findings with their
//! runs, the differential flame graph, and how it was tested.

mod changes;
mod finding;
mod metrics;
mod plot;
mod sides;
mod tested;
mod verdict;

use crate::compare::{Comparison, Finding, TestedFunction, Verdict};
use crate::render::html::{FlameGraph, FlameSides, Html, Page, short_name};
use crate::text::numbers::counted;

/// Frames that all flame graphs of a page have together, about: each takes some 20 bytes.
const FRAMES: usize = 20_000;
/// Frames of one graph: at the least, and at the most.
const FRAMES_OF_ONE: (usize, usize) = (500, 10_000);
/// Findings that stand on the page by themselves; the others are folded together.
const IN_FULL: usize = 5;
/// Rows of a table of findings; the others are folded.
const ROWS: usize = 20;

/// A finding with its number in the comparison.
type Numbered<'a> = (usize, &'a Finding);

/// Comparisons, one a benchmark, as a self-contained page of HTML: it loads nothing, and runs no
/// script but its own. Without scripts, all but the flame graph can be read.
///
/// The flame graph takes [`CompareOptions::stacks`](crate::compare::CompareOptions::stacks).
pub fn html(comparisons: &[Comparison]) -> String {
    let title = format!("{}: {}", verdict::overall(comparisons), title(comparisons));
    let page = Page {
        title: &title,
        styles: &[include_str!("findings.css")],
        scripts: &[],
    };
    page.render(|html| {
        verdict::write(html, comparisons);
        html.raw("<main>\n");
        let (least, most) = FRAMES_OF_ONE;
        let max_frames = (FRAMES / comparisons.len().max(1)).clamp(least, most);
        for (number, comparison) in (1..).zip(comparisons) {
            let section = Section {
                number,
                comparison,
                max_frames,
            };
            section.write(html, comparisons.len() > 1);
        }
        html.raw("</main>\n");
    })
}

fn title(comparisons: &[Comparison]) -> String {
    match comparisons {
        [one] => subject(one),
        _ => counted(comparisons.len() as u64, "comparison"),
    }
}

/// `demo: v1 → v2`, with the benchmark where there is one.
fn subject(comparison: &Comparison) -> String {
    let (baseline, candidate) = (&comparison.baseline, &comparison.candidate);
    let program = match baseline.executable == candidate.executable {
        true => baseline.executable.clone(),
        false => format!("{} → {}", baseline.executable, candidate.executable),
    };
    let benchmark = comparison.benchmark.iter();
    let benchmark: String = benchmark.map(|name| format!(", {name}")).collect();
    format!(
        "{program}{benchmark}: {} → {}",
        baseline.build, candidate.build
    )
}

/// One comparison on the page.
struct Section<'a> {
    number: usize,
    comparison: &'a Comparison,
    max_frames: usize,
}

impl Section<'_> {
    fn write(&self, html: &mut Html, is_one_of_several: bool) {
        let comparison = self.comparison;
        html.raw("<section class=\"comparison\" id=\"comparison-")
            .text(&self.number.to_string())
            .raw("\">\n<h2>")
            .text(&subject(comparison))
            .raw("</h2>\n");
        if is_one_of_several {
            verdict::sentence(html, comparison);
        }
        metrics::write(html, comparison);
        sides::write(html, comparison);
        if !comparison.warnings.is_empty() {
            html.raw("<h3>Warnings</h3>\n<ul class=\"warnings\">\n");
            for warning in &comparison.warnings {
                html.raw("<li>").text(warning).raw("</li>\n");
            }
            html.raw("</ul>\n");
        }
        self.findings(html);
        if let Some(stacks) = &comparison.stacks {
            html.raw("<h3>Differential flame graph</h3>\n");
            let graph = FlameGraph {
                id: &self.graph_id(),
                stacks,
                sides: FlameSides {
                    runs: [comparison.baseline.runs, comparison.candidate.runs],
                    names: ["baseline", "candidate"],
                    unit: "a baseline run",
                    colors: "Red costs more than in the baseline, blue less, after the \
                             normalisation that the findings rest on",
                },
                min_share: comparison.thresholds.min_share,
                max_frames: self.max_frames,
            };
            graph.write(html);
        }
        if let Some(functions) = &comparison.functions {
            self.functions(html, functions);
        }
        tested::write(html, comparison);
        html.raw("</section>\n");
    }

    fn findings(&self, html: &mut Html) {
        let findings = &self.comparison.findings;
        html.raw("<h3>Findings</h3>\n");
        if findings.is_empty() {
            html.raw(match self.comparison.verdict {
                Verdict::Insufficient => "<p>There is too little data to find anything.</p>\n",
                _ => "<p>No function changed by as much as the thresholds ask for.</p>\n",
            });
            return;
        }
        let numbered: Vec<Numbered> = (1..).zip(findings).collect();
        if findings.len() > 1 {
            self.tables(html, &numbered);
        }
        let (first, others) = numbered.split_at(numbered.len().min(IN_FULL));
        for &(number, finding) in first {
            self.finding(html, number, finding, number == 1);
        }
        if !others.is_empty() {
            html.raw("<details class=\"others\">\n<summary>")
                .text(&counted(others.len() as u64, "more finding"))
                .raw(" in full</summary>\n");
            for &(number, finding) in others {
                self.finding(html, number, finding, false);
            }
            html.raw("</details>\n");
        }
    }

    /// The findings at a glance: what got worse, then the others.
    fn tables(&self, html: &mut Html, findings: &[Numbered]) {
        let is_worse = |(_, finding): &&Numbered| finding.is_regression();
        let (worse, others): (Vec<_>, Vec<_>) = findings.iter().partition(is_worse);
        for group in [worse, others] {
            let (first, rest) = group.split_at(group.len().min(ROWS));
            self.table(html, first);
            if !rest.is_empty() {
                html.raw("<details>\n<summary>")
                    .text(&counted(rest.len() as u64, "more row"))
                    .raw("</summary>\n");
                self.table(html, rest);
                html.raw("</details>\n");
            }
        }
    }

    fn table(&self, html: &mut Html, findings: &[&Numbered]) {
        if findings.is_empty() {
            return;
        }
        html.raw(
            "<table class=\"list\">\n<thead><tr><th scope=\"col\">Kind</th>\
             <th scope=\"col\">Function</th><th scope=\"col\" class=\"number\" title=\"Self, with the library code and the unchanged modules it calls\">Attributed self</th>\
             <th scope=\"col\" class=\"number\">Total</th>\
             <th scope=\"col\" class=\"number\">Change</th>\
             <th scope=\"col\" class=\"number\">q</th></tr></thead>\n<tbody>\n",
        );
        for &&(number, finding) in findings {
            html.raw("<tr><td>");
            finding::kind(html, finding);
            html.raw("</td><td><a href=\"#")
                .text(&self.finding_id(number))
                .raw("\"><code>")
                .text(&short_name(&finding.function))
                .raw("</code></a></td>");
            changes::cells(html, finding);
            html.raw("</tr>\n");
        }
        html.raw("</tbody>\n</table>\n");
    }

    /// Every function that was tested, on demand.
    fn functions(&self, html: &mut Html, functions: &[TestedFunction]) {
        html.raw("<details class=\"all\">\n<summary>All ")
            .text(&counted(functions.len() as u64, "function"))
            .raw(" that were tested</summary>\n<table class=\"changes\">\n");
        changes::head(html, self.comparison);
        for function in functions {
            html.raw("<tbody>\n<tr><th colspan=\"5\" scope=\"rowgroup\"><code>")
                .text(&short_name(&function.function))
                .raw("</code> <small>")
                .text(&function.module)
                .raw("</small></th></tr>\n");
            changes::rows(
                html,
                [&function.self_, &function.attributed_self, &function.total],
            );
            html.raw("</tbody>\n");
        }
        html.raw("</table>\n</details>\n");
    }

    fn graph_id(&self) -> String {
        format!("graph-{}", self.number)
    }

    fn finding_id(&self, number: usize) -> String {
        format!("finding-{}-{number}", self.number)
    }
}
