//! Profiles of recorded runs, and labels of samples.

use super::GnuBuildId;
use crate::id::{BuildId, BuildRecordingId, RecordingDigest};
use crate::units::{Bytes, Nanoseconds, SampleType, UnixSeconds};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The unit of code that one frame represents.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[repr(u8)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Granularity {
    /// A frame is a function. Costs of lines are stored next to the tree.
    #[default]
    Function = 0,
    /// A frame is a function and a source line in it.
    Line = 1,
}

impl Granularity {
    /// The name used in options: `function` or `line`.
    pub fn name(self) -> &'static str {
        match self {
            Granularity::Function => "function",
            Granularity::Line => "line",
        }
    }
}

/// Properties of a recording's origin. Unknown properties are `None`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// The time at which the recording was made.
    pub recorded: Option<UnixSeconds>,
    /// The time between the first and the last sample.
    pub duration: Option<Nanoseconds>,
    /// Host name.
    pub host: Option<String>,
    /// Kernel release (`uname -r`).
    pub kernel: Option<String>,
    /// Machine architecture (`uname -m`).
    pub arch: Option<String>,
    /// Description of the CPU.
    pub cpu: Option<String>,
    /// Command line of the recording tool.
    pub command: Option<String>,
}

/// Counts of complete, incomplete and lost samples, which tell how far a profile can be trusted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Quality {
    /// Samples in the profile.
    pub samples: u64,
    /// Samples whose innermost frame could not be resolved to a symbol.
    pub unresolved: u64,
    /// Samples whose stack does not reach its root: the saved stack was too short, the call chain
    /// reached its limit, or the unwinder failed.
    pub truncated: u64,
    /// Samples that have only an instruction pointer.
    pub without_stack: u64,
    /// Events that the kernel or the recording tool dropped. They are not counted in `samples`.
    pub lost: u64,
}

/// A file that code in a profile was loaded from.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ModuleRef {
    /// The module name used by [frames](crate::Frame::module).
    pub name: String,
    /// The GNU build id, if known.
    pub build_id: Option<GnuBuildId>,
}

/// One recorded run of a build, without its stacks and costs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Profile {
    /// The build that ran.
    pub build: BuildId,
    /// Digest of the recording's bytes and of the reading options that change the resulting stacks: an explicit
    /// format, the granularity, and which of several recorded programs was read.
    pub source: RecordingDigest,
    /// Size of the recording.
    pub source_bytes: Bytes,
    /// Name of the recording's format: `perf.data`, `perf script`, `folded`.
    pub format: String,
    /// Time, machine and command of the recording.
    pub origin: Origin,
    /// Counts of complete, incomplete and lost samples.
    pub quality: Quality,
    /// The unit of code that one frame represents.
    pub granularity: Granularity,
    /// The measured quantities. Columns of costs have the same order.
    pub sample_types: Vec<SampleType>,
    /// The files that the frames come from, ordered by name. Runs of one build share the list.
    pub modules: Arc<[ModuleRef]>,
    /// The user's name for the benchmark that ran.
    pub benchmark: Option<String>,
    /// Labels set by the user.
    pub labels: BTreeMap<String, String>,
    /// Metrics set by the user: throughput, run time, ...
    pub metrics: BTreeMap<String, f64>,
}

impl Profile {
    /// The [format](Profile::format) of a profile that is the mean of other profiles.
    pub const AVERAGE: &str = "average";

    /// Returns `true` if the profile is the mean of other profiles instead of a run.
    pub fn is_average(&self) -> bool {
        self.format == Profile::AVERAGE
    }

    /// The [format](Profile::format) of a profile that is the sum of the profiles that a service sent in a window of time.
    pub const WINDOW: &str = "window";

    /// Returns `true` if the profile is a window of a service that is profiled continuously, instead of a run.
    ///
    /// Windows of one service and host are not independent, so statistics must not use them as runs.
    pub fn is_window(&self) -> bool {
        self.format == Profile::WINDOW
    }

    /// A sort key by recording time, under which profiles without a time come last.
    pub fn recorded_sort_key(&self) -> UnixSeconds {
        self.origin.recorded.unwrap_or(UnixSeconds(u64::MAX))
    }

    /// The id of the pair of build and recording. It is derived from the fields; the recording is not checked.
    pub fn build_recording_id(&self) -> BuildRecordingId {
        BuildRecordingId::new(self.build, self.source)
    }

    /// Returns `true` if the recording's format defines which sample type to show by default. It is then the
    /// first of [`Profile::sample_types`].
    pub fn has_default_sample_type(&self) -> bool {
        matches!(
            self.format.as_str(),
            "pprof"
                | "otlp"
                | "jfr"
                | "chrome"
                | "callgrind"
                | "ghc"
                | "gperftools"
                | "visual studio"
                | Profile::WINDOW
        )
    }
}

/// A label that a program attached to a sample: the kind of a request, the size of an allocation.
///
/// A sample may have several labels with the same key.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct SampleLabel {
    /// The key.
    pub key: String,
    /// The value.
    pub value: LabelValue,
}

/// The value of a label.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum LabelValue {
    /// A string.
    Text(String),
    /// A number with a unit.
    Number {
        /// The number.
        number: i64,
        /// The unit as named in the recording; empty if the recording has no unit.
        unit: String,
    },
}

impl SampleLabel {
    /// Formats the value as text, a number with its unit: `1024 bytes`.
    ///
    /// Like pprof, this assumes bytes for numbers without a unit whose key is a size: `bytes` in heap profiles,
    /// `request` and `alignment` in tcmalloc's.
    pub fn text(&self) -> Cow<'_, str> {
        let (number, unit) = match &self.value {
            LabelValue::Text(text) => return Cow::Borrowed(text),
            LabelValue::Number { number, unit } => (number, unit.as_str()),
        };
        match (unit, self.key.as_str()) {
            ("", "bytes" | "request" | "alignment") => format!("{number} bytes"),
            ("", _) => number.to_string(),
            (unit, _) => format!("{number} {unit}"),
        }
        .into()
    }
}
