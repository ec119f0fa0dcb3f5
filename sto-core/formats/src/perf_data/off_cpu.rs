//! The time that threads spend off the processor, from samples of context switches.
//!
//! A sample of `sched:sched_switch` or `context-switches` is taken when a thread leaves its
//! processor. Its cost becomes the time until the thread runs again.

use super::events::{Events, SCHED_SWITCH};
use super::sample::RawSample;
use crate::recording::{LocationIx, RecordingBuilder, RecordingError, Sample, Thread};
use hashbrown::HashMap;
use sto_model::FrameKind;
use sto_model::bytes::{u32_at, u64_at};
use sto_model::units::{SampleType, Unit};

/// Name of the event whose cost is time off the processor, as perf and bcc call it.
const OFF_CPU: &str = "off-cpu";

/// Events that are sampled when a thread leaves its processor, the preferred one first.
const EVENTS: [&str; 3] = [SCHED_SWITCH, "context-switches", "cs"];

/// Why a thread left its processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Reason {
    /// It waits for something, and a signal would end that.
    Sleeping,
    /// It waits for something that no signal interrupts, mostly for a disk.
    WaitingForIo,
    /// It could have gone on, but others took its place.
    Preempted,
    /// A signal or a debugger stopped it.
    Stopped,
}

impl Reason {
    /// The innermost frame of the thread's stack while it does not run.
    fn frame(self) -> &'static str {
        match self {
            Reason::Sleeping => "[sleeping]",
            Reason::WaitingForIo => "[waiting for I/O]",
            Reason::Preempted => "[preempted]",
            Reason::Stopped => "[stopped]",
        }
    }

    /// Converts `prev_state` of `sched_switch` (`TASK_*` of `include/linux/sched.h`).
    fn from_state(state: u64) -> Reason {
        const INTERRUPTIBLE: u64 = 1;
        const UNINTERRUPTIBLE: u64 = 2;
        const STATES: u64 = 0xff;
        match state & STATES {
            0 => Reason::Preempted,
            state if state & INTERRUPTIBLE != 0 => Reason::Sleeping,
            state if state & UNINTERRUPTIBLE != 0 => Reason::WaitingForIo,
            _ => Reason::Stopped,
        }
    }
}

/// The fields of a sample of `sched_switch`.
#[derive(Clone, Copy)]
pub(super) struct Switch {
    time: u64,
    next_tid: u32,
    reason: Reason,
}

impl Switch {
    /// Reads the fields of the tracepoint, which are those of
    /// `/sys/kernel/tracing/events/sched/sched_switch/format` on 64-bit machines.
    pub(super) fn from_sample(sample: &RawSample<'_>) -> Option<Switch> {
        const PREV_STATE: usize = 32;
        const NEXT_PID: usize = 56;
        Some(Switch {
            time: sample.time?,
            next_tid: u32_at(sample.raw, NEXT_PID)?,
            reason: Reason::from_state(u64_at(sample.raw, PREV_STATE)?),
        })
    }
}

/// A `PERF_RECORD_SWITCH` (`perf record --switch-events`).
#[derive(Clone, Copy)]
pub(super) struct SwitchRecord {
    pub(super) tid: u32,
    pub(super) time: u64,
    /// Whether the thread started to run; otherwise it stopped.
    pub(super) is_in: bool,
    /// Whether the thread could have gone on.
    pub(super) is_preempted: bool,
}

/// The context switches of a recording.
pub(super) struct Switches<'a> {
    pub(super) threads: &'a [Thread],
    /// The fields of all samples of `sched_switch`, in order.
    pub(super) sampled: &'a [Option<Switch>],
    pub(super) records: &'a [SwitchRecord],
}

/// Replaces the cost of samples of context switches by the time until their threads run again, if
/// the recording says when that is. Their stacks get a frame with the reason.
pub(super) fn measure(
    Switches {
        threads,
        sampled,
        records,
    }: Switches<'_>,
    events: &mut Events,
    builder: &mut RecordingBuilder,
    samples: &mut [Sample],
) -> Result<(), RecordingError> {
    let Some(event) = EVENTS.iter().find_map(|name| {
        let mut events = events.sample_types.iter();
        events.position(|event| event.event == *name)
    }) else {
        return Ok(());
    };
    let is_switch = |sample: &Sample| sample.sample_type.get() == event;
    let tid_of = |sample: &Sample| threads[sample.thread.get()].tid;

    let started = records.iter().filter(|record| record.is_in);
    let started = started.map(|record| (record.tid, record.time));
    let mut runs =
        Times::new(started.chain(sampled.iter().flatten().map(|s| (s.next_tid, s.time))));
    if !samples
        .iter()
        .any(|sample| is_switch(sample) && runs.has(tid_of(sample)))
    {
        return Ok(());
    }
    let times = samples
        .iter()
        .filter_map(|sample| Some((tid_of(sample), sample.time?.0)));
    runs.extend(times);
    let stopped = records.iter().filter(|record| !record.is_in);
    let preempted = Times::new(
        stopped
            .clone()
            .filter(|record| record.is_preempted)
            .map(|record| (record.tid, record.time)),
    );
    let stopped = Times::new(stopped.map(|record| (record.tid, record.time)));
    let end = runs.last();

    let mut sampled = sampled.iter();
    let mut frames: HashMap<Reason, LocationIx> = HashMap::new();
    for sample in samples.iter_mut().filter(|sample| is_switch(sample)) {
        let tid = tid_of(sample);
        let switch = sampled.next().copied().flatten();
        let Some(time) = sample.time.map(|time| time.0) else {
            continue;
        };
        let runs_again = runs.after(tid, time).unwrap_or(end);
        sample.cost.value = runs_again.saturating_sub(time);
        let is_preempted = || {
            let next = stopped.after(tid, time);
            next.is_some() && next == preempted.after(tid, time)
        };
        let reason = switch.map(|switch| switch.reason).unwrap_or_else(|| {
            if is_preempted() {
                Reason::Preempted
            } else {
                Reason::Sleeping
            }
        });
        let frame = match frames.get(&reason) {
            Some(&frame) => frame,
            None => {
                let frame = builder.function(FrameKind::Kernel, reason.frame(), "[kernel]")?;
                *frames.entry(reason).insert(frame).get()
            }
        };
        sample.stack = builder.call(Some(sample.stack), frame)?;
    }
    events.sample_types[event] = SampleType {
        event: OFF_CPU.to_owned(),
        unit: Unit::Nanoseconds,
    };
    Ok(())
}

/// Times by thread, in ascending order.
struct Times(HashMap<u32, Vec<u64>>);

impl Times {
    fn new(times: impl Iterator<Item = (u32, u64)>) -> Times {
        let mut sorted = Times(HashMap::new());
        sorted.extend(times);
        sorted
    }

    fn extend(&mut self, times: impl Iterator<Item = (u32, u64)>) {
        for (tid, time) in times {
            self.0.entry(tid).or_default().push(time);
        }
        self.0.values_mut().for_each(|times| times.sort_unstable());
    }

    fn has(&self, tid: u32) -> bool {
        self.0.contains_key(&tid)
    }

    fn last(&self) -> u64 {
        let last = self.0.values().filter_map(|times| times.last());
        last.copied().max().unwrap_or_default()
    }

    /// The first time of a thread after `time`.
    fn after(&self, tid: u32, time: u64) -> Option<u64> {
        let times = self.0.get(&tid)?;
        times
            .get(times.partition_point(|&earlier| earlier <= time))
            .copied()
    }
}
