//! Conversion of the values of a sample to costs.

use super::schema::{Named, Profile};
use crate::error::{DecodeError, Decoded};
use crate::names::nanoseconds_in;
use crate::recording::RecordingBuilder;
use sto_model::limits::MAX_SAMPLE_TYPES;
use sto_model::units::{Cost, SampleType, Unit};

/// A sample type and the index of its value in a sample.
pub(crate) struct Column {
    pub(crate) sample_type: SampleType,
    value: usize,
    /// Factor from the file's unit to ours: 1000 for microseconds.
    factor: u64,
    samples: Samples,
    /// Whether another sample type gets its number of samples from the same index.
    is_shared: bool,
}

/// Source of a column's number of samples.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Samples {
    /// The value at this index.
    Counted(usize),
    /// The value divided by this period.
    Period(u64),
    /// Unknown: each entry of the file counts as one sample.
    Unknown,
}

/// The description of a sample's values in a file.
pub(crate) struct ValueInfo<'b> {
    pub(crate) types: Vec<Named<'b>>,
    /// Name of the type to show by default; empty for the last.
    pub(crate) default: &'b [u8],
    /// The sampling event, and its period.
    pub(crate) period: Option<(Named<'b>, u64)>,
}

impl<'b> ValueInfo<'b> {
    pub(super) fn new(profile: &Profile<'b>) -> Decoded<ValueInfo<'b>> {
        let types = profile.sample_types.iter();
        Ok(ValueInfo {
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
/// Profilers write a number of samples (or objects) before the value they stand for: `samples`
/// before `cpu`, `alloc_objects` before `alloc_space`. The samples of a type are therefore taken
/// from the nearest column of counts before it. A column named `samples` is only that and becomes
/// no sample type, because a cost has both numbers.
pub(crate) fn columns(
    measured: &ValueInfo<'_>,
    stacks: &mut RecordingBuilder,
) -> Decoded<Vec<Column>> {
    let types = &measured.types;
    if types.is_empty() {
        return Err(DecodeError::new(0, "expected sample types, found none"));
    }
    let mut default = None;
    let mut columns: Vec<Column> = Vec::new();
    // The last column with counts, and the last column that is only a number of samples.
    let (mut counted, mut sample_count) = (None, None);
    for (index, &(event, unit)) in types.iter().enumerate() {
        if event == measured.default || (measured.default.is_empty() && index + 1 == types.len()) {
            default = default.or(Some(columns.len()));
        }
        // Skip a type without name and unit.
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
            // Samples count themselves, unless the column before is their number.
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

/// Returns `true` for names of a number of samples: `samples`, `cycles_sample`.
fn counts_samples(name: &[u8]) -> bool {
    let name = name.strip_suffix(b"s").unwrap_or(name);
    let before = name.strip_suffix(b"sample");
    before.is_some_and(|before| matches!(before.last(), None | Some(b'_' | b'-')))
}

/// Our unit, and the factor from the file's unit to it; `None` for unknown units.
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
    /// The cost of a sample's values; `None` if it is zero.
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

/// Checks that a value is not negative, as the schema allows.
pub(crate) fn checked(value: u64, at: usize) -> Decoded<u64> {
    match value as i64 {
        ..0 => Err(DecodeError::new(
            at,
            format!(
                "the value {}; expected 0 or more: profiles with negative values are differences of \
                 two (`-base`, `-diff_base`); use the two profiles it was made from",
                value as i64
            ),
        )),
        _ => Ok(value),
    }
}
