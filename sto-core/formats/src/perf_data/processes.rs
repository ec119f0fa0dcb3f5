//! The program and mappings of each process at the time of a sample.

use super::lineage::Lineage;
use crate::recording::{
    Location, Module, ModuleIx, ModuleKind, Process, ProcessIx, Thread, ThreadIx,
};
use hashbrown::HashMap;
use std::sync::Arc;
use sto_binary::jit_files::is_injected;
use sto_binary::{AddressSpace, JitDump, Mapping, find_jit_dump, jit_dump_path};
use sto_model::SymbolOptions;
use sto_model::limits::{MAX_PROCESS_NAME, truncate_text};
use sto_model::{GnuBuildId, JIT_MODULE, VDSO};

/// The mapping in a record.
pub(super) struct Mapped<'a> {
    pub(super) pid: u32,
    pub(super) start: u64,
    pub(super) length: u64,
    pub(super) file_offset: u64,
    pub(super) path: &'a str,
    pub(super) executable: bool,
    pub(super) inode: Option<u64>,
    pub(super) build_id: Option<GnuBuildId>,
}

/// The processes, threads and mappings of a recording, updated record by record.
#[derive(Default)]
pub(super) struct Processes {
    pub(super) processes: Vec<Process>,
    pub(super) threads: Vec<Thread>,
    pub(super) modules: Vec<Arc<Module>>,
    module_index: HashMap<Module, ModuleIx>,
    build_ids: HashMap<String, GnuBuildId>,
    kernel: Arc<AddressSpace>,
    live: HashMap<u32, Live>,
    lineage: Lineage,
    /// The entry of each thread under its current name.
    thread_of: HashMap<u32, ThreadIx>,
    /// All entries by thread id, process and name.
    thread_named: HashMap<(u32, ProcessIx, String), ThreadIx>,
    comm_of: HashMap<u32, String>,
    /// Folders to search for jitdumps.
    symbols: SymbolOptions,
    /// Jitdumps by path; `None` if there is no file.
    jit_dumps: HashMap<String, Option<(ModuleIx, Arc<JitDump>)>>,
}

/// A process running one program; `exec` starts another one.
#[derive(Clone, Default)]
struct Live {
    /// Its entry in the recording, made at its first sample.
    process: Option<ProcessIx>,
    main_module: Option<ModuleIx>,
    space: Arc<AddressSpace>,
}

impl Processes {
    pub(super) fn new(symbols: &SymbolOptions) -> Processes {
        Processes {
            symbols: symbols.clone(),
            ..Processes::default()
        }
    }

    /// Adds the build id of a file that the recording lists separately from mappings.
    pub(super) fn add_build_id(&mut self, path: &str, build_id: GnuBuildId) {
        self.build_ids.insert(path.to_owned(), build_id);
    }

    /// Starts a new program in a process, with nothing mapped yet.
    pub(super) fn exec(&mut self, pid: u32) {
        self.lineage.add(pid);
        self.live.insert(pid, Live::default());
    }

    /// Handles `PERF_RECORD_COMM`: a thread has a new name or, with `exec`, a new program.
    pub(super) fn comm(&mut self, pid: u32, tid: u32, name: &str, exec: bool) {
        if exec {
            self.exec(pid);
        }
        self.lineage.add(pid);
        self.comm_of.insert(tid, name.to_owned());
        // Earlier samples keep the name that the thread had.
        self.thread_of.remove(&tid);
    }

    /// Handles `PERF_RECORD_FORK`: a new thread, or a new process that starts as a copy of its
    /// parent.
    pub(super) fn fork(&mut self, pid: u32, tid: u32, parent_pid: u32, parent_tid: u32) {
        if pid != parent_pid {
            let parent = self.live.get(&parent_pid).cloned().unwrap_or_default();
            let child = Live {
                process: None,
                ..parent
            };
            self.live.insert(pid, child);
        }
        self.thread_of.remove(&tid);
        if let Some(name) = self.comm_of.get(&parent_tid).cloned() {
            self.comm_of.insert(tid, name);
        }
    }

    /// Notes that a process started another one during the recording.
    pub(super) fn add_child(&mut self, pid: u32, parent: u32) {
        if pid != parent {
            self.lineage.add_child(pid, parent);
        }
    }

    /// Handles `PERF_RECORD_MMAP2`, or `PERF_RECORD_MMAP` of old kernels, in user space.
    pub(super) fn map_user(&mut self, mapped: Mapped<'_>) {
        self.lineage.add(mapped.pid);
        let end = mapped.start.saturating_add(mapped.length);
        if !mapped.executable {
            let live = self.live.entry(mapped.pid).or_default();
            if live.space.overlaps(mapped.start, end) {
                Arc::make_mut(&mut live.space).unmap(mapped.start, end);
            }
            return;
        }
        if let Some((path, pid)) = jit_dump_path(mapped.path)
            && let Some((module, dump)) = self.jit_dump(path, pid, mapped.inode)
        {
            let live = self.live.entry(mapped.pid).or_default();
            Arc::make_mut(&mut live.space).set_jit_dump(module, dump);
            return;
        }
        let (path, kind) = user_module(mapped.path, mapped.pid);
        if matches!(kind, ModuleKind::ProcessMemory { .. }) && self.covers_program(&mapped) {
            return;
        }
        let build_id = mapped
            .build_id
            .or_else(|| self.build_ids.get(path).cloned());
        let inode = mapped.inode.filter(|_| kind == ModuleKind::File);
        let module = self.module(Module {
            path: path.into(),
            kind,
            build_id,
            inode,
            text_address: None,
            // Each run writes files with other names.
            alias: is_injected(path).then(|| JIT_MODULE.to_owned()),
        });
        let mapping = Mapping {
            start: mapped.start,
            end,
            file_offset: if kind == ModuleKind::File {
                mapped.file_offset
            } else {
                mapped.start
            },
            module,
            file: Arc::clone(&self.modules[module.0 as usize]),
        };
        let live = self.live.entry(mapped.pid).or_default();
        let space = Arc::make_mut(&mut live.space);
        let replaced = replaced_text(space, &mapping);
        space.map(mapping);
        if let Some(replaced) = replaced {
            space.map(replaced);
        }
        if kind != ModuleKind::File || path == VDSO {
            return;
        }
        // The kernel maps the program before its loader and libraries. A loader that is executed itself maps the
        // program, and perf lists the mappings of a process that already runs by address.
        let takes_place = live.main_module.is_none_or(|main| {
            is_library(&self.modules[main.get()]) && !is_library(&self.modules[module.get()])
        });
        if takes_place {
            live.main_module = Some(module);
            if let Some(process) = live.process {
                let process = &mut self.processes[process.0 as usize];
                process.main_module = Some(module);
                process.program = program_of(&self.modules[module.0 as usize]);
            }
        }
    }

    /// Whether memory without a file is mapped over code of the process's program. Programs do that to copy their code
    /// into huge pages (`node --use-largepages=on`).
    fn covers_program(&self, mapped: &Mapped<'_>) -> bool {
        let is_covered = |live: &Live| {
            let covered = live.space.find(mapped.start)?;
            let is_inside = mapped.start.saturating_add(mapped.length) <= covered.end;
            Some(is_inside && Some(covered.module) == live.main_module)
        };
        let live = self.live.get(&mapped.pid);
        live.and_then(is_covered) == Some(true)
    }

    /// The jitdump at a path and its module; each is read once.
    fn jit_dump(
        &mut self,
        path: String,
        pid: u32,
        inode: Option<u64>,
    ) -> Option<(ModuleIx, Arc<JitDump>)> {
        if let Some(known) = self.jit_dumps.get(&path) {
            return known.clone();
        }
        let dump = find_jit_dump(&path, pid, inode, &self.symbols).ok();
        let found = dump.map(|dump| {
            let module = self.module(Module {
                path: path.clone(),
                kind: ModuleKind::JitDump { pid },
                build_id: None,
                inode,
                text_address: None,
                alias: Some(JIT_MODULE.to_owned()),
            });
            (module, Arc::new(dump))
        });
        self.jit_dumps.insert(path, found.clone());
        found
    }

    /// The location for all code of guests of virtual machines.
    pub(super) fn guest_location(&mut self, name: &str) -> Location {
        let module = self.module(Module {
            path: name.to_owned(),
            kind: ModuleKind::Anonymous,
            build_id: None,
            inode: None,
            text_address: None,
            alias: None,
        });
        Location::Address { module, address: 0 }
    }

    /// Handles `PERF_RECORD_MMAP` of the kernel or one of its modules.
    pub(super) fn map_kernel(&mut self, mapped: Mapped<'_>) {
        let main = mapped.path.starts_with("[kernel.kallsyms]") || mapped.path.contains("vmlinux");
        let path = if main { KERNEL } else { mapped.path };
        let kind = if main {
            ModuleKind::Kernel
        } else {
            ModuleKind::KernelModule
        };
        let build_id = mapped
            .build_id
            .or_else(|| self.build_ids.get(path).cloned());
        // For kernel modules `.text` is mapped. simpleperf does not record where the kernel's is.
        let text = if main {
            mapped.file_offset
        } else {
            mapped.start
        };
        let text_address = Some(text).filter(|&address| address != 0);
        let module = self.module(Module {
            path: path.into(),
            kind,
            build_id,
            inode: None,
            text_address,
            alias: None,
        });
        let mapping = Mapping {
            start: mapped.start,
            end: mapped.start.saturating_add(mapped.length),
            file_offset: mapped.start,
            module,
            file: Arc::clone(&self.modules[module.0 as usize]),
        };
        Arc::make_mut(&mut self.kernel).map(mapping);
    }

    /// The mappings of the kernel.
    pub(super) fn kernel(&self) -> &Arc<AddressSpace> {
        &self.kernel
    }

    /// The mappings of a process.
    pub(super) fn address_space(&mut self, pid: u32) -> Arc<AddressSpace> {
        Arc::clone(&self.live.entry(pid).or_default().space)
    }

    /// The entry of a thread, made at its first sample.
    pub(super) fn thread(&mut self, pid: u32, tid: u32) -> ThreadIx {
        let process = self.process(pid);
        if let Some(&thread) = self.thread_of.get(&tid)
            && self.threads[thread.0 as usize].process == process
        {
            return thread;
        }
        let name = self.comm_of.get(&tid).or_else(|| self.comm_of.get(&pid));
        let name = name.cloned().unwrap_or_default();
        let threads = &mut self.threads;
        let thread = *(self.thread_named.entry((tid, process, name))).or_insert_with_key(
            |(tid, process, name)| {
                threads.push(Thread {
                    tid: *tid,
                    name: name.clone(),
                    process: *process,
                    labels: Arc::default(),
                });
                ThreadIx(threads.len() as u32 - 1)
            },
        );
        self.thread_of.insert(tid, thread);
        thread
    }

    /// Returns the process that the user recorded, as the last program that it ran, and adds it if it has no samples.
    /// `None` if several processes were recorded.
    pub(super) fn recorded(&mut self) -> Option<ProcessIx> {
        let program = |pid| {
            let main = self.live.get(&pid).and_then(|live| live.main_module);
            main.map_or("", |main| self.modules[main.get()].name())
        };
        let pid = self.lineage.recorded(program)?;
        let is_known = self.live.get(&pid)?.main_module.is_some();
        is_known.then(|| self.process(pid))
    }

    fn process(&mut self, pid: u32) -> ProcessIx {
        self.lineage.add(pid);
        let live = self.live.entry(pid).or_default();
        if let Some(process) = live.process {
            return process;
        }
        let process = ProcessIx(self.processes.len() as u32);
        live.process = Some(process);
        let program = match live.main_module {
            Some(module) => program_of(&self.modules[module.0 as usize]),
            None if pid == 0 => IDLE.to_owned(),
            None => self.comm_of.get(&pid).cloned().unwrap_or_default(),
        };
        self.processes.push(Process {
            pid,
            program,
            main_module: live.main_module,
        });
        process
    }

    fn module(&mut self, module: Module) -> ModuleIx {
        *self
            .module_index
            .entry(module)
            .or_insert_with_key(|module| {
                self.modules.push(Arc::new(module.clone()));
                ModuleIx(self.modules.len() as u32 - 1)
            })
    }

    /// Returns the modules, with build ids that the recording lists after their mappings (pipe
    /// mode).
    pub(super) fn take_modules(&mut self) -> Vec<Module> {
        let with_build_id = |module: &Arc<Module>| {
            let mut module = Module::clone(module);
            if module.build_id.is_none() {
                module.build_id = self.build_ids.get(&module.path).cloned();
            }
            module
        };
        self.modules.iter().map(with_build_id).collect()
    }
}

/// The module path of the kernel in every recording, whichever image perf found.
pub(super) const KERNEL: &str = "[kernel.kallsyms]";
/// perf's name for process 0.
const IDLE: &str = "swapper";

/// Whether a file is a shared library or a dynamic loader, by its name: `libc.so.6`, `ld-linux-x86-64.so.2`.
pub(super) fn is_library(module: &Module) -> bool {
    let name = module.file_name();
    name.ends_with(".so") || name.contains(".so.")
}

fn program_of(main: &Module) -> String {
    let mut name = main.name().to_owned();
    truncate_text(&mut name, MAX_PROCESS_NAME);
    name
}

/// Returns the mapping of memory without a file that lies between `mapping` and an earlier part of the same file, as the
/// part of the file whose code was copied there: the file's offsets go on behind it.
fn replaced_text(space: &AddressSpace, mapping: &Mapping) -> Option<Mapping> {
    let memory = space.find(mapping.start.checked_sub(1)?)?;
    let before = space.find(memory.start.checked_sub(1)?)?;
    let is_memory = matches!(memory.file.kind, ModuleKind::ProcessMemory { .. });
    let goes_on = before.file_offset_of(mapping.start) == mapping.file_offset;
    (is_memory && before.module == mapping.module && goes_on).then(|| Mapping {
        start: memory.start,
        end: mapping.start,
        file_offset: before.file_offset_of(memory.start),
        ..mapping.clone()
    })
}

/// The path of a user mapping, without what the kernel appends to it, and its kind.
fn user_module(path: &str, pid: u32) -> (&str, ModuleKind) {
    let path = path.strip_suffix(" (deleted)").unwrap_or(path);
    match path {
        VDSO => return (path, ModuleKind::File),
        // Provided by the kernel in every process.
        "[vsyscall]" | "[uprobes]" => return (path, ModuleKind::Anonymous),
        _ => {}
    }
    if path.starts_with("/memfd:") {
        // The program chooses this name, often randomly.
        return ("[memfd]", ModuleKind::ProcessMemory { pid });
    }
    let special = [
        "//anon",
        "/dev/zero",
        "/anon_hugepage",
        "/SYSV",
        "[",
        "anon_inode:",
    ];
    if path.is_empty() || special.iter().any(|start| path.starts_with(start)) {
        return (path, ModuleKind::ProcessMemory { pid });
    }
    (path, ModuleKind::File)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ops::Range;

    fn mapping(range: Range<u64>, file_offset: u64, module: u32, kind: ModuleKind) -> Mapping {
        let module_of = Module {
            path: String::new(),
            kind,
            build_id: None,
            inode: None,
            text_address: None,
            alias: None,
        };
        Mapping {
            start: range.start,
            end: range.end,
            file_offset,
            module: ModuleIx(module),
            file: Arc::new(module_of),
        }
    }

    #[test]
    fn memory_between_parts_of_a_file_is_its_code_if_offsets_go_on() {
        let memory = ModuleKind::ProcessMemory { pid: 7 };
        let mut space = AddressSpace::default();
        space.map(mapping(0x1000..0x3000, 0x400, 0, ModuleKind::File));
        space.map(mapping(0x3000..0x8000, 0x3000, 1, memory));
        let rest = |offset, module| mapping(0x8000..0x9000, offset, module, ModuleKind::File);
        let replaced = replaced_text(&space, &rest(0x7400, 0)).unwrap();
        assert_eq!((replaced.start, replaced.end), (0x3000, 0x8000));
        assert_eq!(
            (replaced.file_offset, replaced.module),
            (0x2400, ModuleIx(0))
        );
        assert!(replaced_text(&space, &rest(0x7500, 0)).is_none());
        assert!(replaced_text(&space, &rest(0x7400, 2)).is_none());
    }
}
