//! Damaged files: no panic, no lost location.

use super::compile::Program;
use super::recording::resolve;
use object::{Object, ObjectSection};
use std::ops::Range;
use sto_core::symbolize::SymbolOptions;

const SOURCE: &str = "
extern volatile long sink;
volatile long sink;
static inline __attribute__((always_inline)) void inner(long n) { sink += n * 3; }
__attribute__((noinline)) void outer(long n) { for (long i = 0; i < n; i++) inner(i); }
int main(int argc, char **argv) { outer(argc); return 0; }
";

/// Numbers that look random and are the same in every run (splitmix64).
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, end: u64) -> u64 {
        self.next() % end.max(1)
    }
}

/// Resolves a few addresses of the file as it is now, whatever that is.
fn check(program: &Program) {
    let addresses = program.offsets_of("outer").chain([0, u64::MAX]);
    let expected = addresses.clone().count();
    let found = resolve(
        program.module_by_inode(),
        addresses,
        &SymbolOptions::default(),
    );
    assert_eq!(found.frames.len(), expected);
    assert!(found.frames.iter().all(|frames| !frames.is_empty()));
}

fn regions(program: &Program) -> Vec<Range<u64>> {
    let elf = program.elf();
    let headers = program.bytes().len() as u64 - 64 * elf.sections().count() as u64;
    let mut regions = vec![0..0x400, headers..program.bytes().len() as u64];
    let names = [
        ".symtab",
        ".dynsym",
        ".rela.plt",
        ".debug_info",
        ".debug_abbrev",
        ".debug_line",
        ".debug_rnglists",
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

#[test]
fn a_file_with_flipped_bytes_never_panics() {
    let dir = tempfile::tempdir().unwrap();
    for flags in [&["-g", "-O2"][..], &["-g", "-O2", "-gz=zlib"]] {
        let program = Program::compile(dir.path(), "cc", "app.c", SOURCE, flags);
        let regions = regions(&program);
        let mut numbers = Numbers(1);
        for _ in 0..200 {
            let mut bytes = program.bytes().to_vec();
            let region = &regions[numbers.below(regions.len() as u64) as usize];
            for _ in 0..=numbers.below(8) {
                let place = region.start + numbers.below(region.end - region.start);
                bytes[place as usize] = numbers.next() as u8;
            }
            std::fs::write(&program.path, bytes).unwrap();
            check(&program);
        }
    }
}

#[test]
fn a_file_that_is_cut_never_panics() {
    let dir = tempfile::tempdir().unwrap();
    let program = Program::c(dir.path(), SOURCE);
    let len = program.bytes().len();
    for end in (0..len).step_by(len / 60) {
        std::fs::write(&program.path, &program.bytes()[..end]).unwrap();
        check(&program);
    }
}

#[test]
fn a_section_that_claims_to_unpack_to_terabytes_is_not_unpacked() {
    let dir = tempfile::tempdir().unwrap();
    let flags = ["-g", "-O2", "-gz=zlib"];
    let program = Program::compile(dir.path(), "cc", "app.c", SOURCE, &flags);
    let start = program.offsets_of_section(".debug_info").start as usize;
    let mut bytes = program.bytes().to_vec();
    // Elf64_Chdr: type, reserved, and at byte 8 the size.
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
    let mut numbers = Numbers(1);
    for _ in 0..500 {
        let mut bytes = program.bytes().to_vec();
        for _ in 0..=numbers.below(4) {
            let at = entries.start + numbers.below(entries.end - entries.start);
            bytes[at as usize] = numbers.next() as u8;
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
