//! The search for files, and which of them are trusted.

use super::compile::{Program, run};
use super::recording::{Resolved, resolve};
use super::{link_to_endless, make_pipe};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;
use sto_core::Hint;
use sto_core::ingest::SymbolOptions;
use sto_core::recording::Module;
use sto_test_support::missing;

const SOURCE: &str = "
static __attribute__((noinline, noclone)) long hidden(long n) { return n * n; }
int main(int argc, char **argv) { return hidden(argc); }
";

/// A program whose recorded path no longer exists, and its file at another path.
struct Moved {
    dir: tempfile::TempDir,
    module: Module,
    program: Program,
    offset: u64,
}

impl Moved {
    fn new() -> Moved {
        let dir = tempfile::tempdir().unwrap();
        let built = Program::c(&dir.path().join("built"), SOURCE);
        let module = built.module();
        let kept = dir.path().join("kept");
        std::fs::rename(&built.path, &kept).unwrap();
        let program = Program::open(&kept);
        Moved {
            offset: program.offsets_of("hidden").start,
            module,
            program,
            dir,
        }
    }

    fn path(&self, path: impl AsRef<Path>) -> PathBuf {
        self.dir.path().join(path)
    }

    /// Copies a file to a path.
    fn put(&self, file: &Path, path: &Path) {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::copy(file, path).unwrap();
    }

    /// `.build-id/ab/cdef` in a folder.
    fn by_build_id(&self, dir: &str, suffix: &str) -> PathBuf {
        let id = self.module.build_id.as_ref().unwrap().to_string();
        self.path(format!("{dir}/.build-id/{}/{}{suffix}", &id[..2], &id[2..]))
    }

    fn resolve(&self, options: &SymbolOptions) -> Resolved {
        resolve(self.module.clone(), [self.offset], options)
    }

    /// Options with every folder, below this one.
    fn options(&self) -> SymbolOptions {
        SymbolOptions {
            symbol_dirs: vec![self.path("symbols")],
            recording_dir: Some(self.path("recording")),
            perf_cache: Some(self.path("cache")),
            debug_dirs: vec![self.path("debug")],
            ..SymbolOptions::default()
        }
    }
}

#[test]
fn searches_every_path() {
    let moved = Moved::new();
    let recorded = Path::new(&moved.module.path).strip_prefix("/").unwrap();
    let paths = [
        moved.by_build_id("symbols", ".debug"),
        moved.by_build_id("symbols", "/debug"),
        moved.by_build_id("symbols", "/elf"),
        moved.by_build_id("symbols", ""),
        moved.path("symbols/app"),
        moved.path("symbols").join(recorded),
        moved.path("recording/app"),
        moved.by_build_id("cache", "/elf"),
        moved.by_build_id("debug", ".debug"),
        PathBuf::from(&moved.module.path),
        moved.path("symbols/any/folder/app-copy.Xa1b2c"),
    ];
    for path in &paths {
        moved.put(&moved.program.path, path);
        let found = moved.resolve(&moved.options());
        assert_eq!(found.functions(), ["hidden"], "{}", path.display());
        assert_eq!(found.module().file.as_ref(), Some(path));
        std::fs::remove_file(path).unwrap();
        // A leftover folder must not be mistaken for a file.
        if path.ends_with("elf") || path.ends_with("debug") {
            std::fs::remove_dir(path.parent().unwrap()).unwrap();
        }
    }
    let found = moved.resolve(&moved.options());
    assert_eq!(found.functions(), [format!("[app+{:#x}]", moved.offset)]);
    assert_eq!(
        (found.module().locations, found.module().unresolved),
        (1, 1)
    );
    let id = moved.module.build_id.as_ref().unwrap().to_string();
    assert!(found.problem().contains(&id));
    // Folders that were given are named, and the option that gives folders is not.
    let given = moved.path("symbols").display().to_string();
    assert!(found.problem().ends_with(&given), "{}", found.problem());
    assert_eq!(hint(&found), None);

    let found = moved.resolve(&SymbolOptions::default());
    assert_eq!(hint(&found), Some(Hint::SymbolFolder));
}

fn hint(found: &Resolved) -> Option<Hint> {
    let problem = found.module().problem.as_ref();
    problem.and_then(|problem| problem.hint)
}

#[test]
fn earlier_paths_win() {
    let moved = Moved::new();
    let paths = [
        moved.path("symbols/app"),
        moved.path("recording/app"),
        moved.by_build_id("cache", "/elf"),
        moved.by_build_id("debug", ".debug"),
        PathBuf::from(&moved.module.path),
    ];
    for path in &paths {
        moved.put(&moved.program.path, path);
    }
    for path in &paths {
        let found = moved.resolve(&moved.options());
        assert_eq!(found.module().file.as_ref(), Some(path));
        std::fs::remove_file(path).unwrap();
    }
}

#[test]
fn rejects_another_build() {
    let moved = Moved::new();
    let other = Program::c(&moved.path("other"), &SOURCE.replace("n * n", "n * 3"));
    moved.put(&other.path, &moved.path("symbols/app"));
    let found = moved.resolve(&moved.options());
    assert_eq!(found.module().unresolved, 1);
    let other_id = other.module().build_id.unwrap().to_string();
    assert!(found.problem().contains(&other_id), "{}", found.problem());
    // The right file after it is found.
    moved.put(&moved.program.path, &moved.path("recording/app"));
    assert_eq!(moved.resolve(&moved.options()).functions(), ["hidden"]);
}

#[test]
fn uses_a_debug_file_with_the_stripped_program() {
    if missing(&["objcopy"]) {
        return;
    }
    let moved = Moved::new();
    let dir = moved.dir.path();
    run(dir, "objcopy", &["--only-keep-debug", "kept", "kept.debug"]);
    run(dir, "objcopy", &["--strip-all", "kept", "stripped"]);
    moved.put(&moved.path("stripped"), Path::new(&moved.module.path));
    let stripped = moved.resolve(&moved.options());
    assert_eq!(stripped.module().unresolved, 1);
    assert!(
        stripped.problem().contains("stripped"),
        "{}",
        stripped.problem()
    );

    let path = moved.by_build_id("debug", ".debug");
    moved.put(&moved.path("kept.debug"), &path);
    let found = moved.resolve(&moved.options());
    assert_eq!(found.functions(), ["hidden"]);
    assert_eq!(
        (found.frames[0][0].file.as_str(), found.frames[0][0].line),
        ("app.c", 2)
    );
    assert_eq!(found.module().file, Some(path));
}

#[test]
fn uses_a_debug_file_without_the_program() {
    if missing(&["objcopy"]) {
        return;
    }
    for layout in [&[][..], &["-no-pie"], &["-Wl,-z,noseparate-code"]] {
        let dir = tempfile::tempdir().unwrap();
        let flags = [&["-g", "-O2", "-Wl,--build-id"], layout].concat();
        let program = Program::compile(dir.path(), "cc", "app.c", SOURCE, &flags);
        let (module, offsets) = (program.module(), program.offsets_of("hidden"));
        run(
            dir.path(),
            "objcopy",
            &["--only-keep-debug", "app", "app.debug"],
        );
        std::fs::rename(dir.path().join("app.debug"), &program.path).unwrap();
        let found = resolve(module, offsets, &SymbolOptions::default());
        assert!(
            found.functions().iter().all(|name| *name == "hidden"),
            "{layout:?}"
        );
        assert_eq!(found.frames[0][0].file, "app.c");
    }
}

#[test]
fn follows_debug_links() {
    if missing(&["objcopy"]) {
        return;
    }
    let moved = Moved::new();
    let dir = moved.dir.path();
    run(dir, "objcopy", &["--only-keep-debug", "kept", "app.dbg"]);
    run(
        dir,
        "objcopy",
        &[
            "--strip-all",
            "--add-gnu-debuglink=app.dbg",
            "kept",
            "stripped",
        ],
    );
    moved.put(&moved.path("stripped"), Path::new(&moved.module.path));
    let folder_of_app = Path::new(&moved.module.path).parent().unwrap().to_owned();
    for path in [
        moved.path("symbols/app.dbg"),
        moved.path("recording/app.dbg"),
        folder_of_app.join("app.dbg"),
        folder_of_app.join(".debug/app.dbg"),
        moved
            .path("debug")
            .join(folder_of_app.strip_prefix("/").unwrap())
            .join("app.dbg"),
    ] {
        moved.put(&moved.path("app.dbg"), &path);
        let found = moved.resolve(&moved.options());
        assert_eq!(found.functions(), ["hidden"], "{}", path.display());
        assert_eq!(found.module().file.as_ref(), Some(&path));
        std::fs::remove_file(path).unwrap();
    }
}

#[test]
fn prefers_debug_info_to_an_earlier_stripped_file() {
    if missing(&["objcopy"]) {
        return;
    }
    let moved = Moved::new();
    run(
        moved.dir.path(),
        "objcopy",
        &["--strip-all", "kept", "stripped"],
    );
    moved.put(&moved.path("stripped"), &moved.path("symbols/app"));
    moved.put(&moved.program.path, Path::new(&moved.module.path));
    assert_eq!(moved.resolve(&moved.options()).functions(), ["hidden"]);
}

#[test]
fn finds_a_program_deleted_while_running() {
    let mut moved = Moved::new();
    moved.put(&moved.program.path, &moved.path("symbols/app"));
    moved.module.path.push_str(" (deleted)");
    assert_eq!(moved.resolve(&moved.options()).functions(), ["hidden"]);
}

#[test]
fn trusts_only_the_recorded_inode_without_a_build_id() {
    let dir = tempfile::tempdir().unwrap();
    let flags = ["-O2", "-Wl,--build-id=none"];
    let program = Program::compile(dir.path(), "cc", "app.c", SOURCE, &flags);
    let module = program.module_by_inode();
    let offsets = program.offsets_of("hidden");
    let same = resolve(module.clone(), offsets.clone(), &SymbolOptions::default());
    assert_eq!(same.module().unresolved, 0);

    let unknown = Module {
        inode: None,
        ..module.clone()
    };
    let other = Module {
        inode: module.inode.map(|inode| inode + 1),
        ..module.clone()
    };
    let gone = Module {
        path: "/nowhere/app".to_owned(),
        ..module.clone()
    };
    let before = SymbolOptions {
        recording_modified: Some(SystemTime::UNIX_EPOCH),
        ..SymbolOptions::default()
    };
    let rebuilt = resolve(module.clone(), offsets.clone(), &before);
    assert!(
        rebuilt.problem().contains("another file"),
        "{}",
        rebuilt.problem()
    );
    for (module, why) in [
        (unknown, "inode"),
        (other, "another file"),
        (gone, "no longer exists"),
    ] {
        let refused = resolve(module, offsets.clone(), &SymbolOptions::default());
        assert_eq!(refused.module().unresolved, offsets.clone().count());
        assert!(refused.problem().contains(why), "{}", refused.problem());
        assert!(
            refused.problem().contains("--buildid-mmap"),
            "{}",
            refused.problem()
        );
    }
}

#[test]
fn trusts_a_copy_of_the_vdso_next_to_the_recording() {
    let moved = Moved::new();
    let module = Module {
        path: "[vdso]".to_owned(),
        build_id: None,
        ..moved.module.clone()
    };
    let options = moved.options();
    let unnamed = resolve(module.clone(), [moved.offset], &options);
    assert_eq!(unnamed.functions(), [format!("[vdso+{:#x}]", moved.offset)]);
    assert!(unnamed.module().problem.is_none(), "nobody can give a file");
    moved.put(&moved.program.path, &moved.path("recording/[vdso]"));
    let named = resolve(module, [moved.offset], &options);
    assert_eq!(named.functions(), ["hidden"]);
}

#[test]
fn trusts_the_recorded_inode_below_a_symbol_folder() {
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join("opt/app");
    std::fs::create_dir_all(&folder).unwrap();
    let flags = ["-O2", "-Wl,--build-id=none"];
    let program = Program::compile(&folder, "cc", "app.c", SOURCE, &flags);
    // As a program in a container has it.
    let module = Module {
        path: "/opt/app/app".to_owned(),
        ..program.module_by_inode()
    };
    let offsets = program.offsets_of("hidden");
    let options = SymbolOptions {
        symbol_dirs: vec![root.path().to_owned()],
        ..SymbolOptions::default()
    };
    let found = resolve(module.clone(), offsets.clone(), &options);
    assert_eq!(found.module().unresolved, 0, "{}", found.problem());

    let other = Module {
        inode: module.inode.map(|inode| inode + 1),
        ..module
    };
    let refused = resolve(other, offsets, &options);
    let path = program.path.display().to_string();
    let problem = refused.problem();
    assert!(
        problem.contains(&format!("{path} is another file")),
        "{problem}"
    );
    assert!(
        problem.contains("link the program with -Wl,--build-id"),
        "{problem}"
    );
}

#[test]
fn reports_unreadable_files() {
    let moved = Moved::new();
    let path = moved.path("symbols/app");
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, "not a program").unwrap();
    let problem = moved.resolve(&moved.options());
    let problem = problem.problem();
    assert!(
        problem.contains(path.to_str().unwrap()) && problem.contains("ELF"),
        "{problem}"
    );
}

#[test]
fn ignores_symbol_files_that_are_not_regular() {
    let moved = Moved::new();
    let path = moved.path("symbols/app");
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    for prepare in [make_pipe, link_to_endless] {
        prepare(&path);
        let alone = moved.resolve(&moved.options());
        assert_ne!(alone.functions(), ["hidden"]);
        moved.put(&moved.program.path, &moved.path("recording/app"));
        assert_eq!(moved.resolve(&moved.options()).functions(), ["hidden"]);
        std::fs::remove_dir_all(moved.path("recording")).unwrap();
        std::fs::remove_file(&path).unwrap();
    }
}

/// The layout of Fedora's `find-debuginfo`.
#[test]
fn reads_mini_debug_info() {
    if missing(&["objcopy", "xz"]) {
        return;
    }
    let moved = Moved::new();
    let dir = moved.dir.path();
    run(
        dir,
        "objcopy",
        &[
            "--strip-debug",
            "--keep-symbol=hidden",
            "--only-keep-debug",
            "kept",
            "mini",
        ],
    );
    run(dir, "xz", &["-k", "mini"]);
    run(dir, "objcopy", &["--strip-all", "kept", "stripped"]);
    let path = moved.path("recording/app");
    moved.put(&moved.path("stripped"), &path);
    assert!(
        moved
            .resolve(&moved.options())
            .problem()
            .contains("is stripped")
    );
    let put = |packed: &str| {
        run(
            dir,
            "objcopy",
            &[
                &format!("--add-section=.gnu_debugdata={packed}"),
                "stripped",
                "with",
            ],
        );
        moved.put(&moved.path("with"), &path);
        moved.resolve(&moved.options())
    };
    let found = put("mini.xz");
    assert_eq!(found.functions(), ["hidden"]);
    assert_eq!(
        (found.problem(), &found.module().file),
        ("", &Some(path.clone()))
    );
    // Damaged data, another format, a decompression bomb, and a file that needs a gigabyte of decoder memory.
    let mut damaged = std::fs::read(dir.join("mini.xz")).unwrap();
    let middle = damaged.len() / 2;
    damaged[middle] ^= 0xff;
    std::fs::write(dir.join("damaged"), damaged).unwrap();
    run(dir, "sh", &["-c", "echo nothing | xz > other"]);
    run(
        dir,
        "sh",
        &["-c", "head -c 9000000 /dev/zero | xz -0 > bomb"],
    );
    run(dir, "sh", &["-c", "xz --lzma2=dict=1GiB < mini > greedy"]);
    for packed in ["damaged", "other", "bomb", "greedy", "kept"] {
        let found = put(packed);
        assert!(
            found.problem().contains("is stripped"),
            "{packed}: {}",
            found.problem()
        );
        assert!(found.functions()[0].starts_with("[app+0x"), "{packed}");
    }
}

#[test]
fn trusts_a_given_file_unless_its_build_id_differs() {
    let moved = Moved::new();
    let other = Program::c(
        &moved.path("other"),
        SOURCE.replace("n * n", "n + n").as_str(),
    );
    let with = |file: &str, path: PathBuf, module: Module| {
        let options = SymbolOptions {
            symbol_files: vec![(file.to_owned(), path)],
            ..SymbolOptions::default()
        };
        resolve(module, [moved.offset], &options)
    };
    let kept = moved.path("kept");
    let without = Module {
        build_id: None,
        ..moved.module.clone()
    };
    for module in [without.clone(), moved.module.clone()] {
        for file in ["app", &module.path] {
            let found = with(file, kept.clone(), module.clone());
            assert_eq!(found.functions(), ["hidden"], "{file}");
        }
        let found = with("ap", kept.clone(), module);
        assert!(found.functions()[0].starts_with("[app+0x"));
    }
    let found = with("app", other.path.clone(), moved.module.clone());
    let refused = format!("{} has build id", other.path.display());
    assert!(found.problem().contains(&refused), "{}", found.problem());
    let found = with("app", moved.path("nowhere"), without);
    assert!(
        found.problem().contains("does not exist"),
        "{}",
        found.problem()
    );
}

#[test]
fn programs_in_memory_are_found_by_build_id_or_name() {
    let moved = Moved::new();
    let bytes: Arc<[u8]> = std::fs::read(&moved.program.path).unwrap().into();
    let named = |name: &str| SymbolOptions {
        symbol_bytes: vec![(name.into(), Arc::clone(&bytes))],
        ..SymbolOptions::default()
    };
    assert_eq!(moved.resolve(&named("any")).functions(), ["hidden"]);
    let module = Module {
        build_id: None,
        ..moved.module.clone()
    };
    let resolve = |name| resolve(module.clone(), [moved.offset], &named(name));
    assert_eq!(resolve("app").functions(), ["hidden"]);
    assert_ne!(resolve("other").functions(), ["hidden"]);
}
