//! Hovers: details about the function or line under the pointer.

use super::commands;
use super::costs::Costs;
use super::documents::{Document, function_at, line_at};
use super::text::Encoding;
use gen_lsp_types::{Hover, MarkupContent, MarkupKind, Position};
use sto_query::internal::hot::HotFunction;
use sto_query::render::hover::{self, HoverForm};

/// The costs of the function that is named at a position or begins there, and of the line.
pub(super) fn hover(
    document: &mut Document,
    costs: &Costs,
    at: Position,
    encoding: Encoding,
    form: HoverForm,
    has_links: bool,
) -> Option<Hover> {
    let shown = document.shown(costs)?;
    let line = line_at(shown, at.line.saturating_add(1)).copied();
    let function = function(document, costs, at, encoding);
    let mut parts = Vec::new();
    if let Some(function) = function {
        let change = costs.change(function.number);
        let history = costs.history.as_ref();
        let mut text = hover::function(&costs.index, function, history, change, form);
        if has_links && form == HoverForm::Markdown {
            text += &links(costs, function.name);
        }
        parts.push(text);
    }
    if let Some(line) = line {
        parts.push(hover::line(&costs.index, &line, form));
    }
    if parts.is_empty() {
        return None;
    }
    let (kind, between) = match form {
        HoverForm::Markdown => (MarkupKind::Markdown, "\n---\n\n"),
        HoverForm::Text => (MarkupKind::PlainText, "\n"),
    };
    let value = parts.join(between);
    let range = document.text.word(at, encoding).map(|(_, range)| range);
    Some(Hover {
        contents: MarkupContent { kind, value }.into(),
        range,
    })
}

/// The function at a position: the one that the word names, preferring one that begins in this line, then one in this file,
/// then the most expensive one; otherwise a function that begins in this line.
pub(super) fn function<'a>(
    document: &mut Document,
    costs: &'a Costs,
    at: Position,
    encoding: Encoding,
) -> Option<HotFunction<'a>> {
    let index = &*costs.index;
    let shown = document.shown(costs)?;
    let here = function_at(shown, index, at.line.saturating_add(1));
    let begin: Vec<_> = shown.functions.iter().map(|&(_, number)| number).collect();
    let word = document.text.word(at, encoding).map(|(word, _)| word);
    let named = word
        .map(|word| index.find_by_source_name(word))
        .into_iter()
        .flatten();
    let named = named.max_by_key(|function| {
        let is_here = here.is_some_and(|here| here.number == function.number);
        let is_of_file = begin.contains(&function.number);
        (is_here, is_of_file, function.costs.total.value)
    });
    named.or(here)
}

/// Links that open pages, for a client that runs commands from links.
fn links(costs: &Costs, function: &str) -> String {
    let flame_graph = commands::flame_graph_link(function);
    let report = match costs.regressions().next() {
        Some(_) => format!(" · [Report](command:{})", commands::DIFFERENCE),
        None => String::new(),
    };
    format!("\n[Flame graph]({flame_graph}){report}\n")
}
