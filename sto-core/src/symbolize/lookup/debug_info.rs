//! Looks up lines and inlined functions in debug info (DWARF).

use super::section::{Section, Unreadable, section};
use super::split::{SplitFiles, SplitSections};
use addr2line::{Context, Frame, LookupContinuation, LookupResult};
use gimli::{
    AbbreviationsCacheStrategy, DebugInfoOffset, Dwarf, DwarfPackage, DwarfPackageSections,
    DwarfSections, EndianSlice, FileEntry, LineProgramHeader, RunTimeEndian, Section as _,
    SectionId, Unit, UnitOffset, UnitSectionOffset,
};
use hashbrown::HashSet;
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;
use sto_binary::elf::{ElfFile, endian_of};
use sto_formats::demangle::name_prefix;
use sto_model::limits::MAX_NAME;
use sto_model::{CompilationDirs, normalize_source_path_with};
use sto_model::{SourceFileDigest, SourceFileDigests, agreed_digests};

/// Maximum number of unit ranges that all lookups of a module visit together: seconds of work. In a valid program a
/// lookup visits one or two.
const MAX_VISITED: usize = 1 << 28;

/// Maximum number of unit ranges for each byte of debug info. A range in a list of one unit takes at least three bytes,
/// so a file can only exceed this if many units share a list.
const MAX_RANGES_PER_BYTE: usize = 4;

/// The files with the debug info of a module.
pub(super) struct DebugFiles<'a> {
    pub(super) main: &'a ElfFile,
    /// Debug info that several files share (`.gnu_debugaltlink`).
    pub(super) supplement: Option<ElfFile>,
    /// Split debug info (`-gsplit-dwarf`), packaged by `dwp`.
    pub(super) package: Option<ElfFile>,
    /// Split debug info that was not packaged.
    pub(super) split: SplitFiles,
}

/// The decompressed sections of [`DebugFiles`].
pub(super) struct DebugSections<'a> {
    main: DwarfSections<Cow<'a, [u8]>>,
    supplement: Option<DwarfSections<Cow<'a, [u8]>>>,
    package: Option<DwarfPackageSections<Cow<'a, [u8]>>>,
    split: SplitSections<'a>,
    endian: RunTimeEndian,
}

/// The debug info of a module, shared by the lookups of all threads.
pub(super) struct DebugFile<'a> {
    dwarf: Arc<Dwarf<Section<'a>>>,
    package: Option<DwarfPackage<Section<'a>>>,
    split: &'a SplitSections<'a>,
    compilation_dirs: CompilationDirs,
    /// The units whose source files have digests.
    digested: Vec<DebugInfoOffset>,
}

/// A lookup in a [`DebugFile`], used by one thread.
pub(super) struct DebugInfo<'a> {
    context: Context<Section<'a>>,
    pub(super) file: &'a DebugFile<'a>,
}

/// The address ranges of a function.
pub(super) struct Ranges {
    /// The unit of the function, and its entry in the unit.
    function: (UnitSectionOffset, UnitOffset),
    /// Ascending and disjoint.
    ranges: Vec<(u64, u64)>,
}

impl Ranges {
    fn new(function: (UnitSectionOffset, UnitOffset), mut ranges: Vec<(u64, u64)>) -> Ranges {
        ranges.sort_unstable();
        ranges.dedup_by(|&mut (begin, end), (_, last)| {
            let is_within = begin < *last;
            if is_within {
                *last = end.max(*last);
            }
            is_within
        });
        Ranges { function, ranges }
    }

    fn start_of(&self, address: u64) -> Option<u64> {
        let after = self.ranges.partition_point(|&(begin, _)| begin <= address);
        let &(begin, end) = self.ranges[..after].last()?;
        (address < end).then_some(begin)
    }
}

/// A function, or one that was inlined into it, at a line.
pub(super) struct Call<'a> {
    /// Mangled name; empty if unknown.
    pub(super) name: &'a [u8],
    /// Path of the source file of the line; empty if unknown.
    pub(super) file: &'a str,
    /// The line of the address, or, if the next function is inlined here, of the call to it.
    pub(super) line: Option<u32>,
}

/// The functions of a list of addresses.
#[derive(Default)]
pub(super) struct Calls<'a> {
    calls: Vec<Call<'a>>,
    /// For each address the end of its range in `calls`.
    ends: Vec<usize>,
    /// The first error of the lookups.
    pub(super) problem: Option<gimli::Error>,
}

impl<'a> DebugSections<'a> {
    /// Loads the sections that lookups need.
    ///
    /// # Errors
    /// Returns the reason if a file cannot be read.
    pub(super) fn load(files: &'a DebugFiles<'_>) -> Result<DebugSections<'a>, String> {
        let DebugFiles {
            main,
            supplement,
            package,
            split: split_files,
        } = files;
        let dwarf = |file: &'a ElfFile| {
            DwarfSections::load(|id| section(file, is_needed(id).then(|| id.name())))
        };
        // The index of a package refers to parts of all sections, so all must be loaded.
        let split =
            |file: &'a ElfFile| DwarfPackageSections::load(|id| section(file, id.dwo_name()));
        let mut all = [Some(*main), supplement.as_ref(), package.as_ref()]
            .into_iter()
            .flatten();
        if let Some(file) = all.find(|file| !file.has_credible_sizes()) {
            let path = file.path.display();
            return Err(format!(
                "the headers of {path} have impossible sizes of compressed sections"
            ));
        }
        let read = || {
            let elf = main.parse()?;
            Ok(DebugSections {
                main: dwarf(main)?,
                supplement: supplement.as_ref().map(dwarf).transpose()?,
                package: package.as_ref().map(split).transpose()?,
                split: split_files.sections(),
                endian: endian_of(&elf),
            })
        };
        read().map_err(|error: Unreadable| error.0)
    }
}

fn is_needed(id: SectionId) -> bool {
    use SectionId as Id;
    !matches!(
        id,
        // Units have their ranges themselves, and `compilation_dirs` counts those.
        Id::DebugAranges
            | Id::DebugLoc
            | Id::DebugLocLists
            | Id::DebugMacinfo
            | Id::DebugMacro
            | Id::DebugNames
    )
}

impl<'a> DebugFile<'a> {
    /// Prepares lookups of these addresses.
    ///
    /// # Errors
    /// Returns an error if the lookups would take too long: because there are more ranges of units than
    /// [`MAX_RANGES_PER_BYTE`] allows, or because the lookups would visit more than [`MAX_VISITED`]. For an address,
    /// addr2line visits the ranges that end after it, up to the last of these that begins before it.
    pub(super) fn new(
        sections: &'a DebugSections<'_>,
        addresses: &[u64],
    ) -> Result<DebugFile<'a>, String> {
        let borrow = |section: &'a Cow<'_, [u8]>| EndianSlice::new(section, sections.endian);
        let supplement = sections.supplement.as_ref();
        let mut dwarf = sections.main.borrow_with_sup(supplement, borrow);
        dwarf.populate_abbreviations_cache(AbbreviationsCacheStrategy::Duplicates);
        let (compilation_dirs, digested) = compilation_dirs(&dwarf, addresses)
            .ok_or("too many address ranges of its units overlap")?;
        let empty = EndianSlice::new(&[], sections.endian);
        let package = sections.package.as_ref();
        Ok(DebugFile {
            dwarf: Arc::new(dwarf),
            package: package.and_then(|package| package.borrow(borrow, empty).ok()),
            split: &sections.split,
            compilation_dirs,
            digested,
        })
    }

    /// Creates a lookup for one thread.
    ///
    /// # Errors
    /// Returns an error if the debug info cannot be read at all.
    pub(super) fn open(&self) -> Result<DebugInfo<'_>, gimli::Error> {
        Ok(DebugInfo {
            context: Context::from_arc_dwarf(Arc::clone(&self.dwarf))?,
            file: self,
        })
    }

    /// Returns the path that frames have for a source file.
    pub(super) fn source_file(&self, path: &str) -> String {
        normalize_source_path_with(path, |parts| self.compilation_dirs.prefix_len(parts))
    }

    /// Returns the digests of source files, which are given by the paths that frames have.
    pub(super) fn digests(&self, files: &BTreeSet<&str>) -> SourceFileDigests {
        let names: HashSet<&[u8]> = files
            .iter()
            .map(|file| file_name(file.as_bytes()))
            .collect();
        let mut digests = Vec::new();
        for &offset in &self.digested {
            let header = self.dwarf.debug_info.header_from_offset(offset);
            let Ok(unit) = header.and_then(|header| self.dwarf.unit(header)) else {
                continue;
            };
            let Some(program) = &unit.line_program else {
                continue;
            };
            for file in program.header().file_names() {
                let path = self.path(&unit, program.header(), file, &names);
                let path = path.map(|path| self.source_file(&path));
                if let Some(path) = path.filter(|path| files.contains(path.as_str())) {
                    digests.push((path, SourceFileDigest(*file.md5())));
                }
            }
        }
        agreed_digests(digests)
    }

    /// Returns the full path of a file in a line program, if its file name is one of `names`.
    fn path(
        &self,
        unit: &Unit<Section<'a>>,
        header: &LineProgramHeader<Section<'a>>,
        file: &FileEntry<Section<'a>>,
        names: &HashSet<&[u8]>,
    ) -> Option<String> {
        let text = |value| self.dwarf.attr_string(unit, value).ok();
        let name = text(file.path_name())?;
        if !names.contains(file_name(name.slice())) {
            return None;
        }
        // Folder 0 is the compilation directory of the unit.
        let folder = Some(file.directory_index()).filter(|&index| index != 0);
        let folder = folder.and_then(|_| text(file.directory(header)?));
        let mut path = Vec::new();
        for part in [unit.comp_dir, folder, Some(name)].into_iter().flatten() {
            if part.starts_with(b"/") {
                path.clear();
            } else if !path.is_empty() && !path.ends_with(b"/") {
                path.push(b'/');
            }
            path.extend(part.slice().iter().take(MAX_NAME));
        }
        Some(String::from_utf8_lossy(&path).into_owned())
    }
}

fn file_name(path: &[u8]) -> &[u8] {
    path.rsplit(|&byte| byte == b'/').next().unwrap_or(path)
}

/// Returns the compilation directories of the units that can be read, and the units whose source files have digests.
/// Returns `None` if the units have too many ranges for lookups of these addresses.
fn compilation_dirs(
    dwarf: &Dwarf<Section<'_>>,
    addresses: &[u64],
) -> Option<(CompilationDirs, Vec<DebugInfoOffset>)> {
    let lists = &dwarf.ranges;
    let bytes = dwarf.debug_info.reader().len()
        + lists.debug_ranges().reader().len()
        + lists.debug_rnglists().reader().len();
    let (mut dirs, mut digested, mut ranges) = (BTreeSet::new(), Vec::new(), Vec::new());
    let mut units = dwarf.units();
    while let Ok(Some(header)) = units.next() {
        let Ok(unit) = dwarf.unit(header) else {
            continue;
        };
        dirs.extend(unit.comp_dir.map(|dir| dir.slice()));
        let program = unit.line_program.as_ref();
        if program.is_some_and(|program| program.header().file_has_md5()) {
            digested.extend(unit.header.debug_info_offset());
        }
        let Ok(mut unit_ranges) = dwarf.unit_ranges(&unit) else {
            continue;
        };
        while let Ok(Some(range)) = unit_ranges.next() {
            ranges.push(range);
            if ranges.len() > MAX_RANGES_PER_BYTE * bytes {
                return None;
            }
        }
    }
    ranges.sort_unstable_by_key(|range| range.end);
    let mut first = u64::MAX;
    for range in ranges.iter_mut().rev() {
        first = first.min(range.begin);
        range.begin = first;
    }
    let visited = addresses.iter().map(|&address| {
        let after = ranges.partition_point(|range| range.end <= address);
        ranges[after..].partition_point(|range| range.begin <= address)
    });
    (visited.sum::<usize>() <= MAX_VISITED).then(|| {
        let dirs: Vec<Cow<'_, str>> = dirs.into_iter().map(String::from_utf8_lossy).collect();
        let dirs = CompilationDirs::new(dirs.iter().map(Cow::as_ref));
        (dirs, digested)
    })
}

impl<'a> DebugInfo<'a> {
    /// Looks up the functions of addresses: for each the function, then those inlined into it, innermost last.
    pub(super) fn calls(&self, addresses: &[u64]) -> Calls<'_> {
        let mut found = Calls::default();
        for &address in addresses {
            let start = found.calls.len();
            let looked_up = self.each_frame(address, |frame| {
                let location = frame.location.as_ref();
                found.calls.push(Call {
                    name: frame
                        .function
                        .map_or(&[], |function| name_prefix(function.name.slice())),
                    file: location.and_then(|at| at.file).unwrap_or_default(),
                    line: location.and_then(|at| at.line),
                });
            });
            found.calls[start..].reverse();
            found.ends.push(found.calls.len());
            found.problem = found.problem.or(looked_up.err());
        }
        found
    }

    /// Returns the start of the range with this address, among the ranges of the function that was not inlined. `last`
    /// caches the ranges of the previous function, as consecutive addresses are mostly in one function.
    pub(super) fn start_of(&self, address: u64, last: &mut Option<Ranges>) -> Option<u64> {
        let mut function = None;
        self.each_frame(address, |frame| function = frame.dw_die_offset)
            .ok()?;
        let unit = self.resume(self.context.find_dwarf_and_unit(address))?;
        let key = (unit.header.offset(), function?);
        if last.as_ref().is_none_or(|last| last.function != key) {
            let entry = unit.entry(key.1).ok()?;
            let mut die_ranges = unit.die_ranges(&entry).ok()?;
            let mut ranges = Vec::new();
            while let Ok(Some(range)) = die_ranges.next() {
                ranges.push((range.begin, range.end));
            }
            *last = Some(Ranges::new(key, ranges));
        }
        last.as_ref()?.start_of(address)
    }

    /// Calls `each` with the functions of an address, innermost first.
    fn each_frame<'s>(
        &'s self,
        address: u64,
        mut each: impl FnMut(Frame<'s, Section<'a>>),
    ) -> Result<(), gimli::Error> {
        let mut frames = self.resume(self.context.find_frames(address))?;
        while let Some(frame) = frames.next()? {
            each(frame);
        }
        Ok(())
    }

    /// Finishes a lookup, loading the split debug info that it asks for.
    fn resume<C: LookupContinuation<Buf = Section<'a>>>(
        &self,
        mut lookup: LookupResult<C>,
    ) -> C::Output {
        loop {
            match lookup {
                LookupResult::Output(output) => return output,
                LookupResult::Load { load, continuation } => {
                    let package = self.file.package.as_ref();
                    let unit = package
                        .and_then(|package| package.find_cu(load.dwo_id, &load.parent).ok()?);
                    let unit = unit.or_else(|| self.file.split.unit(load.dwo_id, &load.parent));
                    lookup = continuation.resume(unit.map(Arc::new));
                }
            }
        }
    }
}

impl<'a> Calls<'a> {
    /// Returns the functions of the address with this index, outermost first; empty if unknown.
    pub(super) fn get(&self, index: usize) -> &[Call<'a>] {
        let start = index.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.calls[start..self.ends[index]]
    }
}
