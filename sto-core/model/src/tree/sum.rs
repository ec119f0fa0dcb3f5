//! The exact sum of profiles.

use super::{
    ContextIx, LineCost, NodeIx, ProfileData, ProfileThread, SampleContext, SelfCosts, SliceCost,
    SliceCosts, SliceGrid, SliceIx, StackSet, TimeSlices, total_cost,
};
use crate::units::{Cost, Nanoseconds};
use crate::{FrameIx, FrameTable, SourceFileDigest, agreed_digests};
use hashbrown::HashMap;

/// The exact sum of profiles of one program that have the same sample types.
///
/// The sum does not depend on the order of additions, and equals the profile of the concatenated recordings. It has no
/// metrics and calls over time, and no addresses.
#[derive(Clone, Default)]
pub struct ProfileSum {
    frames: FrameTable,
    stacks: StackSet,
    columns: Vec<ColumnSum>,
    grid: Option<SliceGrid>,
    contexts: Vec<SampleContext>,
    context_index: HashMap<SampleContext, u32>,
    sources: Vec<(String, SourceFileDigest)>,
}

/// The costs of one sample type.
#[derive(Clone, Default)]
struct ColumnSum {
    /// The cost of all stacks. No other sum can overflow if this one does not.
    total: Cost,
    /// By stack.
    costs: Vec<Cost>,
    /// Self costs and totals by frame and line.
    lines: HashMap<(FrameIx, u32), (Cost, Cost)>,
    /// By context, slice and stack.
    cells: HashMap<(u32, SliceIx, u32), Cost>,
}

/// The counts of a sum exceed 64 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the counts of all stacks add up to more than 2^64 - 1")]
pub struct SumOverflow;

impl ProfileSum {
    /// Creates an empty sum of this number of sample types. With a grid, whose first time is zero, costs are also added
    /// up by slice of time.
    pub fn new(sample_types: usize, grid: Option<SliceGrid>) -> ProfileSum {
        ProfileSum {
            columns: vec![ColumnSum::default(); sample_types],
            grid,
            ..ProfileSum::default()
        }
    }

    /// The number of distinct stacks, a measure of the memory of the sum.
    pub fn stack_count(&self) -> usize {
        self.stacks.len()
    }

    /// Adds a profile that begins `offset` after the sum does.
    ///
    /// # Errors
    /// Returns an error, and leaves the sum unchanged, if it would overflow.
    ///
    /// # Panics
    /// Panics if the profile has another number of sample types.
    pub fn add(&mut self, part: &ProfileData, offset: Nanoseconds) -> Result<(), SumOverflow> {
        assert_eq!(part.costs.len(), self.columns.len(), "sample types");
        let totals = self.columns.iter().zip(&part.costs);
        let totals = totals.map(|(column, costs)| column.total.checked_add(total_cost(costs)));
        let totals: Vec<Cost> = totals.collect::<Option<_>>().ok_or(SumOverflow)?;
        let frames: Vec<FrameIx> = part
            .frames
            .iter()
            .map(|(_, frame)| self.frames.insert(frame))
            .collect();
        let stacks = self.stacks.insert_tree(&part.tree, &frames);
        for (column, total) in self.columns.iter_mut().zip(totals) {
            column.total = total;
            column.costs.resize(self.stacks.len(), Cost::ZERO);
        }
        for (column, costs) in self.columns.iter_mut().zip(&part.costs) {
            for &(node, cost) in costs {
                column.costs[stacks[node.get()] as usize] += cost;
            }
        }
        for (column, lines) in self.columns.iter_mut().zip(&part.line_costs) {
            for line in lines {
                let key = (frames[line.frame.get()], line.line);
                let (self_cost, total) = column.lines.entry(key).or_default();
                *self_cost += line.self_cost;
                *total += line.total;
            }
        }
        if let Some(grid) = self.grid {
            self.add_slices(part, grid, offset, &stacks);
        }
        let known = part.source_digests.iter();
        self.sources
            .extend(known.map(|(path, digest)| (path.clone(), *digest)));
        Ok(())
    }

    /// Subtracts a profile, such as an earlier reading of counters that only grow. Returns `false` if it has more of
    /// something than the sum, which is then of no use.
    ///
    /// # Panics
    /// Panics if the profile has another number of sample types.
    pub fn subtract(&mut self, part: &ProfileData) -> bool {
        assert_eq!(part.costs.len(), self.columns.len(), "sample types");
        let frames = part.frames.iter();
        let frames: Vec<FrameIx> = frames.map(|(_, frame)| self.frames.insert(frame)).collect();
        let stacks = self.stacks.insert_tree(&part.tree, &frames);
        let parts = part.costs.iter().zip(&part.line_costs);
        self.columns
            .iter_mut()
            .zip(parts)
            .all(|(column, (costs, lines))| {
                column.costs.resize(self.stacks.len(), Cost::ZERO);
                let take = |from: &mut Cost, cost: Cost| {
                    from.checked_sub(cost).map(|left| *from = left).is_some()
                };
                let mut costs = costs.iter();
                let mut lines = lines.iter();
                costs.all(|&(node, cost)| {
                    let sum = &mut column.costs[stacks[node.get()] as usize];
                    take(sum, cost) && take(&mut column.total, cost)
                }) && lines.all(|line| {
                    let key = (frames[line.frame.get()], line.line);
                    let (self_cost, total) = column.lines.entry(key).or_default();
                    take(self_cost, line.self_cost) && take(total, line.total)
                })
            })
    }

    /// Adds the slices of a profile, or its costs to one slice if it has none.
    fn add_slices(
        &mut self,
        part: &ProfileData,
        grid: SliceGrid,
        offset: Nanoseconds,
        stacks: &[u32],
    ) {
        let last = SliceIx(grid.count().get() - 1);
        let slice_at = |time: Nanoseconds| {
            let time = Nanoseconds(offset.0.saturating_add(time.0));
            grid.slice_at(time).unwrap_or(last)
        };
        let Some(slices) = &part.slices else {
            let context = self.context(&SampleContext {
                thread: ProfileThread {
                    pid: 0,
                    tid: 0,
                    name: String::new(),
                },
                labels: [].into(),
            });
            let slice = slice_at(Nanoseconds(0));
            for (column, costs) in self.columns.iter_mut().zip(&part.costs) {
                for &(node, cost) in costs {
                    let key = (context, slice, stacks[node.get()]);
                    *column.cells.entry(key).or_default() += cost;
                }
            }
            return;
        };
        let contexts: Vec<u32> = slices.contexts.iter().map(|c| self.context(c)).collect();
        let starts: Vec<SliceIx> = (0..slices.grid.count().get())
            .map(|slice| slice_at(slices.grid.slice_start(slice)))
            .collect();
        for (column, costs) in self.columns.iter_mut().zip(&slices.costs) {
            for cell in costs.iter() {
                let context = contexts[cell.context.get()];
                let key = (context, starts[cell.slice.get()], stacks[cell.node.get()]);
                *column.cells.entry(key).or_default() += cell.cost;
            }
        }
    }

    fn context(&mut self, context: &SampleContext) -> u32 {
        if let Some(&known) = self.context_index.get(context) {
            return known;
        }
        let new = self.contexts.len() as u32;
        self.contexts.push(context.clone());
        self.context_index.insert(context.clone(), new);
        new
    }

    /// Returns the sum as a profile's data.
    pub fn finish(self) -> ProfileData {
        let has_cost = |stack: usize| {
            let mut columns = self.columns.iter();
            columns.any(|column| column.costs.get(stack).is_some_and(|cost| !cost.is_zero()))
        };
        let (stacks, used) = self
            .stacks
            .used((0..self.stacks.len()).map(has_cost).collect());
        let lines = self.columns.iter().flat_map(|column| column.lines.keys());
        let of_lines = lines.map(|&(frame, _)| frame);
        let ordered = stacks.in_order(&self.frames, of_lines);
        let node_of = |stack: u32| ordered.node_of[used[stack as usize] as usize];
        let costs = self.columns.iter().map(|column| {
            let costs = (0..).zip(&column.costs);
            let mut costs: SelfCosts = costs
                .filter(|(_, cost)| !cost.is_zero())
                .map(|(stack, &cost)| (node_of(stack), cost))
                .collect();
            costs.sort_unstable_by_key(|&(node, _)| node);
            costs
        });
        let lines = self.columns.iter().map(|column| {
            let lines = column.lines.iter();
            let mut lines: Vec<LineCost> = lines
                .filter(|(_, (_, total))| !total.is_zero())
                .map(|(&(frame, line), &(self_cost, total))| LineCost {
                    frame: ordered.frame_of[frame.get()],
                    line,
                    self_cost,
                    total,
                })
                .collect();
            lines.sort_unstable_by_key(|line| (line.frame, line.line));
            lines
        });
        ProfileData {
            costs: costs.collect(),
            line_costs: lines.collect(),
            slices: self.grid.map(|grid| self.slices(grid, node_of)),
            source_digests: agreed_digests(self.sources),
            frames: ordered.frames,
            tree: ordered.tree,
            ..ProfileData::default()
        }
    }

    fn slices(&self, grid: SliceGrid, node_of: impl Fn(u32) -> NodeIx) -> TimeSlices {
        let mut order: Vec<u32> = (0..self.contexts.len() as u32).collect();
        order.sort_unstable_by_key(|&ix| &self.contexts[ix as usize]);
        let mut ranks = vec![ContextIx(0); order.len()];
        for (rank, &ix) in (0..).zip(&order) {
            ranks[ix as usize] = ContextIx(rank);
        }
        let costs = self.columns.iter().map(|column| {
            let cells = column.cells.iter();
            let mut cells: Vec<SliceCost> = cells
                .map(|(&(context, slice, stack), &cost)| SliceCost {
                    context: ranks[context as usize],
                    slice,
                    node: node_of(stack),
                    cost,
                })
                .collect();
            cells.sort_unstable_by_key(|cell| (cell.context, cell.slice, cell.node));
            cells.into_iter().collect::<SliceCosts>()
        });
        TimeSlices {
            grid,
            costs: costs.collect(),
            contexts: order
                .iter()
                .map(|&ix| self.contexts[ix as usize].clone())
                .collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::{SliceCount, StackTree};
    use crate::{Frame, FrameKind};
    use proptest::prelude::*;

    /// A stack of function numbers, the innermost last, and its number of samples.
    type Stack = (Vec<u8>, u64);

    fn data(stacks: &[Stack]) -> ProfileData {
        let (mut frames, mut set) = (FrameTable::new(), StackSet::default());
        let mut costs: Vec<Cost> = Vec::new();
        for (stack, samples) in stacks {
            let mut node = StackSet::NO_CALLER;
            for function in stack {
                let frame = frames.insert(Frame {
                    module: "app",
                    symbol: &format!("f{function}"),
                    kind: FrameKind::User,
                    file: "",
                    line: 0,
                });
                node = set.insert(node, frame);
            }
            costs.resize(set.len(), Cost::ZERO);
            costs[node as usize] += Cost::from_count(*samples);
        }
        let ordered = set.in_order(&frames, []);
        let costs = costs.into_iter().enumerate();
        let costs = costs.filter(|(_, cost)| !cost.is_zero());
        let mut column: SelfCosts = costs
            .map(|(stack, cost)| (ordered.node_of[stack], cost))
            .collect();
        column.sort_unstable_by_key(|&(node, _)| node);
        ProfileData {
            frames: ordered.frames,
            tree: ordered.tree,
            costs: vec![column],
            line_costs: vec![Vec::new()],
            ..ProfileData::default()
        }
    }

    fn sum(parts: &[&ProfileData], grid: Option<SliceGrid>) -> ProfileData {
        let mut sum = ProfileSum::new(1, grid);
        for (second, part) in (0..).zip(parts) {
            sum.add(part, Nanoseconds(second)).unwrap();
        }
        sum.finish()
    }

    fn contents(data: &ProfileData) -> (String, &StackTree, &[SelfCosts], Option<&TimeSlices>) {
        (
            format!("{:?}", data.frames),
            &data.tree,
            &data.costs,
            data.slices.as_ref(),
        )
    }

    fn stacks() -> impl Strategy<Value = Vec<Stack>> {
        let stack = (proptest::collection::vec(0..4u8, 1..5), 1..9u64);
        proptest::collection::vec(stack, 0..8)
    }

    proptest! {
        #[test]
        fn sum_equals_the_profile_of_the_concatenated_stacks(a in stacks(), b in stacks(), c in stacks()) {
            let all = data(&[a.clone(), b.clone(), c.clone()].concat());
            let (a, b, c) = (data(&a), data(&b), data(&c));
            let (in_order, in_other) = (sum(&[&a, &b, &c], None), sum(&[&c, &a, &b], None));
            prop_assert_eq!(contents(&in_order), contents(&all));
            prop_assert_eq!(contents(&in_other), contents(&all));
            let left = sum(&[&sum(&[&a, &b], None), &c], None);
            let right = sum(&[&a, &sum(&[&b, &c], None)], None);
            prop_assert_eq!(contents(&left), contents(&right));
        }

        #[test]
        fn slices_of_a_sum_do_not_depend_on_the_steps(parts in proptest::collection::vec(stacks(), 4)) {
            let grid = |last, count| {
                SliceGrid::new(Nanoseconds(0), Nanoseconds(last), SliceCount::new(count).unwrap())
            };
            let parts: Vec<ProfileData> = parts.iter().map(|part| data(part)).collect();
            let at_once = sum(&parts.iter().collect::<Vec<_>>(), grid(3, 4));
            let halves = parts.chunks(2).map(|two| sum(&[&two[0], &two[1]], grid(1, 2)));
            let mut by_halves = ProfileSum::new(1, grid(3, 4));
            for (offset, half) in [0, 2].into_iter().zip(halves) {
                by_halves.add(&half, Nanoseconds(offset)).unwrap();
            }
            let by_halves = by_halves.finish();
            prop_assert_eq!(contents(&by_halves), contents(&at_once));
        }
    }

    proptest! {
        #[test]
        fn subtracting_a_part_gives_the_other(a in stacks(), b in stacks()) {
            let (a, b) = (data(&a), data(&b));
            let mut difference = ProfileSum::new(1, None);
            difference.add(&a, Nanoseconds(0)).unwrap();
            difference.add(&b, Nanoseconds(0)).unwrap();
            prop_assert!(difference.subtract(&a));
            prop_assert_eq!(&difference.finish().costs, &b.costs);
        }
    }

    #[test]
    fn subtracting_more_than_there_is_fails() {
        let (less, more) = (data(&[(vec![0], 1)]), data(&[(vec![0], 2)]));
        let mut sum = ProfileSum::new(1, None);
        sum.add(&less, Nanoseconds(0)).unwrap();
        assert!(!sum.subtract(&more));
    }

    #[test]
    fn overflow_leaves_the_sum_unchanged() {
        let (most, one) = (data(&[(vec![0], u64::MAX)]), data(&[(vec![1], 1)]));
        let mut sum = ProfileSum::new(1, None);
        sum.add(&most, Nanoseconds(0)).unwrap();
        assert_eq!(sum.add(&one, Nanoseconds(0)), Err(SumOverflow));
        assert_eq!(contents(&sum.finish()), contents(&most));
    }
}
