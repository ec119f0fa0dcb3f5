//! Profiles that were added to a store, as text.

use super::header::{samples_of_event, write_events};
use super::ls::short_id;
use crate::answer::InStore;
use crate::maintain::{FoundSymbols, IngestSummary, IngestedProfile};
use crate::text::{
    Style, bytes, compression_ratio, format_count, group_digits, line, percent, printable,
};
use std::fmt::Write;
use sto_core::Hint;
use sto_core::ingest::{IngestedCalls, IngestedMetrics};
use sto_core::units::Bytes;

/// Maximum number of modules without symbols to show for one file; JSON lists all.
const MAX_MODULES: usize = 5;
/// A module is shown if at least one in this many samples has a location in it without a symbol.
const FEW_SAMPLES: u64 = 1000;

/// Returns the summary as text: each file with its profiles, their quality, and the modules without
/// symbols.
pub fn text(summary: &InStore<IngestSummary>, style: Style) -> String {
    let mut text = String::new();
    for recording in &summary.answer.recordings {
        for profile in &recording.profiles {
            write_profile(&mut text, profile, &recording.path, style);
        }
        let samples = recording.profiles.iter();
        let samples = samples.map(|ingested| ingested.profile.samples).sum();
        let unresolved = recording.modules.iter();
        let unresolved: Vec<&FoundSymbols> = unresolved
            .filter(|module| is_worth_naming(module, samples))
            .collect();
        write_modules(&mut text, &unresolved, style);
        if unresolved.iter().any(|module| module.may_be_found) && !summary.answer.is_dataset {
            let later = "` finds their names once there are files that have them\n";
            text += &style.words.hint_phrase("    `", Hint::Symbolize, later);
        }
    }
    if !summary.answer.recordings.is_empty() {
        text.push_str(&store_line(summary));
    }
    text
}

/// Returns a line with the path of the store.
pub(super) fn store_line(summary: &InStore<IngestSummary>) -> String {
    let what = if summary.answer.is_dataset {
        "dataset"
    } else {
        "store"
    };
    format!("The {what} is {}.\n", printable(&summary.store))
}

fn write_profile(text: &mut String, ingested: &IngestedProfile, path: &str, style: Style) {
    let profile = &ingested.profile;
    let build = format!("{}@{}", ingested.build.executable, ingested.build.version);
    let build = style.bold(&printable(&build));
    let (id, path) = (short_id(&profile.id), printable(path));
    if !ingested.added {
        let metrics = ingested.metrics_over_time.as_ref().map(|given| {
            let size = bytes(given.bytes.0);
            let metrics = metrics_over_time(given);
            format!("it was given {metrics}, and has {size} of them")
        });
        let calls = ingested
            .calls_over_time
            .as_ref()
            .map(|given| format!("now with its calls: {}", calls_over_time(given)));
        let given: Vec<String> = metrics.into_iter().chain(calls).collect();
        let given = match given[..] {
            [] => "nothing was changed".to_owned(),
            _ => given.join("; "),
        };
        let _ = writeln!(
            text,
            "{build}: {path} is already stored as profile {id}; {given}"
        );
        return;
    }
    let _ = writeln!(
        text,
        "{build}: profile {id} from {path}\n  {}, {} nodes, {} frames",
        samples_of_event(profile),
        group_digits(ingested.nodes as u64),
        group_digits(ingested.frames as u64),
    );
    write_events(text, profile, &ingested.event_totals);
    let smaller = ingested.saving.map(compression_ratio);
    let _ = writeln!(
        text,
        "  {} of recording stored in {}{}",
        bytes(profile.source_bytes),
        bytes(ingested.stored_bytes),
        smaller.map_or(String::new(), |factor| format!(", {factor} smaller")),
    );
    if let Some(slices) = &ingested.slices {
        let _ = writeln!(
            text,
            "  {} of that for {} of {}",
            bytes(slices.bytes.0),
            format_count(u64::from(slices.count), "time slice"),
            format_count(slices.threads as u64, "thread"),
        );
    }
    if let Some(metrics) = &ingested.metrics_over_time {
        let size = bytes(metrics.bytes.0);
        let _ = writeln!(text, "  {size} of that for {}", metrics_over_time(metrics));
    }
    if let Some(calls) = &ingested.calls_over_time {
        let _ = writeln!(text, "  {}", calls_over_time(calls));
    }
    let quality = &profile.quality;
    let _ = writeln!(
        text,
        "  {} unresolved, {} truncated, {} without a stack, {} lost",
        percent(quality.unresolved),
        percent(quality.truncated),
        percent(quality.without_stack),
        percent(quality.lost),
    );
}

fn metrics_over_time(metrics: &IngestedMetrics) -> String {
    format!(
        "{} over time with {}",
        format_count(metrics.count as u64, "metric"),
        format_count(metrics.points as u64, "value"),
    )
}

fn calls_over_time(calls: &IngestedCalls) -> String {
    let records = calls.records as u64;
    let kept = match calls.kept_bytes {
        Bytes(0) => String::new(),
        Bytes(kept) => format!("; every call is kept ({})", bytes(kept)),
    };
    format!(
        "{} in {} became {}, 1 in {} ({}){kept}",
        format_count(calls.calls, "call"),
        format_count(calls.threads as u64, "thread"),
        format_count(records, "record"),
        group_digits((calls.calls as f64 / records.max(1) as f64).round() as u64),
        bytes(calls.bytes.0),
    )
}

/// Returns `true` if the samples with an unresolved location in a module are a significant part of
/// all samples.
pub(super) fn is_worth_naming(module: &FoundSymbols, samples: u64) -> bool {
    let count = module.unresolved_samples;
    count > 0 && count.saturating_mul(FEW_SAMPLES) >= samples
}

/// Writes the modules that have locations without a symbol, in the given order.
pub(super) fn write_modules(text: &mut String, unresolved: &[&FoundSymbols], style: Style) {
    if unresolved.is_empty() {
        return;
    }
    let _ = writeln!(text, "  Locations without a symbol:");
    for module in unresolved.iter().take(MAX_MODULES) {
        let _ = writeln!(
            text,
            "    {} of {} in {}",
            group_digits(module.unresolved as u64),
            group_digits(module.locations as u64),
            printable(&module.path),
        );
        if let Some(problem) = &module.problem {
            *text += &line(style, problem, 6);
        }
    }
    let more = unresolved.len().saturating_sub(MAX_MODULES);
    if more > 0 {
        let more = format_count(more as u64, "more module");
        let json = style
            .words
            .hint_phrase("; `", Hint::JsonReport, "` names them");
        let _ = writeln!(text, "    and in {more}{json}");
    }
}
