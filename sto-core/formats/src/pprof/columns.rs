//! Which numbers of a sample make which costs.

use super::schema::{Named, Profile};
use crate::error::{DecodeError, Decoded};
use crate::names::nanoseconds_in;
use crate::recording::RecordingBuilder;
use sto_model::limits::MAX_SAMPLE_TYPES;
use sto_model::units::{Cost, SampleType, Unit};

/// A sample type, and where in a sample its cost stands.
pub(crate) struct Column {
    pub(crate) sample_type: SampleType,
    value: usize,
    /// What one of the file's units is of ours: 1000 for microseconds.
    factor: u64,
    samples: Samples,
    /// Whether another type counts its samples in the same index.
    is_shared: bool,
}

/// How a column knows the number of samples.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Samples {
    /// The value at this index is their number.
    Counted(usize),
    /// One sample stands for this much of the value.
    Period(u64),
    /// Nothing says it: an entry of the file is one.
    Unknown,
}

/// What the values of a sample are, as a file says it.
pub(crate) struct Measured<'b> {
    pub(crate) types: Vec<Named<'b>>,
    /// Name of the type to show; empty for the last.
    pub(crate) default: &'b [u8],
    /// The event that samples were taken by, and how much of it is from one to the next.
    pub(crate) period: Option<(Named<'b>, u64)>,
}

impl<'b> Measured<'b> {
    pub(super) fn of(profile: &Profile<'b>) -> Decoded<Measured<'b>> {
        let types = profile.sample_types.iter();
        Ok(Measured {
            types: types
                .map(|value_type| profile.named(value_type))
                .collect::<Decoded<_>>()?,
            default: profile.text(profile.default_sample_type)?,
            period: profile.period_of(&profile.period_type, profile.period)?,
        })
    }
}

/// The sample types of a profile, the default one first.
///
/// Profilers write a number of samples, or of other things, before what these stand for: `samples`
/// before `cpu`, `alloc_objects` before `alloc_space`. So a type's samples are counted in the column
/// of counts before it. One that is called `samples` is nothing but that: our costs have both
/// numbers.
pub(crate) fn columns(
    measured: &Measured<'_>,
    stacks: &mut RecordingBuilder,
) -> Decoded<Vec<Column>> {
    let types = &measured.types;
    if types.is_empty() {
        return Err(DecodeError::new(0, "expected sample types, found none"));
    }
    let mut default = None;
    let mut columns: Vec<Column> = Vec::new();
    // Where samples were last counted, and where by a column that does nothing else.
    let (mut counted, mut sample_count) = (None, None);
    for (index, &(event, unit)) in types.iter().enumerate() {
        if event == measured.default || (measured.default.is_empty() && index + 1 == types.len()) {
            default = default.or(Some(columns.len()));
        }
        // A type that says nothing is none.
        if event.is_empty() && unit.is_empty() && types.len() > 1 {
            continue;
        }
        let is_sample_count =
            |&(event, unit): &(&[u8], &[u8])| unit == b"count" && counts_samples(event);
        let next = types.get(index + 1);
        if is_sample_count(&(event, unit)) && next.is_some_and(|next| !is_sample_count(next)) {
            (counted, sample_count) = (Some(index), Some(index));
            continue;
        }
        match unit {
            b"count" | b"events" | b"" => counted = sample_count.or(Some(index)),
            // Samples count themselves, unless a column before them does nothing else.
            b"samples" if sample_count.is_none_or(|count| count + 1 != index) => {
                counted = Some(index)
            }
            _ => {}
        }
        let samples = match counted {
            Some(index) => Samples::Counted(index),
            None => match measured.period {
                Some((of, period)) if of == (event, unit) => Samples::Period(period),
                _ => Samples::Unknown,
            },
        };
        let (our_unit, factor) = unit_of(event, unit).unwrap_or((Unit::Events, 1));
        let mut name = stacks.text(event).into_owned();
        if unit_of(event, unit).is_none() {
            name = format!("{name}/{}", stacks.text(unit));
        }
        columns.push(Column {
            sample_type: SampleType {
                event: name,
                unit: our_unit,
            },
            value: index,
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
        return Err(DecodeError::new(0, problem));
    }
    for index in 0..columns.len() {
        let Samples::Counted(_) = columns[index].samples else {
            continue;
        };
        let sharing = columns
            .iter()
            .filter(|other| other.samples == columns[index].samples);
        columns[index].is_shared = sharing.count() > 1;
    }
    columns[..=default.unwrap_or(0)].rotate_right(1);
    Ok(columns)
}

/// Whether a sample type of this name is the number of samples: `samples`, `cycles_sample`.
fn counts_samples(name: &[u8]) -> bool {
    let name = name.strip_suffix(b"s").unwrap_or(name);
    let before = name.strip_suffix(b"sample");
    before.is_some_and(|before| matches!(before.last(), None | Some(b'_' | b'-')))
}

/// Our unit, and how many of it one of theirs is; `None` for units of which ours know nothing.
///
/// Source of the names: `internal/measurement` of pprof, where a kilobyte has 1024 bytes.
fn unit_of(event: &[u8], unit: &[u8]) -> Option<(Unit, u64)> {
    Some(match unit {
        b"bytes" | b"byte" | b"B" => (Unit::Bytes, 1),
        b"kilobytes" | b"kilobyte" | b"kB" | b"KiB" => (Unit::Bytes, 1 << 10),
        b"megabytes" | b"megabyte" | b"MB" | b"MiB" => (Unit::Bytes, 1 << 20),
        b"samples" => (Unit::Samples, 1),
        b"count" if counts_samples(event) => (Unit::Samples, 1),
        b"count" | b"events" | b"" => (Unit::Events, 1),
        time => (Unit::Nanoseconds, nanoseconds_in(time)?),
    })
}

impl Column {
    /// The cost that the values of a sample make; `None` where they say that there is none.
    pub(crate) fn cost(&self, values: &[u64], at: usize) -> Decoded<Option<Cost>> {
        let value = checked(values[self.value], at)?;
        let samples = match self.samples {
            Samples::Counted(index) => checked(values[index], at)?,
            Samples::Period(period) => value.div_ceil(period),
            Samples::Unknown => u64::from(value > 0),
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
            DecodeError::new(at, problem)
        })?;
        Ok(Some(Cost { samples, value }))
    }
}

/// A value, which the schema lets be negative.
pub(crate) fn checked(value: u64, at: usize) -> Decoded<u64> {
    match value as i64 {
        ..0 => Err(DecodeError::new(
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
