//! Comparisons as a page: the verdict, then for each comparison the sides, the findings with their
//! runs, the differential flame graph, and how it was tested.

mod changes;
mod curves;
mod finding;
mod plot;
mod sides;
mod tested;
mod verdict;

use crate::compare::{Comparison, Finding, TestedFunction, Verdict};
use crate::render::findings::words::{Assumed, Costs, UNDECIDED, assumptions};
use crate::render::flame::{FlameGraph, FlameSides, MAX_FRAMES};
use crate::render::html::{Page, name};
use crate::text::{Words, format_count};
use maud::{Markup, html};

/// Minimum number of frames of each flame graph. All of them together have about as many frames as
/// a single one.
const MIN_FRAMES: usize = 500;
/// Number of findings to show without collapsing them.
const IN_FULL: usize = 5;
/// Number of rows of a table to show without collapsing them.
const ROWS: usize = 20;

/// A finding with its number in the comparison.
type Numbered<'a> = (usize, &'a Finding);

/// Returns comparisons, one per benchmark, as a self-contained HTML page that loads nothing and
/// runs only its own scripts. Without scripts, all of it can be read.
///
/// The flame graph requires [`CompareOptions::stacks`](crate::compare::CompareOptions::stacks).
pub fn html(comparisons: &[Comparison], words: Words) -> String {
    let title = format!(
        "{}: {}",
        verdict::word(Verdict::combine(comparisons)),
        title(comparisons)
    );
    let page = Page {
        title: &title,
        style: concat!(
            include_str!("findings.css"),
            include_str!("../../models/curves.css"),
            include_str!("../../models/models.css")
        ),
        script: "",
    };
    let max_frames = (MAX_FRAMES / comparisons.len().max(1)).max(MIN_FRAMES);
    let sections = (1..).zip(comparisons).map(|(number, comparison)| Section {
        number,
        comparison,
        max_frames,
    });
    page.render(&html! {
        (verdict::head(comparisons))
        main { @for section in sections { (section.markup(comparisons.len() > 1, words)) } }
    })
}

fn title(comparisons: &[Comparison]) -> String {
    match comparisons {
        [one] => subject(one),
        _ => format_count(comparisons.len() as u64, "comparison"),
    }
}

/// Formats `demo: v1 → v2`, with the benchmark if there is one.
fn subject(comparison: &Comparison) -> String {
    let (baseline, candidate) = (&comparison.baseline, &comparison.candidate);
    let program = if baseline.executable == candidate.executable {
        baseline.executable.clone()
    } else {
        format!("{} → {}", baseline.executable, candidate.executable)
    };
    let benchmark = comparison.benchmark.iter();
    let benchmark: String = benchmark.map(|name| format!(", {name}")).collect();
    format!(
        "{program}{benchmark}: {} → {}",
        baseline.build, candidate.build
    )
}

/// A comparison on the page.
struct Section<'a> {
    number: usize,
    comparison: &'a Comparison,
    max_frames: usize,
}

impl Section<'_> {
    fn markup(&self, is_one_of_several: bool, words: Words) -> Markup {
        let comparison = self.comparison;
        html! {
            section.comparison id={ "comparison-" (self.number) } {
                h2 { (subject(comparison)) }
                @if is_one_of_several { (verdict::sentence(comparison)) }
                (changes::runs_table(comparison))
                (sides::section(comparison))
                @if !comparison.warnings.is_empty() {
                    h3 { "Warnings" }
                    ul.warnings { @for warning in &comparison.warnings { li { (warning) } } }
                }
                @if let Some(curves) = &comparison.curves { (curves::section(comparison, curves)) }
                h3 { "Findings" }
                (self.findings(words))
                (self.flame_graph())
                @if let Some(functions) = &comparison.functions { (self.functions(functions)) }
                (tested::statistics_section(comparison, words))
            }
        }
    }

    fn flame_graph(&self) -> Markup {
        let comparison = self.comparison;
        html! {
            @if let Some(stacks) = &comparison.stacks {
                h3 { "Differential flame graph" }
                (FlameGraph {
                    id: &self.graph_id(),
                    stacks,
                    sides: FlameSides {
                        runs: [comparison.baseline.runs, comparison.candidate.runs],
                        names: ["baseline", "candidate"],
                        unit: "a baseline run",
                        colors: "Red, or orange, costs more than in the baseline, blue less, after the \
                                 normalisation that the findings rest on",
                    },
                    min_share: comparison.thresholds.min_share,
                    max_frames: self.max_frames,
                }.figure())
            }
        }
    }

    fn findings(&self, words: Words) -> Markup {
        html! {
            (self.counted())
            @for Assumed { found, head } in assumptions(self.comparison, words) {
                p { (head) }
                table.list {
                    (self.table_head())
                    tbody {
                        @for finding in found.into_iter().take(UNDECIDED) {
                            tr {
                                td { (finding::kind(finding)) }
                                td { code { (finding.short_name) } }
                                (changes::cells(finding, Costs::new(self.comparison)))
                            }
                        }
                    }
                }
            }
        }
    }

    fn counted(&self) -> Markup {
        let findings = &self.comparison.findings;
        if findings.is_empty() {
            let none = match self.comparison.verdict {
                Verdict::Insufficient => "There is too little data to find anything.",
                _ => "No function changed by as much as the thresholds ask for.",
            };
            return html! { p { (none) } };
        }
        let numbered: Vec<Numbered> = (1..).zip(findings).collect();
        let (first, others) = numbered.split_at(numbered.len().min(IN_FULL));
        html! {
            @if findings.len() > 1 { (self.tables(&numbered)) }
            @for &(number, finding) in first { (self.finding(number, finding, number == 1)) }
            @if !others.is_empty() {
                details.others {
                    summary { (format_count(others.len() as u64, "more finding")) " in full" }
                    @for &(number, finding) in others { (self.finding(number, finding, false)) }
                }
            }
        }
    }

    /// Returns tables of the findings: regressions, then the others.
    fn tables(&self, findings: &[Numbered]) -> Markup {
        let is_worse = |(_, finding): &&Numbered| finding.is_regression();
        let (worse, others): (Vec<_>, Vec<_>) = findings.iter().partition(is_worse);
        html! {
            @for group in [worse, others] {
                @let (first, rest) = group.split_at(group.len().min(ROWS));
                @if !first.is_empty() { (self.table(first)) }
                @if !rest.is_empty() {
                    details {
                        summary { (format_count(rest.len() as u64, "more row")) }
                        (self.table(rest))
                    }
                }
            }
        }
    }

    fn table(&self, findings: &[&Numbered]) -> Markup {
        html! {
            table.list {
                (self.table_head())
                tbody {
                    @for &&(number, finding) in findings {
                        tr {
                            td { (finding::kind(finding)) }
                            td { a href={ "#" (self.finding_id(number)) } { code { (finding.short_name) } } }
                            (changes::cells(finding, Costs::new(self.comparison)))
                        }
                    }
                }
            }
        }
    }

    fn table_head(&self) -> Markup {
        let Costs { of, .. } = Costs::new(self.comparison);
        html! {
            thead { tr {
                th scope="col" { "Kind" }
                th scope="col" { "Function" }
                th.number scope="col" { "Cost of " (of) }
                @for head in ["Share", "Change", "q"] { th.number scope="col" { (head) } }
            } }
        }
    }

    /// Returns all functions that were tested, collapsed.
    fn functions(&self, functions: &[TestedFunction]) -> Markup {
        html! {
            details.all {
                summary { "All " (format_count(functions.len() as u64, "function")) " that were tested" }
                table.changes {
                    (changes::head(self.comparison))
                    @for function in functions {
                        tbody {
                            tr { th colspan="5" scope="rowgroup" {
                                (name(&function.function)) " " small { (function.module) }
                            } }
                            (changes::rows(
                                Costs::new(self.comparison),
                                [&function.self_, &function.attributed_self, &function.total],
                            ))
                        }
                    }
                }
            }
        }
    }

    fn graph_id(&self) -> String {
        format!("graph-{}", self.number)
    }

    fn finding_id(&self, number: usize) -> String {
        format!("finding-{}-{number}", self.number)
    }
}
