//! Symbol files with the highest cost for their size, and addresses to look up in them.

use std::fs;
use std::io::Write;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use sto_core::model::GnuBuildId;
use sto_core::recording::{Module, ModuleKind};

/// A name, a function that writes the files to a folder, and a function that returns the module, first address and
/// number of addresses to look up.
pub(crate) type Shape = (&'static str, fn(&Path), fn(&Path) -> (Module, u64, u64));

/// Number of addresses, and of entries in most files.
const MANY: u64 = 1_000_000;
const PID: u32 = 7;

pub(crate) const SHAPES: [Shape; 11] = [
    (
        "perf map: functions within one",
        |folder| {
            map(
                folder,
                (0..MANY).map(|ix| (ix, if ix == 0 { MANY } else { 1 - ix % 2 })),
            )
        },
        in_map,
    ),
    (
        "perf map: each function within the one before",
        |folder| map(folder, (0..MANY).map(|ix| (ix, MANY - ix))),
        in_map,
    ),
    ("jitdump: a function of many lines", jit_lines, in_jit_lines),
    ("kernel list: names of one address", kernel_list, |folder| {
        fs::metadata(folder).unwrap();
        (
            module(String::new(), ModuleKind::Kernel, None),
            0xffff_0000,
            MANY,
        )
    }),
    (
        "symbols: each function within the one before",
        |folder| {
            symbols(folder, MANY, &|ix| (ix, MANY - ix, 1), b"\0f\0");
        },
        in_elf,
    ),
    (
        "symbols: names that share an end",
        |folder| {
            let name = [&[0], &*vec![b'f'; 1 << 20], &[0]].concat();
            symbols(folder, 100_000, &|ix| (ix, 1, 1 + ix as u32), &name);
        },
        |folder| (in_elf(folder).0, 0, 100_000),
    ),
    ("unwinding rules: a function each", call_frames, in_elf),
    (
        "segments",
        |folder| {
            elf(folder, 60_000, MANY, &[]);
        },
        in_elf,
    ),
    (
        "debug info: ranges within one",
        |folder| {
            let narrow = (1..=MANY).map(|ix| [ix, ix + 1]).chain([[1, 10 * MANY]]);
            debug_info(folder, 1, narrow);
        },
        |folder| (in_elf(folder).0, 0, 10_000),
    ),
    (
        "debug info: units that share their ranges",
        |folder| {
            debug_info(folder, 3_000, (1..=3_000).map(|ix| [ix, ix + 1]));
        },
        |folder| (in_elf(folder).0, 0, 3_000),
    ),
    (
        "debug info: a unit each",
        |folder| {
            debug_info(folder, 1_000_000, [[1, 2]].into_iter());
        },
        |folder| (in_elf(folder).0, 2, 1_000),
    ),
];

fn module(path: String, kind: ModuleKind, inode: Option<u64>) -> Module {
    let is_kernel = kind == ModuleKind::Kernel;
    Module {
        path,
        kind,
        build_id: is_kernel
            .then(|| GnuBuildId::from_bytes(&[1; 20]))
            .flatten(),
        inode,
        text_address: is_kernel.then_some(0xffff_0000),
        alias: None,
    }
}

fn in_map(_: &Path) -> (Module, u64, u64) {
    (
        module(
            "//anon".to_owned(),
            ModuleKind::ProcessMemory { pid: PID },
            None,
        ),
        0,
        MANY,
    )
}

fn map(folder: &Path, functions: impl Iterator<Item = (u64, u64)>) {
    let lines = functions.map(|(start, size)| format!("{start:x} {size:x} f{start}\n"));
    fs::write(
        folder.join(format!("perf-{PID}.map")),
        lines.collect::<String>(),
    )
    .unwrap();
}

fn kernel_list(folder: &Path) {
    let folder = folder.join(".build-id/01/01010101010101010101010101010101010101");
    fs::create_dir_all(&folder).unwrap();
    let names = (0..MANY).map(|ix| format!("00000000ffff0000 d n{ix}\n"));
    let text = format!("00000000ffff0000 T _text\n{}", names.collect::<String>());
    fs::write(folder.join("kallsyms"), text).unwrap();
}

fn words(words: &[u64]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

fn jit_record(kind: u32, body: &[u8], out: &mut Vec<u8>) {
    let size = u32::try_from(16 + body.len()).unwrap();
    out.extend([kind, size].map(u32::to_le_bytes).concat());
    out.extend([0; 8]);
    out.extend_from_slice(body);
}

fn jit_header(pid: u32) -> Vec<u8> {
    let mut header = [
        &b"DTiJ"[..],
        &1_u32.to_le_bytes(),
        &40_u32.to_le_bytes(),
        &[0; 8],
    ]
    .concat();
    header.extend(pid.to_le_bytes());
    header.resize(40, 0);
    header
}

fn jit_load(address: u64, size: u64, index: u64, out: &mut Vec<u8>) {
    let mut body = words(&[PID.into(), address, address, size, index]);
    body.extend(b"f\0");
    body.resize(body.len() + size as usize, 0);
    jit_record(0, &body, out);
}

fn jit_lines(folder: &Path) {
    let mut dump = jit_header(PID);
    let mut lines = words(&[0, MANY]);
    for ix in 0..MANY {
        lines.extend(ix.to_le_bytes());
        lines.extend([ix as u32, 0].map(u32::to_le_bytes).concat());
        lines.extend_from_slice(if ix == 0 { b"a.js\0" } else { b"\xff\0" });
    }
    jit_record(2, &lines, &mut dump);
    jit_load(0, MANY, 0, &mut dump);
    fs::write(folder.join(format!("jit-{PID}.dump")), dump).unwrap();
}

fn in_jit_lines(folder: &Path) -> (Module, u64, u64) {
    let path = folder.join(format!("jit-{PID}.dump"));
    let first = path.metadata().unwrap().len() - MANY;
    let path = path.display().to_string();
    (
        module(path, ModuleKind::JitDump { pid: PID }, None),
        first,
        MANY,
    )
}

/// A section: name, type, address, size in memory if it has no bytes, linked section, size of
/// entries, bytes.
type Section = (&'static str, u32, u64, u64, u32, u64, Vec<u8>);

/// An ELF file whose code is at the file offset of its address.
fn elf(folder: &Path, segments: u64, code: u64, sections: &[Section]) {
    const HEADER: u64 = 64;
    let mut names = b"\0.shstrtab\0".to_vec();
    let mut headers = vec![0; 64];
    let mut data = Vec::new();
    let first = HEADER + 56 * segments;
    // The end only matters for functions without a size.
    let text: Section = (".text", 1, 0, HEADER, 0, 0, Vec::new());
    for (name, kind, address, size, link, entry, bytes) in [&text].into_iter().chain(sections) {
        let is_code = *name == ".text";
        let offset = if is_code {
            0
        } else {
            first + data.len() as u64
        };
        headers.extend([names.len() as u32, *kind].map(u32::to_le_bytes).concat());
        let flags = if is_code { 6 } else { 0 };
        headers.extend(words(&[
            flags,
            *address,
            offset,
            size.max(&(bytes.len() as u64)).to_owned(),
        ]));
        headers.extend([*link, 0].map(u32::to_le_bytes).concat());
        headers.extend(words(&[1, *entry]));
        names.extend(name.bytes().chain([0]));
        data.extend_from_slice(bytes);
    }
    let (names_at, size) = (first + data.len() as u64, names.len() as u64);
    data.extend(&names);
    headers.extend([1_u32, 3].map(u32::to_le_bytes).concat());
    headers.extend(words(&[0, 0, names_at, size, 0, 1, 0]));
    let count = (headers.len() / 64) as u16;

    let mut file = b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0".to_vec();
    file.extend([3_u16, 62].map(u16::to_le_bytes).concat());
    file.extend(1_u32.to_le_bytes());
    file.extend(words(&[0, HEADER, first + data.len() as u64]));
    file.extend([0; 4]);
    file.extend(
        [64_u16, 56, segments as u16, 64, count, count - 1]
            .map(u16::to_le_bytes)
            .concat(),
    );
    for segment in 0..segments {
        file.extend([1_u32, 5].map(u32::to_le_bytes).concat());
        // Only the last segment has the code.
        let (at, size) = if segment + 1 == segments {
            (0, code)
        } else {
            (1 << 40, 1)
        };
        file.extend(words(&[at, at, at, size, size, 0]));
    }
    file.extend(data);
    file.extend(headers);
    fs::File::create(folder.join("program"))
        .unwrap()
        .write_all(&file)
        .unwrap();
}

fn in_elf(folder: &Path) -> (Module, u64, u64) {
    let path = folder.join("program");
    let inode = path.metadata().unwrap().ino();
    (
        module(path.display().to_string(), ModuleKind::File, Some(inode)),
        0,
        MANY,
    )
}

/// A symbol table of functions with start, size and offset of the name.
fn symbols(folder: &Path, count: u64, of: &dyn Fn(u64) -> (u64, u64, u32), names: &[u8]) {
    let mut table = vec![0; 24];
    for (start, size, name) in (0..count).map(of) {
        table.extend(name.to_le_bytes());
        // `STB_GLOBAL`, `STT_FUNC`; in the first section.
        table.extend([0x12, 0, 1, 0]);
        table.extend(words(&[start, size]));
    }
    let sections = [
        (".symtab", 2, 0, 0, 3, 24, table),
        (".strtab", 3, 0, 0, 0, 0, names.to_vec()),
    ];
    elf(folder, 1, MANY, &sections);
}

fn call_frames(folder: &Path) {
    const AT: u64 = 1 << 28;
    let mut rules = 16_u32.to_le_bytes().to_vec();
    // A common entry: version 1, addresses relative to their own position.
    rules.extend([0, 0, 0, 0, 1, b'z', b'R', 0, 1, 0x78, 16, 1, 0x1b, 0, 0, 0]);
    for start in 0..MANY {
        let at = rules.len() as u64;
        rules.extend(16_u32.to_le_bytes());
        rules.extend((at as u32 + 4).to_le_bytes());
        rules.extend((start.wrapping_sub(AT + at + 8) as u32).to_le_bytes());
        rules.extend(1_u32.to_le_bytes());
        rules.extend([0; 4]);
    }
    elf(folder, 1, MANY, &[(".eh_frame", 1, AT, 0, 0, 0, rules)]);
}

/// Units of debug information (DWARF 4) that share one list of ranges.
fn debug_info(folder: &Path, units: u64, ranges: impl Iterator<Item = [u64; 2]>) {
    let mut info = Vec::new();
    for _ in 0..units {
        info.extend(12_u32.to_le_bytes());
        info.extend([4, 0, 0, 0, 0, 0, 8, 1, 0, 0, 0, 0]);
    }
    // `DW_TAG_compile_unit` without children, with `DW_AT_ranges` as `DW_FORM_sec_offset`.
    let abbreviations = vec![1, 0x11, 0, 0x55, 0x17, 0, 0, 0];
    let list = ranges
        .flat_map(|range| words(&range))
        .chain([0; 16])
        .collect();
    let sections = [
        (".debug_info", 1, 0, 0, 0, 0, info),
        (".debug_abbrev", 1, 0, 0, 0, 0, abbreviations),
        (".debug_ranges", 1, 0, 0, 0, 0, list),
    ];
    elf(folder, 1, 10 * MANY, &sections);
}
