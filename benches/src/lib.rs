//! Shared code of the benchmarks: deterministic generated input with a realistic shape,
//! and the input of other tools.

pub mod export;
pub mod generate;

use std::fmt::Write;
use std::io;
use sto_core::model::{Frame, FrameKind, FrameTable};

/// Returns `count` distinct frames, with 20 functions per file and 50 files per module, like a large
/// program.
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

/// Returns the peak memory of this process, in bytes.
///
/// # Errors
/// Returns an error if `/proc` has no peak memory; only Linux has it.
pub fn peak_memory() -> io::Result<u64> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|kib| kib.trim().strip_suffix(" kB")?.parse::<u64>().ok())
        .map(|kib| kib * 1024)
        .ok_or_else(|| io::Error::other("/proc/self/status has no VmHWM"))
}

/// Returns folded stacks of at least this many bytes, every stack once, in the order in which
/// collapsers write them: about 30 frames deep, each line with about the first 25 of the previous one.
pub fn folded(bytes: usize) -> String {
    const FUNCTIONS: u64 = 5_000;
    let mut text = String::with_capacity(bytes + 4096);
    let mut random = Random(1);
    let mut stack: Vec<u64> = vec![0; 30];
    while text.len() < bytes {
        let ups = random.below(12) as usize;
        stack.truncate((stack.len() - ups.min(stack.len())).max(1));
        for _ in 0..=random.below(if stack.len() < 30 { 13 } else { 9 }) {
            // Few functions are on most stacks.
            let one_of = random.below(FUNCTIONS) + 1;
            stack.push(random.below(one_of));
        }
        for function in &stack {
            let (module, file) = (function / 500, function / 20);
            let _ = write!(text, "part{module}::file{file}::Type::function_{function};");
        }
        text.pop();
        let _ = writeln!(text, " {}", random.below(1_000) + 1);
    }
    text
}

/// Returns the lines of a text in random order.
pub fn shuffled(text: &str) -> String {
    let mut lines: Vec<&str> = text.lines().collect();
    let mut random = Random(2);
    for at in (1..lines.len()).rev() {
        lines.swap(at, random.below(at as u64 + 1) as usize);
    }
    lines.join("\n")
}

/// Deterministic pseudorandom numbers (xorshift64*, Vigna 2016).
pub struct Random(u64);

impl Random {
    /// Creates a generator from a seed other than 0.
    pub fn new(seed: u64) -> Self {
        Random(seed)
    }

    /// Returns a number from 0 to below 1.
    pub fn share(&mut self) -> f64 {
        self.below(1 << 32) as f64 / (1u64 << 32) as f64
    }

    /// Returns a number from 0 to below `end`, which is at most 2^32.
    pub fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 32) % end
    }
}
