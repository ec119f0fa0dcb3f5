//! Addresses of code whose names may be found later.

use super::{NodeIx, SelfCosts, SliceCosts, StackTree};
use crate::Module;
use crate::units::Cost;

/// The addresses of a profile in files that were not found, or are stripped.
///
/// Many addresses are one frame. Where stacks differ in nothing but these, they are apart here.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Addresses {
    /// The files.
    pub modules: Vec<Module>,
    /// Distinct addresses, in ascending order: index of the module, and what a
    /// [`Location::Address`](crate::Location::Address) of it has.
    pub addresses: Vec<(u32, u64)>,
    /// The stacks of the profile by address, in the order of their nodes, then callers, then addresses.
    pub stacks: Vec<AddressStack>,
    /// Self costs by sample type; the nodes are indices of [`Addresses::stacks`].
    pub costs: Vec<SelfCosts>,
    /// The same by context and slice of time, where the profile has [slices](super::Interned::slices).
    pub slices: Vec<SliceCosts>,
}

/// A stack whose code is known by address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AddressStack {
    /// The node that it is part of.
    pub node: NodeIx,
    /// The stack that called it, by its index.
    pub caller: Option<u32>,
    /// The address of its last frame, by its index, where that is kept.
    pub address: Option<u32>,
}

impl Addresses {
    /// Whether its stacks are those of a profile's nodes, in order, and cost what these do.
    #[doc(hidden)]
    pub fn are_of(&self, tree: &StackTree, costs: &[SelfCosts]) -> bool {
        let stacks = &self.stacks;
        let key = |stack: &AddressStack| (stack.node, stack.caller, stack.address);
        let is_sound = |(ix, stack): (usize, &AddressStack)| {
            let caller = stack.caller.map(|caller| stacks.get(caller as usize));
            let parent = (stack.node.get() < tree.len()).then(|| tree.parent(stack.node));
            parent == Some(caller.flatten().map(|caller| caller.node))
                && stack.caller.is_none_or(|caller| (caller as usize) < ix)
                && stack
                    .address
                    .is_none_or(|address| (address as usize) < self.addresses.len())
        };
        let is_sum = |(of_stacks, own): (&SelfCosts, &SelfCosts)| {
            let node =
                |(stack, _): &(NodeIx, Cost)| stacks.get(stack.get()).map(|stack| stack.node);
            let sums = of_stacks.chunk_by(|a, b| node(a) == node(b)).map(|costs| {
                let mut sum = costs.iter().map(|&(_, cost)| cost);
                (node(&costs[0]), sum.try_fold(Cost::ZERO, Cost::checked_add))
            });
            of_stacks.is_sorted_by(|a, b| a.0 < b.0)
                && sums.eq(own.iter().map(|&(node, cost)| (Some(node), Some(cost))))
        };
        stacks.is_sorted_by(|a, b| key(a) < key(b))
            && stacks.iter().enumerate().all(is_sound)
            && self.addresses.is_sorted_by(|a, b| a < b)
            && self
                .addresses
                .iter()
                .all(|&(module, _)| (module as usize) < self.modules.len())
            && self.costs.len() == costs.len()
            && self.costs.iter().zip(costs).all(is_sum)
    }
}
