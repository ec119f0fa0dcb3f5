//! Unwinding of saved stacks.

use super::SymbolOptions;
use super::address_space::AddressSpace;
use super::elf::{Elf, ElfFile, Segments};
use super::find::find;
use crate::recording::Module;
use framehop::x86_64::{CacheX86_64, UnwindRegsX86_64, UnwinderX86_64};
use framehop::{ExplicitModuleSectionInfo, FrameAddress, Unwinder as _};
use hashbrown::HashMap;
use object::{Object, ObjectSection};
use std::ops::Range;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// Recovers call stacks from registers and a copy of the stack's memory.
///
/// Processes map the same file at different addresses, but the rules for unwinding belong to the
/// file. So each file is mapped once into an address space of our own, addresses are looked up there,
/// and one cache of rules serves all processes.
pub(crate) struct Unwinder<'a> {
    shared: &'a UnwindFiles<'a>,
    files: Vec<Option<Arc<OnceLock<UnwindFile>>>>,
    /// For code of no known file: has no rules.
    unknown: UnwinderX86_64<Bytes>,
    /// By address: one holds the rules of no more than 509.
    caches: Vec<CacheX86_64>,
}

/// The registers that unwinding starts from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct UserRegs {
    pub(crate) ip: u64,
    pub(crate) sp: u64,
    pub(crate) bp: u64,
}

/// The files that the stacks of a recording are unwound with, each read once for all threads.
pub(crate) struct UnwindFiles<'a> {
    options: &'a SymbolOptions,
    /// By the index of the module.
    files: Mutex<HashMap<usize, Arc<OnceLock<UnwindFile>>>>,
}

/// A file as it is mapped into our address space.
struct UnwindFile {
    base: u64,
    base_svma: u64,
    segments: Segments,
    /// Has this file's rules alone: each that another has more makes what the caches hold of its rules useless.
    unwinder: UnwinderX86_64<Bytes>,
}

type Bytes = Arc<[u8]>;

/// Room for each file: framehop's offsets within a module have 32 bits.
const FILE_SPACE: u64 = 1 << 33;
/// So many that the code which most samples stand in finds its rules there.
const CACHES: usize = 32;
/// Longest stack that is unwound: a guard against rules that go in circles.
const MAX_DEPTH: usize = 4096;

impl<'a> Unwinder<'a> {
    pub(crate) fn new(shared: &'a UnwindFiles<'a>) -> Self {
        Unwinder {
            shared,
            files: Vec::new(),
            unknown: UnwinderX86_64::new(),
            caches: (0..CACHES).map(|_| CacheX86_64::new()).collect(),
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
            let (file, mapped) = self.map(space, address);
            let file = file.and_then(|ix| self.files[ix].as_ref()?.get());
            let unwinder = file.map_or(&self.unknown, |file| &file.unwinder);
            let cache = &mut self.caches[mapped.address_for_lookup() as usize % CACHES];
            match unwinder.unwind_frame(mapped, &mut state, cache, &mut read_stack) {
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

    /// An address of the process in our own address space, with the index of its file in `files`; unchanged where
    /// no file is known.
    fn map(
        &mut self,
        space: &AddressSpace,
        address: FrameAddress,
    ) -> (Option<usize>, FrameAddress) {
        let lookup = address.address_for_lookup();
        let Some(mapping) = space.find(lookup) else {
            return (None, address);
        };
        let ix = mapping.module.get();
        if self.files.len() <= ix {
            self.files.resize_with(ix + 1, || None);
        }
        let offset = mapping.file_offset_of(lookup);
        let file = self.files[ix].get_or_insert_with(|| self.shared.get(ix, &mapping.file));
        let mapped = match file.get().and_then(|file| file.map(offset)) {
            None => return (None, address),
            Some(mapped) if address.is_return_address() => {
                FrameAddress::from_return_address(mapped + 1).unwrap_or(address)
            }
            Some(mapped) => FrameAddress::from_instruction_pointer(mapped),
        };
        (Some(ix), mapped)
    }
}

impl<'a> UnwindFiles<'a> {
    pub(crate) fn new(options: &'a SymbolOptions) -> Self {
        UnwindFiles {
            options,
            files: Mutex::default(),
        }
    }

    fn get(&self, ix: usize, module: &Module) -> Arc<OnceLock<UnwindFile>> {
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        let file = Arc::clone(files.entry(ix).or_default());
        drop(files);
        file.get_or_init(|| self.open(ix, module));
        file
    }

    /// Maps a file, and reads its rules for unwinding.
    fn open(&self, ix: usize, module: &Module) -> UnwindFile {
        let base = (ix as u64 + 1) * FILE_SPACE;
        let mut file = UnwindFile {
            base,
            base_svma: 0,
            segments: Segments::default(),
            unwinder: UnwinderX86_64::new(),
        };
        let Ok(found) = find(module, self.options) else {
            return file;
        };
        let image = found.image.unwrap_or(found.symbols);
        file.segments = image.segments();
        file.base_svma = file.segments.first_address();
        if let Some(sections) = sections(&image, file.base_svma) {
            let range = base..base + FILE_SPACE;
            let module = framehop::Module::new(String::new(), range, base, sections);
            file.unwinder.add_module(module);
        }
        file
    }
}

impl UnwindFile {
    fn map(&self, offset: u64) -> Option<u64> {
        let svma = self.segments.address_of(offset)?;
        let within = svma.checked_sub(self.base_svma)?;
        (within < FILE_SPACE).then(|| self.base + within)
    }
}

/// The sections that have a file's rules for unwinding.
fn sections(file: &ElfFile, base_svma: u64) -> Option<ExplicitModuleSectionInfo<Bytes>> {
    let elf = file.parse().ok()?;
    let section = |name: &str| {
        let section = elf.section_by_name(name)?;
        let svma = section.address()..section.address().checked_add(section.size())?;
        let data = section.data().ok().filter(|data| !data.is_empty())?;
        Some((svma, Bytes::from(data)))
    };
    let (eh_frame_svma, eh_frame) = section(".eh_frame").unzip();
    let eh_frame_hdr = section(".eh_frame_hdr").filter(|(svma, header)| {
        eh_frame_svma
            .as_ref()
            .is_some_and(|eh_frame| is_search_table(header, svma.start, eh_frame))
    });
    let (eh_frame_hdr_svma, eh_frame_hdr) = eh_frame_hdr.unzip();
    Some(ExplicitModuleSectionInfo {
        base_svma,
        text_svma: section_range(&elf, ".text"),
        eh_frame_svma,
        eh_frame,
        eh_frame_hdr_svma,
        eh_frame_hdr,
        debug_frame: section(".debug_frame").map(|(_, section)| section),
        ..ExplicitModuleSectionInfo::default()
    })
}

fn section_range(elf: &Elf<'_>, name: &str) -> Option<Range<u64>> {
    let section = elf.section_by_name(name)?;
    Some(section.address()..section.address().checked_add(section.size())?)
}

/// Whether `.eh_frame_hdr` is as linkers write it: gimli 0.33 adds and multiplies what it says unchecked. Without it the
/// entries of `.eh_frame` are listed.
///
/// Source: *Linux Standard Base Core Specification*, section *Exception Frame Header*.
fn is_search_table(header: &[u8], start: u64, eh_frame: &Range<u64>) -> bool {
    /// Version, and the encodings `DW_EH_PE_pcrel | sdata4`, `udata4` and `DW_EH_PE_datarel | sdata4`.
    const LAYOUT: [u8; 4] = [1, 0x1b, 0x03, 0x3b];
    let word = |at: usize| Some(i32::from_le_bytes(*header.get(at..)?.first_chunk()?));
    let (Some(to_eh_frame), Some(count)) = (word(4), word(8)) else {
        return false;
    };
    let table = header.get(12..).unwrap_or_default().chunks_exact(8);
    header.starts_with(&LAYOUT)
        && start.checked_add_signed(i64::from(to_eh_frame) + 4) == Some(eh_frame.start)
        && usize::try_from(count).is_ok_and(|count| count <= table.len())
        && table.clone().take(count as usize).all(|row| {
            let entry = row[4..]
                .first_chunk()
                .map_or(0, |&entry| i32::from_le_bytes(entry));
            let entry = start.checked_add_signed(entry.into());
            entry.is_some_and(|entry| eh_frame.contains(&entry))
        })
}
