//! The counts of one profile, in the numbers of a store: everything that is its own.

use crate::intern::{Interned, LineCost};
use crate::memory;
use crate::model::FrameIx;
use crate::store::codec::{
    DecodeError, ProfileRecord, announced, pack_costs, pack_lines, pack_slices, unpack_costs,
    unpack_lines,
};
use crate::store::error::{Fault, refused};
use crate::store::read::rows::{NewRows, Rows, column_place};
use crate::store::tables::Column;
use crate::units::{Bytes, Cost};
use rayon::prelude::*;

/// Self costs by node of the executable: nodes in ascending order, none twice.
pub(in crate::store) type NodeCosts = Vec<(u32, Cost)>;

/// The counts of a profile, by sample type.
pub(in crate::store) struct Counts {
    pub(in crate::store) costs: Vec<NodeCosts>,
    /// Their frames are numbers of the store.
    pub(in crate::store) lines: Vec<Vec<LineCost>>,
    /// Its slices of time, packed: they are the same in every store.
    pub(in crate::store) slices: Option<Vec<u8>>,
}

/// Sizes of what is a profile's own, with checksums.
pub(in crate::store) struct Sizes {
    pub(in crate::store) columns: u64,
    /// How many of them are its slices of time.
    pub(in crate::store) slices: u64,
}

impl Counts {
    /// The counts of an interned profile, whose nodes and frames have these numbers.
    ///
    /// # Errors
    /// Where its slices are too many to be packed.
    pub(in crate::store) fn of(
        interned: &Interned,
        nodes: &[u32],
        frames: &[u32],
    ) -> Result<Counts, Fault> {
        let costs = interned.costs.par_iter().map(|costs| {
            let numbered = costs.iter().map(|&(node, cost)| (nodes[node.get()], cost));
            in_order(numbered.collect())
        });
        let lines = interned.lines.par_iter();
        let slices = interned.slices.as_ref();
        let slices = slices.map(|slices| pack_slices(slices, &interned.costs).map_err(refused));
        Ok(Counts {
            costs: costs.collect(),
            lines: lines.map(|lines| renumbered_lines(lines, frames)).collect(),
            slices: slices.transpose()?,
        })
    }

    /// The counts that a store has of a profile, whose executable has this many nodes.
    pub(in crate::store) fn read(
        rows: &Rows,
        record: &ProfileRecord,
        nodes: u32,
    ) -> Result<Counts, Fault> {
        let profile = record.number;
        let parts = 0..record.profile.sample_types.len() as u32;
        let costs = parts.clone();
        let costs = costs.map(|part| read_costs(rows, Column::Costs, profile, part, nodes));
        let lines = parts.map(|part| read_lines(rows, profile, part));
        Ok(Counts {
            costs: costs.collect::<Result<_, Fault>>()?,
            lines: lines.collect::<Result<_, Fault>>()?,
            slices: (record.slices > 0)
                .then(|| rows.column(Column::Slices, profile, 0))
                .transpose()?,
        })
    }

    /// The same counts in another store, where nodes and frames have these numbers.
    pub(in crate::store) fn renumbered(self, nodes: &[u32], frames: &[u32]) -> Counts {
        let costs = self.costs.iter().map(|costs| {
            let numbered = costs
                .iter()
                .map(|&(node, cost)| (nodes[node as usize], cost));
            in_order(numbered.collect())
        });
        let lines = self.lines.iter();
        Counts {
            costs: costs.collect(),
            lines: lines.map(|lines| renumbered_lines(lines, frames)).collect(),
            slices: self.slices,
        }
    }

    /// Writes them under a profile's number.
    pub(in crate::store) fn write(&self, new: &mut NewRows, profile: u32) -> Result<Sizes, Fault> {
        let costs = self.costs.par_iter().map(|costs| pack_costs(costs));
        let lines = self.lines.par_iter().map(|lines| pack_lines(lines));
        let (costs, lines): (Vec<_>, Vec<_>) = rayon::join(|| costs.collect(), || lines.collect());
        let mut size = 0;
        for (kind, packs) in [(Column::Costs, costs), (Column::Lines, lines)] {
            for (part, pack) in (0..).zip(packs) {
                size += new.column(kind, profile, part, pack.map_err(refused)?);
            }
        }
        let slices = self.slices.clone();
        let slices = slices.map_or(0, |pack| new.column(Column::Slices, profile, 0, pack));
        Ok(Sizes {
            columns: size + slices,
            slices,
        })
    }
}

fn in_order(mut costs: NodeCosts) -> NodeCosts {
    costs.sort_unstable_by_key(|&(node, _)| node);
    costs
}

fn renumbered_lines(lines: &[LineCost], frames: &[u32]) -> Vec<LineCost> {
    let numbered = lines.iter().map(|&line| LineCost {
        frame: FrameIx(frames[line.frame.get()]),
        ..line
    });
    let mut lines: Vec<LineCost> = numbered.collect();
    lines.sort_unstable_by_key(|line| (line.frame, line.line));
    lines
}

/// A column of self costs of an executable with this many nodes.
pub(in crate::store) fn read_costs(
    rows: &Rows,
    kind: Column,
    owner: u32,
    part: u32,
    nodes: u32,
) -> Result<NodeCosts, Fault> {
    PackedCosts::read(rows, kind, owner, part, nodes)?.unpack()
}

/// A column of self costs that was read, and not unpacked: a few bytes may stand for any number of them.
pub(in crate::store) struct PackedCosts {
    key: (Column, u32, u32),
    /// How many nodes the executable has.
    nodes: u32,
    body: Vec<u8>,
}

impl PackedCosts {
    pub(in crate::store) fn read(
        rows: &Rows,
        kind: Column,
        owner: u32,
        part: u32,
        nodes: u32,
    ) -> Result<Self, Fault> {
        Ok(PackedCosts {
            key: (kind, owner, part),
            nodes,
            body: rows.column(kind, owner, part)?,
        })
    }

    pub(in crate::store) fn unpack(&self) -> Result<NodeCosts, Fault> {
        unpack_costs(&self.body, self.nodes as usize).map_err(|error| self.decode_error(error))
    }

    fn decode_error(&self, error: DecodeError) -> Fault {
        let (kind, owner, part) = self.key;
        error.at(column_place(kind, owner, part))
    }

    /// Checks that these can be unpacked together.
    pub(in crate::store) fn check<'a>(
        all: impl Iterator<Item = &'a PackedCosts>,
    ) -> Result<(), Fault> {
        let mut costs = 0;
        for packed in all {
            let announced = announced(&packed.body).map_err(|error| packed.decode_error(error))?;
            // More are damage.
            costs += u64::from(announced.min(packed.nodes));
        }
        memory::check(Bytes(costs * size_of::<(u32, Cost)>() as u64))?;
        Ok(())
    }
}

/// The line costs of a profile in one sample type.
pub(in crate::store) fn read_lines(
    rows: &Rows,
    profile: u32,
    part: u32,
) -> Result<Vec<LineCost>, Fault> {
    let column = rows.column(Column::Lines, profile, part)?;
    unpack_lines(&column, rows.contents.frames)
        .map_err(|error| error.at(column_place(Column::Lines, profile, part)))
}
