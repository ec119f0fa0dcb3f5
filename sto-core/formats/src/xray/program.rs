//! The program of a log. The log has only numbers of functions; the program has the list of its
//! functions with their addresses (`xray_instr_map`).
//!
//! Source: LLVM, *XRay Instrumentation*, <https://llvm.org/docs/XRay.html>.

use crate::recording::{Module, ModuleKind};
use hashbrown::HashMap;
use object::{Object, ObjectSection, RelocationTarget};
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use sto_binary::elf::{ElfFile, section_data};
use sto_model::SymbolOptions;

/// The functions of a program, by number.
#[derive(Debug)]
pub(super) struct Program {
    file: ElfFile,
    /// Offset in the file of function `index + 1`.
    entries: Vec<u64>,
}

/// Limit to the files of a folder examined for a program with another name than the log's.
const MAX_FILES: usize = 4096;

/// Size of an entry of the list: a place in a function that can be patched.
const SLED: usize = 32;

impl Program {
    /// Finds the program of a log: by the log's name in the symbol folders, then next to the log;
    /// otherwise the only program there with a list of functions.
    ///
    /// # Errors
    /// Returns a sentence with the searched names and the remedy.
    pub(super) fn find(log: &Path, options: &SymbolOptions) -> Result<Program, String> {
        let folders = options.symbol_dirs.iter().chain(&options.recording_dir);
        let names = names_in(log);
        let by_name = folders
            .clone()
            .flat_map(|folder| names.iter().map(|name| folder.join(name)));
        if let Some(program) = by_name.filter_map(|path| Program::open(&path)).next() {
            return Ok(program);
        }
        let others = folders.flat_map(|folder| files_in(folder));
        let mut others = others.filter_map(|path| Program::open(&path));
        match (others.next(), others.next()) {
            (Some(program), None) => Ok(program),
            (Some(one), Some(other)) => Err(format!(
                "several programs may have written it ({} and {}), so its functions have no names; name the folder of the one that ran, or a folder with only this one",
                one.file.path.display(),
                other.file.path.display()
            )),
            (None, _) => Err(format!(
                "no program with XRay's list of functions (xray_instr_map) was found under the name in the log's name, so its functions have no names; put {} next to the log, or name its folder as one with symbols",
                name_of(log).map_or_else(
                    || "the program".into(),
                    |name| format!("the program {name}")
                )
            )),
        }
    }

    fn open(path: &Path) -> Option<Program> {
        let file = ElfFile::open(path).ok()??;
        let entries = entries(&file)?;
        Some(Program { file, entries })
    }

    /// Offset in the file of a function.
    pub(super) fn entry(&self, function: u32) -> Option<u64> {
        let index = usize::try_from(function).ok()?.checked_sub(1)?;
        self.entries.get(index).copied()
    }

    /// The reason why the program cannot belong to the log, or `None` if it can.
    pub(super) fn mismatch(&self, greatest: u32) -> Option<String> {
        (greatest as usize > self.entries.len()).then(|| {
            format!(
                "{} has {} functions that XRay calls, and the log has function {greatest}: it is another program or build, so the log's functions have no names; name the folder of the one that ran",
                self.path().display(),
                self.entries.len()
            )
        })
    }

    /// A warning if the names may be wrong.
    pub(super) fn warning(&self, options: &SymbolOptions) -> Option<String> {
        let is_newer = options
            .recording_modified
            .is_some_and(|recorded| self.file.written > Some(recorded));
        is_newer.then(|| {
            format!(
                "{} was written after the log; if it was rebuilt since, functions may have wrong names.",
                self.path().display()
            )
        })
    }

    pub(super) fn path(&self) -> &Path {
        &self.file.path
    }

    pub(super) fn module(&self) -> Module {
        let path = fs::canonicalize(self.path()).unwrap_or_else(|_| self.path().to_owned());
        Module {
            path: path.display().to_string(),
            kind: ModuleKind::FunctionStarts,
            build_id: self.file.build_id.clone(),
            inode: Some(self.file.inode),
            text_address: None,
            alias: None,
        }
    }
}

/// The program's name in a log name chosen by XRay: `xray-log.PROGRAM.AbCdEf`.
pub(super) fn name_of(log: &Path) -> Option<String> {
    let name = log.file_name()?.to_str()?;
    let (program, _) = name.strip_prefix("xray-log.")?.rsplit_once('.')?;
    Some(program.to_owned())
}

/// Possible names of a log's program. If the log's name has another prefix (`xray_logfile_base`),
/// every suffix is possible. XRay appends a dot and six characters, and compression may append
/// more.
fn names_in(log: &Path) -> Vec<String> {
    let mut names: Vec<String> = name_of(log).into_iter().collect();
    let mut stem = log.file_name().and_then(OsStr::to_str);
    while let Some(name) = stem {
        let separators = name.match_indices(['.', '-', '_']).map(|(at, _)| at + 1);
        names.extend(
            [0].into_iter()
                .chain(separators)
                .map(|at| name[at..].to_owned()),
        );
        stem = name.rsplit_once('.').map(|(stem, _)| stem);
    }
    names.retain(|name| !name.is_empty());
    names
}

fn files_in(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.take(MAX_FILES).map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

/// The offsets of functions in a file. The list has the patchable places of one function after
/// another, and a function has the number of its position. The section `xray_fn_idx`, which not all
/// programs have, has the same order.
fn entries(file: &ElfFile) -> Option<Vec<u64>> {
    let elf = file.parse().ok()?;
    let section = elf.section_by_name("xray_instr_map")?;
    let address = section.address();
    let sleds = section_data(&section).ok()?;
    if !elf.is_64() || !elf.is_little_endian() {
        return None;
    }
    let segments = file.segments();
    // Before version 2 the list has addresses, which the dynamic linker may have to fill in.
    let mut filled_in: HashMap<u64, u64> = HashMap::new();
    if sleds.chunks_exact(SLED).any(|sled| sled[18] < 2) {
        let list = address..address.saturating_add(sleds.len() as u64);
        let relocations = elf.dynamic_relocations().into_iter().flatten();
        let of_list = relocations.filter(|(at, relocation)| {
            list.contains(at)
                && relocation.target() == RelocationTarget::Absolute
                && !relocation.has_implicit_addend()
        });
        filled_in.extend(of_list.map(|(at, relocation)| (at, relocation.addend() as u64)));
    }
    let mut entries = Vec::new();
    let mut last = None;
    for (sled, at) in sleds.chunks_exact(SLED).zip((0..).step_by(SLED)) {
        let mut function = u64::from_le_bytes(*sled[8..].first_chunk()?);
        let place = address.wrapping_add(at + 8);
        if sled[18] >= 2 {
            // Since version 2 they are relative to their own address.
            function = function.wrapping_add(place);
        } else if let Some(&filled_in) = filled_in.get(&place) {
            function = filled_in;
        }
        if last != Some(function) {
            last = Some(function);
            entries.push(segments.offset_of(function)?);
        }
    }
    (!entries.is_empty()).then_some(entries)
}

#[cfg(test)]
mod tests {
    use super::*;
    use object::{Object, ObjectSection};

    /// The test program with a list as before version 2: with addresses, which the dynamic linker
    /// fills in or not.
    fn with_old_list(is_filled_in: bool) -> Vec<u8> {
        let mut bytes = fs::read(calls()).unwrap();
        let elf = object::File::parse(&*bytes).unwrap();
        let list = elf.section_by_name("xray_instr_map").unwrap();
        let (address, (offset, size)) = (list.address(), list.file_range().unwrap());
        let relocations = elf.section_by_name(".rela.dyn").unwrap().index().0;
        let mut table = Vec::new();
        for at in (0..size).step_by(SLED) {
            let sled = &mut bytes[(offset + at) as usize..][..SLED];
            let place = address + at + 8;
            let function = u64::from_le_bytes(sled[8..16].try_into().unwrap()).wrapping_add(place);
            let stands_there = if is_filled_in { 0 } else { function };
            sled[8..16].copy_from_slice(&stands_there.to_le_bytes());
            sled[18] = 0;
            const RELATIVE: u64 = 8;
            table.extend([place, RELATIVE, function].map(u64::to_le_bytes).concat());
        }
        if is_filled_in {
            // Replaces the program's own table.
            let headers = u64::from_le_bytes(bytes[0x28..0x30].try_into().unwrap()) as usize;
            let header = headers + relocations * 64;
            let place = [bytes.len() as u64, table.len() as u64].map(u64::to_le_bytes);
            bytes[header + 24..header + 40].copy_from_slice(&place.concat());
            bytes.extend(table);
        }
        bytes
    }

    fn calls() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/xray/calls")
    }

    #[test]
    fn reads_old_lists_with_and_without_relocations() {
        // The package lacks the program.
        if !calls().exists() {
            return;
        }
        let expected = Program::open(&calls()).unwrap().entries;
        assert_eq!(expected.len(), 6);
        let folder = tempfile::tempdir().unwrap();
        for is_filled_in in [false, true] {
            let path = folder.path().join("old");
            fs::write(&path, with_old_list(is_filled_in)).unwrap();
            assert_eq!(Program::open(&path).unwrap().entries, expected);
        }
    }

    #[test]
    fn finds_the_program_by_the_name_of_the_log() {
        for (log, program) in [
            ("xray-log.demo.AbCdEf", "demo"),
            ("xray-log.my.app.AbCdEf", "my.app"),
            ("xray-log.demo.AbCdEf.zst", "demo"),
            ("/tmp/trace-demo.AbCdEf", "demo"),
            ("runs/demo.xray", "demo"),
        ] {
            assert!(
                names_in(Path::new(log)).contains(&program.to_owned()),
                "{log}"
            );
        }
        assert_eq!(
            name_of(Path::new("xray-log.my.app.AbCdEf")).as_deref(),
            Some("my.app")
        );
        assert!(names_in(Path::new("/")).is_empty());
    }
}
