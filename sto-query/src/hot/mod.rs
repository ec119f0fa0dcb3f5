//! What every function and line of a build costs, by source file: for editors, and for whoever reads code.
//!
//! ```text
//! View, lines of runs
//!      |  build       functions, lines and calls in columns, by source file
//!      v
//! HotIndex ---> past       what its functions cost in builds before
//!      |  placed      which file of the work tree each file of the profiles is
//!      |  definition  where a function stands in a text
//!      v  in_text     lines and functions where they are in a text that was edited since
//! InText
//!      |  spots       the lines that cost most
//!      v  blame       a file with the cost of each line
//! HotSpots, Blame
//! ```
//!
#![doc = include_str!("hot.md")]

mod blame;
mod build;
mod definition;
mod in_text;
mod newest;
mod past;
mod placed;
mod spots;

pub(crate) use blame::Before;
pub use blame::Blame;
pub(crate) use blame::{BlamedFunction, BlamedLine, BlamedSince};
pub use in_text::InText;
pub use newest::newest_of_branch;
pub use past::{HotChanges, HotHistory};
pub use placed::Placed;
pub use spots::HotSpots;
pub(crate) use spots::{DoubtfulFile, HotSpot};

use crate::QueryError;
use crate::sources::{Filter, Named, Sources};
use crate::tree::{CostShare, Subject};
use definition::name_in_source;
use hashbrown::HashMap;
use md5::{Digest, Md5};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use sto_core::model::SourceDigest;
use sto_core::units::{Cost, UnixSeconds};

/// Which build's costs are shown where the code is written.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct HotRequest {
    /// The profiles; without them, those that [`newest_of_branch`] finds.
    pub named: Option<Named>,
    /// Which of their runs, and by which event.
    pub filter: Filter,
}

/// Number of a source file in a [`HotIndex`]: they count up in the order of the paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileNo(pub(crate) u32);

/// Number of a function in a [`HotIndex`]: they count up in the order of names and modules.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FunctionNo(pub(crate) u32);

/// What the functions and lines of a build cost in one event, summed over its runs.
///
/// It holds what is asked of it and nothing else: no store has to stay open.
#[derive(Clone, Debug)]
pub struct HotIndex {
    subject: Subject,
    revision: Option<String>,
    recorded: Option<UnixSeconds>,
    /// What the program's own file is called; its functions have the name of the program.
    main_modules: BTreeSet<String>,
    modules: Vec<Box<str>>,
    /// In the order of their paths.
    files: Vec<File>,
    /// In the order of names and modules.
    functions: Vec<Function>,
    /// Those of each file in the order of their first lines, then their numbers.
    of_files: Vec<FunctionNo>,
    /// Those of each file in order.
    lines: Vec<Line>,
    calls: [Calls; 3],
}

/// A source file.
#[derive(Clone, Debug)]
struct File {
    path: Box<str>,
    /// Of the text that was built, where debug info has it and all runs agree.
    digest: Option<SourceDigest>,
    /// The ends of its functions in `of_files`, and of its lines in `lines`; they begin where the file's before end.
    ends: [u32; 2],
}

/// A function.
#[derive(Clone, Debug)]
struct Function {
    name: Box<str>,
    module: u32,
    /// Where most of its cost is.
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

/// What functions have with others, the largest cost first.
#[derive(Clone, Debug, Default)]
struct Calls {
    /// By function, where its calls end; they begin where those of the function before end.
    ends: Vec<u32>,
    calls: Vec<(FunctionNo, Cost)>,
}

/// Places in `HotIndex::calls`.
const CALLERS: usize = 0;
const CALLEES: usize = 1;
const INLINED_INTO: usize = 2;

/// Self and total cost, with their shares of everything.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct HotCosts {
    /// Samples that ended there.
    #[serde(rename = "self")]
    pub self_cost: CostShare,
    /// Samples whose stack has it at least once.
    pub total: CostShare,
}

/// A source file with what its functions and lines cost.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct HotFile<'a> {
    index: &'a HotIndex,
    /// Its number.
    pub number: FileNo,
    /// Its path as the profiles have it.
    pub path: &'a str,
}

/// What a function cost.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct HotFunction<'a> {
    /// Its number.
    pub number: FunctionNo,
    /// Its symbol's key, as a comparison has it.
    pub name: &'a str,
    /// The file that its code was loaded from, empty if unknown; of the program's own file, the program.
    pub module: &'a str,
    /// Its source file, of several the one where it costs most; `None` if unknown.
    pub file: Option<FileNo>,
    /// The first line of the file where it has a cost, in the text that was built; `None` where lines are not known.
    pub first_line: Option<u32>,
    /// What it cost. Code that was inlined from it counts, and code that was inlined into it is not its own.
    pub costs: HotCosts,
}

/// What a line cost.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct HotLine {
    /// Its number, from 1.
    pub line: u32,
    /// What it cost.
    #[serde(flatten)]
    pub costs: HotCosts,
    /// The part of its total that ran where its function had been inlined.
    pub inlined: CostShare,
}

impl HotIndex {
    /// Loads what the functions and lines of a build cost.
    ///
    /// # Errors
    /// As [`Sources::view`].
    pub fn load(sources: &Sources, request: &HotRequest) -> Result<HotIndex, QueryError> {
        let named = match &request.named {
            Some(named) => named.clone(),
            None => newest_of_branch(sources)?,
        };
        let (view, lines) = sources.view_with_lines(&named, &request.filter)?;
        Ok(build::index(&view, &lines))
    }

    /// What it is about.
    pub fn subject(&self) -> &Subject {
        &self.subject
    }

    /// Number of runs that the costs are of.
    pub fn runs(&self) -> usize {
        self.subject.profiles.len()
    }

    /// The revision of the work tree that the build was made of.
    pub fn revision(&self) -> Option<&str> {
        self.revision.as_deref()
    }

    /// When the first of its runs was recorded.
    pub fn recorded(&self) -> Option<UnixSeconds> {
        self.recorded
    }

    /// The source files, in the order of their paths.
    pub fn files(&self) -> impl Iterator<Item = HotFile<'_>> {
        (0..self.files.len() as u32).map(|number| self.file(FileNo(number)))
    }

    /// The source file of this number.
    ///
    /// # Panics
    /// If the number is of another index.
    pub fn file(&self, number: FileNo) -> HotFile<'_> {
        HotFile {
            index: self,
            number,
            path: &self.files[number.0 as usize].path,
        }
    }

    /// The function of this number.
    ///
    /// # Panics
    /// If the number is of another index.
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

    /// All functions, the one with the largest total first, then by self; equals by name and module.
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

    /// The functions that source calls so: the last name of their paths, without parameters. In the order of
    /// their numbers.
    pub fn named(&self, name: &str) -> impl Iterator<Item = HotFunction<'_>> {
        let numbers = (0..self.functions.len() as u32).filter(move |&number| {
            let function = &self.functions[number as usize];
            !function.total.is_zero() && name_in_source(&function.name) == Some(name)
        });
        numbers.map(|number| self.function(FunctionNo(number)))
    }

    /// The function with this name and module, as [`HotFunction`] or a [`Finding`](crate::compare::Finding) has them.
    pub fn find(&self, name: &str, module: &str) -> Option<HotFunction<'_>> {
        let module = self.module_known_as(module);
        let is_meant = |function: &Function| {
            &*function.name == name && &*self.modules[function.module as usize] == module
        };
        let number = self.functions.iter().position(is_meant)?;
        Some(self.function(FunctionNo(number as u32)))
    }

    /// What called a function, and what these calls cost, the largest first; of a recursive function its outermost
    /// calls. At most 32.
    pub fn callers(&self, of: FunctionNo) -> impl Iterator<Item = (FunctionNo, CostShare)> {
        self.calls_of(CALLERS, of)
    }

    /// What a function called, and what these calls cost, the largest first. At most 32.
    pub fn callees(&self, of: FunctionNo) -> impl Iterator<Item = (FunctionNo, CostShare)> {
        self.calls_of(CALLEES, of)
    }

    /// The functions that the code of a function was inlined into, and what it cost there, the largest first. At
    /// most 32.
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

    /// The numbers of functions by name and module.
    fn numbers(&self) -> HashMap<(&str, &str), FunctionNo> {
        let names = self.functions.iter().map(|function| {
            let module = &self.modules[function.module as usize];
            (&*function.name, &**module)
        });
        names.zip((0..).map(FunctionNo)).collect()
    }

    /// A module as functions here have it.
    fn module_known_as<'a>(&'a self, module: &'a str) -> &'a str {
        match self.main_modules.contains(module) {
            true => &self.subject.executable,
            false => module,
        }
    }

    /// The digest of a file's text when it was built.
    fn digest(&self, file: FileNo) -> Option<SourceDigest> {
        self.files[file.0 as usize].digest
    }

    fn lines_of(&self, file: FileNo) -> &[Line] {
        &self.lines[self.range_of(file, 1)]
    }

    /// Where the functions or lines of a file are.
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
    /// The functions that stand in it, in the order of their first lines.
    pub fn functions(self) -> impl Iterator<Item = HotFunction<'a>> {
        let numbers = &self.index.of_files[self.index.range_of(self.number, 0)];
        numbers.iter().map(|&number| self.index.function(number))
    }

    /// Its lines with a cost, in order; their numbers are those of the text that was built.
    pub fn lines(self) -> impl Iterator<Item = HotLine> {
        let lines = self.index.lines_of(self.number).iter();
        lines.map(move |line| self.index.hot_line(line))
    }
}

/// What debug info would have of a source file.
fn digest_of(text: &[u8]) -> SourceDigest {
    SourceDigest(Md5::digest(text).into())
}

/// From the end of the one before to its own.
fn range(number: u32, end: impl Fn(usize) -> u32) -> std::ops::Range<usize> {
    let number = number as usize;
    let start = number.checked_sub(1).map_or(0, &end);
    start as usize..end(number) as usize
}
