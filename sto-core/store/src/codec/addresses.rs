//! Addresses whose names may be found later.
//!
//! Most address stacks differ from their node's stack only by address. So the pack has the number of address
//! stacks per node, and their costs if a node has several; the rest follows from the profile.

use super::bytes::{MAX_COLUMN_LEN, MAX_VARINT_32, MAX_VARINT_64, Packer, Unpacker};
use super::slices::{is_consistent, pack_cells, unpack_cells};
use super::{DecodeError, pack, pack_costs, unpack, unpack_costs};
use crate::numbers::NodeNo;
use serde::{Deserialize, Serialize};
use std::ops::Range;
use sto_model::GnuBuildId;
use sto_model::limits::MAX_NAME;
use sto_model::tree::{
    AddressStack, NodeIx, ProfileAddresses, ProfileData, SelfCosts, StackTree, TimeSlices,
};
use sto_model::units::Cost;
use sto_model::{Module, ModuleKind};

/// The stored form of a module.
#[derive(Serialize, Deserialize)]
struct PackedModule {
    path: String,
    kind: u8,
    build_id: Option<GnuBuildId>,
    text_address: Option<u64>,
    alias: Option<String>,
}

/// The kinds of modules that can have addresses, by number.
const KINDS: [ModuleKind; 4] = [
    ModuleKind::File,
    ModuleKind::Image,
    ModuleKind::Kernel,
    ModuleKind::KernelModule,
];

/// Packs the addresses of a profile.
pub(crate) fn pack_addresses(
    addresses: &ProfileAddresses,
    interned: &ProfileData,
) -> Result<Vec<u8>, DecodeError> {
    let modules = addresses.modules.iter().map(|module| {
        let kind = KINDS.iter().position(|&kind| kind == module.kind);
        Ok(PackedModule {
            path: module.path.clone(),
            kind: kind.ok_or(OTHER_KIND)? as u8,
            build_id: module.build_id.clone(),
            text_address: module.text_address,
            alias: module.alias.clone(),
        })
    });
    let modules = modules.collect::<Result<Vec<_>, _>>()?;
    let mut list = Packer::default();
    list.raw(&pack(&modules)?);
    let [mut per_module, mut numbers, mut versions, mut last] = [(); 4].map(|()| Packer::default());
    for module in 0..modules.len() as u32 {
        let of_module = addresses
            .addresses
            .iter()
            .filter(|&&(owner, _)| owner == module);
        per_module.number(of_module.clone().count() as u64);
        let mut before = 0;
        for &(_, address) in of_module {
            numbers.number(address.wrapping_sub(before));
            before = address;
        }
    }
    let ends = ends(&addresses.stacks, interned.tree.len());
    for node in interned.tree.nodes() {
        let callers = callers(&interned.tree, &ends, node);
        let mut stacks = addresses.stacks[range(&ends, node)]
            .chunk_by(|a, b| a.caller == b.caller)
            .peekable();
        for caller in callers {
            let called = stacks.next_if(|stacks| stacks[0].caller == caller);
            versions.number(called.map_or(0, <[_]>::len) as u64);
        }
    }
    for stack in &addresses.stacks {
        last.number(stack.address.map_or(0, |address| u64::from(address) + 1));
    }
    let mut pack = Packer::default();
    for count in [
        modules.len(),
        addresses.addresses.len(),
        addresses.stacks.len(),
    ] {
        pack.number(count as u64);
    }
    pack.columns([list, per_module, numbers, versions, last]);
    for costs in &addresses.costs {
        let several = costs.iter().filter(|(stack, _)| {
            addresses
                .stacks
                .get(stack.get())
                .is_some_and(|stack| range(&ends, stack.node).len() > 1)
        });
        let several: Vec<(NodeNo, Cost)> = several
            .map(|&(stack, cost)| (NodeNo(stack.0), cost))
            .collect();
        let costs = pack_costs(&several)?;
        pack.number(costs.len() as u64);
        pack.raw(&costs);
    }
    if let Some(slices) = &interned.slices {
        for (cells, costs) in addresses.slices.iter().zip(&addresses.costs) {
            pack_cells(&mut pack, slices.contexts.len(), cells, costs);
        }
    }
    pack.finish()
}

/// Unpacks the addresses of a profile with this tree, self costs and slices.
pub(crate) fn unpack_addresses(
    pack: &[u8],
    tree: &StackTree,
    costs: &[SelfCosts],
    slices: Option<&TimeSlices>,
) -> Result<ProfileAddresses, DecodeError> {
    let mut pack = Unpacker::new(pack);
    let counts = [pack.number32()?, pack.number32()?, pack.number32()?];
    let [modules, count, stacks] = counts.map(|count| count as usize);
    let list = pack.column()?;
    let list: Vec<PackedModule> = unpack(&list)?;
    if list.len() != modules {
        return Err(DecodeError("there are other modules than announced"));
    }
    let mut addresses = ProfileAddresses {
        modules: list.into_iter().map(module).collect::<Result<_, _>>()?,
        ..ProfileAddresses::default()
    };
    let most = |things: usize, bytes: usize| things.saturating_mul(bytes).min(MAX_COLUMN_LEN);
    let per_module = pack.column_within(most(modules, MAX_VARINT_32))?;
    let numbers = pack.column_within(most(count, MAX_VARINT_64))?;
    let versions = pack.column()?;
    let last = pack.column_within(most(stacks, MAX_VARINT_32))?;
    if last.len() < stacks {
        return Err(OTHER_STACKS);
    }
    addresses.addresses = read_addresses(modules, count, &per_module, &numbers)?;
    addresses.stacks = read_stacks(tree, stacks, count, &versions, &last)?;

    let ends = ends(&addresses.stacks, tree.len());
    let end = NodeNo(addresses.stacks.len() as u32);
    for own in costs {
        let len = usize::try_from(pack.number()?).map_err(|_| OTHER_COSTS)?;
        let several = unpack_costs(pack.raw(len)?, end)?;
        let several = several
            .into_iter()
            .map(|(stack, cost)| (NodeIx(stack.0), cost));
        let mut all: SelfCosts = several.collect();
        if all
            .iter()
            .any(|(stack, _)| range(&ends, addresses.stacks[stack.get()].node).len() < 2)
        {
            return Err(OTHER_COSTS);
        }
        for &(node, cost) in own {
            let range = range(&ends, node);
            if range.len() == 1 {
                all.push((NodeIx(range.start as u32), cost));
            }
        }
        all.sort_unstable_by_key(|&(stack, _)| stack);
        addresses.costs.push(all);
    }
    if !addresses.are_consistent_with(tree, costs) {
        return Err(OTHER_COSTS);
    }
    if let Some(slices) = slices {
        for costs in &addresses.costs {
            let cells = unpack_cells(&mut pack, slices.contexts.len(), slices.grid.count(), costs)?;
            if !is_consistent(&cells, costs) {
                return Err(OTHER_COSTS);
            }
            addresses.slices.push(cells);
        }
    }
    pack.finish()?;
    Ok(addresses)
}

fn module(packed: PackedModule) -> Result<Module, DecodeError> {
    let is_valid = |id: &GnuBuildId| GnuBuildId::from_bytes(id.as_bytes()).is_some();
    let names = packed.alias.iter().chain([&packed.path]);
    if names.into_iter().any(|name| name.len() > MAX_NAME) {
        return Err(DecodeError("the path of a module of addresses is too long"));
    }
    if packed.build_id.as_ref().is_some_and(|id| !is_valid(id)) {
        return Err(DecodeError("a GNU build id is empty, zero or too long"));
    }
    Ok(Module {
        path: packed.path,
        kind: *KINDS.get(usize::from(packed.kind)).ok_or(OTHER_KIND)?,
        build_id: packed.build_id,
        inode: None,
        text_address: packed.text_address,
        alias: packed.alias,
    })
}

fn read_addresses(
    modules: usize,
    count: usize,
    per_module: &[u8],
    numbers: &[u8],
) -> Result<Vec<(u32, u64)>, DecodeError> {
    let (mut per_module, mut numbers) = (Unpacker::new(per_module), Unpacker::new(numbers));
    let mut addresses = Vec::new();
    for module in 0..modules as u32 {
        let mut before = None;
        for _ in 0..per_module.number32()? {
            let more = numbers.number()?;
            let address = before.unwrap_or(0u64).checked_add(more);
            let address = address.filter(|&address| before.is_none_or(|before| before < address));
            let address = address.ok_or(DecodeError("addresses are out of order"))?;
            addresses.push((module, address));
            before = Some(address);
        }
    }
    per_module.finish()?;
    numbers.finish()?;
    if addresses.len() == count {
        Ok(addresses)
    } else {
        Err(DecodeError("there are not as many addresses as announced"))
    }
}

fn read_stacks(
    tree: &StackTree,
    count: usize,
    addresses: usize,
    versions: &[u8],
    last: &[u8],
) -> Result<Vec<AddressStack>, DecodeError> {
    let (mut versions, mut last) = (Unpacker::new(versions), Unpacker::new(last));
    let mut stacks: Vec<AddressStack> = Vec::with_capacity(count);
    let mut ends: Vec<u32> = Vec::with_capacity(tree.len());
    for node in tree.nodes() {
        for caller in callers(tree, &ends, node) {
            let mut before = None;
            for _ in 0..versions.number32()? {
                let address = last.number32()?.checked_sub(1);
                let is_known = address.is_none_or(|address| (address as usize) < addresses);
                if stacks.len() == count
                    || !is_known
                    || before.is_some_and(|before| before >= address)
                {
                    return Err(OTHER_STACKS);
                }
                before = Some(address);
                stacks.push(AddressStack {
                    node,
                    caller,
                    address,
                });
            }
        }
        ends.push(stacks.len() as u32);
    }
    versions.finish()?;
    last.finish()?;
    if stacks.len() == count {
        Ok(stacks)
    } else {
        Err(OTHER_STACKS)
    }
}

/// The end of each node's range of stacks.
fn ends(stacks: &[AddressStack], nodes: usize) -> Vec<u32> {
    let mut ends = vec![0; nodes];
    for (ix, stack) in (1..).zip(stacks) {
        ends[stack.node.get()] = ix;
    }
    for node in 1..nodes {
        ends[node] = ends[node].max(ends[node - 1]);
    }
    ends
}

/// The range of a node's stacks.
fn range(ends: &[u32], node: NodeIx) -> Range<usize> {
    let start = node.get().checked_sub(1).map_or(0, |before| ends[before]);
    start as usize..ends[node.get()] as usize
}

/// The stacks that can be callers of a node's stacks.
fn callers(
    tree: &StackTree,
    ends: &[u32],
    node: NodeIx,
) -> impl Iterator<Item = Option<u32>> + use<> {
    let (callers, roots) = match tree.parent(node) {
        Some(parent) => (range(ends, parent), 0),
        None => (0..0, 1),
    };
    let callers = callers.map(|caller| Some(caller as u32));
    callers.chain(std::iter::repeat_n(None, roots))
}

/// The number of stacks that a pack announces.
pub(crate) fn announced_stacks(pack: &[u8]) -> Result<u32, DecodeError> {
    let mut pack = Unpacker::new(pack);
    pack.number32()?;
    pack.number32()?;
    pack.number32()
}

const OTHER_KIND: DecodeError = DecodeError("a module of addresses is of an unknown kind");
const OTHER_STACKS: DecodeError = DecodeError("there are other stacks of addresses than announced");
const OTHER_COSTS: DecodeError = DecodeError("stacks of addresses do not cost what their nodes do");

#[cfg(test)]
mod tests {
    use super::*;
    use sto_model::{Frame, FrameIx, FrameKind, FrameTable};

    fn costs(costs: &[(u32, u64)]) -> SelfCosts {
        let cost = |samples| Cost {
            samples,
            value: samples * 100,
        };
        let costs = costs.iter();
        costs
            .map(|&(node, samples)| (NodeIx(node), cost(samples)))
            .collect()
    }

    /// `a` calls `b` from two addresses, and `b` has samples at three addresses.
    fn profile() -> (ProfileData, ProfileAddresses) {
        let mut frames = FrameTable::new();
        for symbol in ["[m+0x10]", "[m+0x20]"] {
            frames.insert(Frame {
                module: "m",
                symbol,
                kind: FrameKind::Unresolved,
                file: "",
                line: 0,
            });
        }
        let mut tree = StackTree::new();
        let a = tree.push(None, FrameIx(0));
        tree.push(Some(a), FrameIx(1));
        let interned = ProfileData {
            frames,
            tree,
            costs: vec![costs(&[(0, 1), (1, 6)])],
            ..ProfileData::default()
        };
        let stack = |node, caller, address| AddressStack {
            node: NodeIx(node),
            caller,
            address: Some(address),
        };
        let addresses = ProfileAddresses {
            modules: vec![Module {
                path: "/m".to_owned(),
                kind: ModuleKind::File,
                build_id: GnuBuildId::from_bytes(&[0xab, 0xcd]),
                inode: None,
                text_address: None,
                alias: None,
            }],
            addresses: vec![(0, 0x11), (0, 0x15), (0, 0x20), (0, 0x22)],
            stacks: vec![
                stack(0, None, 0),
                stack(0, None, 1),
                stack(1, Some(0), 2),
                stack(1, Some(0), 3),
                stack(1, Some(1), 2),
            ],
            costs: vec![costs(&[(1, 1), (2, 1), (3, 2), (4, 3)])],
            slices: Vec::new(),
        };
        (interned, addresses)
    }

    fn unpacked(pack: &[u8], interned: &ProfileData) -> Result<ProfileAddresses, DecodeError> {
        unpack_addresses(pack, &interned.tree, &interned.costs, None)
    }

    #[test]
    fn pack_matches_the_specification() {
        let (interned, addresses) = profile();
        let pack = pack_addresses(&addresses, &interned).unwrap();
        let expected = [
            &[1, 4, 5][..],
            &[11, 0, 1, 2, b'/', b'm', 0, 1, 2, 0xab, 0xcd, 0, 0],
            &[1, 0, 4, 4, 0, 0x11, 4, 0x0b, 2],
            &[3, 0, 2, 2, 1, 5, 0, 1, 2, 3, 4, 3],
            &[13, 4, 4, 0, 0x11, 1, 2, 3, 0, 0, 0, 0, 0, 100],
        ];
        assert_eq!(pack, expected.concat());
        assert_eq!(unpacked(&pack, &interned), Ok(addresses));
        for len in 0..pack.len() {
            assert!(unpacked(&pack[..len], &interned).is_err(), "{len}");
        }
    }

    #[test]
    fn rejects_bytes_that_do_not_match_the_profile() {
        let (interned, addresses) = profile();
        let pack = pack_addresses(&addresses, &interned).unwrap();
        for at in 0..pack.len() {
            for bit in 0..8 {
                let mut other = pack.clone();
                other[at] ^= 1 << bit;
                if let Ok(addresses) = unpacked(&other, &interned) {
                    assert!(
                        addresses.are_consistent_with(&interned.tree, &interned.costs),
                        "{at} {bit}"
                    );
                }
            }
        }
    }
}
