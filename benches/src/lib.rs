//! Made-up input for the benchmarks: the same in every run, and shaped like the real thing.

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
