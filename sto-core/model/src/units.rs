//! Numbers with units: times, sizes and costs.

mod time;

use crate::{ParseError, serde_text_or_parts};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// A timestamp or duration in nanoseconds.
///
/// Timestamps of a recording count from the zero of the recording's clock (for perf, usually the
/// boot of the machine), so only differences between timestamps of one recording are meaningful.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Nanoseconds(pub u64);

/// A signed difference between two times in nanoseconds; positive if the first time is later.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TimeOffset(pub i64);

/// A point in time in seconds since 1970-01-01 00:00 UTC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UnixSeconds(pub u64);

/// A number of bytes, in a file or in memory.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Bytes(pub u64);

impl Bytes {
    /// The ratio of `other` to `self`, or `None` if one of them is zero.
    pub fn compression_ratio(self, other: Bytes) -> Option<f64> {
        (self.0 > 0 && other.0 > 0).then(|| other.0 as f64 / self.0 as f64)
    }
}

/// The unit of a sample type's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
#[non_exhaustive]
pub enum Unit {
    /// The number of samples, as in folded stacks without a unit.
    Samples = 0,
    /// Nanoseconds: `cpu-clock`, `task-clock`.
    Nanoseconds = 1,
    /// Bytes of memory.
    Bytes = 2,
    /// Occurrences of the sample type's event: `cycles`, `page-faults`.
    Events = 3,
}

impl Unit {
    /// All units, ordered by number.
    pub const ALL: [Unit; 4] = [Unit::Samples, Unit::Nanoseconds, Unit::Bytes, Unit::Events];

    /// The name in output: `samples`, `ns`, `bytes`, `events`.
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

    /// Parses the [name](Unit::name) of a unit.
    fn from_str(text: &str) -> Result<Self, ParseError> {
        let unit = Unit::ALL.into_iter().find(|unit| unit.name() == text);
        unit.ok_or_else(|| ParseError::new("a unit: samples, ns, bytes or events", text))
    }
}

serde_text_or_parts!(Unit, u32, |unit| *unit as u32, |number| {
    Unit::ALL.get(number as usize).copied()
});

/// A quantity measured in a profile: a sampled event, and the unit of its values.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct SampleType {
    /// The event under the recording tool's name: `cpu-clock`, `cycles:u`, `samples`.
    pub event: String,
    /// The unit of [`Cost::value`].
    pub unit: Unit,
}

impl SampleType {
    /// Returns `true` if both sample types count the same: units and events are equal, apart from modifiers
    /// that do not change what perf counts. `cycles`, `cycles:ppp` and `cycles:pppH` count the same, `cycles:u`
    /// does not.
    pub fn counts_same_as(&self, other: &SampleType) -> bool {
        self.unit == other.unit && self.counts_event(&other.event)
    }

    fn counts_event(&self, event: &str) -> bool {
        counted_event(&self.event) == counted_event(event)
    }

    /// The index of this sample type in `types`, or otherwise of the first one that counts the same.
    pub fn index_in(&self, types: &[SampleType]) -> Option<usize> {
        let exactly = types.iter().position(|known| known == self);
        exactly.or_else(|| types.iter().position(|known| self.counts_same_as(known)))
    }

    /// The index of the sample type with this event in `types`, or otherwise of the first one whose event
    /// counts the same.
    pub fn index_of_event(event: &str, types: &[SampleType]) -> Option<usize> {
        let exactly = types.iter().position(|known| known.event == event);
        exactly.or_else(|| types.iter().position(|known| known.counts_event(event)))
    }

    /// Assigns columns to the sample types of a run: to each the equal column, or otherwise one that counts the
    /// same and is not assigned to another sample type of the run.
    pub fn assign_columns(run: &[SampleType], columns: &[SampleType]) -> Vec<Option<usize>> {
        let equal = |t: &SampleType| columns.iter().position(|column| column == t);
        let mut assigned: Vec<Option<usize>> = run.iter().map(equal).collect();
        for ix in 0..run.len() {
            let is_free = |column: &usize| !assigned.contains(&Some(*column));
            let mut alike =
                (0..columns.len()).filter(|&column| run[ix].counts_same_as(&columns[column]));
            assigned[ix] = assigned[ix].or_else(|| alike.find(is_free));
        }
        assigned
    }

    /// Chooses columns for several runs. Returns the columns, and for each run the column of each of its
    /// sample types.
    pub fn choose_columns<'a>(
        runs: impl Iterator<Item = &'a [SampleType]> + Clone,
    ) -> (Vec<SampleType>, Vec<Vec<usize>>) {
        let mut columns: Vec<SampleType> = Vec::new();
        for run in runs.clone() {
            for (t, column) in run.iter().zip(SampleType::assign_columns(run, &columns)) {
                if column.is_none() && !columns.contains(t) {
                    columns.push(t.clone());
                }
            }
        }
        let assign = |run| {
            let assigned = SampleType::assign_columns(run, &columns).into_iter();
            assigned
                .map(|column| column.expect("every sample type has a column"))
                .collect()
        };
        let assigned = runs.map(assign).collect();
        (columns, assigned)
    }
}

/// Splits a perf event into its name and the sorted modifiers that change the meaning of the count.
///
/// The other modifiers in perf-list(1) are `p` and `P` for the precision, `H` (host only), which is the default,
/// and `S`, `D`, `W` and `e`, which set how counters are read and shared.
fn counted_event(event: &str) -> (&str, Vec<char>) {
    const MODIFIERS: &str = "ukhIGHpPSDWeb";
    const NOT_COUNTED: &str = "pPHSDWe";
    let parts = match event.rsplit_once('/') {
        Some((pmu, modifiers)) => Some((pmu, modifiers)),
        // In a tracepoint, the part before the colon is a subsystem: `sched:sched_switch`.
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
    let counted = modifiers.chars().filter(|&m| !NOT_COUNTED.contains(m));
    let mut counted: Vec<char> = counted.collect();
    counted.sort_unstable();
    (name, counted)
}

/// The cost of a stack: its number of samples, and their total value.
///
/// For perf, the value is the sum of the samples' periods, in the sample type's [`Unit`].
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Cost {
    /// Number of samples.
    pub samples: u64,
    /// Total value of the samples in the sample type's unit.
    pub value: u64,
}

impl Cost {
    /// No samples and a value of 0.
    pub const ZERO: Cost = Cost {
        samples: 0,
        value: 0,
    };

    /// Creates the cost of events that are counted individually: the value is the number of samples.
    pub const fn from_count(count: u64) -> Cost {
        Cost {
            samples: count,
            value: count,
        }
    }

    /// Returns `true` if both numbers are zero.
    pub fn is_zero(self) -> bool {
        self == Cost::ZERO
    }

    /// Adds two costs. Returns `None` on overflow.
    pub fn checked_add(self, other: Cost) -> Option<Cost> {
        Some(Cost {
            samples: self.samples.checked_add(other.samples)?,
            value: self.value.checked_add(other.value)?,
        })
    }

    /// Subtracts a cost. Returns `None` if it is larger.
    pub fn checked_sub(self, other: Cost) -> Option<Cost> {
        Some(Cost {
            samples: self.samples.checked_sub(other.samples)?,
            value: self.value.checked_sub(other.value)?,
        })
    }
}

impl std::ops::AddAssign for Cost {
    /// Adds a cost, and saturates on overflow. Use [`Cost::checked_add`] to detect overflow.
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
    fn events_of_different_precision_count_the_same() {
        let events = |event: &str| SampleType {
            event: event.to_owned(),
            unit: Unit::Events,
        };
        let same = |a: &str, b: &str| events(a).counts_same_as(&events(b));
        assert!(same("cpu-clock", "cpu-clock:ppp"));
        assert!(same("cpu-clock:pppH", "cpu-clock:ppp"));
        assert!(same("cycles:uP", "cycles:u"));
        assert!(same("cpu_core/cycles/P", "cpu_core/cycles/"));
        assert!(!same("cycles", "cycles:u"));
        assert!(!same("cycles:k", "cycles:u"));
        assert!(!same("cycles:G", "cycles"));
        assert!(!same("cycles", "cpu_core/cycles/"));
        assert!(!same("sched:sched_switch", "sched:sched_wakeup"));
        let mut samples = events("cycles");
        samples.unit = Unit::Samples;
        assert!(!samples.counts_same_as(&events("cycles")));
    }

    #[test]
    fn only_sample_types_of_different_runs_share_a_column() {
        let run = |events: &[&str]| -> Vec<SampleType> {
            let event = |event: &&str| SampleType {
                event: (*event).to_owned(),
                unit: Unit::Events,
            };
            events.iter().map(event).collect()
        };
        let runs = [
            run(&["cycles:pp", "faults"]),
            run(&["cycles", "cycles:pp"]),
            run(&["faults", "cycles:P", "faults"]),
        ];
        let (columns, assigned) = SampleType::choose_columns(runs.iter().map(|run| &run[..]));
        assert_eq!(columns, run(&["cycles:pp", "faults", "cycles"]));
        assert_eq!(assigned, [vec![0, 1], vec![2, 0], vec![1, 0, 1]]);
    }
}
