//! Addresses of code whose names may be found later, with all that they take to become frames then.

use super::frame_tree::{FrameTree, StackNodes};
use super::slice_costs::{grid, of_sums, slice_costs};
use super::stack_costs::{CostSums, InternError, costs_by_stack};
use crate::symbolize::{CodeLine, CodeLineIx, Symbols};
use hashbrown::HashMap;
use sto_formats::recording::{Location, LocationIx, Module, ModuleIx, Recording, Sample, StackIx};
use sto_model::tree::{
    AddressStack, Addresses, Interned, NodeIx, SelfCosts, SliceCosts, SliceCount,
};
use sto_model::{Frame, FrameIx, FrameKind};

/// The addresses to keep of what samples of a recording became with these symbols. Traces of calls have none:
/// their calls are of nodes.
pub(crate) fn addresses(
    recording: &Recording,
    symbols: &Symbols,
    interned: &Interned,
    slices: Option<SliceCount>,
    keep: impl Fn(&Sample) -> bool + Copy,
) -> Result<Option<Addresses>, InternError> {
    let Some(apart) = Apart::of(recording, symbols) else {
        return Ok(None);
    };
    let costs = costs_by_stack(recording, keep)?;
    let tree = FrameTree::of(recording, &apart.symbols, &costs)?;
    let grid = slices.map(|count| grid(recording, count)).transpose()?;
    let slices_of = |nodes: &StackNodes| {
        grid.map_or_else(Vec::new, |grid| {
            slice_costs(recording, nodes, grid, keep).costs
        })
    };
    Ok(apart.addresses(recording, interned, tree, slices_of))
}

/// The same of what the addresses of a profile became, whose stacks are those of the recording.
pub(crate) fn addresses_left(
    recording: &Recording,
    symbols: &Symbols,
    interned: &Interned,
    slices: &[SliceCosts],
) -> Result<Option<Addresses>, InternError> {
    let Some(apart) = Apart::of(recording, symbols) else {
        return Ok(None);
    };
    let costs = costs_by_stack(recording, |_| true)?;
    let tree = FrameTree::of(recording, &apart.symbols, &costs)?;
    let slices_of = |nodes: &StackNodes| moved(slices, |stack| nodes.of(StackIx(stack.0)));
    Ok(apart.addresses(recording, interned, tree, slices_of))
}

/// Costs by slice of nodes that became these.
pub(crate) fn moved(slices: &[SliceCosts], node: impl Fn(NodeIx) -> NodeIx) -> Vec<SliceCosts> {
    let slices = slices.iter().map(|costs| {
        let mut sums = CostSums::default();
        for cost in costs.iter() {
            sums.add((cost.context, cost.slice, node(cost.node)), cost.cost);
        }
        of_sums(sums)
    });
    slices.collect()
}

/// Symbols by which each address that is kept is a frame of its own.
struct Apart<'a> {
    symbols: Symbols,
    /// What the addresses are without that.
    known: &'a Symbols,
}

impl Apart<'_> {
    fn of<'a>(recording: &Recording, known: &'a Symbols) -> Option<Apart<'a>> {
        let mut is_open = vec![false; recording.modules.len()];
        for module in &known.modules {
            is_open[module.module.get()] = module.may_be_found;
        }
        if recording.calls.is_some() || !is_open.contains(&true) {
            return None;
        }
        let mut symbols = Symbols {
            frames: known.frames.clone(),
            lines: known.lines.clone(),
            ends: known.ends.clone(),
            expansion: known.expansion.clone(),
            ..Symbols::default()
        };
        for (location, ix) in recording.locations.iter().zip(0..) {
            let range = known.range_of(LocationIx(ix));
            if let Location::Address { module, .. } = *location
                && is_open[module.get()]
                && range.len() == 1
            {
                let frame = symbols.frames.insert(of_location(ix));
                symbols.expansion[range.start] = CodeLineIx(symbols.lines.len() as u32);
                symbols.lines.push(CodeLine { frame, line: 0 });
            }
        }
        Some(Apart { symbols, known })
    }

    fn addresses(
        &self,
        recording: &Recording,
        interned: &Interned,
        apart: FrameTree,
        slices_of: impl FnOnce(&StackNodes) -> Vec<SliceCosts>,
    ) -> Option<Addresses> {
        let locations: Vec<Option<u32>> =
            apart.frames.iter().map(|(_, f)| location_of(f)).collect();
        let table = Table::of(recording, locations.iter().copied().flatten())?;
        let frames = apart.frames.iter().zip(&locations);
        let frames = frames.map(|((_, frame), location)| {
            interned.frames.find(match *location {
                Some(location) => {
                    let line = self.known.of(LocationIx(location))[0];
                    self.known.frames.frame(self.known.lines[line.get()].frame)
                }
                None => frame,
            })
        });
        let frames: Vec<FrameIx> = frames.collect::<Option<_>>()?;

        // The profile's node of each stack.
        let own = &interned.tree;
        let callees: HashMap<(Option<NodeIx>, FrameIx), NodeIx> = own
            .nodes()
            .map(|node| ((own.parent(node), own.frame(node)), node))
            .collect();
        let tree = &apart.tree;
        let mut node_of: Vec<NodeIx> = Vec::with_capacity(tree.len());
        for node in tree.nodes() {
            let caller = tree.parent(node).map(|caller| node_of[caller.get()]);
            let callee = callees.get(&(caller, frames[tree.frame(node).get()]));
            node_of.push(*callee?);
        }
        let mut order: Vec<NodeIx> = tree.nodes().collect();
        order.sort_by_key(|node| node_of[node.get()]);
        let mut index_of = vec![u32::MAX; tree.len()];
        let mut stacks = Vec::with_capacity(tree.len());
        for group in order.chunk_by_mut(|a, b| node_of[a.get()] == node_of[b.get()]) {
            let stack = |node: NodeIx| AddressStack {
                node: node_of[node.get()],
                caller: tree.parent(node).map(|caller| index_of[caller.get()]),
                address: locations[tree.frame(node).get()]
                    .map(|location| table.index_of[&location]),
            };
            let mut of_node: Vec<(AddressStack, NodeIx)> =
                group.iter().map(|&node| (stack(node), node)).collect();
            of_node.sort_unstable_by_key(|(stack, _)| (stack.caller, stack.address));
            for (stack, node) in of_node {
                index_of[node.get()] = stacks.len() as u32;
                stacks.push(stack);
            }
        }
        let index = |node: NodeIx| NodeIx(index_of.get(node.get()).copied().unwrap_or(u32::MAX));
        let costs = apart.costs.into_iter().map(|costs| {
            let mut costs: SelfCosts = costs
                .iter()
                .map(|&(node, cost)| (index(node), cost))
                .collect();
            costs.sort_unstable_by_key(|&(stack, _)| stack);
            costs
        });
        Some(Addresses {
            costs: costs.collect(),
            slices: slices_of(&apart.nodes.map(index)),
            modules: table.modules,
            addresses: table.addresses,
            stacks,
        })
    }
}

/// The modules and addresses of locations, in order.
struct Table {
    modules: Vec<Module>,
    addresses: Vec<(u32, u64)>,
    /// By location.
    index_of: HashMap<u32, u32>,
}

impl Table {
    /// `None` where there are no locations.
    fn of(recording: &Recording, locations: impl Iterator<Item = u32>) -> Option<Table> {
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
        let mut table = Table {
            modules: Vec::new(),
            addresses: Vec::new(),
            index_of: HashMap::new(),
        };
        let mut last = None;
        for (module, address, location) in used {
            if last.replace(module) != Some(module) {
                table.modules.push(Module {
                    // Files are searched by build id, or named by hand.
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

/// The frame that stands for an address alone: no other has an empty symbol of this kind.
fn of_location(location: u32) -> Frame<'static> {
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
