//! The code that was at an address at a time, when code is loaded, moved and overwritten.

/// A piece of code that occupies a range of addresses from a time on.
#[derive(Debug)]
pub(super) struct Placement {
    pub(super) start: u64,
    pub(super) end: u64,
    pub(super) time: u64,
    /// Index of the code in the jitdump.
    pub(super) load: u32,
}

/// An index of placements by address and time: a segment tree over the addresses at which placements begin and end
/// (Bentley: *Solutions to Klee's rectangle problems*, 1977).
#[derive(Debug, Default)]
pub(super) struct Placements {
    /// Oldest first.
    pub(super) all: Vec<Placement>,
    /// The addresses at which placements begin or end, ascending. Leaf `bounds.len() + i` of the tree covers the
    /// addresses from the i-th bound up to the next; node i covers the same addresses as its children 2i and 2i + 1.
    bounds: Vec<u64>,
    /// For each node the start of its part of `covering`; the last entry is the end.
    starts: Vec<usize>,
    /// For each node, the placements that cover all of its addresses but not all of its parent's: indices into `all`.
    covering: Vec<u32>,
}

impl Placements {
    pub(super) fn new(mut all: Vec<Placement>) -> Placements {
        // A stable sort: of two placements with one time, the later record is the newer.
        all.sort_by_key(|placement| placement.time);
        let ends = all.iter().flat_map(|code| [code.start, code.end]);
        let mut bounds: Vec<u64> = ends.collect();
        bounds.sort_unstable();
        bounds.dedup();
        let mut starts = vec![0; 2 * bounds.len() + 1];
        for node in all.iter().flat_map(|placement| nodes(&bounds, placement)) {
            starts[node + 1] += 1;
        }
        for node in 1..starts.len() {
            starts[node] += starts[node - 1];
        }
        let mut next = starts.clone();
        let mut covering = vec![0; starts[starts.len() - 1]];
        for (ix, placement) in (0..).zip(&all) {
            for node in nodes(&bounds, placement) {
                covering[next[node]] = ix;
                next[node] += 1;
            }
        }
        Placements {
            all,
            bounds,
            starts,
            covering,
        }
    }

    /// Returns the newest placement at an address that is not newer than `time`, if a time is given.
    pub(super) fn newest(&self, address: u64, time: Option<u64>) -> Option<&Placement> {
        let leaf = self.bounds.partition_point(|&bound| bound <= address);
        let mut node = self.bounds.len() + leaf.checked_sub(1)?;
        let mut newest = None;
        while node > 0 {
            let all = &self.covering[self.starts[node]..self.starts[node + 1]];
            let known = time.map_or(all.len(), |time| {
                all.partition_point(|&ix| {
                    #[cfg(test)]
                    tests::LOOKED_AT.set(tests::LOOKED_AT.get() + 1);
                    self.all[ix as usize].time <= time
                })
            });
            newest = newest.max(all[..known].last());
            node /= 2;
        }
        newest.map(|&ix| &self.all[ix as usize])
    }
}

/// Returns the smallest set of nodes that together cover the addresses of a placement.
fn nodes(bounds: &[u64], placement: &Placement) -> impl Iterator<Item = usize> {
    let node_of = |bound: u64| bounds.len() + bounds.partition_point(|&other| other < bound);
    let (mut first, mut end) = (node_of(placement.start), node_of(placement.end));
    std::iter::from_fn(move || {
        while first < end {
            if first % 2 == 1 {
                first += 1;
                return Some(first - 1);
            }
            if end % 2 == 1 {
                end -= 1;
                return Some(end);
            }
            (first, end) = (first / 2, end / 2);
        }
        None
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::cell::Cell;

    thread_local! {
        /// Number of placements whose time this thread has compared.
        pub(super) static LOOKED_AT: Cell<usize> = const { Cell::new(0) };
    }

    /// Placements from triples of start address, size and time.
    fn placements(all: &[(u64, u64, u64)]) -> Placements {
        let placed = (0..)
            .zip(all)
            .map(|(load, &(start, size, time))| Placement {
                start,
                end: start + size,
                time,
                load,
            });
        Placements::new(placed.collect())
    }

    #[test]
    fn newest_of_many_overlapping_placements_is_found_in_logarithmic_time() {
        const PIECES: u64 = 50_000;
        // All cover the address `PIECES`; later ones begin earlier.
        let all: Vec<_> = (0..PIECES)
            .map(|ix| (PIECES - ix, PIECES + ix, ix))
            .collect();
        let placements = placements(&all);
        for time in 0..PIECES {
            let newest = placements.newest(PIECES, Some(time)).unwrap();
            assert_eq!(newest.time, time);
        }
        assert_eq!(placements.newest(PIECES, None).unwrap().time, PIECES - 1);
        let steps = LOOKED_AT.get() as u64 / PIECES;
        assert!(steps < 17 * 17, "{steps}");
    }

    proptest! {
        #[test]
        fn lookup_returns_the_last_placement_not_after_the_time(
            all in proptest::collection::vec((0..40u64, 1..30u64, 0..8u64), 0..24),
        ) {
            let placements = placements(&all);
            for (address, time) in (0..72).flat_map(|address| (0..9).map(move |time| (address, time))) {
                let time = (time < 8).then_some(time);
                let there = (0..).zip(&all).filter(|(_, (start, size, since))| {
                    (*start..start + size).contains(&address) && time.is_none_or(|time| *since <= time)
                });
                let expected = there.max_by_key(|&(ix, (_, _, since))| (since, ix)).map(|(ix, _)| ix);
                let found = placements.newest(address, time).map(|found| found.load);
                prop_assert_eq!(found, expected);
            }
        }
    }
}
