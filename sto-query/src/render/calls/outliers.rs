//! Unusually long calls, with the activity of other threads during them.

use super::stack;
use crate::calls::{InStack, Outliers, SlowCall, ThreadMeanwhile};
use crate::render::header::full_name;
use crate::text::{
    Cell, Column, Style, Table, format_count, omitted_line, quantity, seconds, title,
};
use sto_core::units::{Nanoseconds, Unit};

/// Maximum number of activities of other threads to list for each outlier.
const MAX_ACTIVITIES: usize = 2;

/// Returns the report as text: the slowest call of each stack, with the activity of the threads
/// during it.
pub fn text(report: &Outliers, style: Style) -> String {
    let said = title(style, &headline(report));
    let mut text = style.bold(said.trim_end()) + "\n";
    if report.runs > 1 {
        let newest = format!("The newest of {}.", format_count(report.runs as u64, "run"));
        text += &title(style, &newest);
    }
    if report.outliers.is_empty() {
        return text;
    }
    let mut table = Table::new(vec![
        Column::number("lost"),
        Column::number("took").with_drop_rank(3),
        Column::number("typical").with_drop_rank(2),
        Column::number("at").with_drop_rank(1),
        Column::text("thread").with_max_width(16).with_drop_rank(4),
        Column::text("function < callers"),
    ]);
    let stacks = by_stack(report);
    let is_shared = stacks.iter().any(|of| of.len() > 1);
    for of in &stacks {
        let worst = of[0];
        let typical = match worst.typical_ns {
            0 => "rare".to_owned(),
            typical => time(typical),
        };
        let others = match of.len() - 1 {
            0 => String::new(),
            others => format!("  (+{others})"),
        };
        table.add_row(vec![
            Cell::from(time(worst.lost_ns)),
            Cell::from(time(worst.call.duration_ns)),
            Cell::from(typical),
            Cell::from(seconds(Nanoseconds(worst.call.start_ns))),
            Cell::from(&worst.call.thread),
            Cell::from(stack(&worst.call.frames, style))
                .with_prefix_and_suffix(String::new(), others),
        ]);
        for line in meanwhile(worst, style) {
            table.add_line(style.shorten_to_fit(&format!("    {line}"), 0));
        }
    }
    text += &format!("\n{}", table.render(style));
    text += &omitted_line(report.omitted, "outlier");
    let mut about =
        "Typical is the median of all calls of the function by these callers".to_owned();
    if stacks.iter().any(|of| of[0].typical_ns == 0) {
        about += "; rare means that most calls of its caller do not call it";
    }
    if is_shared {
        about += "; (+n) is the number of further outliers with that stack";
    }
    text += &format!("\n{}", title(style, &format!("{about}.")));
    text
}

/// Formats `pool@trace: 4 calls took unusually long, first of all one of slow_lookup, of 740 calls
/// in 1.2 s`.
fn headline(report: &Outliers) -> String {
    let name = full_name(&report.subject);
    let all = report.outliers.len() + report.omitted;
    let of = format!(
        "of {} in {}",
        format_count(report.calls, "call"),
        seconds(Nanoseconds(report.duration_ns))
    );
    match (report.outliers.first(), all) {
        (None, _) => format!("{name}: no call took unusually long, {of}"),
        (Some(first), 1) => format!(
            "{name}: a call of {} took unusually long, {of}",
            first.call.function
        ),
        (Some(first), _) => format!(
            "{name}: {all} calls took unusually long, first of all one of {}, {of}",
            first.call.function
        ),
    }
}

fn time(ns: u64) -> String {
    quantity(ns, Unit::Nanoseconds).unwrap_or_default()
}

/// Groups outliers by stack, in the order of their first outlier.
fn by_stack(report: &Outliers) -> Vec<Vec<&SlowCall>> {
    let mut stacks: Vec<Vec<&SlowCall>> = Vec::new();
    for of in &report.outliers {
        let known = stacks
            .iter_mut()
            .find(|known| known[0].call.frames == of.call.frames);
        match known {
            Some(known) => known.push(of),
            None => stacks.push(vec![of]),
        }
    }
    stacks
}

/// Describes what the thread itself did within the call, then what other threads did meanwhile.
/// Threads with the same activity share a line.
fn meanwhile(of: &SlowCall, style: Style) -> Vec<String> {
    let share = |time: u64| {
        format!(
            "{:.0}%",
            time as f64 * 100.0 / of.call.duration_ns.max(1) as f64
        )
    };
    let mut lines = Vec::new();
    let itself = of
        .within
        .first()
        .filter(|most| most.frames.len() > of.call.frames.len());
    if let Some(most) = itself {
        let below = &most.frames[of.call.frames.len()..];
        lines.push(format!(
            "{} of it in {}",
            share(most.time_ns),
            stack(below, style)
        ));
    }
    let mut alike: Vec<(&[String], Vec<&ThreadMeanwhile>)> = Vec::new();
    for thread in &of.meanwhile {
        let frames = thread
            .stacks
            .first()
            .map_or(&[][..], |longest| &longest.frames);
        match alike.iter_mut().find(|(known, _)| *known == frames) {
            Some((_, threads)) => threads.push(thread),
            None => alike.push((frames, vec![thread])),
        }
    }
    let more: usize = alike
        .iter()
        .skip(MAX_ACTIVITIES)
        .map(|(_, threads)| threads.len())
        .sum();
    for (frames, threads) in alike.into_iter().take(MAX_ACTIVITIES) {
        let who = match &threads[..] {
            [thread] => thread.thread.clone(),
            threads => format!("{} threads", threads.len()),
        };
        let longest = threads.iter().filter_map(|of| of.stacks.first());
        let times: Vec<u64> = longest.map(|of: &InStack| of.time_ns).collect();
        let mean = times.iter().sum::<u64>() / times.len().max(1) as u64;
        let what = match frames {
            [] => "in no call".to_owned(),
            frames => stack(frames, style),
        };
        lines.push(format!("meanwhile {who}: {} {what}", share(mean)));
    }
    if more > 0 {
        lines.push(format!(
            "and {} something else",
            format_count(more as u64, "thread")
        ));
    }
    lines
}
