//! The result of a merge, as text.

use super::ls::short_id;
use crate::answer::InStore;
use crate::maintain::{MergedStore, Merges};
use crate::text::{Style, bytes, format_count, paragraph, printable};
use std::fmt::Write;
use sto_core::Hint;
use sto_core::id::ProfileId;
use sto_core::store::{Conflict, LeftOut, Merged};

/// Maximum number of ids to show in one list; JSON lists all.
const MAX_IDS: usize = 10;

/// Returns the report as text: the profiles that were added from each store, and those that were
/// not.
pub fn text(report: &InStore<Merges>, style: Style) -> String {
    let mut text = String::new();
    for source in &report.answer.sources {
        write_source(&mut text, source, style);
    }
    let _ = writeln!(text, "The store is {}.", printable(&report.store));
    text
}

fn write_source(text: &mut String, source: &MergedStore, style: Style) {
    let path = style.bold(&printable(&source.path));
    let source = &source.merged;
    let _ = writeln!(
        text,
        "{path}: {}",
        format_count(source.profiles as u64, "profile")
    );
    if !source.added.is_empty() {
        let added = format_count(source.added.len() as u64, "profile");
        let stored = bytes(source.stored.0);
        let _ = writeln!(text, "  added {added}, stored in {stored}");
    }
    if source.already_stored > 0 {
        let stored = format_count(source.already_stored as u64, "profile");
        let _ = writeln!(text, "  already stored: {stored}; nothing was changed");
    }
    write_rest(text, source, style);
}

/// Writes the profiles that were not merged or differ from the source, and the tags.
pub(super) fn write_rest(text: &mut String, source: &Merged, style: Style) {
    if !source.different.is_empty() {
        let different = format_count(source.different.len() as u64, "profile");
        let _ = writeln!(
            text,
            "  of these, {different} with another time, revision, metrics or calls there, unchanged here:"
        );
        write_ids(text, &source.different, style);
    }
    write_conflicts(text, &source.conflicts, style);
    write_left_out(text, &source.left_out, style);
    if !source.tags.is_empty() {
        let _ = writeln!(text, "  added tags: {}", printable(&source.tags.join(", ")));
    }
    if !source.other_tags.is_empty() {
        let kept = source.other_tags.join(", ");
        let _ = writeln!(
            text,
            "  tags that name other builds there, unchanged here: {}",
            printable(&kept)
        );
    }
}

/// Writes the profiles that were left out, and why.
pub(super) fn write_left_out(text: &mut String, left_out: &[LeftOut], style: Style) {
    for out in left_out {
        let what = match out.profiles.len() {
            0 => "the tags".to_owned(),
            profiles => format_count(profiles as u64, "profile"),
        };
        let _ = writeln!(text, "  left out {what}: {}", printable(&out.why));
        write_ids(text, &out.profiles, style);
    }
}

fn write_conflicts(text: &mut String, conflicts: &[Conflict], style: Style) {
    if conflicts.is_empty() {
        return;
    }
    let count = format_count(conflicts.len() as u64, "profile");
    let remove = style.words.hint_phrase(" (", Hint::RemoveRun, ")");
    let sentence = format!(
        "{count} not added: the same recordings are here with other content, and a run counts once. To take the other, remove the one here{remove} and merge again:"
    );
    *text += &paragraph(style, "  ", &sentence, 2);
    for conflict in conflicts.iter().take(MAX_IDS) {
        let from = match &conflict.merged_from {
            Some(path) => format!("came from {}", printable(path)),
            None if conflict.read_here => "was read here".to_owned(),
            None => "came with this store".to_owned(),
        };
        let (there, here) = (short_id(&conflict.there), short_id(&conflict.here));
        let fields = match conflict.differ_in.join(", ") {
            fields if fields.is_empty() => String::new(),
            fields => format!("; other {fields}"),
        };
        let _ = writeln!(text, "    {there}: {here} {from}{fields}");
    }
    write_more(text, conflicts.len(), style);
}

fn write_ids(text: &mut String, ids: &[ProfileId], style: Style) {
    for id in ids.iter().take(MAX_IDS) {
        let _ = writeln!(text, "    {}", short_id(id));
    }
    write_more(text, ids.len(), style);
}

fn write_more(text: &mut String, all: usize, style: Style) {
    let more = all.saturating_sub(MAX_IDS);
    if more > 0 {
        let more = format_count(more as u64, "more profile");
        let json = style.words.hint_phrase("; `", Hint::Json, "` names them");
        let _ = writeln!(text, "    and {more}{json}");
    }
}
