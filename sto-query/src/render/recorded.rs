//! Profiles of several runs of a command, as text, summed up for each build.

use super::header::samples_of_event;
use super::ingest;
use super::ls::short_id;
use crate::answer::InStore;
use crate::maintain::{FoundSymbols, IngestSummary, IngestedFile, IngestedProfile};
use crate::text::{Style, bytes, compression_ratio, format_count, percent, printable};
use std::collections::BTreeMap;
use std::fmt::Write;
use sto_stats::Group;

/// Returns the runs as text. A single run is reported by [`ingest::text`].
pub fn text(summary: &InStore<IngestSummary>, style: Style) -> String {
    if let [_] = &summary.answer.recordings[..] {
        return ingest::text(summary, style);
    }
    let mut builds: BTreeMap<String, Vec<(&IngestedFile, &IngestedProfile)>> = BTreeMap::new();
    for recording in &summary.answer.recordings {
        for profile in &recording.profiles {
            let build = format!("{}@{}", profile.build.executable, profile.build.version);
            builds.entry(build).or_default().push((recording, profile));
        }
    }
    let mut text = String::new();
    for (build, runs) in &builds {
        write_build(&mut text, build, runs, style);
    }
    text.push_str(&ingest::store_line(summary));
    text
}

fn write_build(
    text: &mut String,
    build: &str,
    runs: &[(&IngestedFile, &IngestedProfile)],
    style: Style,
) {
    let of = |number: fn(&IngestedProfile) -> u64| -> u64 {
        runs.iter().map(|(_, run)| number(run)).sum()
    };
    let samples = of(|run| run.profile.samples);
    let mut all = runs[0].1.profile.clone();
    all.samples = samples;
    let [first, last] = [&runs[0], &runs[runs.len() - 1]].map(|(_, run)| short_id(&run.profile.id));
    let ids = match runs.len() {
        1 => format!("profile {first}"),
        _ => format!("profiles {first} to {last}"),
    };
    let _ = writeln!(
        text,
        "{}: {}, {ids}\n  {}",
        style.bold(&printable(build)),
        format_count(runs.len() as u64, "run"),
        samples_of_event(&all),
    );
    let seconds: Option<Vec<f64>> = runs
        .iter()
        .map(|(_, run)| run.profile.metrics.get("seconds").copied())
        .collect();
    if let Some(seconds) = seconds.and_then(|seconds| Group::from_numbers(&seconds)) {
        let deviation = seconds.deviation.unwrap_or(0.0);
        let _ = writeln!(text, "  {:.3} ± {deviation:.3} seconds a run", seconds.mean);
    }
    let (source, stored) = (
        of(|run| run.profile.source_bytes),
        of(|run| run.stored_bytes),
    );
    let smaller = match stored {
        0 => String::new(),
        _ => format!(
            ", {} smaller",
            compression_ratio(source as f64 / stored as f64)
        ),
    };
    let _ = writeln!(
        text,
        "  {} of recordings stored in {}{smaller}",
        bytes(source),
        bytes(stored),
    );
    let share = |share: fn(&IngestedProfile) -> f64| {
        let weighted = runs
            .iter()
            .map(|(_, run)| share(run) * run.profile.samples as f64);
        percent(weighted.sum::<f64>() / samples.max(1) as f64)
    };
    let _ = writeln!(
        text,
        "  {} unresolved, {} truncated, {} without a stack, {} lost",
        share(|run| run.profile.quality.unresolved),
        share(|run| run.profile.quality.truncated),
        share(|run| run.profile.quality.without_stack),
        share(|run| run.profile.quality.lost),
    );
    write_modules(text, runs, style);
}

/// Writes the modules with unresolved locations, each with the counts of the run that has the most.
fn write_modules(text: &mut String, runs: &[(&IngestedFile, &IngestedProfile)], style: Style) {
    let mut worst: BTreeMap<&str, &FoundSymbols> = BTreeMap::new();
    for (recording, run) in runs {
        let modules = recording.modules.iter();
        for module in modules.filter(|module| ingest::is_worth_naming(module, run.profile.samples))
        {
            let known = worst.entry(&module.path).or_insert(module);
            if module.unresolved_samples > known.unresolved_samples {
                *known = module;
            }
        }
    }
    let mut worst: Vec<&FoundSymbols> = worst.into_values().collect();
    worst.sort_by(|a, b| (b.unresolved_samples, &a.path).cmp(&(a.unresolved_samples, &b.path)));
    ingest::write_modules(text, &worst, style);
}
