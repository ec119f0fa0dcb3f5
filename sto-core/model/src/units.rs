//! Units: what the numbers of a profile count.

mod time;

use crate::{ParseError, serde_text_or_parts};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// A point in time or a span, in nanoseconds.
///
/// Time stamps of a recording count from the recording clock's own zero (for perf, usually the
/// boot of the machine), so that only differences between time stamps of one recording mean
/// anything.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Nanoseconds(pub u64);

/// How much later one time is than another, in nanoseconds; negative where it is earlier.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TimeOffset(pub i64);

/// A point in civil time: seconds since 1970-01-01 00:00 UTC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UnixSeconds(pub u64);

/// A number of bytes, in a file or in memory.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Bytes(pub u64);

impl Bytes {
    /// How many times smaller it is than other bytes; `None` where one of them is empty.
    pub fn times_smaller_than(self, other: Bytes) -> Option<f64> {
        (self.0 > 0 && other.0 > 0).then(|| other.0 as f64 / self.0 as f64)
    }
}

/// What one unit of a sample type's value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Unit {
    /// The value is the number of samples itself (folded text without a unit).
    Samples = 0,
    /// Nanoseconds of time: `cpu-clock`, `task-clock`.
    Nanoseconds = 1,
    /// Bytes of memory.
    Bytes = 2,
    /// Occurrences of the event that the sample type is named after: `cycles`, `page-faults`.
    Events = 3,
}

impl Unit {
    /// Every unit, in the order of its number.
    pub const ALL: [Unit; 4] = [Unit::Samples, Unit::Nanoseconds, Unit::Bytes, Unit::Events];

    /// The name that output shows: `samples`, `ns`, `bytes`, `events`.
    pub fn name(self) -> &'static str {
        match self {
            Unit::Samples => "samples",
            Unit::Nanoseconds => "ns",
            Unit::Bytes => "bytes",
            Unit::Events => "events",
        }
    }
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Unit {
    type Err = ParseError;

    /// Reads its [name](Unit::name).
    fn from_str(text: &str) -> Result<Self, ParseError> {
        let unit = Unit::ALL.into_iter().find(|unit| unit.name() == text);
        unit.ok_or_else(|| ParseError::new("a unit: samples, ns, bytes or events", text))
    }
}

serde_text_or_parts!(Unit, u32, |unit| *unit as u32, |number| {
    Unit::ALL.get(number as usize).copied()
});

/// One thing that a profile measured: the event that took the samples, and the unit of its value.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct SampleType {
    /// The event, as the recording tool names it: `cpu-clock`, `cycles:u`, `samples`.
    pub event: String,
    /// The unit of [`Cost::value`].
    pub unit: Unit,
}

impl SampleType {
    /// Whether both count the same: their events may differ in how exactly perf was asked to find the
    /// instruction of a sample, as `cycles`, `cycles:ppp` and `cycles:pppH` do, not in what they count, as
    /// `cycles:u` does.
    pub fn counts_as(&self, other: &SampleType) -> bool {
        self.unit == other.unit && self.is_of(&other.event)
    }

    /// Whether it is of an event that counts the same as this one.
    fn is_of(&self, event: &str) -> bool {
        counted(&self.event) == counted(event)
    }

    /// The index among these of this sample type, or else of the first that counts the same.
    pub fn index_in(&self, types: &[SampleType]) -> Option<usize> {
        let exactly = types.iter().position(|known| known == self);
        exactly.or_else(|| types.iter().position(|known| self.counts_as(known)))
    }

    /// The index among these of the one whose event has this name, or else of the first whose event counts
    /// the same.
    pub fn index_of_event(event: &str, types: &[SampleType]) -> Option<usize> {
        let exactly = types.iter().position(|known| known.event == event);
        exactly.or_else(|| types.iter().position(|known| known.is_of(event)))
    }

    /// For each of what a run measured, the column that it is in: its own, or else one that counts the same
    /// and that nothing else of the run is in.
    pub fn columns(run: &[SampleType], columns: &[SampleType]) -> Vec<Option<usize>> {
        let own = |t: &SampleType| columns.iter().position(|column| column == t);
        let mut of_run: Vec<Option<usize>> = run.iter().map(own).collect();
        for ix in 0..run.len() {
            let is_free = |column: &usize| !of_run.contains(&Some(*column));
            let mut alike =
                (0..columns.len()).filter(|&column| run[ix].counts_as(&columns[column]));
            of_run[ix] = of_run[ix].or_else(|| alike.find(is_free));
        }
        of_run
    }

    /// The columns that several runs take, and by run which of them each of what it measured is in.
    pub fn columns_of<'a>(
        runs: impl Iterator<Item = &'a [SampleType]> + Clone,
    ) -> (Vec<SampleType>, Vec<Vec<usize>>) {
        let mut columns: Vec<SampleType> = Vec::new();
        for run in runs.clone() {
            for (t, column) in run.iter().zip(SampleType::columns(run, &columns)) {
                if column.is_none() && !columns.contains(t) {
                    columns.push(t.clone());
                }
            }
        }
        let known = |column: Option<usize>| column.expect("each has a column by now");
        let of_run = |run| {
            let of_run = SampleType::columns(run, &columns);
            of_run.into_iter().map(known).collect()
        };
        let of_runs = runs.map(of_run).collect();
        (columns, of_runs)
    }
}

/// An event as perf writes it, and those of its modifiers that say what is counted: of those that
/// perf-list(1) has, `p` and `P` are of precision, `H` (the host alone) is what perf does without, and
/// `S`, `D`, `W` and `e` are of how counters are read and shared.
fn counted(event: &str) -> (&str, Vec<char>) {
    const MODIFIERS: &str = "ukhIGHpPSDWeb";
    const OF_NO_COUNT: &str = "pPHSDWe";
    let parts = match event.rsplit_once('/') {
        Some((pmu, modifiers)) => Some((pmu, modifiers)),
        // Of two parts, the first of a tracepoint is its system: `sched:sched_switch`.
        None => event.split_once(':'),
    };
    let Some((name, modifiers)) = parts else {
        return (event, Vec::new());
    };
    if !modifiers
        .chars()
        .all(|modifier| MODIFIERS.contains(modifier))
    {
        return (event, Vec::new());
    }
    let of_count = modifiers.chars().filter(|&m| !OF_NO_COUNT.contains(m));
    let mut of_count: Vec<char> = of_count.collect();
    of_count.sort_unstable();
    (name, of_count)
}

/// What a stack cost: how often it was sampled, and what those samples stand for.
///
/// For perf the value is the sum of the samples' periods, in the sample type's [`Unit`].
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Cost {
    /// Number of samples.
    pub samples: u64,
    /// The samples' weight in the sample type's unit.
    pub value: u64,
}

impl Cost {
    /// No samples, no value.
    pub const ZERO: Cost = Cost {
        samples: 0,
        value: 0,
    };

    /// Of what is counted itself: as many samples as the value.
    pub const fn counted(count: u64) -> Cost {
        Cost {
            samples: count,
            value: count,
        }
    }

    /// Whether both counts are zero.
    pub fn is_zero(self) -> bool {
        self == Cost::ZERO
    }

    /// The sum of both counts, or `None` where either leaves 64 bits.
    pub fn checked_add(self, other: Cost) -> Option<Cost> {
        Some(Cost {
            samples: self.samples.checked_add(other.samples)?,
            value: self.value.checked_add(other.value)?,
        })
    }
}

impl std::ops::AddAssign for Cost {
    /// Adds, and stays at the largest number where a sum leaves 64 bits; where that must be an
    /// error (on the way into the store), [`Cost::checked_add`] says.
    fn add_assign(&mut self, other: Cost) {
        self.samples = self.samples.saturating_add(other.samples);
        self.value = self.value.saturating_add(other.value);
    }
}

impl std::iter::Sum for Cost {
    fn sum<I: Iterator<Item = Cost>>(costs: I) -> Cost {
        let mut sum = Cost::ZERO;
        for cost in costs {
            sum += cost;
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::{SampleType, Unit};

    #[test]
    fn events_that_differ_in_precision_alone_count_the_same() {
        let of = |event: &str| SampleType {
            event: event.to_owned(),
            unit: Unit::Events,
        };
        let same = |a: &str, b: &str| of(a).counts_as(&of(b));
        assert!(same("cpu-clock", "cpu-clock:ppp"));
        assert!(same("cpu-clock:pppH", "cpu-clock:ppp"));
        assert!(same("cycles:uP", "cycles:u"));
        assert!(same("cpu_core/cycles/P", "cpu_core/cycles/"));
        assert!(!same("cycles", "cycles:u"));
        assert!(!same("cycles:k", "cycles:u"));
        assert!(!same("cycles:G", "cycles"));
        assert!(!same("cycles", "cpu_core/cycles/"));
        assert!(!same("sched:sched_switch", "sched:sched_wakeup"));
        let mut samples = of("cycles");
        samples.unit = Unit::Samples;
        assert!(!samples.counts_as(&of("cycles")));
    }

    #[test]
    fn runs_that_count_the_same_share_a_column_and_what_one_run_counts_twice_does_not() {
        let of = |events: &[&str]| -> Vec<SampleType> {
            let event = |event: &&str| SampleType {
                event: (*event).to_owned(),
                unit: Unit::Events,
            };
            events.iter().map(event).collect()
        };
        let runs = [
            of(&["cycles:pp", "faults"]),
            of(&["cycles", "cycles:pp"]),
            of(&["faults", "cycles:P", "faults"]),
        ];
        let (columns, of_runs) = SampleType::columns_of(runs.iter().map(|run| &run[..]));
        assert_eq!(columns, of(&["cycles:pp", "faults", "cycles"]));
        assert_eq!(of_runs, [vec![0, 1], vec![2, 0], vec![1, 0, 1]]);
    }
}
