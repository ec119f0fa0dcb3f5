//! What a profile may have at most: the table *Limits* of SPEC.md.
//!
//! They are far above what programs have, and low enough that a hostile file costs no more than an
//! error. Counts of frames, nodes and stacks are limited by their 32-bit indices alone.

use crate::units::Bytes;

/// Longest name of a function, module, source file, event or machine, in bytes; what is longer is
/// cut and ends in `…`. C++ templates reach it.
pub const MAX_NAME: usize = 4096;

/// Longest name of a thread or process, in bytes; what is longer is cut and ends in `…`. Each of
/// very many may have one. File names have at most 255 (`NAME_MAX`), threads' names 15.
pub const MAX_PROCESS_NAME: usize = 255;

/// Most frames of one stack.
pub const MAX_DEPTH: usize = 1 << 21;

/// Most frames that stacks are made into beyond what their file spells: in a file that writes a part once
/// and refers to it often, as functions that were inlined into one address, and in all of a profile's tree.
/// 2^22 of any file, and 8 for each of its bytes. Of what profilers write, a byte is a frame or less.
pub fn most_frames(file: Bytes) -> u64 {
    (1 << 22) + file.0.saturating_mul(8)
}

/// Longest line of text that comes in a stream or compressed, in bytes, as it must be held: 128 for each
/// of the most frames.
pub const MAX_LINE: usize = MAX_DEPTH * 128;

/// Most events that one profile has samples of; `perf record -e 'syscalls:*'` has 700.
pub const MAX_SAMPLE_TYPES: usize = 1024;

/// Most programs of one recording that each becomes a profile of its own: all of the recording is gone through for
/// each.
pub const MAX_PROGRAMS: usize = 1024;

/// Most parents of a [commit](crate::Commit).
pub const MAX_PARENTS: usize = 256;

/// Longest name that a user gives: of an executable, a build, a revision, a benchmark, a metric, a
/// label's key or its value; in bytes. These are never cut.
pub const MAX_GIVEN_NAME: usize = 4096;

/// Most source files of one profile whose digests are kept; programs of millions of lines have ten thousand.
pub const MAX_SOURCES: usize = 1 << 16;

/// Most labels, and most metrics, of one profile. With all that is limited here at its longest, a
/// profile's record stays below the 16 MiB that a store takes.
pub const MAX_LABELS: usize = 256;

/// Most metrics over time that a recording has by itself; those that are named later are left out.
pub const MAX_RECORDED_METRICS: usize = 1024;

/// Most points of a metric over time that a recording has by itself, one each 10 ms for 10 minutes; of more, some
/// that follow each other become one.
pub const MAX_METRIC_POINTS: usize = 1 << 16;

/// Most bytes that the distinct sets of labels of a recording's samples have together, each set with
/// the text of all its labels and [`LABEL_COST`] for each. Labels are there to group by: 10,000 values
/// with 80 bytes each are more than anyone distinguishes. So an id on every sample does not grow a store.
pub const MAX_LABEL_SETS: usize = 1 << 20;

/// What a label counts for in [`MAX_LABEL_SETS`] beside its text.
pub const LABEL_COST: usize = 16;

/// Most samples, and most of a sample type's value, of one profile: 2 years of one processor in
/// nanoseconds. A build adds up the counts of its profiles in 64 bits, so that 255 profiles at this limit
/// leave room for others.
pub const MAX_COUNT: u64 = 1 << 56;

/// Longest perf map, or list of a kernel's symbols, in bytes: they are held whole. A large Java service
/// writes a tenth of it.
pub const MAX_PERF_MAP: u64 = 256 << 20;

/// Longest jitdump, in bytes; it has the code that was made beside its names.
pub const MAX_JIT_DUMP: u64 = 1 << 30;

/// Most metrics over time of one recording: 100 counters of each of 500 processors are 50,000.
pub const MAX_METRICS: usize = 1 << 16;

/// Most values that the metrics over time of one recording have together, 8 bytes each: 300 metrics at 10 ms for
/// half an hour are 54 million.
pub const MAX_POINTS: usize = 1 << 26;

/// Most threads of a trace of calls.
pub const MAX_CALL_THREADS: usize = 1 << 20;

/// Most records that the calls of a trace are compressed to, and most stacks that its expressions have together; a
/// trace of 50 million calls becomes some thousand.
pub const MAX_CALL_RECORDS: usize = 1 << 26;

/// Most pieces, of 262,144 calls at most, that the kept calls of a trace are in.
pub const MAX_CALL_PIECES: usize = 1 << 20;

/// Most distinct functions of kept calls.
pub const MAX_CALL_FUNCTIONS: usize = 1 << 24;

const ELLIPSIS: &str = "…";

/// Cuts a text that is longer than `limit` bytes at a character, so that with the `…` at its end it
/// is not.
#[doc(hidden)]
pub fn cut(text: &mut String, limit: usize) {
    if text.len() > limit {
        text.truncate(text.floor_char_boundary(limit - ELLIPSIS.len()));
        text.push_str(ELLIPSIS);
    }
}

/// The text itself, or its beginning and `…` where it is longer than [`MAX_NAME`].
#[doc(hidden)]
pub fn cap(text: &str) -> String {
    let mut capped = text[..text.floor_char_boundary(MAX_NAME + 4)].to_owned();
    cut(&mut capped, MAX_NAME);
    capped
}
