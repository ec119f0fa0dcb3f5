//! Code that was made at run time: what perf maps and jitdumps tell of it.

mod dump;
mod map;
mod name;

pub(crate) use dump::JitDump;

use super::demangle::demangle;
use super::part::{NewFrame, Part};
use super::resolve::{Resolved, Task, unresolved_symbol};
use super::{SymbolOptions, source_path};
use crate::formats::{JIT, Recording};
use crate::model::{FrameKind, Granularity};
use crate::units::UnixSeconds;
use map::PerfMap;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Finds the jitdump of a process, which the recording says was mapped from this path: beside the
/// recording or in a folder that the user names, else there, if it is still the file of this inode.
pub(crate) fn find_dump(
    recorded: &str,
    pid: u32,
    inode: Option<u64>,
    options: &SymbolOptions,
) -> Option<JitDump> {
    let name = format!("jit-{pid}.dump");
    let copies = beside(&name, options);
    if let Some(dump) = copies
        .into_iter()
        .find_map(|path| JitDump::open(&path, pid))
    {
        return Some(dump);
    }
    let recorded = Path::new(recorded);
    let is_same = |found: Metadata| inode == Some(found.ino());
    let is_there = recorded.is_absolute() && recorded.metadata().is_ok_and(is_same);
    is_there.then(|| JitDump::open(recorded, pid)).flatten()
}

/// Where a file may be that was copied with a recording.
fn beside(name: &str, options: &SymbolOptions) -> Vec<PathBuf> {
    let dirs = options.symbol_dirs.iter().chain(&options.recording_dir);
    dirs.map(|dir| dir.join(name)).collect()
}

/// Resolves offsets in a jitdump.
pub(super) fn resolve_dump(task: &Task<'_>, pid: u32, options: &SymbolOptions) -> Resolved {
    let module = task.module;
    // It was there when the recording was read.
    let Some(dump) = find_dump(&module.path, pid, module.inode, options) else {
        let problem = format!(
            "{} is not there any more; ingest the recording again",
            module.path
        );
        return unresolved(task, options.granularity, problem);
    };
    let mut part = Part::new(options.granularity);
    for &(offset, location) in &task.addresses {
        match dump.function_at(offset) {
            Some(function) => {
                push(&mut part, function.name, function.line);
                part.finish(location);
            }
            None => {
                let symbol = unresolved_symbol(module, offset);
                part.finish_unresolved(location, module.name(), &symbol);
            }
        }
    }
    Resolved {
        parts: vec![part],
        file: Some(dump.path),
        problem: None,
    }
}

/// Resolves virtual addresses in memory without a file, where a process may have made code.
pub(super) fn resolve_memory(
    task: &Task<'_>,
    pid: u32,
    recording: &Recording,
    options: &SymbolOptions,
) -> Resolved {
    let module = task.module;
    let map = match find_map(pid, recording, options) {
        Ok(map) => map,
        Err(why) => {
            let problem = format!(
                "{} is memory without a file, likely of code that was made at run time (JIT), and {why}; have the program write one (node --perf-basic-prof, python -X perf), and copy it beside the recording",
                module.path
            );
            return unresolved(task, options.granularity, problem);
        }
    };
    let mut part = Part::new(options.granularity);
    for &(address, location) in &task.addresses {
        match map.name_at(address) {
            Some(name) => {
                push(&mut part, name, None);
                part.finish(location);
            }
            None => {
                let symbol = unresolved_symbol(module, address);
                part.finish_unresolved(location, module.name(), &symbol);
            }
        }
    }
    Resolved {
        parts: vec![part],
        file: Some(map.path),
        problem: None,
    }
}

fn unresolved(task: &Task<'_>, granularity: Granularity, problem: String) -> Resolved {
    Resolved::unresolved(task.module, &task.addresses, granularity, Some(problem))
}

fn push(part: &mut Part, name: &[u8], line: Option<(&[u8], u32)>) {
    let text = String::from_utf8_lossy(name);
    let function = name::parse(&text);
    let symbol = match function.kind {
        // Some compilers hand out C++ or Rust names.
        FrameKind::Jit => demangle(function.symbol.as_bytes()),
        _ => super::demangle::cap(function.symbol),
    };
    let told = line.map(|(file, _)| String::from_utf8_lossy(file));
    let file = match function.file {
        "" => told.as_deref().unwrap_or_default(),
        file => file,
    };
    let frame = NewFrame {
        kind: function.kind,
        symbol: part.intern(&symbol),
        module: part.intern(JIT),
        file: part.intern(&source_path::normalize(file, |_| None)),
        line: line.map_or(0, |(_, line)| line),
    };
    part.push(frame);
}

/// The perf map of a process: a copy, else that in the folder where programs write them, if it was
/// written when the recording was made. Process ids come again, and maps stay behind.
fn find_map(pid: u32, recording: &Recording, options: &SymbolOptions) -> Result<PerfMap, String> {
    let name = format!("perf-{pid}.map");
    for path in beside(&name, options) {
        if let Ok(map) = PerfMap::read(&path) {
            return Ok(map);
        }
    }
    let none = format!("there is no perf map of process {pid}");
    let path = options.perf_maps.as_ref().ok_or(&none)?.join(&name);
    let metadata = path.metadata().map_err(|_| none.clone())?;
    if !metadata.is_file() {
        return Err(none);
    }
    if !was_written_during(&metadata, recording) {
        return Err(format!(
            "{} is older than the recording, or it is not told when that was made, so the map may be of another process",
            path.display()
        ));
    }
    PerfMap::read(&path).map_err(|error| format!("cannot read {}: {error}", path.display()))
}

fn was_written_during(file: &Metadata, recording: &Recording) -> bool {
    let Some(UnixSeconds(ended)) = recording.origin.recorded else {
        return false;
    };
    let duration = recording.origin.duration.map_or(0, |duration| duration.0);
    let began = ended.saturating_sub(duration.div_ceil(1_000_000_000) + 1);
    u64::try_from(file.mtime()).is_ok_and(|written| written >= began)
}

/// The process whose jitdump a mapped file is, or was made of by `perf inject --jit`, and the
/// jitdump's path.
pub(crate) fn dump_of(path: &str) -> Option<(String, u32)> {
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    let number = |digits: &str| digits.parse::<u32>().ok();
    if let Some(name) = name.strip_prefix("jit-") {
        return Some((path.to_owned(), number(name.strip_suffix(".dump")?)?));
    }
    let numbers = name.strip_prefix("jitted-")?.strip_suffix(".so")?;
    let pid = number(numbers.split_once('-')?.0)?;
    Some((format!("{folder}/jit-{pid}.dump"), pid))
}
