//! Adds up the costs of each source line.

use super::stack_costs::StackCosts;
use crate::symbolize::{CodeLineIx, Symbols};
use sto_formats::recording::{Recording, StackIx, Walk};
use sto_model::units::Cost;

/// The costs of one line in one sample type.
pub(super) struct LineSum {
    pub(super) line: CodeLineIx,
    /// The last stack whose total was added. Its callees are skipped, so that a line is counted once per sample even if
    /// it is on the stack several times.
    last: StackIx,
    pub(super) self_cost: Cost,
    pub(super) total: Cost,
}

/// Returns for each sample type the costs of all lines with costs, including unknown lines, in no particular order.
pub(super) fn line_costs(
    recording: &Recording,
    symbols: &Symbols,
    costs: &StackCosts,
) -> Vec<Vec<LineSum>> {
    const NONE: u32 = u32::MAX;
    // For each line the index of its sum. The sums are separate because the profile of one program in a large recording
    // has few of the recording's lines.
    let mut index_of = vec![NONE; symbols.lines.len()];
    let mut walk = Walk::new(&recording.stacks);
    let by_type = costs.iter().map(|costs| {
        let mut sums: Vec<LineSum> = Vec::new();
        walk.visit(costs, |visit| {
            let mut leaf = None;
            for &location in recording.stacks.own_locations(visit.stack) {
                for &line in symbols.code_lines(location) {
                    let index = &mut index_of[line.get()];
                    if *index == NONE {
                        *index = sums.len() as u32;
                        sums.push(LineSum {
                            line,
                            last: StackIx(NONE),
                            self_cost: Cost::ZERO,
                            total: Cost::ZERO,
                        });
                    }
                    let sum = &mut sums[*index as usize];
                    if !visit.is_within(sum.last) {
                        sum.last = visit.stack;
                        sum.total += visit.total;
                    }
                    leaf = Some(*index);
                }
            }
            if let Some(leaf) = leaf {
                sums[leaf as usize].self_cost += visit.own;
            }
        });
        for sum in &sums {
            index_of[sum.line.get()] = NONE;
        }
        sums
    });
    by_type.collect()
}
