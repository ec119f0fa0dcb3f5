//! What a trace of calls measures.

use crate::units::{SampleType, Unit};

/// The event whose values are the time that calls took without those that they made, in nanoseconds. Its samples are
/// these calls.
pub const WALL: &str = "wall";
/// The same, beside samples of [`WALL`] that were taken in the same threads: calls are then another account of one time.
pub const SPANS: &str = "spans";
/// The event that counts calls.
pub const CALLS: &str = "calls";

/// Whether a sample type is the time of calls, among those of a profile. How many samples a stack has then says how
/// often it was called, and only their value how long that took.
///
/// ```
/// # use sto_model as sto_core;
/// use sto_core::trace::{CALLS, SPANS, WALL, is_time_of_calls};
/// use sto_core::units::{SampleType, Unit};
///
/// let [wall, calls] = [(WALL, Unit::Nanoseconds), (CALLS, Unit::Events)].map(|(event, unit)| SampleType {
///     event: event.to_owned(),
///     unit,
/// });
/// assert!(is_time_of_calls(&wall, &[wall.clone(), calls.clone()]));
/// assert!(!is_time_of_calls(&calls, &[wall.clone(), calls.clone()]));
/// // A profiler that takes a sample now and then has an event of that name too.
/// assert!(!is_time_of_calls(&wall, std::slice::from_ref(&wall)));
/// let spans = SampleType { event: SPANS.to_owned(), ..wall.clone() };
/// assert!(!is_time_of_calls(&wall, &[wall.clone(), spans, calls]));
/// ```
pub fn is_time_of_calls(sample_type: &SampleType, of_profile: &[SampleType]) -> bool {
    let has = |event: &str, unit| {
        let is_it = |known: &SampleType| known.unit == unit && known.event == event;
        of_profile.iter().any(is_it)
    };
    let time = match has(SPANS, Unit::Nanoseconds) {
        true => SPANS,
        false => WALL,
    };
    let is_time = sample_type.unit == Unit::Nanoseconds && sample_type.event == time;
    is_time && has(CALLS, Unit::Events)
}
