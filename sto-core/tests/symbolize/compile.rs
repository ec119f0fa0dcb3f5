//! Programs that the tests compile, and their addresses by other tools.

use object::{Object, ObjectSection, ObjectSegment, ObjectSymbol};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use sto_core::model::GnuBuildId;
use sto_core::recording::{Module, ModuleKind};

/// Runs a tool in a folder.
pub(crate) fn run(dir: &Path, tool: &str, args: &[&str]) {
    let output = Command::new(tool).args(args).current_dir(dir).output();
    let output =
        output.unwrap_or_else(|error| panic!("these tests need {tool} (Debian: gcc): {error}"));
    assert!(
        output.status.success(),
        "{tool} {args:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
}

/// A compiled program.
pub(crate) struct Program {
    pub(crate) path: PathBuf,
    bytes: Vec<u8>,
}

impl Program {
    /// Compiles `source`, written to `file` in `dir`, into `dir/out`.
    pub(crate) fn compile(
        dir: &Path,
        tool: &str,
        file: &str,
        source: &str,
        flags: &[&str],
    ) -> Program {
        std::fs::create_dir_all(dir).unwrap();
        std::fs::write(dir.join(file), source).unwrap();
        let mut args = vec![file, "-o", "app"];
        args.extend(flags);
        run(dir, tool, &args);
        Program::open(&dir.join("app"))
    }

    /// A C program: optimized, with debug info and a build id.
    pub(crate) fn c(dir: &Path, source: &str) -> Program {
        Program::compile(dir, "cc", "app.c", source, &["-g", "-O2", "-Wl,--build-id"])
    }

    pub(crate) fn open(path: &Path) -> Program {
        Program {
            path: path.to_owned(),
            bytes: std::fs::read(path).unwrap(),
        }
    }

    pub(crate) fn elf(&self) -> object::File<'_> {
        object::File::parse(&*self.bytes).unwrap()
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The module that perf records for this program, with its build id if it has one.
    pub(crate) fn module(&self) -> Module {
        let build_id = self.elf().build_id().unwrap();
        Module {
            path: self.path.to_str().unwrap().to_owned(),
            kind: ModuleKind::File,
            build_id: build_id.and_then(GnuBuildId::from_bytes),
            inode: None,
            text_address: None,
            alias: None,
        }
    }

    /// The module as perf records it without build ids.
    pub(crate) fn module_by_inode(&self) -> Module {
        Module {
            build_id: None,
            inode: Some(std::fs::metadata(&self.path).unwrap().ino()),
            ..self.module()
        }
    }

    /// The offsets in the file of the bytes of a function.
    pub(crate) fn offsets_of(&self, function: &str) -> std::ops::Range<u64> {
        let elf = self.elf();
        let symbol = elf.symbols().find(|symbol| symbol.name() == Ok(function));
        let symbol = symbol.unwrap_or_else(|| panic!("no symbol {function}"));
        let start = self.offset_of(symbol.address());
        start..start + symbol.size()
    }

    /// The offsets in the file of the bytes of a section.
    pub(crate) fn offsets_of_section(&self, name: &str) -> std::ops::Range<u64> {
        let elf = self.elf();
        let section = elf.section_by_name(name);
        let range = section.and_then(|section| section.file_range());
        range.map_or(0..0, |(start, size)| start..start + size)
    }

    fn offset_of(&self, address: u64) -> u64 {
        let elf = self.elf();
        let mut segments = elf.segments();
        let segment = segments.find(|segment| {
            (segment.address()..segment.address() + segment.size()).contains(&address)
        });
        let segment = segment.unwrap();
        address - segment.address() + segment.file_range().0
    }
}
