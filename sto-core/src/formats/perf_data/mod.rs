//! `perf.data`, in file and pipe mode, compressed or not.
//!
//! linux-perf-data takes the file apart into records in order of time; here they become samples
//! of stacks. A record's layout is that of `perf_event_open(2)`; the file's is that of
//! `tools/perf/Documentation/perf.data-file-format.txt`.
//!
#![doc = include_str!("perf_data.md")]

mod attributes;
mod check;
mod digested;
mod events;
mod expansion;
mod origin;
mod processes;
mod records;
mod run_time;
mod salvage;
mod sample;
mod stacks;

pub(super) use check::matches;
pub use run_time::run_time;

use super::{Format, FormatError, ReadOptions};
use crate::binary::{SymbolOptions, UnwindFiles, Unwinder};
use crate::files::ReadAt;
use crate::limits::MAX_SAMPLE_TYPES;
use crate::recording::{
    Location, LocationIx, Recording, RecordingBuilder, Sample, SampleTypeIx, StackIx, Stacks,
};
use crate::units::{Bytes, Cost, Nanoseconds, SampleType};
use check::Mode;
use digested::Digested;
use events::Events;
use rayon::prelude::*;
use records::{Reader, Records};
use stacks::{Batch, Located, Places, Worker};
use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, channel, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread;

/// How many of a hundred samples may lack callers before that is told.
const MAX_CUT: usize = 20;

/// Reads a perf.data file; saved stacks are unwound with the files that the options lead to.
pub(super) fn read(
    path: &Path,
    file: &dyn ReadAt,
    options: &ReadOptions,
) -> Result<Recording, FormatError> {
    let source = Digested::new(file);
    match check::check(path, &source) {
        Ok(mode) => read_whole(path, file, source, mode, options),
        Err(error) if options.allow_truncated => {
            let Some(whole) = salvage::salvage(file) else {
                return Err(error);
            };
            let mode = check::check(path, &whole)?;
            let mut recording = read_whole(path, &whole, source, mode, options)?;
            recording.parts_mut().warnings.push(format!(
                "The file is cut off or damaged behind byte {}: {} bytes were left out, and with them \
                 the names of events and the description of the machine.",
                whole.size(),
                file.size() - whole.size()
            ));
            Ok(recording)
        }
        Err(error) => Err(error),
    }
}

/// Reads a file whose shape was checked; `source` are the bytes that identify it.
fn read_whole(
    path: &Path,
    file: &dyn ReadAt,
    source: Digested<'_>,
    mode: Mode,
    options: &ReadOptions,
) -> Result<Recording, FormatError> {
    let mut reader = Reader::open(path, file, mode, &options.on_read)?;
    let origin = origin::read(&reader.file);
    if let Some(arch) = origin.arch.as_deref().filter(|&arch| arch != "x86_64") {
        let problem = format!(
            "recorded on {arch}; sto reads recordings of x86_64. Run `perf script` on the \
             recording machine and ingest its text"
        );
        return Err(FormatError::Unsupported {
            path: path.into(),
            problem,
        });
    }
    let events = Events::of(path, &reader.file, file, mode)?;
    if !events.have_stacks() {
        return Err(FormatError::NoCallChains { path: path.into() });
    }

    let source_size = source.size();
    let source = source.finish().map_err(FormatError::io(path))?;
    let (records, (batches, places)) = locate(path, &mut reader, &events, &options.symbols)?;
    let mut warnings = records.warnings();
    let (locations, renumber) = merge(&places);
    let mut stacks = Stacks::default();
    // By worker and its number of the stack. Stacks are numbered as samples need them, so that
    // their numbers do not tell which worker was faster.
    let mut known: Vec<Vec<Option<StackIx>>> = places
        .iter()
        .map(|places| vec![None; places.stacks.len()])
        .collect();
    let mut samples = Vec::new();
    let mut stack = Vec::new();
    for (worker, batch) in batches {
        for sample in batch.samples {
            let known = &mut known[worker][sample.stack.0 as usize];
            let ix = match *known {
                Some(ix) => ix,
                None => {
                    let own = places[worker].stacks.get(sample.stack);
                    stack.clear();
                    stack.extend(own.iter().map(|ix| renumber[worker][ix.0 as usize]));
                    let ix = stacks.try_insert(&stack).ok_or_else(|| too_large(path))?;
                    *known.insert(ix)
                }
            };
            samples.push(Sample {
                stack: ix,
                thread: sample.taken.thread,
                sample_type: sample.taken.sample_type,
                time: sample.taken.time.map(Nanoseconds),
                cost: Cost {
                    samples: 1,
                    value: sample.taken.period,
                },
                truncated: sample.truncated,
            });
        }
    }
    if events.rely_on_frame_pointers() {
        warnings.extend(warn_of_missing_callers(&samples, &stacks));
    }
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
    let mut builder = RecordingBuilder::of_addresses(locations, stacks);
    builder.origin = origin;
    builder.sample_types = sample_types;
    builder.samples = samples;
    builder.origin.duration = builder.duration();
    builder.lost = records.lost();
    let mut processes = records.processes;
    builder.modules = processes.take_modules();
    builder.processes = processes.processes;
    builder.threads = processes.threads;
    builder.warnings = warnings;
    Ok(builder.finish(Format::PerfData, source, Bytes(source_size)))
}

/// Says what helps where frame pointers do not lead to callers.
fn warn_of_missing_callers(samples: &[Sample], stacks: &Stacks) -> Option<String> {
    let is_cut = |sample: &&Sample| sample.truncated || stacks.get(sample.stack).len() <= 1;
    let cut = samples.iter().filter(is_cut).count();
    (cut * 100 > samples.len() * MAX_CUT).then(|| {
        format!(
            "{} % of samples have no callers or not all of them, as where code is built without frame \
             pointers; build it with -fno-omit-frame-pointer, or record with --call-graph dwarf",
            cut * 100 / samples.len()
        )
    })
}

fn too_large(path: &Path) -> FormatError {
    let problem = "its distinct stacks have more than 2^32 frames together; record for a shorter \
                   time or at a lower frequency";
    FormatError::Unsupported {
        path: path.into(),
        problem: problem.into(),
    }
}

/// The events that took samples; perf adds others that only carry records (`dummy:HG`).
fn keep_sampled(all: Vec<SampleType>, samples: &mut [Sample]) -> Vec<SampleType> {
    let mut sampled = vec![false; all.len()];
    for sample in samples.iter() {
        sampled[sample.sample_type.0 as usize] = true;
    }
    let mut kept = Vec::new();
    let mut places = Vec::new();
    for (sample_type, sampled) in all.into_iter().zip(sampled) {
        places.push(SampleTypeIx(kept.len() as u32));
        kept.extend(sampled.then_some(sample_type));
    }
    for sample in samples {
        sample.sample_type = places[sample.sample_type.0 as usize];
    }
    kept
}

/// Batches with the worker that located them, in order, and what each worker's numbers stand for.
type LocatedBatches = (Vec<(usize, Located)>, Vec<Places>);

/// Reads records on this thread while others locate samples.
fn locate(
    path: &Path,
    reader: &mut Reader<'_>,
    events: &Events,
    options: &SymbolOptions,
) -> Result<(Records, LocatedBatches), FormatError> {
    let files = &UnwindFiles::new(options);
    let cores = rayon::current_num_threads();
    // Threads beside the only one that there is would wait for it.
    let workers = if cores == 1 { 0 } else { cores };
    let (full, to_locate) = sync_channel::<Batch>(cores);
    // The workers own it together: when the last one is gone, sending fails instead of waiting.
    let to_locate = Arc::new(Mutex::new(to_locate));
    let (recycle, recycled) = channel::<Batch>();
    thread::scope(|scope| {
        let threads: Vec<_> = (0..workers)
            .map_while(|_| {
                let (to_locate, recycle) = (Arc::clone(&to_locate), recycle.clone());
                let work = move || work(&to_locate, recycle, files);
                thread::Builder::new().spawn_scoped(scope, work).ok()
            })
            .collect();
        drop((to_locate, recycle));
        // Where the system gives no thread, this one does their work.
        let mut here = threads.is_empty().then(|| Locator::new(files));
        let own = &mut here;
        // It owns the sender: when all is read, the threads see its end.
        let give = move |batch: Batch| match own {
            Some(here) => here.locate(&batch),
            // It fails only where every worker panicked; joining them tells.
            None => drop(full.send(batch)),
        };
        let records = feed(reader, events, options, give, &recycled);
        let joined = threads.into_iter().map(join);
        let joined: Vec<_> = joined.chain(here.map(Locator::finish)).collect();

        let mut batches = Vec::new();
        let mut places = Vec::new();
        for (worker, located) in joined.into_iter().enumerate() {
            let (located, own) = located.ok_or_else(|| too_large(path))?;
            batches.extend(located.into_iter().map(|batch| (worker, batch)));
            places.push(own);
        }
        batches.sort_unstable_by_key(|(_, batch)| batch.number);
        Ok((records?, (batches, places)))
    })
}

fn feed(
    reader: &mut Reader<'_>,
    events: &Events,
    options: &SymbolOptions,
    mut give: impl FnMut(Batch),
    recycled: &Receiver<Batch>,
) -> Result<Records, FormatError> {
    let mut records = Records::new(options);
    let mut batches = 0;
    let mut batch = Batch::default();
    batch.start(batches, records.processes.kernel(), events.is_monotonic);
    let mut send = |batch: &mut Batch, records: &Records| {
        if !batch.is_empty() {
            batches += 1;
            let empty = recycled.try_recv().unwrap_or_default();
            give(std::mem::replace(batch, empty));
        }
        batch.start(batches, records.processes.kernel(), events.is_monotonic);
    };
    while reader.next(events, &mut records, &mut batch)? {
        if batch.is_full() || !batch.sees(records.processes.kernel()) {
            send(&mut batch, &records);
        }
    }
    send(&mut batch, &records);
    Ok(records)
}

/// Locates samples on one thread.
struct Locator<'a> {
    worker: Worker<'a>,
    /// None once there were too many.
    located: Option<Vec<Located>>,
}

impl<'a> Locator<'a> {
    fn new(files: &'a UnwindFiles<'a>) -> Self {
        Locator {
            worker: Worker::new(Unwinder::new(files)),
            located: Some(Vec::new()),
        }
    }

    fn locate(&mut self, batch: &Batch) {
        if let Some(located) = &mut self.located {
            match self.worker.locate(batch) {
                Some(batch) => located.push(batch),
                None => self.located = None,
            }
        }
    }

    fn finish(self) -> Option<(Vec<Located>, Places)> {
        Some((self.located?, self.worker.into_places()))
    }
}

fn work(
    to_locate: &Mutex<Receiver<Batch>>,
    recycle: Sender<Batch>,
    files: &UnwindFiles<'_>,
) -> Option<(Vec<Located>, Places)> {
    let mut locator = Locator::new(files);
    while locator.located.is_some() {
        let batch = match to_locate.lock() {
            Ok(receiver) => receiver.recv(),
            Err(_) => break,
        };
        let Ok(batch) = batch else { break };
        locator.locate(&batch);
        // The reader may have hung up already; then the batch's memory is just freed.
        let _ = recycle.send(batch);
    }
    locator.finish()
}

/// The result of a thread; where it panicked, this thread goes on with that panic.
fn join<T>(thread: thread::ScopedJoinHandle<'_, T>) -> T {
    thread
        .join()
        .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// One sorted list of all workers' locations, and for each worker the places of its own in it.
fn merge(workers: &[Places]) -> (Vec<Location>, Vec<Vec<LocationIx>>) {
    let own = workers.iter().map(|places| &*places.locations);
    let mut all: Vec<Location> = own.clone().flatten().copied().collect();
    all.par_sort_unstable();
    all.dedup();
    let place = |location: &Location| {
        let after = all.partition_point(|other| other < location);
        LocationIx(after as u32)
    };
    let renumber = own.map(|own| own.par_iter().map(place).collect()).collect();
    (all, renumber)
}
