//! What goes in with a profile, and how it is read.

use super::IngestError;
use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use sto_formats::{Format, OnRead, ReadOptions};
use sto_model::Cancel;
use sto_model::Commit;
use sto_model::SymbolOptions;
use sto_model::limits::{MAX_GIVEN_NAME, MAX_LABELS};
use sto_model::trace::CallThresholds;
use sto_model::tree::SliceCount;
use sto_model::units::{Bytes, TimeOffset};

/// What the user says about a profile when it goes in.
#[derive(Clone, Debug, Default)]
pub struct IngestOptions {
    /// Name of the executable; by default the program with most samples. Frames of the main
    /// program's own file carry it as their module, whatever the file is called. With
    /// `split_processes` each profile has the name of its program instead.
    pub executable: Option<String>,
    /// Version of the build; by default the program's GNU build id.
    pub version: Option<String>,
    /// Revision of the work tree.
    pub revision: Option<String>,
    /// The commit of that revision.
    pub commit: Option<Commit>,
    /// The benchmark that ran.
    pub benchmark: Option<String>,
    /// Labels.
    pub labels: BTreeMap<String, String>,
    /// Metrics.
    pub metrics: BTreeMap<String, f64>,
    /// Make one profile a program, instead of one of the whole recording.
    pub split_processes: bool,
    /// Keep costs by thread, labels and slice of time too, in this many slices. With `split_processes` each
    /// profile has the slices of the whole recording's time.
    pub slices: Option<SliceCount>,
    /// Files with metrics over time that were recorded beside it: tables (CSV) with the columns `time`, `name` and
    /// `value`, or `time` and a column a metric; JSON lines; what `perf stat -I 10 -x,` prints.
    pub traces: Vec<PathBuf>,
    /// How long after the recording's first sample the traces' 0 is. By default, a trace has the recording's clock
    /// where any of its times is of the recording by that, and else its 0 is the first sample.
    pub trace_start: Option<TimeOffset>,
    /// Which calls of a trace of calls are kept by themselves.
    pub call_thresholds: CallThresholds,
    /// Keep every call of a trace of calls, too.
    pub keep_calls: bool,
    /// Keep no slices of what is a trace of calls, whatever `slices` says, as cutting these takes long.
    pub whole_calls: bool,
    /// The format of the file; by default its content shows it.
    pub format: Option<Format>,
    /// Take what there is of a file that was cut off.
    pub allow_truncated: bool,
    /// Bytes that a compressed file may expand to, however small it is.
    pub max_input: Option<Bytes>,
    /// Refuse a profile whose stacks are poor; see [`IngestError::Poor`].
    pub strict: bool,
    /// Where symbols are looked for, and what a frame stands for.
    pub symbols: SymbolOptions,
    /// Where the temporary file is for the calls of a trace that are too many for memory; without it, they stay in
    /// memory.
    pub call_folder: Option<PathBuf>,
    /// Is called as the file is read.
    pub on_read: OnRead,
    /// Ends ingestion early: before the profile, or the next one of several, goes into the store.
    pub cancel: Cancel,
}

impl IngestOptions {
    /// How the file is to be read.
    pub fn read(&self) -> ReadOptions {
        ReadOptions {
            format: self.format,
            allow_truncated: self.allow_truncated,
            max_input: self.max_input,
            symbols: self.symbols.clone(),
            sum_samples: self.slices.is_none() && self.traces.is_empty(),
            call_parts: self
                .slices
                .filter(|_| !self.whole_calls)
                .and_then(|slices| NonZeroU32::new(slices.get())),
            call_folder: self.call_folder.clone(),
            call_thresholds: self.call_thresholds,
            keep_calls: self.keep_calls,
            on_read: self.on_read.unless(&self.cancel),
        }
    }

    /// Whether a profile may carry all of it. Nothing of it is cut: names are what things are found
    /// by.
    pub(super) fn check(&self, path: &Path) -> Result<(), IngestError> {
        let optional = [
            ("the executable's name", &self.executable),
            ("the build's name", &self.version),
            ("the revision", &self.revision),
            ("the benchmark's name", &self.benchmark),
        ];
        let names = optional
            .into_iter()
            .filter_map(|(what, name)| Some((what, name.as_ref()?)));
        let labels = self.labels.iter();
        let labels = labels.flat_map(|(key, value)| [("a label's key", key), ("a label", value)]);
        let metrics = self.metrics.keys().map(|name| ("a metric's name", name));
        let lengths = names
            .chain(labels)
            .chain(metrics)
            .map(|(what, text)| (what, text.len(), "bytes", MAX_GIVEN_NAME));
        let counts = [
            ("the profile", self.labels.len(), "labels", MAX_LABELS),
            ("the profile", self.metrics.len(), "metrics", MAX_LABELS),
        ];
        match lengths
            .chain(counts)
            .find(|&(_, found, _, limit)| found > limit)
        {
            None => Ok(()),
            Some((what, found, unit, limit)) => Err(IngestError::TooLong {
                path: path.display().to_string(),
                what,
                found,
                unit,
                limit,
            }),
        }
    }
}
