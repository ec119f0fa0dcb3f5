//! Events: the columns of costs.

use crate::limits::MAX_SAMPLE_TYPES;
use crate::recording::SampleTypeIx;
use crate::units::{SampleType, Unit};
use hashbrown::HashMap;

/// Index of an event of the file.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct EventIx(pub(super) u32);

/// Which numbers of a sample type an event has.
#[derive(Clone, Copy)]
pub(super) enum Numbers {
    /// An event that is counted: as many samples as it has costs.
    Both,
    Values,
    Samples,
}

#[derive(Default)]
pub(super) struct Events {
    names: Vec<String>,
    index: HashMap<String, EventIx>,
    /// By event.
    sums: Vec<u64>,
    titles: HashMap<String, String>,
}

impl Events {
    pub(super) fn of(&mut self, name: &str) -> Result<EventIx, String> {
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

    /// Sees to it that all self costs of an event fit 64 bits.
    pub(super) fn add(&mut self, event: EventIx, cost: u64) -> Result<(), String> {
        let sum = &mut self.sums[event.0 as usize];
        *sum = sum.checked_add(cost).ok_or_else(|| {
            "the costs up to here add up to more than 2^64 - 1; was the file edited?".to_owned()
        })?;
        Ok(())
    }

    /// The sample types, and for each event the one that it has numbers of.
    ///
    /// Of sto's own files, titles tell the unit; numbers of samples follow their values.
    pub(super) fn sample_types(
        self,
        is_ours: bool,
    ) -> (Vec<SampleType>, Vec<(SampleTypeIx, Numbers)>) {
        let mut sample_types: Vec<SampleType> = Vec::new();
        let numbers = self.names.iter().map(|name| {
            let title = self.titles.get(name).filter(|_| is_ours);
            let (event, unit) = title
                .and_then(|title| named_and_unit(title))
                .unwrap_or((name, Unit::Events));
            let counted = title.and_then(|title| title.strip_suffix(" samples"));
            let before = sample_types
                .last()
                .filter(|known| Some(&*known.event) == counted && known.unit != Unit::Samples);
            if before.is_some() {
                return (
                    SampleTypeIx(sample_types.len() as u32 - 1),
                    Numbers::Samples,
                );
            }
            let sample_type = SampleType {
                event: event.to_owned(),
                unit,
            };
            let known = sample_types.iter().position(|known| *known == sample_type);
            let place = known.unwrap_or(sample_types.len());
            if known.is_none() {
                sample_types.push(sample_type);
            }
            let numbers = match (is_ours, unit) {
                (false, _) | (true, Unit::Samples) => Numbers::Both,
                (true, _) => Numbers::Values,
            };
            (SampleTypeIx(place as u32), numbers)
        });
        let numbers = numbers.collect();
        (sample_types, numbers)
    }
}

/// `cpu-clock (ns)`.
fn named_and_unit(title: &str) -> Option<(&str, Unit)> {
    let (event, unit) = title.strip_suffix(')')?.rsplit_once(" (")?;
    let units = [Unit::Samples, Unit::Nanoseconds, Unit::Bytes, Unit::Events];
    let unit = units.into_iter().find(|known| known.name() == unit)?;
    Some((event, unit))
}
