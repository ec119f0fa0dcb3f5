//! Damaged files: no panic and no lost location.

use super::compile::Program;
use super::kernel_modules;
use super::recording::resolve;
use crate::common::panics::{note_panics, panicked};
use object::{Object, ObjectSection};
use std::ops::Range;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use sto_core::formats::read_bytes;
use sto_core::ingest::SymbolOptions;
use sto_core::recording::Module;
use sto_test_support::Random;

/// Number of damaged files of each test. A long run: `STO_TEST_DAMAGES=10000 cargo test -p sto-core --release damaged`.
fn damages(usual: usize) -> usize {
    std::env::var("STO_TEST_DAMAGES").map_or(usual, |damages| damages.parse().unwrap())
}

const SOURCE: &str = "
extern volatile long sink;
volatile long sink;
static inline __attribute__((always_inline)) void inner(long n) { sink += n * 3; }
__attribute__((noinline)) void outer(long n) { for (long i = 0; i < n; i++) inner(i); }
int main(int argc, char **argv) { outer(argc); return 0; }
";

/// The parts of a file that are read for symbols.
const READERS: [&str; 6] = [
    "addr2line",
    "gimli",
    "framehop",
    "object",
    "symbolize",
    "binary",
];

/// Resolves a few addresses in the current contents of the file.
fn check(program: &Program) {
    note_panics();
    let code = program.offsets_of("outer");
    assert!(!code.is_empty());
    let addresses = code.chain([0, u64::MAX]);
    let expected = addresses.clone().count();
    let found = resolve(
        program.module_by_inode(),
        addresses,
        &SymbolOptions::default(),
    );
    assert_eq!(found.frames.len(), expected);
    assert!(found.frames.iter().all(|frames| !frames.is_empty()));
    assert_eq!(panicked(&READERS), [""; 0]);
}

fn regions(program: &Program) -> Vec<Range<u64>> {
    let elf = program.elf();
    let headers = program.bytes().len() as u64 - 64 * elf.sections().count() as u64;
    let mut regions = vec![0..0x400, headers..program.bytes().len() as u64];
    let names = [
        ".symtab",
        ".rela.debug_info",
        ".dynsym",
        ".rela.plt",
        ".debug_info",
        ".debug_abbrev",
        ".debug_line",
        ".debug_line_str",
        ".debug_str",
        ".debug_str_offsets",
        ".debug_addr",
        ".debug_ranges",
        ".debug_rnglists",
        ".debug_aranges",
        ".gnu_debugaltlink",
        ".note.gnu.build-id",
        ".eh_frame",
        ".plt",
    ];
    for section in elf.sections() {
        if names.iter().any(|name| section.name() == Ok(name)) {
            regions.extend(
                section
                    .file_range()
                    .map(|(start, size)| start..start + size),
            );
        }
    }
    regions
}

/// Flips a few bytes of a region, or writes an extreme number.
fn damage(bytes: &mut [u8], region: &Range<u64>, random: &mut Random) {
    for _ in 0..=random.below(8) {
        let at =
            (region.start + random.below((region.end - region.start) as usize) as u64) as usize;
        let edge = [
            0,
            1,
            0x7fff_ffff_ffff_ffff,
            u64::MAX,
            1 << 31,
            1 << 32,
            0xffff_ffff,
        ];
        let word = edge[random.below(edge.len())].to_le_bytes();
        let length = [1, 1, 2, 4, 8][random.below(5)].min(bytes.len() - at);
        match length {
            1 => bytes[at] = random.bits() as u8,
            _ => bytes[at..at + length].copy_from_slice(&word[..length]),
        }
    }
}

/// C++ code without standard headers, which would add megabytes: each damaged file is read completely.
const CPP_HEADER: &str = "
namespace shapes {
template <class T> struct Box {
    T side;
    T area() const { return side * side; }
};
template <class T> struct Boxes {
    T *boxes;
    long length;
    explicit Boxes(long n) : boxes(new T[n]), length(n) {}
    ~Boxes() { delete[] boxes; }
    template <class F> void each(F &&f) {
        for (long i = 0; i < length; i++) f(boxes[i]);
    }
};
}
";

const CPP_SOURCE: &str = "
#include \"shapes.h\"
volatile long sink;
extern \"C\" __attribute__((noinline)) void outer(long n) {
    shapes::Boxes<shapes::Box<long>> boxes(n);
    boxes.each([](shapes::Box<long> &box) { box.side = sink; });
    boxes.each([](shapes::Box<long> &box) { sink += box.area(); });
}
int main(int argc, char **argv) { try { outer(argc); } catch (...) { return 1; } return 0; }
";

#[test]
fn damaged_files_never_panic() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("shapes.h"), CPP_HEADER).unwrap();
    let compilations = [
        ("cc", "app.c", SOURCE, &["-g", "-O2"][..]),
        ("cc", "app.c", SOURCE, &["-g", "-O2", "-gz=zlib"]),
        ("cc", "app.c", SOURCE, &["-g", "-O2", "-gdwarf-4"]),
        ("cc", "app.c", SOURCE, &["-g", "-O2", "-gsplit-dwarf"]),
        ("c++", "app.cpp", CPP_SOURCE, &["-g", "-O2"]),
        ("c++", "app.cpp", CPP_SOURCE, &["-g", "-O1", "-gdwarf-4"]),
    ];
    for (tool, file, source, flags) in compilations {
        let program = Program::compile(dir.path(), tool, file, source, flags);
        let regions = regions(&program);
        let mut random = Random::new(1);
        for _ in 0..damages(100) {
            let mut bytes = program.bytes().to_vec();
            let region = &regions[random.below(regions.len())];
            damage(&mut bytes, region, &mut random);
            std::fs::write(&program.path, bytes).unwrap();
            check(&program);
        }
    }
}

#[test]
fn damaged_kernel_modules_never_panic() {
    let dir = tempfile::tempdir().unwrap();
    for flags in [["-g", "-gz=none"], ["-g", "-gz=zlib"]] {
        let module = kernel_modules::module(dir.path(), &flags);
        let recorded = Module {
            build_id: None,
            ..kernel_modules::recorded(&module, "nf_work.ko")
        };
        let options = SymbolOptions {
            symbol_files: vec![("nf_work.ko".to_owned(), module.path.clone())],
            ..SymbolOptions::default()
        };
        let addresses = || (0..64).map(|at| kernel_modules::TEXT + at);
        let found = resolve(recorded.clone(), addresses(), &options);
        assert_eq!(found.frames[0][0].symbol, "do_work");
        note_panics();
        let regions = regions(&module);
        let mut random = Random::new(1);
        for _ in 0..damages(200) {
            let mut bytes = module.bytes().to_vec();
            let region = &regions[random.below(regions.len())];
            damage(&mut bytes, region, &mut random);
            std::fs::write(&module.path, bytes).unwrap();
            let found = resolve(recorded.clone(), addresses(), &options);
            assert!(found.frames.iter().all(|frames| !frames.is_empty()));
        }
        assert_eq!(panicked(&READERS), [""; 0]);
    }
}

/// `DW_LNS_set_file`, the opcode of a line program that selects a file.
const SET_FILE: u8 = 4;

/// Debug info of units without functions, which all have the same ranges, written in assembly.
fn with_ranges(folder: &Path, units: usize, ranges: &str) -> Program {
    let unit = "    .long 12\n    .value 4\n    .long 0\n    .byte 8, 1\n    .long 0\n";
    let source = format!(
        "    .globl main\n    .type main, @function\nmain:\n    .skip 65536, 0x90\n    .size main, .-main\n\
         .section .debug_info\n    .rept {units}\n{unit}    .endr\n\
         .section .debug_abbrev\n    .byte 1, 0x11, 0, 0x55, 0x17, 0, 0, 0\n\
         .section .debug_ranges\n{ranges}    .quad 0, 0\n"
    );
    Program::compile(folder, "cc", "app.s", &source, &[])
}

/// A lookup visits all ranges that end after its address, up to the last that begins before it.
#[test]
fn limits_lookups_in_overlapping_units() {
    let folder = tempfile::tempdir().unwrap();
    let resolved = |name: &str, units, ranges: &str| {
        let program = with_ranges(&folder.path().join(name), units, ranges);
        let addresses = program.offsets_of("main").take(5_000);
        let options = SymbolOptions::default();
        let found = resolve(program.module_by_inode(), addresses, &options);
        assert!(found.functions().iter().all(|name| *name == "main"));
        found.problem().to_owned()
    };
    let wide = "    .quad 1, 0x1000000\n";
    let narrow = "    .rept 60000\n    .quad 0x800000, 0x800001\n    .endr\n";
    let expected = "too many address ranges of its units overlap";
    let within = resolved("within", 1, &format!("{wide}{narrow}"));
    assert!(within.contains(expected), "{within}");
    assert_eq!(resolved("apart", 1, narrow), "");
    // 90,000,000 ranges in 1.5 MB.
    let shared = resolved("shared", 1_500, narrow);
    assert!(shared.contains(expected), "{shared}");
}

#[test]
fn line_of_an_unlisted_file_has_no_file() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("shapes.h"), CPP_HEADER).unwrap();
    let program = Program::compile(dir.path(), "c++", "app.cpp", CPP_SOURCE, &["-g", "-O2"]);
    let lines = program.offsets_of_section(".debug_line");
    let mut chosen = 0;
    for at in lines.start as usize..lines.end as usize - 1 {
        if program.bytes()[at] == SET_FILE {
            chosen += 1;
            let mut bytes = program.bytes().to_vec();
            bytes[at + 1] = 0x7f;
            std::fs::write(&program.path, bytes).unwrap();
            check(&program);
        }
    }
    assert!(chosen > 4, "{chosen}");
}

#[test]
fn truncated_files_never_panic() {
    let dir = tempfile::tempdir().unwrap();
    let program = Program::c(dir.path(), SOURCE);
    let len = program.bytes().len();
    for end in (0..len).step_by(len / 60) {
        std::fs::write(&program.path, &program.bytes()[..end]).unwrap();
        check(&program);
    }
}

#[test]
fn does_not_decompress_sections_of_impossible_size() {
    let dir = tempfile::tempdir().unwrap();
    let flags = ["-g", "-O2", "-gz=zlib"];
    let program = Program::compile(dir.path(), "cc", "app.c", SOURCE, &flags);
    let start = program.offsets_of_section(".debug_info").start as usize;
    let mut bytes = program.bytes().to_vec();
    // `Elf64_Chdr`: type, reserved, and at byte 8 the size.
    bytes[start + 8..start + 16].copy_from_slice(&(1u64 << 44).to_le_bytes());
    std::fs::write(&program.path, bytes).unwrap();
    let found = resolve(
        program.module_by_inode(),
        program.offsets_of("outer"),
        &SymbolOptions::default(),
    );
    assert!(found.functions().iter().all(|name| *name == "outer"));
    assert!(
        found.problem().contains("debug info"),
        "{}",
        found.problem()
    );
}

#[test]
fn damaged_call_frame_information_never_panics() {
    let dir = tempfile::tempdir().unwrap();
    let program = Program::compile(dir.path(), "cc", "app.c", SOURCE, &["-O2", "-s"]);
    let code = program.offsets_of_section(".text");
    let entries = program.offsets_of_section(".eh_frame");
    assert!(!entries.is_empty());
    let mut random = Random::new(1);
    for _ in 0..500 {
        let mut bytes = program.bytes().to_vec();
        for _ in 0..=random.below(4) {
            let at = entries.start + random.below((entries.end - entries.start) as usize) as u64;
            bytes[at as usize] = random.bits() as u8;
        }
        std::fs::write(&program.path, &bytes).unwrap();
        let found = resolve(
            program.module_by_inode(),
            code.clone().step_by(7),
            &SymbolOptions::default(),
        );
        assert!(found.frames.iter().all(|frames| !frames.is_empty()));
    }
}

/// A recording with saved stacks, like that of `perf record --call-graph dwarf -o -`: a sample at each of these offsets
/// of a program, with addresses of the program on their stacks.
fn saved_stacks(program: &Path, offsets: &[u64]) -> Vec<u8> {
    const BASE: u64 = 0x5555_0000_0000;
    const STACK: u64 = 0x7ffe_0000_0000;
    let record = |kind: u32, body: &[u8]| {
        let header = u64::from(kind) | 2 << 32 | (8 + body.len() as u64) << 48;
        [&header.to_le_bytes()[..], body].concat()
    };
    let words = |words: &[u64]| {
        words
            .iter()
            .flat_map(|word| word.to_le_bytes())
            .collect::<Vec<u8>>()
    };
    let metadata = std::fs::metadata(program).unwrap();
    let mut path = program.to_str().unwrap().as_bytes().to_vec();
    path.resize(path.len() / 8 * 8 + 8, 0);

    let mut file = b"PERFILE2".to_vec();
    file.extend(words(&[16]));
    // `struct perf_event_attr`: samples with address, thread, period, registers 6 to 8 and stack.
    let sample_type = 1 | 2 | 1 << 8 | 1 << 12 | 1 << 13;
    let attr = [
        112 << 32 | 1,
        0,
        1000,
        sample_type,
        0,
        0,
        0,
        0,
        0,
        0,
        0x1c0,
        512,
        0,
        0,
    ];
    file.extend(record(64, &words(&attr)));
    let mapped = words(&[
        7 << 32 | 7,
        BASE,
        metadata.len(),
        0,
        0,
        metadata.ino(),
        0,
        2 << 32 | 5,
    ]);
    file.extend(record(10, &[mapped, path].concat()));
    for &offset in offsets {
        let ip = BASE + offset;
        let mut sample = vec![ip, 7 << 32 | 7, 1000, 2, STACK + 256, STACK, ip, 512];
        sample.extend((0..64).map(|slot| match slot % 3 {
            0 => STACK + slot * 8 + 64,
            _ => BASE + offsets[slot as usize % offsets.len()],
        }));
        sample.push(512);
        file.extend(record(9, &words(&sample)));
    }
    file
}

#[test]
fn unwinding_with_damaged_rules_never_panics() {
    let dir = tempfile::tempdir().unwrap();
    for flags in [
        &["-O2"][..],
        &["-O2", "-Wl,--no-eh-frame-hdr"],
        &["-O2", "-g", "-fno-asynchronous-unwind-tables"],
    ] {
        let program = Program::compile(dir.path(), "cc", "app.c", SOURCE, flags);
        let code = program.offsets_of_section(".text");
        let offsets: Vec<u64> = code.step_by(5).collect();
        let recording = saved_stacks(&program.path, &offsets);
        let depth = || {
            let read = read_bytes(Path::new("a/file"), &recording, &Default::default()).unwrap();
            let stacks = read
                .samples
                .iter()
                .map(|sample| read.stacks.get(sample.stack).len());
            stacks.sum::<usize>()
        };
        assert!(depth() > offsets.len(), "nothing is unwound");
        let headers = [0..0x40, 0x40..0x400];
        let mut regions = headers.to_vec();
        for name in [".eh_frame_hdr", ".eh_frame", ".debug_frame"] {
            let section = program.offsets_of_section(name);
            regions.extend((!section.is_empty()).then_some(section.clone()));
            // The table by which entries are found.
            regions.extend((!section.is_empty()).then_some(section.start..section.start + 16));
        }
        let mut random = Random::new(1);
        for _ in 0..damages(200) {
            let mut bytes = program.bytes().to_vec();
            let region = &regions[random.below(regions.len())];
            damage(&mut bytes, region, &mut random);
            std::fs::write(&program.path, &bytes).unwrap();
            depth();
        }
    }
}
