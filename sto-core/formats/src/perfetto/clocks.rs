//! Conversion between clocks.

use super::schema::Clock;
use crate::error::Decoded;
use crate::wire::protobuf::Message;
use hashbrown::{HashMap, HashSet};
use std::collections::VecDeque;

/// A clock: the number of its sequence, or 0 if it is global, and its id.
type Domain = (u64, u64);

/// `CLOCK_BOOTTIME`, the default clock.
const BOOTTIME: u64 = 6;
/// `CLOCK_MONOTONIC`.
pub(super) const MONOTONIC: u64 = 3;

/// The simultaneous values of clocks so far.
pub(super) struct Clocks {
    /// The clock that all times are converted to.
    trace: Domain,
    /// Simultaneous values of two clocks, in the file's order.
    known: HashMap<(Domain, Domain), Vec<(i64, i64)>>,
    beside: HashMap<Domain, HashSet<Domain>>,
    /// The clocks through which each clock is converted to the trace's.
    paths: HashMap<Domain, Option<Vec<Domain>>>,
    /// For clocks of sequences, the unit in nanoseconds and, for incremental clocks, the last
    /// value.
    units: HashMap<Domain, (i64, Option<i64>)>,
}

impl Default for Clocks {
    fn default() -> Self {
        Clocks {
            trace: (0, BOOTTIME),
            known: HashMap::new(),
            beside: HashMap::new(),
            paths: HashMap::new(),
            units: HashMap::new(),
        }
    }
}

/// Clocks 64 to 127 belong to their sequence.
fn domain(sequence: u64, clock: u64) -> Domain {
    match clock {
        64..=127 => (sequence, clock),
        _ => (0, clock),
    }
}

impl Clocks {
    /// Adds the simultaneous values in a `ClockSnapshot`.
    pub(super) fn add(&mut self, sequence: u64, mut snapshot: Message<'_>) -> Decoded<()> {
        // Each clock is related to the first one.
        let mut first: Option<(Domain, i64)> = None;
        while let Some(field) = snapshot.next()? {
            match field.number {
                2 => {
                    self.trace = (0, field.number()?);
                    self.paths.clear();
                }
                1 => {
                    let clock = Clock::read(field.message()?)?;
                    let domain = domain(sequence, clock.id);
                    let unit = i64::try_from(clock.unit.max(1)).unwrap_or(i64::MAX);
                    let shown = (clock.timestamp as i64).saturating_mul(unit);
                    let counts = (clock.is_incremental != 0).then_some(shown);
                    self.units.insert(domain, (unit, counts));
                    match first {
                        None => first = Some((domain, shown)),
                        Some(first) => self.relate(first, (domain, shown)),
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn relate(&mut self, one: (Domain, i64), other: (Domain, i64)) {
        for ((from, at), (to, shown)) in [(one, other), (other, one)] {
            self.known.entry((from, to)).or_default().push((at, shown));
            if self.beside.entry(from).or_default().insert(to) {
                self.paths.clear();
            }
        }
    }

    /// Converts a packet's time to the trace's clock, whose id is 0 here. `None` if the clocks are
    /// not related.
    pub(super) fn time(&mut self, sequence: u64, clock: u64, said: u64) -> Option<i64> {
        let domain = match clock {
            0 => self.trace,
            clock => domain(sequence, clock),
        };
        let said = said as i64;
        let time = match self.units.get_mut(&domain) {
            Some((unit, Some(shown))) => {
                *shown = shown.saturating_add(said.saturating_mul(*unit));
                *shown
            }
            Some((unit, None)) => said.saturating_mul(*unit),
            None => said,
        };
        self.by_trace(domain, time)
    }

    fn by_trace(&mut self, clock: Domain, time: i64) -> Option<i64> {
        if clock == self.trace {
            return Some(time);
        }
        if !self.paths.contains_key(&clock) {
            let path = self.path(clock);
            self.paths.insert(clock, path);
        }
        let path = self.paths.get(&clock)?.as_ref()?;
        let steps = [clock].into_iter().chain(path.iter().copied());
        let mut time = time;
        for (from, &to) in steps.zip(path) {
            let shown = self.known.get(&(from, to))?;
            // Usually the last one, because the file is roughly in order of time.
            let before = shown.iter().rfind(|&&(at, _)| at <= time);
            let &(at, other) = before.or(shown.first())?;
            time = time.saturating_sub(at).saturating_add(other);
        }
        Some(time)
    }

    /// The shortest chain of clocks from one to the trace's.
    fn path(&self, clock: Domain) -> Option<Vec<Domain>> {
        let mut from: HashMap<Domain, Domain> = HashMap::new();
        let mut next = VecDeque::from([clock]);
        while let Some(here) = next.pop_front() {
            if here == self.trace {
                let mut path = vec![here];
                while let Some(&before) = from.get(path.last()?)
                    && before != clock
                {
                    path.push(before);
                }
                path.reverse();
                return Some(path);
            }
            let mut beside: Vec<Domain> = self
                .beside
                .get(&here)
                .into_iter()
                .flatten()
                .copied()
                .collect();
            beside.sort_unstable();
            for other in beside {
                if other != clock && !from.contains_key(&other) {
                    from.insert(other, here);
                    next.push_back(other);
                }
            }
        }
        None
    }
}
