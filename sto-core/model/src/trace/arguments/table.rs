//! The table of functions with argument values.

use crate::index_types;
use crate::limits::{MAX_USER_STRING, truncate_text};
use crate::trace::paths::TraceFunctionIx;
use hashbrown::HashMap;

index_types! {
    /// Index of a function with argument values in [`ArgumentTable`].
    pub ArgumentsIx;
    /// Index of an argument's name.
    ArgumentNo;
}

/// The first function number that represents a function with argument values.
const FIRST: u32 = 1 << 27;

/// The function of events that end a call without naming its function.
pub const UNNAMED_FUNCTION: TraceFunctionIx = TraceFunctionIx(FIRST - 1);

/// Number of different argument values of a function after which new values are rounded more.
const STEP: u32 = 8192;

/// Number of mantissa bits of new values, step by step.
const MANTISSA_BITS: [u32; 4] = [52, 6, 3, 0];

/// Maximum number of different argument values of all functions.
const MAX_ENTRIES: usize = 1 << 20;

/// A table of functions with argument values, which have function numbers above those that a format uses.
#[derive(Debug, Default)]
pub struct ArgumentTable {
    names: Vec<String>,
    /// Indices into `names`.
    name_index: HashMap<String, ArgumentNo>,
    entries: Vec<Entry>,
    /// Indices into `entries`.
    entry_index: HashMap<RoundedValues, ArgumentsIx>,
    /// Number of entries by function.
    entry_counts: HashMap<TraceFunctionIx, u32>,
    left_out: u64,
}

/// A function and the bits of its argument values, rounded down.
type RoundedValues = (TraceFunctionIx, Box<[(ArgumentNo, u64)]>);

/// A function with argument values.
#[derive(Debug)]
struct Entry {
    function: TraceFunctionIx,
    events: u64,
    /// The sum of each argument's values over all events.
    sums: Box<[(ArgumentNo, f64)]>,
}

impl ArgumentTable {
    /// Returns the number of a function with these arguments. Values that are not finite are ignored.
    pub fn intern(
        &mut self,
        function: TraceFunctionIx,
        arguments: &[(impl AsRef<str>, f64)],
    ) -> TraceFunctionIx {
        let finite = arguments.iter().filter(|(_, value)| value.is_finite());
        let mut values: Vec<(ArgumentNo, f64)> = finite
            .map(|(name, value)| (self.argument(name.as_ref()), value + 0.0))
            .collect();
        values.sort_by_key(|&(argument, _)| argument);
        values.dedup_by_key(|(argument, _)| *argument);
        self.insert(function, &values)
    }

    /// Returns the number of a call with the arguments of its begin and end events. For an argument of both events,
    /// the value at the begin is used.
    pub fn merge(&mut self, begin: TraceFunctionIx, end: TraceFunctionIx) -> TraceFunctionIx {
        let (function, begin_entry) = self.split(begin);
        let (_, Some(end_entry)) = self.split(end) else {
            return begin;
        };
        let mut values: Vec<(ArgumentNo, f64)> = begin_entry
            .map(|entry| self.mean_values(entry).collect())
            .unwrap_or_default();
        let begin_count = values.len();
        for (argument, value) in self.mean_values(end_entry) {
            if values[..begin_count]
                .iter()
                .all(|(other, _)| *other != argument)
            {
                values.push((argument, value));
            }
        }
        values.sort_by_key(|&(argument, _)| argument);
        self.insert(function, &values)
    }

    fn insert(
        &mut self,
        function: TraceFunctionIx,
        values: &[(ArgumentNo, f64)],
    ) -> TraceFunctionIx {
        if values.is_empty() || function > UNNAMED_FUNCTION {
            return function;
        }
        let count = self.entry_counts.entry(function).or_default();
        let step = (*count / STEP) as usize;
        let bits = MANTISSA_BITS[step.min(MANTISSA_BITS.len() - 1)];
        let rounded = values
            .iter()
            .map(|&(argument, value)| (argument, value.to_bits() >> (52 - bits)));
        let key = (function, rounded.collect());
        let index = match self.entry_index.get(&key) {
            Some(&known) => known,
            None if step == MANTISSA_BITS.len() || self.entries.len() == MAX_ENTRIES => {
                self.left_out += 1;
                return function;
            }
            None => {
                *count += 1;
                let index = ArgumentsIx(self.entries.len() as u32);
                self.entries.push(Entry {
                    function,
                    events: 0,
                    sums: values
                        .iter()
                        .map(|&(argument, _)| (argument, 0.0))
                        .collect(),
                });
                self.entry_index.insert(key, index);
                index
            }
        };
        let entry = &mut self.entries[index.get()];
        entry.events += 1;
        for ((_, sum), (_, value)) in entry.sums.iter_mut().zip(values) {
            *sum += value;
        }
        TraceFunctionIx(FIRST + index.0)
    }

    fn argument(&mut self, name: &str) -> ArgumentNo {
        if let Some(&known) = self.name_index.get(name) {
            return known;
        }
        let index = ArgumentNo(self.names.len() as u32);
        let mut shown = name.to_owned();
        truncate_text(&mut shown, MAX_USER_STRING);
        self.names.push(shown);
        self.name_index.insert(name.to_owned(), index);
        index
    }

    /// Returns `true` if no function has argument values.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Splits a number into the function and its argument values.
    #[inline]
    pub fn split(&self, number: TraceFunctionIx) -> (TraceFunctionIx, Option<ArgumentsIx>) {
        let index = number.0.checked_sub(FIRST).map(ArgumentsIx);
        let entry =
            index.and_then(|index| Some((self.entries.get(index.get())?.function, Some(index))));
        entry.unwrap_or((number, None))
    }

    /// The names and values of arguments. A value is the mean of the values that were rounded to the same.
    pub(super) fn values(&self, index: ArgumentsIx) -> impl Iterator<Item = (&str, f64)> {
        let values = self.mean_values(index);
        values.map(|(argument, value)| (&*self.names[argument.get()], value))
    }

    fn mean_values(&self, index: ArgumentsIx) -> impl Iterator<Item = (ArgumentNo, f64)> {
        let entry = &self.entries[index.get()];
        let mean = |&(argument, sum): &(ArgumentNo, f64)| {
            let mean = sum / entry.events as f64;
            (argument, mean.clamp(f64::MIN, f64::MAX))
        };
        entry.sums.iter().map(mean)
    }

    /// A warning about calls without arguments because of the limits of all these tables.
    pub(crate) fn warning<'a>(all: impl Iterator<Item = &'a ArgumentTable>) -> Option<String> {
        let left_out: u64 = all.map(|table| table.left_out).sum();
        (left_out > 0).then(|| {
            format!(
                "{left_out} calls have more different argument values than are kept; these calls are counted without arguments."
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SORT: TraceFunctionIx = TraceFunctionIx(3);

    fn values(arguments: &ArgumentTable, number: TraceFunctionIx) -> Vec<(&str, f64)> {
        let (_, with) = arguments.split(number);
        with.map_or(Vec::new(), |with| arguments.values(with).collect())
    }

    #[test]
    fn equal_arguments_have_the_same_number() {
        let mut arguments = ArgumentTable::default();
        let first = arguments.intern(SORT, &[("n", 5.0), ("k", -0.0)]);
        assert_eq!(arguments.intern(SORT, &[("k", 0.0), ("n", 5.0)]), first);
        assert_ne!(
            arguments.intern(TraceFunctionIx(4), &[("n", 5.0), ("k", 0.0)]),
            first
        );
        assert_ne!(arguments.intern(SORT, &[("n", 6.0), ("k", 0.0)]), first);
        assert_eq!(arguments.split(first).0, SORT);
        assert_eq!(values(&arguments, first), [("n", 5.0), ("k", 0.0)]);
        assert_eq!(arguments.intern(SORT, &[("n", f64::NAN)]), SORT);
        assert_eq!(arguments.split(TraceFunctionIx(u32::MAX)).1, None);
    }

    #[test]
    fn merges_arguments_of_begin_and_end() {
        let mut arguments = ArgumentTable::default();
        let begin = arguments.intern(SORT, &[("n", 5.0)]);
        let end = arguments.intern(UNNAMED_FUNCTION, &[("n", 6.0), ("found", 2.0)]);
        let both = arguments.merge(begin, end);
        assert_eq!(values(&arguments, both), [("n", 5.0), ("found", 2.0)]);
        assert_eq!(arguments.split(both).0, SORT);
        assert_eq!(arguments.merge(begin, SORT), begin);
        let late = arguments.merge(SORT, end);
        assert_eq!(values(&arguments, late), [("n", 6.0), ("found", 2.0)]);
    }

    #[test]
    fn rounds_values_if_there_are_too_many() {
        let mut arguments = ArgumentTable::default();
        let mut worst: f64 = 0.0;
        for n in 0..100_000 {
            let number = arguments.intern(SORT, &[("n", f64::from(n))]);
            if n > 50_000 {
                let found = values(&arguments, number)[0].1;
                worst = worst.max((found / f64::from(n) - 1.0).abs());
            }
        }
        assert!(worst < 1.0 / 64.0, "{worst}");
        assert!(
            arguments.entries.len() < 10_000,
            "{}",
            arguments.entries.len()
        );
        assert_eq!(ArgumentTable::warning([&arguments].into_iter()), None);
        for n in 0..300_000 {
            let odd = f64::from(n) * 7919.0 % 100_003.0;
            arguments.intern(SORT, &[("n", f64::from(n)), ("odd", odd)]);
        }
        assert!(arguments.entries.len() <= 4 * STEP as usize);
    }
}
