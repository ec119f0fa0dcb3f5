//! Data that belongs to one profile only, with the store's numbers.

use crate::codec::{
    DecodeError, ProfileRecord, announced_items, pack_addresses, pack_arguments, pack_calls,
    pack_costs, pack_lines, pack_metrics, pack_slices, pack_sources, unpack_costs, unpack_lines,
};
use crate::error::{Result, packing_error};
use crate::numbers::{FrameNo, NodeNo, Number, ProfileNo, TypeNo};
use crate::read::rows::{NewRows, Rows};
use crate::tables::Column;
use rayon::prelude::*;
use std::sync::Arc;
use sto_model::FrameIx;
use sto_model::memory;
use sto_model::trace::{PackedCalls, RunCalls};
use sto_model::tree::{LineCost, NodeIx, ProfileData};
use sto_model::units::{Bytes, Cost};

/// Self costs by node of the executable, in ascending order of distinct nodes.
pub(crate) type NodeCosts = Vec<(NodeNo, Cost)>;

/// The costs of a profile by sample type, and its side data.
pub(crate) struct Counts {
    pub(crate) costs: Vec<NodeCosts>,
    pub(crate) lines: Vec<Vec<LineCost<FrameNo>>>,
    /// Packed slices of time, in the same bytes in every store.
    pub(crate) slices: Option<Vec<u8>>,
    pub(crate) side_data: SideData,
}

/// Packed data of a profile that its id does not cover, in the same bytes in every store.
#[derive(Clone, Debug, Default)]
pub(crate) struct SideData {
    /// Metrics over time.
    pub(crate) metrics: Option<Vec<u8>>,
    /// Calls over time.
    pub(crate) calls: Option<CallPacks>,
    /// All calls.
    pub(crate) kept: Option<Arc<PackedCalls>>,
    /// Digests of source files.
    pub(crate) sources: Option<Vec<u8>>,
    /// Addresses whose names may be found later.
    pub(crate) addresses: Option<Vec<u8>>,
}

/// Packed calls over time. They refer to nodes by index in the profile's own tree.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct CallPacks {
    pub(crate) calls: Vec<u8>,
    /// Calls by their arguments, if any.
    pub(crate) arguments: Option<Vec<u8>>,
}

impl CallPacks {
    /// The columns of a profile's calls and of their arguments.
    pub(crate) fn columns(profile: ProfileNo) -> [Column; 2] {
        [Column::Calls(profile), Column::Arguments(profile)]
    }

    fn pack(run: &RunCalls<NodeIx>) -> Result<CallPacks> {
        let arguments = (!run.arguments.is_empty()).then(|| pack_arguments(&run.arguments));
        Ok(CallPacks {
            calls: pack_calls(run).map_err(packing_error)?,
            arguments: arguments.transpose().map_err(packing_error)?,
        })
    }

    /// Reads the calls of a profile; `None` if it has no calls over time.
    pub(crate) fn read(rows: &Rows, profile: ProfileNo) -> Result<Option<CallPacks>> {
        let [calls, arguments] = CallPacks::columns(profile).map(|at| rows.optional_column(at));
        match (calls?, arguments?) {
            (Some(calls), arguments) => Ok(Some(CallPacks { calls, arguments })),
            (None, Some(_)) => Err(WITHOUT_CALLS.at(Column::Arguments(profile))),
            (None, None) => Ok(None),
        }
    }
}

/// Arguments and kept calls refer to calls over time.
pub(crate) const WITHOUT_CALLS: DecodeError = DecodeError("its profile has no calls over time");

impl SideData {
    /// Packs the side data of an interned profile.
    ///
    /// # Errors
    /// Returns an error if the data exceeds the format's limits.
    pub(crate) fn pack(interned: &ProfileData) -> Result<SideData> {
        let metrics = interned.metrics.as_ref().map(pack_metrics).transpose();
        let sources = &interned.source_digests;
        let sources = (!sources.is_empty()).then(|| pack_sources(sources));
        let addresses = interned.addresses.as_ref();
        let addresses = addresses.map(|addresses| pack_addresses(addresses, interned));
        Ok(SideData {
            addresses: addresses.transpose().map_err(packing_error)?,
            sources: sources.transpose().map_err(packing_error)?,
            metrics: metrics.map_err(packing_error)?,
            calls: interned.calls.as_ref().map(CallPacks::pack).transpose()?,
            kept: interned.kept_calls.clone(),
        })
    }

    /// Reads the side data of a profile, except for kept calls.
    pub(crate) fn read(rows: &Rows, profile: ProfileNo) -> Result<SideData> {
        Ok(SideData {
            metrics: rows.optional_column(Column::Metrics(profile))?,
            calls: CallPacks::read(rows, profile)?,
            kept: None,
            sources: rows.optional_column(Column::Sources(profile))?,
            addresses: rows.optional_column(Column::Addresses(profile))?,
        })
    }

    /// Whether both have the same metrics and calls over time.
    pub(crate) fn is_same(&self, other: &SideData) -> bool {
        self.metrics == other.metrics && self.calls == other.calls
    }

    /// The columns of this data, except for kept calls, under a profile's number, in the order of their kinds.
    pub(crate) fn columns(self, profile: ProfileNo) -> impl Iterator<Item = (Column, Vec<u8>)> {
        let SideData {
            metrics,
            calls,
            kept: _,
            sources,
            addresses,
        } = self;
        let (calls, arguments) =
            calls.map_or((None, None), |packs| (Some(packs.calls), packs.arguments));
        let all = [
            (Column::Metrics(profile), metrics),
            (Column::Calls(profile), calls),
            (Column::Arguments(profile), arguments),
            (Column::Sources(profile), sources),
            (Column::Addresses(profile), addresses),
        ];
        all.into_iter()
            .filter_map(|(column, pack)| Some((column, pack?)))
    }
}

/// Bytes of a profile's own columns, including checksums.
pub(crate) struct Sizes {
    pub(crate) columns: u64,
    /// The part of `columns` that is slices of time.
    pub(crate) slices: u64,
}

impl Counts {
    /// Converts an interned profile and its side data. `nodes` and `frames` give the store's numbers by index.
    ///
    /// # Errors
    /// Returns an error if the slices exceed the format's limits.
    pub(crate) fn new(
        interned: &ProfileData,
        side_data: SideData,
        nodes: &[NodeNo],
        frames: &[FrameNo],
    ) -> Result<Counts> {
        let costs = interned.costs.par_iter().map(|costs| {
            let numbered = costs.iter().map(|&(node, cost)| (nodes[node.get()], cost));
            in_order(numbered.collect())
        });
        let lines = interned.line_costs.par_iter();
        let slices = interned.slices.as_ref();
        let slices =
            slices.map(|slices| pack_slices(slices, &interned.costs).map_err(packing_error));
        Ok(Counts {
            costs: costs.collect(),
            lines: lines
                .map(|lines| renumbered_lines(lines, |frame: FrameIx| frames[frame.get()]))
                .collect(),
            slices: slices.transpose()?,
            side_data,
        })
    }

    /// Reads a profile whose costs were already read, except for kept calls.
    pub(crate) fn read(
        rows: &Rows,
        record: &ProfileRecord,
        costs: Vec<NodeCosts>,
    ) -> Result<Counts> {
        let profile = record.number;
        let lines = record.types().map(|t| read_lines(rows, profile, t));
        Ok(Counts {
            costs,
            lines: lines.collect::<Result<_>>()?,
            slices: (record.slices > 0)
                .then(|| rows.column(Column::Slices(profile)))
                .transpose()?,
            side_data: SideData::read(rows, profile)?,
        })
    }

    /// Converts to the numbers of another store, given by `nodes` and `frames`.
    pub(crate) fn renumber(self, nodes: &[NodeNo], frames: &[FrameNo]) -> Counts {
        let costs = self.costs.iter().map(|costs| {
            let numbered = costs.iter();
            let numbered = numbered.map(|&(node, cost)| (nodes[node.get()], cost));
            in_order(numbered.collect())
        });
        let lines = self.lines.iter();
        let lines = lines.map(|lines| renumbered_lines(lines, |frame| frames[frame.get()]));
        Counts {
            costs: costs.collect(),
            lines: lines.collect(),
            slices: self.slices,
            side_data: self.side_data,
        }
    }

    /// Adds the columns to `new` under a profile's number.
    pub(crate) fn write(&self, new: &mut NewRows, profile: ProfileNo) -> Result<Sizes> {
        let costs = self.costs.par_iter().map(|costs| pack_costs(costs));
        let lines = self.lines.par_iter().map(|lines| pack_lines(lines));
        let (costs, lines): (Vec<_>, Vec<_>) = rayon::join(|| costs.collect(), || lines.collect());
        let mut size = 0;
        let column: fn(_, _) -> Column = Column::Costs;
        for (column, packs) in [(column, costs), (Column::Lines, lines)] {
            for (sample_type, pack) in TypeNo(0).onward().zip(packs) {
                size += new.column(column(profile, sample_type), pack.map_err(packing_error)?);
            }
        }
        let slices = self.slices.clone();
        let slices = slices.map_or(0, |pack| new.column(Column::Slices(profile), pack));
        let side_data = self.side_data.clone().columns(profile);
        let side_data: u64 = side_data
            .map(|(column, pack)| new.column(column, pack))
            .sum();
        let kept = self.side_data.kept.clone();
        let kept = kept.map_or(0, |kept| new.kept_calls(profile, kept));
        Ok(Sizes {
            columns: size + slices + side_data + kept,
            slices,
        })
    }
}

fn in_order(mut costs: NodeCosts) -> NodeCosts {
    costs.sort_unstable_by_key(|&(node, _)| node);
    costs
}

/// Line costs with the numbers or indices of their frames replaced, in ascending order.
pub(crate) fn renumbered_lines<A: Copy, B: Copy + Ord>(
    lines: &[LineCost<A>],
    frame: impl Fn(A) -> B,
) -> Vec<LineCost<B>> {
    let numbered = lines.iter().map(|line| LineCost {
        frame: frame(line.frame),
        line: line.line,
        self_cost: line.self_cost,
        total: line.total,
    });
    let mut lines: Vec<LineCost<B>> = numbered.collect();
    lines.sort_unstable_by_key(|line| (line.frame, line.line));
    lines
}

/// Reads the self costs of a profile by sample type. Its executable's nodes are numbered below `nodes_end`.
pub(crate) fn read_all_costs(
    rows: &Rows,
    record: &ProfileRecord,
    nodes_end: NodeNo,
) -> Result<Vec<NodeCosts>> {
    let types = record.types();
    types
        .map(|t| read_costs(rows, Column::Costs(record.number, t), nodes_end))
        .collect()
}

/// Reads a column of self costs of an executable whose nodes are numbered below `nodes_end`.
pub(crate) fn read_costs(rows: &Rows, column: Column, nodes_end: NodeNo) -> Result<NodeCosts> {
    PackedCosts::read(rows, column, nodes_end)?.unpack()
}

/// A packed column of self costs. A few bytes may unpack to any number of costs.
pub(crate) struct PackedCosts {
    column: Column,
    /// The end of the executable's node numbers.
    nodes_end: NodeNo,
    body: Vec<u8>,
}

impl PackedCosts {
    pub(crate) fn read(rows: &Rows, column: Column, nodes_end: NodeNo) -> Result<Self> {
        Ok(PackedCosts {
            column,
            nodes_end,
            body: rows.column(column)?,
        })
    }

    pub(crate) fn unpack(&self) -> Result<NodeCosts> {
        unpack_costs(&self.body, self.nodes_end).map_err(|error| error.at(self.column))
    }

    /// Checks that all of these together fit in memory when unpacked.
    pub(crate) fn check<'a>(all: impl Iterator<Item = &'a PackedCosts>) -> Result<()> {
        let mut costs = 0;
        for packed in all {
            let announced =
                announced_items(&packed.body).map_err(|error| error.at(packed.column))?;
            // A column with more costs than nodes is damaged, which unpacking reports.
            costs += u64::from(announced.min(packed.nodes_end.0));
        }
        memory::check_limit(Bytes(costs * size_of::<(NodeNo, Cost)>() as u64))?;
        Ok(())
    }
}

/// Reads the line costs of a profile for one sample type.
pub(crate) fn read_lines(
    rows: &Rows,
    profile: ProfileNo,
    sample_type: TypeNo,
) -> Result<Vec<LineCost<FrameNo>>> {
    let column = Column::Lines(profile, sample_type);
    unpack_lines(&rows.column(column)?, rows.contents.frames).map_err(|error| error.at(column))
}
