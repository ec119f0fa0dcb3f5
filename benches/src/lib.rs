//! What the benchmarks share: made-up input, the same in every run and shaped like the real thing,
//! and what peers take instead of a store.

pub mod export;
pub mod generate;

use std::io;
use sto_core::model::{Frame, FrameKind, FrameTable};

/// The given number of distinct frames, in as many modules and source files as a large program
/// has: 20 functions a file, 50 files a module.
pub fn frames(count: u32) -> FrameTable {
    let mut frames = FrameTable::new();
    for ix in 0..count {
        let (file, module) = (ix / 20, ix / 1000);
        frames.insert(Frame {
            module: &format!("libpart{module}.so"),
            symbol: &format!("part{module}::file{file}::Type::function_{ix}"),
            kind: FrameKind::User,
            file: &format!("part{module}/src/file{file}.rs"),
            line: 0,
        });
    }
    frames
}

/// The most memory that this process ever held, in bytes.
///
/// # Errors
/// Where `/proc` does not tell, as only Linux does.
pub fn peak_memory() -> io::Result<u64> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|kib| kib.trim().strip_suffix(" kB")?.parse::<u64>().ok())
        .map(|kib| kib * 1024)
        .ok_or_else(|| io::Error::other("/proc/self/status has no VmHWM"))
}
