//! Checks data that profiles share: frames, the nodes of executables, module lists.

use super::columns::Columns;
use super::corruptions::{Concerns, Corruptions};
use super::records::Records;
use crate::codec::{DecodeError, ExecutableRecord, PackedFrames, unpack_modules, unpack_nodes};
use crate::error::{InternalError, Result};
use crate::guard::guarded;
use crate::numbers::{FrameNo, ModulesNo, NodeNo, Number};
use crate::read::rows::Rows;
use crate::tables::Column;
use hashbrown::HashSet;
use rayon::prelude::*;
use sto_model::id::FrameId;
use sto_model::memory;
use sto_model::units::Bytes;

/// Checks the module lists, and that the list of each profile exists.
pub(super) fn module_lists(
    rows: &Rows,
    records: &Records,
    columns: &mut Columns,
    damages: &mut Corruptions,
) {
    for (digest, &list) in &records.lists {
        let column = Column::Modules(list);
        columns.mark_used(column.key());
        let concerns = records.profiles_where(|profile| profile.modules == list);
        let body = damages.record_error(guarded(|| rows.column(column)), concerns.clone());
        let Some(body) = body else { continue };
        let unpacked = unpack_modules(&body).map_err(|error| error.at(column));
        damages.record_error(unpacked, concerns.clone());
        if blake3::hash(&body).as_bytes()[..digest.len()] != digest[..] {
            damages.add(column, "its content does not match its id", concerns);
        }
    }
    let lists: HashSet<ModulesNo> = records.lists.values().copied().collect();
    for (&id, profile) in &records.profiles {
        if !lists.contains(&profile.modules) {
            let column = Column::Modules(profile.modules);
            let concerns = Concerns::Profiles { profiles: vec![id] };
            damages.add(
                column,
                "a profile refers to it, but there is no such list",
                concerns,
            );
        }
    }
}

/// Checks all packs of frames, and that frames are distinct. Returns the number of frames.
pub(super) fn frames(rows: &Rows, columns: &mut Columns, damages: &mut Corruptions) -> u64 {
    let end = rows.contents.frames;
    let packs = Packs {
        rows,
        column: Column::Frames,
        end,
        concerns: Concerns::Everything,
    };
    let mut frames: Vec<(FrameId, FrameNo)> = packs.check(columns, damages, |first| {
        let packed = packs.column(first, PackedFrames::decompress)?;
        memory::check_limit(Bytes(packed.text_len()))?;
        let frames = packed.unpack();
        let frames = frames.map_err(|error| error.at(Column::Frames(first)))?;
        let ids = (0..frames.len()).map(|i| (FrameId::from_frame(frames.get(i)), first.plus(i)));
        Ok(ids.collect())
    });
    frames.par_sort_unstable();
    let mut twice = frames.windows(2).filter(|pair| pair[0].0 == pair[1].0);
    if let Some([(_, one), (_, other)]) = twice.next() {
        let more = twice.count();
        let what = format!("frames {one} and {other} are equal, as are {more} more pairs");
        damages.add("table columns, frames", what, Concerns::Everything);
    }
    frames.len() as u64
}

/// Checks all packs of an executable's nodes, and that nodes are distinct. Returns their number.
pub(super) fn nodes(
    rows: &Rows,
    executable: &ExecutableRecord,
    columns: &mut Columns,
    damages: &mut Corruptions,
) -> u64 {
    let concerns = Concerns::Executable {
        executable: executable.name.clone(),
    };
    let packs = Packs {
        rows,
        column: |first| Column::Nodes(executable.number, first),
        end: executable.nodes,
        concerns: concerns.clone(),
    };
    let frames_end = rows.contents.frames;
    let mut nodes: Vec<(NodeNo, FrameNo)> = packs.check(columns, damages, |first| {
        let nodes = packs.column(first, |pack| unpack_nodes(pack, first, frames_end))?;
        Ok(nodes.parents.into_iter().zip(nodes.frames).collect())
    });
    nodes.par_sort_unstable();
    let mut twice = nodes.windows(2).filter(|pair| pair[0] == pair[1]);
    if let Some([_, (parent, frame)]) = twice.next() {
        let more = twice.count();
        let below = match *parent {
            NodeNo::NONE => "as a root".to_owned(),
            parent => format!("below node {parent}"),
        };
        let what = format!("frame {frame} occurs twice {below}, and {more} more nodes occur twice");
        let location = format!("table columns, nodes {}", executable.number);
        damages.add(location, what, concerns);
    }
    nodes.len() as u64
}

/// The packs of an owner's items.
struct Packs<'a, N, C: Fn(N) -> Column> {
    rows: &'a Rows,
    /// The column of a pack by the number of its first item.
    column: C,
    /// The end of the item numbers.
    end: N,
    concerns: Concerns,
}

impl<N: Number, C: Fn(N) -> Column + Sync> Packs<'_, N, C> {
    /// Unpacks all packs, a few at a time; returns the results for all items.
    fn check<T: Send>(
        &self,
        columns: &mut Columns,
        damages: &mut Corruptions,
        unpack: impl Fn(N) -> Result<Vec<T>> + Sync,
    ) -> Vec<T> {
        let packs = columns.mark_packs_used(self.end, &self.column);
        let zero = N::new(0);
        if packs.first().map_or(self.end, |&(first, _)| first) > zero {
            damages.add((self.column)(zero), "it is missing", self.concerns.clone());
        }
        let mut things = Vec::new();
        for batch in packs.chunks(rayon::current_num_threads()) {
            let unpacked = batch.par_iter().map(|&(first, end)| {
                let found = unpack(first)?;
                if found.len() != (end.number() - first.number()) as usize {
                    let what = "the number of items in it differs from what it should be";
                    return Err(InternalError::damaged((self.column)(first), what));
                }
                Ok(found)
            });
            for found in unpacked.collect::<Vec<_>>() {
                if let Some(mut found) = damages.record_error(found, self.concerns.clone()) {
                    things.append(&mut found);
                }
            }
        }
        things
    }

    fn column<T>(&self, first: N, unpack: impl Fn(&[u8]) -> Result<T, DecodeError>) -> Result<T> {
        let column = (self.column)(first);
        let body = guarded(|| self.rows.column(column))?;
        unpack(&body).map_err(|error| error.at(column))
    }
}
