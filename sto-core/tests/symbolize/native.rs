//! Functions, lines and inlined functions of compiled programs.

use super::compile::{Program, run};
use super::recording::{Shown, recording, resolve, resolve_with, shown};
use std::collections::BTreeSet;
use sto_core::ingest::SymbolOptions;
use sto_core::model::{Frame, FrameKind, Granularity};
use sto_core::recording::{Location, Module, ModuleIx, ModuleKind};
use sto_core::stages::symbolize;
use sto_test_support::missing;

const INLINING: &str = r#"
extern volatile long sink;
volatile long sink;
static inline __attribute__((always_inline)) void inner(long n) {
    sink += n * 3;
}
static inline __attribute__((always_inline)) void middle(long n) {
    sink += n;
    inner(n + 1);
}
__attribute__((noinline)) void outer(long n) {
    sink = n;
    middle(n);
}
int main(int argc, char **argv) {
    outer(argc);
    return 0;
}
"#;

fn brief(frames: &[Shown]) -> Vec<(FrameKind, &str, &str, u32)> {
    let frames = frames.iter();
    frames
        .map(|frame| (frame.kind, &*frame.symbol, &*frame.file, frame.line))
        .collect()
}

#[test]
fn inlined_functions_follow_their_caller_with_own_lines() {
    let dir = tempfile::tempdir().unwrap();
    let program = Program::c(dir.path(), INLINING);
    let found = resolve(
        program.module(),
        program.offsets_of("outer"),
        &SymbolOptions::default(),
    );
    assert_eq!(found.module().unresolved, 0);
    assert_eq!(found.module().file.as_ref(), Some(&program.path));
    assert_eq!(found.problem(), "");
    let chain = vec![
        (FrameKind::User, "outer", "app.c", 13),
        (FrameKind::Inlined, "middle", "app.c", 9),
        (FrameKind::Inlined, "inner", "app.c", 5),
    ];
    assert!(
        found.frames.iter().any(|frames| brief(frames) == chain),
        "{:#?}",
        found.frames
    );
    let alone = vec![(FrameKind::User, "outer", "app.c", 12)];
    assert!(
        found.frames.iter().any(|frames| brief(frames) == alone),
        "{:#?}",
        found.frames
    );
    for frame in found.frames.iter().flatten() {
        assert_eq!((&*frame.module, frame.frame_line), ("app", 0));
    }
    // With frames by function there are three, however many lines ran.
    assert_eq!(found.symbols.frames.len(), 3);
}

#[test]
fn line_granularity_keeps_lines_in_frames() {
    let dir = tempfile::tempdir().unwrap();
    let program = Program::c(dir.path(), INLINING);
    let found = resolve_with(
        program.module(),
        program.offsets_of("outer"),
        &SymbolOptions::default(),
        Granularity::Line,
    );
    assert!(found.symbols.frames.len() > 3);
    for frame in found.frames.iter().flatten() {
        assert_eq!(frame.frame_line, frame.line);
    }
}

#[test]
fn checkouts_of_one_source_share_frames() {
    let dir = tempfile::tempdir().unwrap();
    let frames = ["ann/app", "somewhere/else/app"].map(|checkout| {
        let program = Program::c(&dir.path().join(checkout), INLINING);
        let found = resolve(
            program.module(),
            program.offsets_of("outer"),
            &SymbolOptions::default(),
        );
        found.frames
    });
    assert_eq!(frames[0], frames[1]);
}

#[test]
fn function_has_one_file_despite_includes() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("first.inc"), "sink = n;\nsink += n * 7;\n").unwrap();
    std::fs::write(dir.path().join("then.inc"), "sink -= n;\n").unwrap();
    let source = "extern volatile long sink;\nvolatile long sink;\n\
        __attribute__((noinline)) void work(long n) {\n\
        #include \"first.inc\"\n#include \"then.inc\"\nsink++;\n}\n\
        int main(int argc, char **argv) { work(argc); return 0; }\n";
    let program = Program::c(dir.path(), source);
    let found = resolve(
        program.module(),
        program.offsets_of("work"),
        &SymbolOptions::default(),
    );
    assert_eq!(found.symbols.frames.len(), 1);
    assert_ne!(found.frames[0][0].file, "");
    let lines: BTreeSet<u32> = found.frames.iter().map(|frames| frames[0].line).collect();
    assert!(lines.contains(&2) && lines.contains(&6), "{lines:?}");
}

#[test]
fn resolves_a_position_dependent_program() {
    let dir = tempfile::tempdir().unwrap();
    let flags = ["-g", "-O2", "-static", "-no-pie", "-Wl,--build-id"];
    let program = Program::compile(dir.path(), "cc", "app.c", INLINING, &flags);
    let found = resolve(
        program.module(),
        program.offsets_of("outer"),
        &SymbolOptions::default(),
    );
    assert!(
        found
            .frames
            .iter()
            .all(|frames| frames[0].symbol == "outer")
    );
}

#[test]
fn reads_compressed_debug_info() {
    let dir = tempfile::tempdir().unwrap();
    let flags = ["-g", "-gz=zlib", "-O2", "-Wl,--build-id"];
    let program = Program::compile(dir.path(), "cc", "app.c", INLINING, &flags);
    let found = resolve(
        program.module(),
        program.offsets_of("outer"),
        &SymbolOptions::default(),
    );
    assert!(found.frames.iter().any(|frames| frames.len() == 3));
    assert!(found.frames.iter().all(|frames| frames[0].file == "app.c"));
}

/// The second unit of a program, whose part of a package does not begin at the start of the package.
const SECOND: &str = r#"
extern volatile long sink;
static inline __attribute__((always_inline)) long halved(long n) {
    return sink / (n + 2);
}
__attribute__((noinline)) long second(long n) {
    long sum = 0;
    for (long i = 0; i < n; i++)
        sum += halved(i);
    return sum;
}
"#;

/// gold's `dwp` only supports DWARF 4, the default of rustc. DWARF 5 packages have another index.
#[test]
fn reads_packaged_split_debug_info() {
    for (compiler, version, packer) in [
        ("cc", "-gdwarf-4", "dwp"),
        ("clang", "-gdwarf-4", "llvm-dwp"),
        ("clang", "-gdwarf-5", "llvm-dwp"),
    ] {
        if missing(&[compiler, packer]) {
            continue;
        }
        let case = format!("{compiler} {version}, {packer}");
        let dir = tempfile::tempdir().unwrap();
        let flags = ["second.c", version, "-O2", "-Wl,--build-id"];
        let built = |name: &str, flags: &[&str]| {
            let dir = dir.path().join(name);
            std::fs::create_dir(&dir).unwrap();
            std::fs::write(dir.join("second.c"), SECOND).unwrap();
            Program::compile(&dir, compiler, "app.c", INLINING, flags)
        };
        let whole = built("whole", &flags);
        let split = built("split", &[&flags[..], &["-gsplit-dwarf"]].concat());
        let split_dir = dir.path().join("split");
        run(&split_dir, packer, &["-e", "app", "-o", "app.dwp"]);
        // Then the package is the only file with the debug info.
        for entry in std::fs::read_dir(&split_dir).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|end| end == "dwo") {
                std::fs::remove_file(path).unwrap();
            }
        }
        let found = |program: &Program, options: &SymbolOptions| {
            let functions = ["outer", "second"].map(|name| program.offsets_of(name));
            resolve(program.module(), functions.into_iter().flatten(), options).frames
        };
        let expected = found(&whole, &SymbolOptions::default());
        for (file, innermost) in [("app.c", "inner"), ("second.c", "halved")] {
            let frames = expected.iter().flatten();
            let mut inlined = frames.filter(|frame| frame.symbol == innermost);
            assert!(inlined.any(|frame| frame.file == file), "{case}");
        }
        let options = SymbolOptions {
            symbol_dirs: vec![dir.path().join("symbols")],
            ..SymbolOptions::default()
        };
        assert_eq!(found(&split, &options), expected, "{case}");
        std::fs::create_dir(&options.symbol_dirs[0]).unwrap();
        let moved = options.symbol_dirs[0].join("app.dwp");
        std::fs::rename(split_dir.join("app.dwp"), moved).unwrap();
        assert_eq!(found(&split, &options), expected, "{case}");
    }
}

#[test]
fn reads_unpackaged_split_debug_info() {
    for tool in ["cc", "clang"] {
        if missing(&[tool]) {
            continue;
        }
        for version in ["-gdwarf-4", "-gdwarf-5"] {
            let dir = tempfile::tempdir().unwrap();
            let flags = [version, "-O2", "-Wl,--build-id"];
            let built = |name: &str, flags: &[&str]| {
                Program::compile(&dir.path().join(name), tool, "app.c", INLINING, flags)
            };
            let whole = built("whole", &flags);
            let split = built("split", &[&flags[..], &["-gsplit-dwarf"]].concat());
            let expected = resolve(
                whole.module(),
                whole.offsets_of("outer"),
                &SymbolOptions::default(),
            );
            assert!(expected.frames.iter().any(|frames| frames.len() == 3));
            let moved = dir.path().join("moved");
            let options = SymbolOptions {
                symbol_dirs: vec![moved.clone()],
                ..SymbolOptions::default()
            };
            let found = || resolve(split.module(), split.offsets_of("outer"), &options).frames;
            assert_eq!(found(), expected.frames, "{tool} {version}");
            std::fs::create_dir(&moved).unwrap();
            let files = std::fs::read_dir(dir.path().join("split")).unwrap();
            let files = files.map(|entry| entry.unwrap().path());
            let mut files = files.filter(|path| path.extension().is_some_and(|e| e == "dwo"));
            let file = files.next().unwrap();
            let copy = moved.join(file.file_name().unwrap());
            std::fs::rename(&file, &copy).unwrap();
            assert_eq!(found(), expected.frames, "{tool} {version}");
            // The file of another compilation has another id.
            let other = INLINING.replace("middle", "centre");
            let flags = [&flags[..], &["-gsplit-dwarf", "-c"]].concat();
            let other_dir = dir.path().join("other");
            Program::compile(&other_dir, tool, "app.c", &other, &flags);
            let files = std::fs::read_dir(&other_dir).unwrap();
            let mut files = files.map(|entry| entry.unwrap().path());
            let other = files.find(|path| path.extension().is_some_and(|e| e == "dwo"));
            std::fs::rename(other.unwrap(), copy).unwrap();
            assert!(
                found().iter().all(|frames| frames.len() == 1),
                "{tool} {version}"
            );
        }
    }
}

const RUST: &str = "
use std::hint::black_box;
#[inline(always)]
fn inner(n: u64) -> u64 {
    (0..n).fold(0, |sum: u64, i| sum.wrapping_mul(31) ^ black_box(i))
}
#[no_mangle]
#[inline(never)]
fn outer(n: u64) -> u64 {
    (0..n).fold(0, |sum, _| sum ^ inner(1000))
}
fn main() {
    println!(\"{}\", outer(4));
}
";

#[test]
fn reads_packed_debug_info_of_rust() {
    if missing(&["rustc"]) {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let found = ["off", "packed"].map(|split| {
        let option = format!("-Csplit-debuginfo={split}");
        let flags = ["-O", "-g", &option, "-Clink-arg=-Wl,--build-id"];
        let program = Program::compile(&dir.path().join(split), "rustc", "app.rs", RUST, &flags);
        assert_eq!(
            program.path.with_extension("dwp").exists(),
            split == "packed"
        );
        let offsets = program.offsets_of("outer");
        resolve(program.module(), offsets, &SymbolOptions::default()).frames
    });
    let [whole, packed] = found;
    assert!(
        whole
            .iter()
            .flatten()
            .any(|frame| frame.symbol == "app::inner")
    );
    assert_eq!(packed, whole);
}

#[test]
fn unresolved_locations_are_named_by_module_and_offset() {
    let module = |path: &str, kind| Module {
        path: path.to_owned(),
        kind,
        build_id: None,
        inode: None,
        text_address: None,
        alias: None,
    };
    let modules = vec![
        module("/opt/app/libgone.so", ModuleKind::File),
        module("//anon", ModuleKind::ProcessMemory { pid: 7 }),
        module("[vdso]", ModuleKind::Anonymous),
        module("/memfd:doublemapper (deleted)", ModuleKind::File),
    ];
    let addresses = (0..4).map(|module| Location::Address {
        module: ModuleIx(module),
        address: 0x1230 + u64::from(module),
    });
    let recording = recording(modules, addresses.chain([Location::Unmapped]).collect());
    let symbols = symbolize(&recording, &SymbolOptions::default());
    let frames: Vec<(String, String)> = (0..5)
        .map(|location| {
            let [frame] = &shown(&symbols, location)[..] else {
                panic!("one frame for each")
            };
            assert_eq!(frame.kind, FrameKind::Unresolved);
            (frame.module.clone(), frame.symbol.clone())
        })
        .collect();
    let expected = [
        ("libgone.so", "[libgone.so+0x1230]"),
        ("anon", "[anon]"),
        ("[vdso]", "[vdso]"),
        (
            "memfd:doublemapper (deleted)",
            "[memfd:doublemapper (deleted)+0x1233]",
        ),
        ("", "[unknown]"),
    ];
    let expected = expected.map(|(module, symbol)| (module.to_owned(), symbol.to_owned()));
    assert_eq!(frames, expected);
    let problems: Vec<&str> = symbols
        .modules
        .iter()
        .map(|module| module.problem.as_ref().map_or("", |problem| &problem.text))
        .collect();
    assert!(
        problems[0].contains("no build id") && problems[0].contains("perf record --buildid-mmap")
    );
    assert!(problems[1].contains("JIT") && problems[1].contains("no perf map of process 7"));
    assert_eq!(problems[2], "");
    assert!(problems[3].contains("without a file"));
}

#[test]
fn nameless_functions_are_named_after_their_first_address() {
    if missing(&["objcopy"]) {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let program = Program::c(dir.path(), INLINING);
    let outer = program.offsets_of("outer");
    run(dir.path(), "objcopy", &["--strip-all", "app", "stripped"]);
    let stripped = Program::open(&dir.path().join("stripped"));
    let main = program.offsets_of("main");
    let expected = [&outer, &main].map(|function| format!("[stripped+{:#x}]", function.start));
    for (function, expected) in [outer, main].into_iter().zip(expected) {
        let found = resolve(stripped.module(), function, &SymbolOptions::default());
        assert!(
            found.functions().iter().all(|found| *found == expected),
            "{:?}, not {expected}",
            found.functions()
        );
        assert_eq!(found.frames[0][0].kind, FrameKind::Unresolved);
        assert_eq!(found.module().unresolved, found.frames.len());
    }
    // After all functions, only the address is known.
    let after = stripped.offsets_of_section(".fini").end;
    let found = resolve(stripped.module(), [after], &SymbolOptions::default());
    assert_eq!(found.functions(), [format!("[stripped+{after:#x}]")]);
}

#[test]
fn keeps_frames_named_by_the_format() {
    let frame = Frame {
        module: "app",
        symbol: "work",
        kind: FrameKind::Inlined,
        file: "app.c",
        line: 7,
    };
    let recording = recording(Vec::new(), Vec::new()).edit(|recording| {
        recording.locations = vec![Location::Named(recording.named.insert(frame))];
    });
    let recording = recording.unwrap();
    for (granularity, line) in [(Granularity::Function, 0), (Granularity::Line, 7)] {
        let options = SymbolOptions {
            granularity,
            ..SymbolOptions::default()
        };
        let symbols = symbolize(&recording, &options);
        let frames = shown(&symbols, 0);
        assert_eq!(brief(&frames), [(FrameKind::Inlined, "work", "app.c", 7)]);
        assert_eq!(frames[0].frame_line, line);
    }
}

#[test]
fn result_does_not_depend_on_the_number_of_threads() {
    if missing(&["objcopy"]) {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    // Enough addresses for several chunks.
    let functions: String = (0..600)
        .map(|i| {
            format!(
                "__attribute__((noinline)) long f{i}(long n) {{ return n * n / {}; }}\n",
                i + 3
            )
        })
        .collect();
    let calls: String = (0..600).map(|i| format!("s += f{i}(n);")).collect();
    let source =
        format!("{functions}\nint main(int n, char **v) {{ long s = 0; {calls} return s; }}");
    let program = Program::c(dir.path(), &source);
    let stripped = dir.path().join("stripped");
    run(dir.path(), "objcopy", &["--strip-debug", "app", "stripped"]);
    let modules = vec![program.module(), Program::open(&stripped).module()];
    let text = program.offsets_of_section(".text");
    let mut locations = Vec::new();
    for offset in text.clone().step_by(2) {
        // Not in the order of addresses.
        let offset = text.start + (offset * 7919) % (text.end - text.start);
        for module in [0, 1].map(ModuleIx) {
            locations.push(Location::Address {
                module,
                address: offset,
            });
        }
    }
    assert!(locations.len() > 2 * 8192);
    let recording = recording(modules, locations);
    let results = [1, 4].map(|threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        let resolve = || symbolize(&recording, &SymbolOptions::default());
        format!("{:?}", pool.unwrap().install(resolve))
    });
    assert!(results[0].contains("f599"));
    assert!(results[0] == results[1], "one thread and four differ");
}
