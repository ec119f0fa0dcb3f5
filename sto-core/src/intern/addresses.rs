//! The addresses of a profile that may be resolved later, with the stacks and costs needed to do so.

use super::frame_tree::{FrameTree, StackNodes};
use super::slice_costs::{costs_from_sums, grid, slice_costs};
use super::stack_costs::{CostSums, InternError, costs_by_stack};
use crate::symbolize::{CodeLine, CodeLineIx, Symbols};
use hashbrown::HashMap;
use rayon::prelude::*;
use sto_formats::recording::{Location, LocationIx, Module, ModuleIx, Recording, Sample, StackIx};
use sto_model::tree::{
    AddressStack, NodeIx, ProfileAddresses, SelfCosts, SliceCosts, SliceCount, StackTree,
};
use sto_model::{Frame, FrameKind};

/// Returns the addresses to keep of a profile like [`AddressTree::addresses`], for a recording that was made from a
/// profile's kept addresses; `slices` are the costs of its stacks by slice.
pub(crate) fn remaining_addresses(
    recording: &Recording,
    symbols: &Symbols,
    profile: ProfileNodes<'_>,
    slices: &[SliceCosts],
) -> Result<Option<ProfileAddresses>, InternError> {
    let tree = AddressTree::new(recording, symbols, |_| true)?;
    let slices_of = |nodes: &StackNodes| remap_slices(slices, |stack| nodes.node(StackIx(stack.0)));
    Ok(tree.and_then(|tree| tree.with_slices(recording, profile, slices_of)))
}

/// Moves costs by slice to other nodes, adding up those that come to the same one.
pub(crate) fn remap_slices(
    slices: &[SliceCosts],
    node: impl Fn(NodeIx) -> NodeIx,
) -> Vec<SliceCosts> {
    let slices = slices.iter().map(|costs| {
        let mut sums = CostSums::default();
        for cost in costs.iter() {
            sums.add((cost.context, cost.slice, node(cost.node)), cost.cost);
        }
        costs_from_sums(sums)
    });
    slices.collect()
}

/// The stacks of a profile in which each address that is kept is a frame of its own.
pub(crate) struct AddressTree {
    tree: FrameTree,
    /// The stacks that have costs, possibly repeated.
    stacks: Vec<StackIx>,
}

/// The tree of a profile, and its node for each stack.
type ProfileNodes<'a> = (&'a StackTree, &'a StackNodes);

impl AddressTree {
    /// Returns `None` if no address is kept. Traces of calls keep none, because their calls refer to nodes.
    pub(crate) fn new(
        recording: &Recording,
        known: &Symbols,
        keep: impl Fn(&Sample) -> bool,
    ) -> Result<Option<AddressTree>, InternError> {
        let Some(symbols) = symbols_by_address(recording, known) else {
            return Ok(None);
        };
        let costs = costs_by_stack(recording, keep)?;
        let tree = FrameTree::new(recording, &symbols, &costs)?;
        let stacks = costs.iter().flatten().map(|&(stack, _)| stack).collect();
        Ok(Some(AddressTree { tree, stacks }))
    }

    /// Returns the addresses to keep of the profile that was interned from the same samples.
    pub(crate) fn addresses(
        self,
        recording: &Recording,
        profile: ProfileNodes<'_>,
        slices: Option<SliceCount>,
        keep: impl Fn(&Sample) -> bool + Copy,
    ) -> Result<Option<ProfileAddresses>, InternError> {
        let grid = slices.map(|count| grid(recording, count)).transpose()?;
        let slices_of = |nodes: &StackNodes| {
            grid.map_or_else(Vec::new, |grid| {
                slice_costs(recording, nodes, grid, keep).costs
            })
        };
        Ok(self.with_slices(recording, profile, slices_of))
    }

    fn with_slices(
        self,
        recording: &Recording,
        profile: ProfileNodes<'_>,
        slices_of: impl FnOnce(&StackNodes) -> Vec<SliceCosts>,
    ) -> Option<ProfileAddresses> {
        let AddressTree {
            tree: by_address,
            stacks,
        } = self;
        let own_frames = || by_address.frames.iter().map(|(_, frame)| frame);
        let locations: Vec<Option<u32>> = own_frames().map(location_of).collect();
        let table = AddressTable::new(recording, locations.iter().copied().flatten())?;
        // Both trees have each stack at the same depth, so their nodes correspond from the leaf to the root.
        let tree = &by_address.tree;
        let mut node_of: Vec<Option<NodeIx>> = vec![None; tree.len()];
        for stack in stacks {
            let mut node = Some(by_address.nodes.node(stack));
            let mut of_profile = Some(profile.1.node(stack));
            while let (Some(own), Some(other)) = (node, of_profile)
                && node_of[own.get()].is_none()
            {
                node_of[own.get()] = Some(other);
                (node, of_profile) = (tree.parent(own), profile.0.parent(other));
            }
        }
        let node_of: Vec<NodeIx> = node_of.into_iter().collect::<Option<_>>()?;
        let mut order: Vec<NodeIx> = tree.nodes().collect();
        order.par_sort_unstable_by_key(|node| node_of[node.get()]);
        let mut index_of = vec![u32::MAX; tree.len()];
        let mut stacks = Vec::with_capacity(tree.len());
        for group in order.chunk_by_mut(|a, b| node_of[a.get()] == node_of[b.get()]) {
            let stack = |node: NodeIx| AddressStack {
                node: node_of[node.get()],
                caller: tree.parent(node).map(|caller| index_of[caller.get()]),
                address: locations[tree.frame(node).get()]
                    .map(|location| table.index_of[&location]),
            };
            let mut group_stacks: Vec<(AddressStack, NodeIx)> =
                group.iter().map(|&node| (stack(node), node)).collect();
            group_stacks.sort_unstable_by_key(|(stack, _)| (stack.caller, stack.address));
            for (stack, node) in group_stacks {
                index_of[node.get()] = stacks.len() as u32;
                stacks.push(stack);
            }
        }
        let index = |node: NodeIx| NodeIx(index_of.get(node.get()).copied().unwrap_or(u32::MAX));
        let costs = by_address.costs.iter().map(|by_node| {
            let by_stack = by_node.iter().map(|&(node, cost)| (index(node), cost));
            let mut by_stack: SelfCosts = by_stack.collect();
            by_stack.sort_unstable_by_key(|&(stack, _)| stack);
            by_stack
        });
        Some(ProfileAddresses {
            costs: costs.collect(),
            slices: slices_of(&by_address.nodes.map(index)),
            modules: table.modules,
            addresses: table.addresses,
            stacks,
        })
    }
}

/// Returns symbols in which each address that is kept is a frame of its own; `None` if no address is kept.
fn symbols_by_address(recording: &Recording, known: &Symbols) -> Option<Symbols> {
    let mut is_kept = vec![false; recording.modules.len()];
    for module in &known.modules {
        is_kept[module.module.get()] = module.may_be_found;
    }
    if recording.calls.is_some() || !is_kept.contains(&true) {
        return None;
    }
    let mut symbols = Symbols {
        frames: known.frames.clone(),
        lines: known.lines.clone(),
        ends: known.ends.clone(),
        expansion: known.expansion.clone(),
        ..Symbols::default()
    };
    let empty = symbols.frames.intern_string("");
    for (location, ix) in recording.locations.iter().zip(0..) {
        let range = known.range_of(LocationIx(ix));
        if let Location::Address { module, .. } = *location
            && is_kept[module.get()]
            && range.len() == 1
        {
            let frame = location_frame(ix).to_row([empty; 3]);
            let frame = symbols.frames.insert_row(frame);
            symbols.expansion[range.start] = CodeLineIx(symbols.lines.len() as u32);
            symbols.lines.push(CodeLine { frame, line: 0 });
        }
    }
    Some(symbols)
}

/// The addresses of locations and their modules, in ascending order.
struct AddressTable {
    modules: Vec<Module>,
    /// Index of the module, and address in it.
    addresses: Vec<(u32, u64)>,
    /// For each location the index of its address.
    index_of: HashMap<u32, u32>,
}

impl AddressTable {
    /// Returns `None` if there are no locations.
    fn new(recording: &Recording, locations: impl Iterator<Item = u32>) -> Option<AddressTable> {
        let mut used: Vec<(ModuleIx, u64, u32)> = Vec::new();
        for ix in locations {
            if let Location::Address { module, address } = recording.locations[ix as usize] {
                used.push((module, address, ix));
            }
        }
        used.sort_by_cached_key(|&(ix, address, _)| {
            let module = &recording.modules[ix.get()];
            (&module.path, &module.build_id, ix, address)
        });
        let mut table = AddressTable {
            modules: Vec::new(),
            addresses: Vec::new(),
            index_of: HashMap::new(),
        };
        let mut last = None;
        for (module, address, location) in used {
            if last.replace(module) != Some(module) {
                table.modules.push(Module {
                    // Later, files are found by build id or given by the user, not by inode.
                    inode: None,
                    ..recording.modules[module.get()].clone()
                });
            }
            let ix = table.addresses.len() as u32;
            table.index_of.insert(location, ix);
            table
                .addresses
                .push((table.modules.len() as u32 - 1, address));
        }
        (!table.addresses.is_empty()).then_some(table)
    }
}

/// Returns the frame that stands for the address of a location: the only kind of unresolved frame with an empty symbol.
fn location_frame(location: u32) -> Frame<'static> {
    Frame {
        kind: FrameKind::Unresolved,
        symbol: "",
        module: "",
        file: "",
        line: location,
    }
}

fn location_of(frame: Frame<'_>) -> Option<u32> {
    (frame.symbol.is_empty() && frame.kind == FrameKind::Unresolved).then_some(frame.line)
}
