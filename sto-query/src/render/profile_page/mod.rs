//! The profiles of a build as a page: a flame graph and a list of functions for each event.

use super::flame::{draw_view, label_of};
use super::header::{first_line, window_text};
use super::html::{Page, name, number_head, numbers, recorded, short_name};
use crate::error::ExportError;
use crate::select::{full_name, shortened_revision};
use crate::text::{Style, format_count, group_digits, list_names, percent};
use crate::tree::{Listed, Order, Subject, Top, TopFunction, View, top};
use maud::{Markup, html};
use std::collections::BTreeSet;
use std::io::Write;
use sto_core::model::{FrameKind, Origin};

/// Maximum number of functions of an event to list by self, and by total.
const FUNCTIONS: usize = 250;
/// Maximum number of hosts, of processors and of commands to name.
const NAMED: usize = 2;
/// Maximum number of frames for all events together, of about 200 bytes each.
const FRAMES: usize = 20_000;

/// Writes the stacks in every sample type as a self-contained HTML page that loads nothing and runs
/// only its own scripts. Without scripts, the events are shown one below the other.
///
/// # Errors
///
/// Returns an error if there are no samples, or `writer` fails.
pub fn html(view: &View, mut writer: impl Write) -> Result<(), ExportError> {
    let events: Vec<usize> = (0..view.sample_types.len())
        .filter(|&event| view.self_costs(event).iter().any(|cost| !cost.is_zero()))
        .collect();
    let title = full_name(&view.selection.build);
    if events.is_empty() {
        return Err(ExportError::Empty { build: title });
    }
    let page = Page {
        title: &title,
        style: include_str!("profile_page.css"),
        script: include_str!("profile_page.js"),
    };
    let frames = FRAMES / events.len();
    let page = page.render(&html! {
        header {
            h1 { (title) }
            (facts(view))
        }
        main {
            @for &event in &events { (of_event(view, event, frames)) }
        }
    });
    Ok(writer.write_all(page.as_bytes())?)
}

/// Returns where and when a build was recorded.
fn facts(view: &View) -> Markup {
    let build = &view.selection.build;
    let origins = || view.selection.profiles.iter().map(|of| &of.profile.origin);
    let all = |of: fn(&Origin) -> Option<&str>| {
        let distinct: BTreeSet<&str> = origins().filter_map(of).collect();
        let distinct: Vec<&str> = distinct.into_iter().collect();
        (!distinct.is_empty()).then(|| list_names(&distinct, NAMED))
    };
    let times = || origins().filter_map(|origin| origin.recorded);
    let [first, last] =
        [times().min(), times().max()].map(|time| time.map(|time| time.to_string()));
    let revision = build.revision.as_deref().map(shortened_revision);
    let facts = [
        ("recorded", Some(recorded(first.as_ref(), last.as_ref()))),
        ("host", all(|origin| origin.host.as_deref())),
        ("processor", all(|origin| origin.cpu.as_deref())),
        ("command", all(|origin| origin.command.as_deref())),
        ("revision", revision),
        (
            "build id",
            build.gnu_build_id.as_ref().map(ToString::to_string),
        ),
        ("time", window_text(&view.windows)),
    ];
    html! {
        .side {
            dl {
                @for (name, fact) in facts {
                    @if let Some(fact) = fact { dt { (name) } dd { (fact) } }
                }
            }
        }
    }
}

fn of_event(view: &View, event: usize, frames: usize) -> Markup {
    let id = format!("stacks-{}", event + 1);
    let subject = Subject::new(view, event);
    html! {
        section.event {
            h2 { (view.sample_types[event].event) }
            p { (first_line(&subject, Style::default())) }
            (draw_view(&id, (view, event), frames))
            (functions(&id, view, event))
        }
    }
}

/// Returns the functions with the highest self and those with the highest total.
fn functions(id: &str, view: &View, event: usize) -> Markup {
    let Top { functions, .. } = top(view, event, Order::SelfCost, &Listed::default());
    let mut by_total: Vec<usize> = (0..functions.len()).collect();
    by_total.sort_by_key(|&ix| {
        let total = functions[ix].total;
        std::cmp::Reverse((total.value, total.samples))
    });
    let mut rank = vec![0; functions.len()];
    for (place, ix) in by_total.into_iter().enumerate() {
        rank[ix] = place;
    }
    let ranked = functions.iter().zip(rank).enumerate();
    let listed: Vec<(&TopFunction, usize)> = ranked
        .filter(|(by_self, (_, by_total))| *by_self < FUNCTIONS || *by_total < FUNCTIONS)
        .map(|(_, listed)| listed)
        .collect();
    let omitted = functions.len() - listed.len();
    html! {
        table.functions {
            thead { tr {
                (number_head("Self", "by its own code"))
                (number_head("Samples", "of self"))
                (number_head("Total", "with what it calls"))
                (number_head("Samples", "of total"))
                th scope="col" { "Module" }
                th scope="col" { "Function" }
            } }
            tbody {
                @for (function, by_total) in listed {
                    @let (frame, own, total) = (&function.frame, &function.self_cost, &function.total);
                    tr data-total=(by_total) {
                        (numbers([
                            &percent(own.share),
                            &group_digits(own.samples),
                            &percent(total.share),
                            &group_digits(total.samples),
                        ]))
                        td { (short_name(&frame.module)) }
                        td {
                            a href={ "#" (id) } data-search=(short_name(&label_of(&frame.function, frame.kind, &frame.module))) {
                                (name(&frame.function))
                            }
                            @if frame.kind == FrameKind::Inlined { " (inlined)" }
                        }
                    }
                }
            }
        }
        @if omitted > 0 {
            p.soft { (format_count(omitted as u64, "function")) " that cost less are not listed." }
        }
    }
}
