//! Functions of the kernel and its modules.

use super::compile::Program;
use super::recording::{recording, resolve, shown};
use super::{link_to_endless, make_pipe};
use std::path::Path;
use sto_core::ingest::SymbolOptions;
use sto_core::model::{FrameKind, GnuBuildId};
use sto_core::recording::{Location, Module, ModuleIx, ModuleKind};
use sto_core::stages::symbolize;

const TEXT: u64 = 0xffff_ffff_8100_0000;

const KALLSYMS: &str = "\
0000000000000000 A fixed_percpu_data
ffffffff81000000 T _stext
ffffffff81000000 T _text
ffffffff81000100 t do_work
ffffffff81000200 T __do_sys_read
ffffffff81000200 T __x64_sys_read
ffffffff81000300 W weak_one
ffffffff81000400 D some_data
ffffffffc0000000 t init_module\t[nf_tables]
ffffffffc0000080 t bpf_prog_6deef7357e7b4530\t[bpf]
not a line
";

pub(super) fn build_id(byte: u8) -> GnuBuildId {
    GnuBuildId::from_bytes(&[byte; 20]).unwrap()
}

/// The notes of a kernel, with another note before the build id.
#[expect(
    clippy::host_endian_bytes,
    reason = "a kernel writes its notes in the byte order of its machine"
)]
fn notes(build_id: &GnuBuildId) -> Vec<u8> {
    let mut notes = Vec::new();
    for (name, kind, desc) in [
        (&b"Xen\0"[..], 18, &b"\0\0\0\x01"[..]),
        (b"GNU\0", 3, build_id.as_bytes()),
    ] {
        for number in [name.len() as u32, desc.len() as u32, kind] {
            notes.extend(number.to_ne_bytes());
        }
        notes.extend(name);
        notes.extend(desc);
    }
    notes
}

fn kernel(build_id: GnuBuildId, text: u64) -> Module {
    Module {
        path: "[kernel.kallsyms]".to_owned(),
        kind: ModuleKind::Kernel,
        build_id: Some(build_id),
        inode: None,
        text_address: Some(text),
        alias: None,
    }
}

fn kernel_module(path: &str) -> Module {
    Module {
        path: path.to_owned(),
        kind: ModuleKind::KernelModule,
        build_id: None,
        inode: None,
        text_address: None,
        alias: None,
    }
}

/// A running kernel with build id 1.
fn running(dir: &Path, kallsyms: &str) -> SymbolOptions {
    std::fs::write(dir.join("kallsyms"), kallsyms).unwrap();
    std::fs::write(dir.join("notes"), notes(&build_id(1))).unwrap();
    SymbolOptions {
        kallsyms: Some(dir.join("kallsyms")),
        kernel_notes: Some(dir.join("notes")),
        ..SymbolOptions::default()
    }
}

#[test]
fn uses_the_running_kernels_symbols_if_recorded() {
    let dir = tempfile::tempdir().unwrap();
    let options = running(dir.path(), KALLSYMS);
    let addresses = [0x101, 0x1ff, 0x210, 0x300, 0x20, 0x450].map(|offset| TEXT + offset);
    let found = resolve(kernel(build_id(1), TEXT), addresses, &options);
    let expected = [
        "do_work",
        "do_work",
        "__x64_sys_read",
        "weak_one",
        "_text",
        "[kernel+0x450]",
    ];
    assert_eq!(found.functions(), expected);
    assert_eq!(found.frames[0][0].kind, FrameKind::Kernel);
    assert_eq!(found.frames[0][0].module, "[kernel]");
    assert_eq!(found.module().file, options.kallsyms);
    assert_eq!(found.module().unresolved, 1);
}

#[test]
fn ignores_notes_that_are_not_a_regular_file() {
    let dir = tempfile::tempdir().unwrap();
    let options = running(dir.path(), KALLSYMS);
    let notes = options.kernel_notes.as_ref().unwrap();
    for prepare in [make_pipe, link_to_endless] {
        std::fs::remove_file(notes).unwrap();
        prepare(notes);
        let found = resolve(kernel(build_id(1), TEXT), [TEXT + 0x101], &options);
        assert_eq!(found.functions(), ["[kernel+0x101]"]);
        let unknown = format!("{} has no build id", notes.display());
        assert!(found.problem().contains(&unknown), "{}", found.problem());
    }
}

#[test]
fn rejects_symbols_of_another_kernel() {
    let dir = tempfile::tempdir().unwrap();
    let options = running(dir.path(), KALLSYMS);
    let found = resolve(kernel(build_id(2), TEXT), [TEXT + 0x101], &options);
    assert_eq!(found.functions(), ["[kernel+0x101]"]);
    let ids = [build_id(1), build_id(2)].map(|id| found.problem().contains(&id.to_string()));
    assert_eq!(ids, [true, true], "{}", found.problem());

    let unknown = Module {
        build_id: None,
        ..kernel(build_id(1), TEXT)
    };
    let found = resolve(unknown, [TEXT + 0x101], &options);
    assert_eq!(found.module().unresolved, 1);
    assert!(
        found.problem().contains("no build id"),
        "{}",
        found.problem()
    );
}

#[test]
fn shifts_addresses_of_another_boot() {
    let dir = tempfile::tempdir().unwrap();
    let options = running(dir.path(), KALLSYMS);
    for recorded in [TEXT + 0x1c00_0000, TEXT - 0x20_0000] {
        let found = resolve(kernel(build_id(1), recorded), [recorded + 0x101], &options);
        assert_eq!(found.functions(), ["do_work"]);
    }
}

#[test]
fn reports_hidden_addresses() {
    let dir = tempfile::tempdir().unwrap();
    let zeros: String = KALLSYMS
        .lines()
        .map(|line| format!("{:016x}{}\n", 0, line.get(16..).unwrap_or("")))
        .collect();
    let options = running(dir.path(), &zeros);
    let found = resolve(kernel(build_id(1), TEXT), [TEXT + 0x101], &options);
    assert_eq!(found.functions(), ["[kernel+0x101]"]);
    assert!(
        found
            .problem()
            .contains("sudo sysctl kernel.kptr_restrict=0")
    );
}

#[test]
fn separates_kernel_modules() {
    let dir = tempfile::tempdir().unwrap();
    let options = running(dir.path(), KALLSYMS);
    let modules = vec![
        kernel(build_id(1), TEXT),
        kernel_module("/lib/modules/6.1/kernel/net/nf-tables.ko.xz"),
        kernel_module("[nf_tables]"),
        kernel_module("[other]"),
    ];
    let address = 0xffff_ffff_c000_0010;
    let addresses = [
        (0, address),
        (1, address),
        (2, address),
        (3, address),
        (0, address + 0x90),
    ];
    let locations = addresses.map(|(module, address)| Location::Address {
        module: ModuleIx(module),
        address,
    });
    let recording = recording(modules, locations.to_vec());
    let names = |recording: &_| {
        let symbols = symbolize(recording, &options);
        let names = (0..5).map(|location| shown(&symbols, location)[0].symbol.clone());
        (names.collect::<Vec<_>>(), symbols.modules)
    };
    let offset = address - TEXT;
    let unresolved = format!("[kernel+{offset:#x}]");
    let expected = [
        &*unresolved,
        "init_module",
        "init_module",
        "[other]",
        "bpf_prog_6deef7357e7b4530",
    ];
    assert_eq!(names(&recording).0, expected);

    // After another boot they have other addresses, and the shift is unknown.
    let later = recording.edit(|recording| {
        recording.modules[0].text_address = Some(TEXT + 0x20_0000);
    });
    let (names, modules) = names(&later.unwrap());
    assert_eq!(names[1..4], ["[nf-tables.ko.xz]", "[nf_tables]", "[other]"]);
    let problem = modules[1]
        .problem
        .as_ref()
        .map_or("", |problem| &problem.text);
    assert!(problem.contains("boot"), "{problem}");
}

#[test]
fn uses_perfs_copy_on_another_machine() {
    let dir = tempfile::tempdir().unwrap();
    let id = build_id(2).to_string();
    let copy = dir.path().join(".build-id").join(&id[..2]).join(&id[2..]);
    std::fs::create_dir_all(&copy).unwrap();
    std::fs::write(copy.join("kallsyms"), KALLSYMS).unwrap();
    let options = SymbolOptions {
        perf_cache: Some(dir.path().to_owned()),
        ..running(dir.path(), "")
    };
    let found = resolve(kernel(build_id(2), TEXT), [TEXT + 0x101], &options);
    assert_eq!(found.functions(), ["do_work"]);
    assert_eq!(found.module().file, Some(copy.join("kallsyms")));
}

#[test]
fn address_far_after_the_last_symbol_is_unresolved() {
    let dir = tempfile::tempdir().unwrap();
    let options = running(
        dir.path(),
        "ffffffff81000000 T _text\nffffffff81000100 t last\n",
    );
    let addresses = [TEXT + 0x200, TEXT + 0x4000_0000, TEXT - 1];
    let found = resolve(kernel(build_id(1), TEXT), addresses, &options);
    assert_eq!(
        found.functions(),
        ["last", "[kernel+0x40000000]", "[kernel]"]
    );
}

/// Compiles `vmlinux` in a folder, linked at kernel addresses, and returns its build id.
fn vmlinux(dir: &Path, source: &str, more: &[&str]) -> GnuBuildId {
    let flags = [
        "-O1",
        "-nostdlib",
        "-static",
        "-no-pie",
        "-fno-pie",
        "-mcmodel=kernel",
        "-fno-toplevel-reorder",
        "-Wl,--build-id,-Ttext=0xffffffff81000000",
    ];
    let compiled = Program::compile(dir, "cc", "kernel.c", source, &[&flags, more].concat());
    std::fs::rename(&compiled.path, dir.join("vmlinux")).unwrap();
    compiled.module().build_id.unwrap()
}

#[test]
fn uses_vmlinux_without_a_symbol_list() {
    let dir = tempfile::tempdir().unwrap();
    let source = "
        __asm__(\".globl _text\\n_text:\");
        __attribute__((noinline)) long do_work(long n) { return n * n; }
        long _start(long n) { return do_work(n) + 1; }
    ";
    let build_id = vmlinux(dir.path(), source, &[]);
    let options = SymbolOptions {
        symbol_dirs: vec![dir.path().to_owned()],
        ..SymbolOptions::default()
    };
    for shift in [0, 0x1a00_0000] {
        let text = TEXT + shift;
        let module = kernel(build_id.clone(), text);
        let found = resolve(module, [text + 1, text + (1 << 21)], &options);
        assert_eq!(found.functions(), ["do_work", "[kernel+0x200000]"]);
        assert_eq!(found.frames[0][0].kind, FrameKind::Kernel);
        assert_eq!(found.module().file, Some(dir.path().join("vmlinux")));
    }
    let other = resolve(kernel(self::build_id(1), TEXT), [TEXT + 1], &options);
    assert_eq!(other.functions(), ["[kernel+0x1]"]);
}

#[test]
fn kernel_debug_info_has_lines_and_the_list_the_rest() {
    let dir = tempfile::tempdir().unwrap();
    let source = "__asm__(\".globl _text\\n_text:\");
static inline __attribute__((always_inline)) long inner(long n) {
    return n * n;
}
__attribute__((noinline)) long do_work(long n) {
    return inner(n) + 7;
}
long _start(long n) { return do_work(n) + 1; }
";
    let build_id = vmlinux(dir.path(), source, &["-g"]);
    // Code that the kernel generates at run time is in no file.
    let hex = build_id.to_string();
    let listed = dir
        .path()
        .join(format!(".build-id/{}/{}", &hex[..2], &hex[2..]));
    std::fs::create_dir_all(&listed).unwrap();
    let list = "ffffffff9b000000 T _text\nffffffff9b300000 t made_later [bpf]\n";
    std::fs::write(listed.join("kallsyms"), list).unwrap();
    let options = SymbolOptions {
        symbol_dirs: vec![dir.path().to_owned()],
        ..SymbolOptions::default()
    };
    let text = TEXT + 0x1a00_0000;
    let module = kernel(build_id, text);
    let found = resolve(module, [text + 1, text + 0x30_0000], &options);
    let frames: Vec<_> = found.frames[0]
        .iter()
        .map(|frame| {
            (
                frame.kind,
                frame.symbol.as_str(),
                frame.file.as_str(),
                frame.line,
            )
        })
        .collect();
    let expected = [
        (FrameKind::Kernel, "do_work", "kernel.c", 6),
        (FrameKind::Inlined, "inner", "kernel.c", 3),
    ];
    assert_eq!(frames, expected);
    assert_eq!(found.functions(), ["do_work", "made_later"]);
}
