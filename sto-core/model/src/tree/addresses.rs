//! Code addresses that are kept so that they can be symbolized later.

use super::{NodeIx, SelfCosts, SliceCosts, StackTree};
use crate::Module;
use crate::units::Cost;

/// The addresses of a profile in files that were not found or are stripped.
///
/// All unnamed addresses of a file can be the same frame. Stacks that differ only in such addresses share a node
/// of the tree, but are separate here.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProfileAddresses {
    /// The files that contain the addresses.
    pub modules: Vec<Module>,
    /// Distinct addresses, in ascending order: the index of the module, and an address as in
    /// [`Location::Address`](crate::Location::Address).
    pub addresses: Vec<(u32, u64)>,
    /// The stacks of the profile, ordered by node, caller and address.
    pub stacks: Vec<AddressStack>,
    /// Self costs by sample type. The node indices are indices into [`ProfileAddresses::stacks`].
    pub costs: Vec<SelfCosts>,
    /// Self costs by context and time slice, if the profile has [slices](super::ProfileData::slices).
    pub slices: Vec<SliceCosts>,
}

/// A stack of addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AddressStack {
    /// The node of the profile's tree that the stack belongs to.
    pub node: NodeIx,
    /// Index of the caller's stack.
    pub caller: Option<u32>,
    /// Index of the address of the innermost frame, if that is kept.
    pub address: Option<u32>,
}

impl ProfileAddresses {
    /// Returns `true` if the stacks and costs are in order, and consistent with a profile's tree and self costs.
    #[doc(hidden)]
    pub fn are_consistent_with(&self, tree: &StackTree, costs: &[SelfCosts]) -> bool {
        let stacks = &self.stacks;
        let key = |stack: &AddressStack| (stack.node, stack.caller, stack.address);
        let is_valid = |(ix, stack): (usize, &AddressStack)| {
            let caller = stack.caller.map(|caller| stacks.get(caller as usize));
            let parent = (stack.node.get() < tree.len()).then(|| tree.parent(stack.node));
            parent == Some(caller.flatten().map(|caller| caller.node))
                && stack.caller.is_none_or(|caller| (caller as usize) < ix)
                && stack
                    .address
                    .is_none_or(|address| (address as usize) < self.addresses.len())
        };
        let add_up = |(stack_costs, node_costs): (&SelfCosts, &SelfCosts)| {
            let node =
                |(stack, _): &(NodeIx, Cost)| stacks.get(stack.get()).map(|stack| stack.node);
            let sums = stack_costs
                .chunk_by(|a, b| node(a) == node(b))
                .map(|costs| {
                    let mut sum = costs.iter().map(|&(_, cost)| cost);
                    (node(&costs[0]), sum.try_fold(Cost::ZERO, Cost::checked_add))
                });
            stack_costs.is_sorted_by(|a, b| a.0 < b.0)
                && sums.eq(node_costs
                    .iter()
                    .map(|&(node, cost)| (Some(node), Some(cost))))
        };
        stacks.is_sorted_by(|a, b| key(a) < key(b))
            && stacks.iter().enumerate().all(is_valid)
            && self.addresses.is_sorted_by(|a, b| a < b)
            && self
                .addresses
                .iter()
                .all(|&(module, _)| (module as usize) < self.modules.len())
            && self.costs.len() == costs.len()
            && self.costs.iter().zip(costs).all(add_up)
    }
}
