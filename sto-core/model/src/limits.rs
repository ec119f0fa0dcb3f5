//! Limits on profiles and files.
//!
//! See [the manual](crate::manual::limits).

use crate::units::Bytes;

/// Maximum length of the name of a function, module, source file, event or machine, in bytes. Longer
/// names are truncated and end in `…`. Names of C++ templates reach the limit.
pub const MAX_NAME: usize = 4096;

/// Maximum length of the name of a thread or process, in bytes. Longer names are truncated and end in
/// `…`. Linux allows 255 bytes for file names (`NAME_MAX`) and 15 for thread names.
pub const MAX_PROCESS_NAME: usize = 255;

/// Maximum number of frames of one stack.
pub const MAX_DEPTH: usize = 1 << 21;

/// Maximum number of frames that the stacks of a file may expand to, for a file of this size: 2^22 plus 8 per byte.
///
/// It limits files that refer to a shared part many times, expansion of inlined functions, and the size of a
/// profile's tree. Files of real profilers have at most one frame per byte.
pub fn max_frames(file: Bytes) -> u64 {
    (1 << 22) + file.0.saturating_mul(8)
}

/// Maximum length of a line of streamed or compressed text, in bytes, which has to be in memory: 128
/// for each of [`MAX_DEPTH`] frames.
pub const MAX_LINE: usize = MAX_DEPTH * 128;

/// Maximum number of events sampled in one profile. `perf record -e 'syscalls:*'` has 700.
pub const MAX_SAMPLE_TYPES: usize = 1024;

/// Maximum number of programs of a recording that become separate profiles. The recording is read once for each.
pub const MAX_PROGRAMS: usize = 1024;

/// Maximum number of parents of a [commit](crate::Commit).
pub const MAX_COMMIT_PARENTS: usize = 256;

/// Maximum length of a user-supplied string, in bytes: the name of an executable, build, revision, benchmark or
/// metric, or a label's key or value. These are never truncated.
pub const MAX_USER_STRING: usize = 4096;

/// Maximum number of source files of one profile whose digests are stored. Programs of millions of lines have
/// ten thousand.
pub const MAX_SOURCE_FILES: usize = 1 << 16;

/// Maximum number of labels, and of metrics, of one profile. With all limits of this module reached, a
/// profile's record is still smaller than the store's limit of 16 MiB.
pub const MAX_LABELS: usize = 256;

/// Maximum number of metrics over time that are part of a recording. Further ones are ignored.
pub const MAX_RECORDED_METRICS: usize = 1024;

/// Maximum number of points of one metric that is part of a recording: one per 10 ms for 10 minutes. If there are
/// more, adjacent points are merged.
pub const MAX_RECORDED_METRIC_POINTS: usize = 1 << 16;

/// Maximum total size of the distinct label sets of a recording's samples, in bytes. Each set counts the
/// text of its labels and [`LABEL_OVERHEAD`] per label.
///
/// Labels are for grouping, for which 10,000 values of 80 bytes are enough. The limit prevents that an id on
/// every sample fills a store.
pub const MAX_LABEL_SETS_SIZE: usize = 1 << 20;

/// The size of a label in [`MAX_LABEL_SETS_SIZE`] in addition to its text, in bytes.
pub const LABEL_OVERHEAD: usize = 16;

/// Maximum number of samples of one profile, and maximum total value of one of its sample types: 2 years of
/// one processor in nanoseconds. The costs of a build's profiles are added in 64 bits, which is enough for
/// 255 profiles at this limit.
pub const MAX_COUNT: u64 = 1 << 56;

/// Maximum size of a perf map, or of a list of kernel symbols, in bytes, because they are held in memory. A large
/// Java service writes a tenth of it.
pub const MAX_PERF_MAP: u64 = 256 << 20;

/// Maximum size of a jitdump, in bytes. Besides names it contains the compiled code.
pub const MAX_JIT_DUMP: u64 = 1 << 30;

/// Maximum number of metrics over time of one recording. 100 counters for each of 500 processors are 50,000.
pub const MAX_METRICS: usize = 1 << 16;

/// Maximum total number of values, of 8 bytes each, of all metrics of one recording. 300 metrics every 10 ms for
/// half an hour are 54 million.
pub const MAX_METRIC_VALUES: usize = 1 << 26;

/// Maximum number of threads of a call trace.
pub const MAX_CALL_THREADS: usize = 1 << 20;

/// Maximum number of records that a call trace is compressed to, and maximum total number of stacks of its
/// expressions. A trace of 50 million calls becomes some thousand records.
pub const MAX_CALL_RECORDS: usize = 1 << 26;

/// Maximum number of distinct stacks of the calls of a trace, and maximum number of stacks of its expressions that are
/// kept when it is compressed. In a trace with more than 64 threads, it is 1,024 for each of them.
pub const MAX_CALL_STACKS: usize = 1 << 16;

/// Maximum number of pieces, of up to 262,144 calls each, of a trace whose calls are all kept.
pub const MAX_CALL_PIECES: usize = 1 << 20;

/// Maximum number of distinct functions of a trace whose calls are all kept.
pub const MAX_CALL_FUNCTIONS: usize = 1 << 24;

const ELLIPSIS: &str = "…";

/// Truncates a text to at most `limit` bytes, at a character boundary. A truncated text ends in `…`.
#[doc(hidden)]
pub fn truncate_text(text: &mut String, limit: usize) {
    if text.len() > limit {
        text.truncate(text.floor_char_boundary(limit - ELLIPSIS.len()));
        text.push_str(ELLIPSIS);
    }
}

/// Returns the text, truncated to [`MAX_NAME`] like [`cut`].
#[doc(hidden)]
pub fn truncate_name(text: &str) -> String {
    let mut capped = text[..text.floor_char_boundary(MAX_NAME + 4)].to_owned();
    truncate_text(&mut capped, MAX_NAME);
    capped
}
