//! What formats are read from, and how.

use crate::error::Decoded;
use crate::recording::{Format, RecordingBuilder};
use crate::wire::json::first_keys;
use crate::wire::text::lines;
use std::cell::OnceCell;
use std::fmt;
use std::io::{self, Read};
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::sync::Arc;
use sto_model::SymbolOptions;
use sto_model::trace::CallThresholds;
use sto_model::units::Bytes;
use sto_model::{Cancel, Cancelled};

/// How a profile is to be read.
#[derive(Clone, Debug, Default)]
pub struct ReadOptions {
    /// The format that it has; by default its content shows it.
    pub format: Option<Format>,
    /// Read as much as there is of a profile that was cut off, with a warning that says how much.
    pub allow_truncated: bool,
    /// Bytes that a compressed profile may expand to, however small it is, by default 64 MiB and 256 times its
    /// size; and bytes that a stream of a format which is held may have, by default 2 GiB.
    pub max_input: Option<Bytes>,
    /// Where the files are that saved stacks are unwound with.
    pub symbols: SymbolOptions,
    /// Sum samples that differ in their time alone, so that of a recording no more is held than what is distinct.
    /// A sum has the time of its first sample. Those of perf.data stay as they are.
    pub sum_samples: bool,
    /// Which calls of a trace of calls are kept by themselves.
    pub call_thresholds: CallThresholds,
    /// How many equal parts of its time the samples of a trace of calls are of, so that they have a time; by default
    /// each is of all its time, and has none.
    pub call_parts: Option<NonZeroU32>,
    /// Where the temporary file is for the calls of a trace that are too many for memory; without it, they stay in
    /// memory.
    pub call_folder: Option<PathBuf>,
    /// Keep every call of a trace of calls, too.
    pub keep_calls: bool,
    /// Is called as the profile is read.
    pub on_read: OnRead,
}

impl ReadOptions {
    /// What a recording is made with.
    pub(super) fn builder(&self) -> RecordingBuilder {
        RecordingBuilder::default().summing(self.sum_samples)
    }
}

/// What is called with the number of further bytes of a profile that were read, for displays of progress: of
/// perf.data, formats of lines, and what is compressed or comes as a stream. They are those of the profile as
/// it is stored, and the last ones may be missing. It may end reading there.
#[derive(Clone, Default)]
pub struct OnRead(Option<Arc<Call>>);

type Call = dyn Fn(u64) -> Result<(), Cancelled> + Send + Sync;

impl OnRead {
    /// Calls this function.
    pub fn new(call: impl Fn(u64) -> Result<(), Cancelled> + Send + Sync + 'static) -> OnRead {
        OnRead(Some(Arc::new(call)))
    }

    /// The same, and ends reading where that is cancelled.
    #[doc(hidden)]
    pub fn unless(&self, cancel: &Cancel) -> OnRead {
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

/// Calls for what is read through it.
pub(super) struct Reporting<'a, R> {
    input: R,
    on_read: &'a OnRead,
    /// Bytes that were not reported yet.
    unreported: u64,
}

impl<'a, R> Reporting<'a, R> {
    pub(super) fn new(input: R, on_read: &'a OnRead) -> Self {
        Reporting {
            input,
            on_read,
            unreported: 0,
        }
    }
}

impl<R: Read> Read for Reporting<'_, R> {
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

/// How much is read at least between two reports.
const REPORTED: u64 = 64 << 10;

/// How a profile begins.
pub(super) struct Head<'a> {
    /// The first bytes, no longer compressed: the first 4 MiB at least, or all there are.
    pub(super) bytes: &'a [u8],
    /// Whether that is all.
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

    /// That of a profile that has no more bytes.
    pub(super) fn all(bytes: &'a [u8]) -> Head<'a> {
        Head::new(bytes, true)
    }

    /// The keys of the object that it begins with, as far as they are there, without their quotes.
    pub(super) fn keys(&self) -> &[&'a [u8]] {
        self.keys.get_or_init(|| first_keys(self.bytes))
    }

    /// Whether it begins as an object that has all these keys.
    pub(super) fn has_keys<const N: usize>(&self, keys: [&str; N]) -> bool {
        let found = self.keys();
        keys.iter().all(|key| found.contains(&key.as_bytes()))
    }

    /// Whether it begins as a JSON object with a key does, or an array of such.
    pub(super) fn is_json(&self) -> bool {
        let start = self.bytes.trim_ascii_start();
        let first = start.strip_prefix(b"[").unwrap_or(start).trim_ascii_start();
        let object = first.strip_prefix(b"{").map(<[u8]>::trim_ascii_start);
        object.is_some_and(|object| object.starts_with(b"\""))
    }

    /// The lines that are there to their ends.
    pub(super) fn whole_lines(&self) -> &'a [u8] {
        let end = if self.is_all {
            self.bytes.len()
        } else {
            memchr::memrchr(b'\n', self.bytes).map_or(0, |end| end + 1)
        };
        &self.bytes[..end]
    }

    /// The first line that is neither blank nor a comment (`#`), if it is there to its end.
    pub(super) fn first_line(&self) -> Option<&'a [u8]> {
        lines(self.whole_lines())
            .map(|(_, line)| line)
            .find(|line| !line.trim_ascii().is_empty() && !line.starts_with(b"#"))
    }
}

/// A reader of a format that is read as it comes: of lines, for the most part.
pub(super) trait LineReader: Send {
    /// Whether blocks may end anywhere, for formats that are not made of lines.
    fn takes_parts_of_lines(&self) -> bool {
        false
    }

    /// Reads whole lines; only the last one of all may lack its line end.
    fn block(&mut self, bytes: &[u8]) -> Decoded<()>;

    fn finish(self: Box<Self>) -> Decoded<RecordingBuilder>;
}
