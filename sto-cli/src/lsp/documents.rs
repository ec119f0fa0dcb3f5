//! The open documents and their costs.

use super::costs::Costs;
use super::text::{Encoding, Text};
use super::uri;
use crate::runtime::Machine;
use gen_lsp_types::{Location, Range, Uri};
use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use sto_query::internal::hot::{FunctionNo, HotFunction, HotIndex, HotLine, TextCosts};

/// Size limit of a text that counts as source code, in bytes.
const MAX_BYTES: usize = 16 << 20;

/// An open document.
pub(super) struct Document {
    /// The path of its file, without symbolic links.
    path: Option<PathBuf>,
    pub(super) text: Text,
    /// Its text when the build was made; the outer `None` means that it was not looked up yet.
    built: Option<Option<String>>,
    /// The costs by line of the text, once requested.
    shown: Option<TextCosts>,
}

impl Document {
    fn new(path: Option<PathBuf>, text: String) -> Document {
        let path = path.and_then(|path| path.canonicalize().ok());
        Document {
            path: path.filter(|_| text.len() <= MAX_BYTES),
            text: Text::new(text),
            built: None,
            shown: None,
        }
    }

    /// Replaces a part of the text, or all of it.
    pub(super) fn edit(&mut self, part: Option<Range>, by: &str, encoding: Encoding) {
        self.text.replace(part, by, encoding);
        self.shown = None;
        if self.text.as_str().len() > MAX_BYTES {
            self.path = None;
        }
    }

    /// The costs by line; `None` if the profiles have no costs for this document.
    pub(super) fn shown(&mut self, costs: &Costs) -> Option<&TextCosts> {
        let path = self.path.as_deref()?;
        let files = costs.placed.files_at(path);
        if files.is_empty() {
            return None;
        }
        let index = &costs.index;
        let find = || index.text_when_built(&Machine::here(), path, files);
        let built = self.built.get_or_insert_with(find);
        let text = self.text.as_str();
        let shown = || index.map_to_text(files, built.as_deref(), text);
        Some(self.shown.get_or_insert_with(shown))
    }
}

/// The open documents, and the beginnings of functions in other files.
#[derive(Default)]
pub(super) struct Documents {
    open: HashMap<Uri, Document>,
    closed: HashMap<PathBuf, Vec<(FunctionNo, Range)>>,
}

impl Documents {
    pub(super) fn open(&mut self, uri: Uri, text: String) {
        let document = Document::new(uri::to_path(&uri), text);
        self.open.insert(uri, document);
    }

    pub(super) fn close(&mut self, uri: &Uri) {
        self.open.remove(uri);
        self.closed.clear();
    }

    pub(super) fn get(&mut self, uri: &Uri) -> Option<&mut Document> {
        self.open.get_mut(uri)
    }

    /// Whether a file is open.
    pub(super) fn has(&self, path: &Path) -> bool {
        let mut open = self.open.values();
        open.any(|document| document.path.as_deref() == Some(path))
    }

    /// Forgets the closed files, because they changed on disk.
    pub(super) fn forget_closed(&mut self) {
        self.closed.clear();
    }

    /// Forgets everything that depends on costs, because they changed.
    pub(super) fn forget_costs(&mut self) {
        self.closed.clear();
        for document in self.open.values_mut() {
            document.built = None;
            document.shown = None;
        }
    }

    /// The place where a function begins, in the open document or otherwise in the file.
    pub(super) fn place(
        &mut self,
        costs: &Costs,
        function: HotFunction<'_>,
        encoding: Encoding,
    ) -> Option<Location> {
        let path = costs.placed.path(function.file?)?;
        let is_it = |document: &Document| document.path.as_deref() == Some(path);
        let open = self.open.iter_mut().find(|(_, document)| is_it(document));
        if let Some((uri, document)) = open {
            let begins = beginnings(document, costs, encoding);
            return Some(Location {
                uri: uri.clone(),
                range: begins.into_iter().find(|(n, _)| *n == function.number)?.1,
            });
        }
        if !self.closed.contains_key(path) {
            let text = fs::read(path).unwrap_or_default();
            let text = String::from_utf8_lossy(&text).into_owned();
            let mut document = Document::new(Some(path.to_owned()), text);
            let begins = beginnings(&mut document, costs, encoding);
            self.closed.insert(path.to_owned(), begins);
        }
        let mut begins = self.closed.get(path)?.iter();
        Some(Location {
            uri: uri::from_path(path),
            range: begins.find(|(n, _)| *n == function.number)?.1,
        })
    }
}

/// The functions of a document, and the ranges of their first lines.
fn beginnings(
    document: &mut Document,
    costs: &Costs,
    encoding: Encoding,
) -> Vec<(FunctionNo, Range)> {
    let Some(shown) = document.shown(costs) else {
        return Vec::new();
    };
    let functions = shown.functions.clone();
    let functions = functions.into_iter();
    let begins = functions.map(|(line, number)| {
        let range = document.text.range_of_line(line - 1, encoding);
        (number, range)
    });
    begins.collect()
}

/// The most expensive of the functions that begin at a line, counted from 1.
pub(super) fn function_at<'a>(
    shown: &TextCosts,
    index: &'a HotIndex,
    line: u32,
) -> Option<HotFunction<'a>> {
    let at = shown
        .functions
        .partition_point(|&(begins, _)| begins < line);
    let here = shown.functions[at..].iter();
    let here = here.take_while(|&&(begins, _)| begins == line);
    let functions = here.map(|&(_, number)| index.function(number));
    functions.max_by_key(|function| function.costs.total.value)
}

/// The costs of a line, counted from 1.
pub(super) fn line_at(shown: &TextCosts, line: u32) -> Option<&HotLine> {
    let at = shown.lines.binary_search_by_key(&line, |line| line.line);
    Some(&shown.lines[at.ok()?])
}
