//! Looks up symbols in files, by the kind of module.

mod build_ids;
mod chunk;
mod debug_info;
mod fde;
mod jit;
mod kallsyms;
mod kernel;
mod native;
mod plt;
mod section;
mod split;
mod symtab;

use super::part::{Resolved, Task};
pub(crate) use build_ids::add_build_ids;
use sto_binary::jit_files::is_injected;
use sto_formats::recording::{GUEST_MODULES, Module, ModuleKind, Recording};
use sto_model::{SymbolOptions, VDSO};

/// The state shared by the lookups of all modules of a recording.
pub(super) struct Lookup<'a> {
    recording: &'a Recording,
    options: &'a SymbolOptions,
    kernel: kernel::Kernel<'a>,
}

impl<'a> Lookup<'a> {
    pub(super) fn new(recording: &'a Recording, options: &'a SymbolOptions) -> Lookup<'a> {
        Lookup {
            recording,
            options,
            kernel: kernel::Kernel::new(recording, options),
        }
    }

    /// Resolves the addresses of a module.
    pub(super) fn resolve(&self, task: &Task<'_>) -> Resolved {
        let options = self.options;
        match task.module.kind {
            ModuleKind::File if is_injected(&task.module.path) => {
                jit::resolve_injected(task, options)
            }
            ModuleKind::File | ModuleKind::Image | ModuleKind::FunctionStarts => {
                native::resolve(task, options)
            }
            ModuleKind::Kernel | ModuleKind::KernelModule => self.kernel.resolve(task),
            ModuleKind::Anonymous => task.unresolved(anonymous_problem(task.module)),
            ModuleKind::ProcessMemory { pid } => {
                jit::resolve_memory(task, pid, self.recording, options)
            }
            ModuleKind::JitDump { pid } => jit::resolve_dump(task, pid, options),
        }
    }
}

fn anonymous_problem(module: &Module) -> Option<String> {
    let path = module.path.as_str();
    match path {
        VDSO | "[vsyscall]" | "[uprobes]" => None,
        path if GUEST_MODULES.contains(&path) => Some(format!(
            "{path} is code of a virtual machine's guest, for which the recording has no addresses; to see its functions, record inside the guest"
        )),
        path => Some(format!(
            "{path} is memory without a file, so its code has no symbols; it was probably generated at run time (JIT)"
        )),
    }
}
