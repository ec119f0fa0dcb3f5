//! The calls of a run as a page with one row per thread, drawn by a script for the width of the
//! window.

use super::command::PartCommand;
use super::data::{Data, Share};
use super::text::{format_run_time, record_count};
use crate::calls::{
    CallTimeline, CallTrace, CalledThread, CallsError, ProminentFunction, call_timeline, prominence,
};
use crate::render::header::full_name;
use crate::render::html::{Page, name, number_head, script_data};
use crate::text::{Words, format_count, group_digits, percent, printable, quantity, seconds};
use maud::{Markup, html};
use sto_core::Hint;
use sto_core::id::ProfileId;
use sto_core::trace::{LongCall, Outlier, ThreadActivity, Wait};
use sto_core::tree::NodeIx;
use sto_core::units::{Nanoseconds, Unit};

/// Number of functions with a colour of their own, and of functions in the legend.
const COLORED: usize = 20;
const LEGEND: usize = 200;
/// Maximum number of outliers and of waits to list.
const LISTED: usize = 20;

/// Returns the calls of a run's threads as a self-contained HTML page that loads nothing and runs
/// only its own scripts.
///
/// Without scripts, the page still has its tables. If every call was kept, expressions can be
/// zoomed into, down to single calls, as far as they fit on the page. `part` returns the command
/// that shows the rest: for a stored run given its id, otherwise for the file that the user named.
///
/// # Errors
///
/// Returns an error if the store cannot be read.
pub fn html(
    run: &CallTrace,
    words: Words,
    part: &dyn Fn(Option<ProfileId>) -> PartCommand,
) -> Result<String, CallsError> {
    let functions = prominence(run);
    let part = match (run.is_stored, run.has_every_call()) {
        (true, true) => part(run.view.selection.profiles.first().map(|stored| stored.id)),
        // The page already has everything that was kept.
        (true, false) => PartCommand::default(),
        (false, _) => part(None),
    };
    let without = if run.has_every_call() || part.is_available() {
        String::new()
    } else {
        without(words)
    };
    let (data, share) = Data::from_run(run, &functions, (&part, &without))?;
    let page = CallPage {
        run,
        timeline: call_timeline(run, None),
        functions,
        without,
        share,
    };
    let title = format!("Calls of {}", full_name(&page.timeline.subject));
    let style = Page {
        title: &title,
        style: include_str!("calls.css"),
        script: concat!(
            include_str!("model.js"),
            include_str!("words.js"),
            include_str!("layout.js"),
            include_str!("picture.js"),
            include_str!("calls.js"),
        ),
    };
    Ok(style.render(&page.markup(&title, &data)))
}

/// Returns the message for expressions whose calls were not kept.
fn without(words: Words) -> String {
    let keep = words.hint_phrase("; `", Hint::KeepCalls, "` keeps them");
    format!("Single calls of expressions were not kept{keep}.")
}

struct CallPage<'a> {
    run: &'a CallTrace,
    timeline: CallTimeline,
    functions: Vec<ProminentFunction>,
    /// Message for expressions whose calls were not kept.
    without: String,
    share: Share,
}

impl CallPage<'_> {
    fn markup(&self, title: &str, data: &Data) -> Markup {
        html! {
            header {
                h1 { (title) }
                p.reason { (self.about()) }
            }
            main.calls {
                figure #plot hidden {
                    .tools {}
                    .rows {}
                    figcaption { (how_to_read(&self.timeline)) p #kept { (self.kept()) } }
                }
                (self.legend())
                (self.outliers())
                (self.waits())
                (self.threads())
                (left_out_note(self.share))
                (script_data("data", data))
            }
        }
    }

    /// Explains how far expressions can be zoomed into.
    fn kept(&self) -> String {
        let Share {
            zooms, calls, all, ..
        } = self.share;
        if !self.run.has_every_call() {
            return match &*self.without {
                "" => "The calls of expressions are not on this page: zooming in on one shows the command that opens them."
                    .to_owned(),
                without => without.to_owned(),
            };
        }
        let said = "Every call was kept: a double click on an expression, or z, zooms in on it";
        match (zooms, calls) {
            _ if all == 0 => "Every call is drawn by itself.".to_owned(),
            (0, _) => {
                "Every call was kept, but this page has no room for the calls of expressions."
                    .to_owned()
            }
            _ if calls >= all => format!("{said}, down to its calls."),
            (_, 0) => format!("{said}, to the shorter expressions in it."),
            _ => format!(
                "{said}, to the shorter expressions in it, and down to its calls: {} of {} are on this page.",
                group_digits(calls),
                format_count(all, "call"),
            ),
        }
    }

    /// Formats `4 threads made 147,123 calls in 33.4 s, kept as 1,024 records (144x fewer).`
    fn about(&self) -> String {
        let of = &self.timeline;
        let when = match of.window {
            Some(window) => format!(
                "from {} to {}",
                format_run_time(of, window.start_ns),
                format_run_time(of, window.end_ns)
            ),
            None => format!("in {}", seconds(Nanoseconds(of.duration_ns))),
        };
        let part = match of.window {
            Some(_) if of.every_call_kept => {
                " Every call of that time is compressed by the threads' time in it."
            }
            Some(_) => " Not every call was kept, so these are the records that overlap that time.",
            None => "",
        };
        let run = match (&of.subject.profiles[..], of.runs) {
            ([newest], runs @ 2..) => format!(" Run {newest}, the newest of {runs}."),
            _ => String::new(),
        };
        format!(
            "{} made {} {when}, {}.{part}{run}",
            format_count(of.threads.len() as u64, "thread"),
            format_count(of.calls, "call"),
            record_count(of),
        )
    }

    /// Returns the functions by prominence. The script colours the first ones.
    fn legend(&self) -> Markup {
        html! {
            section #legend {
                h2 { "Functions" }
                p.soft {
                    "Sorted by prominence: the number of records with the function times the number of threads \
                     that call it. The first " (COLORED) " have a colour; the others are grey."
                }
                ol {
                    @for (ix, function) in self.functions.iter().take(LEGEND).enumerate() {
                        li data-function=(ix) {
                            (name(&function.name))
                            small { (group_digits(function.appearances)) " × " (group_digits(function.threads)) }
                        }
                    }
                }
                @if self.functions.len() > LEGEND {
                    p.soft { (format_count((self.functions.len() - LEGEND) as u64, "more function")) " can be searched for." }
                }
            }
        }
    }

    fn outliers(&self) -> Markup {
        let outliers = &self.run.calls.outliers;
        let names = self.timeline.threads.iter().map(|thread| &*thread.name);
        let names: Vec<&str> = names.collect();
        html! {
            @if !outliers.is_empty() {
                section #outliers {
                    h2 { "Unusually long calls" }
                    p.soft { "Calls that took unusually long for their function and callers, greatest loss of time first." }
                    table {
                        thead { tr {
                            th scope="col" { "Call" }
                            (number_head("Took", "and usually"))
                            (number_head("At", "since the first call"))
                            th scope="col" { "Meanwhile" }
                        } }
                        tbody {
                            @for (ix, outlier) in outliers.iter().enumerate().take(LISTED) {
                                tr data-outlier=(ix) {
                                    th scope="row" { (self.call(&names, outlier.thread, &outlier.call)) }
                                    td.number data-label="took" {
                                        (length(&outlier.call)) small { (time(outlier.typical)) " of " (group_digits(outlier.calls)) }
                                    }
                                    td.number data-label="at" { (self.at(&outlier.call)) }
                                    td data-label="meanwhile" { (self.meanwhile(&names, outlier)) }
                                }
                            }
                        }
                    }
                    @if outliers.len() > LISTED { p.soft { (group_digits((outliers.len() - LISTED) as u64)) " more are marked above." } }
                }
            }
        }
    }

    fn meanwhile(&self, names: &[&str], outlier: &Outlier<NodeIx>) -> Markup {
        let said = |of: &ThreadActivity<NodeIx>| {
            html! {
                li {
                    (names.get(of.thread as usize).unwrap_or(&"")) ": "
                    @match of.stack {
                        Some(stack) => (name(self.run.function(stack))),
                        None => "in no call",
                    }
                    " " (time(of.time))
                }
            }
        };
        html! {
            @match &outlier.activities[..] {
                [] => span.soft { "No other thread." },
                few if few.len() <= 3 => ul { @for of in few { (said(of)) } },
                [first, others @ ..] => {
                    ul { (said(first)) }
                    details { summary { (group_digits(others.len() as u64)) " more" } ul { @for of in others { (said(of)) } } }
                }
            }
        }
    }

    fn waits(&self) -> Markup {
        let waits = &self.run.calls.waits;
        let names = self.timeline.threads.iter().map(|thread| &*thread.name);
        let names: Vec<&str> = names.collect();
        let ended_by = |wait: &Wait<NodeIx>| {
            html! {
                @match &wait.ended_by {
                    Some((thread, call)) => (self.call(&names, *thread, call)),
                    None => span.soft { "no call of another thread" },
                }
            }
        };
        html! {
            @if !waits.is_empty() {
                section #waits {
                    h2 { "Longest waits" }
                    p.soft { "Waits for a lock, a condition, input or output, each with the call of another thread during which it ended." }
                    table {
                        thead { tr {
                            th scope="col" { "Call" }
                            th.number scope="col" { "Took" }
                            (number_head("At", "since the first call"))
                            th scope="col" { "Ended during" }
                        } }
                        tbody {
                            @for (ix, wait) in waits.iter().enumerate().take(LISTED) {
                                tr data-wait=(ix) {
                                    th scope="row" { (self.call(&names, wait.thread, &wait.call)) }
                                    td.number data-label="took" { (length(&wait.call)) }
                                    td.number data-label="at" { (self.at(&wait.call)) }
                                    td data-label="ended during" { (ended_by(wait)) }
                                }
                            }
                        }
                    }
                    @if waits.len() > LISTED { p.soft { (format_count((waits.len() - LISTED) as u64, "more wait")) " not listed." } }
                }
            }
        }
    }

    /// Returns the function of a call and its thread.
    fn call(&self, names: &[&str], thread: u32, call: &LongCall<NodeIx>) -> Markup {
        html! {
            (name(self.run.function(call.stack)))
            small { (names.get(thread as usize).unwrap_or(&"")) }
        }
    }

    fn at(&self, call: &LongCall<NodeIx>) -> String {
        let (first, _) = self.run.time();
        format_run_time(&self.timeline, call.begin.0.saturating_sub(first.0))
    }

    fn threads(&self) -> Markup {
        html! {
            section #threads {
                h2 { "Threads" }
                table {
                    thead { tr {
                        th scope="col" { "Thread" }
                        th.number scope="col" { "Calls" }
                        th.number scope="col" { "Records" }
                        (number_head("Time", "from the first call"))
                        th scope="col" { "Most time" }
                    } }
                    tbody {
                        @for thread in &self.timeline.threads {
                            tr {
                                th scope="row" { (printable(&thread.name)) }
                                td.number data-label="calls" { (group_digits(thread.calls)) }
                                td.number data-label="records" { (group_digits(thread.records)) }
                                td.number data-label="time" {
                                    (seconds(Nanoseconds(thread.end_ns - thread.start_ns)))
                                    small { "from " (format_run_time(&self.timeline, thread.start_ns)) }
                                }
                                td data-label="most time" { (most_time(thread)) }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Returns the functions with the most self time in a thread.
fn most_time(thread: &CalledThread) -> Markup {
    const NAMED: usize = 3;
    let mut own: std::collections::BTreeMap<&str, u64> = std::collections::BTreeMap::new();
    let long = thread
        .long_calls
        .iter()
        .map(|call| (&call.frames, call.self_ns));
    let stacks = thread.expressions.iter().flat_map(|of| &of.stacks);
    for (frames, time) in long.chain(stacks.map(|of| (&of.frames, of.self_ns))) {
        if let Some(function) = frames.innermost_first().next() {
            *own.entry(function).or_default() += time;
        }
    }
    let mut own: Vec<(&str, u64)> = own.into_iter().collect();
    own.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
    let whole = (thread.end_ns - thread.start_ns).max(1) as f64;
    html! {
        @for (ix, (function, time)) in own.into_iter().take(NAMED).enumerate() {
            @if ix > 0 { ", " }
            (name(function)) " " (percent(time as f64 / whole))
        }
    }
}

fn how_to_read(timeline: &CallTimeline) -> Markup {
    html! {
        p {
            "Each row is a thread, with time from left to right and callees below their callers. Calls of more than "
            (timeline.call_duration) " of the thread's time are drawn individually. Consecutive shorter calls share a box, "
            "an expression: it has each of their stacks once, in the order of first calls, as wide as the total time of "
            "its calls. Time without a call, or between calls, is blank."
        }
        p {
            "Short times are drawn too wide, so that time does not pass evenly along a row, nor equally in two rows: the "
            "time under the pointer is marked in all rows."
        }
    }
}

fn left_out_note(share: Share) -> Markup {
    html! {
        @if share.left_out > 0 {
            p.soft #left-out {
                (format_count(share.left_out, "record")) " of less than " (time(share.below))
                " each are left out of the picture, so that the page stays small; tables and numbers have them."
            }
        }
    }
}

fn length(call: &LongCall<NodeIx>) -> String {
    time(Nanoseconds(call.end.0.saturating_sub(call.begin.0)))
}

fn time(time: Nanoseconds) -> String {
    quantity(time.0, Unit::Nanoseconds).unwrap_or_default()
}
