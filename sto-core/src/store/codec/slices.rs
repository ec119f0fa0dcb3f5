//! Costs by thread and slice of time.
//!
//! Threads and slices make cells, most of them empty. A cell has few nodes, and those are named by
//! their place among the nodes that have a self cost in the profile: these numbers are small, and
//! the same in every store.

use super::Flaw;
use super::bytes::{Packer, Unpacker};
use super::costs::{pack_counts, unpack_counts};
use crate::intern::{
    ProfileThread, ProfileThreadIx, SelfCosts, SliceCost, SliceCosts, SliceCount, SliceGrid,
    SliceIx, Slices,
};
use crate::units::Nanoseconds;

/// Packs slices of the profile with these self costs by sample type, which they add up to.
pub(in crate::store) fn pack_slices(slices: &Slices, costs: &[SelfCosts]) -> Result<Vec<u8>, Flaw> {
    let mut pack = Packer::default();
    let grid = slices.grid;
    pack.number(grid.count().get());
    pack.number(grid.first().0);
    pack.number(grid.last().0 - grid.first().0);
    pack_threads(&mut pack, &slices.threads);
    for (slice_costs, costs) in slices.costs.iter().zip(costs) {
        pack_cells(&mut pack, slices.threads.len(), slice_costs, costs);
    }
    pack.finish()
}

/// Unpacks slices of the profile with these self costs by sample type.
pub(in crate::store) fn unpack_slices(pack: &[u8], costs: &[SelfCosts]) -> Result<Slices, Flaw> {
    let mut pack = Unpacker::new(pack);
    let count = SliceCount::new(pack.number32()?);
    let count = count.ok_or(Flaw("the number of slices is out of range"))?;
    let first = pack.number()?;
    let last = first.checked_add(pack.number()?);
    let grid = last.and_then(|last| SliceGrid::new(Nanoseconds(first), Nanoseconds(last), count));
    let grid = grid.ok_or(Flaw("a time leaves 64 bits"))?;
    let threads = unpack_threads(&mut pack)?;
    let mut columns = Vec::with_capacity(costs.len());
    for costs in costs {
        let slices = unpack_cells(&mut pack, threads.len(), count, costs)?;
        if !add_up(&slices, costs) {
            return Err(Flaw("the slices do not add up to the self costs"));
        }
        columns.push(slices);
    }
    pack.finish()?;
    Ok(Slices {
        grid,
        threads,
        costs: columns,
    })
}

fn pack_threads(pack: &mut Packer, threads: &[ProfileThread]) {
    let mut pids = Packer::default();
    let mut tids = Packer::default();
    let mut lengths = Packer::default();
    let mut text = Packer::default();
    let mut previous = 0;
    for thread in threads {
        pids.number(thread.pid - previous);
        tids.difference(thread.tid, thread.pid);
        lengths.number(thread.name.len() as u64);
        text.raw(thread.name.as_bytes());
        previous = thread.pid;
    }
    pack.number(threads.len() as u64);
    for column in [pids, tids, lengths, text] {
        pack.column(column);
    }
}

fn unpack_threads(pack: &mut Unpacker<'_>) -> Result<Vec<ProfileThread>, Flaw> {
    let count = pack.number32()? as usize;
    let pids = pack.column()?;
    let mut pids = Unpacker::new(&pids);
    let tids = pack.column()?;
    let mut tids = Unpacker::new(&tids);
    let lengths = pack.column()?;
    let mut lengths = Unpacker::new(&lengths);
    let text = pack.column()?;
    let mut text = Unpacker::new(&text);
    if count > pids.left() {
        return Err(Flaw("there are fewer threads than announced"));
    }
    let mut threads: Vec<ProfileThread> = Vec::with_capacity(count);
    for _ in 0..count {
        let previous = threads.last().map_or(0, |thread| thread.pid);
        let pid = previous.checked_add(pids.number32()?);
        let pid = pid.ok_or(Flaw("a process id takes more than 32 bits"))?;
        let tid = tids.difference(pid)?;
        let length = usize::try_from(lengths.number()?).unwrap_or(usize::MAX);
        let name = str::from_utf8(text.raw(length)?).map_err(|_| Flaw("a name is not UTF-8"))?;
        let name = name.to_owned();
        let thread = ProfileThread { pid, tid, name };
        if threads.last().is_some_and(|last| *last >= thread) {
            return Err(Flaw("threads are out of order"));
        }
        threads.push(thread);
    }
    pids.finish()?;
    tids.finish()?;
    lengths.finish()?;
    text.finish()?;
    Ok(threads)
}

fn pack_cells(pack: &mut Packer, thread_count: usize, slices: &SliceCosts, costs: &SelfCosts) {
    let mut cells_of = vec![0u32; thread_count];
    let mut numbers = Packer::default();
    let mut sizes = Packer::default();
    let mut places = Packer::default();
    let mut next_slice = 0;
    let all: Vec<SliceCost> = slices.iter().collect();
    for cell in all.chunk_by(|a, b| (a.thread, a.slice) == (b.thread, b.slice)) {
        let SliceCost { thread, slice, .. } = cell[0];
        let cells = &mut cells_of[thread.0 as usize];
        if *cells == 0 {
            next_slice = 0;
        }
        *cells += 1;
        numbers.number(slice.0 - next_slice);
        next_slice = slice.0 + 1;
        sizes.number(cell.len() as u64 - 1);
        let mut next = 0;
        for slice_cost in cell {
            let place = costs.partition_point(|&(node, _)| node < slice_cost.node) as u32;
            places.number(place - next);
            next = place + 1;
        }
    }
    let mut cells = Packer::default();
    for count in cells_of {
        cells.number(count);
    }
    for column in [cells, numbers, sizes, places] {
        pack.column(column);
    }
    pack_counts(pack, || slices.iter().map(|slice_cost| slice_cost.cost));
}

fn unpack_cells(
    pack: &mut Unpacker<'_>,
    thread_count: usize,
    slice_count: SliceCount,
    costs: &SelfCosts,
) -> Result<SliceCosts, Flaw> {
    let cells = pack.column()?;
    let mut cells = Unpacker::new(&cells);
    let numbers = pack.column()?;
    let mut numbers = Unpacker::new(&numbers);
    let sizes = pack.column()?;
    let mut sizes = Unpacker::new(&sizes);
    let places = pack.column()?;
    let mut places = Unpacker::new(&places);
    let mut keys = Vec::new();
    for thread in 0..thread_count as u32 {
        let mut next_slice = 0u32;
        for _ in 0..cells.number32()? {
            let slice = next_slice.checked_add(numbers.number32()?);
            let slice = slice.filter(|&slice| slice < slice_count.get());
            let slice = slice.ok_or(Flaw("a slice is not among those announced"))?;
            next_slice = slice + 1;
            let mut next = 0u32;
            for _ in 0..=sizes.number32()? {
                let place = next.checked_add(places.number32()?);
                let cost = place.and_then(|place| costs.get(place as usize));
                let &(node, _) = cost.ok_or(Flaw("a slice has a node without a self cost"))?;
                next = place.map_or(0, |place| place + 1);
                keys.push((ProfileThreadIx(thread), SliceIx(slice), node));
            }
        }
    }
    cells.finish()?;
    numbers.finish()?;
    sizes.finish()?;
    places.finish()?;
    let costs = unpack_counts(pack, keys.len())?;
    let slice_costs = keys.into_iter().zip(costs);
    Ok(slice_costs
        .map(|((thread, slice, node), cost)| SliceCost {
            thread,
            slice,
            node,
            cost,
        })
        .collect())
}

/// Whether no cost is zero, and those of each node over all threads and slices are its self cost.
pub(in crate::store) fn add_up(slices: &SliceCosts, costs: &SelfCosts) -> bool {
    let mut left = costs.clone();
    let mut take = |SliceCost { node, cost, .. }: SliceCost| {
        let place = left.binary_search_by_key(&node, |&(node, _)| node).ok()?;
        let (_, left) = &mut left[place];
        left.samples = left.samples.checked_sub(cost.samples)?;
        left.value = left.value.checked_sub(cost.value)?;
        (!cost.is_zero()).then_some(())
    };
    slices.iter().all(|slice_cost| take(slice_cost).is_some())
        && left.iter().all(|(_, left)| left.is_zero())
}
