//! Unwinding of saved stacks.

use crate::formats::{AddressSpace, Module, UserRegs};
use crate::symbolize::SymbolOptions;
use crate::symbolize::elf::{ElfFile, Segments};
use crate::symbolize::find::find;
use framehop::x86_64::{CacheX86_64, UnwindRegsX86_64, UnwinderX86_64};
use framehop::{ExplicitModuleSectionInfo, FrameAddress, Unwinder as _};
use object::{Object, ObjectSection};
use std::ops::{Deref, Range};
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
    segments: Segments,
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
        let mut file = UnwindFile {
            base,
            base_svma: 0,
            segments: Segments::default(),
        };
        let Ok(found) = find(module, self.options) else {
            return file;
        };
        let image = Arc::new(found.image.unwrap_or(found.symbols));
        file.segments = image.segments();
        file.base_svma = file.segments.first_address();
        if let Some(sections) = sections(&image, file.base_svma) {
            let range = base..base + FILE_SPACE;
            let module = framehop::Module::new(String::new(), range, base, sections);
            self.framehop.add_module(module);
        }
        file
    }
}

impl UnwindFile {
    fn place(&self, offset: u64) -> Option<u64> {
        let svma = self.segments.address_of(offset)?;
        let within = svma.checked_sub(self.base_svma)?;
        (within < FILE_SPACE).then_some(self.base + within)
    }
}

/// A section of a mapped file.
#[derive(Clone)]
struct Section {
    file: Arc<ElfFile>,
    range: Range<usize>,
}

impl Deref for Section {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.file.bytes()[self.range.clone()]
    }
}

fn sections(file: &Arc<ElfFile>, base_svma: u64) -> Option<ExplicitModuleSectionInfo<Section>> {
    let elf = file.parse().ok()?;
    let section = |name: &str| {
        let section = elf.section_by_name(name)?;
        let (offset, size) = section.file_range()?;
        let start = usize::try_from(offset).ok()?;
        let range = start..start.checked_add(usize::try_from(size).ok()?)?;
        file.bytes().get(range.clone())?;
        let svma = section.address()..section.address().checked_add(size)?;
        let file = Arc::clone(file);
        Some((svma, Section { file, range }))
    };
    let (text_svma, text) = section(".text").unzip();
    let (eh_frame_svma, eh_frame) = section(".eh_frame").unzip();
    let (eh_frame_hdr_svma, eh_frame_hdr) = section(".eh_frame_hdr").unzip();
    Some(ExplicitModuleSectionInfo {
        base_svma,
        text_svma,
        text,
        stubs_svma: None,
        stub_helper_svma: None,
        got_svma: None,
        unwind_info: None,
        eh_frame_svma,
        eh_frame,
        eh_frame_hdr_svma,
        eh_frame_hdr,
        debug_frame: section(".debug_frame").map(|(_, section)| section),
        text_segment_svma: None,
        text_segment: None,
    })
}
