//! What debug info says of addresses: lines, and functions that the compiler inlined.

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
use sto_formats::demangle::readable;
use sto_model::limits::MAX_NAME;
use sto_model::{CompilationDirs, normalize};
use sto_model::{SourceDigest, SourceDigests, agreed_digests};

/// Most ranges of units that the lookups of a module pass by together: seconds of work. In sound programs a
/// lookup passes one or two.
const MAX_PASSED: usize = 1 << 28;

/// Most ranges of units for each byte of debug info. In a list of its unit alone one takes three bytes or more.
const MAX_RANGES_A_BYTE: usize = 4;

/// The files that have the debug info (DWARF) of a module.
pub(super) struct DebugFiles<'a> {
    pub(super) main: &'a ElfFile,
    /// What several files have in common (`.gnu_debugaltlink`).
    pub(super) supplement: Option<ElfFile>,
    /// What was split off when the module was compiled (`-gsplit-dwarf`), put together by `dwp`.
    pub(super) package: Option<ElfFile>,
    /// The same where it was not.
    pub(super) split: SplitFiles,
}

/// Their sections, as they are without compression.
pub(super) struct DebugSections<'a> {
    main: DwarfSections<Cow<'a, [u8]>>,
    supplement: Option<DwarfSections<Cow<'a, [u8]>>>,
    package: Option<DwarfPackageSections<Cow<'a, [u8]>>>,
    split: SplitSections<'a>,
    endian: RunTimeEndian,
}

/// The debug info of a module, and what all of its lookups share.
pub(super) struct DebugFile<'a> {
    dwarf: Arc<Dwarf<Section<'a>>>,
    package: Option<DwarfPackage<Section<'a>>>,
    split: &'a SplitSections<'a>,
    compilation_dirs: CompilationDirs,
    /// The units whose source files have digests.
    digested: Vec<DebugInfoOffset>,
}

/// One thread's view of a [`DebugFile`].
pub(super) struct DebugInfo<'a> {
    context: Context<Section<'a>>,
    pub(super) file: &'a DebugFile<'a>,
}

pub(super) struct Ranges {
    /// Its unit, and its entry in that.
    function: (UnitSectionOffset, UnitOffset),
    /// Ascending; none begins in another.
    ranges: Vec<(u64, u64)>,
}

impl Ranges {
    fn of(function: (UnitSectionOffset, UnitOffset), mut ranges: Vec<(u64, u64)>) -> Ranges {
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

/// A function at a line, or one that was inlined into another.
pub(super) struct Call<'a> {
    /// Its name, mangled; empty where it has none.
    pub(super) name: &'a [u8],
    /// Path of the source file of the line; empty where it is not known.
    pub(super) file: &'a str,
    /// The line that runs or calls the next.
    pub(super) line: Option<u32>,
}

/// What addresses are in.
#[derive(Default)]
pub(super) struct Calls<'a> {
    calls: Vec<Call<'a>>,
    /// Ends of the addresses' parts of `calls`.
    ends: Vec<usize>,
    /// Why some are not known.
    pub(super) problem: Option<gimli::Error>,
}

impl<'a> DebugSections<'a> {
    /// # Errors
    /// With the reason why the debug info as a whole cannot be read.
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
        // Its index names parts of all sections, and they must be there.
        let split =
            |file: &'a ElfFile| DwarfPackageSections::load(|id| section(file, id.dwo_name()));
        let mut all = [Some(*main), supplement.as_ref(), package.as_ref()]
            .into_iter()
            .flatten();
        if let Some(file) = all.find(|file| !file.is_credible()) {
            let path = file.path.display();
            return Err(format!(
                "the compressed sections of {path} claim sizes that cannot be true"
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
        // Units have their ranges themselves, where `fits` counts them.
        Id::DebugAranges
            | Id::DebugLoc
            | Id::DebugLocLists
            | Id::DebugMacinfo
            | Id::DebugMacro
            | Id::DebugNames
    )
}

impl<'a> DebugFile<'a> {
    /// The debug info for lookups of these addresses.
    ///
    /// # Errors
    /// Where units have so many ranges for the bytes of their sections that many must share a long list, or where
    /// lookups of these addresses pass by too many of them: addr2line passes all that end after an address, up to
    /// the last of these that begins before it.
    pub(super) fn new(
        sections: &'a DebugSections<'_>,
        addresses: &[u64],
    ) -> Result<DebugFile<'a>, String> {
        let borrow = |section: &'a Cow<'_, [u8]>| EndianSlice::new(section, sections.endian);
        let supplement = sections.supplement.as_ref();
        let mut dwarf = sections.main.borrow_with_sup(supplement, borrow);
        dwarf.populate_abbreviations_cache(AbbreviationsCacheStrategy::Duplicates);
        let (compilation_dirs, digested) = compilation_dirs(&dwarf, addresses)
            .ok_or("its units have too many ranges within each other")?;
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

    /// # Errors
    /// With the reason why the debug info as a whole cannot be read.
    pub(super) fn open(&self) -> Result<DebugInfo<'_>, gimli::Error> {
        Ok(DebugInfo {
            context: Context::from_arc_dwarf(Arc::clone(&self.dwarf))?,
            file: self,
        })
    }

    /// A source file, as frames carry it.
    pub(super) fn source_file(&self, path: &str) -> String {
        normalize(path, |parts| self.compilation_dirs.prefix_of(parts))
    }

    /// Digests of these source files, as frames carry them.
    pub(super) fn digests(&self, files: &BTreeSet<&str>) -> SourceDigests {
        let names: HashSet<&[u8]> = files
            .iter()
            .map(|file| last_name(file.as_bytes()))
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
                    digests.push((path, SourceDigest(*file.md5())));
                }
            }
        }
        agreed_digests(digests)
    }

    /// The path of a file as lookups have it, if its last name is one of these.
    fn path(
        &self,
        unit: &Unit<Section<'a>>,
        header: &LineProgramHeader<Section<'a>>,
        file: &FileEntry<Section<'a>>,
        names: &HashSet<&[u8]>,
    ) -> Option<String> {
        let text = |value| self.dwarf.attr_string(unit, value).ok();
        let name = text(file.path_name())?;
        if !names.contains(last_name(name.slice())) {
            return None;
        }
        // Folder 0 is the unit's own.
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

fn last_name(path: &[u8]) -> &[u8] {
    path.rsplit(|&byte| byte == b'/').next().unwrap_or(path)
}

/// Where the units of a module were compiled, as far as these can be read, and those whose source files have digests;
/// `None` where they have too many ranges for lookups of these addresses.
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
        let Ok(mut of_unit) = dwarf.unit_ranges(&unit) else {
            continue;
        };
        while let Ok(Some(range)) = of_unit.next() {
            ranges.push(range);
            if ranges.len() > MAX_RANGES_A_BYTE * bytes {
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
    let passed = addresses.iter().map(|&address| {
        let after = ranges.partition_point(|range| range.end <= address);
        ranges[after..].partition_point(|range| range.begin <= address)
    });
    (passed.sum::<usize>() <= MAX_PASSED).then(|| {
        let dirs: Vec<Cow<'_, str>> = dirs.into_iter().map(String::from_utf8_lossy).collect();
        let dirs = CompilationDirs::new(dirs.iter().map(Cow::as_ref));
        (dirs, digested)
    })
}

impl<'a> DebugInfo<'a> {
    /// The functions that addresses are in, outermost first: the function, then what was inlined into it.
    pub(super) fn calls(&self, addresses: &[u64]) -> Calls<'_> {
        let mut found = Calls::default();
        for &address in addresses {
            let start = found.calls.len();
            let looked_up = self.each_frame(address, |frame| {
                let location = frame.location.as_ref();
                found.calls.push(Call {
                    name: frame
                        .function
                        .map_or(&[], |function| readable(function.name.slice())),
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

    /// Where the range of a function begins that an address is in. `last` keeps the ranges of the function that was
    /// found last: addresses ascend, and mostly stay in one.
    pub(super) fn start_of(&self, address: u64, last: &mut Option<Ranges>) -> Option<u64> {
        let mut function = None;
        self.each_frame(address, |frame| function = frame.dw_die_offset)
            .ok()?;
        let unit = self.resume(self.context.find_dwarf_and_unit(address))?;
        let key = (unit.header.offset(), function?);
        if last.as_ref().is_none_or(|last| last.function != key) {
            let entry = unit.entry(key.1).ok()?;
            let mut of_function = unit.die_ranges(&entry).ok()?;
            let mut ranges = Vec::new();
            while let Ok(Some(range)) = of_function.next() {
                ranges.push((range.begin, range.end));
            }
            *last = Some(Ranges::of(key, ranges));
        }
        last.as_ref()?.start_of(address)
    }

    /// Calls `each` with the functions that an address is in, innermost first.
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

    /// Gives a lookup what was split off of the units that it comes to.
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
    /// Those of the address at an index, outermost first; none where debug info has nothing of it.
    pub(super) fn of(&self, index: usize) -> &[Call<'a>] {
        let start = index.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.calls[start..self.ends[index]]
    }
}
