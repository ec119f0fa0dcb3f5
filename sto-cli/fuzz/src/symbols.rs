//! Files with symbols.

use crate::edits;
use crate::folders::{folder, testdata};
use crate::perf_data::{CALLCHAIN, REGS_USER, STACK_USER, Sample, USER, Writer, push_u64s};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::LazyLock;
use sto_core::files::User;
use sto_core::formats::{ReadOptions, read_bytes};
use sto_core::ingest::SymbolOptions;
use sto_core::model::Granularity;
use sto_core::stages::symbolize;

const PID: u32 = 28628;
const START: u64 = 0x5555_0000_0000;

/// Programs of x86-64 with DWARF, symbols, a PLT and call frame information.
static PROGRAMS: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
    let names = ["perf-data/threads", "demo/demo-v1"];
    names
        .map(|name| fs::read(testdata(name)).expect("it is in the repository"))
        .to_vec()
});

/// Edits a program, chosen by the first byte. A recording with saved stacks has addresses all over it.
pub(crate) fn elf(input: &[u8]) {
    let [which, edits @ ..] = input else { return };
    let mut program = PROGRAMS[usize::from(*which) % PROGRAMS.len()].clone();
    edits::apply(&mut program, edits);
    let path = folder().join("program");
    fs::write(&path, &program).expect("the folder is writable");
    let len = program.len().max(1) as u64;
    let mut writer = Writer::new(CALLCHAIN | REGS_USER | STACK_USER);
    writer.comm(USER, PID, b"program", 1);
    let inode = inode(&path);
    writer.mmap2(
        USER,
        PID,
        [START, len + 0x1000, 0],
        Ok(inode),
        5,
        (path.as_os_str().as_encoded_bytes(), 1),
    );
    for ix in 0..64 {
        let ip = START + ix * 97 % len;
        let mut stack = Vec::new();
        push_u64s(
            &mut stack,
            &(0..32)
                .map(|word| START + (ix * 31 + word * 13) % len)
                .collect::<Vec<_>>(),
        );
        writer.sample(&Sample {
            event: 1,
            misc: USER,
            ip,
            pid: PID,
            tid: PID,
            time: 2 + ix,
            period: 1,
            chain: vec![0u64.wrapping_sub(512), ip, START + ix * 1009 % len],
            registers: Some([0x7000_0040, 0x7000_0000, ip]),
            stack,
            ..Sample::default()
        });
    }
    look_up(&writer.stream(1, &[]), 64, SymbolOptions::default());
}

/// Reads the input as the perf map of a process.
pub(crate) fn perf_map(map: &[u8]) {
    fs::write(folder().join(format!("perf-{PID}.map")), map).expect("the folder is writable");
    // Sample the start of each function in the map.
    let text = String::from_utf8_lossy(map);
    let starts = text.lines().take(40).filter_map(|line| {
        let (start, _) = line.split_once(' ')?;
        u64::from_str_radix(start.trim_start_matches("0x"), 16).ok()
    });
    let mut writer = Writer::new(CALLCHAIN);
    writer.comm(USER, PID, b"node", 1);
    writer.mmap2(USER, PID, [0, u64::MAX, 0], Ok(0), 5, (&b"//anon"[..], 1));
    let mut samples = 0;
    for start in starts.chain([0, 0x1000, u64::MAX - 1]) {
        for ip in [start.wrapping_sub(1), start, start.wrapping_add(9)] {
            samples += u64::from(writer.sample(&sample_at(ip)));
        }
    }
    look_up(&writer.stream(1, &[]), samples, trusting_all_files());
}

/// Edits a jitdump.
pub(crate) fn jitdump(input: &[u8]) {
    static DUMP: LazyLock<Vec<u8>> = LazyLock::new(|| {
        fs::read(testdata(&format!("perf-data/jit-{PID}.dump"))).expect("it is in the repository")
    });
    let mut dump = DUMP.clone();
    edits::apply(&mut dump, input);
    let path = folder().join(format!("jit-{PID}.dump"));
    fs::write(&path, &dump).expect("the folder is writable");
    let mut writer = Writer::new(CALLCHAIN);
    writer.comm(USER, PID, b"node", 1);
    let bytes = path.as_os_str().as_encoded_bytes();
    writer.mmap2(
        USER,
        PID,
        [START, 0x1000, 0],
        Ok(inode(&path)),
        5,
        (bytes, 1),
    );
    let mut samples = 0;
    // Sample every word of the file, because some are addresses of code.
    for word in dump
        .chunks_exact(8)
        .filter_map(<[u8]>::first_chunk)
        .step_by(7)
        .take(600)
    {
        samples += u64::from(writer.sample(&sample_at(u64::from_le_bytes(*word))));
    }
    look_up(&writer.stream(1, &[]), samples, trusting_all_files());
}

fn inode(path: &Path) -> u64 {
    fs::metadata(path).expect("it was just written").ino()
}

fn trusting_all_files() -> SymbolOptions {
    SymbolOptions {
        recording_dir: Some(folder().to_owned()),
        trusted_users: vec![User::current()],
        ..SymbolOptions::default()
    }
}

fn sample_at(ip: u64) -> Sample {
    Sample {
        event: 1,
        misc: USER,
        ip,
        pid: PID,
        tid: PID,
        time: u64::MAX / 2,
        period: 1,
        chain: vec![0u64.wrapping_sub(512), ip],
        ..Sample::default()
    }
}

/// Checks that every location has a frame, whatever the files contain.
fn look_up(recording: &[u8], samples: u64, symbols: SymbolOptions) {
    for granularity in [Granularity::Function, Granularity::Line] {
        let options = ReadOptions {
            symbols: SymbolOptions {
                granularity,
                ..symbols.clone()
            },
            ..ReadOptions::default()
        };
        let recording =
            read_bytes(Path::new("perf.data"), recording, &options).expect("it is sound");
        assert_eq!(recording.samples.len() as u64, samples);
        let found = symbolize(&recording, &options.symbols);
        assert_eq!(found.ends.len(), recording.locations.len());
        for ix in 0..recording.locations.len() {
            assert!(
                !found
                    .code_lines(sto_core::recording::LocationIx(ix as u32))
                    .is_empty()
            );
        }
    }
}
