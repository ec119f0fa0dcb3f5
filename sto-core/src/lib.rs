//! Stores profiles of programs as one content-addressed graph of call stacks.
//!
//! Data flows through these modules:
//!
//! ```text
//! perf.data, perf script, folded     formats     bytes -> samples with stacks of locations
//!         |  recording::Recording
//!         v
//! build ids, ELF, DWARF, kallsyms    symbolize   locations -> frames, including inlined functions
//!         |  Symbols
//!         v
//! one tree with dense indices        intern      stacks -> StackTree + a column of costs per sample type
//!         |  Interned
//!         v
//! redb                               store       one transaction per profile
//! ```
//!
//! [`ingest()`] does all of it:
//!
//! ```
//! use sto_core::{IngestOptions, Store, ingest};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! # let folder = folder.path();
//! let file = folder.join("stacks.folded");
//! std::fs::write(&file, "main;parse;read 3\nmain;parse 1\nmain;render 5\n")?;
//!
//! let store = Store::open_or_create(&folder.join("store"))?;
//! let options = IngestOptions {
//!     executable: Some("demo".to_owned()),
//!     version: Some("v1".to_owned()),
//!     ..IngestOptions::default()
//! };
//! let report = ingest(&store, &file, &options, &mut |_stage| {})?;
//! let build = report.profiles[0].build.id();
//!
//! // The costs of the build over all its profiles. Nodes are in preorder: one pass backwards adds up
//! // the totals, and one pass forwards prints the tree.
//! let loaded = store.snapshot()?.load_build(build)?;
//! let mut samples = vec![0; loaded.tree.len()];
//! for &(node, cost) in &loaded.costs[0] {
//!     samples[node.get()] = cost.samples;
//! }
//! for node in loaded.tree.nodes().rev() {
//!     if let Some(caller) = loaded.tree.parent(node) {
//!         samples[caller.get()] += samples[node.get()];
//!     }
//! }
//! let mut text = String::new();
//! for node in loaded.tree.nodes() {
//!     let depth = loaded.tree.ancestors(node).count() - 1;
//!     let frame = loaded.frames.frame(loaded.tree.frame(node));
//!     text += &format!("{}{} {}\n", "  ".repeat(depth), frame.symbol, samples[node.get()]);
//! }
//! assert_eq!(text, "main 9\n  parse 4\n    read 3\n  render 5\n");
//! # Ok(())
//! # }
//! ```
//!
//! A [`Store`] can be cloned and shared by threads: any number of them take snapshots and query these while others
//! write. Nobody waits for a snapshot, however long it is kept. [`Store::changed_since`] tells a program that stays
//! whether its snapshot is still the newest state.
//!
//! ```
//! # use sto_core::{IngestOptions, Store, ingest};
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! # let file = folder.path().join("stacks.folded");
//! # std::fs::write(&file, "main;parse 3\n")?;
//! # let options = IngestOptions { version: Some("v1".to_owned()), ..IngestOptions::default() };
//! let store = Store::open_or_create(&folder.path().join("store"))?;
//! let snapshot = store.snapshot()?;
//! ingest(&store, &file, &options, &mut |_stage| {})?;
//! assert!(snapshot.builds()?.is_empty());
//! assert!(store.changed_since(snapshot.state())?);
//! assert_eq!(store.snapshot()?.builds()?.len(), 1);
//! # Ok(())
//! # }
//! ```
//!
//! redb panics on some damaged files. The store catches these panics and returns
//! [`Damaged`](StoreError::Damaged) errors, which only works in programs that unwind: with `panic = "abort"`, a damaged
//! store ends the program. The program's panic hook is called before; a hook may ignore panics whose location is in
//! redb.
//!
//! [`RecordingBuilder`] makes a profile that is not in a file from frames, stacks, samples and metrics. They are checked
//! like those of a file.
//!
//! ```
//! use std::path::Path;
//! use sto_core::id::RecordingDigest;
//! use sto_core::model::{LabelValue, MetricKind, MetricSeries, SampleLabel};
//! use sto_core::recording::Sample;
//! use sto_core::units::{Bytes, Nanoseconds};
//! use sto_core::{Cost, Format, Frame, FrameKind, IngestOptions, RecordingBuilder, Store, Unit, ingest};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let mut builder = RecordingBuilder::default();
//! let process = builder.process(1, "demo");
//! let request = SampleLabel { key: "request".to_owned(), value: LabelValue::Text("login".to_owned()) };
//! let thread = builder.thread_with_labels(process, 1, "main", vec![request])?;
//! let allocated = builder.sample_type("allocated", Unit::Bytes);
//! let [main, read] = ["main", "read"].map(|symbol| {
//!     builder.frame(Frame { module: "demo", symbol, kind: FrameKind::User, file: "", line: 0 })
//! });
//! let stack = builder.stack(&[main?, read?])?;
//! for time in [10_000_000, 30_000_000] {
//!     builder.add_sample(Sample {
//!         stack,
//!         thread,
//!         sample_type: allocated,
//!         time: Some(Nanoseconds(time)),
//!         cost: Cost { samples: 1, value: 2048 },
//!         truncated: false,
//!     })?;
//! }
//! // Costs without a time are added up.
//! builder.add(thread, allocated, stack, Cost { samples: 1, value: 1024 })?;
//! let times = [0, 40_000_000].map(Nanoseconds);
//! let heap = MetricSeries::new("heap", MetricKind::Level, times.into(), vec![0.0, 5120.0])?;
//! builder.add_metric(heap);
//! // A digest that identifies the run, as the digest of its bytes identifies a file.
//! let run = RecordingDigest::hash_bytes(b"run 1");
//! let recording = builder.finish(Format::Own("allocations of demo"), run, Bytes(0));
//!
//! let store = Store::in_memory()?;
//! let options = IngestOptions {
//!     version: Some("v1".to_owned()),
//!     ..IngestOptions::default()
//! };
//! let report = ingest(&store, (Path::new("demo"), recording), &options, &mut |_stage| {})?;
//! assert_eq!(report.profiles[0].totals, [Cost { samples: 3, value: 5120 }]);
//! assert_eq!(report.profiles[0].profile.format, "allocations of demo");
//! # Ok(())
//! # }
//! ```
//!
//! The most common types are at the root of the crate, the others in its modules.
//!
//! The crate never prints, exits or reads the environment: paths, revisions and folders are arguments. Only
//! [`SymbolOptions::system`](ingest::SymbolOptions::system) asks the system for the user's home.
#![warn(clippy::print_stdout, clippy::print_stderr, clippy::exit)]

pub mod ingest;
mod intern;
pub mod manual;
mod symbolize;

pub use ingest::{IngestError, IngestOptions, IngestOutcome, Input, Stage, ingest, prepare};
#[doc(inline)]
pub use sto_formats as formats;
#[doc(inline)]
pub use sto_formats::demangled;
#[doc(inline)]
pub use sto_formats::recording::{self, Format, Recording, RecordingBuilder};
#[doc(hidden)]
pub use sto_model::printable;
#[doc(inline)]
pub use sto_model::{
    Build, CancelToken, Cancelled, Frame, FrameKind, Hint, Notice, ParseError, Profile, files, id,
    limits, memory, trace, tree,
    tree::{NodeIx, SelfCosts, StackTree},
    units,
    units::{Cost, SampleType, Unit},
};
/// # Example
///
/// Merging a store into another:
///
/// ```
/// use std::path::Path;
/// use sto_core::formats::read_bytes;
/// use sto_core::ingest::{IngestOptions, ingest};
/// use sto_core::store::Store;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let (here, there) = (Store::in_memory()?, Store::in_memory()?);
/// for (store, text) in [(&here, "main;parse 70\n"), (&there, "main;parse 72\n")] {
///     let path = Path::new("server.folded");
///     let recording = read_bytes(path, text.as_bytes(), &Default::default())?;
///     let options = IngestOptions {
///         version: Some("v1".to_owned()),
///         ..IngestOptions::default()
///     };
///     ingest(store, (path, recording), &options, &mut |_| ())?;
/// }
/// let merged = here.merge(&there.snapshot()?, &mut |_| Ok(()))?;
/// assert_eq!(merged.added.len(), 1);
/// assert_eq!(here.snapshot()?.builds()?[0].profiles.len(), 2);
/// # Ok(())
/// # }
/// ```
#[doc(inline)]
pub use sto_store as store;
#[doc(inline)]
pub use sto_store::{Store, StoreError};

/// The data in a store: builds, profiles, frames, commits, metrics.
pub mod model {
    #[doc(inline)]
    pub use sto_model::{
        Build, Commit, CommitHash, Executable, Frame, FrameIx, FrameKind, FrameTable, GnuBuildId,
        Granularity, LabelValue, MetricKind, MetricSeries, ModuleRef, Origin, Profile, Quality,
        RunMetrics, SampleLabel, SeriesError, SourceFileDigest, SourceFileDigests, StringIx,
        agreed_digests,
    };
}

/// The stages of [`ingest()`], for tests and benchmarks. Not part of the stable interface.
#[doc(hidden)]
pub mod stages {
    pub use crate::intern::intern;
    pub use crate::symbolize::{CodeLine, CodeLineIx, Symbols, symbolize};
}
