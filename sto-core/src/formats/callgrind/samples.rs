//! Samples of the stacks of all threads and events.

use super::events::{EventIx, Numbers};
use super::graph::Graph;
use super::stacks::{Divided, divide};
use crate::recording::{LocationIx, RecordingBuilder, RecordingError, SampleTypeIx, ThreadIx};
use crate::units::Cost;

/// How many pieces the costs of all graphs are divided into at most; each function with a cost has one anyway.
const MAX_PIECES: usize = 1 << 21;

/// Adds the samples, and returns what to say of how their stacks were made.
pub(super) fn add(
    graphs: Vec<Vec<(EventIx, Graph)>>,
    numbers: &[(SampleTypeIx, Numbers)],
    frames: &[LocationIx],
    builder: &mut RecordingBuilder,
) -> Result<Vec<String>, RecordingError> {
    let mut first_event = Divided::default();
    let mut pieces_left = MAX_PIECES;
    for (thread, graphs) in (0..).map(ThreadIx).zip(graphs) {
        for (event, graph) in graphs {
            let (sample_type, numbers) = numbers[event.0 as usize];
            let add = |builder: &mut RecordingBuilder, stack, cost| {
                let mut cost = Cost::counted(cost);
                match numbers {
                    Numbers::Both => {}
                    Numbers::Values => cost.samples = 0,
                    Numbers::Samples => cost.value = 0,
                }
                builder.add_cost(thread, sample_type, stack, cost)
            };
            let divided = divide(&graph, pieces_left, frames, builder, add)?;
            pieces_left = pieces_left.saturating_sub(divided.pieces);
            if sample_type == SampleTypeIx(0) && !matches!(numbers, Numbers::Samples) {
                first_event.add(&divided);
            }
        }
    }
    Ok(first_event.warnings())
}

impl Divided {
    fn add(&mut self, other: &Divided) {
        self.cost += other.cost;
        self.estimated += other.estimated;
        self.moved += other.moved;
        self.has_recursion |= other.has_recursion;
    }

    fn warnings(&self) -> Vec<String> {
        let percent = |part: f64| 100.0 * part / self.cost as f64;
        let mut warnings = Vec::new();
        if self.estimated > 0 {
            warnings.push(format!(
                "Callgrind keeps calls, not stacks: of {:.1} % of all cost the stacks are an estimate, as \
                 functions with several callers were divided by what their calls cost. Functions and their \
                 totals are exact{}. Record with --separate-callers=10 for exact stacks.",
                percent(self.estimated as f64),
                if self.has_recursion { ", but for recursion" } else { "" }
            ));
        }
        if percent(self.moved) >= 0.1 {
            warnings.push(format!(
                "There are more paths of calls than are kept: {:.1} % of all cost was moved to larger \
                 stacks of the same function.",
                percent(self.moved)
            ));
        }
        warnings
    }
}
