//! Lines and functions with their costs in a text as it is now.

use super::definition::{Definitions, name_in_source};
use super::{FileNo, FunctionNo, HotIndex, HotLine, Line, digest_of};
use crate::source::{Moved, read, read_bytes};
use crate::sources::Surroundings;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::SystemTime;
use sto_core::model::Commit;
use sto_core::units::UnixSeconds;

/// What the lines and functions of a source file cost, where they are in its text now.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct InText {
    /// Lines with a cost, in order; a line that was edited since the build is not among them.
    pub lines: Vec<HotLine>,
    /// Functions by the lines where they begin, in order. One whose place is not known is not among them.
    pub functions: Vec<(u32, FunctionNo)>,
}

impl HotIndex {
    /// The text of a source file, which these files of the profiles are, as it was when the build was made: that of
    /// the build's commit; where that is not known, or the work tree had changes, the file as it is, if it has the digest
    /// that debug info has of it. Without a digest it is taken where no commit is known, or with changes, and the file was not
    /// written after the first recording. `None` where nothing of that holds.
    pub fn text_when_built(
        &self,
        surroundings: &dyn Surroundings,
        path: &Path,
        files: &[FileNo],
    ) -> Option<String> {
        let revision = self.revision.as_deref();
        let commit = revision.filter(|revision| !Commit::is_dirty(revision));
        if let Some(text) = commit.and_then(|commit| surroundings.text_at(path, commit)) {
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

    /// The costs of files of the profiles, which are all one file, in its text now; `built` is its
    /// [text when it was built](Self::text_when_built). Without that, functions are found by their names alone, and lines
    /// are not known.
    pub fn in_text(&self, files: &[FileNo], built: Option<&str>, now: &str) -> InText {
        let moved = built.map(|built| Moved::between(built, now));
        let line_now = |line: u32| moved.as_ref()?.line(line);
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
        let before = built.map(|built| Definitions::of(built, names()));
        let after = Definitions::of(now, names());
        let mut functions = Vec::new();
        for &(function, name) in &named {
            let first_now = function.first_line.and_then(line_now);
            // Where it stood is known best from the text that was built, and that line may not have been edited.
            let stood = || before.as_ref()?.find(name?, Some(function.first_line?));
            let begins = stood()
                .and_then(line_now)
                .or_else(|| after.find(name?, first_now))
                .or(first_now);
            functions.extend(begins.map(|line| (line, function.number)));
        }
        functions.sort_unstable();
        InText {
            lines: lines.values().map(|line| self.hot_line(line)).collect(),
            functions,
        }
    }
}
