//! Code lenses: a line above each function that opens its flame graph.

use super::commands;
use super::costs::Costs;
use super::documents::{Document, function_at};
use super::settings::Settings;
use super::text::Encoding;
use gen_lsp_types::CodeLens;

/// A lens above each function that is expensive enough.
pub(super) fn lenses(
    document: &mut Document,
    costs: &Costs,
    settings: &Settings,
    encoding: Encoding,
) -> Vec<CodeLens> {
    let Some(shown) = document.shown(costs) else {
        return Vec::new();
    };
    let mut lines: Vec<u32> = shown.functions.iter().map(|&(line, _)| line).collect();
    lines.dedup();
    let functions = lines.into_iter().filter_map(|line| {
        let function = function_at(shown, &costs.index, line)?;
        settings.shows(&function.costs).then_some((line, function))
    });
    let functions: Vec<_> = functions.collect();
    let lens = functions.into_iter().map(|(line, function)| {
        let words = settings.words(&function.costs, costs.change(function.number));
        CodeLens {
            range: document.text.range_of_line(line - 1, encoding),
            command: Some(commands::flame_graph(words, function.name)),
            data: None,
        }
    });
    lens.collect()
}
