//! The stages of ingestion, and the time that they take.

use crate::system::{ProcessorClock, processor_time};
use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// A stage of ingestion, for progress displays and [`Timings`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// Reading the file and unwinding saved stacks.
    Reading,
    /// The part of reading that reads and hashes the bytes of a `perf.data` file.
    Hashing,
    /// The part of reading that walks over the records of a `perf.data` file.
    Walking,
    /// The part of reading that decodes samples and finds the mappings of their addresses.
    Locating,
    /// The part of reading that unwinds saved stacks.
    Unwinding,
    /// Looking up symbols.
    Symbolizing,
    /// Building the tree.
    Interning,
    /// Adding to the store.
    Storing,
    /// The part of storing that checks, hashes and packs the profile.
    Packing,
    /// The part of storing that writes, including waiting for others that use the store.
    Writing,
}

impl Stage {
    /// The stage that this one is part of. Several threads work on the parts of reading at the same time.
    pub fn whole(self) -> Option<Stage> {
        match self {
            Stage::Hashing | Stage::Walking | Stage::Locating | Stage::Unwinding => {
                Some(Stage::Reading)
            }
            Stage::Packing | Stage::Writing => Some(Stage::Storing),
            Stage::Reading | Stage::Symbolizing | Stage::Interning | Stage::Storing => None,
        }
    }
}

/// The time that a stage took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StageTime {
    /// Wall-clock time; if several threads work on the stage, the sum of theirs.
    pub wall: Duration,
    /// Processor time of all threads.
    pub processor: Duration,
}

/// Adds up the time of each stage if it is [on](Timings::on). Clones share the sums.
#[derive(Clone, Debug, Default)]
pub struct Timings(Option<Arc<Mutex<BTreeMap<Stage, StageTime>>>>);

thread_local! {
    /// Time of the stages that were measured within the current one, on this thread.
    static NESTED: Cell<StageTime> = const {
        Cell::new(StageTime { wall: Duration::ZERO, processor: Duration::ZERO })
    };
}

impl Timings {
    /// Returns timings that are on.
    pub fn on() -> Timings {
        Timings(Some(Arc::default()))
    }

    /// Returns the time of each stage so far.
    pub fn stages(&self) -> BTreeMap<Stage, StageTime> {
        self.0.as_deref().map_or_else(BTreeMap::new, |sums| {
            sums.lock().unwrap_or_else(PoisonError::into_inner).clone()
        })
    }

    /// Runs `work`, and adds its time to a stage, with the processor time of all threads of this process.
    #[doc(hidden)]
    pub fn measure<T>(&self, stage: Stage, work: impl FnOnce() -> T) -> T {
        if self.0.is_none() {
            return work();
        }
        let start = Moment::now(ProcessorClock::Process);
        let done = work();
        self.add(stage, start.elapsed());
        done
    }

    /// Runs `work` on this thread, and adds its time to a stage, without the time of such stages within it.
    #[doc(hidden)]
    pub fn measure_thread<T>(&self, stage: Stage, work: impl FnOnce() -> T) -> T {
        if self.0.is_none() {
            return work();
        }
        let outer = NESTED.take();
        let start = Moment::now(ProcessorClock::Thread);
        let done = work();
        let all = start.elapsed();
        let nested = NESTED.replace(StageTime {
            wall: outer.wall + all.wall,
            processor: outer.processor + all.processor,
        });
        self.add(
            stage,
            StageTime {
                wall: all.wall.saturating_sub(nested.wall),
                processor: all.processor.saturating_sub(nested.processor),
            },
        );
        done
    }

    fn add(&self, stage: Stage, time: StageTime) {
        if let Some(sums) = &self.0 {
            let mut sums = sums.lock().unwrap_or_else(PoisonError::into_inner);
            let sum = sums.entry(stage).or_default();
            sum.wall += time.wall;
            sum.processor += time.processor;
        }
    }
}

/// A point in time on the wall clock and a processor clock.
struct Moment {
    wall: Instant,
    clock: ProcessorClock,
    processor: Duration,
}

impl Moment {
    fn now(clock: ProcessorClock) -> Moment {
        Moment {
            wall: Instant::now(),
            clock,
            processor: processor_time(clock),
        }
    }

    fn elapsed(&self) -> StageTime {
        StageTime {
            wall: self.wall.elapsed(),
            processor: processor_time(self.clock).saturating_sub(self.processor),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_of_a_stage_within_another_counts_once() {
        let timings = Timings::on();
        let hash = || blake3::hash(&[1; 1 << 20]);
        let start = Instant::now();
        timings.measure_thread(Stage::Walking, || {
            timings.measure_thread(Stage::Hashing, hash);
            timings.measure_thread(Stage::Hashing, hash);
        });
        let elapsed = start.elapsed();
        let stages = timings.stages();
        let sum: Duration = stages.values().map(|time| time.wall).sum();
        assert!(sum <= elapsed, "{stages:?} in {elapsed:?}");
        assert!(stages[&Stage::Hashing].wall > Duration::ZERO);
    }

    #[test]
    fn nothing_is_measured_unless_it_is_on() {
        let timings = Timings::default();
        assert_eq!(timings.measure(Stage::Reading, || 7), 7);
        assert_eq!(timings.measure_thread(Stage::Walking, || 8), 8);
        assert!(timings.stages().is_empty());
    }
}
