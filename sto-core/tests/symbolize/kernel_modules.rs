//! Functions of kernel modules, from their files.

use super::compile::{Program, run};
use super::recording::{Shown, resolve};
use object::{Object, ObjectSection, ObjectSymbol};
use std::path::Path;
use sto_core::ingest::SymbolOptions;
use sto_core::model::FrameKind;
use sto_core::recording::{Module, ModuleKind};
use sto_test_support::missing;

const SOURCE: &str = "\
static inline __attribute__((always_inline)) long inner(long n) {
    return n * n;
}
__attribute__((noinline)) long do_work(long n) {
    return inner(n) + 7;
}
__attribute__((section(\".init.text\"))) long start(long n) { return do_work(n); }
__attribute__((section(\".exit.text\"))) long stop(long n) {
    return n + do_work(n);
}
";

/// The address at which the kernel loaded `.text`.
pub(super) const TEXT: u64 = 0xffff_ffff_c051_2000;

/// Builds a kernel module `nf_work.ko` in a folder, relocatable as `kbuild` links it.
pub(super) fn module(dir: &Path, flags: &[&str]) -> Program {
    let relocatable = ["-O1", "-r", "-nostdlib", "-Wl,--build-id"];
    let flags = [&relocatable, flags].concat();
    let compiled = Program::compile(dir, "cc", "work.c", SOURCE, &flags);
    let path = dir.join("nf_work.ko");
    std::fs::rename(&compiled.path, &path).unwrap();
    Program::open(&path)
}

pub(super) fn recorded(file: &Program, path: &str) -> Module {
    Module {
        path: path.to_owned(),
        kind: ModuleKind::KernelModule,
        text_address: Some(TEXT),
        ..file.module()
    }
}

fn symbols_in(dir: &Path) -> SymbolOptions {
    SymbolOptions {
        symbol_dirs: vec![dir.to_owned()],
        ..SymbolOptions::default()
    }
}

/// The address of a function in memory; the kernel puts `.exit.text` after `.text`.
fn address_of(file: &Program, function: &str) -> u64 {
    let elf = file.elf();
    let mut symbols = elf.symbols();
    let symbol = symbols.find(|symbol| symbol.name() == Ok(function));
    let symbol = symbol.unwrap();
    let section = elf
        .section_by_index(symbol.section_index().unwrap())
        .unwrap();
    let start = match section.name() {
        Ok(".exit.text") => {
            let text = elf.section_by_name(".text").unwrap();
            text.size().next_multiple_of(section.align())
        }
        _ => 0,
    };
    TEXT + start + symbol.address()
}

#[test]
fn resolves_kernel_modules_at_any_address() {
    for compressed in ["-gz=none", "-gz=zlib"] {
        let dir = tempfile::tempdir().unwrap();
        let file = module(dir.path(), &["-g", compressed]);
        let addresses = ["do_work", "stop"].map(|function| address_of(&file, function) + 1);
        let path = "/lib/modules/6.1.0/kernel/net/nf_work.ko";
        let found = resolve(recorded(&file, path), addresses, &symbols_in(dir.path()));
        let frames = found.frames.iter().map(|frames| {
            let of = |frame: &Shown| {
                (
                    frame.kind,
                    frame.symbol.clone(),
                    frame.file.clone(),
                    frame.line,
                )
            };
            frames.iter().map(of).collect::<Vec<_>>()
        });
        let frame = |kind, symbol: &str, line| (kind, symbol.to_owned(), "work.c".to_owned(), line);
        let expected = [
            vec![
                frame(FrameKind::Kernel, "do_work", 5),
                frame(FrameKind::Inlined, "inner", 2),
            ],
            vec![frame(FrameKind::Kernel, "stop", 8)],
        ];
        assert_eq!(frames.collect::<Vec<_>>(), expected, "{compressed}");
        assert_eq!(found.frames[0][0].module, "nf_work.ko");
    }
}

#[test]
fn finds_compressed_and_respelled_kernel_modules() {
    let dir = tempfile::tempdir().unwrap();
    let file = module(dir.path(), &[]);
    let address = address_of(&file, "do_work");
    let bytes = std::fs::read(&file.path).unwrap();
    let zstd = zstd::encode_all(&*bytes, 3).unwrap();
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::copy(&mut &*bytes, &mut gzip).unwrap();
    let gzip = gzip.finish().unwrap();
    let mut forms = vec![
        ("nf_work.ko.zst", zstd),
        ("nf-work.ko.gz", gzip),
        ("nf_work.ko", bytes),
    ];
    if !missing(&["xz"]) {
        run(dir.path(), "xz", &["-k", "--check=crc32", "nf_work.ko"]);
        forms.push((
            "nf_work.ko.xz",
            std::fs::read(dir.path().join("nf_work.ko.xz")).unwrap(),
        ));
    }
    let path = "/lib/modules/6.1.0/kernel/net/nf-work.ko.xz";
    for (name, bytes) in forms {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join(name), bytes).unwrap();
        let options = symbols_in(dir.path());
        let found = resolve(recorded(&file, path), [address], &options);
        assert_eq!(found.functions(), ["do_work"], "{name}");
        assert_eq!(found.module().file, Some(dir.path().join(name)));
        let other = Module {
            build_id: Some(super::kernel::build_id(7)),
            ..recorded(&file, path)
        };
        let other = resolve(other, [address], &options);
        assert_eq!(
            other.functions(),
            [format!("[nf-work.ko.xz+{:#x}]", address - TEXT)]
        );
    }
}

/// The layout of Debian's debug packages, which have no build id folder for modules.
#[test]
fn finds_the_debug_file_of_a_compressed_module() {
    let dir = tempfile::tempdir().unwrap();
    let file = module(dir.path(), &["-g"]);
    let folder = dir.path().join("debug/lib/modules/6.1.0/kernel/net");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::rename(&file.path, folder.join("nf_work.ko")).unwrap();
    let options = SymbolOptions {
        debug_dirs: vec![dir.path().join("debug")],
        ..SymbolOptions::default()
    };
    let recorded = recorded(&file, "/lib/modules/6.1.0/kernel/net/nf_work.ko.xz");
    let found = resolve(recorded, [address_of(&file, "do_work")], &options);
    assert_eq!(found.functions(), ["do_work"]);
    assert_eq!(found.frames[0][0].file, "work.c");
}

/// Initialisation code is freed after it ran, and other code may be loaded there.
#[test]
fn code_outside_of_the_modules_file_stays_unresolved() {
    let dir = tempfile::tempdir().unwrap();
    let file = module(dir.path(), &["-g"]);
    let elf = file.elf();
    let sizes = [".text", ".exit.text"].map(|name| elf.section_by_name(name).unwrap().size());
    let end = sizes[0].next_multiple_of(16) + sizes[1];
    let addresses = [TEXT - 1, TEXT + end];
    let found = resolve(
        recorded(&file, "[nf_work]"),
        addresses,
        &symbols_in(dir.path()),
    );
    assert_eq!(
        found.functions(),
        ["[nf_work]".to_owned(), format!("[nf_work+{end:#x}]")]
    );
}
