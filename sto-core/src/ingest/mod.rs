//! Ingestion: reads a profile, symbolizes and interns it, and adds it to a store.

mod describe;
mod error;
mod kept;
mod later;
mod moments;
mod notices;
mod options;
mod programs;
mod traces;

use crate::intern::{AddressTree, intern_with_nodes};
use crate::symbolize::{Symbols, add_build_ids, symbolize_uncounted, unresolved_samples};
use describe::{Describer, check_quality};
use moments::add_moments;
use notices::{
    STORED_WITHOUT_SLICES, labels_not_stored, other_build_id, replaced_profile,
    same_recording_twice,
};
use programs::{Part, Programs, name_main_modules};
use serde::{Deserialize, Serialize};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use sto_formats::recording::Recording;
use sto_formats::{self as formats, FormatError};
use sto_model::CancelToken;
use sto_model::id::{BuildRecordingId, ProfileId, RecordingDigest};
use sto_model::trace::{CallThread, ThreadCalls};
use sto_model::tree::{ProfileData, total_cost};
use sto_model::units::{Bytes, Cost, Nanoseconds, UnixSeconds};
use sto_model::{Build, Granularity, Profile};
use sto_model::{Hint, Notice};
use sto_store::{Added, Store, StoreError, Writer};
use traces::add_traces;

pub use crate::intern::InternError;
pub use crate::symbolize::ModuleSymbols;
pub use error::IngestError;
pub use later::{Symbolized, symbolize_again};
pub use options::IngestOptions;
pub use sto_model::{Debuginfod, Stage, StageTime, SymbolOptions, Timings};

/// A profile that is ready for the store.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Prepared {
    /// The build that ran.
    pub build: Build,
    /// The metadata of the profile.
    pub profile: Profile,
    /// The stacks and costs.
    pub interned: ProfileData,
    /// Digests of the same recording read with other options: the whole recording or only this program's part, by
    /// function or by line.
    pub others: Vec<RecordingDigest>,
}

/// A profile that was ingested.
#[derive(Clone, Debug)]
pub struct Ingested {
    /// The profile's content id.
    pub id: ProfileId,
    /// The build of the profile.
    pub build: Build,
    /// The metadata of the profile.
    pub profile: Profile,
    /// Whether it is new.
    pub added: Added,
    /// The total cost of each sample type.
    pub totals: Vec<Cost>,
    /// Number of nodes of the tree.
    pub nodes: usize,
    /// Number of distinct frames.
    pub frames: usize,
    /// The slices of time, if they were stored now.
    pub slices: Option<IngestedSlices>,
    /// The metrics over time, if any were stored now.
    pub metrics: Option<IngestedMetrics>,
    /// The calls over time, if any were stored now.
    pub calls: Option<IngestedCalls>,
}

/// The slices of time of a profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct IngestedSlices {
    /// Number of slices.
    pub count: u32,
    /// Time from the first sample of the recording to the last, in nanoseconds.
    #[serde(rename = "duration_ns")]
    pub duration: Nanoseconds,
    /// Number of threads of the profile.
    pub threads: usize,
    /// Packed size of the slices, which is included in the size of the profile.
    pub bytes: Bytes,
}

/// Metrics over time that were stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct IngestedMetrics {
    /// Number of metrics that were read.
    pub count: usize,
    /// Number of values of all metrics.
    pub points: usize,
    /// Packed size of all metrics over time that the profile has now.
    pub bytes: Bytes,
}

/// Calls over time that were stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct IngestedCalls {
    /// Number of threads with calls.
    pub threads: usize,
    /// Number of calls.
    pub calls: u64,
    /// Number of records that the calls were summarised into.
    pub records: usize,
    /// Packed size of the records; zero if they were stored before.
    pub bytes: Bytes,
    /// Packed size of the individual calls, if they were stored now.
    pub kept_bytes: Bytes,
}

/// The outcome of [`ingest`].
#[derive(Clone, Debug)]
pub struct IngestOutcome {
    /// The profiles: one, or with `split_processes` one for each program, most samples first.
    pub profiles: Vec<Ingested>,
    /// The path of each module, with the outcome of symbolizing it.
    pub modules: Vec<(String, ModuleSymbols)>,
    /// Warnings about the recording, as complete sentences.
    pub warnings: Vec<Notice>,
}

/// The input of [`ingest`].
///
/// Errors contain the input's name, and the program is named after it if the data has no name.
#[non_exhaustive]
pub enum Input<'a> {
    /// A file.
    Path(&'a Path),
    /// The contents of a file in memory.
    Bytes {
        /// A name for the data.
        name: &'a Path,
        /// The contents of a file in any supported format.
        bytes: &'a [u8],
    },
    /// A stream. Folded stacks and `perf script` output are not read into memory as a whole.
    Reader {
        /// A name for the data.
        name: &'a Path,
        /// A reader of a file in any supported format.
        reader: Box<dyn Read + Send + 'a>,
    },
    /// A recording that was already read or built.
    Recording {
        /// A name for the data.
        name: &'a Path,
        /// The recording.
        recording: Box<Recording>,
    },
}

impl<'a, P: AsRef<Path> + ?Sized> From<&'a P> for Input<'a> {
    fn from(path: &'a P) -> Self {
        Input::Path(path.as_ref())
    }
}

impl<'a, P: AsRef<Path> + ?Sized> From<(&'a P, &'a [u8])> for Input<'a> {
    fn from((name, bytes): (&'a P, &'a [u8])) -> Self {
        let name = name.as_ref();
        Input::Bytes { name, bytes }
    }
}

impl<'a, P: AsRef<Path> + ?Sized> From<(&'a P, Recording)> for Input<'a> {
    fn from((name, recording): (&'a P, Recording)) -> Self {
        let (name, recording) = (name.as_ref(), Box::new(recording));
        Input::Recording { name, recording }
    }
}

impl<'a> Input<'a> {
    fn read(self, options: &IngestOptions) -> Result<(&'a Path, Recording), FormatError> {
        Ok(match self {
            Input::Path(path) => (path, formats::read(path, &options.read_options())?),
            Input::Bytes { name, bytes } => (
                name,
                formats::read_bytes(name, bytes, &options.read_options())?,
            ),
            Input::Reader { name, reader } => (
                name,
                formats::read_stream(name, reader, &options.read_options())?,
            ),
            Input::Recording { name, recording } => (name, *recording),
        })
    }
}

/// Reads a profile, resolves its symbols, and adds it to the store.
///
/// `progress` is called when a stage begins.
///
/// # Errors
/// Returns an error if the input cannot be read, nothing names the build, or the store cannot be written. Each profile
/// is added completely or not at all; if one of several fails, those before it stay in the store, and ingesting again
/// adds the others.
pub fn ingest<'a>(
    store: &Store,
    input: impl Into<Input<'a>>,
    options: &IngestOptions,
    progress: &mut dyn FnMut(Stage),
) -> Result<IngestOutcome, IngestError> {
    prepare(input, options, progress)?.store(&mut store.writer(), progress)
}

/// Reads a profile and resolves its symbols, as [`ingest`] does, without storing it.
///
/// # Errors
/// Returns an error if the input cannot be read, nothing names the build, or with `strict` the quality of the stacks is
/// too low.
pub fn prepare<'a>(
    input: impl Into<Input<'a>>,
    options: &IngestOptions,
    progress: &mut dyn FnMut(Stage),
) -> Result<PreparedFile, IngestError> {
    progress(Stage::Reading);
    let (timings, input) = (&options.timings, input.into());
    let read = timings.measure(Stage::Reading, || input.read(options));
    options.cancel.check()?;
    let (path, mut recording) = read?;
    options.check(path)?;
    add_traces(path, &mut recording, options)?;
    progress(Stage::Symbolizing);
    let mut symbols = timings.measure(Stage::Symbolizing, || {
        add_build_ids(&mut recording, &options.symbols);
        name_main_modules(&mut recording, options, path);
        symbolize_uncounted(&recording, &options.symbols, &options.cancel)
    })?;
    add_moments(path, &mut recording, &symbols)?;
    progress(Stage::Interning);
    let (made, counts) = timings.measure(Stage::Interning, || {
        rayon::join(
            || make_profiles(path, &recording, &symbols, options),
            || unresolved_samples(&recording, &symbols),
        )
    });
    let (profiles, warnings) = made?;
    symbols.set_unresolved_samples(counts);
    if options.strict {
        let mut qualities = profiles.iter().map(|prepared| &prepared.profile.quality);
        qualities.try_for_each(|quality| check_quality(path, quality))?;
    }
    let path_of = |found: &ModuleSymbols| recording.modules[found.module.get()].path.clone();
    Ok(PreparedFile {
        profiles,
        modules: symbols
            .modules
            .into_iter()
            .map(|found| (path_of(&found), found))
            .collect(),
        warnings,
        path: path.to_owned(),
        cancel: options.cancel.clone(),
        timings: timings.clone(),
    })
}

/// The profiles of an [`Input`], ready for the store.
#[derive(Clone, Debug)]
pub struct PreparedFile {
    profiles: Vec<Prepared>,
    modules: Vec<(String, ModuleSymbols)>,
    warnings: Vec<Notice>,
    path: PathBuf,
    cancel: CancelToken,
    timings: Timings,
}

impl PreparedFile {
    /// Returns warnings about the recording, as complete sentences.
    pub fn warnings(&self) -> &[Notice] {
        &self.warnings
    }

    /// Returns the profiles.
    pub fn profiles(&self) -> &[Prepared] {
        &self.profiles
    }

    /// Sets the time of profiles whose recording does not tell it.
    pub fn set_unknown_times(&mut self, recorded: UnixSeconds) {
        for Prepared { profile, .. } in &mut self.profiles {
            profile.recorded.get_or_insert(recorded);
        }
    }

    /// Returns the profiles.
    pub fn into_profiles(self) -> Vec<Prepared> {
        self.profiles
    }

    /// Adds the profiles to a store.
    ///
    /// # Errors
    /// Returns an error if the store cannot be written or refuses a profile; the profiles added before that stay.
    pub fn store(
        mut self,
        writer: &mut Writer,
        progress: &mut dyn FnMut(Stage),
    ) -> Result<IngestOutcome, IngestError> {
        progress(Stage::Storing);
        writer.set_timings(&self.timings);
        let mut profiles = Vec::with_capacity(self.profiles.len());
        for Prepared {
            build,
            profile,
            interned,
            others,
        } in self.profiles
        {
            self.cancel.check()?;
            let known = writer.snapshot()?.build(build.id())?;
            let add = || writer.add(&build, &profile, &interned);
            let added = self.timings.measure(Stage::Storing, add);
            let added = added.map_err(|error| match error {
                StoreError::Refused { why, .. } => IngestError::Refused {
                    path: self.path.display().to_string(),
                    why,
                },
                error => error.into(),
            })?;
            if let Added::New { instead_of, .. } = &added {
                let other = known.and_then(|known| other_build_id(&known, &build));
                self.warnings.extend(other);
                for other in others {
                    let other = writer
                        .snapshot()?
                        .profile_of_recording(BuildRecordingId::new(build.id(), other))?;
                    let warning = other.map(|(other, _)| same_recording_twice(&build, other));
                    self.warnings.extend(warning);
                }
                let replaced = instead_of.as_ref().map(replaced_profile);
                self.warnings.extend(replaced.map(Notice::from));
            } else if interned.slices.is_some() && !writer.snapshot()?.has_slices(added.id())? {
                self.warnings
                    .push(Notice::new(STORED_WITHOUT_SLICES, Hint::OtherStore));
            }
            profiles.push(Ingested {
                id: added.id(),
                slices: added_slices(&added, &interned),
                metrics: added_metrics(&added, &interned),
                calls: added_calls(&added, &interned),
                added,
                build,
                profile,
                totals: interned
                    .costs
                    .iter()
                    .map(|costs| total_cost(costs))
                    .collect(),
                nodes: interned.tree.len(),
                frames: interned.frames.len(),
            });
        }
        Ok(IngestOutcome {
            profiles,
            modules: self.modules,
            warnings: self.warnings,
        })
    }
}

fn added_slices(added: &Added, interned: &ProfileData) -> Option<IngestedSlices> {
    let slices = interned.slices.as_ref()?;
    match *added {
        Added::New { slices: bytes, .. } => Some(IngestedSlices {
            count: slices.grid.count().get(),
            duration: Nanoseconds(slices.grid.last().0 - slices.grid.first().0),
            threads: slices.thread_count(),
            bytes,
        }),
        _ => None,
    }
}

fn added_metrics(added: &Added, interned: &ProfileData) -> Option<IngestedMetrics> {
    let metrics = interned.metrics.as_ref()?;
    match *added {
        Added::New { metrics: bytes, .. } | Added::Given { metrics: bytes, .. }
            if bytes > Bytes(0) =>
        {
            Some(IngestedMetrics {
                count: metrics.series.len(),
                points: metrics.value_count(),
                bytes,
            })
        }
        _ => None,
    }
}

fn added_calls(added: &Added, interned: &ProfileData) -> Option<IngestedCalls> {
    let threads = &interned.calls.as_ref()?.threads;
    match *added {
        Added::New {
            calls: bytes, kept, ..
        }
        | Added::Given {
            calls: bytes, kept, ..
        } if bytes > Bytes(0) || added.keeps_calls() => Some(IngestedCalls {
            threads: threads.len(),
            calls: threads.iter().map(|thread| thread.calls).sum(),
            records: threads.iter().map(ThreadCalls::record_count).sum(),
            bytes,
            kept_bytes: kept,
        }),
        _ => None,
    }
}

/// Returns the digest of a recording and of the options that decide which stacks are made of it. `program` is the
/// program whose samples are used, if that is only a part of them.
fn source_of(
    recording: &Recording,
    granularity: Granularity,
    program: Option<&str>,
) -> RecordingDigest {
    let mut source = recording.source;
    if granularity != Granularity::Function {
        source = source.with_option("granularity", granularity.name());
    }
    match program {
        Some(program) => source.with_option("program", program),
        None => source,
    }
}

/// Names and interns the profiles of a recording: one, or with `split_processes` one for each program, most samples
/// first. Also returns the warnings about the recording and its programs.
///
/// # Errors
/// Returns an error if nothing names a profile's build, or a profile cannot be interned.
#[doc(hidden)]
pub fn make_profiles(
    path: &Path,
    recording: &Recording,
    symbols: &Symbols,
    options: &IngestOptions,
) -> Result<(Vec<Prepared>, Vec<Notice>), IngestError> {
    let programs = Programs::new(recording, path);
    let warnings = recording.warnings.iter().cloned();
    let mut warnings: Vec<Notice> = warnings.map(Notice::from).collect();
    if options.slices.is_none() {
        warnings.extend(labels_not_stored(recording));
    }
    let parts = if options.split_processes {
        let (parts, left_out) = programs.split(options, path)?;
        warnings.extend(left_out);
        parts
    } else {
        vec![programs.whole(options, path)?]
    };
    let preparer = Preparer {
        path,
        recording,
        symbols,
        options,
        describer: OnceLock::new(),
        programs,
    };
    let prepared = parts.into_iter().map(|part| preparer.prepare(part));
    Ok((prepared.collect::<Result<_, IngestError>>()?, warnings))
}

/// Makes the profiles of a recording.
struct Preparer<'a> {
    path: &'a Path,
    recording: &'a Recording,
    symbols: &'a Symbols,
    options: &'a IngestOptions,
    /// Made together with the first profile's tree.
    describer: OnceLock<Describer<'a>>,
    programs: Programs,
}

impl Preparer<'_> {
    fn prepare(&self, part: Part) -> Result<Prepared, IngestError> {
        let &Preparer {
            recording,
            symbols,
            options,
            ref programs,
            ..
        } = self;
        let program = part
            .program
            .and_then(|program| programs.name_if_several(program));
        let source = source_of(recording, options.symbols.granularity, program);
        let keep = |sample: &_| {
            let is_of_part = part
                .program
                .is_none_or(|ix| programs.program_of(sample) == ix);
            is_of_part && !options.cancel.is_cancelled()
        };
        let keep_thread = |thread: &CallThread| {
            part.program
                .is_none_or(|program| programs.has_thread(program, thread))
        };
        let has_whole_calls = options.whole_calls && recording.calls.is_some();
        let slices = options.slices.filter(|_| !has_whole_calls);
        let describer = || {
            let describer = &self.describer;
            describer.get_or_init(|| Describer::new(recording, symbols, options))
        };
        let (interned, (by_address, describer)) = rayon::join(
            || intern_with_nodes(recording, symbols, slices, keep),
            || rayon::join(|| AddressTree::new(recording, symbols, keep), describer),
        );
        options.cancel.check()?;
        let failed = |source| IngestError::Intern {
            path: self.path.display().to_string(),
            source,
        };
        let (mut interned, nodes) = interned.map_err(failed)?;
        let addresses = || {
            by_address.and_then(|tree| match tree {
                Some(tree) => tree.addresses(recording, (&interned.tree, &nodes), slices, keep),
                None => Ok(None),
            })
        };
        let describe = || describer.profile(&part.build, source, keep);
        let (addresses, profile) = rayon::join(addresses, describe);
        interned.addresses = addresses.map_err(failed)?;
        if part.program.is_some() {
            let calls = interned.calls.take();
            let calls = calls.map(|calls| calls.filter_threads(|calls| keep_thread(&calls.thread)));
            interned.calls = calls.filter(|calls| !calls.threads.is_empty());
        }
        if let Some(logged) = recording.logged.as_ref().filter(|_| options.keep_calls) {
            let folder = options.call_folder.as_deref();
            let packed = kept::pack_calls(logged, &interned, &nodes, keep_thread, folder);
            let packed = packed.map_err(|error| FormatError::Unsupported {
                path: self.path.to_owned(),
                problem: error.to_string(),
            })?;
            interned.kept_calls = interned.calls.is_some().then(|| Arc::new(packed));
        }
        let granularities = [Granularity::Function, Granularity::Line].into_iter();
        let sources = granularities.flat_map(|granularity| {
            [None, Some(&*part.build.executable)]
                .map(|program| source_of(recording, granularity, program))
        });
        Ok(Prepared {
            others: sources.filter(|&other| other != source).collect(),
            profile,
            build: part.build,
            interned,
        })
    }
}
