//! `perf.data`, in file and pipe mode, compressed or not.
//!
//! Some threads read and hash the file, one walks over the records and tracks mappings, and samples are decoded and
//! located on all cores. linux-perf-data reads the header. Records are documented in `perf_event_open(2)`, the file
//! in `tools/perf/Documentation/perf.data-file-format.txt`.
//!
//! See [the manual](crate::manual::perf_data).

mod attributes;
mod check;
mod events;
mod expansion;
mod lineage;
mod metrics;
mod numbering;
mod off_cpu;
mod pieces;
mod processes;
mod read_ahead;
mod records;
mod run_time;
mod salvage;
mod sample;
mod stacks;
mod walk;

pub(super) use check::matches;
pub use pieces::{group_pieces, read_pieces};
pub use run_time::run_time;

use crate::error::FormatError;
use crate::recording::{
    Format, Location, Module, NO_CALL_CHAINS, Recording, RecordingBuilder, Sample, SampleTypeIx,
    Samples, Stacks,
};
use crate::source::ReadOptions;
use crate::wire::text::excerpt;
use events::Events;
use linux_perf_data::linux_perf_event_reader::RecordType;
use numbering::{Numbered, Numbering, too_large_error};
use off_cpu::Switches;
use read_ahead::ReadAhead;
use records::{Records, take_event};
use sample::Layout;
use stacks::{Batch, Worker};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use sto_binary::{Machine, UnwindFiles};
use sto_model::files::ReadAt;
use sto_model::limits::MAX_SAMPLE_TYPES;
use sto_model::units::{Bytes, SampleType};
use sto_model::{Stage, Timings};
use walk::Walk;

/// Percentage of samples without complete callers from which on a warning is given.
const MAX_CUT: usize = 20;
/// Maximum number of modules that a warning names.
const MAX_MODULES_NAMED: usize = 3;
/// Maximum percentage of samples whose innermost caller is skipped.
const MAX_SKIPPED: usize = 50;

/// Reads a perf.data file and unwinds copied stacks.
pub(super) fn read(
    path: &Path,
    file: &dyn ReadAt,
    options: &ReadOptions,
) -> Result<Recording, FormatError> {
    let (builder, source) = thread::scope(|scope| -> Result<_, FormatError> {
        let walked = ReadAhead::start(file, &options.timings, scope);
        let builder = read_or_salvage(path, file, &walked, options)?;
        let source = walked.finish().map_err(FormatError::io(path))?;
        Ok((builder, source))
    })?;
    Ok(builder.finish(Format::PerfData, source, Bytes(file.size())))
}

fn read_or_salvage(
    path: &Path,
    file: &dyn ReadAt,
    walked: &dyn ReadAt,
    options: &ReadOptions,
) -> Result<RecordingBuilder, FormatError> {
    let piece = Piece { path, file, walked };
    let error = match read_records(&[piece], options) {
        Err(error) if options.allow_truncated && !matches!(error, FormatError::Cancelled(_)) => {
            error
        }
        read => return read,
    };
    let Some(whole) = salvage::salvage(file) else {
        return Err(error);
    };
    let piece = Piece {
        path,
        file: &whole,
        walked: &whole,
    };
    let mut builder = read_records(&[piece], options)?;
    builder.warnings.push(format!(
        "The file is cut off or damaged after byte {}: {} bytes were left out, and with them \
         the names of events and the description of the machine.",
        whole.size(),
        file.size() - whole.size()
    ));
    Ok(builder)
}

/// A file, or one of several files, of a recording.
struct Piece<'a> {
    path: &'a Path,
    file: &'a dyn ReadAt,
    /// The file, for the walk from its beginning to its end.
    walked: &'a dyn ReadAt,
}

/// Reads the records of a recording's pieces, which are in order of time.
fn read_records(
    pieces: &[Piece<'_>],
    options: &ReadOptions,
) -> Result<RecordingBuilder, FormatError> {
    let open = |piece: &Piece<'_>| {
        let (mode, records) = check::check(piece.path, piece.file)?;
        Ok((
            records::header(piece.path, piece.file, mode)?,
            mode,
            records,
        ))
    };
    let opened = pieces.iter().map(open).collect::<Result<Vec<_>, _>>()?;
    let (Some(&Piece { path, file, .. }), Some((header, mode, _))) =
        (pieces.first(), opened.first())
    else {
        return Err(FormatError::Empty {
            path: PathBuf::new(),
        });
    };
    let origin = records::origin(header);
    let arch = origin.arch.as_deref().unwrap_or("x86_64");
    let machine = Machine::from_name(arch);
    let mut events = Events::new(path, header, file, *mode, machine)?;
    if machine == Machine::Other && events.save_stacks() {
        let problem = format!(
            "has copies of stacks of {arch} (`--call-graph dwarf`); sto unwinds those of x86_64 and aarch64. Record \
             with --call-graph fp, or run `perf script` on the recording machine and ingest its text"
        );
        return Err(FormatError::Unsupported {
            path: path.into(),
            problem,
        });
    }
    let mut records = Records::new(header, &options.symbols);
    let mut walks = Vec::with_capacity(pieces.len());
    for (piece, (own, _, range)) in pieces.iter().zip(&opened) {
        if pieces::events(own) != pieces::events(header) {
            let problem = format!(
                "has other events than {}, so it is no piece of that recording",
                path.display()
            );
            return Err(FormatError::unsupported(piece.path, problem));
        }
        records.add_build_ids(own);
        walks.push(Walk::new(
            piece.path,
            piece.walked,
            range.clone(),
            own,
            &options.on_read,
        ));
    }
    let files = UnwindFiles::new(machine, &options.symbols);
    let timings = &options.timings;
    let worker = |number| Worker::new(number, path, &events, &files, timings);
    let (records, numbered) = locate(path, walks, records, worker, timings)?;
    let Numbered {
        locations,
        stacks,
        mut samples,
        readings,
        switches,
        without_caller,
    } = numbered;
    let mut warnings = records.warnings();
    if !events.have_stacks() {
        warnings.push(NO_CALL_CHAINS.to_owned());
    } else if events.rely_on_frame_pointers() {
        let modules = &records.processes.modules;
        let warning = warn_of_missing_callers(&events, &samples, &stacks, &locations, modules);
        warnings.extend(warning.or_else(|| warn_of_skipped_callers(without_caller, samples.len())));
    }
    let mut builder = RecordingBuilder::from_stacks(locations, stacks);
    let switched = Switches {
        threads: &records.processes.threads,
        sampled: &switches,
        records: &records.switches,
    };
    off_cpu::measure(switched, &mut events, &mut builder, &mut samples)
        .map_err(|_| too_large_error(path))?;
    let mut metrics = metrics::group_metrics(&events, readings);
    metrics.extend(metrics::metrics_without_stacks(&events, &samples));
    let sample_types = keep_sampled(events.sample_types, &mut samples);
    if sample_types.len() > MAX_SAMPLE_TYPES {
        let problem = format!(
            "has samples of {} events; up to {MAX_SAMPLE_TYPES} are read. Record fewer at once",
            sample_types.len()
        );
        return Err(FormatError::Unsupported {
            path: path.into(),
            problem,
        });
    }
    for metric in metrics {
        builder.add_metric(metric);
    }
    builder.origin = origin;
    builder.sample_types = sample_types;
    builder.samples = Samples::from_vec(samples);
    builder.origin.duration = builder.duration();
    builder.lost = records.lost();
    let mut processes = records.processes;
    builder.recorded = processes.recorded();
    builder.modules = processes.take_modules();
    builder.processes = processes.processes;
    builder.threads = processes.threads;
    builder.warnings = warnings;
    Ok(builder)
}

/// Returns a warning with a remedy if frame pointers often do not lead to callers.
fn warn_of_missing_callers(
    events: &Events,
    samples: &[Sample],
    stacks: &Stacks,
    locations: &[Location],
    modules: &[Arc<Module>],
) -> Option<String> {
    let (mut all, mut cut) = (0, 0);
    let mut cut_in = vec![0; modules.len()];
    let has_stacks: Vec<bool> = events.layouts.iter().map(Layout::has_stacks).collect();
    for sample in samples {
        if !has_stacks[sample.sample_type.get()] {
            continue;
        }
        all += 1;
        if sample.truncated || stacks.depth(sample.stack) <= 1 {
            cut += 1;
            let leaf = stacks.leaf(sample.stack).map(|leaf| locations[leaf.get()]);
            if let Some(Location::Address { module, .. }) = leaf {
                cut_in[module.get()] += 1;
            }
        }
    }
    if cut * 100 <= all * MAX_CUT {
        return None;
    }
    let mut by_name: BTreeMap<&str, usize> = BTreeMap::new();
    for (module, cut) in modules.iter().zip(cut_in) {
        // Nobody builds the kernel for this.
        if cut > 0 && !module.name().starts_with('[') {
            *by_name.entry(module.name()).or_default() += cut;
        }
    }
    let mut modules: Vec<(&str, usize)> = by_name.into_iter().collect();
    modules.sort_by_key(|&(_, samples)| Reverse(samples));
    modules.truncate(MAX_MODULES_NAMED);
    let modules = modules.iter().map(|(module, _)| excerpt(module.as_bytes()));
    let modules: Vec<String> = modules.collect();
    let most = match &modules[..] {
        [] => String::new(),
        modules => format!(" most of them in {},", modules.join(", ")),
    };
    Some(format!(
        "{} % of samples have incomplete callers,{most} probably because code is built without frame pointers; build it with -fno-omit-frame-pointer (Rust: -C force-frame-pointers=yes), or record with --call-graph dwarf",
        cut * 100 / all,
    ))
}

/// Returns a warning with a remedy if frame pointers often skip the caller of the innermost function.
fn warn_of_skipped_callers(without_caller: usize, samples: usize) -> Option<String> {
    (without_caller * 100 > samples * MAX_SKIPPED).then(|| {
        format!(
            "{} % of samples lack the caller of the function that ran, because frame pointers skip the caller of a function without a frame; record with --call-graph dwarf",
            without_caller * 100 / samples
        )
    })
}

/// Keeps the events that have samples, those of equal names as one; perf adds others that only carry records
/// (`dummy:HG`).
fn keep_sampled(all: Vec<SampleType>, samples: &mut [Sample]) -> Vec<SampleType> {
    let mut sampled = vec![false; all.len()];
    for sample in samples.iter() {
        sampled[sample.sample_type.0 as usize] = true;
    }
    let mut kept = Vec::new();
    let mut indices = Vec::new();
    for (sample_type, sampled) in all.into_iter().zip(sampled) {
        let known = kept.iter().position(|known| *known == sample_type);
        indices.push(SampleTypeIx(known.unwrap_or(kept.len()) as u32));
        if sampled && known.is_none() {
            kept.push(sample_type);
        }
    }
    for sample in samples {
        sample.sample_type = indices[sample.sample_type.0 as usize];
    }
    kept
}

/// Walks over the records on this thread while other threads locate samples.
fn locate<'a>(
    path: &Path,
    walks: Vec<Walk<'_>>,
    records: Records,
    worker: impl Fn(usize) -> Worker<'a> + Sync,
    timings: &Timings,
) -> Result<(Records, Numbered), FormatError> {
    let cores = rayon::current_num_threads();
    // With one core, this thread does everything.
    let workers = if cores == 1 { 0 } else { cores };
    let (full, to_locate) = sync_channel::<Batch>(cores);
    // The workers share the receiver: when the last one ends, sending fails instead of blocking.
    let to_locate = Arc::new(Mutex::new(to_locate));
    let numbering = Mutex::new(Numbering::new(path, cores));
    let records = thread::scope(|scope| {
        let numbering = &numbering;
        let threads: Vec<_> = (0..workers)
            .map_while(|number| {
                let (to_locate, worker) = (Arc::clone(&to_locate), &worker);
                let work = move || work(&to_locate, worker(number), numbering);
                thread::Builder::new().spawn_scoped(scope, work).ok()
            })
            .collect();
        drop(to_locate);
        // If no thread could be started, this one does the work.
        let mut here = threads.is_empty().then(|| worker(0));
        // The closure owns the sender; when it is dropped, the threads see the end.
        let give = move |batch: Batch| match &mut here {
            Some(here) => drop(here.add_batch(&batch, numbering)),
            // This fails only if every worker has ended after an error.
            None => drop(full.send(batch)),
        };
        let records = timings.measure_thread(Stage::Walking, || feed(path, walks, records, give));
        threads.into_iter().for_each(join);
        records
    })?;
    let numbering = numbering.into_inner();
    let numbering = numbering.unwrap_or_else(PoisonError::into_inner);
    Ok((records, numbering.finish()?))
}

/// Passes samples on in batches, and applies all other records to the state of processes and
/// mappings.
fn feed(
    path: &Path,
    walks: Vec<Walk<'_>>,
    mut records: Records,
    mut give: impl FnMut(Batch),
) -> Result<Records, FormatError> {
    let mut batch = Batch::new(0, records.processes.kernel());
    for mut walk in walks {
        while let Some(record) = walk.next()? {
            if record.kind == RecordType::SAMPLE {
                batch.push(records.sample(record));
            } else if take_event(&walk.raw(&record), &mut records).is_none() {
                return Err(record.malformed(path));
            }
            let kernel = records.processes.kernel();
            if batch.is_full() || !batch.has_kernel(kernel) {
                let next = Batch::new(batch.number + usize::from(!batch.is_empty()), kernel);
                let done = std::mem::replace(&mut batch, next);
                if !done.is_empty() {
                    give(done);
                }
            }
        }
    }
    give(batch);
    Ok(records)
}

fn work(
    to_locate: &Mutex<Receiver<Batch>>,
    mut worker: Worker<'_>,
    numbering: &Mutex<Numbering<'_>>,
) {
    loop {
        let batch = match to_locate.lock() {
            Ok(receiver) => receiver.recv(),
            Err(_) => break,
        };
        let Ok(batch) = batch else { break };
        if !worker.add_batch(&batch, numbering) {
            break;
        }
    }
}

/// The result of a thread; continues its panic if it panicked.
fn join<T>(thread: thread::ScopedJoinHandle<'_, T>) -> T {
    thread
        .join()
        .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}
