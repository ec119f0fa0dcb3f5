//! Resolves locations in code that was generated at run time, by perf maps and jitdumps.

mod map;
mod name;

use crate::symbolize::part::{Part, Resolved, Task};
use map::PerfMap;
use object::{Object, ObjectSymbol, SymbolKind};
use std::fs::Metadata;
use std::io;
use std::path::Path;
use std::time::SystemTime;
use sto_binary::JitFunction;
use sto_binary::find::find_files;
use sto_binary::jit_files::{
    copied_paths, find_jit_dump, is_owned_by_process, is_trusted_owner, path_in_process,
    untrusted_owner,
};
use sto_formats::demangle::{demangle, name_prefix};
use sto_formats::recording::Recording;
use sto_model::files::{Links, RegularFile, own_id_of_process};
use sto_model::units::UnixSeconds;
use sto_model::{FrameKind, FrameRow};
use sto_model::{JIT_MODULE, SymbolOptions, normalize_source_path};

/// Resolves offsets in a jitdump.
pub(super) fn resolve_dump(task: &Task<'_>, pid: u32, options: &SymbolOptions) -> Resolved {
    // It was found when the recording was read, but may have changed since.
    let dump = match find_jit_dump(&task.module.path, pid, task.module.inode, options) {
        Ok(dump) => dump,
        Err(problem) => return task.unresolved(Some(problem)),
    };
    let mut functions = dump.functions();
    let part = resolve(task, |offset| functions.at(offset));
    Resolved::from_file(part, dump.path)
}

/// Resolves offsets in a file with one function, which `perf inject --jit` made from a jitdump.
pub(super) fn resolve_injected(task: &Task<'_>, options: &SymbolOptions) -> Resolved {
    let file = match find_files(task.module, options) {
        Ok(found) => found.symbols,
        Err(problem) => return task.unresolved(Some(problem)),
    };
    let elf = match file.parse() {
        Ok(elf) => elf,
        Err(error) => {
            let problem = format!("{} is not a valid ELF file: {error}", file.path.display());
            return task.unresolved(Some(problem));
        }
    };
    let mut symbols = elf.symbols();
    let function = symbols.find(|symbol| symbol.kind() == SymbolKind::Text);
    let name = function.and_then(|symbol| symbol.name_bytes().ok());
    let part = resolve(task, |_| {
        let name = name?;
        Some(JitFunction { name, line: None })
    });
    Resolved::from_file(part, file.path.clone())
}

/// Resolves virtual addresses in memory without a file, which may have generated code.
pub(super) fn resolve_memory(
    task: &Task<'_>,
    pid: u32,
    recording: &Recording,
    options: &SymbolOptions,
) -> Resolved {
    let map = match find_map(pid, recording, options) {
        Ok(map) => map,
        Err(why) => {
            return task.unresolved(Some(format!(
                "{} is memory without a file, probably with code generated at run time (JIT), and {why}",
                task.module.path
            )));
        }
    };
    let mut name_at = map.names();
    let part = resolve(task, |address| {
        let name = name_at(address)?;
        Some(JitFunction { name, line: None })
    });
    Resolved::from_file(part, map.path.clone())
}

/// Resolves addresses with `find`, which is called with ascending addresses.
fn resolve<'n>(task: &Task<'_>, mut find: impl FnMut(u64) -> Option<JitFunction<'n>>) -> Part {
    let mut part = Part::new(task.granularity);
    for (address, location) in task.sorted_addresses() {
        match find(address) {
            Some(function) => {
                push(&mut part, function.name, function.line);
                part.finish(location);
            }
            None => part.finish_unresolved(location, task.module, address),
        }
    }
    part
}

fn push(part: &mut Part, name: &[u8], line: Option<(&[u8], u32)>) {
    let text = String::from_utf8_lossy(name_prefix(name));
    let function = name::parse(&text);
    let symbol = match function.kind {
        // Some compilers write mangled C++ or Rust names.
        FrameKind::Jit => demangle(function.symbol.as_bytes()),
        _ => sto_model::limits::truncate_name(function.symbol),
    };
    let line_file = line.map(|(file, _)| String::from_utf8_lossy(name_prefix(file)));
    let file = match function.file {
        "" => line_file.as_deref().unwrap_or_default(),
        file => file,
    };
    let frame = FrameRow {
        kind: function.kind,
        symbol: part.intern(&symbol),
        module: part.intern(JIT_MODULE),
        file: part.intern(&normalize_source_path(file)),
        line: line.map_or(0, |(_, line)| line),
    };
    part.push(frame);
}

/// Finds the perf map of a process: a copy by the user, otherwise the file in the folder where programs write them, in
/// the process's container if it is still running.
///
/// If the process has ended, the file must have been written while the recording was made: process ids are reused, and
/// old maps stay.
fn find_map(pid: u32, recording: &Recording, options: &SymbolOptions) -> Result<PerfMap, String> {
    let name = format!("perf-{pid}.map");
    let unreadable =
        |path: &Path, error: &io::Error| format!("cannot read {}: {error}", path.display());
    let mut refused = None;
    for path in copied_paths(&name, options) {
        let map =
            RegularFile::open(&path, Links::Follow).and_then(|file| PerfMap::read(&file, &path));
        match map {
            Ok(map) => return Ok(map),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => refused = refused.or(Some(unreadable(&path, &error))),
        }
    }
    let not_found = || {
        refused.unwrap_or_else(|| {
            format!(
                "there is no perf map of process {pid}; have the program write one (node --perf-basic-prof, python -X perf; for Java, record with JDK Flight Recorder instead), and copy it next to the recording"
            )
        })
    };
    let Some(folder) = &options.perf_maps else {
        return Err(not_found());
    };
    if let Some(map) = map_of_running_process(pid, folder, options) {
        return Ok(map);
    }
    let path = folder.join(&name);
    let file = match RegularFile::open(&path, Links::Refuse) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(not_found()),
        Err(error) => return Err(unreadable(&path, &error)),
    };
    if !is_trusted_owner(file.owner(), pid, options) {
        let why = untrusted_owner(file.owner(), pid);
        return Err(format!(
            "there is {}, but {why}; copy it next to the recording if you trust it",
            path.display()
        ));
    }
    if !was_written_during(&file.metadata, recording) {
        return Err(format!(
            "{} is older than the recording, or the time of the recording is unknown, so the map may belong to another process; if it does not, copy it next to the recording",
            path.display()
        ));
    }
    PerfMap::read(&file, &path).map_err(|error| unreadable(&path, &error))
}

/// Reads the perf map of a process that has been running since it was recorded. In a container, the process has another
/// id and its own folders.
fn map_of_running_process(pid: u32, folder: &Path, options: &SymbolOptions) -> Option<PerfMap> {
    let name = format!("perf-{}.map", own_id_of_process(pid)?);
    let path = path_in_process(pid, &folder.join(name))?;
    let file = RegularFile::open(&path, Links::Refuse).ok()?;
    let is_its_own = is_owned_by_process(file.owner(), pid, options);
    is_its_own.then(|| PerfMap::read(&file, &path).ok())?
}

fn was_written_during(file: &Metadata, recording: &Recording) -> bool {
    let Some(UnixSeconds(ended)) = recording.origin.recorded else {
        return false;
    };
    let duration = recording.origin.duration.map_or(0, |duration| duration.0);
    let began = ended.saturating_sub(duration.div_ceil(1_000_000_000) + 1);
    let written = file
        .modified()
        .map(|time| time.duration_since(SystemTime::UNIX_EPOCH));
    matches!(written, Ok(Ok(written)) if written.as_secs() >= began)
}
