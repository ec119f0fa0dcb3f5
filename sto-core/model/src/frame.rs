//! Frames of call stacks, and the table that deduplicates them.

use crate::id::FrameId;
use crate::id::canonical::Field::{Text, U8, U32};
use crate::id::canonical::digest;
use crate::index_types;
use hashbrown::HashTable;
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;
use std::hash::BuildHasher;

/// The kind of code of a frame: compiled, inlined, interpreted, ...
///
/// It is part of the frame's identity instead of a suffix of its symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
#[repr(u8)]
pub enum FrameKind {
    /// Compiled code in user space.
    User = 0,
    /// Code of the kernel or a kernel module.
    Kernel = 1,
    /// A function that the compiler inlined into the previous frame, its caller.
    Inlined = 2,
    /// Code of a just-in-time compiler: optimised code, or code whose optimisation level is unknown.
    Jit = 3,
    /// A function executed by an interpreter.
    Interpreted = 4,
    /// An address without a symbol. The frame's symbol is then `[module+0xoffset]`.
    Unresolved = 5,
    /// Code of a just-in-time compiler's baseline tier, such as HotSpot's C1.
    JitBaseline = 6,
    /// A function of the thread that woke the sampled thread, in off-CPU profiles.
    Waker = 7,
}

impl FrameKind {
    /// All kinds, ordered by number.
    pub const ALL: [FrameKind; 8] = [
        FrameKind::User,
        FrameKind::Kernel,
        FrameKind::Inlined,
        FrameKind::Jit,
        FrameKind::Interpreted,
        FrameKind::Unresolved,
        FrameKind::JitBaseline,
        FrameKind::Waker,
    ];

    /// The kind with this number (see SPEC.md), or `None` if it is unknown to this version.
    pub fn from_number(number: u8) -> Option<FrameKind> {
        Self::ALL.get(usize::from(number)).copied()
    }

    /// The name in JSON output: `user`, `kernel`, `inlined`, ...
    pub fn name(self) -> &'static str {
        const NAMES: [&str; FrameKind::ALL.len()] = [
            "user",
            "kernel",
            "inlined",
            "jit",
            "interpreted",
            "unresolved",
            "jit-baseline",
            "waker",
        ];
        NAMES[self as usize]
    }
}

/// One level of a call stack, by default a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Frame<'a> {
    /// Base name of the file that contains the code (`libc.so.6`), `[kernel]`, or empty.
    pub module: &'a str,
    /// Demangled name of the function, or `[module+0xoffset]`.
    pub symbol: &'a str,
    /// The kind of code.
    pub kind: FrameKind,
    /// Normalised path of the source file; empty if unknown.
    pub file: &'a str,
    /// Source line, counted from 1; 0 unless the profile has the granularity of lines.
    pub line: u32,
}

impl Frame<'_> {
    /// Converts to a table row, given the indices of the symbol, module and file.
    #[doc(hidden)]
    pub fn to_row(&self, [symbol, module, file]: [StringIx; 3]) -> FrameRow {
        FrameRow {
            kind: self.kind,
            symbol,
            module,
            file,
            line: self.line,
        }
    }
}

impl FrameId {
    /// `H("sto.frame.v1", kind, symbol, module, file, line)`.
    pub fn from_frame(frame: Frame<'_>) -> Self {
        FrameId(digest(
            "sto.frame.v1",
            &[
                U8(frame.kind as u8),
                Text(frame.symbol),
                Text(frame.module),
                Text(frame.file),
                U32(frame.line),
            ],
        ))
    }
}

index_types! {
    /// Index of a frame in one [`FrameTable`].
    pub FrameIx;
    /// Index of a string in one [`FrameTable`].
    pub StringIx;
}

/// A frame whose strings are indices into a [`FrameTable`].
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
#[doc(hidden)]
pub struct FrameRow {
    pub kind: FrameKind,
    pub symbol: StringIx,
    pub module: StringIx,
    pub file: StringIx,
    pub line: u32,
}

/// A table of distinct frames, which are referred to by index.
///
/// Inserting a frame twice returns the same index. Each distinct string is stored once.
#[derive(Clone, Default)]
pub struct FrameTable {
    text: String,
    string_ends: Vec<u32>,
    /// Hashes and indices of strings. The stored hashes avoid rehashing strings when the table grows.
    string_index: HashTable<(u64, u32)>,
    rows: Vec<FrameRow>,
    frame_index: HashTable<u32>,
    hasher: hashbrown::DefaultHashBuilder,
}

impl FrameTable {
    /// Creates an empty table.
    pub fn new() -> Self {
        Self::default()
    }

    /// The number of frames.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Returns `true` if the table has no frames.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    #[doc(hidden)]
    pub fn string_count(&self) -> usize {
        self.string_ends.len()
    }

    /// The total length of the distinct strings in bytes, which is less than 4 GiB.
    #[doc(hidden)]
    pub fn text_len(&self) -> usize {
        self.text.len()
    }

    /// The string with this index.
    pub fn string(&self, ix: StringIx) -> &str {
        string_at(&self.text, &self.string_ends, ix.get())
    }

    /// Returns the index of a string, and adds it if it is new.
    ///
    /// # Panics
    /// Panics if the total length of the strings reaches 4 GiB.
    pub fn intern_string(&mut self, string: &str) -> StringIx {
        let Self {
            text,
            string_ends,
            string_index,
            hasher,
            ..
        } = self;
        let hash = hasher.hash_one(string);
        let is_this = |&(known, ix): &(u64, u32)| {
            known == hash && string_at(text, string_ends, ix as usize) == string
        };
        if let Some(&(_, ix)) = string_index.find(hash, is_this) {
            return StringIx(ix);
        }
        let ix = u32::try_from(string_ends.len()).expect("fewer than 2^32 strings");
        text.push_str(string);
        string_ends.push(u32::try_from(text.len()).expect("strings stay below 4 GiB"));
        string_index.insert_unique(hash, (hash, ix), |&(hash, _)| hash);
        StringIx(ix)
    }

    /// Returns the index of a frame, and adds it if it is new.
    pub fn insert(&mut self, frame: Frame<'_>) -> FrameIx {
        let strings = [frame.symbol, frame.module, frame.file];
        let strings = strings.map(|string| self.intern_string(string));
        self.insert_row(frame.to_row(strings))
    }

    /// Returns the index of a frame, or `None` if it is not in the table.
    pub fn find(&self, frame: Frame<'_>) -> Option<FrameIx> {
        let string = |string| self.find_string(string);
        let (symbol, module) = (string(frame.symbol)?, string(frame.module)?);
        self.find_row(frame.to_row([symbol, module, string(frame.file)?]))
    }

    #[doc(hidden)]
    pub fn find_string(&self, string: &str) -> Option<StringIx> {
        let hash = self.hasher.hash_one(string);
        let found = self
            .string_index
            .find(hash, |&(_, ix)| self.string(StringIx(ix)) == string);
        found.map(|&(_, ix)| StringIx(ix))
    }

    #[doc(hidden)]
    pub fn find_row(&self, row: FrameRow) -> Option<FrameIx> {
        let is_this = |&ix: &u32| self.rows[ix as usize] == row;
        let found = self.frame_index.find(self.hasher.hash_one(row), is_this);
        found.map(|&ix| FrameIx(ix))
    }

    /// Like [`insert`](Self::insert), for a frame whose strings are already in the table.
    #[doc(hidden)]
    pub fn insert_row(&mut self, row: FrameRow) -> FrameIx {
        let Self {
            rows,
            frame_index,
            hasher,
            ..
        } = self;
        let hash = hasher.hash_one(row);
        if let Some(&ix) = frame_index.find(hash, |&ix| rows[ix as usize] == row) {
            return FrameIx(ix);
        }
        let ix = u32::try_from(rows.len()).expect("fewer than 2^32 frames");
        frame_index.insert_unique(hash, ix, |&ix| hasher.hash_one(rows[ix as usize]));
        rows.push(row);
        FrameIx(ix)
    }

    /// Like [`insert`](Self::insert), for a frame of another table. `known` has the index here of each string of the
    /// other table, as far as earlier calls found it.
    #[doc(hidden)]
    pub fn insert_from(
        &mut self,
        other: &FrameTable,
        frame: FrameIx,
        known: &mut [Option<StringIx>],
    ) -> FrameIx {
        let row = other.row(frame);
        let [symbol, module, file] = [row.symbol, row.module, row.file]
            .map(|ix| *known[ix.get()].get_or_insert_with(|| self.intern_string(other.string(ix))));
        self.insert_row(FrameRow {
            symbol,
            module,
            file,
            ..row
        })
    }

    /// The frame with this index.
    pub fn frame(&self, ix: FrameIx) -> Frame<'_> {
        let row = self.row(ix);
        Frame {
            kind: row.kind,
            symbol: self.string(row.symbol),
            module: self.string(row.module),
            file: self.string(row.file),
            line: row.line,
        }
    }

    #[doc(hidden)]
    pub fn row(&self, ix: FrameIx) -> FrameRow {
        self.rows[ix.get()]
    }

    /// The indices of a frame's strings: symbol, module, file.
    pub fn string_indices(&self, ix: FrameIx) -> (StringIx, StringIx, StringIx) {
        let row = self.row(ix);
        (row.symbol, row.module, row.file)
    }

    /// Iterates over all frames, ordered by index.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (FrameIx, Frame<'_>)> {
        (0..self.len() as u32).map(|ix| (FrameIx(ix), self.frame(FrameIx(ix))))
    }

    /// Compares two frames as [`Frame`]s, without reading strings that both have.
    #[doc(hidden)]
    pub fn compare(&self, a: FrameIx, b: FrameIx) -> Ordering {
        let (a, b) = (self.row(a), self.row(b));
        let compare = |a: StringIx, b: StringIx| {
            if a == b {
                Ordering::Equal
            } else {
                self.string(a).cmp(self.string(b))
            }
        };
        compare(a.module, b.module)
            .then_with(|| compare(a.symbol, b.symbol))
            .then(a.kind.cmp(&b.kind))
            .then_with(|| compare(a.file, b.file))
            .then(a.line.cmp(&b.line))
    }

    /// Returns a table of some of the frames, which are distinct, in this order.
    #[doc(hidden)]
    pub fn select(&self, frames: &[FrameIx]) -> FrameTable {
        let mut table = FrameTable {
            rows: Vec::with_capacity(frames.len()),
            frame_index: HashTable::with_capacity(frames.len()),
            ..FrameTable::new()
        };
        let mut known = vec![None; self.string_count()];
        for &frame in frames {
            table.insert_from(self, frame, &mut known);
        }
        table
    }

    /// The position of each frame when frames are sorted by module, symbol, kind, file and line.
    ///
    /// The positions do not depend on the order of insertion.
    pub fn ranks(&self) -> Vec<u32> {
        let mut order: Vec<u32> = (0..self.len() as u32).collect();
        order.sort_unstable_by(|&a, &b| self.compare(FrameIx(a), FrameIx(b)));
        let mut ranks = vec![0; order.len()];
        for (rank, &ix) in order.iter().enumerate() {
            ranks[ix as usize] = rank as u32;
        }
        ranks
    }
}

fn string_at<'a>(text: &'a str, ends: &[u32], ix: usize) -> &'a str {
    let start = if ix == 0 { 0 } else { ends[ix - 1] as usize };
    &text[start..ends[ix] as usize]
}

impl std::fmt::Debug for FrameTable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list()
            .entries(self.iter().map(|(_, frame)| frame))
            .finish()
    }
}
