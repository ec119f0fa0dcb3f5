//! The events measured by call traces.

use crate::units::{SampleType, Unit};

/// The event for the self time of calls in nanoseconds. Each call is a sample.
pub const WALL_EVENT: &str = "wall";
/// The event for the self time of calls in recordings that also have sampled [`WALL_EVENT`] time of the same threads.
pub const SPANS_EVENT: &str = "spans";
/// The event that counts calls.
pub const CALLS_EVENT: &str = "calls";

/// Returns `true` if a sample type of a profile is the time of calls. The number of samples of a stack is then the
/// number of its calls, and the value is their time.
///
/// ```
/// # use sto_model as sto_core;
/// use sto_core::trace::{CALLS_EVENT, SPANS_EVENT, WALL_EVENT, is_call_time};
/// use sto_core::units::{SampleType, Unit};
///
/// let [wall, calls] = [(WALL_EVENT, Unit::Nanoseconds), (CALLS_EVENT, Unit::Events)].map(|(event, unit)| SampleType {
///     event: event.to_owned(),
///     unit,
/// });
/// assert!(is_call_time(&wall, &[wall.clone(), calls.clone()]));
/// assert!(!is_call_time(&calls, &[wall.clone(), calls.clone()]));
/// // A sampling profiler can have an event of the same name.
/// assert!(!is_call_time(&wall, std::slice::from_ref(&wall)));
/// let spans = SampleType { event: SPANS_EVENT.to_owned(), ..wall.clone() };
/// assert!(!is_call_time(&wall, &[wall.clone(), spans, calls]));
/// ```
pub fn is_call_time(sample_type: &SampleType, profile_types: &[SampleType]) -> bool {
    let has = |event: &str, unit| {
        profile_types
            .iter()
            .any(|known| known.unit == unit && known.event == event)
    };
    let time_event = if has(SPANS_EVENT, Unit::Nanoseconds) {
        SPANS_EVENT
    } else {
        WALL_EVENT
    };
    let is_time = sample_type.unit == Unit::Nanoseconds && sample_type.event == time_event;
    is_time && has(CALLS_EVENT, Unit::Events)
}
