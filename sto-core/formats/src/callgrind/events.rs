//! Events: the columns of costs.

use crate::recording::{RecordingBuilder, SampleTypeIx};
use hashbrown::HashMap;
use sto_model::index_types;
use sto_model::limits::MAX_SAMPLE_TYPES;
use sto_model::units::Unit;

index_types! { pub(super) EventIx; }

/// How an event's costs become numbers of a sample type.
#[derive(Clone, Copy)]
pub(super) enum Numbers {
    /// A counted event: the cost is both the number of samples and the value.
    Both,
    Values,
    Samples,
    /// The value in units of this many of the sample type's, without a number of samples.
    Scaled(u64),
}

/// Units of events of other writers: Xdebug, and ruby-prof's microseconds.
const SCALED: [(&str, &str, Unit, u64); 4] = [
    ("Time_(10ns)", "time", Unit::Nanoseconds, 10),
    ("Memory_(bytes)", "memory", Unit::Bytes, 1),
    ("wall_time", "wall", Unit::Nanoseconds, 1000),
    ("process_time", "cpu", Unit::Nanoseconds, 1000),
];

#[derive(Default)]
pub(super) struct Events {
    names: Vec<String>,
    index: HashMap<String, EventIx>,
    /// Sum of each event.
    sums: Vec<u64>,
    titles: HashMap<String, String>,
}

impl Events {
    pub(super) fn find_or_add(&mut self, name: &str) -> Result<EventIx, String> {
        if let Some(&known) = self.index.get(name) {
            return Ok(known);
        }
        if self.names.len() == MAX_SAMPLE_TYPES {
            return Err(format!("files of up to {MAX_SAMPLE_TYPES} events are read"));
        }
        let ix = EventIx(self.names.len() as u32);
        self.names.push(name.to_owned());
        self.index.insert(name.to_owned(), ix);
        self.sums.push(0);
        Ok(ix)
    }

    pub(super) fn describe(&mut self, name: &str, title: String) {
        self.titles.insert(name.to_owned(), title);
    }

    /// Adds to an event's sum, which must fit 64 bits.
    pub(super) fn add(&mut self, event: EventIx, cost: u64) -> Result<(), String> {
        let sum = &mut self.sums[event.get()];
        *sum = sum.checked_add(cost).ok_or_else(|| {
            "the costs up to here add up to more than 2^64 - 1; was the file edited?".to_owned()
        })?;
        Ok(())
    }

    /// Adds the sample types. Returns, for each event, its sample type and which of its numbers the
    /// event is.
    ///
    /// In files written by sto, titles have the unit, and numbers of samples follow their values.
    pub(super) fn sample_types(
        self,
        is_ours: bool,
        builder: &mut RecordingBuilder,
    ) -> Vec<(SampleTypeIx, Numbers)> {
        let numbers = self.names.iter().map(|name| {
            let scaled = SCALED.iter().find(|(known, ..)| name == known);
            if let Some(&(_, event, unit, factor)) = scaled.filter(|_| !is_ours) {
                return (builder.sample_type(event, unit), Numbers::Scaled(factor));
            }
            let title = self.titles.get(name).filter(|_| is_ours);
            let named = title.and_then(|title| named_and_unit(title));
            let (event, unit) = named.unwrap_or((name, Unit::Events));
            let counted = title.and_then(|title| title.strip_suffix(" samples"));
            if let Some(last) = builder.sample_types.last()
                && Some(&*last.event) == counted
                && last.unit != Unit::Samples
            {
                let last = builder.sample_types.len() as u32 - 1;
                return (SampleTypeIx(last), Numbers::Samples);
            }
            let numbers = match (is_ours, unit) {
                (false, _) | (true, Unit::Samples) => Numbers::Both,
                (true, _) => Numbers::Values,
            };
            (builder.sample_type(event, unit), numbers)
        });
        numbers.collect()
    }
}

/// Splits `cpu-clock (ns)`.
fn named_and_unit(title: &str) -> Option<(&str, Unit)> {
    let (event, unit) = title.strip_suffix(')')?.rsplit_once(" (")?;
    Some((event, unit.parse().ok()?))
}
