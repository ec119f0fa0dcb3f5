//! Slices compared with a direct implementation of their definition.

use super::{show, show_interned, sliced, store_and_load};
use crate::common::{named_symbols, read_text};
use proptest::prelude::*;
use std::collections::BTreeMap;
use sto_core::recording::{Recording, ThreadIx};
use sto_core::stages::intern;
use sto_core::store::LoadedSlices;
use sto_core::tree::{NodeIx, SliceCost};
use sto_core::units::Cost;

#[derive(Clone, Debug)]
struct Event {
    pid: u32,
    tid: u32,
    time: u64,
    event: bool,
    period: u64,
    stack: Vec<usize>,
}

const SYMBOLS: [&str; 4] = ["a", "b", "c", "d"];

fn events() -> impl Strategy<Value = Vec<Event>> {
    let stack = prop::collection::vec(0..SYMBOLS.len(), 1..4);
    let event = (1u32..3, 1u32..4, 0u64..40, any::<bool>(), 0u64..3, stack);
    let event = event.prop_map(|(pid, tid, time, event, period, stack)| Event {
        pid,
        tid,
        time,
        event,
        period,
        stack,
    });
    prop::collection::vec(event, 1..60)
}

impl Event {
    fn text(&self) -> String {
        let Event {
            pid,
            tid,
            time,
            event,
            period,
            stack,
        } = self;
        let event = ["cycles", "faults"][usize::from(*event)];
        let mut text = format!("t{pid}{tid} {pid}/{tid} 1.{time:09}: {period} {event}:\n");
        for &symbol in stack.iter().rev() {
            text += &format!("\t1 {} (/bin/x)\n", SYMBOLS[symbol]);
        }
        text + "\n"
    }
}

fn recording_of(events: &[Event]) -> Recording {
    let text: String = events.iter().map(Event::text).collect();
    read_text(&text).unwrap()
}

/// The lines of [`show`], computed event by event.
fn by_definition(events: &[Event], slices: u64, event: bool) -> Vec<String> {
    let first = events.iter().map(|event| event.time).min().unwrap();
    let last = events.iter().map(|event| event.time).max().unwrap();
    let length = last - first + 1;
    let mut costs: BTreeMap<(u32, u32, u64, Vec<&str>), Cost> = BTreeMap::new();
    for sample in events.iter().filter(|sample| sample.event == event) {
        let since = sample.time - first;
        // Slice i begins i slice lengths after the first sample.
        let begun = |i: &u64| i * length <= since * slices;
        let slice = (0..slices).filter(begun).max().unwrap();
        let stack = sample.stack.iter().map(|&symbol| SYMBOLS[symbol]).collect();
        *costs
            .entry((sample.pid, sample.tid, slice, stack))
            .or_default() += Cost {
            samples: 1,
            value: sample.period,
        };
    }
    let costs = costs.into_iter();
    costs
        .map(|((pid, tid, slice, stack), cost)| {
            let (stack, Cost { samples, value }) = (stack.join(";"), cost);
            format!("{pid}/{tid} t{pid}{tid} {slice} {stack} {samples} {value}")
        })
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn slices_follow_their_definition(events in events(), slices in 1u32..100) {
        let recording = recording_of(&events);
        let interned = sliced(&recording, slices);
        let loaded = store_and_load(&recording, slices);
        for (sample_type, kind) in recording.sample_types.iter().enumerate() {
            let expected = by_definition(&events, u64::from(slices), kind.event == "faults");
            prop_assert_eq!(&show_interned(&interned, sample_type), &expected);
            let LoadedSlices { frames, tree, slices, .. } = &loaded;
            prop_assert_eq!(&show(frames, tree, slices, sample_type), &expected);
        }
        prop_assert_eq!(Some(loaded.slices), interned.slices);
        prop_assert_eq!(loaded.tree, interned.tree);
    }

    #[test]
    fn slices_add_up_to_the_self_costs(events in events(), slices in 1u32..100) {
        let recording = recording_of(&events);
        let plain = intern(&recording, &named_symbols(&recording), None, |_| true).unwrap();
        let mut sums = vec![BTreeMap::<NodeIx, Cost>::new(); plain.costs.len()];
        let loaded = store_and_load(&recording, slices);
        for (sums, costs) in sums.iter_mut().zip(&loaded.slices.costs) {
            for SliceCost { node, cost, .. } in costs.iter() {
                *sums.entry(node).or_default() += cost;
            }
        }
        let sums: Vec<Vec<_>> = sums.into_iter().map(Vec::from_iter).collect();
        prop_assert_eq!(sums, plain.costs);
    }

    #[test]
    fn result_does_not_depend_on_order(
        (events, order) in events().prop_flat_map(|events| {
            let order = Just((0..events.len()).collect::<Vec<_>>()).prop_shuffle();
            (Just(events), order)
        })
    ) {
        let recording = recording_of(&events);
        let shuffled = recording_of(&events).edit(|shuffled| {
            shuffled.samples = order.iter().map(|&ix| recording.samples[ix]).collect();
            shuffled.threads.reverse();
            let last = shuffled.threads.len() as u32 - 1;
            for sample in &mut shuffled.samples {
                sample.thread = ThreadIx(last - sample.thread.0);
            }
        });
        let shuffled = shuffled.unwrap();
        prop_assert_eq!(sliced(&recording, 7).slices, sliced(&shuffled, 7).slices);
    }
}
