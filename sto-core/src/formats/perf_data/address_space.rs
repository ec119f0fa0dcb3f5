//! What is mapped where in a process.

use crate::formats::{Location, Module, ModuleIx};
use crate::symbolize::JitDump;
use std::sync::Arc;

/// A piece of a file, mapped executable.
#[derive(Clone, Debug)]
pub(crate) struct Mapping {
    /// First address.
    pub(crate) start: u64,
    /// First address behind it.
    pub(crate) end: u64,
    /// Where its first byte stands in the file.
    pub(crate) file_offset: u64,
    /// The file.
    pub(crate) module: ModuleIx,
    /// The file, to open it.
    pub(crate) file: Arc<Module>,
}

impl Mapping {
    /// Where the byte at this address stands in the file.
    pub(crate) fn file_offset_of(&self, address: u64) -> u64 {
        (address - self.start).wrapping_add(self.file_offset)
    }
}

/// The executable mappings of a process: in order, none overlaps another.
#[derive(Clone, Debug, Default)]
pub(crate) struct AddressSpace {
    mappings: Vec<Mapping>,
    jit: Option<JitCode>,
}

/// The code that a process made at run time, by its jitdump.
#[derive(Clone, Debug)]
struct JitCode {
    module: ModuleIx,
    dump: Arc<JitDump>,
}

impl AddressSpace {
    /// The mapping that covers an address.
    pub(crate) fn find(&self, address: u64) -> Option<&Mapping> {
        let after = self
            .mappings
            .partition_point(|mapping| mapping.start <= address);
        self.mappings[..after]
            .last()
            .filter(|mapping| address < mapping.end)
    }

    /// The place of an address in code, at a time of the recording's clock; without one, at its end.
    pub(super) fn locate(&self, address: u64, time: Option<u64>) -> Location {
        if let Some(JitCode { module, dump }) = &self.jit
            && let Some(address) = dump.offset_of(address, time)
        {
            let module = *module;
            return Location::Address { module, address };
        }
        match self.find(address) {
            Some(mapping) => Location::Address {
                module: mapping.module,
                address: mapping.file_offset_of(address),
            },
            None => Location::Unmapped,
        }
    }

    /// Takes a jitdump for the code that it tells of.
    pub(super) fn set_jit_dump(&mut self, module: ModuleIx, dump: Arc<JitDump>) {
        self.jit = Some(JitCode { module, dump });
    }

    /// Number of mappings.
    pub(super) fn len(&self) -> usize {
        self.mappings.len()
    }

    /// Whether any mapping overlaps this range.
    pub(super) fn overlaps(&self, start: u64, end: u64) -> bool {
        let first = self
            .mappings
            .partition_point(|mapping| mapping.end <= start);
        self.mappings
            .get(first)
            .is_some_and(|mapping| mapping.start < end)
    }

    /// Takes a range out of the mappings, as mapping something else over it does.
    pub(super) fn unmap(&mut self, start: u64, end: u64) {
        let first = self
            .mappings
            .partition_point(|mapping| mapping.end <= start);
        let behind = self.mappings.partition_point(|mapping| mapping.start < end);
        if first >= behind {
            return;
        }
        let mut left = Vec::new();
        for mapping in &self.mappings[first..behind] {
            if mapping.start < start {
                left.push(Mapping {
                    end: start,
                    ..mapping.clone()
                });
            }
            if mapping.end > end {
                let file_offset = mapping.file_offset_of(end);
                left.push(Mapping {
                    start: end,
                    file_offset,
                    ..mapping.clone()
                });
            }
        }
        self.mappings.splice(first..behind, left);
    }

    /// Maps a piece of a file, over whatever was there.
    pub(super) fn map(&mut self, mapping: Mapping) {
        if mapping.start < mapping.end {
            self.unmap(mapping.start, mapping.end);
            let at = self
                .mappings
                .partition_point(|other| other.start < mapping.start);
            self.mappings.insert(at, mapping);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::ModuleKind;

    fn mapping(module: u32, start: u64, end: u64, file_offset: u64) -> Mapping {
        let file = Arc::new(Module {
            path: format!("/m{module}"),
            kind: ModuleKind::File,
            build_id: None,
            inode: None,
            kernel_text: None,
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

    #[test]
    fn an_empty_mapping_changes_nothing() {
        let mut space = AddressSpace::default();
        space.map(mapping(1, 0x1000, 0x2000, 0));
        space.map(mapping(2, 0x1800, 0x1800, 0));
        assert_eq!(at(&space, 0x1800), Some((1, 0x800)));
    }
}
