//! Profiles: recorded runs, and the labels of their samples.

use super::GnuBuildId;
use crate::id::{BuildId, ReadingId, SourceDigest};
use crate::units::{Bytes, Nanoseconds, SampleType, UnixSeconds};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

/// What a frame stands for.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[repr(u8)]
#[serde(rename_all = "lowercase")]
pub enum Granularity {
    /// A frame is a function; line costs stand beside the tree.
    #[default]
    Function = 0,
    /// A frame is a function at a line.
    Line = 1,
}

impl Granularity {
    /// What options call it.
    pub fn name(self) -> &'static str {
        match self {
            Granularity::Function => "function",
            Granularity::Line => "line",
        }
    }
}

/// Where and how a recording was made, as far as it is known.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// When the recording was made.
    pub recorded: Option<UnixSeconds>,
    /// Time between the first sample and the last.
    pub duration: Option<Nanoseconds>,
    /// Host name.
    pub host: Option<String>,
    /// Kernel release (`uname -r`).
    pub kernel: Option<String>,
    /// Machine architecture (`uname -m`).
    pub arch: Option<String>,
    /// CPU description.
    pub cpu: Option<String>,
    /// Command line of the recording tool.
    pub command: Option<String>,
}

/// How much of a recording can be trusted, in samples.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Quality {
    /// Samples that are in the profile.
    pub samples: u64,
    /// Samples whose innermost frame could not be resolved to a symbol.
    pub unresolved: u64,
    /// Samples whose stack was cut before its root: the saved stack was too short, the call chain
    /// reached its limit, or the unwinder found no way on.
    pub truncated: u64,
    /// Samples with no more than the instruction pointer.
    pub without_stack: u64,
    /// Events that the kernel or the tool dropped while recording; these are not in `samples`.
    pub lost: u64,
}

/// A file that code of a profile was loaded from.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ModuleRef {
    /// The module name that frames carry.
    pub name: String,
    /// Its GNU build id, where known.
    pub build_id: Option<GnuBuildId>,
}

/// One recorded run of a build: everything about it but its stacks and counts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Profile {
    /// The build that ran.
    pub build: BuildId,
    /// Digest of the source's bytes, and of the options of reading that make other stacks of them: a named
    /// format, the granularity, the program of several that it is of.
    pub source: SourceDigest,
    /// Size of the source.
    pub source_bytes: Bytes,
    /// Name of the source's format: `perf.data`, `perf script`, `folded`.
    pub format: String,
    /// Where and how it was recorded.
    pub origin: Origin,
    /// How much of it can be trusted.
    pub quality: Quality,
    /// What a frame stands for.
    pub granularity: Granularity,
    /// What was measured; the columns of weights stand in this order.
    pub sample_types: Vec<SampleType>,
    /// The files its frames come from, by name; runs of one build share the list.
    pub modules: Arc<[ModuleRef]>,
    /// The benchmark that ran, as the user names it.
    pub benchmark: Option<String>,
    /// Labels that the user gave.
    pub labels: BTreeMap<String, String>,
    /// Metrics that the user gave: throughput, run time, ...
    pub metrics: BTreeMap<String, f64>,
}

impl Profile {
    /// The [format](Profile::format) of a profile that is the mean of others.
    pub const AVERAGE: &str = "average";

    /// Whether it is the mean of others, and no run.
    pub fn is_average(&self) -> bool {
        self.format == Profile::AVERAGE
    }

    /// When it was recorded, to sort by: profiles that do not say come last.
    pub fn order_of_recording(&self) -> UnixSeconds {
        self.origin.recorded.unwrap_or(UnixSeconds(u64::MAX))
    }

    /// What it claims to be a reading of. Whether it is one, only who read the source can say.
    pub fn reading(&self) -> ReadingId {
        ReadingId::of(self.build, self.source)
    }

    /// Whether the source, or what it is of, says which of its sample types is to be shown by default; it is then the first of [`Profile::sample_types`].
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
        )
    }
}

/// What a program says of the work that a sample was taken in: the kind of a request, the size of an
/// allocation. A sample may have several labels of one key.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct SampleLabel {
    /// What it is of.
    pub key: String,
    /// What it says of it.
    pub value: LabelValue,
}

/// The value of a label.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum LabelValue {
    /// A text.
    Text(String),
    /// A number.
    Number {
        /// The number, as many of the unit.
        number: i64,
        /// Its unit, as the file names it; empty where it does not.
        unit: String,
    },
}

impl SampleLabel {
    /// The value as text: a number with its unit, `1024 bytes`.
    ///
    /// Sizes have a unit also where the file does not say it, as pprof has it: the keys of heap
    /// profiles are `bytes`, and those of tcmalloc `request` and `alignment`.
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
