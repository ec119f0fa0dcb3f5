//! What profiles share: frames, the nodes of executables, module lists.

use super::columns::Columns;
use super::damages::{Concerns, Damages};
use super::records::Records;
use crate::id::FrameId;
use crate::memory;
use crate::store::codec::{
    DecodeError, ExecutableRecord, NO_PARENT, PackedFrames, unpack_modules, unpack_nodes,
};
use crate::store::error::Fault;
use crate::store::guard::guarded;
use crate::store::read::rows::{Rows, column_place};
use crate::store::tables::Column;
use crate::units::Bytes;
use hashbrown::HashSet;
use rayon::prelude::*;

/// Checks the lists of modules, and that each profile has one.
pub(super) fn module_lists(
    rows: &Rows,
    records: &Records,
    columns: &mut Columns,
    damages: &mut Damages,
) {
    for (digest, &list) in &records.lists {
        columns.own(Column::Modules, list, 0);
        let place = column_place(Column::Modules, list, 0);
        let concerns = records.profiles_where(|profile| profile.modules == list);
        let body = damages.keep(
            guarded(|| rows.column(Column::Modules, list, 0)),
            concerns.clone(),
        );
        let Some(body) = body else { continue };
        let unpacked = unpack_modules(&body).map_err(|error| error.at(&place));
        damages.keep(unpacked, concerns.clone());
        if blake3::hash(&body).as_bytes()[..digest.len()] != digest[..] {
            damages.add(&place, "it is not what its content address says", concerns);
        }
    }
    let lists: HashSet<u32> = records.lists.values().copied().collect();
    for (&id, profile) in &records.profiles {
        if !lists.contains(&profile.modules) {
            let place = column_place(Column::Modules, profile.modules, 0);
            let concerns = Concerns::Profiles { profiles: vec![id] };
            damages.add(
                place,
                "a profile refers to it, but there is no such list",
                concerns,
            );
        }
    }
}

/// Checks every pack of frames, and that no frame stands twice. Returns the number of frames.
pub(super) fn frames(rows: &Rows, columns: &mut Columns, damages: &mut Damages) -> u64 {
    let count = rows.contents.frames;
    let packs = Packs {
        rows,
        kind: Column::Frames,
        owner: 0,
        count,
        concerns: Concerns::Everything,
    };
    let mut frames: Vec<(FrameId, u32)> = packs.check(columns, damages, |first| {
        let packed = packs.column(first, PackedFrames::decompress)?;
        memory::check(Bytes(packed.text_len()))?;
        let frames = packed
            .unpack()
            .map_err(|error| error.at(packs.place(first)))?;
        let ids = (0..frames.len()).map(|i| (FrameId::of(frames.get(i)), first + i as u32));
        Ok(ids.collect())
    });
    frames.par_sort_unstable();
    let mut twice = frames.windows(2).filter(|pair| pair[0].0 == pair[1].0);
    if let Some([(_, one), (_, other)]) = twice.next() {
        let more = twice.count();
        let what = format!("frames {one} and {other} are the same, and {more} more stand twice");
        damages.add("table columns, frames", what, Concerns::Everything);
    }
    frames.len() as u64
}

/// Checks every pack of an executable's nodes, and that no node stands twice. Returns their number.
pub(super) fn nodes(
    rows: &Rows,
    executable: &ExecutableRecord,
    columns: &mut Columns,
    damages: &mut Damages,
) -> u64 {
    let concerns = Concerns::Executable {
        executable: executable.name.clone(),
    };
    let packs = Packs {
        rows,
        kind: Column::Nodes,
        owner: executable.number,
        count: executable.nodes,
        concerns: concerns.clone(),
    };
    let frame_count = rows.contents.frames;
    let mut nodes: Vec<(u32, u32)> = packs.check(columns, damages, |first| {
        let nodes = packs.column(first, |pack| unpack_nodes(pack, first, frame_count))?;
        Ok(nodes.parents.into_iter().zip(nodes.frames).collect())
    });
    nodes.par_sort_unstable();
    let mut twice = nodes.windows(2).filter(|pair| pair[0] == pair[1]);
    if let Some([_, (parent, frame)]) = twice.next() {
        let more = twice.count();
        let below = match *parent {
            NO_PARENT => "as a root".to_owned(),
            parent => format!("below node {parent}"),
        };
        let what = format!("frame {frame} stands twice {below}, and {more} more nodes stand twice");
        let place = format!("table columns, nodes {}", executable.number);
        damages.add(place, what, concerns);
    }
    nodes.len() as u64
}

/// The packs of an owner's things.
struct Packs<'a> {
    rows: &'a Rows,
    kind: Column,
    owner: u32,
    /// Number of the things.
    count: u32,
    concerns: Concerns,
}

impl Packs<'_> {
    /// Unpacks every pack, a few at a time, and returns what is worked out of all their things.
    fn check<T: Send>(
        &self,
        columns: &mut Columns,
        damages: &mut Damages,
        unpack: impl Fn(u32) -> Result<Vec<T>, Fault> + Sync,
    ) -> Vec<T> {
        let packs = columns.own_packs(self.kind, self.owner, self.count);
        if packs.first().map_or(self.count, |&(first, _)| first) > 0 {
            damages.add(self.place(0), "it is missing", self.concerns.clone());
        }
        let mut things = Vec::new();
        for batch in packs.chunks(rayon::current_num_threads()) {
            let unpacked = batch.par_iter().map(|&(first, end)| {
                let found = unpack(first)?;
                if found.len() != (end - first) as usize {
                    let what = "it has not as many things as it should";
                    return Err(Fault::damaged(self.place(first), what));
                }
                Ok(found)
            });
            for found in unpacked.collect::<Vec<_>>() {
                if let Some(mut found) = damages.keep(found, self.concerns.clone()) {
                    things.append(&mut found);
                }
            }
        }
        things
    }

    fn column<T>(
        &self,
        first: u32,
        unpack: impl Fn(&[u8]) -> Result<T, DecodeError>,
    ) -> Result<T, Fault> {
        let body = guarded(|| self.rows.column(self.kind, self.owner, first))?;
        unpack(&body).map_err(|error| error.at(self.place(first)))
    }

    fn place(&self, first: u32) -> String {
        column_place(self.kind, self.owner, first)
    }
}
