//! The distinct stacks of a recording, and walks over them.

use super::parts::{LocationIx, StackIx};
use hashbrown::HashTable;
use std::borrow::Cow;
use std::hash::BuildHasher;
use sto_model::units::Cost;

/// Distinct stacks. Each is a list of locations, root first, that follow the locations of its
/// caller stack, if it has one.
///
/// If a file spells out a stack, all its locations are its own. If a file stores each caller once
/// for many stacks, so does this table; memory is then proportional to the file, not to the depth
/// of the stacks.
#[derive(Clone, Default)]
pub struct Stacks {
    callers: Vec<u32>,
    /// Number of locations of each stack, including its callers'.
    depths: Vec<u32>,
    ends: Vec<u32>,
    locations: Vec<LocationIx>,
    /// Stack indices with their hashes, so that the table grows without hashing again.
    index: HashTable<(u64, u32)>,
    hasher: hashbrown::DefaultHashBuilder,
}

const NONE: u32 = u32::MAX;

impl Stacks {
    /// Number of distinct stacks, including those that are only callers of others.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns `true` if there are no stacks.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The stack whose locations precede the ones in [`Stacks::own_locations`]. It has a smaller index.
    pub fn caller(&self, stack: StackIx) -> Option<StackIx> {
        let caller = self.callers[stack.get()];
        (caller != NONE).then_some(StackIx(caller))
    }

    /// The locations of a stack that its caller does not have, root first.
    pub fn own_locations(&self, stack: StackIx) -> &[LocationIx] {
        own_at(&self.ends, &self.locations, stack.0)
    }

    /// Number of locations of a stack, including its callers'.
    pub fn depth(&self, stack: StackIx) -> usize {
        self.depths[stack.get()] as usize
    }

    /// The innermost location of a stack; `None` if the stack is empty.
    pub fn leaf(&self, stack: StackIx) -> Option<LocationIx> {
        self.own_locations(stack).last().copied()
    }

    /// All locations of a stack, root first. They are copied if the stack has a caller.
    pub fn get(&self, stack: StackIx) -> Cow<'_, [LocationIx]> {
        let Some(caller) = self.caller(stack) else {
            return Cow::Borrowed(self.own_locations(stack));
        };
        let callers = std::iter::successors(Some(caller), |&caller| self.caller(caller));
        let own = std::iter::once(stack)
            .chain(callers)
            .map(|stack| self.own_locations(stack));
        let mut leaf_first: Vec<LocationIx> = Vec::with_capacity(self.depth(stack));
        own.for_each(|own| leaf_first.extend(own.iter().rev()));
        leaf_first.reverse();
        Cow::Owned(leaf_first)
    }

    /// All stacks; callers precede their callees.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = StackIx> + use<> {
        (0..self.len() as u32).map(StackIx)
    }

    /// Adds a stack, root first, or finds it. Returns `None` if all stacks together would reach
    /// 2^32 locations.
    pub fn try_insert(&mut self, stack: &[LocationIx]) -> Option<StackIx> {
        self.insert_below(NONE, 0, stack)
    }

    /// Adds the stack in which `caller` calls `callee`, or finds it; without a caller, `callee` is
    /// the root. Returns `None` in the same case as [`Stacks::try_insert`].
    #[doc(hidden)]
    pub fn try_insert_call(
        &mut self,
        caller: Option<StackIx>,
        callee: LocationIx,
    ) -> Option<StackIx> {
        match caller {
            Some(caller) => self.insert_below(caller.0, self.depth(caller), &[callee]),
            None => self.insert_below(NONE, 0, &[callee]),
        }
    }

    fn insert_below(&mut self, caller: u32, above: usize, own: &[LocationIx]) -> Option<StackIx> {
        let Self {
            callers,
            depths,
            ends,
            locations,
            index,
            hasher,
        } = self;
        let hash = hasher.hash_one((caller, own));
        let is_this = |&(known, ix): &(u64, u32)| {
            known == hash && callers[ix as usize] == caller && own_at(ends, locations, ix) == own
        };
        if let Some(&(_, ix)) = index.find(hash, is_this) {
            return Some(StackIx(ix));
        }
        let ix = u32::try_from(ends.len()).ok().filter(|&ix| ix != NONE)?;
        let end = u32::try_from(locations.len() + own.len()).ok()?;
        let depth = u32::try_from(above + own.len()).ok()?;
        locations.extend_from_slice(own);
        ends.push(end);
        callers.push(caller);
        depths.push(depth);
        index.insert_unique(hash, (hash, ix), |&(hash, _)| hash);
        Some(StackIx(ix))
    }
}

fn own_at<'a>(ends: &[u32], locations: &'a [LocationIx], ix: u32) -> &'a [LocationIx] {
    let ix = ix as usize;
    let start = if ix == 0 { 0 } else { ends[ix - 1] as usize };
    &locations[start..ends[ix] as usize]
}

impl std::fmt::Debug for Stacks {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let stacks = self
            .iter()
            .map(|stack| (self.caller(stack), self.own_locations(stack)));
        f.debug_list().entries(stacks).finish()
    }
}

/// A walk over stacks and their costs that visits each stack once, no matter how many stacks it
/// calls.
#[doc(hidden)]
pub struct Walk<'s> {
    stacks: &'s Stacks,
    totals: Vec<Cost>,
    state: Vec<State>,
    /// By stack: its first callee in this walk, and the next callee of its caller.
    callees: Vec<u32>,
    siblings: Vec<u32>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Unused,
    Used,
    Open,
}

#[doc(hidden)]
pub struct Visit<'w> {
    pub stack: StackIx,
    /// The self cost of the stack, and its total cost including the stacks that it calls.
    pub own: Cost,
    pub total: Cost,
    state: &'w [State],
}

impl Visit<'_> {
    /// Returns `true` if a stack is the visited one or calls it, directly or indirectly.
    pub fn is_within(&self, stack: StackIx) -> bool {
        self.state.get(stack.get()) == Some(&State::Open)
    }
}

impl<'s> Walk<'s> {
    pub fn new(stacks: &'s Stacks) -> Walk<'s> {
        Walk {
            stacks,
            totals: vec![Cost::ZERO; stacks.len()],
            state: vec![State::Unused; stacks.len()],
            callees: vec![NONE; stacks.len()],
            siblings: vec![NONE; stacks.len()],
        }
    }

    /// Visits each stack that has costs or a callee with costs, depth first, callers before
    /// callees. `costs` are in ascending order of distinct stacks.
    pub fn visit(&mut self, costs: &[(StackIx, Cost)], mut visit: impl FnMut(Visit<'_>)) {
        let mut used: Vec<u32> = Vec::with_capacity(costs.len());
        for &(stack, cost) in costs {
            self.totals[stack.get()] = cost;
            let mut next = Some(stack);
            while let Some(stack) = next
                && self.state[stack.get()] == State::Unused
            {
                self.state[stack.get()] = State::Used;
                used.push(stack.0);
                next = self.stacks.caller(stack);
            }
        }
        // If no stack has a caller, they are sorted already.
        used.sort_unstable();
        for &stack in used.iter().rev() {
            if let Some(StackIx(caller)) = self.stacks.caller(StackIx(stack)) {
                let total = self.totals[stack as usize];
                self.totals[caller as usize] += total;
                self.siblings[stack as usize] = self.callees[caller as usize];
                self.callees[caller as usize] = stack;
            }
        }
        let own = |stack: u32| {
            let found = costs.binary_search_by_key(&stack, |(stack, _)| stack.0);
            found.map_or(Cost::ZERO, |at| costs[at].1)
        };
        for &root in &used {
            if self.stacks.caller(StackIx(root)).is_some() {
                continue;
            }
            let mut next = root;
            while next != NONE {
                let (stack, at) = (next, next as usize);
                self.state[at] = State::Open;
                next = self.callees[at];
                visit(Visit {
                    stack: StackIx(stack),
                    own: if next == NONE {
                        self.totals[at]
                    } else {
                        own(stack)
                    },
                    total: self.totals[at],
                    state: &self.state,
                });
                let mut ended = stack;
                while next == NONE && ended != NONE {
                    self.state[ended as usize] = State::Used;
                    next = self.siblings[ended as usize];
                    ended = self.stacks.callers[ended as usize];
                }
            }
        }
        for stack in used {
            self.totals[stack as usize] = Cost::ZERO;
            self.state[stack as usize] = State::Unused;
            self.callees[stack as usize] = NONE;
            self.siblings[stack as usize] = NONE;
        }
    }
}
