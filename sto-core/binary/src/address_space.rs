//! What is mapped where in a process.

use super::jit_dump::JitDump;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use sto_model::{Location, Module, ModuleIx};

/// A piece of a file, mapped executable.
#[derive(Clone, Debug)]
pub struct Mapping {
    /// First address.
    pub start: u64,
    /// First address after it.
    pub end: u64,
    /// Where its first byte stands in the file.
    pub file_offset: u64,
    /// The module's index in the recording.
    pub module: ModuleIx,
    /// The module itself.
    pub file: Arc<Module>,
}

impl Mapping {
    pub(crate) fn file_offset_of(&self, address: u64) -> u64 {
        (address - self.start).wrapping_add(self.file_offset)
    }
}

/// The executable mappings of a process, none of which overlaps another.
///
/// A copy shares them with what it is a copy of, and a change costs by the logarithm of their number alone:
/// processes copy those of others, and every sample keeps those that it was taken in.
#[derive(Clone, Debug, Default)]
pub struct AddressSpace {
    mappings: Tree,
    jit: Option<JitCode>,
}

/// A treap (Seidel and Aragon: *Randomized search trees*, 1996), by where mappings start.
type Tree = Option<Arc<Node>>;

#[derive(Clone, Debug)]
struct Node {
    mapping: Mapping,
    /// No smaller than those of what stands below it. It is random, so that no file makes a tree deep.
    priority: u64,
    before: Tree,
    after: Tree,
}

/// The code that a process made at run time, by its jitdump.
#[derive(Clone, Debug)]
struct JitCode {
    module: ModuleIx,
    dump: Arc<JitDump>,
}

impl AddressSpace {
    /// The mapping that covers an address.
    pub fn find(&self, address: u64) -> Option<&Mapping> {
        let found = last_up_to(&self.mappings, address);
        found.filter(|mapping| address < mapping.end)
    }

    /// The location of an address, at a time of the recording's clock; without one, at its end. `last` is the
    /// mapping that was found last in this address space: calls mostly stay in one file.
    pub fn locate<'s>(
        &'s self,
        address: u64,
        time: Option<u64>,
        last: &mut Option<&'s Mapping>,
    ) -> Location {
        if let Some(JitCode { module, dump }) = &self.jit
            && let Some(address) = dump.offset_of(address, time)
        {
            let module = *module;
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

    /// The end of the last mapping.
    pub(crate) fn end(&self) -> u64 {
        last_up_to(&self.mappings, u64::MAX).map_or(0, |last| last.end)
    }

    /// Takes a jitdump for the code that it describes.
    pub fn set_jit_dump(&mut self, module: ModuleIx, dump: Arc<JitDump>) {
        self.jit = Some(JitCode { module, dump });
    }

    /// Whether any mapping overlaps this range.
    pub fn overlaps(&self, start: u64, end: u64) -> bool {
        let last = end.checked_sub(1);
        let last = last.and_then(|last| last_up_to(&self.mappings, last));
        last.is_some_and(|mapping| start < mapping.end)
    }

    /// Takes a range out of the mappings, as mapping something else over it does.
    pub fn unmap(&mut self, start: u64, end: u64) {
        let (before, rest) = split(self.mappings.take(), start);
        let (within, after) = split(rest, end);
        let into = last_up_to(&before, u64::MAX).filter(|mapping| mapping.end > start);
        let into = into.cloned();
        let beyond = last_up_to(&within, u64::MAX).or(into.as_ref());
        let beyond = beyond.filter(|mapping| mapping.end > end).map(|mapping| {
            let file_offset = mapping.file_offset_of(end);
            leaf(Mapping {
                start: end,
                file_offset,
                ..mapping.clone()
            })
        });
        let before = match into {
            None => before,
            Some(mapping) => {
                let (before, _) = split(before, mapping.start);
                let left = Mapping {
                    end: start,
                    ..mapping
                };
                join(before, leaf(left))
            }
        };
        self.mappings = join(join(before, beyond.flatten()), after);
    }

    /// Maps a piece of a file, over whatever was there.
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

/// The mapping that starts last of those that start at an address or before it.
fn last_up_to(mut tree: &Tree, address: u64) -> Option<&Mapping> {
    let mut found = None;
    while let Some(node) = tree {
        tree = match node.mapping.start <= address {
            true => {
                found = Some(&node.mapping);
                &node.after
            }
            false => &node.before,
        };
    }
    found
}

/// The mappings that start before an address, and the others.
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

/// The mappings of two trees, of which all of the first start before those of the second.
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
    fn a_later_mapping_hides_what_it_covers_and_splits_what_it_lies_in() {
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

    /// Number of mappings that a copy does not share with what it is a copy of.
    fn own(copy: &Tree, of: &Tree) -> usize {
        let mut known = std::collections::HashSet::new();
        let mut left = vec![of];
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
    fn a_copy_that_changes_shares_what_did_not() {
        let mut space = AddressSpace::default();
        for page in 1..=10_000 {
            space.map(mapping(1, page << 12, (page + 1) << 12, 0));
        }
        let mut copy = space.clone();
        copy.map(mapping(2, 0x1800, 0x2800, 0));
        assert_eq!(at(&copy, 0x2000), Some((2, 0x800)));
        assert_eq!(at(&space, 0x2000), Some((1, 0)));
        assert_eq!(at(&copy, 0x2800), Some((1, 0x800)));
        // Of a random tree the deepest leaf is some 35 deep.
        let own = own(&copy.mappings, &space.mappings);
        assert!(own < 400, "{own} of 10,000");
    }

    #[test]
    fn an_empty_mapping_changes_nothing() {
        let mut space = AddressSpace::default();
        space.map(mapping(1, 0x1000, 0x2000, 0));
        space.map(mapping(2, 0x1800, 0x1800, 0));
        assert_eq!(at(&space, 0x1800), Some((1, 0x800)));
    }
}
