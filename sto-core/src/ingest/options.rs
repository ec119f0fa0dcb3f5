//! The options of ingestion.

use super::IngestError;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use sto_formats::{Format, OnRead, ReadOptions};
use sto_model::CancelToken;
use sto_model::Commit;
use sto_model::limits::{MAX_LABELS, MAX_USER_STRING};
use sto_model::trace::CallThresholds;
use sto_model::tree::SliceCount;
use sto_model::units::{Bytes, TimeOffset, UnixSeconds};
use sto_model::{SymbolOptions, Timings};

/// Options of [`ingest`](super::ingest()): how a file is read, and the metadata of its profiles.
#[derive(Clone, Debug, Default)]
pub struct IngestOptions {
    /// Name of the executable; by default the program that was recorded, or the one with most samples if the recording
    /// does not tell.
    ///
    /// Frames of the main program's own file have this name as their module, whatever the file is called. With
    /// `split_processes`, each profile has the name of its program instead.
    pub executable: Option<String>,
    /// Version of the build; by default the program's GNU build id.
    pub version: Option<String>,
    /// Revision of the work tree.
    pub revision: Option<String>,
    /// The commit of that revision.
    pub commit: Option<Commit>,
    /// The benchmark that ran.
    pub benchmark: Option<String>,
    /// Time at which the profile was recorded; by default as its file tells.
    pub recorded: Option<UnixSeconds>,
    /// Labels of the profile.
    pub labels: BTreeMap<String, String>,
    /// Metrics of the profile.
    pub metrics: BTreeMap<String, f64>,
    /// Make one profile for each program, instead of one of the whole recording.
    pub split_processes: bool,
    /// Also store costs by thread, labels and slice of time, in this number of slices. With `split_processes`, the
    /// slices of each profile divide the time of the whole recording.
    pub slices: Option<SliceCount>,
    /// Files with metrics over time that were recorded together with the profile: CSV with the columns `time`, `name`
    /// and `value`, or `time` and one column for each metric; JSON lines; or the output of `perf stat -I 10 -x,`.
    pub traces: Vec<PathBuf>,
    /// Time from the recording's first sample to time 0 of the traces.
    ///
    /// By default, a trace uses the recording's clock if any of its times falls into the recording by that clock;
    /// otherwise its time 0 is the first sample.
    pub trace_start: Option<TimeOffset>,
    /// Thresholds for storing individual calls of a trace of calls.
    pub call_thresholds: CallThresholds,
    /// Also store every call of a trace of calls.
    pub keep_calls: bool,
    /// Store no slices of a trace of calls, whatever `slices` is; making these takes long.
    pub whole_calls: bool,
    /// The format of the file; by default it is detected.
    pub format: Option<Format>,
    /// Read as much as there is of a truncated file.
    pub allow_truncated: bool,
    /// Number of bytes that a compressed file may expand to, whatever its size is.
    pub max_input: Option<Bytes>,
    /// Refuse a profile if more than 20 % of its samples are unresolved, truncated or without a stack, or more than 5 % of
    /// its events were lost; see [`IngestError::LowQuality`].
    pub strict: bool,
    /// How symbols are found, and whether frames have lines.
    pub symbols: SymbolOptions,
    /// Folder of a temporary file for calls of a trace that do not fit into memory; without it, they stay in memory.
    pub call_folder: Option<PathBuf>,
    /// A callback for progress while the file is read.
    pub on_read: OnRead,
    /// Cancels ingestion before the next profile is stored.
    pub cancel: CancelToken,
    /// Collects the time of each stage.
    pub timings: Timings,
}

impl IngestOptions {
    /// Returns the options of reading the file.
    pub fn read_options(&self) -> ReadOptions {
        ReadOptions {
            format: self.format,
            allow_truncated: self.allow_truncated,
            max_input: self.max_input,
            symbols: self.symbols.clone(),
            sum_samples: self.slices.is_none() && self.traces.is_empty(),
            call_slices: self.slices.filter(|_| !self.whole_calls),
            call_folder: self.call_folder.clone(),
            call_thresholds: self.call_thresholds,
            keep_calls: self.keep_calls,
            on_read: self.on_read.with_cancel(&self.cancel),
            timings: self.timings.clone(),
        }
    }

    /// Returns an error if a name, label or metric exceeds its limit. None is truncated, as things are found by them.
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
            .map(|(what, text)| (what, text.len(), "bytes", MAX_USER_STRING));
        let counts = [
            ("the profile", self.labels.len(), "labels", MAX_LABELS),
            ("the profile", self.metrics.len(), "metrics", MAX_LABELS),
        ];
        for (what, found, unit, limit) in lengths.chain(counts) {
            if found > limit {
                return Err(IngestError::TooLong {
                    path: path.display().to_string(),
                    what,
                    found,
                    unit,
                    limit,
                });
            }
        }
        Ok(())
    }
}
