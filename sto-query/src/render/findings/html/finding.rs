//! One finding: what happened, its runs, its numbers, how it is reached and who inherits it.

use super::{Section, changes};
use crate::compare::{CallPath, Finding, FindingKind};
use crate::render::findings::steps::{Step, folded_steps, links};
use crate::render::findings::words::{not_counted, ratio};
use crate::render::html::{Html, STEP, folded, short_name};
use crate::text::numbers::counted;
use crate::text::numbers::{grouped, percent};
use crate::text::printable;

/// What happened, as a word in its colour.
pub(super) fn kind(html: &mut Html, finding: &Finding) {
    html.raw(match finding.kind {
        FindingKind::Regression => "<span class=\"kind worse\">regression</span>",
        FindingKind::New => "<span class=\"kind worse\">new</span>",
        FindingKind::Moved => "<span class=\"kind\">moved</span>",
        FindingKind::Replaced => "<span class=\"kind\">replaced</span>",
        FindingKind::Improvement => "<span class=\"kind better\">improvement</span>",
        FindingKind::Gone => "<span class=\"kind better\">gone</span>",
    });
    if finding.ignored.is_some() {
        html.raw(" <span class=\"kind\">ignored</span>");
    }
}

impl Section<'_> {
    /// The finding, folded to its name unless it is open.
    pub(super) fn finding(&self, html: &mut Html, number: usize, finding: &Finding, is_open: bool) {
        html.raw("<details class=\"finding\" id=\"")
            .text(&self.finding_id(number))
            .raw(if is_open {
                "\" open>\n<summary><h4>"
            } else {
                "\">\n<summary><h4>"
            })
            .text(&number.to_string())
            .raw(". <code>")
            .text(&short_name(&finding.function))
            .raw("</code> ");
        kind(html, finding);
        html.raw("</h4></summary>\n");
        if short_name(&finding.function) != printable(&finding.function) {
            html.raw("<details>\n<summary>Its whole name</summary>\n<code>")
                .text(&finding.function)
                .raw("</code>\n</details>\n");
        }
        let place = [Some(finding.module.clone()), finding.place()];
        let place: Vec<String> = place
            .into_iter()
            .flatten()
            .filter(|p| !p.is_empty())
            .collect();
        if !place.is_empty() {
            html.raw("<p class=\"place\">")
                .text(&place.join(", "))
                .raw("</p>\n");
        }
        html.raw("<p>").text(&finding.reason).raw("</p>\n");
        if let Some(why) = not_counted(finding) {
            html.raw("<p class=\"soft\">It ").text(&why).raw("</p>\n");
        }
        self.plot(html, finding);

        html.raw("<table class=\"changes\">\n");
        changes::head(html, self.comparison);
        html.raw("<tbody>\n");
        changes::rows(
            html,
            [&finding.self_, &finding.attributed_self, &finding.total],
        );
        html.raw("</tbody>\n</table>\n");

        call_paths(html, finding);
        callees(html, finding);
        callers(html, finding);
        self.more(html, finding);
        html.raw("</details>\n");
    }

    /// The ways on: into the flame graph of this page, and the command for one of this function.
    fn more(&self, html: &mut Html, finding: &Finding) {
        html.raw("<p class=\"more\">");
        if self.comparison.stacks.is_some() {
            html.raw("<a href=\"#")
                .text(&self.graph_id())
                .raw("\" data-search=\"")
                .text(&short_name(&finding.function))
                .raw("\">Show it in the flame graph</a>, or alone by ");
        } else {
            html.raw("Show it in a flame graph by ");
        }
        html.raw("<code>")
            .text(&finding.command.to_string())
            .raw("</code></p>\n");
    }
}

fn call_paths(html: &mut Html, finding: &Finding) {
    if finding.call_paths.is_empty() {
        return;
    }
    html.raw("<h5>Call paths to it that changed most</h5>\n<table class=\"paths\">\n");
    shares_head(html, "Path<small>outermost caller first</small>");
    for path in &finding.call_paths {
        html.raw("<tr><td>");
        steps(html, path);
        html.raw("</td>");
        let in_candidate = path.candidate_samples > 0;
        shares(
            html,
            path.baseline_share,
            path.candidate_share,
            ratio(path.change, in_candidate),
        );
    }
    html.raw("</tbody>\n</table>\n");
    if finding.more_call_paths > 0 {
        html.raw("<p class=\"soft\">")
            .text(&counted(finding.more_call_paths as u64, "more path"))
            .raw(" changed less.</p>\n");
    }
}

/// The functions of a path, outermost first: calls within libraries unfold.
fn steps(html: &mut Html, path: &CallPath) {
    let links = links(path);
    for (ix, step) in folded_steps(&links, path.omitted).into_iter().enumerate() {
        if ix > 0 {
            html.raw(STEP);
        }
        match step {
            Step::Omitted(frames) => {
                html.raw("<em>")
                    .text(&grouped(frames as u64))
                    .raw(" more</em>");
            }
            Step::Folded(frames) => folded(html, frames),
            Step::Frame(frame) => {
                html.raw("<code>")
                    .text(&short_name(frame.symbol))
                    .raw("</code>");
            }
        }
    }
}

fn callees(html: &mut Html, finding: &Finding) {
    if finding.grown_callees.is_empty() {
        return;
    }
    html.raw("<h5>")
        .raw(match finding.kind {
            FindingKind::Improvement | FindingKind::Gone => "It calls these less",
            _ => "It calls these more",
        })
        .raw("</h5>\n<p class=\"names\">");
    for callee in &finding.grown_callees {
        html.raw("<code>")
            .text(&short_name(&callee.function))
            .raw("</code> ");
    }
    html.raw("</p>\n");
}

fn callers(html: &mut Html, finding: &Finding) {
    let callers = &finding.affected_callers;
    if callers.is_empty() {
        return;
    }
    html.raw("<details>\n<summary>Inherited by ")
        .text(&counted(callers.len() as u64, "caller"))
        .raw("</summary>\n<table class=\"paths\">\n");
    shares_head(html, "Caller<small>innermost first</small>");
    for caller in callers {
        html.raw("<tr><td><code>")
            .text(&short_name(&caller.function))
            .raw("</code></td>");
        let in_candidate = caller.candidate_share > 0.0;
        let change = ratio(caller.change, in_candidate);
        shares(html, caller.baseline_share, caller.candidate_share, change);
    }
    html.raw("</tbody>\n</table>\n</details>\n");
}

fn shares_head(html: &mut Html, first: &'static str) {
    html.raw("<thead><tr><th scope=\"col\">").raw(first).raw(
        "</th><th scope=\"col\" class=\"number\">Baseline<small>share of its samples</small></th>\
         <th scope=\"col\" class=\"number\">Candidate<small>share of its samples</small></th>\
         <th scope=\"col\" class=\"number\">Change<small>of the cost, normalised</small></th>\
         </tr></thead>\n<tbody>\n",
    );
}

fn shares(html: &mut Html, baseline: f64, candidate: f64, change: String) {
    for number in [percent(baseline), percent(candidate), change] {
        html.raw("<td class=\"number\">").text(&number).raw("</td>");
    }
    html.raw("</tr>\n");
}
