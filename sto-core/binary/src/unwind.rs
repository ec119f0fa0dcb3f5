//! Unwinding of saved stacks: call stacks from registers and a copy of the stack's memory.

use super::address_space::AddressSpace;
use super::elf::{Elf, ElfFile, Segments};
use super::find::find_files;
use super::jit_dump::JitDump;
use super::machine::{Aarch64, Arch, Bytes, Machine, UserRegs, X86_64};
use super::signed_returns::without_signing;
use framehop::{ExplicitModuleSectionInfo, FrameAddress, Unwinder as _};
use hashbrown::HashMap;
use object::{Architecture, Object, ObjectSection};
use std::ops::Range;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use sto_model::Module;
use sto_model::SymbolOptions;
use sto_model::bytes::{u32_at, u64_at};

/// The unwinding rules of a recording's files. Each file is read once, and shared by all threads.
pub struct UnwindFiles<'a>(Files<'a>);

enum Files<'a> {
    X86_64(ArchFiles<'a, X86_64>),
    Aarch64(ArchFiles<'a, Aarch64>),
}

/// An unwinder of saved stacks, used by one thread.
pub trait Unwind {
    /// Appends the addresses of a stack, innermost first: the instruction pointer, then the return addresses.
    ///
    /// `time` is the time of the recording's clock, by which generated code is found; `None` stands for its end. Returns
    /// `false` if the stack ends before its root.
    fn unwind(
        &mut self,
        space: &AddressSpace,
        time: Option<u64>,
        regs: UserRegs,
        stack: &[u8],
        addresses: &mut Vec<u64>,
    ) -> bool;

    /// Returns the caller of the code at `ip` if, by the rules of its file, the link register has its address.
    fn caller_in_link(&mut self, space: &AddressSpace, ip: u64, link: u64) -> Option<u64>;

    /// Returns `true` if, by the rules of its file, the code at `ip` does not have its caller in the frame that the frame
    /// pointer points to: its function has no such frame, has not set it up yet, or has left it.
    fn is_without_frame(&mut self, space: &AddressSpace, ip: u64) -> bool;
}

impl<'a> UnwindFiles<'a> {
    /// Creates an empty set for recordings of a machine; files are found by `options` when they are needed.
    pub fn new(machine: Machine, options: &'a SymbolOptions) -> Self {
        UnwindFiles(match machine {
            Machine::Aarch64 => Files::Aarch64(ArchFiles::new(options)),
            // No stack of other machines is unwound.
            Machine::X86_64 | Machine::Other => Files::X86_64(ArchFiles::new(options)),
        })
    }

    /// Creates an unwinder for one thread.
    pub fn unwinder(&'a self) -> Box<dyn Unwind + 'a> {
        match &self.0 {
            Files::X86_64(files) => Box::new(Unwinder::new(files)),
            Files::Aarch64(files) => Box::new(Unwinder::new(files)),
        }
    }
}

/// The unwinder of one thread.
///
/// Processes map the same file at different addresses, but the unwinding rules belong to the file. Therefore each file
/// is mapped once into an address space of the unwinder's own, addresses are translated to it, and one cache of rules
/// serves all processes.
struct Unwinder<'a, A: Arch> {
    shared: &'a ArchFiles<'a, A>,
    /// By the index of the module.
    files: Vec<Option<Arc<OnceLock<UnwindFile<A>>>>>,
    /// An unwinder without rules, for code of no known file.
    unknown: A::Unwinder,
    /// Selected by address, as one cache has room for only 509 rules.
    caches: Vec<A::Cache>,
}

struct ArchFiles<'a, A: Arch> {
    options: &'a SymbolOptions,
    /// By the index of the module.
    files: Mutex<HashMap<usize, Arc<OnceLock<UnwindFile<A>>>>>,
}

/// A file, mapped into the unwinder's own address space.
struct UnwindFile<A: Arch> {
    base: u64,
    base_svma: u64,
    segments: Segments,
    /// Has the rules of this file only: adding a module to a framehop unwinder invalidates the rules in its caches.
    unwinder: A::Unwinder,
}

/// The code of a process at a time.
#[derive(Clone, Copy)]
struct Code<'a> {
    space: &'a AddressSpace,
    time: Option<u64>,
}

/// The source of a module's unwinding rules.
enum Rules<'a> {
    File(&'a Module),
    JitDump(&'a JitDump),
}

/// Size of the address range of each file; framehop's offsets within a module have 32 bits.
const FILE_SPACE: u64 = 1 << 33;
/// Enough for the rules of the code in which most samples were taken.
const CACHES: usize = 32;
/// Maximum number of frames of a stack; a guard against rules that never reach a root.
const MAX_DEPTH: usize = 4096;

impl<A: Arch> Unwind for Unwinder<'_, A> {
    fn unwind(
        &mut self,
        space: &AddressSpace,
        time: Option<u64>,
        regs: UserRegs,
        stack: &[u8],
        addresses: &mut Vec<u64>,
    ) -> bool {
        let code = Code { space, time };
        let mut read_stack = |address: u64| {
            let at = usize::try_from(address.wrapping_sub(regs.sp)).map_err(|_| ())?;
            u64_at(stack, at).ok_or(())
        };
        let mut state = A::initial_regs(regs, space.end());
        let mut address = FrameAddress::from_instruction_pointer(regs.ip);
        addresses.push(regs.ip);
        while addresses.len() < MAX_DEPTH {
            match self.step(code, address, &mut state, &mut read_stack) {
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

    fn caller_in_link(&mut self, space: &AddressSpace, ip: u64, link: u64) -> Option<u64> {
        let regs = UserRegs {
            ip,
            link,
            ..UserRegs::default()
        };
        let mut is_on_stack = false;
        let mut read_stack = |_| {
            is_on_stack = true;
            Err(())
        };
        let mut state = A::initial_regs(regs, space.end());
        let ip = FrameAddress::from_instruction_pointer(ip);
        let code = Code { space, time: None };
        let caller = self.step(code, ip, &mut state, &mut read_stack);
        caller.ok().flatten().filter(|_| !is_on_stack)
    }

    fn is_without_frame(&mut self, space: &AddressSpace, ip: u64) -> bool {
        // Far from each other, so that an address shows the register from which it was computed.
        let regs = UserRegs {
            ip,
            sp: 1 << 40,
            fp: 1 << 44,
            ..UserRegs::default()
        };
        let mut is_in_frame = false;
        let mut read_stack = |address: u64| {
            is_in_frame |= address >= regs.fp;
            Err(())
        };
        let mut state = A::initial_regs(regs, space.end());
        // Without rules, framehop assumes that interrupted code has no frame, and that code that called has one.
        let Some(ip) = FrameAddress::from_return_address(ip + 1) else {
            return false;
        };
        let code = Code { space, time: None };
        let _ = self.step(code, ip, &mut state, &mut read_stack);
        !is_in_frame
    }
}

impl<'a, A: Arch> Unwinder<'a, A> {
    fn new(shared: &'a ArchFiles<'a, A>) -> Self {
        Unwinder {
            shared,
            files: Vec::new(),
            unknown: A::Unwinder::default(),
            caches: (0..CACHES).map(|_| A::Cache::default()).collect(),
        }
    }

    fn step(
        &mut self,
        code: Code<'_>,
        address: FrameAddress,
        state: &mut A::Regs,
        read_stack: &mut impl FnMut(u64) -> Result<u64, ()>,
    ) -> Result<Option<u64>, framehop::Error> {
        let (file, mapped) = self.translate(code, address);
        let file = file.and_then(|ix| self.files[ix].as_ref()?.get());
        let unwinder = file.map_or(&self.unknown, |file| &file.unwinder);
        let cache = &mut self.caches[mapped.address_for_lookup() as usize % CACHES];
        unwinder.unwind_frame(mapped, state, cache, read_stack)
    }

    /// Translates an address of the process to the unwinder's address space, and returns the index of its file in
    /// `files`. An address of no known file stays unchanged.
    fn translate(
        &mut self,
        Code { space, time }: Code<'_>,
        address: FrameAddress,
    ) -> (Option<usize>, FrameAddress) {
        let lookup = address.address_for_lookup();
        let in_dump = space.find_jit_code(lookup, time);
        let in_dump = in_dump.map(|(module, dump, offset)| (module, offset, Rules::JitDump(dump)));
        let in_file = || {
            let mapping = space.find(lookup)?;
            let offset = mapping.file_offset_of(lookup);
            Some((mapping.module, offset, Rules::File(&mapping.file)))
        };
        let Some((module, offset, rules)) = in_dump.or_else(in_file) else {
            return (None, address);
        };
        let ix = module.get();
        if self.files.len() <= ix {
            self.files.resize_with(ix + 1, || None);
        }
        let file = self.files[ix].get_or_insert_with(|| self.shared.get(ix, rules));
        let mapped = match file.get().and_then(|file| file.address_of(offset)) {
            None => return (None, address),
            Some(mapped) if address.is_return_address() => {
                FrameAddress::from_return_address(mapped + 1).unwrap_or(address)
            }
            Some(mapped) => FrameAddress::from_instruction_pointer(mapped),
        };
        (Some(ix), mapped)
    }
}

impl<'a, A: Arch> ArchFiles<'a, A> {
    fn new(options: &'a SymbolOptions) -> Self {
        ArchFiles {
            options,
            files: Mutex::default(),
        }
    }

    fn get(&self, ix: usize, rules: Rules<'_>) -> Arc<OnceLock<UnwindFile<A>>> {
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        let file = Arc::clone(files.entry(ix).or_default());
        drop(files);
        file.get_or_init(|| match rules {
            Rules::File(module) => self.open(ix, module),
            Rules::JitDump(dump) => open_jit_dump(ix, dump),
        });
        file
    }

    /// Maps a file and reads its unwinding rules.
    fn open(&self, ix: usize, module: &Module) -> UnwindFile<A> {
        let base = (ix as u64 + 1) * FILE_SPACE;
        let mut file = UnwindFile {
            base,
            base_svma: 0,
            segments: Segments::default(),
            unwinder: A::Unwinder::default(),
        };
        let Ok(found) = find_files(module, self.options) else {
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

/// Maps a jitdump and reads the unwinding rules of its functions.
fn open_jit_dump<A: Arch>(ix: usize, dump: &JitDump) -> UnwindFile<A> {
    let base = (ix as u64 + 1) * FILE_SPACE;
    let mut unwinder = A::Unwinder::default();
    for (code, eh_frame) in dump.unwinding_rules() {
        let code = base + code.start as u64..base + code.end as u64;
        let eh_frame_start = code.start + (code.end - code.start).next_multiple_of(8);
        let sections = ExplicitModuleSectionInfo {
            base_svma: code.start,
            text_svma: Some(code.clone()),
            eh_frame_svma: Some(eh_frame_start..eh_frame_start + eh_frame.len() as u64),
            eh_frame: Some(Bytes::from(eh_frame)),
            ..ExplicitModuleSectionInfo::default()
        };
        let start = code.start;
        unwinder.add_module(framehop::Module::new(String::new(), code, start, sections));
    }
    UnwindFile {
        base,
        base_svma: 0,
        segments: Segments::whole(FILE_SPACE),
        unwinder,
    }
}

impl<A: Arch> UnwindFile<A> {
    fn address_of(&self, offset: u64) -> Option<u64> {
        let svma = self.segments.address_of(offset)?;
        let within = svma.checked_sub(self.base_svma)?;
        (within < FILE_SPACE).then(|| self.base + within)
    }
}

/// Reads the sections with the unwinding rules of a file.
fn sections(file: &ElfFile, base_svma: u64) -> Option<ExplicitModuleSectionInfo<Bytes>> {
    let elf = file.parse().ok()?;
    let section = |name: &str| {
        let section = elf.section_by_name(name)?;
        let svma = section.address()..section.address().checked_add(section.size())?;
        let data = section.data().ok().filter(|data| !data.is_empty())?;
        Some((svma, Bytes::from(data)))
    };
    let (eh_frame_svma, mut eh_frame) = section(".eh_frame").unzip();
    if elf.architecture() == Architecture::Aarch64 {
        eh_frame = eh_frame.map(|section| without_signing(section.to_vec()).into());
    }
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

/// Returns `true` if `.eh_frame_hdr` has the layout that linkers write, and all its entries are within `.eh_frame`.
///
/// gimli 0.33 does arithmetic with its numbers unchecked. Without the header, framehop lists the entries of
/// `.eh_frame` itself.
///
/// Source: *Linux Standard Base Core Specification*, section *Exception Frame Header*.
fn is_search_table(header: &[u8], start: u64, eh_frame: &Range<u64>) -> bool {
    /// Version 1, and the encodings `DW_EH_PE_pcrel | sdata4`, `udata4` and `DW_EH_PE_datarel | sdata4`.
    const LAYOUT: [u8; 4] = [1, 0x1b, 0x03, 0x3b];
    let word = |at: usize| u32_at(header, at).map(|word| word as i32);
    let (Some(to_eh_frame), Some(count)) = (word(4), word(8)) else {
        return false;
    };
    let table = header.get(12..).unwrap_or_default().chunks_exact(8);
    header.starts_with(&LAYOUT)
        && start.checked_add_signed(i64::from(to_eh_frame) + 4) == Some(eh_frame.start)
        && usize::try_from(count).is_ok_and(|count| count <= table.len())
        && table.clone().take(count as usize).all(|row| {
            let entry = u32_at(row, 4).unwrap_or_default() as i32;
            let entry = start.checked_add_signed(entry.into());
            entry.is_some_and(|entry| eh_frame.contains(&entry))
        })
}
