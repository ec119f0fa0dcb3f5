//! Which code stood at an address at a time, of code that was put there, moved, and put over.

/// A piece of code in memory, from a time on.
#[derive(Debug)]
pub(super) struct Placement {
    pub(super) start: u64,
    pub(super) end: u64,
    pub(super) time: u64,
    /// Which piece of the file it is.
    pub(super) load: u32,
}

/// Where code stood: a segment tree (Bentley: *Solutions to Klee's rectangle problems*, 1977) of the addresses at
/// which pieces begin and end.
#[derive(Debug, Default)]
pub(super) struct Placements {
    /// Oldest first.
    pub(super) all: Vec<Placement>,
    /// Where pieces begin and end, ascending. Node `bounds.len() + i` is of the addresses from the i-th on, up to
    /// the next; node i is of those of 2i and 2i + 1.
    bounds: Vec<u64>,
    /// Where each node's part of `covering` begins, and after the last, where that ends.
    starts: Vec<usize>,
    /// By node, the pieces that have all of its addresses, but not all of the one above: indices of `all`.
    covering: Vec<u32>,
}

impl Placements {
    pub(super) fn of(mut all: Vec<Placement>) -> Placements {
        // Stable: of two since one time, the later record is the newer.
        all.sort_by_key(|placement| placement.time);
        let mut bounds: Vec<u64> = all.iter().flat_map(|of| [of.start, of.end]).collect();
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

    /// The newest code at an address that was there at a time, or ever.
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

/// The fewest nodes that have the addresses of a piece of code together.
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
        /// How many pieces of code this thread has looked at to find those that were there at a time.
        pub(super) static LOOKED_AT: Cell<usize> = const { Cell::new(0) };
    }

    /// Pieces of code, each from a time on.
    fn placements(all: &[(u64, u64, u64)]) -> Placements {
        let placed = (0..)
            .zip(all)
            .map(|(load, &(start, size, time))| Placement {
                start,
                end: start + size,
                time,
                load,
            });
        Placements::of(placed.collect())
    }

    #[test]
    fn the_newest_of_many_pieces_at_an_address_is_found_by_order() {
        const PIECES: u64 = 50_000;
        // All have the address; a later one begins before.
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
        fn code_is_what_the_last_record_before_a_time_put_at_an_address(
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
