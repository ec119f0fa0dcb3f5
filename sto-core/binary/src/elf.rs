//! ELF files on disk: what they hold, and where the linker put it.

use super::lazy_file::LazyFile;
use super::unpack::unpacked;
use gimli::RunTimeEndian;
use object::{Object, ObjectSection, ObjectSegment, SectionFlags, elf};
use std::ffi::{OsStr, OsString};
use std::ops::Range;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use sto_model::GnuBuildId;
use sto_model::files::{Links, ReadAt, SafeFile};

/// A parsed ELF file.
pub type Elf<'data> = object::File<'data, &'data LazyFile>;

/// How much a file says of its code; more is greater.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Detail {
    /// At most the names that other files link to (`.dynsym`).
    Stripped,
    /// The names of all functions (`.symtab`).
    Names,
    /// Names, lines and inlined functions (`.debug_info`).
    DebugInfo,
}

#[derive(Debug)]
/// An ELF file that was opened and whose headers make sense.
pub struct ElfFile {
    /// Where it was opened.
    pub path: PathBuf,
    /// GNU build id, if it has one.
    pub build_id: Option<GnuBuildId>,
    /// Inode number.
    pub inode: u64,
    /// When it was last written, where the system says it.
    pub written: Option<SystemTime>,
    /// How much it says about its functions.
    pub detail: Detail,
    /// Whether it holds the code itself; a separate debug file does not.
    pub(crate) has_code: bool,
    /// The name of its separate debug file, from `.gnu_debuglink`.
    pub(crate) debug_link: Option<OsString>,
    /// The path and the build id of the file that it shares debug info with others in, from `.gnu_debugaltlink`.
    pub(crate) debug_alt_link: Option<(PathBuf, GnuBuildId)>,
    data: LazyFile,
}

/// A part of a file that is mapped into memory in one piece.
struct Segment {
    offset: u64,
    size: u64,
    address: u64,
    executable: bool,
}

/// Most segments that are looked at: a linker makes ten, or twenty.
const MAX_SEGMENTS: usize = 256;

/// The part of the file that each loadable segment came from.
#[derive(Default)]
pub struct Segments(Vec<Segment>);

impl ElfFile {
    /// Opens a file, which may be compressed; `None` where no regular file has this path.
    ///
    /// # Errors
    /// With a clause that says why the file cannot be read or is no ELF file.
    pub fn open(path: &Path) -> Result<Option<ElfFile>, String> {
        let unreadable =
            |error: &dyn std::fmt::Display| format!("cannot read {}: {error}", path.display());
        let opened = match SafeFile::open(path, Links::Follow) {
            Ok(opened) => opened,
            Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => {
                return Err(unreadable(&error));
            }
            Err(_) => return Ok(None),
        };
        let metadata = opened.metadata.clone();
        let data = unpacked(&opened)
            .and_then(|unpacked| LazyFile::new(unpacked.unwrap_or(opened)))
            .map_err(|error| unreadable(&error))?;
        let read = || -> object::Result<_> {
            let elf = object::File::parse(&data)?;
            let build_id = elf.build_id()?;
            let link = elf.gnu_debuglink().ok().flatten();
            let alt_link = elf.gnu_debugaltlink().ok().flatten();
            Ok((
                build_id.and_then(GnuBuildId::from_bytes),
                detail_of(&elf),
                elf.sections()
                    .any(|section| is_executable(&section) && !is_empty(&section)),
                link.map(|(name, _)| OsStr::from_bytes(name).to_owned()),
                alt_link.and_then(|(path, build_id)| {
                    let path = PathBuf::from(OsStr::from_bytes(path));
                    Some((path, GnuBuildId::from_bytes(build_id)?))
                }),
            ))
        };
        let (build_id, detail, has_code, debug_link, debug_alt_link) =
            read().map_err(|error| match data.file().why_cut() {
                Some(cut) => unreadable(&cut),
                None => format!("{} is no readable ELF file: {error}", path.display()),
            })?;
        Ok(Some(ElfFile {
            path: path.to_owned(),
            build_id,
            inode: metadata.ino(),
            written: metadata.modified().ok(),
            detail,
            has_code,
            debug_link,
            debug_alt_link,
            data,
        }))
    }

    /// Parses the file.
    ///
    /// # Errors
    /// Returns an error if its sections are damaged.
    pub fn parse(&self) -> object::Result<Elf<'_>> {
        object::File::parse(&self.data)
    }

    /// All of the file.
    pub(super) fn bytes(&self) -> Option<&[u8]> {
        self.data.bytes(0..self.data.file().size() as usize)
    }

    /// Why what there is of the file is not all of it, where another process cut it since it was opened.
    pub fn why_cut(&self) -> Option<String> {
        let cut = self.data.file().why_cut()?;
        Some(format!("{}: {cut}", self.path.display()))
    }

    /// Where the parts of the file are in memory.
    pub fn segments(&self) -> Segments {
        let mut segments = Vec::new();
        let Ok(elf) = self.parse() else {
            return Segments(segments);
        };
        // `objcopy --only-keep-debug` keeps addresses, but cuts what it empties, and moves what
        // follows. Code is never longer in memory than in its file.
        let emptied = elf.segments().any(|segment| {
            segment.permissions().executable() && segment.file_range().1 < segment.size()
        });
        let mut end = 0;
        for segment in elf.segments().take(MAX_SEGMENTS) {
            let (mut offset, mut size) = segment.file_range();
            if emptied {
                size = segment.size();
                offset = next_offset(end, segment.address(), segment.align());
                end = offset.saturating_add(size);
            }
            segments.push(Segment {
                offset,
                size,
                address: segment.address(),
                executable: segment.permissions().executable(),
            });
        }
        // The segments of a file can overlap by a page; code is in the executable one.
        segments.sort_by_key(|segment| !segment.executable);
        Segments(segments)
    }

    /// Whether the compressed debug sections claim sizes that can be true, so that unpacking them
    /// does not ask for more memory than there is. None of them is read for that.
    pub fn is_credible(&self) -> bool {
        /// As of compressed profiles; debug info stays far below it.
        const FREE: u64 = 64 << 20;
        const MAX_RATIO: u64 = 256;
        self.parse().is_ok_and(|elf| {
            elf.sections().all(|section| {
                section.compressed_file_range().is_ok_and(|range| {
                    let packed = range.compressed_size;
                    let end = range.offset.checked_add(packed);
                    end.is_some_and(|end| end <= self.data.file().size())
                        && range.uncompressed_size
                            <= FREE.saturating_add(packed.saturating_mul(MAX_RATIO))
                })
            })
        })
    }
}

impl Segments {
    /// The lowest virtual address, as the linker knows it.
    pub fn first_address(&self) -> u64 {
        let addresses = self.0.iter().map(|segment| segment.address);
        addresses.min().unwrap_or_default()
    }

    /// The virtual addresses, as the linker knows them, that the file has.
    pub fn addresses(&self) -> impl Iterator<Item = Range<u64>> {
        let ranges = self.0.iter();
        ranges.map(|of| of.address..of.address.saturating_add(of.size))
    }

    /// The virtual address, as the linker knows it, of an offset in the file.
    pub fn address_of(&self, offset: u64) -> Option<u64> {
        self.0.iter().find_map(|segment| {
            let within = offset.checked_sub(segment.offset)?;
            let inside = within < segment.size;
            inside.then(|| segment.address.checked_add(within))?
        })
    }

    /// The offset in the file of a virtual address, as the linker knows it.
    pub fn offset_of(&self, address: u64) -> Option<u64> {
        self.0.iter().find_map(|segment| {
            let within = address.checked_sub(segment.address)?;
            let inside = within < segment.size;
            inside.then(|| segment.offset.checked_add(within))?
        })
    }
}

/// The byte order of a file.
pub fn endian_of(elf: &Elf<'_>) -> RunTimeEndian {
    match elf.is_little_endian() {
        true => RunTimeEndian::Little,
        false => RunTimeEndian::Big,
    }
}

/// The offset at which a linker puts a segment after what ends at `end`: the next one that is
/// congruent to its address, as mapping by pages asks for.
fn next_offset(end: u64, address: u64, align: u64) -> u64 {
    let mask = if align.is_power_of_two() {
        align - 1
    } else {
        0
    };
    end.saturating_add(address.wrapping_sub(end) & mask)
}

fn detail_of(elf: &Elf<'_>) -> Detail {
    let has = |name| {
        elf.section_by_name(name)
            .is_some_and(|section| !is_empty(&section))
    };
    if has(".debug_info") {
        Detail::DebugInfo
    } else if has(".symtab") {
        Detail::Names
    } else {
        Detail::Stripped
    }
}

/// Whether a section holds code.
pub fn is_executable<'data>(section: &impl ObjectSection<'data>) -> bool {
    matches!(section.flags(), SectionFlags::Elf { sh_flags, .. } if sh_flags.contains(elf::SHF_EXECINSTR))
}

/// Whether the section has no bytes in this file.
fn is_empty<'data>(section: &impl ObjectSection<'data>) -> bool {
    section.file_range().is_none_or(|(_, size)| size == 0)
}
