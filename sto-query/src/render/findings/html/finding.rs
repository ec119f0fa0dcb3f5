//! A finding: its reason, its runs, its counts, the call paths to it, and the callers that inherit
//! it.

use super::{Section, changes};
use crate::compare::{CallPath, Finding, FindingKind};
use crate::render::findings::steps::{Step, folded_steps, links};
use crate::render::findings::words::{Costs, ignore_reason, ratio};
use crate::render::html::{folded, name, number_head, numbers, short_name, step, whole_name};
use crate::text::{format_count, group_digits, percent};
use maud::{Markup, html};

/// Returns the kind of a finding in its colour.
pub(super) fn kind(finding: &Finding) -> Markup {
    let is_better = matches!(finding.kind, FindingKind::Improvement | FindingKind::Gone);
    html! {
        span.kind.worse[finding.kind.is_worse()].better[is_better] { (finding.kind.name()) }
        @if finding.ignored.is_some() { " " span.kind { "ignored" } }
    }
}

impl Section<'_> {
    /// Returns the finding, collapsed to its name unless `is_open` is set.
    pub(super) fn finding(&self, number: usize, finding: &Finding, is_open: bool) -> Markup {
        let location = [Some(finding.module.clone()), finding.location()];
        let location: Vec<String> = location
            .into_iter()
            .flatten()
            .filter(|p| !p.is_empty())
            .collect();
        let counts = [&finding.self_, &finding.attributed_self, &finding.total];
        html! {
            details.finding id=(self.finding_id(number)) open[is_open] {
                summary { h4 { (number) ". " code { (finding.short_name) } " " (kind(finding)) } }
                (whole_name(&finding.function))
                @if !location.is_empty() { p.place { (location.join(", ")) } }
                p { (finding.reason) }
                @if let Some(why) = ignore_reason(finding) { p.soft { "It " (why) } }
                (self.plot(finding))
                table.changes { (changes::head(self.comparison)) tbody { (changes::rows(Costs::new(self.comparison), counts)) } }
                (call_paths(finding))
                (callees(finding))
                (callers(finding))
                (self.more(finding))
            }
        }
    }

    /// Returns the links to the flame graph of the page, and the command that draws one of this
    /// function.
    fn more(&self, finding: &Finding) -> Markup {
        let command = finding.command.line();
        html! {
            p.more {
                @if self.comparison.stacks.is_some() {
                    a href={ "#" (self.graph_id()) } data-search=(short_name(&finding.function)) {
                        "Show it in the flame graph"
                    }
                    @if command.is_some() { ", or only this function by " }
                } @else if command.is_some() {
                    "Show it in a flame graph by "
                }
                @if let Some(command) = command { code { (command) } }
            }
        }
    }
}

fn call_paths(finding: &Finding) -> Markup {
    html! {
        @if !finding.call_paths.is_empty() {
            h5 { "Call paths to it that changed most" }
            table.paths {
                (shares_head("Path", "outermost caller first"))
                tbody {
                    @for path in &finding.call_paths {
                        tr {
                            td { (steps(path)) }
                            (numbers([
                                &percent(path.baseline_share),
                                &percent(path.candidate_share),
                                &ratio(path.change, path.candidate_samples > 0),
                            ]))
                        }
                    }
                }
            }
            @if finding.more_call_paths > 0 {
                p.soft { (format_count(finding.more_call_paths as u64, "more path")) " changed less." }
            }
        }
    }
}

/// Returns the functions of a call path, outermost first. Calls within libraries are collapsed.
fn steps(path: &CallPath) -> Markup {
    let links = links(path);
    html! {
        @for (ix, part) in folded_steps(&links, path.omitted).into_iter().enumerate() {
            @if ix > 0 { (step()) }
            @match part {
                Step::Omitted(frames) => em { (group_digits(frames as u64)) " more" },
                Step::Folded(frames) => (folded(frames)),
                Step::Frame(frame) => (name(frame.symbol)),
            }
        }
    }
}

fn callees(finding: &Finding) -> Markup {
    html! {
        @if !finding.grown_callees.is_empty() {
            h5 {
                @match finding.kind {
                    FindingKind::Improvement | FindingKind::Gone => "It calls these less",
                    _ => "It calls these more",
                }
            }
            p.names { @for callee in &finding.grown_callees { (name(&callee.function)) " " } }
        }
    }
}

fn callers(finding: &Finding) -> Markup {
    let callers = &finding.affected_callers;
    html! {
        @if !callers.is_empty() {
            details {
                summary { "Inherited by " (format_count(callers.len() as u64, "caller")) }
                table.paths {
                    (shares_head("Caller", "innermost first"))
                    tbody {
                        @for caller in callers {
                            tr {
                                td { (name(&caller.function)) }
                                (numbers([
                                    &percent(caller.baseline_share),
                                    &percent(caller.candidate_share),
                                    &ratio(caller.change, caller.candidate_share > 0.0),
                                ]))
                            }
                        }
                    }
                }
            }
        }
    }
}

fn shares_head(first: &str, meaning: &str) -> Markup {
    html! {
        thead { tr {
            th scope="col" { (first) small { (meaning) } }
            (number_head("Baseline", "share of its samples"))
            (number_head("Candidate", "share of its samples"))
            (number_head("Change", "of the cost, normalised"))
        } }
    }
}
