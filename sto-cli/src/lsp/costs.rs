//! What the worker loaded, and where that is in the documents that are open.

use super::text::Text;
use super::uri;
use super::worker::Report;
use crate::runtime::Machine;
use gen_lsp_types::Uri;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use sto_query::check::Check;
use sto_query::hot::{
    FunctionNo, HotChanges, HotFunction, HotHistory, HotIndex, HotLine, InText, Placed,
};

/// The largest text that is taken for source.
const MOST_BYTES: usize = 16 << 20;

/// The costs of a build.
pub(super) struct Costs {
    pub(super) index: Arc<HotIndex>,
    pub(super) placed: Placed,
    pub(super) history: Option<HotHistory>,
    pub(super) changes: Option<HotChanges>,
    pub(super) check: Option<Check>,
}

impl Costs {
    pub(super) fn new(index: Arc<HotIndex>, placed: Placed) -> Costs {
        Costs {
            index,
            placed,
            history: None,
            changes: None,
            check: None,
        }
    }

    /// Takes what came later.
    pub(super) fn add(&mut self, report: Report) {
        match report {
            Report::Placed(placed) => self.placed = placed,
            Report::History(history) => self.history = Some(history),
            Report::Compared(check) => {
                let first = check.comparisons.first();
                self.changes = first.map(|first| HotChanges::of(&self.index, first));
                self.check = Some(check);
            }
            Report::Costs(..) | Report::Failed { .. } => {}
        }
    }

    /// By how much a function's cost changed, and since which build.
    pub(super) fn change(&self, function: FunctionNo) -> Option<(f64, &str)> {
        let changes = self.changes.as_ref()?;
        Some((changes.of_function(function)?, &changes.since))
    }
}

/// A document that is open.
pub(super) struct Document {
    /// Its file, without symbolic links.
    path: Option<PathBuf>,
    pub(super) text: Text,
    /// Its text when the build was made, once it was looked for.
    built: Option<Option<String>>,
    /// Costs where they are in the text, once somebody asked.
    shown: Option<InText>,
}

impl Document {
    pub(super) fn new(uri: &Uri, text: String) -> Document {
        let path = uri::path_of(uri).and_then(|path| path.canonicalize().ok());
        let is_source = text.len() <= MOST_BYTES;
        Document {
            path: path.filter(|_| is_source),
            text: Text::new(text),
            built: None,
            shown: None,
        }
    }

    pub(super) fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// Lets go of what was known of costs, as the text changed.
    pub(super) fn edited(&mut self) {
        self.shown = None;
        if self.text.as_str().len() > MOST_BYTES {
            self.path = None;
        }
    }

    /// Lets go of all that was known of costs, as they are of another build now.
    pub(super) fn rebuilt(&mut self) {
        self.shown = None;
        self.built = None;
    }

    /// Where its costs are; `None` where it has none.
    pub(super) fn shown(&mut self, costs: &Costs) -> Option<&InText> {
        let path = self.path.as_deref()?;
        let files = costs.placed.of(path);
        if files.is_empty() {
            return None;
        }
        let index = &costs.index;
        let built = self
            .built
            .get_or_insert_with(|| index.text_when_built(&Machine, path));
        let text = self.text.as_str();
        let shown = || index.in_text(files, built.as_deref(), text);
        Some(self.shown.get_or_insert_with(shown))
    }
}

/// The documents that are open.
pub(super) type Documents = HashMap<Uri, Document>;

/// The function that costs most of those that begin at a line, counted from 1.
pub(super) fn function_at<'a>(
    shown: &InText,
    index: &'a HotIndex,
    line: u32,
) -> Option<HotFunction<'a>> {
    let at = shown
        .functions
        .partition_point(|&(begins, _)| begins < line);
    let here = shown.functions[at..]
        .iter()
        .take_while(|&&(begins, _)| begins == line);
    let functions = here.map(|&(_, number)| index.function(number));
    functions.max_by_key(|function| function.costs.total.value)
}

/// The costs of a line, counted from 1.
pub(super) fn line_at(shown: &InText, line: u32) -> Option<&HotLine> {
    let at = shown.lines.binary_search_by_key(&line, |line| line.line);
    Some(&shown.lines[at.ok()?])
}
