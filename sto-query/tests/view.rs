//! Views of several runs: sample types and columns.

use crate::views::{folded, view_of};
use sto_core::units::{Cost, SampleType, Unit};

fn event(name: &str) -> SampleType {
    SampleType {
        event: name.to_owned(),
        unit: Unit::Events,
    }
}

fn samples(costs: &[Cost]) -> Vec<u64> {
    costs.iter().map(|cost| cost.samples).collect()
}

#[test]
fn runs_with_different_events_have_aligned_columns() {
    let (few, many) = (folded("a 1\na;b 2", 1), folded("a;b 5\na;c 6", 1));
    let runs = [
        vec![(event("faults"), &few), (event("cycles"), &many)],
        vec![(event("cycles"), &few)],
    ];
    let view = view_of("v1", &runs);
    assert_eq!(view.sample_types, [event("cycles"), event("faults")]);
    assert_eq!(samples(&view.self_costs(0)), [1, 7, 6]);
    assert_eq!(samples(&view.self_costs(1)), [1, 2, 0]);
    assert!(
        view.runs[1][1].is_empty(),
        "the second run did not count faults"
    );
    assert_eq!(
        samples(&view.self_costs(2)),
        [0, 0, 0],
        "there is no third sample type"
    );
}

#[test]
fn events_with_equal_samples_keep_their_order() {
    let stacks = folded("a 4", 1);
    let view = view_of("v1", &[vec![(event("z"), &stacks), (event("b"), &stacks)]]);
    assert_eq!(view.sample_types, [event("z"), event("b")]);
}

#[test]
fn columns_of_one_event_are_added() {
    let (first, second) = (folded("a 1\na;b 2", 1), folded("a;b 3\na;c 4", 1));
    let view = view_of(
        "v1",
        &[vec![(event("cycles"), &first), (event("cycles"), &second)]],
    );
    assert_eq!(view.sample_types, [event("cycles")]);
    assert_eq!(samples(&view.self_costs(0)), [1, 5, 4]);
    assert_eq!(view.runs[0][0].len(), 3, "no node is twice in a column");
}
