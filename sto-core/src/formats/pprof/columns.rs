//! Which numbers of a sample make which costs.

use super::damage::Damage;
use super::schema::{Profile, ValueType};
use crate::formats::named::NamedStacks;
use crate::limits::MAX_SAMPLE_TYPES;
use crate::units::{Cost, SampleType, Unit};

/// A sample type, and where in a sample its cost stands.
pub(super) struct Column {
    pub(super) sample_type: SampleType,
    /// Place of the value.
    value: usize,
    /// What one of the file's units is of ours: 1000 for microseconds.
    factor: u64,
    samples: Samples,
    /// Whether another type counts its samples in the same place.
    is_shared: bool,
}

/// How a column knows the number of samples.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Samples {
    /// The value at this place is their number.
    Counted(usize),
    /// One sample stands for this much of the value.
    Period(u64),
    /// The file does not tell: an entry of the file is one.
    Untold,
}

/// The sample types of a profile, the default one first.
///
/// Profilers write a number of samples, or of other things, before what these stand for: `samples`
/// before `cpu`, `alloc_objects` before `alloc_space`. So a type's samples are counted in the column
/// of counts before it. One that is called `samples` is nothing but that: our costs have both
/// numbers.
pub(super) fn columns(
    profile: &Profile<'_>,
    stacks: &mut NamedStacks,
) -> Result<Vec<Column>, Damage> {
    let types = &profile.sample_types;
    if types.is_empty() {
        return Err(Damage::new(0, "expected sample types, found none"));
    }
    let name = |value_type: ValueType| profile.text(value_type.kind);
    let mut columns: Vec<Column> = Vec::new();
    let mut default = 0;
    let default_name = profile.text(profile.default_sample_type)?;
    let mut counted = None;
    let mut sample_count = None;
    for (place, &value_type) in types.iter().enumerate() {
        let (event, unit) = (name(value_type)?, profile.text(value_type.unit)?);
        let is_default = match default_name {
            b"" => place + 1 == types.len(),
            name => name == event,
        };
        if is_default {
            default = columns.len();
        }
        let next = types.get(place + 1).map(|&next| name(next)).transpose()?;
        if unit == b"count" && counts_samples(event) && next.is_some_and(|n| !counts_samples(n)) {
            (counted, sample_count) = (Some(place), Some(place));
            continue;
        }
        if unit == b"count" {
            counted = sample_count.or(Some(place));
        }
        let (unit, factor, is_known) = unit_of(event, unit);
        let mut event = stacks.text(event).into_owned();
        if !is_known {
            let unit = stacks.text(profile.text(value_type.unit)?);
            event = format!("{event}/{unit}");
        }
        let samples = match (counted, profile.period_type) {
            (Some(place), _) => Samples::Counted(place),
            (None, Some(period)) if profile.period > 0 && name(period)? == name(value_type)? => {
                Samples::Period(profile.period)
            }
            _ => Samples::Untold,
        };
        columns.push(Column {
            sample_type: SampleType { event, unit },
            value: place,
            factor,
            samples,
            is_shared: false,
        });
    }
    if columns.len() > MAX_SAMPLE_TYPES {
        let problem = format!(
            "{} sample types; profiles of up to {MAX_SAMPLE_TYPES} are read",
            columns.len()
        );
        return Err(Damage::new(0, problem));
    }
    for place in 0..columns.len() {
        let sharing = columns.iter().filter(|other| {
            matches!(other.samples, Samples::Counted(_)) && other.samples == columns[place].samples
        });
        columns[place].is_shared = sharing.count() > 1;
    }
    columns[..=default].rotate_right(1);
    Ok(columns)
}

/// Whether a sample type of this name is the number of samples: `samples`, `cycles_sample`.
fn counts_samples(name: &[u8]) -> bool {
    let name = name.strip_suffix(b"s").unwrap_or(name);
    let before = name.strip_suffix(b"sample");
    before.is_some_and(|before| matches!(before.last(), None | Some(b'_' | b'-')))
}

/// Our unit, how many of it one of theirs is, and whether ours says as much as theirs did.
///
/// Source of the names: `internal/measurement` of pprof, where a kilobyte has 1024 bytes.
fn unit_of(event: &[u8], unit: &[u8]) -> (Unit, u64, bool) {
    let (unit, factor) = match unit {
        b"nanoseconds" | b"nanosecond" | b"ns" => (Unit::Nanoseconds, 1),
        b"microseconds" | b"microsecond" | b"us" => (Unit::Nanoseconds, 1_000),
        b"milliseconds" | b"millisecond" | b"ms" => (Unit::Nanoseconds, 1_000_000),
        b"seconds" | b"second" | b"s" => (Unit::Nanoseconds, 1_000_000_000),
        b"bytes" | b"byte" | b"B" => (Unit::Bytes, 1),
        b"kilobytes" | b"kilobyte" | b"kB" | b"KiB" => (Unit::Bytes, 1 << 10),
        b"megabytes" | b"megabyte" | b"MB" | b"MiB" => (Unit::Bytes, 1 << 20),
        b"count" if counts_samples(event) => (Unit::Samples, 1),
        b"count" | b"" => (Unit::Events, 1),
        _ => return (Unit::Events, 1, false),
    };
    (unit, factor, true)
}

impl Column {
    /// The cost that the values of a sample make; `None` where they say that there is none.
    pub(super) fn cost(&self, values: &[u64], at: usize) -> Result<Option<Cost>, Damage> {
        let value = checked(values[self.value], at)?;
        let samples = match self.samples {
            Samples::Counted(place) => checked(values[place], at)?,
            Samples::Period(period) => value.div_ceil(period),
            Samples::Untold => u64::from(value > 0),
        };
        if value == 0 && (samples == 0 || self.is_shared) {
            return Ok(None);
        }
        let value = value.checked_mul(self.factor).ok_or_else(|| {
            let unit = self.sample_type.unit.name();
            let problem = format!(
                "a value of {value} times {} {unit}, which is more than 2^64 - 1",
                self.factor
            );
            Damage::new(at, problem)
        })?;
        Ok(Some(Cost { samples, value }))
    }
}

/// A value, which the schema lets be negative.
fn checked(value: u64, at: usize) -> Result<u64, Damage> {
    match value as i64 {
        ..0 => Err(Damage::new(
            at,
            format!(
                "the value {}; expected 0 or more: profiles with negative values are differences of \
                 two (`-base`, `-diff_base`); give the two that it was made of",
                value as i64
            ),
        )),
        _ => Ok(value),
    }
}
