//! The details of profiles, as text.

use super::header::{samples_of_event, write_events};
use super::ls::{short_id, write_wrapped};
use crate::select::{full_name, shortened_revision};
use crate::show::{MetricOverTime, SampleLabelKey, ShownBuild, ShownProfile, UnresolvedModule};
use crate::text::{
    Cell, Column, Style, Table, bytes, format_count, group_digits, percent, printable, quantity,
    short,
};
use std::fmt::Write;
use sto_core::Hint;
use sto_core::model::{Commit, MetricKind};
use sto_core::units::Unit;

/// Maximum number of modules without symbols to show for one profile; JSON lists all.
const MAX_MODULES: usize = 10;

/// Maximum number of metrics over time to show for one profile; JSON lists all.
const MAX_METRICS: usize = 10;

/// Maximum number of keys of sample labels to show for one profile; JSON lists all.
const MAX_KEYS: usize = 10;

/// Returns the report as text: each profile with its origin and quality.
pub fn text(report: &ShownBuild, style: Style) -> String {
    let mut text = String::new();
    let name = printable(&full_name(&report.build)).into_owned();
    for profile in &report.profiles {
        let id = format!(": profile {}", short_id(&profile.profile.id));
        let _ = writeln!(
            text,
            "{}",
            style.bold(&(style.shorten_to_fit(&name, id.len()) + &id))
        );
        write_origin(&mut text, report, profile, style);
        write_quality(&mut text, profile);
        write_metrics(&mut text, &profile.metrics_over_time, style);
        if let Some(calls) = &profile.calls_over_time {
            let _ = writeln!(
                text,
                "  {} in {} over time, as {}",
                format_count(calls.calls, "call"),
                format_count(calls.threads as u64, "thread"),
                format_count(calls.records as u64, "record"),
            );
            if let Some(kept) = &calls.kept {
                let _ = writeln!(
                    text,
                    "  every call is kept: {} as {} and their times, {}",
                    group_digits(kept.calls),
                    format_count(kept.nodes, "node"),
                    bytes(kept.bytes),
                );
            }
        }
        write_unresolved(&mut text, &profile.unresolved, style);
    }
    text
}

fn write_origin(text: &mut String, report: &ShownBuild, shown: &ShownProfile, style: Style) {
    let (profile, origin) = (&shown.profile, &shown.origin);
    let duration = origin
        .duration_ns
        .and_then(|ns| quantity(ns, Unit::Nanoseconds));
    let machine = [&origin.host, &origin.arch, &origin.kernel, &origin.cpu];
    let machine: Vec<&str> = machine.into_iter().flatten().map(String::as_str).collect();
    let replaces: Vec<String> = shown.replaces.iter().map(short_id).collect();
    let replaces = Some(replaces.join(", ")).filter(|ids| !ids.is_empty());
    let lines = [
        (
            "build id",
            report.build.gnu_build_id.as_ref().map(|id| id.to_string()),
        ),
        (
            "revision",
            report.build.revision.as_deref().map(shortened_revision),
        ),
        ("commit", report.build.commit.as_ref().map(commit)),
        ("recorded", profile.recorded.clone()),
        ("duration", duration),
        (
            "machine",
            Some(machine.join(", ")).filter(|all| !all.is_empty()),
        ),
        ("command", origin.command.clone()),
        ("benchmark", profile.benchmark.clone()),
        ("merged from", shown.merged_from.clone()),
        ("replaces", replaces),
    ];
    for (what, value) in lines {
        if let Some(value) = value {
            let value = style.shorten_to_fit(&printable(&value), what.len() + 3);
            let _ = writeln!(text, "  {what} {value}");
        }
    }
    let labels = profile.labels.iter();
    let labels = labels.map(|(key, value)| format!("{key}={value}"));
    let metrics = profile.metrics.iter();
    let metrics = metrics.map(|(name, value)| format!("{name}={value}"));
    write_wrapped(text, &labels.chain(metrics).collect::<Vec<_>>(), style);
    write_sample_labels(text, &shown.sample_labels, style);
    let _ = writeln!(
        text,
        "  {} of {}, stored in {}",
        bytes(profile.source_bytes),
        printable(&profile.format),
        bytes(shown.own_bytes),
    );
}

fn commit(commit: &Commit) -> String {
    let id = commit.hash.to_string();
    let (id, time) = (shortened_revision(&id), commit.author_time);
    format!("{id} of {time}: {}", commit.subject)
}

fn write_sample_labels(text: &mut String, labels: &[SampleLabelKey], style: Style) {
    if labels.is_empty() {
        return;
    }
    let shown = labels.iter().take(MAX_KEYS).map(|label| {
        let values = format_count(label.values as u64, "value");
        format!("{} ({values})", label.key)
    });
    let mut all = format!(
        "labels of samples: {}",
        shown.collect::<Vec<_>>().join(", ")
    );
    let more = labels.len().saturating_sub(MAX_KEYS);
    if more > 0 {
        let _ = write!(all, " and {}", format_count(more as u64, "more key"));
    }
    let _ = writeln!(text, "  {}", style.shorten_to_fit(&printable(&all), 2));
}

fn write_quality(text: &mut String, shown: &ShownProfile) {
    let (profile, quality) = (&shown.profile, &shown.profile.quality);
    let _ = writeln!(text, "  {}", samples_of_event(profile));
    write_events(text, profile, &shown.event_totals);
    for (number, share, what) in [
        (shown.unresolved_samples, quality.unresolved, "unresolved"),
        (shown.truncated_samples, quality.truncated, "truncated"),
        (
            shown.samples_without_stack,
            quality.without_stack,
            "without a stack",
        ),
        (shown.lost_events, quality.lost, "lost"),
    ] {
        let _ = writeln!(
            text,
            "  {:>7}  {:>11}  {what}",
            percent(share),
            group_digits(number)
        );
    }
}

fn write_metrics(text: &mut String, metrics: &[MetricOverTime], style: Style) {
    let columns = vec![
        Column::number("values"),
        Column::number("least"),
        Column::number("most"),
        Column::text("kind").with_drop_rank(1),
        Column::text("metric over time"),
    ];
    let mut table = Table::new(columns).with_indent(2);
    let number = |value: Option<f64>| Cell::from(value.map(short).unwrap_or_default());
    for metric in metrics.iter().take(MAX_METRICS) {
        table.add_row(vec![
            Cell::from(group_digits(metric.values as u64)),
            number(metric.least),
            number(metric.most),
            Cell::from(match metric.kind {
                MetricKind::Level => "level",
                MetricKind::Count => "count",
            }),
            Cell::from(&metric.name),
        ]);
    }
    text.push_str(&table.render(style));
    let more = metrics.len().saturating_sub(MAX_METRICS);
    if more > 0 {
        let more = format_count(more as u64, "more metric");
        let json = style.words.hint_phrase("; `", Hint::Json, "` names them");
        let _ = writeln!(text, "  and {more} over time{json}");
    }
}

fn write_unresolved(text: &mut String, unresolved: &[UnresolvedModule], style: Style) {
    if unresolved.is_empty() {
        return;
    }
    let _ = writeln!(text, "  Samples without a symbol:");
    for found in unresolved.iter().take(MAX_MODULES) {
        let module = match found.module.as_str() {
            "" => "no module".into(),
            name => printable(name),
        };
        let _ = writeln!(text, "    {} in {module}", group_digits(found.samples));
        let _ = writeln!(text, "      {}", printable(&found.advice));
    }
    let more = unresolved.len().saturating_sub(MAX_MODULES);
    if more > 0 {
        let more = format_count(more as u64, "more module");
        let json = style.words.hint_phrase("; `", Hint::Json, "` names them");
        let _ = writeln!(text, "    and in {more}{json}");
    }
}
