//! Tags, one a line.

use crate::maintain::{TagAction, TagEntry, TagList};
use crate::text::{Style, display_width, printable};
use std::fmt::Write;
use sto_core::Hint;

/// The report as text.
pub fn text(report: &TagList, style: Style) -> String {
    if report.tags.is_empty() {
        let set = style.words.within("; `", Hint::SetTag, "` gives it one");
        return format!("No build has a tag yet{set}.\n");
    }
    let names = report.tags.iter().map(name);
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
            (TagAction::Deleted, _) => writeln!(text, "{name} is gone, it was {build}"),
        };
    }
    text
}

fn name(entry: &TagEntry) -> String {
    printable(&entry.tag.to_string()).into_owned()
}
