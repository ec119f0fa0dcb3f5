//! Code that was made at run time: what perf maps and jitdumps say of it.

mod map;
mod name;

use crate::symbolize::part::{Part, Resolved, Task};
use map::PerfMap;
use std::fs::Metadata;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use sto_binary::JitFunction;
use sto_binary::jit_files::{beside, find_dump, is_believed, left_out};
use sto_formats::demangle::{demangle, readable};
use sto_formats::recording::Recording;
use sto_model::files::{Links, SafeFile};
use sto_model::units::UnixSeconds;
use sto_model::{FrameKind, FrameRow};
use sto_model::{JIT, SymbolOptions, source_path};

/// Resolves offsets in a jitdump.
pub(super) fn resolve_dump(task: &Task<'_>, pid: u32, options: &SymbolOptions) -> Resolved {
    // It was there when the recording was read.
    let dump = match find_dump(&task.module.path, pid, task.module.inode, options) {
        Ok(dump) => dump,
        Err(problem) => return task.unresolved(Some(problem)),
    };
    let mut functions = dump.functions();
    let part = resolve(task, |offset| functions.at(offset));
    Resolved::of(part, dump.path)
}

/// Resolves virtual addresses in memory without a file, where a process may have made code.
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
                "{} is memory without a file, likely of code that was made at run time (JIT), and {why}",
                task.module.path
            )));
        }
    };
    let mut name_at = map.names();
    let part = resolve(task, |address| {
        let name = name_at(address)?;
        Some(JitFunction { name, line: None })
    });
    Resolved::of(part, map.path.clone())
}

/// Resolves addresses by `find`, which is called by ascending ones.
fn resolve<'n>(task: &Task<'_>, mut find: impl FnMut(u64) -> Option<JitFunction<'n>>) -> Part {
    let mut part = Part::new(task.granularity);
    for (address, location) in task.ascending() {
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
    let text = String::from_utf8_lossy(readable(name));
    let function = name::parse(&text);
    let symbol = match function.kind {
        // Some compilers hand out C++ or Rust names.
        FrameKind::Jit => demangle(function.symbol.as_bytes()),
        _ => sto_model::limits::cap(function.symbol),
    };
    let of_line = line.map(|(file, _)| String::from_utf8_lossy(readable(file)));
    let file = match function.file {
        "" => of_line.as_deref().unwrap_or_default(),
        file => file,
    };
    let frame = FrameRow {
        kind: function.kind,
        symbol: part.intern(&symbol),
        module: part.intern(JIT),
        file: part.intern(&source_path(file)),
        line: line.map_or(0, |(_, line)| line),
    };
    part.push(frame);
}

/// The perf map of a process: a copy, else that in the folder where programs write them, if it was
/// written when the recording was made. Process ids come again, and maps are left over.
fn find_map(pid: u32, recording: &Recording, options: &SymbolOptions) -> Result<PerfMap, String> {
    let name = format!("perf-{pid}.map");
    let cannot =
        |path: &Path, error: &io::Error| format!("cannot read {}: {error}", path.display());
    let mut refused = None;
    for path in beside(&name, options) {
        let map = SafeFile::open(&path, Links::Follow).and_then(|file| PerfMap::read(&file, &path));
        match map {
            Ok(map) => return Ok(map),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => refused = refused.or(Some(cannot(&path, &error))),
        }
    }
    let none = || {
        refused.unwrap_or_else(|| {
            format!(
                "there is no perf map of process {pid}; have the program write one (node --perf-basic-prof, python -X perf), and copy it beside the recording"
            )
        })
    };
    let Some(folder) = &options.perf_maps else {
        return Err(none());
    };
    let path = folder.join(&name);
    let file = match SafeFile::open(&path, Links::Refuse) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(none()),
        Err(error) => return Err(cannot(&path, &error)),
    };
    if !is_believed(file.owner(), pid, options) {
        let why = left_out(file.owner(), pid);
        return Err(format!(
            "there is {}, but {why}; copy it beside the recording if you trust it",
            path.display()
        ));
    }
    if !was_written_during(&file.metadata, recording) {
        return Err(format!(
            "{} is older than the recording, or it is not known when that was made, so the map may be of another process; if it is not, copy it beside the recording",
            path.display()
        ));
    }
    PerfMap::read(&file, &path).map_err(|error| cannot(&path, &error))
}

fn was_written_during(file: &Metadata, recording: &Recording) -> bool {
    let Some(UnixSeconds(ended)) = recording.origin.recorded else {
        return false;
    };
    let duration = recording.origin.duration.map_or(0, |duration| duration.0);
    let began = ended.saturating_sub(duration.div_ceil(1_000_000_000) + 1);
    u64::try_from(file.mtime()).is_ok_and(|written| written >= began)
}
