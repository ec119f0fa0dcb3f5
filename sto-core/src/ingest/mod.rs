//! The way from a profile file into the store, on one page.

mod describe;
mod error;
mod kept;
mod later;
mod moments;
mod notices;
mod options;
mod programs;
mod traces;

use crate::intern::{addresses, intern_with_nodes};
use crate::symbolize::{Symbols, add_build_ids, symbolize_unless};
use moments::add_moments;
use notices::{
    STORED_WITHOUT_SLICES, in_its_place, labels_not_kept, of_other_code, of_the_same_recording,
};
use programs::{Programs, name_main_modules};
use serde::{Deserialize, Serialize};
use std::io::Read;
use std::path::Path;
use std::sync::Arc;
use sto_formats::recording::Recording;
use sto_formats::{self as formats, FormatError};
use sto_model::Cancel;
use sto_model::id::{ProfileId, ReadingId, SourceDigest};
use sto_model::trace::{CallThread, ThreadCalls};
use sto_model::tree::{Interned, total};
use sto_model::units::{Bytes, Cost, Nanoseconds};
use sto_model::{Build, Granularity, Profile};
use sto_model::{Hint, Notice};
use sto_store::{Added, Store, Writer};
use traces::add_traces;

pub use crate::intern::InternError;
pub use crate::symbolize::ModuleSymbols;
pub use error::IngestError;
pub use later::{Symbolized, symbolize_again};
pub use options::IngestOptions;
pub use sto_model::{Debuginfod, SymbolOptions};

/// Stages of ingestion, for progress displays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Reading the file, and unwinding saved stacks.
    Reading,
    /// Looking up symbols.
    Symbolizing,
    /// Building the tree.
    Interning,
    /// Writing to the store.
    Storing,
}

/// A profile that is ready for the store.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Prepared {
    /// The build that ran.
    pub build: Build,
    /// Everything about it but its stacks and counts.
    pub profile: Profile,
    /// Its stacks and counts.
    pub interned: Interned,
    /// What the same recording is for the same build with other options: as a whole or this program's part
    /// alone, by function or by line.
    pub others: Vec<SourceDigest>,
}

/// A profile that went in.
#[derive(Clone, Debug)]
pub struct Ingested {
    /// Its content address.
    pub id: ProfileId,
    /// The build it belongs to.
    pub build: Build,
    /// Everything about it but its stacks and counts.
    pub profile: Profile,
    /// Whether it is new.
    pub added: Added,
    /// What the samples of each of its sample types cost together.
    pub totals: Vec<Cost>,
    /// Number of nodes of its tree.
    pub nodes: usize,
    /// Number of its distinct frames.
    pub frames: usize,
    /// How its time was cut, where slices were kept now.
    pub slices: Option<IngestedSlices>,
    /// Its metrics over time, where any were stored now.
    pub metrics: Option<IngestedMetrics>,
    /// Its calls over time, where any were stored now.
    pub calls: Option<IngestedCalls>,
}

/// How the time of a profile was cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct IngestedSlices {
    /// Number of slices.
    pub count: u32,
    /// Time from the first sample of the recording to the last, in nanoseconds.
    #[serde(rename = "duration_ns")]
    pub duration: Nanoseconds,
    /// Number of the profile's threads.
    pub threads: usize,
    /// Packed size of them, a part of what was written for the profile.
    pub bytes: Bytes,
}

/// Metrics over time that were stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct IngestedMetrics {
    /// Number of metrics that were read.
    pub count: usize,
    /// Number of their values.
    pub points: usize,
    /// Packed size of all metrics over time that the profile has now.
    pub bytes: Bytes,
}

/// Calls over time that were stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct IngestedCalls {
    /// Number of threads that called anything.
    pub threads: usize,
    /// Number of calls.
    pub calls: u64,
    /// Number of records that they were compressed to.
    pub records: usize,
    /// Packed size of these; zero where they were stored before.
    pub bytes: Bytes,
    /// Packed size of all calls, where they are kept from now on.
    pub kept_bytes: Bytes,
}

/// The outcome of [`ingest`].
#[derive(Clone, Debug)]
pub struct IngestOutcome {
    /// The profiles: one, or with `split_processes` one a program, most samples first.
    pub profiles: Vec<Ingested>,
    /// What was found of each module, with its path.
    pub modules: Vec<(String, ModuleSymbols)>,
    /// Whole sentences about what a user should know of this recording.
    pub warnings: Vec<Notice>,
}

/// What a profile is made of. Its name stands in errors, and names the program where the data do not.
pub enum Input<'a> {
    /// A file.
    Path(&'a Path),
    /// Bytes that are here already.
    Bytes {
        /// What they are called.
        name: &'a Path,
        /// The bytes of a file of any format.
        bytes: &'a [u8],
    },
    /// A stream; folded stacks and the text of `perf script` are not held as a whole.
    Reader {
        /// What it is called.
        name: &'a Path,
        /// The bytes of a file of any format.
        reader: Box<dyn Read + Send + 'a>,
    },
    /// What was read already.
    Recording {
        /// What it is called.
        name: &'a Path,
        /// What [`formats`] read.
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
            Input::Path(path) => (path, formats::read(path, &options.read())?),
            Input::Bytes { name, bytes } => {
                (name, formats::read_bytes(name, bytes, &options.read())?)
            }
            Input::Reader { name, reader } => {
                (name, formats::read_stream(name, reader, &options.read())?)
            }
            Input::Recording { name, recording } => (name, *recording),
        })
    }
}

/// Reads a profile, resolves its symbols, and adds it to the store.
///
/// `progress` is called when a stage begins.
///
/// # Errors
/// Where the input cannot be read, has no name for its build, or the store cannot be written. The
/// store is then as it was; only where it fails after some of several profiles were added, these
/// stay, and ingesting again adds the others.
pub fn ingest<'a>(
    store: &Store,
    input: impl Into<Input<'a>>,
    options: &IngestOptions,
    progress: &mut dyn FnMut(Stage),
) -> Result<IngestOutcome, IngestError> {
    prepare(input, options, progress)?.store(&mut store.writer(), progress)
}

/// Reads a profile and resolves its symbols: all of [`ingest`] but the store.
///
/// # Errors
/// As [`ingest`]; under `strict` also where its stacks are too poor.
pub fn prepare<'a>(
    input: impl Into<Input<'a>>,
    options: &IngestOptions,
    progress: &mut dyn FnMut(Stage),
) -> Result<PreparedFile, IngestError> {
    progress(Stage::Reading);
    let read = input.into().read(options);
    options.cancel.check()?;
    let (path, mut recording) = read?;
    options.check(path)?;
    add_traces(path, &mut recording, options)?;
    progress(Stage::Symbolizing);
    add_build_ids(&mut recording, &options.symbols);
    name_main_modules(&mut recording, options, path);
    let symbols = symbolize_unless(&recording, &options.symbols, &options.cancel)?;
    add_moments(path, &mut recording, &symbols)?;
    progress(Stage::Interning);
    let (profiles, warnings) = profiles_of(path, &recording, &symbols, options)?;
    if options.strict {
        let mut qualities = profiles.iter().map(|prepared| &prepared.profile.quality);
        qualities.try_for_each(|quality| describe::check_quality(path, quality))?;
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
        cancel: options.cancel.clone(),
    })
}

/// What an [`Input`] became, ready for the store.
#[derive(Clone, Debug)]
pub struct PreparedFile {
    profiles: Vec<Prepared>,
    modules: Vec<(String, ModuleSymbols)>,
    warnings: Vec<Notice>,
    cancel: Cancel,
}

impl PreparedFile {
    /// Whole sentences about what a user should know of it.
    pub fn warnings(&self) -> &[Notice] {
        &self.warnings
    }

    /// The profiles that it becomes.
    pub fn profiles(&self) -> &[Prepared] {
        &self.profiles
    }

    /// Adds its profiles to the store.
    ///
    /// # Errors
    /// Where the store cannot be written; only profiles before one that cannot be added stay.
    pub fn store(
        mut self,
        writer: &mut Writer<'_>,
        progress: &mut dyn FnMut(Stage),
    ) -> Result<IngestOutcome, IngestError> {
        progress(Stage::Storing);
        let mut profiles = Vec::with_capacity(self.profiles.len());
        for Prepared {
            build,
            profile,
            interned,
            others,
        } in self.profiles
        {
            self.cancel.check()?;
            let known = writer.store().snapshot()?.build(build.id())?;
            let added = writer.add(&build, &profile, &interned)?;
            let slices = interned.slices.as_ref();
            if let Added::New { instead_of, .. } = &added {
                let other = known.and_then(|known| of_other_code(&known, &build));
                self.warnings.extend(other);
                for other in others {
                    let other = writer
                        .store()
                        .snapshot()?
                        .reading(ReadingId::of(build.id(), other))?;
                    let warning = other.map(|(other, _)| of_the_same_recording(&build, other));
                    self.warnings.extend(warning);
                }
                let gone = instead_of.as_ref().map(in_its_place);
                self.warnings.extend(gone.map(Notice::from));
            } else if slices.is_some() && !writer.store().snapshot()?.has_slices(added.id())? {
                self.warnings
                    .push(Notice::new(STORED_WITHOUT_SLICES, Hint::OtherStore));
            }
            profiles.push(Ingested {
                id: added.id(),
                slices: match (&added, slices) {
                    (&Added::New { slices: bytes, .. }, Some(slices)) => Some(IngestedSlices {
                        count: slices.grid.count().get(),
                        duration: Nanoseconds(slices.grid.last().0 - slices.grid.first().0),
                        threads: slices.thread_count(),
                        bytes,
                    }),
                    _ => None,
                },
                metrics: match (&added, &interned.metrics) {
                    (
                        &(Added::New { metrics: bytes, .. } | Added::Given { metrics: bytes, .. }),
                        Some(metrics),
                    ) if bytes > Bytes(0) => Some(IngestedMetrics {
                        count: metrics.series.len(),
                        points: metrics.points(),
                        bytes,
                    }),
                    _ => None,
                },
                calls: match (&added, &interned.calls) {
                    (
                        &(Added::New { calls: bytes, .. } | Added::Given { calls: bytes, .. }),
                        Some(calls),
                    ) if bytes > Bytes(0) || added.keeps_calls() => Some(IngestedCalls {
                        threads: calls.threads.len(),
                        calls: calls.threads.iter().map(|thread| thread.calls).sum(),
                        records: calls.threads.iter().map(ThreadCalls::record_count).sum(),
                        bytes,
                        kept_bytes: match added {
                            Added::New { kept, .. } | Added::Given { kept, .. } => kept,
                            Added::AlreadyStored(_) => Bytes(0),
                        },
                    }),
                    _ => None,
                },
                added,
                build,
                profile,
                totals: interned.costs.iter().map(|costs| total(costs)).collect(),
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

/// The recording as one source with the options that decide what stacks are made of it: of all samples or of
/// those of a program among others.
fn source_of(
    recording: &Recording,
    granularity: Granularity,
    program: Option<&str>,
) -> SourceDigest {
    let mut source = recording.source;
    if granularity != Granularity::Function {
        source = source.read_with("granularity", granularity.name());
    }
    match program {
        Some(program) => source.read_with("program", program),
        None => source,
    }
}

/// Names and interns the profiles of a recording: one, or with `split_processes` one a program,
/// most samples first. With them come the recording's warnings and those about its programs.
///
/// # Errors
/// Where a profile has no name for its build, or cannot be interned.
#[doc(hidden)]
pub fn profiles_of(
    path: &Path,
    recording: &Recording,
    symbols: &Symbols,
    options: &IngestOptions,
) -> Result<(Vec<Prepared>, Vec<Notice>), IngestError> {
    let programs = Programs::of(recording, path);
    let warnings = recording.warnings.iter().cloned();
    let mut warnings: Vec<Notice> = warnings.map(Notice::from).collect();
    if options.slices.is_none() {
        warnings.extend(labels_not_kept(recording));
    }
    let parts = if options.split_processes {
        let (parts, left_out) = programs.split(options, path)?;
        warnings.extend(left_out);
        parts
    } else {
        vec![programs.whole(options, path)?]
    };
    let stacks = describe::Stacks::of(recording, symbols);
    let prepared = parts.into_iter().map(|part| {
        let program = part
            .program
            .and_then(|program| programs.name_beside_others(program));
        let source = source_of(recording, options.symbols.granularity, program);
        let keep = |sample: &_| {
            let is_of_part = part.program.is_none_or(|ix| programs.ran(sample) == ix);
            is_of_part && !options.cancel.is_cancelled()
        };
        let is_whole = options.whole_calls && recording.calls.is_some();
        let slices = options.slices.filter(|_| !is_whole);
        let (interned, profile) = rayon::join(
            || intern_with_nodes(recording, symbols, slices, keep),
            || describe::profile(&part.build, recording, &stacks, source, options, keep),
        );
        options.cancel.check()?;
        let failed = |source| IngestError::Intern {
            path: path.display().to_string(),
            source,
        };
        let (mut interned, nodes) = interned.map_err(failed)?;
        interned.addresses =
            addresses(recording, symbols, &interned, slices, keep).map_err(failed)?;
        if let Some(program) = part.program {
            let calls = interned.calls.take();
            let calls =
                calls.map(|calls| calls.of_threads(|of| programs.called(program, &of.thread)));
            interned.calls = calls.filter(|calls| !calls.threads.is_empty());
        }
        if let Some(logged) = recording.logged.as_ref().filter(|_| options.keep_calls) {
            let is_of_part = |thread: &CallThread| {
                let of = |program| programs.called(program, thread);
                part.program.is_none_or(of)
            };
            let folder = options.call_folder.as_deref();
            let kept = kept::packed(logged, (&interned, &nodes), is_of_part, folder);
            let kept = kept.map_err(|error| FormatError::Unsupported {
                path: path.to_owned(),
                problem: error.to_string(),
            })?;
            interned.kept = interned.calls.is_some().then(|| Arc::new(kept));
        }
        let others = [Granularity::Function, Granularity::Line].into_iter();
        let others = others.flat_map(|granularity| {
            [None, Some(&*part.build.executable)]
                .map(|program| source_of(recording, granularity, program))
        });
        let others = others.filter(|&other| other != source);
        Ok(Prepared {
            others: others.collect(),
            profile,
            build: part.build,
            interned,
        })
    });
    Ok((prepared.collect::<Result<_, IngestError>>()?, warnings))
}
