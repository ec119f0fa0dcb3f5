//! The nodes of a profile: which the store has, and a pack of those that it lacks.

use super::take_number;
use crate::id::ExecutableId;
use crate::intern::StackTree;
use crate::model::Build;
use crate::store::codec::{ExecutableRecord, NodeColumns, pack_nodes};
use crate::store::error::{Fault, refused};
use crate::store::read::packs::outgrown;
use crate::store::read::rows::{NewRows, Rows};
use crate::store::tables::{Column, MOST_NODES, Record};
use crate::store::write::match_tree::TreeMatch;
use rayon::prelude::*;

/// Finds the store's numbers of a tree's nodes, and adds those it lacks, and the executable. With
/// them comes the executable's number of nodes then.
///
/// The stored packs pass by a few at a time, so that memory does not hold all their nodes.
pub(super) fn plan(
    rows: &Rows,
    new: &mut NewRows,
    build: &Build,
    tree: &StackTree,
    frames: &[u32],
) -> Result<(Vec<u32>, u32), Fault> {
    let id = ExecutableId::of(&build.executable);
    let stored = rows.record(Record::Executable, id.0)?;
    let is_new = stored.is_none();
    let mut executable = match stored {
        Some(executable) => executable,
        None => ExecutableRecord {
            name: build.executable.clone(),
            number: take_number(&mut new.contents.executables)?,
            nodes: 0,
        },
    };
    let frame_count = rows.contents.frames;
    let packs = rows.packs(Column::Nodes, executable.number, executable.nodes)?;
    let mut found = TreeMatch::new(tree, frames, frame_count, executable.nodes);
    for batch in packs.chunks(2 * rayon::current_num_threads()) {
        found.forget_what_was_found();
        let unpacked = batch.par_iter().map(|pack| {
            let segments = pack.segments(frame_count)?;
            let others = found.expects(&segments.roots).then(|| segments.others());
            let others = others.transpose().map_err(|error| error.at(pack.place()))?;
            Ok((segments, others))
        });
        let unpacked: Vec<_> = unpacked.collect::<Result<_, Fault>>()?;
        for (pack, (segments, others)) in batch.iter().zip(unpacked) {
            let passed = found.pass(&segments, others);
            passed.map_err(|error| error.at(pack.place()))?;
        }
    }

    let outgrown = outgrown(&packs, found.missing(), MOST_NODES);
    let first = outgrown.first().map_or(executable.nodes, |pack| pack.first);
    let mut all = NodeColumns::default();
    for pack in outgrown {
        all.append(pack.nodes(frame_count)?);
        new.remove_column(Column::Nodes, executable.number, pack.first);
    }
    let (numbers, added) = found.finish().map_err(Fault::Refused)?;
    let is_larger = added.len() > 0;
    executable.nodes += added.len() as u32;
    all.append(added);
    let chunks: Vec<_> = (first..executable.nodes)
        .into_par_iter()
        .step_by(MOST_NODES as usize)
        .map(|start| {
            let end = executable.nodes.min(start + MOST_NODES);
            let chunk = all.part((start - first) as usize..(end - first) as usize);
            (start, pack_nodes(start, &chunk))
        })
        .collect();
    for (start, chunk) in chunks {
        new.column(
            Column::Nodes,
            executable.number,
            start,
            chunk.map_err(refused)?,
        );
    }
    if is_new || is_larger {
        new.record(Record::Executable, id.0, &executable)?;
    }
    Ok((numbers, executable.nodes))
}
