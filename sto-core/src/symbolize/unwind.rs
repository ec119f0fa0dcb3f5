//! Unwinding of saved stacks.

use crate::formats::{AddressSpace, Module, UserRegs};
use crate::symbolize::SymbolOptions;
use framehop::x86_64::{CacheX86_64, UnwindRegsX86_64, UnwinderX86_64};
use framehop::{ExplicitModuleSectionInfo, FrameAddress, Unwinder as _};
use memmap2::Mmap;
use object::{Object, ObjectSection, ObjectSegment};
use std::ops::{Deref, Range};
use std::path::PathBuf;
use std::sync::Arc;

/// Recovers call stacks from registers and a copy of the stack's memory.
///
/// Processes map the same file at different addresses, but the rules for unwinding belong to the
/// file. So each file has one place in an address space of our own, addresses are looked up there,
/// and one cache of rules serves all processes.
pub(crate) struct Unwinder<'a> {
    options: &'a SymbolOptions,
    files: Vec<Option<UnwindFile>>,
    framehop: UnwinderX86_64<Section>,
    cache: CacheX86_64,
}

/// A file's place in our address space.
struct UnwindFile {
    base: u64,
    base_svma: u64,
    segments: Vec<Segment>,
}

struct Segment {
    file_range: Range<u64>,
    svma: u64,
}

/// Room for each file: framehop's offsets within a module have 32 bits.
const FILE_SPACE: u64 = 1 << 33;
/// Longest stack that is unwound: a guard against rules that go in circles.
const MAX_DEPTH: usize = 4096;

impl<'a> Unwinder<'a> {
    pub(crate) fn new(options: &'a SymbolOptions) -> Self {
        Unwinder {
            options,
            files: Vec::new(),
            framehop: UnwinderX86_64::new(),
            cache: CacheX86_64::new(),
        }
    }

    /// Appends the stack's addresses, innermost first: the instruction pointer, then return
    /// addresses. False if it ends before its root.
    pub(crate) fn unwind(
        &mut self,
        space: &AddressSpace,
        regs: UserRegs,
        stack: &[u8],
        addresses: &mut Vec<u64>,
    ) -> bool {
        let mut read_stack = |address: u64| {
            let at = usize::try_from(address.wrapping_sub(regs.sp)).map_err(|_| ())?;
            let word = stack
                .get(at..)
                .and_then(|rest| rest.first_chunk::<8>())
                .ok_or(())?;
            Ok(u64::from_le_bytes(*word))
        };
        let mut state = UnwindRegsX86_64::new(regs.ip, regs.sp, regs.bp);
        let mut address = FrameAddress::from_instruction_pointer(regs.ip);
        addresses.push(regs.ip);
        while addresses.len() < MAX_DEPTH {
            let place = self.place(space, address);
            match self
                .framehop
                .unwind_frame(place, &mut state, &mut self.cache, &mut read_stack)
            {
                Ok(Some(caller)) => {
                    addresses.push(caller);
                    match FrameAddress::from_return_address(caller) {
                        Some(caller) => address = caller,
                        None => return true,
                    }
                }
                Ok(None) => return true,
                Err(_) => return false,
            }
        }
        false
    }

    /// An address of the process in our own address space; as it is where no file is known.
    fn place(&mut self, space: &AddressSpace, address: FrameAddress) -> FrameAddress {
        let lookup = address.address_for_lookup();
        let Some(mapping) = space.find(lookup) else {
            return address;
        };
        let ix = mapping.module.0 as usize;
        if self.files.len() <= ix {
            self.files.resize_with(ix + 1, || None);
        }
        let offset = mapping.file_offset_of(lookup);
        let file = match &self.files[ix] {
            Some(file) => file,
            None => {
                let file = self.open(ix, &mapping.file);
                self.files[ix].insert(file)
            }
        };
        match file.place(offset) {
            None => address,
            Some(place) if address.is_return_address() => {
                FrameAddress::from_return_address(place + 1).unwrap_or(address)
            }
            Some(place) => FrameAddress::from_instruction_pointer(place),
        }
    }

    /// Gives a file its place, and its unwinding rules to framehop.
    fn open(&mut self, ix: usize, module: &Module) -> UnwindFile {
        let base = (ix as u64 + 1) * FILE_SPACE;
        let nothing = UnwindFile {
            base,
            base_svma: 0,
            segments: Vec::new(),
        };
        let Some(path) = find(module, self.options) else {
            return nothing;
        };
        let Some((file, sections)) = read(&path, base) else {
            return nothing;
        };
        let end = base + FILE_SPACE;
        self.framehop.add_module(framehop::Module::new(
            String::new(),
            base..end,
            base,
            sections,
        ));
        file
    }
}

impl UnwindFile {
    fn place(&self, offset: u64) -> Option<u64> {
        let segment = self
            .segments
            .iter()
            .find(|segment| segment.file_range.contains(&offset))?;
        let svma = segment.svma + (offset - segment.file_range.start);
        Some(self.base + svma.checked_sub(self.base_svma)?)
    }
}

/// A part of a mapped file.
#[derive(Clone)]
struct Section {
    file: Arc<Mmap>,
    range: Range<usize>,
}

impl Deref for Section {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.file[self.range.clone()]
    }
}

fn read(path: &PathBuf, base: u64) -> Option<(UnwindFile, ExplicitModuleSectionInfo<Section>)> {
    let file = std::fs::File::open(path).ok()?;
    // SAFETY: the map is only read; a file that shrinks meanwhile raises SIGBUS, as for any tool
    // that maps the files it is given.
    let file = Arc::new(unsafe { Mmap::map(&file) }.ok()?);
    let elf = object::File::parse(&file[..]).ok()?;
    let segments: Vec<Segment> = elf
        .segments()
        .map(|segment| {
            let (offset, size) = segment.file_range();
            Segment {
                file_range: offset..offset.saturating_add(size),
                svma: segment.address(),
            }
        })
        .collect();
    let base_svma = segments.iter().map(|segment| segment.svma).min()?;
    let section = |name: &str| {
        let section = elf.section_by_name(name)?;
        let (offset, size) = section.file_range()?;
        let range =
            usize::try_from(offset).ok()?..usize::try_from(offset.checked_add(size)?).ok()?;
        file.get(range.clone())?;
        let svma = section.address()..section.address().checked_add(size)?;
        Some((
            svma,
            Section {
                file: Arc::clone(&file),
                range,
            },
        ))
    };
    let (text_svma, text) = section(".text").unzip();
    let (eh_frame_svma, eh_frame) = section(".eh_frame").unzip();
    let (eh_frame_hdr_svma, eh_frame_hdr) = section(".eh_frame_hdr").unzip();
    let sections = ExplicitModuleSectionInfo {
        base_svma,
        text_svma,
        text,
        eh_frame_svma,
        eh_frame,
        eh_frame_hdr_svma,
        eh_frame_hdr,
        debug_frame: section(".debug_frame").map(|(_, section)| section),
        stubs_svma: None,
        stub_helper_svma: None,
        got_svma: None,
        unwind_info: None,
        text_segment_svma: None,
        text_segment: None,
    };
    Some((
        UnwindFile {
            base,
            base_svma,
            segments,
        },
        sections,
    ))
}
fn find(module: &Module, _options: &SymbolOptions) -> Option<PathBuf> {
    Some(PathBuf::from(&module.path)).filter(|p| p.is_file())
}
