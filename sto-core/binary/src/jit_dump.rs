//! jitdump files: the code that a just-in-time compiler generated, with times and addresses.
//!
//! Source: `tools/perf/Documentation/jitdump-specification.txt` in the kernel's sources. A file that is still being
//! written ends in an incomplete record, which is ignored.

use super::placements::{Placement, Placements};
use hashbrown::HashMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use sto_model::bytes::{u32_at, u64_at};
use sto_model::files::RegularFile;
use sto_model::limits::MAX_JIT_DUMP;

const MAGIC: &[u8] = b"DTiJ";
const HEADER_SIZE: usize = 40;
const RECORD_HEADER_SIZE: usize = 16;
/// `JITDUMP_FLAGS_ARCH_TIMESTAMP`: times are processor ticks rather than times of the recording's clock.
const ARCH_TIMESTAMP: u64 = 1;

const CODE_LOAD: u32 = 0;
const CODE_MOVE: u32 = 1;
const CODE_DEBUG_INFO: u32 = 2;
const CODE_UNWINDING_INFO: u32 = 4;

/// A jitdump file with an index of its functions.
#[derive(Debug)]
pub struct JitDump {
    /// The path by which the file was opened.
    pub path: PathBuf,
    bytes: Vec<u8>,
    /// In the order of the file.
    loads: Vec<Load>,
    placements: Placements,
}

/// One piece of generated code (`JIT_CODE_LOAD`); ranges are of bytes in the file.
#[derive(Debug)]
struct Load {
    code: Range<usize>,
    name: Range<usize>,
    /// Entries of address, line, discriminator and file name.
    lines: Range<usize>,
    /// Unwinding rules, in the format of `.eh_frame`.
    eh_frame: Range<usize>,
    /// The address at which the code was loaded.
    address: u64,
}

/// A function of a jitdump, with the source line of the offset that was looked up.
pub struct JitFunction<'a> {
    /// The function's name as the JIT compiler wrote it.
    pub name: &'a [u8],
    /// Source file and line, if the jitdump has them.
    pub line: Option<(&'a [u8], u32)>,
}

/// A lookup of functions that reads the lines of each function once, as long as the offsets ascend.
pub struct Functions<'a> {
    dump: &'a JitDump,
    /// Index of the load that `lines` belongs to.
    load: usize,
    /// In ascending order of addresses.
    lines: Vec<Line<'a>>,
}

/// A source line that applies from `address` up to the address of the next line.
struct Line<'a> {
    address: u64,
    file: &'a [u8],
    line: u32,
}

impl JitDump {
    /// Reads the jitdump of a process from a file opened by `path`. Returns `None` if the file is not a jitdump or
    /// belongs to another process.
    pub(crate) fn open(file: &RegularFile, path: &Path, pid: u32) -> Option<JitDump> {
        let bytes = file.read(MAX_JIT_DUMP).ok()?;
        if !bytes.starts_with(MAGIC) || u32_at(&bytes, 20)? != pid {
            return None;
        }
        let header_size = u32_at(&bytes, 8)? as usize;
        let has_times = u64_at(&bytes, 32)? & ARCH_TIMESTAMP == 0;
        let mut dump = JitDump {
            path: path.to_owned(),
            bytes,
            loads: Vec::new(),
            placements: Placements::default(),
        };
        dump.read_records(header_size.max(HEADER_SIZE));
        let mut placements = std::mem::take(&mut dump.placements.all);
        if !has_times {
            for placement in &mut placements {
                placement.time = 0;
            }
        }
        dump.placements = Placements::new(placements);
        Some(dump)
    }

    /// Reads all complete records.
    fn read_records(&mut self, mut at: usize) {
        // The descriptions of the next load.
        let mut lines: Option<(u64, Range<usize>)> = None;
        let mut eh_frame = None;
        // The last load of each code index.
        let mut by_index = HashMap::new();
        while let (Some(kind), Some(size)) = (u32_at(&self.bytes, at), u32_at(&self.bytes, at + 4))
        {
            let end = at.saturating_add(size as usize);
            let Some(time) = u64_at(&self.bytes, at + 8) else {
                break;
            };
            if (size as usize) < RECORD_HEADER_SIZE || end > self.bytes.len() {
                break;
            }
            let body = at + RECORD_HEADER_SIZE..end;
            match kind {
                CODE_LOAD => {
                    let (lines, eh_frame) = (lines.take(), eh_frame.take());
                    if let Some(index) = self.read_load(body, time, lines, eh_frame) {
                        by_index.insert(index, self.loads.len() - 1);
                    }
                }
                CODE_MOVE => self.read_move(body, time, &by_index),
                CODE_DEBUG_INFO => {
                    let address = u64_at(&self.bytes, body.start);
                    lines = address.map(|address| (address, body.start + 16..body.end));
                }
                CODE_UNWINDING_INFO => eh_frame = self.read_unwinding_info(body),
                _ => {}
            }
            at = end;
        }
    }

    /// Reads a `JIT_CODE_LOAD` record and returns its code index.
    fn read_load(
        &mut self,
        body: Range<usize>,
        time: u64,
        lines: Option<(u64, Range<usize>)>,
        eh_frame: Option<Range<usize>>,
    ) -> Option<u64> {
        // pid, tid, vma, address, size, index, name, code.
        let field = |at: usize| u64_at(&self.bytes[..body.end], body.start + at);
        let (address, size, index) = (field(16)?, field(24)?, field(32)?);
        let name = body.start + 40;
        let name_len = memchr::memchr(0, &self.bytes[name..body.end])?;
        let start = name + name_len + 1;
        let end = start.checked_add(usize::try_from(size).ok()?)?;
        if start == end || end > body.end {
            return None;
        }
        let lines = lines.filter(|(of, lines)| *of == address && lines.start < lines.end);
        self.loads.push(Load {
            code: start..end,
            name: name..name + name_len,
            lines: lines.map_or(0..0, |(_, lines)| lines),
            eh_frame: eh_frame.unwrap_or_default(),
            address,
        });
        self.add_placement(address, time, self.loads.len() - 1);
        Some(index)
    }

    /// Reads a `JIT_CODE_UNWINDING_INFO` record and returns where its `.eh_frame` is. `.eh_frame_hdr` follows.
    fn read_unwinding_info(&self, body: Range<usize>) -> Option<Range<usize>> {
        // Size of both sections, size of the header, mapped size.
        let field = |at: usize| u64_at(&self.bytes[..body.end], body.start + at);
        let size = usize::try_from(field(0)?.checked_sub(field(8)?)?).ok()?;
        let start = body.start + 24;
        (size <= body.end.checked_sub(start)?).then(|| start..start + size)
    }

    fn read_move(&mut self, body: Range<usize>, time: u64, by_index: &HashMap<u64, usize>) {
        // pid, tid, vma, old address, new address, size, index.
        let field = |at: usize| u64_at(&self.bytes[..body.end], body.start + at);
        let (Some(address), Some(index)) = (field(24), field(40)) else {
            return;
        };
        if let Some(&load) = by_index.get(&index) {
            self.add_placement(address, time, load);
        }
    }

    fn add_placement(&mut self, start: u64, time: u64, load: usize) {
        let size = self.loads[load].code.len() as u64;
        // 2^32 records of at least 56 bytes exceed the size limit of a jitdump.
        let Ok(load) = u32::try_from(load) else {
            return;
        };
        self.placements.all.push(Placement {
            start,
            end: start.saturating_add(size),
            time,
            load,
        });
    }

    /// Returns the offset in the file of the code that was at an address at a time; without a time, of the code that
    /// was there last.
    pub(crate) fn offset_of(&self, address: u64, time: Option<u64>) -> Option<u64> {
        let newest = self.placements.newest(address, time)?;
        let code = self.loads[newest.load as usize].code.start as u64;
        Some(code + (address - newest.start))
    }

    /// Returns the unwinding rules of functions that have some: the offsets of the function's code in the file, and its
    /// `.eh_frame`, which is placed behind the code at the next multiple of 8.
    pub(crate) fn unwinding_rules(&self) -> impl Iterator<Item = (Range<usize>, &[u8])> {
        let with_rules = self.loads.iter().filter(|load| !load.eh_frame.is_empty());
        with_rules.map(|load| (load.code.clone(), &self.bytes[load.eh_frame.clone()]))
    }

    /// Returns a lookup of functions by ascending offsets in the file.
    pub fn functions(&self) -> Functions<'_> {
        Functions {
            dump: self,
            load: usize::MAX,
            lines: Vec::new(),
        }
    }

    /// Reads the lines of a load. Where entries are out of order, an address has the line of the last entry in the file
    /// that is not after the address.
    fn lines(&self, load: &Load) -> Vec<Line<'_>> {
        let mut lines: Vec<Line<'_>> = Vec::new();
        let mut entries = &self.bytes[load.lines.clone()];
        let mut file: &[u8] = b"";
        while let (Some(address), Some(line)) = (u64_at(entries, 0), u32_at(entries, 8)) {
            let name = &entries[16.min(entries.len())..];
            let Some(length) = memchr::memchr(0, name) else {
                break;
            };
            // This name means the same file as in the previous entry.
            if name[..length] != *b"\xff" {
                file = &name[..length];
            }
            while lines.pop_if(|line| line.address >= address).is_some() {}
            lines.push(Line {
                address,
                file,
                line,
            });
            entries = &name[length + 1..];
            #[cfg(test)]
            tests::ENTRIES.set(tests::ENTRIES.get() + 1);
        }
        lines
    }
}

impl<'a> Functions<'a> {
    /// Returns the function whose code is at this offset in the file.
    pub fn at(&mut self, offset: u64) -> Option<JitFunction<'a>> {
        let offset = usize::try_from(offset).ok()?;
        let loads = &self.dump.loads;
        let ix = loads.partition_point(|load| load.code.start <= offset);
        let ix = ix.checked_sub(1)?;
        let load = &loads[ix];
        if !load.code.contains(&offset) {
            return None;
        }
        if self.load != ix {
            self.lines = self.dump.lines(load);
            self.load = ix;
        }
        let address = load
            .address
            .saturating_add((offset - load.code.start) as u64);
        let after = self.lines.partition_point(|line| line.address <= address);
        Some(JitFunction {
            name: &self.dump.bytes[load.name.clone()],
            line: self.lines[..after]
                .last()
                .map(|line| (line.file, line.line)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;
    use sto_model::files::Links;

    thread_local! {
        /// Number of line entries that this thread has read.
        pub(super) static ENTRIES: Cell<usize> = const { Cell::new(0) };
    }

    fn record(kind: u32, body: &[u8]) -> Vec<u8> {
        let size = u32::try_from(RECORD_HEADER_SIZE + body.len()).unwrap();
        [&kind.to_le_bytes()[..], &size.to_le_bytes(), &[0; 8], body].concat()
    }

    fn words(words: &[u64]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    /// A jitdump of one function with these lines: pairs of an offset in the code and a line number.
    fn dump(lines: &[(u64, u32)], size: usize) -> JitDump {
        const START: u64 = 0x1000;
        let mut bytes = [MAGIC, &1_u32.to_le_bytes(), &40_u32.to_le_bytes(), &[0; 8]].concat();
        bytes.extend(7_u32.to_le_bytes());
        bytes.resize(HEADER_SIZE, 0);
        let mut entries = words(&[START, lines.len() as u64]);
        for (ix, &(at, line)) in lines.iter().enumerate() {
            entries.extend((START + at).to_le_bytes());
            entries.extend([line, 0].map(u32::to_le_bytes).concat());
            entries.extend_from_slice(if ix == 0 { b"a.js\0" } else { b"\xff\0" });
        }
        bytes.extend(record(CODE_DEBUG_INFO, &entries));
        let mut code = words(&[7, START, START, size as u64, 0]);
        code.extend(b"f\0");
        code.resize(code.len() + size, 0);
        bytes.extend(record(CODE_LOAD, &code));
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("jit-7.dump");
        std::fs::write(&path, bytes).unwrap();
        JitDump::open(&RegularFile::open(&path, Links::Refuse).unwrap(), &path, 7).unwrap()
    }

    #[test]
    fn lines_of_a_function_are_read_once() {
        const LINES: u32 = 100_000;
        let lines: Vec<(u64, u32)> = (0..LINES).map(|line| (line.into(), line)).collect();
        let dump = dump(&lines, LINES as usize);
        let start = dump.loads[0].code.start as u64;
        let mut functions = dump.functions();
        for line in 0..LINES {
            let found = functions.at(start + u64::from(line)).unwrap();
            assert_eq!(
                (found.name, found.line),
                (&b"f"[..], Some((&b"a.js"[..], line)))
            );
        }
        assert_eq!(ENTRIES.get(), LINES as usize);
    }

    #[test]
    fn last_entry_not_after_an_address_gives_its_line() {
        let lines = [(4, 40), (6, 60), (2, 20), (2, 21), (8, 80), (5, 50)];
        let dump = dump(&lines, 10);
        let start = dump.loads[0].code.start as u64;
        let mut functions = dump.functions();
        for offset in 0..10 {
            let expected = lines.iter().rfind(|&&(at, _)| at <= offset);
            let found = functions.at(start + offset).unwrap().line;
            assert_eq!(found.map(|(_, line)| line), expected.map(|&(_, line)| line));
        }
    }
}
