//! Options and input of the readers.

use crate::error::Decoded;
use crate::recording::{Format, RecordingBuilder};
use crate::wire::json::first_keys;
use crate::wire::text::lines;
use std::cell::OnceCell;
use std::fmt;
use std::fs::Metadata;
use std::io::{self, Read};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::UNIX_EPOCH;
use sto_model::SymbolOptions;
use sto_model::trace::CallThresholds;
use sto_model::tree::SliceCount;
use sto_model::units::{Bytes, UnixSeconds};
use sto_model::{CancelToken, Cancelled, Timings};

/// Options for reading a profile.
#[derive(Clone, Debug, Default)]
pub struct ReadOptions {
    /// The format. By default it is detected from the content.
    pub format: Option<Format>,
    /// Read a truncated profile up to the cut, with a warning that says how much was read.
    pub allow_truncated: bool,
    /// Limit in bytes to the expanded size of a compressed profile (default: 64 MiB or 256 times
    /// its size, whichever is larger), and to the size of a stream whose format must be held in
    /// memory (default: 2 GiB).
    pub max_input: Option<Bytes>,
    /// Sources of the binaries and symbols used to unwind copied stacks.
    pub symbols: SymbolOptions,
    /// Sum samples that differ only in time, so that memory depends only on the number of distinct
    /// samples. A sum has the time of its first sample. Samples of perf.data are never summed.
    pub sum_samples: bool,
    /// Which calls of a call trace are kept individually.
    pub call_thresholds: CallThresholds,
    /// The number of equal time slices into which the samples of a call trace are divided, so that
    /// each sample has a time. By default each covers the whole run and has no time.
    pub call_slices: Option<SliceCount>,
    /// The folder for a temporary file with the calls of a trace that do not fit in memory. By
    /// default they stay in memory.
    pub call_folder: Option<PathBuf>,
    /// Also keep every call of a call trace.
    pub keep_calls: bool,
    /// A callback for progress.
    pub on_read: OnRead,
    /// Collects the time of each stage.
    pub timings: Timings,
}

impl ReadOptions {
    /// Returns a recording builder for these options.
    pub(super) fn builder(&self) -> RecordingBuilder {
        RecordingBuilder::default().with_summing(self.sum_samples)
    }
}

/// A progress callback, called with the number of further bytes read.
///
/// It is called for perf.data, for line-based formats, and for compressed or streamed input. It
/// counts bytes before decompression, and may not report the last ones. An error of the callback
/// cancels reading.
#[derive(Clone, Default)]
pub struct OnRead(Option<Arc<Call>>);

type Call = dyn Fn(u64) -> Result<(), Cancelled> + Send + Sync;

impl OnRead {
    /// Makes a callback of a function.
    pub fn new(call: impl Fn(u64) -> Result<(), Cancelled> + Send + Sync + 'static) -> OnRead {
        OnRead(Some(Arc::new(call)))
    }

    /// Returns a callback that calls this one and then fails if `cancel` is cancelled.
    #[doc(hidden)]
    pub fn with_cancel(&self, cancel: &CancelToken) -> OnRead {
        let (all, cancel) = (self.clone(), cancel.clone());
        OnRead::new(move |bytes| all.call(bytes).and_then(|()| cancel.check()))
    }

    pub(super) fn call(&self, bytes: u64) -> Result<(), Cancelled> {
        self.0.as_ref().map_or(Ok(()), |call| call(bytes))
    }
}

impl fmt::Debug for OnRead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("OnRead").field(&self.0.is_some()).finish()
    }
}

/// Returns the time at which a file was last written.
pub(super) fn written(metadata: &Metadata) -> Option<UnixSeconds> {
    let since_1970 = metadata.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    Some(UnixSeconds(since_1970.as_secs()))
}

/// A reader that reports progress.
pub(super) struct ProgressReader<'a, R> {
    input: R,
    on_read: &'a OnRead,
    unreported: u64,
}

impl<'a, R> ProgressReader<'a, R> {
    pub(super) fn new(input: R, on_read: &'a OnRead) -> Self {
        ProgressReader {
            input,
            on_read,
            unreported: 0,
        }
    }
}

impl<R: Read> Read for ProgressReader<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let bytes = self.input.read(buffer)?;
        self.unreported += bytes as u64;
        if self.unreported >= REPORTED {
            let reported = self.on_read.call(std::mem::take(&mut self.unreported));
            reported.map_err(io::Error::other)?;
        }
        Ok(bytes)
    }
}

/// Minimum number of bytes between two reports.
const REPORTED: u64 = 64 << 10;

/// The beginning of a profile.
pub(super) struct Head<'a> {
    /// The first bytes, decompressed: at least 4 MiB, or the whole profile if it is shorter.
    pub(super) bytes: &'a [u8],
    /// Whether `bytes` is the whole profile.
    pub(super) is_all: bool,
    keys: OnceCell<Vec<&'a [u8]>>,
}

impl<'a> Head<'a> {
    pub(super) fn new(bytes: &'a [u8], is_all: bool) -> Head<'a> {
        Head {
            bytes,
            is_all,
            keys: OnceCell::new(),
        }
    }

    /// Makes a head of a whole profile.
    pub(super) fn all(bytes: &'a [u8]) -> Head<'a> {
        Head::new(bytes, true)
    }

    /// The keys, without quotes, of the JSON object that the profile begins with, as far as `bytes`
    /// contains them.
    pub(super) fn keys(&self) -> &[&'a [u8]] {
        self.keys.get_or_init(|| first_keys(self.bytes))
    }

    /// Returns `true` if the profile begins with a JSON object that has all these keys.
    pub(super) fn has_keys<const N: usize>(&self, keys: [&str; N]) -> bool {
        let found = self.keys();
        keys.iter().all(|key| found.contains(&key.as_bytes()))
    }

    /// Returns `true` if the profile begins like a JSON object with a key, or like an array of such
    /// objects.
    pub(super) fn is_json(&self) -> bool {
        let start = self.bytes.trim_ascii_start();
        let first = start.strip_prefix(b"[").unwrap_or(start).trim_ascii_start();
        let object = first.strip_prefix(b"{").map(<[u8]>::trim_ascii_start);
        object.is_some_and(|object| object.starts_with(b"\""))
    }

    /// The complete lines.
    pub(super) fn whole_lines(&self) -> &'a [u8] {
        let end = if self.is_all {
            self.bytes.len()
        } else {
            memchr::memrchr(b'\n', self.bytes).map_or(0, |end| end + 1)
        };
        &self.bytes[..end]
    }

    /// The first complete line that is neither blank nor a comment (`#`).
    pub(super) fn first_line(&self) -> Option<&'a [u8]> {
        lines(self.whole_lines())
            .map(|(_, line)| line)
            .find(|line| !line.trim_ascii().is_empty() && !line.starts_with(b"#"))
    }
}

/// A reader that takes its input in blocks; most such formats are line-based.
pub(super) trait LineReader: Send {
    /// Returns `true` if blocks may end in the middle of a line, for formats that have no lines.
    fn takes_parts_of_lines(&self) -> bool {
        false
    }

    /// Reads a block of complete lines. Only the last line of the file may lack its line end.
    fn block(&mut self, bytes: &[u8]) -> Decoded<()>;

    fn finish(self: Box<Self>) -> Decoded<RecordingBuilder>;
}
