//! Costs of lines and functions mapped to the current text of a file.

use super::definition::{Definitions, name_in_source};
use super::{FileNo, FunctionNo, HotIndex, HotLine, Line, digest_of};
use crate::source::{LineMap, read, read_bytes};
use crate::sources::Environment;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::SystemTime;
use sto_core::model::Commit;
use sto_core::units::UnixSeconds;

/// Costs of a source file's lines and functions, mapped to its current text.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct TextCosts {
    /// Lines with a cost, in order; lines edited since the build are left out.
    pub lines: Vec<HotLine>,
    /// Functions by their first line, in order; functions whose position is unknown are left out.
    pub functions: Vec<(u32, FunctionNo)>,
}

impl HotIndex {
    /// Returns the text at build time of a source file, which `files` are in the profiles. It is the text in the
    /// build's commit, unless that is unknown or the work tree had changes. Otherwise it is the current text, if its
    /// digest equals that in the debug info; or, without a digest, if the file was not written after the first
    /// recording. Returns `None` if none of these holds.
    pub fn text_when_built(
        &self,
        environment: &dyn Environment,
        path: &Path,
        files: &[FileNo],
    ) -> Option<String> {
        let revision = self.revision.as_deref();
        let commit = revision.filter(|revision| !Commit::is_dirty(revision));
        if let Some(text) = commit.and_then(|commit| environment.text_at(path, commit)) {
            return Some(text);
        }
        let mut digests = files
            .iter()
            .filter_map(|&file| self.digest(file))
            .peekable();
        if digests.peek().is_some() {
            let text = read_bytes(path).ok()?;
            let now = digest_of(&text);
            let is_same = digests.all(|digest| digest == now);
            return is_same.then(|| String::from_utf8_lossy(&text).into_owned());
        }
        if commit.is_some() {
            return None;
        }
        let file = read(path).ok()?;
        let written = file.written?.duration_since(SystemTime::UNIX_EPOCH).ok()?;
        let is_older = UnixSeconds(written.as_secs()) <= self.recorded?;
        is_older.then_some(file.text)
    }

    /// Maps the costs of files of the profiles, which are all the same file, to its current text. `built` is its
    /// [text at build time](Self::text_when_built); without it, functions are found by name only, and lines are
    /// unknown.
    pub fn map_to_text(&self, files: &[FileNo], built: Option<&str>, now: &str) -> TextCosts {
        let moved = built.map(|built| LineMap::new(built, now));
        let line_now = |line: u32| moved.as_ref()?.new_line(line);
        let mut lines: BTreeMap<u32, Line> = BTreeMap::new();
        for line in files.iter().flat_map(|&file| self.lines_of(file)) {
            let Some(number) = line_now(line.line) else {
                continue;
            };
            let sum = lines.entry(number).or_insert(Line {
                line: number,
                ..Line::default()
            });
            sum.own += line.own;
            sum.total += line.total;
            sum.inlined += line.inlined;
        }

        let functions = files.iter().flat_map(|&file| self.file(file).functions());
        let named: Vec<_> = functions
            .map(|function| (function, name_in_source(function.name)))
            .collect();
        let names = || named.iter().filter_map(|&(_, name)| name);
        let before = built.map(|built| Definitions::new(built, names()));
        let after = Definitions::new(now, names());
        let mut functions = Vec::new();
        for &(function, name) in &named {
            let first_now = function.first_line.and_then(line_now);
            // The text at build time shows the position best, but that line may have been edited.
            let stood = || before.as_ref()?.find(name?, Some(function.first_line?));
            let begins = stood()
                .and_then(line_now)
                .or_else(|| after.find(name?, first_now))
                .or(first_now);
            functions.extend(begins.map(|line| (line, function.number)));
        }
        functions.sort_unstable();
        TextCosts {
            lines: lines.values().map(|line| self.hot_line(line)).collect(),
            functions,
        }
    }
}
