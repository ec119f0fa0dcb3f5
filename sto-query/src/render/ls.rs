//! What a store has, as a table.

use super::header::counted;
use super::numbers::{bytes, grouped, percent, saving};
use super::{Style, display_width, printable};
use crate::report::{BuildReport, ListedProfile, LsReport};
use crate::select::shortened_revision;
use std::fmt::Write;

/// Digits of an id that are shown: more than enough to name one in a store.
const ID_DIGITS: usize = 12;

/// The beginning of an id that stands for it.
pub(super) fn short_id(id: &str) -> &str {
    &id[..ID_DIGITS.min(id.len())]
}

/// The report as text: each build with its profiles, then the sums.
pub fn text(report: &LsReport, style: Style) -> String {
    if report.totals.profiles == 0 {
        return "The store has no profiles yet; `sto ingest FILE` adds one.\n".to_owned();
    }
    let mut text = String::new();
    for build in &report.builds {
        let name = printable(&build.executable) + "@" + printable(&build.version);
        let _ = writeln!(text, "{}", style.bold(&style.fit(&name, 0)));
        write_origin(&mut text, build, style);
        let heading = format!(
            "  {:ID_DIGITS$}  {:20}  {:>11}  {:>8}  {:>8}",
            "profile", "recorded", "samples", "raw", "own"
        );
        let _ = writeln!(text, "{}", style.dim(&heading));
        for profile in &build.profiles {
            write_profile(&mut text, profile, style);
        }
        text.push('\n');
    }
    if report.more > 0 {
        let _ = writeln!(
            text,
            "{} not shown",
            counted(report.more as u64, "more build")
        );
    }
    write_sums(&mut text, report);
    text
}

fn write_origin(text: &mut String, build: &BuildReport, style: Style) {
    if !build.tags.is_empty() {
        let tags = style.fit(&printable(&build.tags.join(", ")), 7);
        let _ = writeln!(text, "  tagged {tags}");
    }
    let known = [
        ("build id", build.gnu_build_id.clone()),
        (
            "revision",
            build.revision.as_deref().map(shortened_revision),
        ),
    ];
    for (what, value) in known {
        // A build without a name bears its build id: once is enough.
        if let Some(value) = value.filter(|value| *value != build.version) {
            let value = style.fit(&printable(&value), what.len() + 3);
            let _ = writeln!(text, "  {what} {value}");
        }
    }
}

fn write_profile(text: &mut String, listed: &ListedProfile, style: Style) {
    let profile = &listed.profile;
    let _ = writeln!(
        text,
        "  {}  {:20}  {:>11}  {:>8}  {:>8}",
        short_id(&profile.id),
        profile.recorded.as_deref().unwrap_or("-"),
        grouped(profile.samples),
        bytes(profile.source_bytes),
        bytes(listed.own_bytes),
    );
    let mut details: Vec<String> = Vec::new();
    details.extend(
        profile
            .benchmark
            .as_ref()
            .map(|name| format!("benchmark {name}")),
    );
    details.extend(
        profile
            .labels
            .iter()
            .map(|(key, value)| format!("{key}={value}")),
    );
    details.extend(
        profile
            .metrics
            .iter()
            .map(|(name, value)| format!("{name}={value}")),
    );
    details.extend(profile.events.iter().map(|event| event.event.clone()));
    let quality = [
        ("unresolved", profile.quality.unresolved),
        ("truncated", profile.quality.truncated),
        ("without stack", profile.quality.without_stack),
        ("lost", profile.quality.lost),
    ];
    let flaws = quality.iter().filter(|(_, share)| *share > 0.0);
    details.extend(flaws.map(|(what, share)| format!("{} {what}", percent(*share))));
    write_wrapped(text, &details, style);
}

/// Writes items with commas between them, as many on a line as fit.
pub(super) fn write_wrapped(text: &mut String, items: &[String], style: Style) {
    let mut line = String::new();
    for item in items {
        let item = style.fit(&printable(item), 5);
        let is_full = |width| 4 + display_width(&line) + 2 + display_width(&item) + 1 > width;
        if !line.is_empty() && style.width.is_some_and(is_full) {
            let _ = writeln!(text, "    {line},");
            line.clear();
        }
        if !line.is_empty() {
            line.push_str(", ");
        }
        line.push_str(&item);
    }
    if !line.is_empty() {
        let _ = writeln!(text, "    {line}");
    }
}

fn write_sums(text: &mut String, report: &LsReport) {
    let totals = &report.totals;
    let _ = writeln!(
        text,
        "{}, {}, {}",
        counted((report.builds.len() + report.more) as u64, "build"),
        counted(totals.profiles as u64, "profile"),
        counted(totals.samples, "sample"),
    );
    let raw = bytes(totals.source_bytes);
    match report.file_bytes {
        Some(size) => {
            let _ = write!(text, "{raw} of recordings in a file of {}", bytes(size));
        }
        None => {
            let _ = write!(text, "{raw} of recordings");
        }
    }
    if let Some(factor) = report.saving {
        let _ = write!(text, ", {} smaller", saving(factor));
    }
    text.push('\n');
}
