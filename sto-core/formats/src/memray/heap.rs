//! The state of a heap over time: all allocations, those at the peak, and those left at the end.

use crate::recording::StackIx;
use hashbrown::HashMap;
use std::collections::BTreeMap;
use sto_model::units::Cost;

/// The thread and stack of an allocation.
pub(super) type Site = (usize, Option<StackIx>);

/// The memory allocated at a site.
#[derive(Clone, Copy, Default)]
pub(super) struct Allocated {
    pub(super) all: Cost,
    pub(super) at_peak: Cost,
    pub(super) left: Cost,
    is_changed: bool,
}

/// A heap, with all sites and the addresses of memory that is not freed.
#[derive(Default)]
pub(super) struct Heap {
    index: HashMap<Site, usize>,
    sites: Vec<Allocated>,
    /// Allocated bytes, and their peak.
    used: u64,
    most: u64,
    /// Sites that changed since the peak.
    changed: Vec<usize>,
    /// Site and size of blocks from `malloc` and similar functions, by address.
    blocks: HashMap<u64, (usize, u64)>,
    /// End and site of ranges from `mmap` that are still mapped, by start.
    ranges: BTreeMap<u64, (u64, usize)>,
}

const TOO_MUCH: &str = "its allocations are more than 2^64 bytes";

impl Heap {
    pub(super) fn allocate(&mut self, site: Site, address: u64, size: u64) -> Result<(), String> {
        let site = self.add(site, size)?;
        if let Some((site, size)) = self.blocks.insert(address, (site, size)) {
            // Its free was not recorded.
            self.lose(site, 1, size);
        }
        self.rise();
        Ok(())
    }

    /// Frees memory. It may have been allocated before the recording began.
    pub(super) fn free(&mut self, address: u64) {
        if let Some((site, size)) = self.blocks.remove(&address) {
            self.lose(site, 1, size);
        }
        self.rise();
    }

    /// Maps memory, replacing earlier mappings in the range.
    pub(super) fn map(&mut self, site: Site, address: u64, size: u64) -> Result<(), String> {
        if size > 0 {
            let end = address.checked_add(size).ok_or(TOO_MUCH)?;
            self.cut(address, end);
            let site = self.add(site, size)?;
            self.ranges.insert(address, (end, site));
        }
        self.rise();
        Ok(())
    }

    pub(super) fn unmap(&mut self, address: u64, size: u64) {
        self.cut(address, address.saturating_add(size));
        self.rise();
    }

    /// The memory allocated at each site, in order of first use.
    pub(super) fn finish(self) -> impl Iterator<Item = (Site, Allocated)> {
        let mut sites: Vec<(Site, usize)> = self.index.into_iter().collect();
        sites.sort_unstable_by_key(|&(_, index)| index);
        sites.into_iter().map(|(site, _)| site).zip(self.sites)
    }

    fn add(&mut self, site: Site, size: u64) -> Result<usize, String> {
        let site = *self.index.entry(site).or_insert_with(|| {
            self.sites.push(Allocated::default());
            self.sites.len() - 1
        });
        self.used = self.used.checked_add(size).ok_or(TOO_MUCH)?;
        let allocated = self.touch(site);
        allocated.all.value = allocated.all.value.checked_add(size).ok_or(TOO_MUCH)?;
        allocated.all.samples += 1;
        allocated.left.samples += 1;
        allocated.left.value += size;
        Ok(site)
    }

    fn lose(&mut self, site: usize, count: u64, size: u64) {
        self.used -= size;
        let left = &mut self.touch(site).left;
        left.samples -= count;
        left.value -= size;
    }

    fn touch(&mut self, site: usize) -> &mut Allocated {
        let allocated = &mut self.sites[site];
        if !allocated.is_changed {
            allocated.is_changed = true;
            self.changed.push(site);
        }
        allocated
    }

    /// Updates the peak. As in memray, the last of several equal peaks counts.
    fn rise(&mut self) {
        if self.used < self.most {
            return;
        }
        self.most = self.used;
        for site in self.changed.drain(..) {
            let allocated = &mut self.sites[site];
            allocated.is_changed = false;
            allocated.at_peak = allocated.left;
        }
    }

    /// Unmaps a range; a mapping that contains it is split in two.
    fn cut(&mut self, from: u64, to: u64) {
        loop {
            let below = self.ranges.range(..to).next_back();
            let Some((begin, end, site)) = below
                .map(|(&begin, &(end, site))| (begin, end, site))
                .filter(|&(_, end, _)| end > from)
            else {
                return;
            };
            self.ranges.remove(&begin);
            let (goes_before, goes_after) = (begin < from, end > to);
            if goes_before {
                self.ranges.insert(begin, (from, site));
            }
            if goes_after {
                self.ranges.insert(to, (end, site));
            }
            let count = match (goes_before, goes_after) {
                (true, true) => {
                    self.touch(site).left.samples += 1;
                    0
                }
                (false, false) => 1,
                _ => 0,
            };
            self.lose(site, count, end.min(to) - begin.max(from));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn costs(heap: Heap) -> Vec<[(u64, u64); 3]> {
        let cost = |cost: Cost| (cost.samples, cost.value);
        heap.finish()
            .map(|(_, site)| [site.all, site.at_peak, site.left].map(cost))
            .collect()
    }

    #[test]
    fn peak_is_the_last_moment_with_the_most_bytes() {
        let mut heap = Heap::default();
        let sites = [(0, None), (1, None)];
        heap.allocate(sites[0], 8, 100).expect("it is small");
        heap.free(8);
        heap.free(8);
        heap.allocate(sites[1], 16, 100).expect("it is small");
        heap.allocate(sites[0], 24, 0).expect("it is empty");
        heap.free(16);
        assert_eq!(
            costs(heap),
            [[(2, 100), (1, 0), (1, 0)], [(1, 100), (1, 100), (0, 0)]]
        );
    }

    #[test]
    fn unmaps_parts_of_mappings() {
        let mut heap = Heap::default();
        let sites = [(0, None), (1, None)];
        heap.map(sites[0], 1000, 100).expect("it is small");
        heap.unmap(1040, 20);
        heap.unmap(0, 1010);
        // Overlaps the end of one part, a gap, and the beginning of the other part.
        heap.map(sites[1], 1030, 40).expect("it is small");
        heap.unmap(1090, 1000);
        assert_eq!(
            costs(heap),
            [[(1, 100), (1, 100), (2, 40)], [(1, 40), (0, 0), (1, 40)]]
        );
    }

    #[test]
    fn rejects_allocations_beyond_64_bits() {
        let mut heap = Heap::default();
        let site = (0, None);
        assert!(heap.map(site, u64::MAX, 2).is_err());
        heap.allocate(site, 8, u64::MAX).expect("it fits");
        assert!(heap.allocate(site, 16, 1).is_err());
    }
}
