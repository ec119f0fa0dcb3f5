//! The calls of a run as text: one row per thread, and a list of the longest calls.

use crate::answer::truncate;
use crate::calls::{CallFrames, CallTimeline, CalledThread};
use crate::render::header::full_name;
use crate::render::timeline::axis_line;
use crate::text::{
    Cell, Column, Style, Table, compression_ratio, display_width, format_count, format_time,
    group_digits, omitted_line, printable, quantity, seconds, shorten, title,
};
use crate::timeline::Grid;
use std::cmp::Reverse;
use std::collections::HashMap;
use sto_core::Hint;
use sto_core::trace::Threshold;
use sto_core::tree::NodeIx;
use sto_core::units::{Nanoseconds, Unit};

/// Number of columns of time if the width is not limited.
const USUAL_COLUMNS: usize = 60;
/// Minimum number of columns of time.
const LEAST_COLUMNS: usize = 10;
/// Width of the columns before the function in the list, of the function's name next to its
/// callers, and the minimum width of callers.
const BEFORE_FUNCTION: usize = 42;
const MOST_OF_FUNCTION: usize = 28;
const LEAST_OF_CALLERS: usize = 8;
/// Characters of the rows, by what a thread did in the time of a column.
const SHORT: char = '█';
const LONG: char = '▒';
const SOME: char = '·';
const OUTLIER: char = '!';
/// Maximum number of calls to list for all threads together, unless all are requested, and minimum
/// for each thread.
const LISTED: usize = 12;
const LEAST_LISTED: usize = 2;

/// Returns the report as text: one row per thread, then for each thread the long calls and the
/// stacks of expressions with the most self time. Lists every one of these if `all` is true.
pub fn text(timeline: &CallTimeline, all: bool, style: Style) -> String {
    let mut text = headline(timeline, style);
    let (begin, end) = shown(timeline);
    let end = (end as f64).max(begin as f64 + 1.0);
    let Some(grid) = Grid::new(begin as f64, end, columns(timeline, style)) else {
        return text;
    };
    if timeline.threads.is_empty() {
        return text;
    }
    text += &title(style, &about(timeline, grid, style));
    let mut table = Table::new(vec![
        Column::number("calls"),
        Column::number("records").with_drop_rank(1),
        Column::text("over time"),
        Column::text("thread"),
    ]);
    for thread in &timeline.threads {
        table.add_row(vec![
            Cell::from(group_digits(thread.calls)),
            Cell::from(group_digits(thread.records)),
            Cell::from(drawn(thread, grid)),
            Cell::from(&thread.name),
        ]);
    }
    let before = before(timeline);
    table.add_line(format!("{:before$}{}", "", axis_line(grid)));
    text += &format!("\n{}", table.render(style));
    text += &omitted_line(timeline.omitted, "thread");
    text += &title(style, &legend(timeline));
    let listed = if all {
        usize::MAX
    } else {
        (LISTED / timeline.threads.len()).max(LEAST_LISTED)
    };
    let threads = if all {
        timeline.threads.len()
    } else {
        LISTED / LEAST_LISTED
    };
    for thread in timeline.threads.iter().take(threads) {
        text += &format!("\n{}", calls_of(timeline, thread, listed, style));
    }
    let others = timeline.threads.len().saturating_sub(threads);
    if others > 0 {
        text += &format!(
            "\nCalls of {} not listed\n",
            format_count(others as u64, "more thread")
        );
    }
    text
}

/// Formats `demo@trace: 4 threads made 147,123 calls in 33.4 s, kept as 1,024 records (144x
/// fewer)`.
fn headline(timeline: &CallTimeline, style: Style) -> String {
    let threads = timeline.threads.len() + timeline.omitted;
    let when = match timeline.window {
        Some(of) => format!(
            "from {} to {}",
            format_run_time(timeline, of.start_ns),
            format_run_time(timeline, of.end_ns)
        ),
        None => format!("in {}", seconds(Nanoseconds(timeline.duration_ns))),
    };
    let mut said = format!(
        "{}: {} made {} {when}",
        full_name(&timeline.subject),
        format_count(threads as u64, "thread"),
        format_count(timeline.calls, "call"),
    );
    if timeline.records > 0 {
        said += &format!(", {}", record_count(timeline));
    }
    let said = title(style, &said);
    style.bold(said.trim_end()) + "\n"
}

/// Formats `kept as 1,024 records (144x fewer)`.
pub(super) fn record_count(timeline: &CallTimeline) -> String {
    let records = format_count(timeline.records, "record");
    match timeline.calls as f64 / timeline.records.max(1) as f64 {
        ..1.05 => format!("kept as {records}"),
        ratio => format!("kept as {records} ({} fewer)", compression_ratio(ratio)),
    }
}

/// Returns the time range that is shown.
fn shown(timeline: &CallTimeline) -> (u64, u64) {
    let window = timeline.window.map(|of| (of.start_ns, of.end_ns));
    window.unwrap_or((0, timeline.duration_ns))
}

/// Formats a point in time, in a selected part of the time with enough digits to tell points in it
/// apart.
pub(super) fn format_run_time(timeline: &CallTimeline, time: u64) -> String {
    match timeline.window {
        None => seconds(Nanoseconds(time)),
        Some(of) => format_time(
            Nanoseconds(time),
            Nanoseconds(of.end_ns),
            Nanoseconds(of.end_ns - of.start_ns),
        ),
    }
}

/// Describes the run and which calls were kept.
fn about(timeline: &CallTimeline, grid: Grid, style: Style) -> String {
    let run = match (&timeline.subject.profiles[..], timeline.runs) {
        ([newest], runs @ 2..) => format!("Run {newest}, the newest of {runs}. "),
        _ => String::new(),
    };
    let duration = threshold(&timeline.call_duration);
    let gap = threshold(&timeline.call_gap);
    let within = timeline.window.map_or("", |_| " in it");
    let kept = match timeline.window {
        Some(_) if !timeline.every_call_kept => format!(
            "These are the records that overlap it, with their calls before and after it, as not every call was kept{}.",
            style
                .words
                .hint_phrase("; `", Hint::KeepCalls, "` keeps every one"),
        ),
        _ => {
            format!("Kept each: calls over {duration}, gaps over {gap} of a thread's time{within}.")
        }
    };
    format!(
        "{run}{kept} {} a column",
        quantity((grid.step() * 1e9).round() as u64, Unit::Nanoseconds).unwrap_or_default(),
    )
}

/// Formats a threshold: a share in its original spelling, a time with its usual unit.
fn threshold(written: &str) -> String {
    match written.parse() {
        Ok(Threshold::Time(time)) => seconds(time),
        _ => written.to_owned(),
    }
}

/// Returns the width of the columns before the time.
fn before(timeline: &CallTimeline) -> usize {
    let widest = |title: &str, number: fn(&CalledThread) -> u64| {
        let numbers = timeline
            .threads
            .iter()
            .map(|of| group_digits(number(of)).len());
        numbers.max().unwrap_or(0).max(title.len()) + 2
    };
    widest("calls", |of| of.calls) + widest("records", |of| of.records)
}

/// Returns the number of columns of time that fit next to the names of threads.
fn columns(timeline: &CallTimeline, style: Style) -> usize {
    let Some(width) = style.width else {
        return USUAL_COLUMNS;
    };
    let names = timeline.threads.iter().map(|of| display_width(&of.name));
    let names = names.max().unwrap_or(0).clamp(8, (width / 4).max(12));
    width
        .saturating_sub(before(timeline) + 2 + names)
        .max(LEAST_COLUMNS)
}

/// Returns a thread's row, with a character per column of time.
fn drawn(thread: &CalledThread, grid: Grid) -> String {
    let short = thread.expressions.iter().map(|of| (of.start_ns, of.end_ns));
    let long = thread.long_calls.iter().map(|of| (of.start_ns, of.end_ns));
    let mut all: Vec<(u64, u64)> = short.clone().chain(long).collect();
    // A nested span begins with or after the one that contains it.
    all.sort_by_key(|&(begin, end)| (begin, Reverse(end)));
    let mut ended = 0;
    all.retain(|&(_, end)| {
        let is_outermost = end > ended;
        ended = ended.max(end);
        is_outermost
    });
    let in_short = parts(short, grid);
    let in_any = parts(all.into_iter(), grid);
    let cells = in_any.into_iter().zip(in_short);
    let mut drawn: Vec<char> = cells.map(|(any, short)| shade(any, short)).collect();
    let begins = thread
        .outliers_ns
        .iter()
        .map(|&begin| begin as f64 - grid.from());
    for since in begins.filter(|&since| since >= 0.0) {
        let part = since / (grid.to() - grid.from());
        let cell = (part * grid.count() as f64) as usize;
        drawn[cell.min(grid.count() - 1)] = OUTLIER;
    }
    drawn.into_iter().collect()
}

/// Returns the character for a column, given the parts of its time spent in any call and in short
/// calls.
fn shade(any: f64, short: f64) -> char {
    match () {
        () if any < 0.005 => ' ',
        () if any < 0.5 => SOME,
        () if short * 2.0 >= any => SHORT,
        () => LONG,
    }
}

/// Returns the part of each slice that is covered by spans, which must not overlap.
fn parts(spans: impl Iterator<Item = (u64, u64)>, grid: Grid) -> Vec<f64> {
    let slice = (grid.to() - grid.from()) / grid.count() as f64;
    let mut parts = vec![0.0; grid.count()];
    for (begin, end) in spans {
        let slices = |time: u64| (time as f64 - grid.from()).max(0.0) / slice;
        let (begin, end) = (slices(begin), slices(end));
        let overlapped = begin as usize..(end.ceil() as usize).min(grid.count());
        for ix in overlapped {
            let part = end.min((ix + 1) as f64) - begin.max(ix as f64);
            parts[ix] += part.max(0.0);
        }
    }
    parts
}

/// Explains the characters of the rows.
fn legend(timeline: &CallTimeline) -> String {
    let outliers = timeline.threads.iter().map(|of| of.outliers_ns.len());
    let mut meanings = vec![
        format!("{SHORT} short calls"),
        format!("{LONG} a long call by itself"),
        format!("{SOME} calls in less than half of the time"),
    ];
    if outliers.sum::<usize>() > 0 {
        meanings.push(format!("{OUTLIER} an unusually long call begins"));
    }
    meanings.join("  ")
}

/// A line in the list of a thread's calls.
struct Listed<'a> {
    own: u64,
    duration: u64,
    calls: u64,
    /// Begin of a long call; `None` for stacks of expressions.
    begin: Option<u64>,
    frames: &'a CallFrames,
}

/// Lists the long calls of a thread and the stacks of its expressions by self time.
fn calls_of(timeline: &CallTimeline, thread: &CalledThread, most: usize, style: Style) -> String {
    let long = thread.long_calls.iter().map(|call| Listed {
        own: call.self_ns,
        duration: call.end_ns - call.start_ns,
        calls: 1,
        begin: Some(call.start_ns),
        frames: &call.frames,
    });
    let mut stacks: HashMap<Option<NodeIx>, Listed> = HashMap::new();
    for of in thread.expressions.iter().flat_map(|of| &of.stacks) {
        let sum = stacks.entry(of.frames.stack()).or_insert(Listed {
            own: 0,
            duration: 0,
            calls: 0,
            begin: None,
            frames: &of.frames,
        });
        sum.own += of.self_ns;
        sum.duration += of.duration_ns;
        sum.calls += of.calls;
    }
    let mut table = Table::new(vec![
        Column::number("self"),
        Column::number("total"),
        Column::number("calls"),
        Column::text("at").with_drop_rank(1),
        Column::text("function < callers"),
    ]);
    let mut omitted = 0;
    for mut listed in [long.collect(), stacks.into_values().collect::<Vec<_>>()] {
        listed.sort_by(|a, b| {
            let order = b.own.cmp(&a.own).then(b.duration.cmp(&a.duration));
            order
                .then(a.begin.cmp(&b.begin))
                .then(a.frames.stack().cmp(&b.frames.stack()))
        });
        omitted += truncate(&mut listed, Some(most));
        for of in listed {
            let time = |ns| quantity(ns, Unit::Nanoseconds).unwrap_or_default();
            let mut callers = of.frames.innermost_first();
            let function = callers.next().unwrap_or_default();
            let callers = callers.map(|caller| format!(" < {}", style.name(caller, 0)));
            let callers: String = callers.collect();
            let callers = match style.width {
                None => callers,
                Some(width) => {
                    let taken = BEFORE_FUNCTION
                        + display_width(&style.name(function, 0)).min(MOST_OF_FUNCTION);
                    match width.saturating_sub(taken) {
                        0..LEAST_OF_CALLERS => String::new(),
                        room => shorten(&callers, room),
                    }
                }
            };
            let at = of.begin.map(|begin| format_run_time(timeline, begin));
            table.add_row(vec![
                Cell::from(time(of.own)),
                Cell::from(time(of.duration)),
                Cell::from(group_digits(of.calls)),
                Cell::from(at.unwrap_or_default()),
                Cell::function(function)
                    .with_prefix_and_suffix(String::new(), printable(&callers).into_owned()),
            ]);
        }
    }
    let about = format!(
        "{}: {}, {}",
        thread.name,
        format_count(thread.long_calls.len() as u64, "long call"),
        format_count(thread.expressions.len() as u64, "expression"),
    );
    let heading = style.bold(title(style, &about).trim_end());
    let table = table.with_indent(2).render(style);
    let more = match omitted {
        0 => String::new(),
        _ => format!("  {}", omitted_line(omitted, "stack")),
    };
    format!("{heading}\n{table}{more}")
}
