//! Costs by context and slice of time.
//!
//! Contexts and slices make cells, most of them empty. A cell refers to nodes by their index among the nodes
//! with a self cost in the profile. These indices are small, and the same in every store.

use super::DecodeError;
use super::bytes::{MAX_COLUMN_LEN, Packer, Unpacker};
use super::contexts::{pack_contexts, unpack_contexts};
use super::costs::{ValuePacker, Values};
use super::pairs::{PairPacker, Pairs};
use sto_model::tree::{
    ContextIx, SampleContext, SelfCosts, SliceCost, SliceCosts, SliceCount, SliceGrid, SliceIx,
    TimeSlices,
};
use sto_model::units::Nanoseconds;

/// Packs slices of a profile with these self costs by sample type. The slices must add up to them.
pub(crate) fn pack_slices(
    slices: &TimeSlices,
    costs: &[SelfCosts],
) -> Result<Vec<u8>, DecodeError> {
    let mut pack = Packer::default();
    let grid = slices.grid;
    pack.number(grid.count().get());
    pack.number(grid.first().0);
    pack.number(grid.last().0 - grid.first().0);
    pack_contexts(&mut pack, &slices.contexts)?;
    for (slice_costs, costs) in slices.costs.iter().zip(costs) {
        pack_cells(&mut pack, slices.contexts.len(), slice_costs, costs);
    }
    pack.finish()
}

/// Unpacks slices of the profile with these self costs by sample type.
pub(crate) fn unpack_slices(pack: &[u8], costs: &[SelfCosts]) -> Result<TimeSlices, DecodeError> {
    let mut pack = Unpacker::new(pack);
    let (grid, contexts) = unpack_head(&mut pack)?;
    let mut columns = Vec::with_capacity(costs.len());
    for costs in costs {
        let slices = unpack_cells(&mut pack, contexts.len(), grid.count(), costs)?;
        if !is_consistent(&slices, costs) {
            return Err(DecodeError("the slices do not add up to the self costs"));
        }
        columns.push(slices);
    }
    pack.finish()?;
    Ok(TimeSlices {
        grid,
        contexts,
        costs: columns,
    })
}

/// Unpacks only the contexts of slices.
pub(crate) fn unpack_slices_contexts(pack: &[u8]) -> Result<Vec<SampleContext>, DecodeError> {
    let (_, contexts) = unpack_head(&mut Unpacker::new(pack))?;
    Ok(contexts)
}

fn unpack_head(pack: &mut Unpacker<'_>) -> Result<(SliceGrid, Vec<SampleContext>), DecodeError> {
    let count = SliceCount::new(pack.number32()?);
    let count = count.ok_or(DecodeError("the number of slices is out of range"))?;
    let first = pack.number()?;
    let last = first.checked_add(pack.number()?);
    let grid = last.and_then(|last| SliceGrid::new(Nanoseconds(first), Nanoseconds(last), count));
    let grid = grid.ok_or(DecodeError("a time takes more than 64 bits"))?;
    Ok((grid, unpack_contexts(pack)?))
}

pub(super) fn pack_cells(
    pack: &mut Packer,
    context_count: usize,
    slices: &SliceCosts,
    costs: &SelfCosts,
) {
    let mut cells_of = vec![0u32; context_count];
    let mut numbers = Packer::default();
    let mut sizes = Packer::default();
    let mut pairs = PairPacker::default();
    let mut next_slice = 0;
    let all: Vec<SliceCost> = slices.iter().collect();
    let mut values = ValuePacker::new(all.iter().map(|slice_cost| slice_cost.cost));
    for cell in all.chunk_by(|a, b| (a.context, a.slice) == (b.context, b.slice)) {
        let SliceCost { context, slice, .. } = cell[0];
        let cells = &mut cells_of[context.0 as usize];
        if *cells == 0 {
            next_slice = 0;
        }
        *cells += 1;
        numbers.number(slice.0 - next_slice);
        next_slice = slice.0 + 1;
        sizes.number(cell.len() as u64 - 1);
        let mut next = 0;
        for slice_cost in cell {
            let index = costs.partition_point(|&(node, _)| node < slice_cost.node) as u32;
            pairs.push([u64::from(index - next), slice_cost.cost.samples]);
            values.push(slice_cost.cost);
            next = index + 1;
        }
    }
    let mut cells = Packer::default();
    for count in cells_of {
        cells.number(count);
    }
    for column in [cells, numbers, sizes] {
        pack.column(column);
    }
    pairs.finish(pack);
    values.finish(pack);
}

pub(super) fn unpack_cells(
    pack: &mut Unpacker<'_>,
    context_count: usize,
    slice_count: SliceCount,
    costs: &SelfCosts,
) -> Result<SliceCosts, DecodeError> {
    let (cells, numbers, sizes) = (pack.column()?, pack.column()?, pack.column()?);
    let pairs = Pairs::unpack(pack, MAX_COLUMN_LEN)?;
    let values = Values::unpack(pack, pairs.len())?;
    let mut cells = Unpacker::new(&cells);
    let (mut numbers, mut sizes) = (Unpacker::new(&numbers), Unpacker::new(&sizes));
    let mut slice_costs = Vec::with_capacity(pairs.len());
    let (mut pairs, mut values) = (pairs.reader(), values.reader());
    for context in 0..context_count as u32 {
        let mut next_slice = 0u32;
        for _ in 0..cells.number32()? {
            let slice = next_slice.checked_add(numbers.number32()?);
            let slice = slice.filter(|&slice| slice < slice_count.get());
            let slice = slice.ok_or(DecodeError("a slice is not among those announced"))?;
            next_slice = slice + 1;
            let mut next = 0u64;
            for _ in 0..=sizes.number32()? {
                let [gap, samples] = pairs.next()?;
                let index = next.checked_add(gap);
                let cost = index.and_then(|index| costs.get(usize::try_from(index).ok()?));
                let &(node, _) =
                    cost.ok_or(DecodeError("a slice has a node without a self cost"))?;
                next = index.map_or(0, |index| index + 1);
                slice_costs.push(SliceCost {
                    context: ContextIx(context),
                    slice: SliceIx(slice),
                    node,
                    cost: values.cost(samples)?,
                });
            }
        }
    }
    cells.finish()?;
    numbers.finish()?;
    sizes.finish()?;
    pairs.finish()?;
    values.finish()?;
    Ok(slice_costs.into_iter().collect())
}

/// Whether no cost is zero, and each node's costs over all contexts and slices add up to its self cost.
pub(crate) fn is_consistent(slices: &SliceCosts, costs: &SelfCosts) -> bool {
    let mut left = costs.clone();
    let mut take = |SliceCost { node, cost, .. }: SliceCost| {
        let index = left.binary_search_by_key(&node, |&(node, _)| node).ok()?;
        let (_, left) = &mut left[index];
        left.samples = left.samples.checked_sub(cost.samples)?;
        left.value = left.value.checked_sub(cost.value)?;
        (!cost.is_zero()).then_some(())
    };
    slices.iter().all(|slice_cost| take(slice_cost).is_some())
        && left.iter().all(|(_, left)| left.is_zero())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use sto_model::tree::{NodeIx, ProfileThread};
    use sto_model::units::Cost;
    use sto_model::{LabelValue, SampleLabel};

    fn cost(samples: u64, period: u64) -> Cost {
        let value = samples * period;
        Cost { samples, value }
    }

    /// Process id, thread id, name, and the values of the samples' label `k`.
    type ContextParts<'t> = (u32, u32, &'t str, &'t [&'t str]);

    fn slices(contexts: &[ContextParts], costs: &[(u32, u32, u32, Cost)]) -> TimeSlices {
        let label = |text: &&str| SampleLabel {
            key: "k".to_owned(),
            value: LabelValue::Text((*text).to_owned()),
        };
        let contexts = contexts
            .iter()
            .map(|&(pid, tid, name, labels)| SampleContext {
                thread: ProfileThread {
                    pid,
                    tid,
                    name: name.to_owned(),
                },
                labels: labels.iter().map(label).collect(),
            });
        let costs = costs.iter().map(|&(context, slice, node, cost)| SliceCost {
            context: ContextIx(context),
            slice: SliceIx(slice),
            node: NodeIx(node),
            cost,
        });
        let count = SliceCount::new(4).unwrap();
        TimeSlices {
            grid: SliceGrid::new(Nanoseconds(100), Nanoseconds(199), count).unwrap(),
            contexts: contexts.collect(),
            costs: vec![costs.collect()],
        }
    }

    /// The example of SPEC.md, and the self costs that it adds up to.
    fn example() -> (TimeSlices, SelfCosts) {
        let one = cost(1, 100);
        let cells = [
            (0, 1, 7, one),
            (0, 1, 9, one),
            (1, 0, 8, one),
            (1, 3, 7, one),
        ];
        (
            slices(&[(1, 1, "a", &[]), (1, 7, "a", &["v"])], &cells),
            vec![
                (NodeIx(7), cost(2, 100)),
                (NodeIx(8), one),
                (NodeIx(9), one),
            ],
        )
    }

    #[test]
    fn example_matches_the_specification() {
        let (slices, costs) = example();
        let pack = pack_slices(&slices, std::slice::from_ref(&costs)).unwrap();
        let bytes = [
            &b"\x04\x64\x63\x02"[..],
            b"\x02\0\x01\0",
            b"\x02\0\0\x06",
            b"\x02\0\x01\x01",
            b"\x02\0aa",
            b"\x02\0\0\x01",
            b"\x09\0\x01\x01k\0\x01v\x01\x01\0",
            b"\x02\0\x01\x02",
            b"\x03\0\x01\0\x02",
            b"\x03\0\x01\0\0",
            b"\x04\0\x01\x11\x11\x01",
            b"\0\0\0\0",
            b"\0\x64",
        ];
        assert_eq!(pack, bytes.concat());
        assert_eq!(unpack_slices(&pack, &[costs]).unwrap(), slices);
    }

    #[test]
    fn labels_match_the_specification() {
        let number = LabelValue::Number {
            number: -8,
            unit: "s".to_owned(),
        };
        assert_eq!(
            super::super::records::pack(&number).unwrap(),
            b"\x01\x0f\x01s"
        );
    }

    #[test]
    fn extreme_values_round_trip() {
        let all = u32::MAX;
        let threads: [ContextParts; 4] = [
            (0, all, "", &[]),
            (0, all, "\0\u{1b}ü", &["", "\0\u{1b}ü"]),
            (0, all, "\0\u{1b}ü", &["\0\u{1b}ü"]),
            (all, 0, "", &[]),
        ];
        let huge = Cost {
            samples: 0,
            value: u64::MAX,
        };
        let slices = slices(&threads, &[(1, 3, all, huge)]);
        let costs = [vec![(NodeIx(all), huge)]];
        let pack = pack_slices(&slices, &costs).unwrap();
        assert_eq!(unpack_slices(&pack, &costs).unwrap(), slices);
    }

    #[test]
    fn rejects_slices_of_other_self_costs() {
        let (slices, costs) = example();
        let pack = pack_slices(&slices, std::slice::from_ref(&costs)).unwrap();
        let mut fewer = costs.clone();
        fewer.pop();
        let mut more = costs.clone();
        more[0].1.samples += 1;
        for (costs, why) in [
            (fewer, "a slice has a node without a self cost"),
            (more, "the slices do not add up to the self costs"),
        ] {
            assert_eq!(unpack_slices(&pack, &[costs]), Err(DecodeError(why)));
        }
        assert_eq!(
            unpack_slices(&pack, &[costs.clone(), costs]),
            Err(DecodeError("it ends early"))
        );
    }

    #[test]
    fn rejects_invalid_packs() {
        let (slices, costs) = example();
        let pack = pack_slices(&slices, std::slice::from_ref(&costs)).unwrap();
        let costs = [costs];
        // Offsets refer to the example.
        for (offset, byte, why) in [
            (0, 0, "the number of slices is out of range"),
            (0, 3, "a slice is not among those announced"),
            (3, 3, "there are fewer contexts than announced"),
            (10, 9, "contexts are out of order"),
            (18, 0xff, "a name is not UTF-8"),
            (23, 2, "a context has a set of labels that does not exist"),
            (34, 1, "a set has a label that does not exist"),
            (37, 2, "it ends early"),
            (42, 3, "a slice is not among those announced"),
            (46, 0, "bytes are left over"),
            (53, 0x31, "a slice has a node without a self cost"),
            (59, 2, "the form of the values is unknown"),
            (60, 99, "the slices do not add up to the self costs"),
            (52, 0x1f, "it ends early"),
        ] {
            let mut pack = pack.clone();
            pack[offset] = byte;
            assert_eq!(
                unpack_slices(&pack, &costs),
                Err(DecodeError(why)),
                "{offset}"
            );
        }
        // Labels, or indices in a set, that do not ascend, and an empty set.
        for list in [
            &b"\x02\x01k\0\x01v\x01k\0\x01a\x01\x01\0"[..],
            b"\x01\x01k\0\x01v\x01\x02\0\0",
            b"\x01\x01k\0\x01v\x02\x01\0\x01\0",
            b"\x01\x01k\0\x01v\x01\0",
        ] {
            let column = [&[list.len() as u8, 0], list].concat();
            let pack = [&pack[..24], &column, &pack[35..]].concat();
            let out_of_order = DecodeError("labels are out of order");
            assert_eq!(unpack_slices(&pack, &costs), Err(out_of_order), "{list:?}");
        }
        let long = [&[4u8], &[0xff; 9][..], &[1, 1], &pack[3..]].concat();
        assert_eq!(
            unpack_slices(&long, &costs),
            Err(DecodeError("a time takes more than 64 bits"))
        );
    }

    fn context() -> impl Strategy<Value = SampleContext> {
        let value = prop_oneof![
            "[a-cü]{0,2}".prop_map(LabelValue::Text),
            (any::<i64>(), "s?").prop_map(|(number, unit)| LabelValue::Number { number, unit }),
        ];
        let label = ("[a-c]{0,2}", value).prop_map(|(key, value)| SampleLabel { key, value });
        let labels = prop::collection::btree_set(label, 0..4);
        let context = (0u32..3, any::<u32>(), "[a-c]?", labels);
        context.prop_map(|(pid, tid, name, labels)| SampleContext {
            thread: ProfileThread { pid, tid, name },
            labels: labels.into_iter().collect(),
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(512))]

        #[test]
        fn contexts_round_trip(contexts in prop::collection::btree_set(context(), 0..6)) {
            let slices = TimeSlices {
                contexts: contexts.into_iter().collect(),
                ..slices(&[], &[])
            };
            let pack = pack_slices(&slices, &[SelfCosts::new()]).unwrap();
            prop_assert_eq!(unpack_slices_contexts(&pack), Ok(slices.contexts.clone()));
            prop_assert_eq!(unpack_slices(&pack, &[SelfCosts::new()]), Ok(slices));
        }

        #[test]
        fn changed_bytes_never_give_invalid_slices(
            changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
        ) {
            let (slices, costs) = example();
            let costs = [costs];
            let mut pack = pack_slices(&slices, &costs).unwrap();
            for (at, byte) in changes {
                let at = at.index(pack.len());
                pack[at] = byte;
            }
            if let Ok(slices) = unpack_slices(&pack, &costs) {
                prop_assert!(slices.contexts.is_sorted_by(|a, b| a < b));
                let all = &slices.costs[0];
                prop_assert!(is_consistent(all, &costs[0]));
                prop_assert!(all.iter().all(|cost| cost.slice.0 < slices.grid.count().get()
                    && (cost.context.0 as usize) < slices.contexts.len()));
                let keys = all.iter().map(|cost| (cost.context, cost.slice, cost.node));
                prop_assert!(keys.is_sorted_by(|a, b| a < b));
            }
        }
    }
}
