//! Building the tree of one profile out of its samples.

use super::frame_tree::{FrameTree, StackNodes};
use super::line_costs::{LineSum, line_costs};
use super::run_metrics::run_metrics;
use super::slice_costs::{grid, slice_costs};
use super::stack_costs::{InternError, costs_by_stack};
use crate::symbolize::Symbols;
use std::collections::BTreeSet;
use sto_formats::recording::{Recording, Sample};
use sto_model::limits::MAX_SOURCES;
use sto_model::tree::{Interned, LineCost, SliceCount};
use sto_model::{FrameIx, FrameTable, SourceDigests};

/// Builds the tree of those samples of a recording that `keep` says are part of the profile, and keeps costs by
/// context and slice of time too where `slices` says in how many. The time that is cut is that of the whole
/// recording.
///
/// The result depends on the kept samples alone: not on their order, nor on the number of cores.
/// Samples without any cost are left out.
///
/// # Errors
/// Where the counts of a sample type, or the samples of all of them, add up to more than 64 bits, a
/// sample has no frame or too many, or the tree leaves 32 bits; where a sample of the recording has no
/// time stamp, but there are to be several slices; and where there are too many metrics over time, or two have
/// one name.
pub fn intern(
    recording: &Recording,
    symbols: &Symbols,
    slices: Option<SliceCount>,
    keep: impl Fn(&Sample) -> bool + Copy,
) -> Result<Interned, InternError> {
    intern_with_nodes(recording, symbols, slices, keep).map(|(interned, _)| interned)
}

/// The same, with the nodes of the recording's stacks.
pub(crate) fn intern_with_nodes(
    recording: &Recording,
    symbols: &Symbols,
    slices: Option<SliceCount>,
    keep: impl Fn(&Sample) -> bool + Copy,
) -> Result<(Interned, StackNodes), InternError> {
    let grid = slices.map(|count| grid(recording, count)).transpose()?;
    let metrics = run_metrics(recording)?;
    let (interned, nodes) = build(recording, symbols, keep)?;
    let interned = Interned {
        metrics,
        calls: recording
            .calls
            .as_ref()
            .map(|calls| calls.map(|stack| nodes.of(stack))),
        slices: grid.map(|grid| slice_costs(recording, &nodes, grid, keep)),
        ..interned
    };
    Ok((interned, nodes))
}

fn build(
    recording: &Recording,
    symbols: &Symbols,
    keep: impl Fn(&Sample) -> bool,
) -> Result<(Interned, StackNodes), InternError> {
    let costs = costs_by_stack(recording, keep)?;
    let (tree, lines) = rayon::join(
        || FrameTree::of(recording, symbols, &costs),
        || line_costs(recording, symbols, &costs),
    );
    let FrameTree {
        frames,
        tree,
        costs,
        nodes,
        new_frames,
    } = tree?;
    let lines = lines.iter();
    let interned = Interned {
        sources: sources(&frames, symbols),
        lines: lines
            .map(|lines| in_order_of_frames(lines, symbols, &new_frames))
            .collect(),
        frames,
        tree,
        costs,
        slices: None,
        metrics: None,
        calls: None,
        kept: None,
        addresses: None,
    };
    Ok((interned, nodes))
}

/// The digests of the files that frames have.
fn sources(frames: &FrameTable, symbols: &Symbols) -> SourceDigests {
    if symbols.sources.is_empty() {
        return SourceDigests::new();
    }
    let files: BTreeSet<&str> = frames.iter().map(|(_, frame)| frame.file).collect();
    let known = files.into_iter().filter_map(|file| {
        let digest = symbols.sources.get(file)?;
        Some((file.to_owned(), *digest))
    });
    known.take(MAX_SOURCES).collect()
}

fn in_order_of_frames(
    sums: &[LineSum],
    symbols: &Symbols,
    new_frames: &[FrameIx],
) -> Vec<LineCost> {
    let known = sums
        .iter()
        .map(|sum| (sum, symbols.lines[sum.line.get()]))
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
