//! The builder of recordings.

mod frames;

use super::parts::{
    Built, Location, LocationIx, Module, ModuleIx, Process, ProcessIx, RecordingError, Sample,
    SampleTypeIx, StackIx, Thread, ThreadIx, check_index, process_name,
};
use super::samples::Samples;
use super::{Format, LoggedCalls, Recording, RecordingParts, Stacks};
use hashbrown::HashMap;
use std::collections::BTreeSet;
use std::sync::Arc;
use sto_model::id::RecordingDigest;
use sto_model::limits::{MAX_DEPTH, MAX_RECORDED_METRICS, MAX_SAMPLE_TYPES, max_frames};
use sto_model::trace::RunCalls;
use sto_model::units::{Bytes, Cost, Nanoseconds, SampleType, Unit};
use sto_model::{FrameKind, FrameTable, MetricSeries, Origin, SampleLabel};

/// Builds a [`Recording`].
///
/// All readers use it. It accepts only indices that it returned, so that a recording is always
/// consistent.
///
/// The documentation of `sto-core` has an example.
#[derive(Default)]
pub struct RecordingBuilder {
    pub(crate) origin: Origin,
    pub(crate) sample_types: Vec<SampleType>,
    pub(crate) processes: Vec<Process>,
    pub(crate) recorded: Option<ProcessIx>,
    pub(crate) threads: Vec<Thread>,
    pub(crate) modules: Vec<Module>,
    pub(crate) samples: Samples,
    pub(crate) lost: u64,
    pub(crate) warnings: Vec<String>,
    process_of: HashMap<(u32, String), ProcessIx>,
    thread_of: HashMap<Thread, ThreadIx>,
    /// Sum of the added costs by sample type.
    sums: HashMap<SampleTypeIx, Cost>,
    metrics: Vec<MetricSeries>,
    pub(crate) calls: Option<RunCalls<StackIx>>,
    pub(crate) logged: Option<Box<LoggedCalls>>,
    /// Number of metrics by name.
    metric_names: HashMap<String, usize>,
    /// Number of metrics beyond [`MAX_RECORDED_METRICS`].
    more_metrics: usize,
    frames: FrameTable,
    /// The location of each frame.
    of_frame: Vec<LocationIx>,
    nameless: HashMap<Location, LocationIx>,
    locations: Vec<Location>,
    stacks: Stacks,
    /// Number of frames added by [`RecordingBuilder::count_expanded_frames`].
    expanded: u64,
    file: Bytes,
    lossy: bool,
    cut: bool,
}

/// The thread and sample type of a sample.
pub(crate) type SampleKey = (ThreadIx, SampleTypeIx);

const LOSSY: &str = "Some names are not valid UTF-8; their invalid bytes are shown as \u{fffd}.";
const CUT: &str = "Some names are longer than 4096 bytes; they are cut there, and end in `…`.";

impl RecordingBuilder {
    /// Makes a builder for a file of this length in bytes.
    pub(crate) fn with_file_size(length: usize) -> RecordingBuilder {
        RecordingBuilder {
            file: Bytes(length as u64),
            ..RecordingBuilder::default()
        }
    }

    /// Sets whether samples that differ only in time are summed.
    pub(crate) fn with_summing(self, is_so: bool) -> RecordingBuilder {
        RecordingBuilder {
            samples: Samples::new(is_so),
            ..self
        }
    }

    /// Makes a builder with these locations and stacks.
    pub(crate) fn from_stacks(locations: Vec<Location>, stacks: Stacks) -> RecordingBuilder {
        RecordingBuilder {
            locations,
            stacks,
            ..RecordingBuilder::default()
        }
    }

    /// Returns the machine and command of the recording, to change them.
    pub fn origin(&mut self) -> &mut Origin {
        &mut self.origin
    }

    /// Adds a sample type, or finds it.
    pub fn sample_type(&mut self, event: &str, unit: Unit) -> SampleTypeIx {
        let is_same = |known: &SampleType| known.event == event && known.unit == unit;
        let known = self.sample_types.iter().position(is_same);
        SampleTypeIx(known.unwrap_or_else(|| {
            self.sample_types.push(SampleType {
                event: event.to_owned(),
                unit,
            });
            self.sample_types.len() - 1
        }) as u32)
    }

    /// Like [`RecordingBuilder::sample_type`], but fails if there are more than
    /// [`MAX_SAMPLE_TYPES`].
    pub(crate) fn try_sample_type(&mut self, event: &str, unit: Unit) -> Built<SampleTypeIx> {
        let ix = self.sample_type(event, unit);
        if self.sample_types.len() > MAX_SAMPLE_TYPES {
            return Err(RecordingError::new(format!(
                "more than {MAX_SAMPLE_TYPES} sample types, the limit for a profile; record fewer events, or split the file"
            )));
        }
        Ok(ix)
    }

    /// Adds the process with this id and program name, or finds it. Names longer than 255 bytes are
    /// cut.
    pub fn process(&mut self, pid: u32, program: &str) -> ProcessIx {
        let program = process_name(program.as_bytes());
        let next = ProcessIx(self.processes.len() as u32);
        let known = self.process_of.entry((pid, program));
        *known.or_insert_with_key(|(_, program)| {
            self.processes.push(Process {
                pid,
                program: program.clone(),
                main_module: None,
            });
            next
        })
    }

    /// Adds the thread with this id and name, or finds it. Names longer than 255 bytes are cut.
    ///
    /// # Errors
    /// Returns an error if the process is from another builder.
    pub fn thread(
        &mut self,
        process: ProcessIx,
        tid: u32,
        name: &str,
    ) -> Result<ThreadIx, RecordingError> {
        self.thread_with_labels(process, tid, name, Vec::new())
    }

    /// Like [`RecordingBuilder::thread`], for samples of the thread with these labels, such as the kind of a request.
    ///
    /// # Errors
    /// Returns an error if the process is from another builder.
    pub fn thread_with_labels(
        &mut self,
        process: ProcessIx,
        tid: u32,
        name: &str,
        labels: Vec<SampleLabel>,
    ) -> Result<ThreadIx, RecordingError> {
        check_index("a thread", process.0, ("processes", self.processes.len()))?;
        let labels = BTreeSet::from_iter(labels).into_iter().collect();
        Ok(self.find_or_add_thread(process, tid, name, labels))
    }

    /// Like [`RecordingBuilder::thread`], without a check of the process.
    pub(crate) fn thread_unchecked(
        &mut self,
        process: ProcessIx,
        tid: u32,
        name: &str,
    ) -> ThreadIx {
        self.find_or_add_thread(process, tid, name, Arc::default())
    }

    fn find_or_add_thread(
        &mut self,
        process: ProcessIx,
        tid: u32,
        name: &str,
        labels: Arc<[SampleLabel]>,
    ) -> ThreadIx {
        let thread = Thread {
            tid,
            name: process_name(name.as_bytes()),
            process,
            labels,
        };
        if let Some(&known) = self.thread_of.get(&thread) {
            return known;
        }
        let next = ThreadIx(self.threads.len() as u32);
        self.threads.push(thread.clone());
        self.thread_of.insert(thread, next);
        next
    }

    /// Adds a thread, even if one with its id and name exists.
    pub(crate) fn new_thread(&mut self, process: ProcessIx, tid: u32, name: &str) -> ThreadIx {
        self.threads.push(Thread {
            tid,
            name: process_name(name.as_bytes()),
            process,
            labels: Arc::default(),
        });
        ThreadIx(self.threads.len() as u32 - 1)
    }

    /// Adds a file that code was loaded from.
    pub fn module(&mut self, module: Module) -> ModuleIx {
        self.modules.push(module);
        ModuleIx(self.modules.len() as u32 - 1)
    }

    /// Adds a stack, root first, or finds it. An empty stack becomes a single frame `[unknown]`.
    ///
    /// # Errors
    /// Returns an error if the stack has more than [`MAX_DEPTH`] frames or a frame from another
    /// builder, or if all stacks together reach 2^32 frames.
    pub fn stack(&mut self, root_first: &[LocationIx]) -> Result<StackIx, RecordingError> {
        if root_first.is_empty() {
            let unknown = self.function(FrameKind::Unresolved, "[unknown]", "")?;
            return self.stack(&[unknown]);
        }
        check_depth(root_first.len())?;
        for location in root_first {
            check_index("a stack", location.0, ("locations", self.locations.len()))?;
        }
        self.stacks.try_insert(root_first).ok_or_else(too_many)
    }

    /// Adds the stack in which `caller` calls `callee`, or finds it; without a caller, `callee` is
    /// the root. For formats that store each caller once for many stacks.
    pub(crate) fn call(&mut self, caller: Option<StackIx>, callee: LocationIx) -> Built<StackIx> {
        check_depth(caller.map_or(0, |caller| self.stacks.depth(caller)) + 1)?;
        self.stacks
            .try_insert_call(caller, callee)
            .ok_or_else(too_many)
    }

    /// Counts frames that the file does not contain one by one, such as frames of shared callers,
    /// before they are made. Returns an error if there are too many for the size of the file.
    pub(crate) fn count_expanded_frames(&mut self, frames: usize) -> Built<()> {
        self.expanded += frames as u64;
        let limit = max_frames(self.file);
        if self.expanded > limit {
            Err(RecordingError::new(format!(
                "its stacks up to here have {} frames, including inlined functions and shared callers; the limit is {limit} for stacks of a file of {} bytes. Write it without inlined \
                 functions, or record for a shorter time",
                self.expanded, self.file.0
            )))
        } else {
            Ok(())
        }
    }

    /// Adds the frames and stacks of a builder that read a later part of the text, in order.
    /// Returns the new indices of its stacks.
    pub(crate) fn append(&mut self, later: &RecordingBuilder) -> Built<Vec<StackIx>> {
        self.lossy |= later.lossy;
        self.cut |= later.cut;
        let locations = later.locations.iter().map(|&location| match location {
            Location::Named(frame) => self.frame(later.frames.frame(frame)),
            nameless => self.unnamed_location(nameless),
        });
        let locations = locations.collect::<Result<Vec<_>, _>>()?;
        let mut here = Vec::new();
        let stacks = later.stacks.iter().map(|stack| {
            here.clear();
            let there = later.stacks.get(stack);
            here.extend(there.iter().map(|there| locations[there.get()]));
            self.stack(&here)
        });
        stacks.collect()
    }

    /// Adds to the cost of a stack in a thread. Zero costs are ignored.
    ///
    /// # Errors
    /// Returns an error if an index is from another builder, or if the sum of the sample type
    /// exceeds 64 bits.
    pub fn add(
        &mut self,
        thread: ThreadIx,
        sample_type: SampleTypeIx,
        stack: StackIx,
        cost: Cost,
    ) -> Result<(), RecordingError> {
        self.check_indices(thread, sample_type, stack)?;
        self.add_cost(thread, sample_type, stack, cost)
    }

    /// Adds a sample, which has a time if costs over time are wanted.
    ///
    /// # Errors
    /// Returns the same errors as [`RecordingBuilder::add`].
    pub fn add_sample(&mut self, sample: Sample) -> Result<(), RecordingError> {
        self.check_indices(sample.thread, sample.sample_type, sample.stack)?;
        self.count_cost(sample.sample_type, sample.cost)?;
        self.push_sample(sample);
        Ok(())
    }

    fn check_indices(
        &self,
        thread: ThreadIx,
        sample_type: SampleTypeIx,
        stack: StackIx,
    ) -> Built<()> {
        let sample_types = ("sample_types", self.sample_types.len());
        check_index("a cost", thread.0, ("threads", self.threads.len()))?;
        check_index("a cost", sample_type.0, sample_types)?;
        check_index("a cost", stack.0, ("stacks", self.stacks.len()))
    }

    /// Adds to the sum of a sample type.
    fn count_cost(&mut self, sample_type: SampleTypeIx, cost: Cost) -> Built<()> {
        let sum = self.sums.entry(sample_type).or_default();
        *sum = sum.checked_add(cost).ok_or_else(|| {
            RecordingError::new(
                "the costs up to here add up to more than 2^64 - 1; was the file edited?",
            )
        })?;
        Ok(())
    }

    /// Like [`RecordingBuilder::add`], without a check of the indices, which may be added later.
    pub(crate) fn add_cost(
        &mut self,
        thread: ThreadIx,
        sample_type: SampleTypeIx,
        stack: StackIx,
        cost: Cost,
    ) -> Built<()> {
        if cost.is_zero() {
            return Ok(());
        }
        self.count_cost(sample_type, cost)?;
        self.samples.add((thread, sample_type, stack), cost);
        Ok(())
    }

    /// Adds a sample whose stack is complete up to its root.
    pub(crate) fn push(
        &mut self,
        (thread, sample_type): SampleKey,
        stack: StackIx,
        time: Option<Nanoseconds>,
        cost: Cost,
    ) {
        self.push_sample(Sample {
            stack,
            thread,
            sample_type,
            time,
            cost,
            truncated: false,
        });
    }

    pub(crate) fn push_sample(&mut self, sample: Sample) {
        self.samples.push(sample);
    }

    /// Adds a metric over time, by the clock of the samples. If its name is taken, it gets a number: `heap (2)`.
    pub fn add_metric(&mut self, metric: MetricSeries) {
        if self.metrics.len() == MAX_RECORDED_METRICS {
            self.more_metrics += 1;
            return;
        }
        let mut metric = metric;
        loop {
            let known = self
                .metric_names
                .entry(metric.name().to_owned())
                .or_default();
            *known += 1;
            if *known == 1 {
                break;
            }
            metric = metric.with_name_suffix(*known);
        }
        self.metrics.push(metric);
    }

    /// Returns a warning if the added costs of a sample type differ from the total that the file
    /// states by more than `rounding` per row.
    pub(crate) fn check_total(
        &self,
        sample_type: SampleTypeIx,
        total: u64,
        (rows, rounding): (usize, u64),
    ) -> Option<String> {
        let sum = self.sums.get(&sample_type)?.value;
        let is_rounding = sum.abs_diff(total) <= rounding.saturating_mul(rows as u64);
        (!is_rounding && total > 0).then(|| {
            format!(
                "The self costs of the functions add up to {:.2}% of the total that the file states; was it \
                 filtered or edited?",
                sum as f64 / total as f64 * 100.0
            )
        })
    }

    pub(crate) fn duration(&self) -> Option<Nanoseconds> {
        let (first, last) = self.samples.times()?;
        Some(Nanoseconds(last.0 - first.0))
    }

    /// Finishes the recording of a source with this digest and size in bytes. Samples are sorted by
    /// time if they have one. If there is no thread, a process and a thread without name are added.
    pub fn finish(
        mut self,
        format: Format,
        source: RecordingDigest,
        source_bytes: Bytes,
    ) -> Recording {
        if self.threads.is_empty() {
            let process = self.process(0, "");
            self.new_thread(process, 0, "");
        }
        if self.more_metrics > 0 {
            self.warnings.push(format!(
                "{} metrics over time were left out: at most {MAX_RECORDED_METRICS} are read from a recording.",
                self.more_metrics
            ));
        }
        let warnings = [(self.lossy, LOSSY), (self.cut, CUT)];
        let warnings = warnings.into_iter().filter(|(is_so, _)| *is_so);
        self.warnings
            .extend(warnings.map(|(_, warning)| warning.to_owned()));
        let parts = RecordingParts {
            format,
            source,
            source_bytes,
            origin: self.origin,
            sample_types: self.sample_types,
            processes: self.processes,
            recorded: self.recorded,
            threads: self.threads,
            modules: self.modules,
            locations: self.locations,
            named: self.frames,
            stacks: self.stacks,
            samples: self.samples.finish(),
            metrics: self.metrics,
            calls: self.calls,
            lost: self.lost,
            warnings: self.warnings,
        };
        Recording {
            parts,
            logged: self.logged,
        }
    }
}

fn check_depth(depth: usize) -> Built<()> {
    (depth <= MAX_DEPTH).then_some(()).ok_or_else(|| {
        RecordingError::new(format!(
            "a stack of {depth} frames; stacks of up to {MAX_DEPTH} are read. Cut it at its leaf, or fold its \
             recursion"
        ))
    })
}

fn too_many() -> RecordingError {
    RecordingError::new("the distinct stacks up to here have more than 2^32 frames; split the file")
}
