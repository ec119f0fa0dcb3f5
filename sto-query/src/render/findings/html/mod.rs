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
use crate::render::header::counted;
use crate::render::html::{FlameGraph, FlameSides, Html, Page, short_name};

/// Frames that all flame graphs of a page have together, about: each takes some 20 bytes.
const FRAMES: usize = 20_000;
/// Frames of one graph: at the least, and at the most.
const FRAMES_OF_ONE: (usize, usize) = (500, 10_000);
/// From this many findings on, a list of them stands before the first.
const LISTED: usize = 3;

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
        if findings.len() >= LISTED {
            self.list(html, findings);
        }
        for (number, finding) in (1..).zip(findings) {
            self.finding(html, number, finding);
        }
    }

    /// The findings at a glance.
    fn list(&self, html: &mut Html, findings: &[Finding]) {
        html.raw("<ol class=\"contents\">\n");
        for (number, finding) in (1..).zip(findings) {
            html.raw("<li><a href=\"#")
                .text(&self.finding_id(number))
                .raw("\"><code>")
                .text(&short_name(&finding.function))
                .raw("</code></a> ");
            finding::kind(html, finding);
            html.raw(" <span class=\"soft\">")
                .text(&changes::of_finding(finding))
                .raw("</span></li>\n");
        }
        html.raw("</ol>\n");
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
