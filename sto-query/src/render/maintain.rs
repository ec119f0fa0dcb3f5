//! Reports of commands that maintain a store, in a line or two.

use crate::annotate::AnnotatedRuns;
use crate::average::StoredAverage;
use crate::maintain::{ExportedStore, TagAction, TagEntry, TagList};
use crate::prune::Pruned;
use crate::text::{Style, bytes, display_width, format_count, group_digits, printable};
use std::fmt::Write;
use sto_core::Hint;
use sto_core::store::Rewritten;

/// Returns how many metrics were attached.
pub fn annotate(report: &AnnotatedRuns, _: Style) -> String {
    let parts = [
        (report.new, "new"),
        (report.replaced, "replaced"),
        (report.unchanged, "known already"),
    ];
    let known = parts.iter().filter(|(count, _)| *count > 0);
    let known: Vec<String> = known
        .map(|(count, what)| format!("{count} {what}"))
        .collect();
    let metrics = report.new + report.replaced + report.unchanged;
    match metrics {
        0 => "The file has no metrics.\n".to_owned(),
        _ => format!(
            "{} of {}: {}\n",
            format_count(metrics as u64, "metric"),
            format_count(report.runs as u64, "run"),
            known.join(", ")
        ),
    }
}

/// Returns the report of a stored average: `demo@history: the mean of 12 profiles, 2,716.33 samples on
/// 57 stacks`.
pub fn average(report: &StoredAverage, style: Style) -> String {
    let name = name(&report.executable, &report.build);
    let stored = if report.already_stored {
        "; it was stored before"
    } else {
        ""
    };
    format!(
        "{}: the mean of {}, {} on {}{stored}\n",
        style.bold(&name),
        format_count(report.of as u64, "profile"),
        mean_samples(report.samples),
        format_count(report.nodes as u64, "stack"),
    )
}

/// Formats `2,716.33 samples`, or a whole number.
fn mean_samples(samples: f64) -> String {
    let hundredths = (samples * 100.0).round() as u64;
    match (hundredths / 100, hundredths % 100) {
        (whole, 0) => format_count(whole, "sample"),
        (whole, part) => format!("{}.{part:02} samples", group_digits(whole)),
    }
}

/// Returns the sizes of a store before and after it was compacted.
pub fn compact(report: &Rewritten, _: Style) -> String {
    format!(
        "the store's file: {} -> {}\n",
        bytes(report.before.0),
        bytes(report.after.0)
    )
}

/// Returns the path and size of an exported store.
pub fn export_store(report: &ExportedStore, _: Style) -> String {
    format!(
        "wrote {} to {} ({})\n",
        format_count(report.profiles as u64, "profile"),
        printable(&report.path),
        bytes(report.bytes.0)
    )
}

/// Returns the removed profiles, with one line per build, then the sizes.
pub fn prune(report: &Pruned, style: Style) -> String {
    let mut text = String::new();
    for build in &report.builds {
        let count = format_count(build.profiles.len() as u64, "profile");
        let left = match build.profiles_left {
            0 => "all it has".to_owned(),
            left => format!("{left} left"),
        };
        let counts = format!("  {count}, {left}");
        let name = name(&build.executable, &build.version);
        let _ = writeln!(
            text,
            "{}{counts}",
            style.shorten_to_fit(&name, counts.len())
        );
    }
    for build in &report.kept_by_tag {
        let name = name(&build.executable, &build.version);
        let tags = printable(&build.tags.join(", ")).into_owned();
        let _ = writeln!(text, "{name}  kept, as it is tagged {tags}");
    }
    let verb = if report.dry_run {
        "would be removed"
    } else {
        "removed"
    };
    let _ = writeln!(
        text,
        "{} {verb}, {} left",
        format_count(report.profiles as u64, "profile"),
        report.profiles_left,
    );
    let _ = writeln!(
        text,
        "the store's file: {} -> {}{}",
        bytes(report.bytes_before),
        bytes(report.bytes_after),
        if report.dry_run {
            "; nothing was changed"
        } else {
            ""
        },
    );
    if report.in_place {
        text += "the disk has no room for a compacted copy: profiles were removed from the file in place";
        let stacks = " removes the stacks that no profile has any more once there is room";
        text += &style.words.hint_phrase(";\n", Hint::Compact, stacks);
        text.push('\n');
    }
    if report.fits == Some(false) {
        text.push_str("this is still more than asked for: nothing else may be removed\n");
    }
    text
}

/// Returns the tags, one per line.
pub fn tag(report: &TagList, style: Style) -> String {
    if report.tags.is_empty() {
        let set = style
            .words
            .hint_phrase("; `", Hint::SetTag, "` gives it one");
        return format!("No build has a tag yet{set}.\n");
    }
    let names = report.tags.iter().map(tag_name);
    let names: Vec<String> = names.collect();
    let longest = names
        .iter()
        .map(|name| display_width(name))
        .max()
        .unwrap_or(0);
    let mut text = String::new();
    for (name, entry) in names.iter().zip(&report.tags) {
        let build = style.bold(&printable(&entry.tag.version));
        let _ = match (report.action, &entry.moved_from) {
            (TagAction::Listed, _) => {
                let padding = longest - display_width(name);
                writeln!(text, "{name}{:padding$}  {build}", "")
            }
            (TagAction::Set, None) => writeln!(text, "{name} is {build}"),
            (TagAction::Set, Some(before)) => {
                writeln!(text, "{name} is {build} now, it was {}", printable(before))
            }
            (TagAction::Deleted, _) => writeln!(text, "{name} deleted, it was {build}"),
        };
    }
    text
}

fn tag_name(entry: &TagEntry) -> String {
    printable(&entry.tag.to_string()).into_owned()
}

fn name(executable: &str, build: &str) -> String {
    printable(&format!("{executable}@{build}")).into_owned()
}
