//! Finds a profile's nodes in the store, and adds a pack of the missing ones.

use super::take_number;
use crate::codec::{ExecutableRecord, NodeColumns, pack_nodes};
use crate::error::{InternalError, Result, packing_error};
use crate::numbers::{ExecutableNo, FrameNo, NodeNo, Number};
use crate::read::packs::packs_to_merge;
use crate::read::rows::{NewRows, Rows};
use crate::tables::{Column, MAX_PACK_NODES, Record};
use crate::write::match_tree::TreeMatch;
use rayon::prelude::*;
use sto_model::Build;
use sto_model::id::ExecutableId;
use sto_model::tree::StackTree;

/// Returns the store's numbers of a tree's nodes, after adding the missing ones and the executable, and the
/// new end of the executable's node numbers.
///
/// Stored packs are visited a few at a time, so that memory does not hold all their nodes.
pub(super) fn plan(
    rows: &Rows,
    new: &mut NewRows,
    build: &Build,
    tree: &StackTree,
    frames: &[FrameNo],
) -> Result<(Vec<NodeNo>, NodeNo)> {
    let id = ExecutableId::from_name(&build.executable);
    let stored = rows.record(Record::Executable, id.0)?;
    let is_new = stored.is_none();
    let mut executable = match stored {
        Some(executable) => executable,
        None => ExecutableRecord {
            name: build.executable.clone(),
            number: take_number(&mut new.contents.executables)?,
            nodes: NodeNo(0),
        },
    };
    let frames_end = rows.contents.frames;
    let column = |first| Column::Nodes(executable.number, first);
    let packs = rows.packs(executable.nodes, column)?;
    let mut found = TreeMatch::new(tree, frames, frames_end, executable.nodes);
    for batch in packs.chunks(2 * rayon::current_num_threads()) {
        found.rebuild_filter();
        let unpacked = batch.par_iter().map(|pack| {
            let segments = pack.segments(frames_end)?;
            let others = found
                .may_contain_roots(&segments.roots)
                .then(|| segments.decompress_others());
            let others = others.transpose().map_err(|error| error.at(pack.column))?;
            Ok((segments, others))
        });
        let unpacked: Vec<_> = unpacked.collect::<Result<_>>()?;
        for (pack, (segments, others)) in batch.iter().zip(unpacked) {
            let passed = found.visit_segments(&segments, others);
            passed.map_err(|error| error.at(pack.column))?;
        }
    }

    let outgrown = packs_to_merge(&packs, found.missing_nodes(), MAX_PACK_NODES);
    let first = outgrown.first().map_or(executable.nodes, |pack| pack.first);
    let mut all = NodeColumns::default();
    for pack in outgrown {
        all.append(pack.nodes(frames_end)?);
        new.remove_column(pack.column);
    }
    let (numbers, added) = found.finish().map_err(InternalError::Refused)?;
    let is_larger = added.len() > 0;
    executable.nodes = executable.nodes.plus(added.len());
    all.append(added);
    write_packs(new, executable.number, first, &all)?;
    if is_new || is_larger {
        new.record(Record::Executable, id.0, &executable)?;
    }
    Ok((numbers, executable.nodes))
}

/// Writes nodes in packs, numbered from `first`.
pub(crate) fn write_packs(
    new: &mut NewRows,
    executable: ExecutableNo,
    first: NodeNo,
    nodes: &NodeColumns,
) -> Result<()> {
    let starts = (0..nodes.len())
        .into_par_iter()
        .step_by(MAX_PACK_NODES as usize);
    let packs = starts.map(|start| {
        let end = nodes.len().min(start + MAX_PACK_NODES as usize);
        let first = first.plus(start);
        (first, pack_nodes(first, &nodes.part(start..end)))
    });
    for (first, pack) in packs.collect::<Vec<_>>() {
        new.column(
            Column::Nodes(executable, first),
            pack.map_err(packing_error)?,
        );
    }
    Ok(())
}
