//! The executable mappings of a process.

use super::jit_dump::JitDump;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use sto_model::{Location, Module, ModuleIx};

/// A part of a file that is mapped executable.
#[derive(Clone, Debug)]
pub struct Mapping {
    /// First address.
    pub start: u64,
    /// End address, exclusive.
    pub end: u64,
    /// Offset in the file of the first mapped byte.
    pub file_offset: u64,
    /// Index of the module in the recording.
    pub module: ModuleIx,
    /// The mapped module.
    pub file: Arc<Module>,
}

impl Mapping {
    /// Returns the offset in the file of an address in the mapping, or behind it if the file went on there.
    pub fn file_offset_of(&self, address: u64) -> u64 {
        (address - self.start).wrapping_add(self.file_offset)
    }
}

/// The executable mappings of a process; no two overlap.
///
/// Clones share their mappings with the original, and a change takes time logarithmic in the number of mappings.
/// That matters because a forked process starts with a clone of its parent's mappings, and every sample keeps a clone
/// of those in force when it was taken.
#[derive(Clone, Debug, Default)]
pub struct AddressSpace {
    mappings: Tree,
    jit: Option<JitCode>,
}

/// A treap ordered by the mappings' start addresses (Seidel and Aragon: *Randomized search trees*, 1996).
type Tree = Option<Arc<Node>>;

#[derive(Clone, Debug)]
struct Node {
    mapping: Mapping,
    /// At least the priority of each child. It is random, so that no input can make the tree deep.
    priority: u64,
    before: Tree,
    after: Tree,
}

/// Code generated at run time, described by a jitdump.
#[derive(Clone, Debug)]
struct JitCode {
    module: ModuleIx,
    dump: Arc<JitDump>,
}

impl AddressSpace {
    /// Returns the mapping that covers an address.
    pub fn find(&self, address: u64) -> Option<&Mapping> {
        let found = last_starting_by(&self.mappings, address);
        found.filter(|mapping| address < mapping.end)
    }

    /// Returns the location of an address at a time of the recording's clock; without a time, at the end of the
    /// recording.
    ///
    /// `last` caches the mapping found by the previous call, as consecutive calls mostly stay in one file.
    pub fn locate<'s>(
        &'s self,
        address: u64,
        time: Option<u64>,
        last: &mut Option<&'s Mapping>,
    ) -> Location {
        if let Some((module, _, address)) = self.find_jit_code(address, time) {
            return Location::Address { module, address };
        }
        let known = last.filter(|last| (last.start..last.end).contains(&address));
        *last = known.or_else(|| self.find(address));
        match *last {
            Some(mapping) => Location::Address {
                module: mapping.module,
                address: mapping.file_offset_of(address),
            },
            None => Location::Unmapped,
        }
    }

    /// Returns the jitdump that describes the code at an address at a time, its module, and the offset of the code in the
    /// jitdump.
    pub(crate) fn find_jit_code(
        &self,
        address: u64,
        time: Option<u64>,
    ) -> Option<(ModuleIx, &JitDump, u64)> {
        let JitCode { module, dump } = self.jit.as_ref()?;
        Some((*module, dump, dump.offset_of(address, time)?))
    }

    /// Returns the end address of the last mapping.
    pub(crate) fn end(&self) -> u64 {
        last_starting_by(&self.mappings, u64::MAX).map_or(0, |last| last.end)
    }

    /// Sets the jitdump of the process: `locate` prefers it to the mappings for the code that it describes.
    pub fn set_jit_dump(&mut self, module: ModuleIx, dump: Arc<JitDump>) {
        self.jit = Some(JitCode { module, dump });
    }

    /// Returns `true` if any mapping overlaps this range.
    pub fn overlaps(&self, start: u64, end: u64) -> bool {
        let last = end.checked_sub(1);
        let last = last.and_then(|last| last_starting_by(&self.mappings, last));
        last.is_some_and(|mapping| start < mapping.end)
    }

    /// Removes a range of addresses, cutting the mappings that it overlaps.
    pub fn unmap(&mut self, start: u64, end: u64) {
        let (mut before, rest) = split(self.mappings.take(), start);
        let (within, after) = split(rest, end);
        // The mapping that extends from before the range into it.
        let into = last_starting_by(&before, u64::MAX).filter(|mapping| mapping.end > start);
        let into = into.cloned();
        let last = last_starting_by(&within, u64::MAX).or(into.as_ref());
        let beyond = last
            .filter(|mapping| mapping.end > end)
            .and_then(|mapping| {
                leaf(Mapping {
                    start: end,
                    file_offset: mapping.file_offset_of(end),
                    ..mapping.clone()
                })
            });
        if let Some(mapping) = into {
            let (others, _) = split(before, mapping.start);
            let left = Mapping {
                end: start,
                ..mapping
            };
            before = join(others, leaf(left));
        }
        self.mappings = join(join(before, beyond), after);
    }

    /// Maps a part of a file, replacing whatever was mapped there.
    pub fn map(&mut self, mapping: Mapping) {
        if mapping.start < mapping.end {
            self.unmap(mapping.start, mapping.end);
            let (before, after) = split(self.mappings.take(), mapping.start);
            self.mappings = join(join(before, leaf(mapping)), after);
        }
    }
}

fn leaf(mapping: Mapping) -> Tree {
    Some(Arc::new(Node {
        priority: RandomState::new().hash_one(mapping.start),
        mapping,
        before: None,
        after: None,
    }))
}

/// Returns the last mapping that starts at or before an address.
fn last_starting_by(mut tree: &Tree, address: u64) -> Option<&Mapping> {
    let mut found = None;
    while let Some(node) = tree {
        if node.mapping.start <= address {
            found = Some(&node.mapping);
            tree = &node.after;
        } else {
            tree = &node.before;
        }
    }
    found
}

/// Splits a tree into the mappings that start before an address, and the others.
fn split(tree: Tree, start: u64) -> (Tree, Tree) {
    let Some(mut node) = tree else {
        return (None, None);
    };
    let own = Arc::make_mut(&mut node);
    if own.mapping.start < start {
        let (before, after) = split(own.after.take(), start);
        own.after = before;
        (Some(node), after)
    } else {
        let (before, after) = split(own.before.take(), start);
        own.before = after;
        (before, Some(node))
    }
}

/// Joins two trees; every mapping of `before` starts before every one of `after`.
fn join(before: Tree, after: Tree) -> Tree {
    let (mut before, mut after) = match (before, after) {
        (Some(before), Some(after)) => (before, after),
        (one, other) => return one.or(other),
    };
    if before.priority >= after.priority {
        let own = Arc::make_mut(&mut before);
        own.after = join(own.after.take(), Some(after));
        Some(before)
    } else {
        let own = Arc::make_mut(&mut after);
        own.before = join(Some(before), own.before.take());
        Some(after)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sto_model::ModuleKind;

    fn mapping(module: u32, start: u64, end: u64, file_offset: u64) -> Mapping {
        let file = Arc::new(Module {
            path: format!("/m{module}"),
            kind: ModuleKind::File,
            build_id: None,
            inode: None,
            text_address: None,
            alias: None,
        });
        Mapping {
            start,
            end,
            file_offset,
            module: ModuleIx(module),
            file,
        }
    }

    fn at(space: &AddressSpace, address: u64) -> Option<(u32, u64)> {
        space
            .find(address)
            .map(|found| (found.module.0, found.file_offset_of(address)))
    }

    #[test]
    fn later_mapping_replaces_and_splits_earlier_ones() {
        let mut space = AddressSpace::default();
        space.map(mapping(1, 0x1000, 0x9000, 0x100));
        space.map(mapping(2, 0x3000, 0x5000, 0));
        assert_eq!(at(&space, 0x0fff), None);
        assert_eq!(at(&space, 0x1000), Some((1, 0x100)));
        assert_eq!(at(&space, 0x2fff), Some((1, 0x20ff)));
        assert_eq!(at(&space, 0x3000), Some((2, 0)));
        assert_eq!(at(&space, 0x4fff), Some((2, 0x1fff)));
        assert_eq!(at(&space, 0x5000), Some((1, 0x4100)));
        assert_eq!(at(&space, 0x9000), None);
        space.unmap(0, u64::MAX);
        assert!(!space.overlaps(0, u64::MAX));
    }

    /// Counts the nodes of a clone that it does not share with the original.
    fn count_unshared(copy: &Tree, original: &Tree) -> usize {
        let mut known = std::collections::HashSet::new();
        let mut left = vec![original];
        while let Some(tree) = left.pop() {
            if let Some(node) = tree {
                known.insert(Arc::as_ptr(node));
                left.extend([&node.before, &node.after]);
            }
        }
        let (mut count, mut left) = (0, vec![copy]);
        while let Some(tree) = left.pop() {
            if let Some(node) = tree
                .as_ref()
                .filter(|node| !known.contains(&Arc::as_ptr(node)))
            {
                count += 1;
                left.extend([&node.before, &node.after]);
            }
        }
        count
    }

    #[test]
    fn changed_clone_shares_the_unchanged_mappings() {
        let mut space = AddressSpace::default();
        for page in 1..=10_000 {
            space.map(mapping(1, page << 12, (page + 1) << 12, 0));
        }
        let mut copy = space.clone();
        copy.map(mapping(2, 0x1800, 0x2800, 0));
        assert_eq!(at(&copy, 0x2000), Some((2, 0x800)));
        assert_eq!(at(&space, 0x2000), Some((1, 0)));
        assert_eq!(at(&copy, 0x2800), Some((1, 0x800)));
        // A random tree of this size is about 35 levels deep.
        let unshared = count_unshared(&copy.mappings, &space.mappings);
        assert!(unshared < 400, "{unshared} of 10,000");
    }

    #[test]
    fn empty_mapping_changes_nothing() {
        let mut space = AddressSpace::default();
        space.map(mapping(1, 0x1000, 0x2000, 0));
        space.map(mapping(2, 0x1800, 0x1800, 0));
        assert_eq!(at(&space, 0x1800), Some((1, 0x800)));
    }
}
