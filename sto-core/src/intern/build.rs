//! Building the tree of one profile out of its samples.

use super::line_costs::{LineSum, line_costs};
use super::slice_costs::{grid, slice_costs};
use super::{LineCost, NodeIx, SelfCosts, SliceCount, Slices, StackTree};
use crate::formats::{Recording, Sample, StackIx};
use crate::limits::MAX_DEPTH;
use crate::model::{FrameIx, FrameTable};
use crate::symbolize::Symbols;
use crate::units::Cost;
use hashbrown::HashTable;
use rayon::prelude::*;
use std::hash::BuildHasher;

/// One profile as one tree: what the store takes.
#[derive(Clone, Debug, Default)]
pub struct Interned {
    /// The frames of this profile, in the order of [`FrameTable::ranks`].
    pub frames: FrameTable,
    /// The stacks; children stand in the order of their frames.
    pub tree: StackTree,
    /// Self costs by sample type.
    pub costs: Vec<SelfCosts>,
    /// Line costs by sample type, in the order of frame and line; lines that are unknown (0) are
    /// left out.
    pub lines: Vec<Vec<LineCost>>,
    /// Costs by context and slice of time, where they are kept.
    pub slices: Option<Slices>,
}

/// Why samples cannot be interned.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InternError {
    /// A sum of counts leaves 64 bits.
    #[error(
        "the counts of all stacks add up to more than 2^64 - 1; the recording's periods cannot be right"
    )]
    Overflow,
    /// A sample has no frame at all.
    #[error("a sample has no frame, not even an unknown one; its reader must put one")]
    EmptyStack,
    /// A stack is deeper than [`MAX_DEPTH`].
    #[error(
        "a stack has {0} frames, inlined ones among them; stacks of up to {MAX_DEPTH} are stored. Record with a smaller limit of the stack's depth"
    )]
    TooDeep(usize),
    /// The tree has more nodes than 32 bits count.
    #[error("the stacks are more than 2^32 - 1 nodes together; record for a shorter time")]
    TooLarge,
    /// Time is to be cut into slices, but samples have no time stamp.
    #[error(
        "{} time stamp, so that time cannot be cut into slices; ingest it without --slices, or with \
         --slices 1, which leaves it whole",
        if *all { "no sample has a" } else { "some samples have no" }
    )]
    NoTime {
        /// Whether no sample has one.
        all: bool,
    },
}

/// Builds the tree of those samples of a recording that `keep` says are part of the profile.
///
/// The result depends on the kept samples alone: not on their order, nor on the number of cores.
/// Samples without any cost are left out.
///
/// # Errors
/// Where the counts of a sample type, or the samples of all of them, add up to more than 64 bits, a
/// sample has no frame or too many, or the tree leaves 32 bits.
pub fn intern(
    recording: &Recording,
    symbols: &Symbols,
    keep: impl Fn(&Sample) -> bool,
) -> Result<Interned, InternError> {
    Ok(build(recording, symbols, keep)?.0)
}

/// As [`intern`], and keeps costs by context and slice of time too.
///
/// The time that is cut is that of the whole recording, whatever samples are kept.
///
/// # Errors
/// As [`intern`], and where a sample of the recording has no time stamp, unless there is one slice.
pub fn intern_with_slices(
    recording: &Recording,
    symbols: &Symbols,
    count: SliceCount,
    keep: impl Fn(&Sample) -> bool + Copy,
) -> Result<Interned, InternError> {
    let grid = grid(recording, count)?;
    let (interned, nodes) = build(recording, symbols, keep)?;
    Ok(Interned {
        slices: Some(slice_costs(recording, &nodes, grid, keep)),
        ..interned
    })
}

fn build(
    recording: &Recording,
    symbols: &Symbols,
    keep: impl Fn(&Sample) -> bool,
) -> Result<(Interned, StackNodes), InternError> {
    let costs = costs_by_stack(recording, keep)?;
    let (tree, lines) = rayon::join(
        || {
            let stacks = FrameStacks::of(recording, symbols, &costs)?;
            stacks.into_tree(symbols, &costs)
        },
        || line_costs(recording, symbols, &costs),
    );
    let Tree {
        interned,
        new_frames,
        nodes,
    } = tree?;
    let lines = lines
        .into_iter()
        .map(|lines| in_order_of_frames(&lines, symbols, &new_frames))
        .collect();
    Ok((Interned { lines, ..interned }, nodes))
}

/// Costs by sample type and distinct stack of locations, stacks in ascending order.
pub(super) type StackCosts = Vec<Vec<(StackIx, Cost)>>;

fn costs_by_stack(
    recording: &Recording,
    keep: impl Fn(&Sample) -> bool,
) -> Result<StackCosts, InternError> {
    let mut costs: StackCosts = vec![Vec::new(); recording.sample_types.len()];
    let mut sums = vec![Cost::ZERO; recording.sample_types.len()];
    let mut samples: u64 = 0;
    let kept = recording.samples.iter().filter(|sample| keep(sample));
    for sample in kept.filter(|sample| !sample.cost.is_zero()) {
        let sample_type = sample.sample_type.0 as usize;
        costs[sample_type].push((sample.stack, sample.cost));
        // As the sum of all fits, so does every other sum from here on.
        let sum = &mut sums[sample_type];
        *sum = sum.checked_add(sample.cost).ok_or(InternError::Overflow)?;
        samples = samples
            .checked_add(sample.cost.samples)
            .ok_or(InternError::Overflow)?;
    }
    costs.iter_mut().for_each(sum_by_key);
    Ok(costs)
}

/// Sorts by key, and makes one entry of those with equal keys.
pub(super) fn sum_by_key<K: Copy + Ord + Send>(costs: &mut Vec<(K, Cost)>) {
    costs.par_sort_unstable_by_key(|&(key, _)| key);
    costs.dedup_by(|(next, cost), (key, sum)| {
        let same = next == key;
        if same {
            *sum += *cost;
        }
        same
    });
}

/// Distinct stacks of frames, root first.
///
/// Many stacks of locations are one stack of frames: a function has many addresses. They are made
/// one before they are sorted, which is where the time would go.
struct FrameStacks {
    frames: Vec<FrameIx>,
    ends: Vec<usize>,
    /// The stack of frames of each stack of locations that has costs.
    of_stack: Vec<u32>,
}

impl FrameStacks {
    fn of(
        recording: &Recording,
        symbols: &Symbols,
        costs: &StackCosts,
    ) -> Result<FrameStacks, InternError> {
        const NOT_YET: u32 = u32::MAX;
        let mut of_stack = vec![NOT_YET; recording.stacks.len()];
        // Most steps miss the cache, so the way from a location to its frames is made one shorter.
        let lines = symbols.expansion.iter();
        let expansion: Vec<FrameIx> = lines
            .map(|line| symbols.lines[line.0 as usize].frame)
            .collect();
        let mut frames: Vec<FrameIx> = Vec::new();
        let mut ends: Vec<usize> = Vec::new();
        let mut index: HashTable<u32> = HashTable::with_capacity(recording.stacks.len());
        let hasher = hashbrown::DefaultHashBuilder::default();
        for &(stack, _) in costs.iter().flatten() {
            let place = &mut of_stack[stack.0 as usize];
            if *place != NOT_YET {
                continue;
            }
            let start = frames.len();
            for &location in recording.stacks.get(stack) {
                frames.extend_from_slice(&expansion[symbols.range_of(location)]);
            }
            match frames.len() - start {
                0 => return Err(InternError::EmptyStack),
                1..=MAX_DEPTH => {}
                depth => return Err(InternError::TooDeep(depth)),
            }
            let new = &frames[start..];
            let hash = hasher.hash_one(new);
            let found = index.find(hash, |&ix| slice_at(&frames, &ends, ix) == new);
            *place = match found {
                Some(&ix) => {
                    frames.truncate(start);
                    ix
                }
                None => {
                    let ix = ends.len() as u32;
                    ends.push(frames.len());
                    index.insert_unique(hash, ix, |&ix| {
                        hasher.hash_one(slice_at(&frames, &ends, ix))
                    });
                    ix
                }
            };
        }
        Ok(FrameStacks {
            frames,
            ends,
            of_stack,
        })
    }

    fn into_tree(mut self, symbols: &Symbols, costs: &StackCosts) -> Result<Tree, InternError> {
        let (frames, new_frames) = used_in_order(&symbols.frames, &self.frames);
        for frame in &mut self.frames {
            *frame = new_frames[frame.get()];
        }
        let stack = |ix: u32| slice_at(&self.frames, &self.ends, ix);
        let mut sorted: Vec<u32> = (0..self.ends.len() as u32).collect();
        sorted.par_sort_unstable_by(|&a, &b| stack(a).cmp(stack(b)));

        let mut tree = StackTree::new();
        let mut nodes = vec![NodeIx(0); sorted.len()];
        let mut path: Vec<NodeIx> = Vec::new();
        let mut previous: &[FrameIx] = &[];
        for ix in sorted {
            let stack = stack(ix);
            let shared = stack.iter().zip(previous).take_while(|(a, b)| a == b);
            path.truncate(shared.count());
            if tree.len() + (stack.len() - path.len()) > u32::MAX as usize {
                return Err(InternError::TooLarge);
            }
            for &frame in &stack[path.len()..] {
                path.push(tree.push(path.last().copied(), frame));
            }
            nodes[ix as usize] = *path.last().expect("a stack has frames");
            previous = stack;
        }

        let nodes = StackNodes {
            of_stack: self.of_stack,
            nodes,
        };
        let costs = costs.iter().map(|costs| {
            let mut by_node = costs
                .iter()
                .map(|&(stack, cost)| (nodes.of(stack), cost))
                .collect();
            sum_by_key(&mut by_node);
            by_node
        });
        Ok(Tree {
            interned: Interned {
                costs: costs.collect(),
                frames,
                tree,
                lines: Vec::new(),
                slices: None,
            },
            new_frames,
            nodes,
        })
    }
}

fn slice_at<'a>(frames: &'a [FrameIx], ends: &[usize], ix: u32) -> &'a [FrameIx] {
    let ix = ix as usize;
    let start = if ix == 0 { 0 } else { ends[ix - 1] };
    &frames[start..ends[ix]]
}

/// A profile but for its line costs and slices.
struct Tree {
    interned: Interned,
    /// The places that frames of [`Symbols::frames`] have in the profile's own table.
    new_frames: Vec<FrameIx>,
    nodes: StackNodes,
}

/// The nodes of the stacks of locations that have costs.
pub(super) struct StackNodes {
    /// By stack of locations, its stack of frames.
    of_stack: Vec<u32>,
    /// By stack of frames, its node.
    nodes: Vec<NodeIx>,
}

impl StackNodes {
    pub(super) fn of(&self, stack: StackIx) -> NodeIx {
        self.nodes[self.of_stack[stack.0 as usize] as usize]
    }
}

const UNUSED: FrameIx = FrameIx(u32::MAX);

/// The frames that are used, in order, and for each frame of `all` its new place.
fn used_in_order(all: &FrameTable, used: &[FrameIx]) -> (FrameTable, Vec<FrameIx>) {
    let mut new_places = vec![UNUSED; all.len()];
    let mut order = Vec::new();
    for &frame in used {
        if new_places[frame.get()] == UNUSED {
            new_places[frame.get()] = FrameIx(0);
            order.push(frame);
        }
    }
    order.par_sort_unstable_by(|&a, &b| all.frame(a).cmp(&all.frame(b)));
    let mut table = FrameTable::new();
    for frame in order {
        new_places[frame.get()] = table.insert(all.frame(frame));
    }
    (table, new_places)
}

fn in_order_of_frames(
    sums: &[LineSum],
    symbols: &Symbols,
    new_frames: &[FrameIx],
) -> Vec<LineCost> {
    let known = sums
        .iter()
        .map(|sum| (sum, symbols.lines[sum.line.0 as usize]))
        .filter(|(_, line)| line.line != 0);
    let mut lines: Vec<LineCost> = known
        .map(|(sum, line)| LineCost {
            frame: new_frames[line.frame.get()],
            line: line.line,
            self_cost: sum.self_cost,
            total: sum.total,
        })
        .collect();
    lines.sort_unstable_by_key(|line| (line.frame, line.line));
    lines
}
