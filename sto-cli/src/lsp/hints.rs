//! Inlay hints: costs at the end of lines.

use super::costs::Costs;
use super::documents::{Document, function_at};
use super::settings::Settings;
use super::text::Encoding;
use gen_lsp_types::{InlayHint, Label, Range};
use std::collections::BTreeMap;

/// The hints in a range: on expensive lines, and on the first lines of expensive functions.
pub(super) fn hints(
    document: &mut Document,
    costs: &Costs,
    settings: &Settings,
    range: Range,
    encoding: Encoding,
) -> Vec<InlayHint> {
    let Some(shown) = document.shown(costs) else {
        return Vec::new();
    };
    let wanted = range.start.line.saturating_add(1)..=range.end.line.saturating_add(1);
    // A hint for a function replaces that for its first line.
    let mut words: BTreeMap<u32, String> = BTreeMap::new();
    let first = shown
        .lines
        .partition_point(|line| line.line < *wanted.start());
    let lines = shown.lines[first..].iter();
    for line in lines.take_while(|line| wanted.contains(&line.line)) {
        if settings.shows(&line.costs) {
            words.insert(line.line, settings.words(&line.costs, None));
        }
    }
    for &(line, _) in &shown.functions {
        if !wanted.contains(&line) {
            continue;
        }
        if let Some(function) = function_at(shown, &costs.index, line)
            && settings.shows(&function.costs)
        {
            let change = costs.change(function.number);
            words.insert(line, settings.words(&function.costs, change));
        }
    }
    let hint = |(line, words): (u32, String)| InlayHint {
        position: document.text.end_of_line(line - 1, encoding),
        label: Label::String(words),
        kind: None,
        text_edits: None,
        tooltip: None,
        padding_left: Some(true),
        padding_right: None,
        data: None,
    };
    let is_wanted = |hint: &InlayHint| (range.start..=range.end).contains(&hint.position);
    words.into_iter().map(hint).filter(is_wanted).collect()
}
