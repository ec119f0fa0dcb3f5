//! Resolves locations in the kernel and its modules.

use super::kallsyms::Kallsyms;
use super::native;
use crate::symbolize::part::{Part, Resolved, Task};
use object::NativeEndian;
use object::elf::{FileHeader64, NT_GNU_BUILD_ID};
use object::read::elf::NoteIterator;
use object::{Object, ObjectSection, ObjectSymbol, ObjectSymbolTable, SymbolKind};
use std::io::Write;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use sto_binary::elf::{Detail, ElfFile, is_executable};
use sto_binary::find::{Found, build_id_entry, find_files, kernel_module_name};
use sto_binary::kernel_module::LoadedModule;
use sto_formats::demangle::demangle;
use sto_formats::recording::{Module, ModuleKind, Recording};
use sto_model::SymbolOptions;
use sto_model::files::{Links, RegularFile};
use sto_model::limits::MAX_PERF_MAP;
use sto_model::{Frame, FrameKind, GnuBuildId};
use sto_model::{Hint, Notice};

/// File name of the uncompressed kernel with symbols.
const VMLINUX: &str = "vmlinux";
/// Maximum size of the kernel's notes; real kernels have about 500 bytes.
const MAX_NOTES: u64 = 1 << 20;

pub(super) struct Kernel<'a> {
    module: Option<&'a Module>,
    options: &'a SymbolOptions,
    list: OnceLock<Result<SymbolList, Notice>>,
}

/// The file of the kernel or of a kernel module.
struct CodeFile {
    found: Found,
    /// Difference between an address in the file and the recorded address.
    shift: u64,
    /// The addresses of code in the file.
    code: Vec<Range<u64>>,
}

impl CodeFile {
    /// Finds the kernel's file if it has debug info; for names only, the symbol list suffices.
    fn find_kernel(kernel: &Module, options: &SymbolOptions) -> Option<CodeFile> {
        let found = find_files(&as_vmlinux(kernel), options).ok()?;
        if found.symbols.detail != Detail::DebugInfo {
            return None;
        }
        let shift = shift_from_recorded(text_address(&found.symbols)?, kernel);
        let segments = found.image.as_ref().unwrap_or(&found.symbols).segments();
        let code = segments.addresses().collect();
        Some(CodeFile { found, shift, code })
    }

    /// Finds the file of a kernel module if it has names.
    fn find_module(module: &Module, options: &SymbolOptions) -> Option<CodeFile> {
        let recorded = module.text_address?;
        let found = find_files(module, options).ok()?;
        let LoadedModule { file, code } = LoadedModule::new(&found.symbols)?;
        if file.detail == Detail::Stripped {
            return None;
        }
        Some(CodeFile {
            found: Found {
                symbols: file,
                image: None,
                ..found
            },
            shift: code.start.wrapping_sub(recorded),
            code: vec![code],
        })
    }
}

/// A list of the recorded kernel's symbols.
struct SymbolList {
    path: PathBuf,
    kallsyms: Kallsyms,
    /// Difference between an address in the list and the recorded address: the kernel has another address after each
    /// boot (KASLR).
    shift: u64,
}

impl<'a> Kernel<'a> {
    pub(super) fn new(recording: &'a Recording, options: &'a SymbolOptions) -> Kernel<'a> {
        let mut modules = recording.modules.iter();
        Kernel {
            module: modules.find(|module| module.kind == ModuleKind::Kernel),
            options,
            list: OnceLock::new(),
        }
    }

    /// Resolves virtual addresses of the kernel or of one of its modules: in its file if one is found by build id,
    /// otherwise in the symbol list.
    pub(super) fn resolve(&self, task: &Task<'_>) -> Resolved {
        let file = match task.module.kind {
            ModuleKind::Kernel => CodeFile::find_kernel(task.module, self.options),
            _ => CodeFile::find_module(task.module, self.options),
        };
        let Some(CodeFile { found, shift, code }) = file else {
            return self.resolve_in_list(task);
        };
        let is_in_file = |address| code.iter().any(|part| part.contains(&address));
        let (inside, outside) = task
            .addresses
            .iter()
            .partition(|(address, _)| is_in_file(address.wrapping_add(shift)));

        let part = |addresses| Task { addresses, ..*task };
        let address_of = |_: &_, address: u64| Some(address.wrapping_add(shift));
        let mut resolved = native::resolve_in(found, &part(inside), self.options, address_of);
        let outside = part(outside);
        if !outside.addresses.is_empty() {
            resolved.parts.extend(self.resolve_in_list(&outside).parts);
        }
        resolved
    }

    fn resolve_in_list(&self, task: &Task<'_>) -> Resolved {
        let module = task.module;
        let wanted = match module.kind {
            ModuleKind::Kernel => None,
            _ => Some(listed_name(module)),
        };
        let list = self.list.get_or_init(|| self.find_list());
        let list = match list {
            Ok(list) if wanted.is_none() || list.shift == 0 => list,
            Ok(list) => {
                let problem = format!(
                    "{} is from another boot than the recording, and kernel modules have other addresses after each boot, so functions of {} stay unresolved; ingest recordings before the machine reboots, or put a copy of the module's file into a folder, and give that folder",
                    list.path.display(),
                    module.path
                );
                return task.unresolved(Some(Notice::new(problem, Hint::SymbolFolder)));
            }
            Err(problem) => return task.unresolved(Some(problem.clone())),
        };

        let mut part = Part::new(task.granularity);
        for &(address, location) in &task.addresses {
            let symbol = list.kallsyms.function_at(address.wrapping_add(list.shift));
            let symbol = symbol.filter(|symbol| symbol.module == wanted.as_deref());
            if let Some(symbol) = symbol {
                part.push_frame(Frame {
                    kind: FrameKind::Kernel,
                    symbol: &demangle(symbol.name),
                    module: module.name(),
                    file: "",
                    line: 0,
                });
                part.finish(location);
            } else {
                part.finish_unresolved(location, module, address);
            }
        }
        Resolved::from_file(part, list.path.clone())
    }

    /// Finds a list of the recorded kernel's symbols: of the same boot if possible, otherwise of the same build.
    fn find_list(&self) -> Result<SymbolList, Notice> {
        let unknown = "the recording has no build id of its kernel, so no list of symbols can be trusted to match it; record without --no-buildid, and not into a pipe";
        let kernel = self.module.ok_or(unknown)?;
        let build_id = kernel.build_id.as_ref().ok_or(unknown)?;

        let mut other_boot = None;
        let mut problem = None;
        let dirs = self
            .options
            .symbol_dirs
            .iter()
            .chain(&self.options.perf_cache);
        let copies = dirs.map(|dir| build_id_entry(dir, build_id).join("kallsyms"));
        let copies = copies.filter(|path| path.is_file()).map(Ok);
        for path in copies.chain(std::iter::once_with(|| self.running_kallsyms(build_id))) {
            match path.and_then(|path| Ok(SymbolList::read(path, kernel)?)) {
                Ok(list) if list.shift == 0 => return Ok(list),
                Ok(list) => other_boot = other_boot.or(Some(list)),
                Err(found) => problem = Some(found),
            }
        }
        let vmlinux = || SymbolList::from_vmlinux(kernel, self.options);
        let found = other_boot.or_else(vmlinux);
        found.ok_or_else(|| problem.unwrap_or_else(|| "".into()))
    }

    /// Returns the path of the running kernel's list, if that kernel was recorded.
    fn running_kallsyms(&self, build_id: &GnuBuildId) -> Result<PathBuf, Notice> {
        let advice = "ingest on the machine that made the recording before its kernel is updated, or copy that machine's /proc/kallsyms to .build-id/AB/CDEF.../kallsyms in a folder, and give that folder";
        let advised =
            |text: String| Err(Notice::new(format!("{text}; {advice}"), Hint::SymbolFolder));
        let (Some(notes), Some(kallsyms)) = (&self.options.kernel_notes, &self.options.kallsyms)
        else {
            return advised(format!(
                "no symbols of the recorded kernel (build id {build_id}) were found"
            ));
        };
        match build_id_in_notes(notes) {
            Some(running) if running == *build_id => Ok(kallsyms.clone()),
            Some(running) => advised(format!(
                "the recorded kernel has build id {build_id}, the running one {running}"
            )),
            None => advised(format!(
                "the recorded kernel has build id {build_id}, and {} has no build id of the running one",
                notes.display()
            )),
        }
    }
}

impl SymbolList {
    /// Makes a list from the kernel's file, if one is found by its build id.
    fn from_vmlinux(kernel: &Module, options: &SymbolOptions) -> Option<SymbolList> {
        let file = find_files(&as_vmlinux(kernel), options).ok()?.symbols;
        let text = to_kallsyms(&file)?;
        SymbolList::new(file.path, text, kernel).ok()
    }

    fn read(path: PathBuf, kernel: &Module) -> Result<SymbolList, String> {
        let text = RegularFile::open(&path, Links::Follow)
            .and_then(|file| file.read(MAX_PERF_MAP))
            .map_err(|error| format!("cannot read {}: {error}", path.display()))?;
        SymbolList::new(path, text, kernel)
    }

    fn new(path: PathBuf, text: Vec<u8>, kernel: &Module) -> Result<SymbolList, String> {
        let kallsyms = Kallsyms::parse(text);
        let Some(text_address) = kallsyms.text_address else {
            return Err(format!(
                "{} has no addresses: the kernel hides them (kptr_restrict); run `sudo sysctl kernel.kptr_restrict=0`, and ingest again",
                path.display()
            ));
        };
        Ok(SymbolList {
            shift: shift_from_recorded(text_address, kernel),
            path,
            kallsyms,
        })
    }
}

/// Returns the kernel as a file module, for the search by build id.
fn as_vmlinux(kernel: &Module) -> Module {
    Module {
        path: VMLINUX.to_owned(),
        kind: ModuleKind::File,
        ..kernel.clone()
    }
}

/// Returns the difference between addresses of a kernel whose code begins at `text`, and the recorded addresses.
fn shift_from_recorded(text: u64, kernel: &Module) -> u64 {
    let recorded = kernel.text_address.filter(|&address| address != 0);
    recorded.map_or(0, |recorded| text.wrapping_sub(recorded))
}

/// Returns the start address of the kernel's code.
fn text_address(vmlinux: &ElfFile) -> Option<u64> {
    let elf = vmlinux.parse().ok()?;
    let address_of = |name: &str| {
        let mut symbols = elf.symbol_table()?.symbols();
        symbols
            .find(|symbol| symbol.name() == Ok(name))
            .map(|symbol| symbol.address())
    };
    address_of("_text").or_else(|| address_of("_stext"))
}

/// Converts the symbol table of the kernel's file to the format of `/proc/kallsyms`.
fn to_kallsyms(vmlinux: &ElfFile) -> Option<Vec<u8>> {
    let elf = vmlinux.parse().ok()?;
    let code: Vec<_> = elf.sections().filter(is_executable).collect();
    let is_in_code = |section| code.iter().any(|code| Some(code.index()) == section);
    let mut symbols: Vec<_> = elf.symbol_table()?.symbols().collect();
    symbols.retain(|symbol| !symbol.is_undefined());
    // Of several symbols at one address the last one counts, so functions come after labels such as `_text`.
    symbols.sort_by_key(|symbol| symbol.kind() == SymbolKind::Text);
    let mut text = Vec::new();
    for symbol in symbols {
        let name = symbol.name_bytes().unwrap_or_default();
        if name.is_empty() || name.starts_with(b"$") || name.iter().any(u8::is_ascii_whitespace) {
            continue;
        }
        // A data symbol ends the function before it.
        let kind = if is_in_code(symbol.section_index()) {
            'T'
        } else {
            'd'
        };
        let _ = write!(text, "{:x} {kind} ", symbol.address());
        text.extend([name, b"\n"].concat());
    }
    Some(text)
}

/// Reads the kernel's build id from its notes (`/sys/kernel/notes`).
fn build_id_in_notes(path: &Path) -> Option<GnuBuildId> {
    let file = RegularFile::open(path, Links::Follow).ok()?;
    let notes = file.read(MAX_NOTES).ok()?;
    let mut notes: NoteIterator<'_, FileHeader64<NativeEndian>> =
        NoteIterator::new(NativeEndian, 4, &notes).ok()?;
    while let Ok(Some(note)) = notes.next() {
        if note.name() == b"GNU" && note.n_type(NativeEndian) == NT_GNU_BUILD_ID {
            return GnuBuildId::from_bytes(note.desc());
        }
    }
    None
}

/// Returns the name of a kernel module in kallsyms, which has underscores for dashes.
fn listed_name(module: &Module) -> String {
    let name = module.name();
    kernel_module_name(name).unwrap_or(name).replace('-', "_")
}
