//! Costs of every function and line of a build by source file, for editors and code review.
//!
//! ```text
//! View, lines of runs
//!      |  build         functions, lines and calls in columns, by source file
//!      v
//! HotIndex ---> history       costs of its functions in earlier builds
//!      |  placed_files  matching of files in the profiles to files in the work tree
//!      |  definition    positions of functions in a text
//!      v  text_costs    lines and functions in the current text of an edited file
//! TextCosts
//!      |  spots         the most expensive lines
//!      v  blame         a file with the cost of each line
//! HotSpots, Blame
//! ```
//!
//! See [the manual](crate::manual::hot).

mod blame;
mod build;
mod definition;
mod history;
mod newest;
mod placed_files;
mod spots;
mod text_costs;

pub use spots::{DoubtfulFile, HotSpot};

pub use blame::{BlamedFunction, BlamedLine, BlamedSince};

pub use blame::Blame;
pub(crate) use blame::EarlierBuild;
pub use history::{HotChanges, HotHistory};
pub use newest::newest_of_branch;
pub use placed_files::PlacedFiles;
pub use spots::HotSpots;
pub use text_costs::TextCosts;

use crate::QueryError;
use crate::sources::{BuildRef, Filter, Sources};
use crate::tree::{CostShare, Subject};
use definition::name_in_source;
use hashbrown::HashMap;
use md5::{Digest, Md5};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use sto_core::model::SourceFileDigest;
use sto_core::units::{Cost, UnixSeconds};

/// Selection of the build whose costs are shown in source code.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct HotRequest {
    /// The profiles; by default, those returned by [`newest_of_branch`].
    #[serde(alias = "selector")]
    pub named: Option<BuildRef>,
    /// Selection of runs and event.
    pub filter: Filter,
}

/// Index of a source file in a [`HotIndex`], sorted by path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileNo(pub(crate) u32);

/// Index of a function in a [`HotIndex`], sorted by name and module.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FunctionNo(pub(crate) u32);

/// Costs of the functions and lines of a build in one event, summed over its runs.
///
/// It is self-contained: the store does not have to stay open.
#[derive(Clone, Debug)]
pub struct HotIndex {
    subject: Subject,
    revision: Option<String>,
    recorded: Option<UnixSeconds>,
    /// File names of the program itself; its functions have the program's name as module.
    main_modules: BTreeSet<String>,
    modules: Vec<Box<str>>,
    /// Sorted by path.
    files: Vec<File>,
    /// Sorted by name and module.
    functions: Vec<Function>,
    /// Functions of each file, sorted by first line, then by number.
    of_files: Vec<FunctionNo>,
    /// Lines of each file, in order.
    lines: Vec<Line>,
    calls: [Calls; 3],
}

/// A source file.
#[derive(Clone, Debug)]
struct File {
    path: Box<str>,
    /// Digest of the text at build time, if debug info has it and all runs agree.
    digest: Option<SourceFileDigest>,
    /// Ends of its functions in `of_files`, and of its lines in `lines`; each starts at the end of the previous
    /// file's.
    ends: [u32; 2],
}

/// A function.
#[derive(Clone, Debug)]
struct Function {
    name: Box<str>,
    module: u32,
    /// The file with most of its cost.
    file: Option<FileNo>,
    first_line: Option<u32>,
    own: Cost,
    total: Cost,
}

/// A line.
#[derive(Clone, Copy, Debug, Default)]
struct Line {
    line: u32,
    own: Cost,
    total: Cost,
    inlined: Cost,
}

/// Related functions of each function, highest cost first.
#[derive(Clone, Debug, Default)]
struct Calls {
    /// End of each function's entries in `calls`; they start at the end of the previous function's.
    ends: Vec<u32>,
    calls: Vec<(FunctionNo, Cost)>,
}

/// Indices into `HotIndex::calls`.
const CALLERS: usize = 0;
const CALLEES: usize = 1;
const INLINED_INTO: usize = 2;

/// Self and total cost, with their shares of the cost of everything.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct HotCosts {
    /// Self cost.
    #[serde(rename = "self")]
    pub self_cost: CostShare,
    /// Total cost: samples whose stack contains it at least once.
    pub total: CostShare,
}

/// A source file with the costs of its functions and lines.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct HotFile<'a> {
    index: &'a HotIndex,
    /// Index of the file.
    pub number: FileNo,
    /// Path in the profiles.
    pub path: &'a str,
}

/// Cost of a function.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct HotFunction<'a> {
    /// Index of the function.
    pub number: FunctionNo,
    /// Normalised symbol, as in a comparison.
    pub name: &'a str,
    /// The file that its code was loaded from, or the program for the program's own file; empty if unknown.
    pub module: &'a str,
    /// The source file in which it costs most; `None` if unknown.
    pub file: Option<FileNo>,
    /// The first line with a cost in that file, in the text at build time; `None` if lines are unknown.
    pub first_line: Option<u32>,
    /// Costs, including code inlined from it elsewhere, and excluding code inlined into it.
    pub costs: HotCosts,
}

/// Cost of a line.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct HotLine {
    /// Line number, from 1.
    pub line: u32,
    /// Cost of the line.
    #[serde(flatten)]
    pub costs: HotCosts,
    /// Share of the total cost in places where its function was inlined.
    pub inlined: CostShare,
}

impl HotIndex {
    /// Loads the costs of the functions and lines of a build.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`Sources::view`].
    pub fn load(sources: &Sources, request: &HotRequest) -> Result<HotIndex, QueryError> {
        let named = match &request.named {
            Some(named) => named.clone(),
            None => newest_of_branch(sources)?,
        };
        let (view, lines) = sources.view_with_lines(&named, &request.filter)?;
        Ok(build::index(&view, &lines))
    }

    /// The profiles.
    pub fn subject(&self) -> &Subject {
        &self.subject
    }

    /// Number of runs.
    pub fn runs(&self) -> usize {
        self.subject.profiles.len()
    }

    /// [Revision](sto_core::model::Build::revision) of the work tree from which the build was made,
    /// if known.
    pub fn revision(&self) -> Option<&str> {
        self.revision.as_deref()
    }

    /// Time of the first run's recording.
    pub fn recorded(&self) -> Option<UnixSeconds> {
        self.recorded
    }

    /// Returns the source files, sorted by path.
    pub fn files(&self) -> impl Iterator<Item = HotFile<'_>> {
        (0..self.files.len() as u32).map(|number| self.file(FileNo(number)))
    }

    /// Returns the source file with this index.
    ///
    /// # Panics
    ///
    /// Panics if the index is out of range.
    pub fn file(&self, number: FileNo) -> HotFile<'_> {
        HotFile {
            index: self,
            number,
            path: &self.files[number.0 as usize].path,
        }
    }

    /// Returns the function with this index.
    ///
    /// # Panics
    ///
    /// Panics if the index is out of range.
    pub fn function(&self, number: FunctionNo) -> HotFunction<'_> {
        let function = &self.functions[number.0 as usize];
        HotFunction {
            number,
            name: &function.name,
            module: &self.modules[function.module as usize],
            file: function.file,
            first_line: function.first_line,
            costs: self.costs(function.own, function.total),
        }
    }

    /// Returns all functions by total, then self cost, highest first; equal ones by name and module.
    pub fn hottest(&self) -> impl Iterator<Item = HotFunction<'_>> {
        let mut numbers: Vec<u32> = (0..self.functions.len() as u32).collect();
        numbers.retain(|&number| !self.functions[number as usize].total.is_zero());
        numbers.sort_by_key(|&number| {
            let function = &self.functions[number as usize];
            let (own, total) = (function.own, function.total);
            std::cmp::Reverse((total.value, total.samples, own.value, own.samples))
        });
        numbers.into_iter().map(|n| self.function(FunctionNo(n)))
    }

    /// Returns the functions with this name in source: the last part of their paths, without parameters. Sorted by
    /// index.
    pub fn find_by_source_name(&self, name: &str) -> impl Iterator<Item = HotFunction<'_>> {
        let numbers = (0..self.functions.len() as u32).filter(move |&number| {
            let function = &self.functions[number as usize];
            !function.total.is_zero() && name_in_source(&function.name) == Some(name)
        });
        numbers.map(|number| self.function(FunctionNo(number)))
    }

    /// Returns the function with this name and module, as in [`HotFunction`] or a
    /// [`Finding`](crate::compare::Finding).
    pub fn find(&self, name: &str, module: &str) -> Option<HotFunction<'_>> {
        let module = self.module_known_as(module);
        let is_meant = |function: &Function| {
            &*function.name == name && &*self.modules[function.module as usize] == module
        };
        let number = self.functions.iter().position(is_meant)?;
        Some(self.function(FunctionNo(number as u32)))
    }

    /// Returns the callers of a function with the cost of their calls, highest first, at most 32. For a recursive
    /// function, only its outermost calls count.
    pub fn callers(&self, of: FunctionNo) -> impl Iterator<Item = (FunctionNo, CostShare)> {
        self.calls_of(CALLERS, of)
    }

    /// Returns the callees of a function with the cost of the calls, highest first, at most 32.
    pub fn callees(&self, of: FunctionNo) -> impl Iterator<Item = (FunctionNo, CostShare)> {
        self.calls_of(CALLEES, of)
    }

    /// Returns the functions into which a function was inlined, with its cost there, highest first, at most 32.
    pub fn inlined_into(&self, of: FunctionNo) -> impl Iterator<Item = (FunctionNo, CostShare)> {
        self.calls_of(INLINED_INTO, of)
    }

    fn calls_of(
        &self,
        which: usize,
        of: FunctionNo,
    ) -> impl Iterator<Item = (FunctionNo, CostShare)> {
        let Calls { ends, calls } = &self.calls[which];
        let calls = &calls[range(of.0, |number| ends[number])];
        calls.iter().map(|&(other, cost)| (other, self.share(cost)))
    }

    /// Returns the indices of functions by name and module.
    fn numbers(&self) -> HashMap<(&str, &str), FunctionNo> {
        let names = self.functions.iter().map(|function| {
            let module = &self.modules[function.module as usize];
            (&*function.name, &**module)
        });
        names.zip((0..).map(FunctionNo)).collect()
    }

    /// Converts a module to its name in this index.
    fn module_known_as<'a>(&'a self, module: &'a str) -> &'a str {
        if self.main_modules.contains(module) {
            &self.subject.executable
        } else {
            module
        }
    }

    /// Digest of a file's text at build time.
    fn digest(&self, file: FileNo) -> Option<SourceFileDigest> {
        self.files[file.0 as usize].digest
    }

    fn lines_of(&self, file: FileNo) -> &[Line] {
        &self.lines[self.range_of(file, 1)]
    }

    /// Range of the functions or lines of a file.
    fn range_of(&self, file: FileNo, column: usize) -> std::ops::Range<usize> {
        range(file.0, |file| self.files[file].ends[column])
    }

    fn hot_line(&self, line: &Line) -> HotLine {
        HotLine {
            line: line.line,
            costs: self.costs(line.own, line.total),
            inlined: self.share(line.inlined),
        }
    }

    fn share(&self, cost: Cost) -> CostShare {
        let Subject { samples, value, .. } = self.subject;
        CostShare::new(cost, Cost { samples, value })
    }

    fn costs(&self, own: Cost, total: Cost) -> HotCosts {
        HotCosts {
            self_cost: self.share(own),
            total: self.share(total),
        }
    }
}

impl<'a> HotFile<'a> {
    /// Returns the functions in the file, sorted by first line.
    pub fn functions(self) -> impl Iterator<Item = HotFunction<'a>> {
        let numbers = &self.index.of_files[self.index.range_of(self.number, 0)];
        numbers.iter().map(|&number| self.index.function(number))
    }

    /// Returns the lines with a cost, in order; numbers refer to the text at build time.
    pub fn lines(self) -> impl Iterator<Item = HotLine> {
        let lines = self.index.lines_of(self.number).iter();
        lines.map(move |line| self.index.hot_line(line))
    }
}

/// Computes the digest that debug info would have for a source file.
fn digest_of(text: &[u8]) -> SourceFileDigest {
    SourceFileDigest(Md5::digest(text).into())
}

/// Returns the range from the previous entry's end to this one's.
fn range(number: u32, end: impl Fn(usize) -> u32) -> std::ops::Range<usize> {
    let number = number as usize;
    let start = number.checked_sub(1).map_or(0, &end);
    start as usize..end(number) as usize
}
