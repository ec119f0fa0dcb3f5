//! Profile types of Pyroscope: `name:sample_type:unit:period_type:period_unit`.

use sto_core::units::{SampleType, Unit};

/// Label that has the profile type, in selectors and series.
pub(super) const PROFILE_TYPE: &str = "__profile_type__";

/// A profile type, and the event that it shows.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ProfileType {
    pub(super) name: &'static str,
    /// The sample type, its unit, the period's type, and its unit.
    pub(super) parts: [String; 4],
    pub(super) event: String,
    /// Whether it is the number of samples of an event that has values.
    pub(super) by_samples: bool,
}

impl ProfileType {
    /// Returns the profile types of a sample type.
    pub(super) fn from_sample_type(sample_type: &SampleType) -> Vec<ProfileType> {
        let event = &sample_type.event;
        let unit = match sample_type.unit {
            Unit::Nanoseconds => "nanoseconds",
            Unit::Bytes => "bytes",
            _ => "count",
        };
        let (name, period, period_unit) = named(event);
        // Colons separate the parts.
        let shown = event.replace(':', ".");
        let (period, period_unit) = match name {
            "" => (&*shown, unit),
            _ => (period, period_unit),
        };
        let parts = |sample_type: &str, unit: &str| {
            [sample_type, unit, period, period_unit].map(str::to_owned)
        };
        let mut types = vec![ProfileType {
            name,
            parts: parts(&shown, unit),
            event: event.clone(),
            by_samples: false,
        }];
        if event == "cpu" {
            types.push(ProfileType {
                name,
                parts: parts("samples", "count"),
                event: event.clone(),
                by_samples: true,
            });
        }
        types
    }

    pub(super) fn name(&self) -> &str {
        match self.name {
            "" => &self.parts[0],
            name => name,
        }
    }

    pub(super) fn id(&self) -> String {
        format!("{}:{}", self.name(), self.parts.join(":"))
    }
}

/// Returns the name of the kind of profile that has an event, and its period, as Pyroscope names them; empty if the
/// event has a kind of its own.
fn named(event: &str) -> (&'static str, &'static str, &'static str) {
    match event {
        "cpu" | "samples" | "alloc_samples" | "alloc_size" | "exception" | "lock_count"
        | "lock_time" => ("process_cpu", "cpu", "nanoseconds"),
        "alloc_objects" | "alloc_space" | "inuse_objects" | "inuse_space" => {
            ("memory", "space", "bytes")
        }
        "alloc_in_new_tlab_bytes" | "alloc_in_new_tlab_objects" => ("memory", "", ""),
        "contentions" | "delay" => ("mutex", "contentions", "count"),
        "goroutine" => ("goroutine", "goroutine", "count"),
        _ => ("", "", ""),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(event: &str, unit: Unit) -> Vec<String> {
        let event = event.to_owned();
        let types = ProfileType::from_sample_type(&SampleType { event, unit });
        types.iter().map(ProfileType::id).collect()
    }

    #[test]
    fn ids_are_those_that_grafana_knows() {
        assert_eq!(
            ids("cpu", Unit::Nanoseconds),
            [
                "process_cpu:cpu:nanoseconds:cpu:nanoseconds",
                "process_cpu:samples:count:cpu:nanoseconds"
            ]
        );
        assert_eq!(
            ids("inuse_space", Unit::Bytes),
            ["memory:inuse_space:bytes:space:bytes"]
        );
        assert_eq!(
            ids("alloc_in_new_tlab_bytes", Unit::Bytes),
            ["memory:alloc_in_new_tlab_bytes:bytes::"]
        );
        assert_eq!(
            ids("cycles:u", Unit::Events),
            ["cycles.u:cycles.u:count:cycles.u:count"]
        );
    }
}
