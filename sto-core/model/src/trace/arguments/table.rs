//! Functions with what they were called with, by number.

use crate::limits::{MAX_GIVEN_NAME, cut};
use crate::numbers;
use crate::trace::paths::FunctionNo;
use hashbrown::HashMap;

numbers! {
    /// Arguments that a function was called with.
    pub ArgumentsNo;
    /// The name of an argument.
    ArgumentNo;
}

/// From here on numbers of functions stand for a function with arguments.
const FIRST: u32 = 1 << 27;

/// The function of what ends a call without naming it.
pub const NAMELESS: FunctionNo = FunctionNo(FIRST - 1);

/// Different arguments that are kept of a function before they are rounded more.
const STEP: u32 = 8192;

/// Binary digits that are kept of them behind the first, step by step.
const DIGITS: [u32; 4] = [52, 6, 3, 0];

/// Different arguments of all functions.
const MOST: usize = 1 << 20;

/// What functions were called with, as numbers of functions beside those that a format gives.
#[derive(Debug, Default)]
pub struct CallArguments {
    names: Vec<String>,
    numbers: HashMap<String, ArgumentNo>,
    known: HashMap<Rounded, ArgumentsNo>,
    called: Vec<Called>,
    /// How many different arguments each function has.
    of_function: HashMap<FunctionNo, u32>,
    left_out: u64,
}

/// A function with arguments, of which the lowest bits may be cut off.
type Rounded = (FunctionNo, Box<[(ArgumentNo, u64)]>);

/// A function with arguments.
#[derive(Debug)]
struct Called {
    function: FunctionNo,
    events: u64,
    /// The sums over all events, by argument.
    sums: Box<[(ArgumentNo, f64)]>,
}

impl CallArguments {
    /// The number of a function that is called with these arguments; those that are no finite numbers are left out.
    pub fn number(
        &mut self,
        function: FunctionNo,
        arguments: &[(impl AsRef<str>, f64)],
    ) -> FunctionNo {
        let finite = arguments.iter().filter(|(_, value)| value.is_finite());
        let mut values: Vec<(ArgumentNo, f64)> = finite
            .map(|(name, value)| (self.argument(name.as_ref()), value + 0.0))
            .collect();
        values.sort_by_key(|&(argument, _)| argument);
        values.dedup_by_key(|(argument, _)| *argument);
        self.of(function, &values)
    }

    /// The number of a call that two events have: with the arguments of both, those of the first where both have one.
    pub fn together(&mut self, begin: FunctionNo, end: FunctionNo) -> FunctionNo {
        let (function, of_begin) = self.split(begin);
        let (_, of_end) = self.split(end);
        let Some(of_end) = of_end else { return begin };
        let mut values: Vec<(ArgumentNo, f64)> = self.values(of_end).collect();
        if let Some(of_begin) = of_begin {
            let mut all: Vec<(ArgumentNo, f64)> = self.values(of_begin).collect();
            values.retain(|(argument, _)| all.iter().all(|(other, _)| other != argument));
            all.extend(values);
            all.sort_by_key(|&(argument, _)| argument);
            values = all;
        }
        self.of(function, &values)
    }

    fn of(&mut self, function: FunctionNo, values: &[(ArgumentNo, f64)]) -> FunctionNo {
        if values.is_empty() || function > NAMELESS {
            return function;
        }
        let different = self.of_function.entry(function).or_default();
        let step = (*different / STEP) as usize;
        let digits = DIGITS[step.min(DIGITS.len() - 1)];
        let rounded = values
            .iter()
            .map(|&(argument, value)| (argument, value.to_bits() >> (52 - digits)));
        let key = (function, rounded.collect());
        let number = match self.known.get(&key) {
            Some(&known) => known,
            None if step == DIGITS.len() || self.called.len() == MOST => {
                self.left_out += 1;
                return function;
            }
            None => {
                *different += 1;
                let number = ArgumentsNo(self.called.len() as u32);
                self.called.push(Called {
                    function,
                    events: 0,
                    sums: values.iter().map(|&(of, _)| (of, 0.0)).collect(),
                });
                self.known.insert(key, number);
                number
            }
        };
        let called = &mut self.called[number.get()];
        called.events += 1;
        for ((_, sum), (_, value)) in called.sums.iter_mut().zip(values) {
            *sum += value;
        }
        FunctionNo(FIRST + number.0)
    }

    fn argument(&mut self, name: &str) -> ArgumentNo {
        if let Some(&known) = self.numbers.get(name) {
            return known;
        }
        let number = ArgumentNo(self.names.len() as u32);
        let mut shown = name.to_owned();
        cut(&mut shown, MAX_GIVEN_NAME);
        self.names.push(shown);
        self.numbers.insert(name.to_owned(), number);
        number
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.called.is_empty()
    }

    /// The function that a number stands for, and what it is called with.
    #[inline]
    pub fn split(&self, number: FunctionNo) -> (FunctionNo, Option<ArgumentsNo>) {
        let with = number.0.checked_sub(FIRST).map(ArgumentsNo);
        let called =
            with.and_then(|with| Some((self.called.get(with.get())?.function, Some(with))));
        called.unwrap_or((number, None))
    }

    /// What a function was called with by name: the average, where several were nearly the same.
    pub(super) fn of_call(&self, with: ArgumentsNo) -> impl Iterator<Item = (&str, f64)> {
        let values = self.values(with);
        values.map(|(argument, value)| (&*self.names[argument.get()], value))
    }

    fn values(&self, with: ArgumentsNo) -> impl Iterator<Item = (ArgumentNo, f64)> {
        let called = &self.called[with.get()];
        let average = |&(argument, sum): &(ArgumentNo, f64)| {
            let average = sum / called.events as f64;
            (argument, average.clamp(f64::MIN, f64::MAX))
        };
        called.sums.iter().map(average)
    }

    /// A sentence about what was left out of all these.
    pub(crate) fn warning<'a>(all: impl Iterator<Item = &'a CallArguments>) -> Option<String> {
        let left_out: u64 = all.map(|of| of.left_out).sum();
        (left_out > 0).then(|| {
            format!(
                "{left_out} calls have more different arguments than are kept; these calls are counted without them."
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SORT: FunctionNo = FunctionNo(3);

    fn values(arguments: &CallArguments, number: FunctionNo) -> Vec<(&str, f64)> {
        let (_, with) = arguments.split(number);
        with.map_or(Vec::new(), |with| arguments.of_call(with).collect())
    }

    #[test]
    fn equal_arguments_of_a_function_are_one_number() {
        let mut arguments = CallArguments::default();
        let first = arguments.number(SORT, &[("n", 5.0), ("k", -0.0)]);
        assert_eq!(arguments.number(SORT, &[("k", 0.0), ("n", 5.0)]), first);
        assert_ne!(
            arguments.number(FunctionNo(4), &[("n", 5.0), ("k", 0.0)]),
            first
        );
        assert_ne!(arguments.number(SORT, &[("n", 6.0), ("k", 0.0)]), first);
        assert_eq!(arguments.split(first).0, SORT);
        assert_eq!(values(&arguments, first), [("n", 5.0), ("k", 0.0)]);
        assert_eq!(arguments.number(SORT, &[("n", f64::NAN)]), SORT);
        assert_eq!(arguments.split(FunctionNo(u32::MAX)).1, None);
    }

    #[test]
    fn a_call_has_the_arguments_of_its_begin_and_of_its_end() {
        let mut arguments = CallArguments::default();
        let begin = arguments.number(SORT, &[("n", 5.0)]);
        let end = arguments.number(NAMELESS, &[("n", 6.0), ("found", 2.0)]);
        let both = arguments.together(begin, end);
        assert_eq!(values(&arguments, both), [("n", 5.0), ("found", 2.0)]);
        assert_eq!(arguments.split(both).0, SORT);
        assert_eq!(arguments.together(begin, SORT), begin);
        let late = arguments.together(SORT, end);
        assert_eq!(values(&arguments, late), [("n", 6.0), ("found", 2.0)]);
    }

    #[test]
    fn very_many_different_arguments_become_few_that_are_nearly_the_same() {
        let mut arguments = CallArguments::default();
        let mut worst: f64 = 0.0;
        for n in 0..100_000 {
            let number = arguments.number(SORT, &[("n", f64::from(n))]);
            if n > 50_000 {
                let found = values(&arguments, number)[0].1;
                worst = worst.max((found / f64::from(n) - 1.0).abs());
            }
        }
        assert!(worst < 1.0 / 64.0, "{worst}");
        assert!(
            arguments.called.len() < 10_000,
            "{}",
            arguments.called.len()
        );
        assert_eq!(CallArguments::warning([&arguments].into_iter()), None);
        for n in 0..300_000 {
            let odd = f64::from(n) * 7919.0 % 100_003.0;
            arguments.number(SORT, &[("n", f64::from(n)), ("odd", odd)]);
        }
        assert!(arguments.called.len() <= 4 * STEP as usize);
    }
}
