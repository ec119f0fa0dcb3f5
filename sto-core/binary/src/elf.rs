//! ELF files on disk: their contents, and the virtual addresses that the linker gave them.

use super::lazy_file::LazyFile;
use super::unpack::decompressed;
use flate2::read::ZlibDecoder;
use gimli::RunTimeEndian;
use object::{CompressionFormat, Object, ObjectSection, ObjectSegment, SectionFlags, elf};
use std::borrow::Cow;
use std::ffi::OsString;
use std::io::{self, Read};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;
use sto_model::GnuBuildId;
use sto_model::files::{Links, RegularFile};
use sto_model::system::{file_id, os_string_from_bytes};

/// A parsed ELF file.
pub type Elf<'data> = object::File<'data, &'data LazyFile>;

/// How much a file says about its code, in ascending order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Detail {
    /// At most the names of exported functions (`.dynsym`).
    Stripped,
    /// The names of all functions (`.symtab`).
    Names,
    /// Names, lines and inlined functions (`.debug_info`).
    DebugInfo,
}

/// An open ELF file with valid headers.
#[derive(Debug)]
pub struct ElfFile {
    /// The path by which the file was opened.
    pub path: PathBuf,
    /// GNU build id, if the file has one.
    pub build_id: Option<GnuBuildId>,
    /// Inode number; zero for bytes in memory.
    pub inode: u64,
    /// Modification time, if the file system has one.
    pub written: Option<SystemTime>,
    /// How much the file says about its functions.
    pub detail: Detail,
    /// Whether the file has the code itself; a separate debug file does not.
    pub(crate) has_code: bool,
    /// File name of the separate debug file, from `.gnu_debuglink`.
    pub(crate) debug_link: Option<OsString>,
    /// Path and build id of the supplementary debug file, from `.gnu_debugaltlink`.
    pub(crate) debug_alt_link: Option<(PathBuf, GnuBuildId)>,
    data: LazyFile,
}

/// A loadable segment.
struct Segment {
    offset: u64,
    size: u64,
    address: u64,
    executable: bool,
}

/// Segments beyond this number are ignored; linkers make ten or twenty.
const MAX_SEGMENTS: usize = 256;

/// The loadable segments of a file: which of its parts are mapped at which virtual addresses.
///
/// Virtual addresses are those that the linker assigned.
#[derive(Default)]
pub struct Segments(Vec<Segment>);

impl ElfFile {
    /// Opens a file, decompressing it if it is compressed. Returns `None` if there is no regular file at this path.
    ///
    /// # Errors
    /// Returns a clause that names the file if it cannot be read or is not an ELF file.
    pub fn open(path: &Path) -> Result<Option<ElfFile>, String> {
        let unreadable =
            |error: &dyn std::fmt::Display| format!("cannot read {}: {error}", path.display());
        let opened = match RegularFile::open(path, Links::Follow) {
            Ok(opened) => opened,
            Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => {
                return Err(unreadable(&error));
            }
            Err(_) => return Ok(None),
        };
        let metadata = opened.metadata.clone();
        let data = decompressed(&opened)
            .and_then(|decompressed| LazyFile::new(decompressed.unwrap_or(opened)))
            .map_err(|error| unreadable(&error))?;
        let file = ElfFile::new(path, data)?;
        Ok(Some(ElfFile {
            inode: file_id(&metadata).inode,
            written: metadata.modified().ok(),
            ..file
        }))
    }

    /// Uses the bytes of a file in memory.
    ///
    /// # Errors
    /// Returns a clause with the given name if they are not an ELF file.
    pub fn from_bytes(name: &Path, bytes: Arc<[u8]>) -> Result<ElfFile, String> {
        ElfFile::new(name, LazyFile::from_bytes(bytes))
    }

    fn new(path: &Path, data: LazyFile) -> Result<ElfFile, String> {
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
                link.map(|(name, _)| os_string_from_bytes(name)),
                alt_link.and_then(|(path, build_id)| {
                    let path = PathBuf::from(os_string_from_bytes(path));
                    Some((path, GnuBuildId::from_bytes(build_id)?))
                }),
            ))
        };
        let (build_id, detail, has_code, debug_link, debug_alt_link) =
            read().map_err(|error| match data.truncation_error() {
                Some(cut) => format!("cannot read {}: {cut}", path.display()),
                None => format!("{} is not a valid ELF file: {error}", path.display()),
            })?;
        Ok(ElfFile {
            path: path.to_owned(),
            build_id,
            inode: 0,
            written: None,
            detail,
            has_code,
            debug_link,
            debug_alt_link,
            data,
        })
    }

    /// Parses the file.
    ///
    /// # Errors
    /// Returns an error if its sections are damaged.
    pub fn parse(&self) -> object::Result<Elf<'_>> {
        object::File::parse(&self.data)
    }

    /// Returns the contents of the file.
    pub(super) fn bytes(&self) -> Option<&[u8]> {
        self.data.bytes(0..self.data.size() as usize)
    }

    /// Returns a message that names the file if another process has truncated it since it was opened.
    pub fn why_cut(&self) -> Option<String> {
        let cut = self.data.truncation_error()?;
        Some(format!("{}: {cut}", self.path.display()))
    }

    /// Returns the loadable segments of the file.
    pub fn segments(&self) -> Segments {
        let mut segments = Vec::new();
        let Ok(elf) = self.parse() else {
            return Segments(segments);
        };
        // `objcopy --only-keep-debug` keeps addresses, but removes the contents of segments and moves those that
        // follow. Otherwise, code is never longer in memory than in its file.
        let is_stripped_of_code = elf.segments().any(|segment| {
            segment.permissions().executable() && segment.file_range().1 < segment.size()
        });
        let mut end = 0;
        for segment in elf.segments().take(MAX_SEGMENTS) {
            let (mut offset, mut size) = segment.file_range();
            if is_stripped_of_code {
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
        // Segments can share a page of the file; code is in the executable one, so look it up there first.
        segments.sort_by_key(|segment| !segment.executable);
        Segments(segments)
    }

    /// Returns `true` if the sizes in the headers of compressed sections are plausible, so that decompressing them
    /// cannot exhaust the memory. No section is read.
    pub fn has_credible_sizes(&self) -> bool {
        /// Allowed at any compression ratio. Debug info stays far below both limits, which compressed profiles have too.
        const FREE: u64 = 64 << 20;
        const MAX_RATIO: u64 = 256;
        self.parse().is_ok_and(|elf| {
            elf.sections().all(|section| {
                section.compressed_file_range().is_ok_and(|range| {
                    let packed = range.compressed_size;
                    let end = range.offset.checked_add(packed);
                    end.is_some_and(|end| end <= self.data.size())
                        && range.uncompressed_size
                            <= FREE.saturating_add(packed.saturating_mul(MAX_RATIO))
                })
            })
        })
    }
}

impl Segments {
    /// A single segment of code, whose addresses are the offsets in the file.
    pub(crate) fn whole(size: u64) -> Segments {
        Segments(vec![Segment {
            offset: 0,
            size,
            address: 0,
            executable: true,
        }])
    }

    /// Returns the lowest virtual address.
    pub fn first_address(&self) -> u64 {
        let addresses = self.0.iter().map(|segment| segment.address);
        addresses.min().unwrap_or_default()
    }

    /// Returns the virtual addresses that the file has contents for.
    pub fn addresses(&self) -> impl Iterator<Item = Range<u64>> {
        let segments = self.0.iter();
        segments.map(|segment| segment.address..segment.address.saturating_add(segment.size))
    }

    /// Returns the virtual address of an offset in the file.
    pub fn address_of(&self, offset: u64) -> Option<u64> {
        self.0.iter().find_map(|segment| {
            let within = offset.checked_sub(segment.offset)?;
            let inside = within < segment.size;
            inside.then(|| segment.address.checked_add(within))?
        })
    }

    /// Returns the offset in the file of a virtual address.
    pub fn offset_of(&self, address: u64) -> Option<u64> {
        self.0.iter().find_map(|segment| {
            let within = address.checked_sub(segment.address)?;
            let inside = within < segment.size;
            inside.then(|| segment.offset.checked_add(within))?
        })
    }
}

/// Returns the byte order of a file.
pub fn endian_of(elf: &Elf<'_>) -> RunTimeEndian {
    if elf.is_little_endian() {
        RunTimeEndian::Little
    } else {
        RunTimeEndian::Big
    }
}

/// Returns the file offset at which a linker puts a segment after one that ends at `end`: the next offset congruent to
/// the segment's address modulo its alignment, as mapping by pages requires.
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

/// Returns the bytes of a section, decompressed if it is compressed.
///
/// # Errors
/// Returns an error if the section is not in the file, or does not decompress to the size that its header states.
pub fn section_data<'data>(section: &impl ObjectSection<'data>) -> io::Result<Cow<'data, [u8]>> {
    let packed = section.compressed_data().map_err(io::Error::other)?;
    let unpacked: Box<dyn Read> = match packed.format {
        CompressionFormat::None => return Ok(Cow::Borrowed(packed.data)),
        CompressionFormat::Zlib => Box::new(ZlibDecoder::new(packed.data)),
        CompressionFormat::Zstandard => {
            Box::new(zstd::stream::read::Decoder::with_buffer(packed.data)?)
        }
        _ => {
            return Err(io::Error::other(
                "a section is compressed in an unknown way",
            ));
        }
    };
    let size = packed.uncompressed_size;
    let mut bytes = Vec::new();
    unpacked.take(size).read_to_end(&mut bytes)?;
    if bytes.len() as u64 != size {
        let text = format!(
            "a section has {} bytes, and its header states {size}",
            bytes.len()
        );
        return Err(io::Error::other(text));
    }
    Ok(Cow::Owned(bytes))
}

/// Returns `true` if a section has code.
pub fn is_executable<'data>(section: &impl ObjectSection<'data>) -> bool {
    matches!(section.flags(), SectionFlags::Elf { sh_flags, .. } if sh_flags.contains(elf::SHF_EXECINSTR))
}

/// Returns `true` if a section has no bytes in this file.
fn is_empty<'data>(section: &impl ObjectSection<'data>) -> bool {
    section.file_range().is_none_or(|(_, size)| size == 0)
}
