//! The builds and profiles of a store, as a table.

use crate::listing::{BuildList, ListedBuild, ListedProfile, ProfileSummary};
use crate::select::{full_name, shortened_revision};
use crate::text::{
    Cell, Column, Style, Table, bytes, compression_ratio, display_width, format_count,
    group_digits, omitted_line, paragraph, percent, printable,
};
use std::fmt::Write;
use sto_core::Hint;
use sto_core::id::ProfileId;

/// Number of digits of an id to show: enough to be unique in a store.
const ID_DIGITS: usize = 12;
/// Column at which profiles begin.
const INDENT: usize = 2;

/// Returns the abbreviated id of a profile.
pub(super) fn short_id(id: &ProfileId) -> String {
    let mut digits = id.to_string();
    digits.truncate(ID_DIGITS);
    digits
}

/// Returns the report as text: each build with its profiles, then the totals.
pub fn text(report: &BuildList, style: Style) -> String {
    if report.totals.profiles == 0 {
        let add = style
            .words
            .hint_phrase("; `", Hint::AddProfile, "` adds one");
        return format!("The store has no profiles yet{add}.\n");
    }
    let mut text = String::new();
    for build in &report.builds {
        let name = printable(&full_name(&build.build)).into_owned();
        let _ = writeln!(text, "{}", style.bold(&style.shorten_to_fit(&name, 0)));
        write_origin(&mut text, build, style);
        text += &profiles(&build.profiles, style);
        text.push('\n');
    }
    text += &omitted_line(report.more, "build");
    write_sums(&mut text, report, style);
    text
}

fn write_origin(text: &mut String, listed: &ListedBuild, style: Style) {
    let build = &listed.build;
    if !listed.tags.is_empty() {
        let tags = style.shorten_to_fit(&printable(&listed.tags.join(", ")), 7);
        let _ = writeln!(text, "  tagged {tags}");
    }
    let known = [
        (
            "build id",
            build.gnu_build_id.as_ref().map(|id| id.to_string()),
        ),
        (
            "revision",
            build.revision.as_deref().map(shortened_revision),
        ),
    ];
    for (what, value) in known {
        // The version of a build without a name is its build id: don't print it twice.
        if let Some(value) = value.filter(|value| *value != build.version) {
            let value = style.shorten_to_fit(&printable(&value), what.len() + 3);
            let _ = writeln!(text, "  {what} {value}");
        }
    }
}

/// Formats the profiles of a build, each with its details below.
fn profiles(profiles: &[ListedProfile], style: Style) -> String {
    let mut table = Table::new(vec![
        Column::text("profile"),
        Column::number("samples").with_drop_rank(1),
        Column::number("raw").with_drop_rank(3),
        Column::number("own").with_drop_rank(2),
        Column::text("recorded"),
    ])
    .with_indent(INDENT);
    for listed in profiles {
        let profile = &listed.profile;
        table.add_row(vec![
            Cell::from(short_id(&profile.id)),
            Cell::from(group_digits(profile.samples)),
            Cell::from(bytes(profile.source_bytes)),
            Cell::from(bytes(listed.own_bytes)),
            Cell::from(profile.recorded.as_deref().unwrap_or("-")),
        ]);
        let mut about = String::new();
        write_wrapped(&mut about, &details(profile), style);
        for line in about.lines() {
            table.add_line(line[INDENT..].to_owned());
        }
    }
    table.render(style)
}

fn details(profile: &ProfileSummary) -> Vec<String> {
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
    details
}

/// Writes items separated by commas, as many on a line as fit.
pub(super) fn write_wrapped(text: &mut String, items: &[String], style: Style) {
    let mut line = String::new();
    for item in items {
        let item = style.shorten_to_fit(&printable(item), 5);
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

fn write_sums(text: &mut String, report: &BuildList, style: Style) {
    let totals = &report.totals;
    let counts = format!(
        "{}, {}, {}",
        format_count((report.builds.len() + report.more) as u64, "build"),
        format_count(totals.profiles as u64, "profile"),
        format_count(totals.samples, "sample"),
    );
    *text += &paragraph(style, "", &counts, 0);
    let mut saved = format!("{} of recordings", bytes(totals.source_bytes));
    if let Some(size) = report.file_bytes {
        let _ = write!(saved, " in a file of {}", bytes(size));
    }
    if let Some(factor) = report.saving {
        let _ = write!(saved, ", {} smaller", compression_ratio(factor));
    }
    *text += &paragraph(style, "", &saved, 0);
}
