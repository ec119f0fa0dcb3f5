//! The frames that each thread has resolved, and how they are joined.

use super::{CodeLine, CodeLineIx, Symbols};
use hashbrown::HashMap;
use std::path::PathBuf;
use sto_formats::recording::{LocationIx, Module, ModuleIx, ModuleKind};
use sto_model::Notice;
use sto_model::limits::truncate_name;
use sto_model::{Frame, FrameKind, FrameRow, FrameTable, Granularity, SourceFileDigests, StringIx};

/// The frames of the locations that one thread has resolved.
pub(super) struct Part {
    granularity: Granularity,
    frames: FrameTable,
    lines: CodeLines,
    locations: Vec<LocationIx>,
    ends: Vec<u32>,
    expansion: Vec<CodeLineIx>,
    unresolved: usize,
}

impl Part {
    pub(super) fn new(granularity: Granularity) -> Part {
        Part {
            granularity,
            frames: FrameTable::new(),
            lines: CodeLines::default(),
            locations: Vec::new(),
            ends: Vec::new(),
            expansion: Vec::new(),
            unresolved: 0,
        }
    }

    pub(super) fn unresolved(&self) -> usize {
        self.unresolved
    }

    /// Returns the source files of the frames, possibly repeated.
    pub(super) fn files(&self) -> impl Iterator<Item = &str> {
        self.frames.iter().map(|(_, frame)| frame.file)
    }

    pub(super) fn intern(&mut self, string: &str) -> StringIx {
        self.frames.intern_string(string)
    }

    /// Adds a frame to the current location, outermost first; [`finish`](Part::finish) ends the location.
    pub(super) fn push(&mut self, mut frame: FrameRow) {
        let line = frame.line;
        if self.granularity == Granularity::Function {
            frame.line = 0;
        }
        let frame = self.frames.insert_row(frame);
        self.expansion
            .push(self.lines.insert(CodeLine { frame, line }));
    }

    /// Like [`push`](Part::push), for a frame whose strings are not interned yet.
    pub(super) fn push_frame(&mut self, frame: Frame<'_>) {
        let strings = [frame.symbol, frame.module, frame.file];
        let strings = strings.map(|string| self.intern(string));
        self.push(frame.to_row(strings));
    }

    pub(super) fn finish(&mut self, location: LocationIx) {
        self.locations.push(location);
        self.ends.push(self.expansion.len() as u32);
    }

    /// Resolves a location without a symbol to its module and offset.
    pub(super) fn finish_unresolved(
        &mut self,
        location: LocationIx,
        module: &Module,
        address: u64,
    ) {
        let symbol = unresolved_symbol(module, address);
        self.finish_unresolved_as(location, module.name(), &symbol);
    }

    /// Like [`finish_unresolved`](Part::finish_unresolved), with the given name.
    pub(super) fn finish_unresolved_as(
        &mut self,
        location: LocationIx,
        module: &str,
        symbol: &str,
    ) {
        self.push_frame(Frame {
            kind: FrameKind::Unresolved,
            symbol,
            module,
            file: "",
            line: 0,
        });
        self.unresolved += 1;
        self.finish(location);
    }

    fn row(&self, row: usize) -> &[CodeLineIx] {
        let start = row.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.expansion[start as usize..self.ends[row] as usize]
    }
}

/// The distinct pairs of a frame and a line.
#[derive(Default)]
struct CodeLines {
    list: Vec<CodeLine>,
    index: HashMap<CodeLine, CodeLineIx>,
}

impl CodeLines {
    fn insert(&mut self, line: CodeLine) -> CodeLineIx {
        *self.index.entry(line).or_insert_with(|| {
            self.list.push(line);
            CodeLineIx((self.list.len() - 1) as u32)
        })
    }
}

/// Joins parts that together have each of `location_count` locations once.
///
/// Frames are numbered in the order in which the locations use them, so the result does not depend on how the work was
/// divided among threads.
pub(super) fn join(parts: &[Part], location_count: usize) -> Symbols {
    let mut rows = vec![(0, 0); location_count];
    for (part_ix, part) in parts.iter().enumerate() {
        for (row, location) in part.locations.iter().enumerate() {
            rows[location.0 as usize] = (part_ix, row);
        }
    }

    let mut symbols = Symbols::default();
    let mut lines = CodeLines::default();
    // For each part its lines and strings that were already joined.
    let mut known_lines: Vec<Vec<Option<CodeLineIx>>> = parts
        .iter()
        .map(|part| vec![None; part.lines.list.len()])
        .collect();
    let mut known_strings: Vec<Vec<Option<StringIx>>> = parts
        .iter()
        .map(|part| vec![None; part.frames.string_count()])
        .collect();
    symbols.ends.reserve(location_count);
    for (part_ix, row) in rows {
        let part = &parts[part_ix];
        for &CodeLineIx(line_ix) in part.row(row) {
            let line = *known_lines[part_ix][line_ix as usize].get_or_insert_with(|| {
                let CodeLine { frame, line } = part.lines.list[line_ix as usize];
                let frames = &mut symbols.frames;
                let frame = frames.insert_from(&part.frames, frame, &mut known_strings[part_ix]);
                lines.insert(CodeLine { frame, line })
            });
            symbols.expansion.push(line);
        }
        symbols.ends.push(symbols.expansion.len() as u32);
    }
    symbols.lines = lines.list;
    symbols
}

/// The resolved locations of a module.
pub(super) struct Resolved {
    pub(super) parts: Vec<Part>,
    /// The file that the symbols came from.
    pub(super) file: Option<PathBuf>,
    pub(super) problem: Option<Notice>,
    /// Whether a file with more symbols may turn up later.
    pub(super) may_be_found: bool,
    /// Digests of the frames' source files.
    pub(super) sources: SourceFileDigests,
}

/// The locations of a module that are to be resolved.
pub(super) struct Task<'a> {
    pub(super) ix: ModuleIx,
    pub(super) module: &'a Module,
    pub(super) granularity: Granularity,
    pub(super) addresses: Vec<(u64, LocationIx)>,
}

impl Task<'_> {
    /// Returns the locations in ascending order of addresses.
    pub(super) fn sorted_addresses(&self) -> Vec<(u64, LocationIx)> {
        let mut addresses = self.addresses.clone();
        addresses.sort_unstable();
        addresses
    }

    /// Leaves all locations unresolved.
    pub(super) fn unresolved(&self, problem: Option<impl Into<Notice>>) -> Resolved {
        let mut part = Part::new(self.granularity);
        for &(address, location) in &self.addresses {
            part.finish_unresolved(location, self.module, address);
        }
        Resolved {
            parts: vec![part],
            file: None,
            problem: problem.map(Into::into),
            may_be_found: self.module.can_have_symbol_file(),
            sources: SourceFileDigests::new(),
        }
    }
}

impl Resolved {
    pub(super) fn from_file(part: Part, file: PathBuf) -> Resolved {
        Resolved {
            parts: vec![part],
            file: Some(file),
            problem: None,
            may_be_found: false,
            sources: SourceFileDigests::new(),
        }
    }
}

/// Returns `[module+0xoffset]`, or `[module]` if only the virtual address is known, which differs from run to run.
fn unresolved_symbol(module: &Module, address: u64) -> String {
    let offset = match module.kind {
        ModuleKind::File | ModuleKind::Image | ModuleKind::FunctionStarts => Some(address),
        ModuleKind::Kernel | ModuleKind::KernelModule => module
            .text_address
            .and_then(|text| address.checked_sub(text)),
        ModuleKind::Anonymous | ModuleKind::ProcessMemory { .. } | ModuleKind::JitDump { .. } => {
            None
        }
    };
    let name = module.name();
    let bare = name
        .strip_prefix('[')
        .and_then(|name| name.strip_suffix(']'));
    let name = truncate_name(bare.unwrap_or(name));
    match offset {
        Some(offset) => format!("[{name}+{offset:#x}]"),
        None => format!("[{name}]"),
    }
}
