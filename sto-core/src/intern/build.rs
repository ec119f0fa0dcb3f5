//! Builds the tree of a profile from its samples.

use super::frame_tree::{FrameTree, StackNodes};
use super::line_costs::{LineSum, line_costs};
use super::run_metrics::run_metrics;
use super::slice_costs::{grid, slice_costs};
use super::stack_costs::{InternError, costs_by_stack};
use crate::symbolize::Symbols;
use std::collections::BTreeSet;
use sto_formats::recording::{Recording, Sample};
use sto_model::limits::MAX_SOURCE_FILES;
use sto_model::tree::{LineCost, ProfileData, SliceCount};
use sto_model::{FrameIx, FrameTable, SourceFileDigests};

/// Builds the tree of the samples of a recording for which `keep` returns `true`.
///
/// With `slices`, costs are also added up by context and slice of time, where the slices divide the time of the whole
/// recording. The result depends only on the kept samples, not on their order or the number of threads. Samples with
/// zero cost are ignored.
///
/// # Errors
/// Returns an error if
/// - the counts of a sample type, or the samples of all sample types, overflow 64 bits,
/// - a sample has no frame or too many, or the stacks have too many frames,
/// - there are to be several slices, but a sample of the recording has no timestamp,
/// - there are too many metrics over time, or two with the same name.
pub fn intern(
    recording: &Recording,
    symbols: &Symbols,
    slices: Option<SliceCount>,
    keep: impl Fn(&Sample) -> bool + Copy,
) -> Result<ProfileData, InternError> {
    intern_with_nodes(recording, symbols, slices, keep).map(|(interned, _)| interned)
}

/// Like [`intern`]; also returns the nodes of the recording's stacks.
pub(crate) fn intern_with_nodes(
    recording: &Recording,
    symbols: &Symbols,
    slices: Option<SliceCount>,
    keep: impl Fn(&Sample) -> bool + Copy,
) -> Result<(ProfileData, StackNodes), InternError> {
    let grid = slices.map(|count| grid(recording, count)).transpose()?;
    let metrics = run_metrics(recording)?;
    let (interned, nodes) = build(recording, symbols, keep)?;
    let interned = ProfileData {
        metrics,
        calls: recording
            .calls
            .as_ref()
            .map(|calls| calls.map(|stack| nodes.node(stack))),
        slices: grid.map(|grid| slice_costs(recording, &nodes, grid, keep)),
        ..interned
    };
    Ok((interned, nodes))
}

fn build(
    recording: &Recording,
    symbols: &Symbols,
    keep: impl Fn(&Sample) -> bool,
) -> Result<(ProfileData, StackNodes), InternError> {
    let costs = costs_by_stack(recording, keep)?;
    let (tree, lines) = rayon::join(
        || FrameTree::new(recording, symbols, &costs),
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
    let interned = ProfileData {
        source_digests: sources(&frames, symbols),
        line_costs: lines
            .map(|lines| to_line_costs(lines, symbols, &new_frames))
            .collect(),
        frames,
        tree,
        costs,
        slices: None,
        metrics: None,
        calls: None,
        kept_calls: None,
        addresses: None,
    };
    Ok((interned, nodes))
}

/// Returns the digests of the frames' source files.
fn sources(frames: &FrameTable, symbols: &Symbols) -> SourceFileDigests {
    if symbols.sources.is_empty() {
        return SourceFileDigests::new();
    }
    let files: BTreeSet<&str> = frames.iter().map(|(_, frame)| frame.file).collect();
    let known = files.into_iter().filter_map(|file| {
        let digest = symbols.sources.get(file)?;
        Some((file.to_owned(), *digest))
    });
    known.take(MAX_SOURCE_FILES).collect()
}

/// Returns the costs of known lines, in the order of the profile's frames.
fn to_line_costs(sums: &[LineSum], symbols: &Symbols, new_frames: &[FrameIx]) -> Vec<LineCost> {
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
