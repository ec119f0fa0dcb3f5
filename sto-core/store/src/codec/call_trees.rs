//! Kept calls: pieces of a thread's calls, and the head that all pieces of a profile share.
//!
//! Calls of the same function take similar times. So the times of calls are grouped by function, with a
//! column for each byte position.

use super::DecodeError;
use super::bytes::{MAX_VARINT_32, MAX_VARINT_64, Packer, Unpacker, add_difference, difference};
use super::calls::columns::{Nodes, add_time, columns};
use sto_model::limits::{MAX_CALL_FUNCTIONS, MAX_CALL_PIECES, MAX_CALL_THREADS, MAX_DEPTH};
pub(crate) use sto_model::trace::dag::{DagNode, ItemKind, MAX_PIECE_CALLS, Piece, PieceItem};
use sto_model::trace::log::Call;
use sto_model::trace::paths::TraceFunctionIx;
use sto_model::tree::NodeIx;
use sto_model::units::Nanoseconds;

/// The data that all pieces of a profile's calls share.
#[derive(Clone, Debug, Default, PartialEq)]
#[doc(hidden)]
pub struct KeptHead {
    /// By function: a stack that ends in it, and the number of the function's frames there.
    pub functions: Vec<(NodeIx, u32)>,
    /// The pieces by thread, in order of time.
    pub pieces: Vec<PieceInfo>,
}

/// A piece of a thread's calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[doc(hidden)]
pub struct PieceInfo {
    /// Index of the thread among those with calls.
    pub thread: u32,
    /// Start of the first call.
    pub begin: Nanoseconds,
    /// Number of calls.
    pub calls: u32,
}

/// Packs the head.
#[doc(hidden)]
pub fn pack_kept_head(head: &KeptHead) -> Result<Vec<u8>, DecodeError> {
    let mut pack = Packer::default();
    let mut packed: [Packer; 5] = Default::default();
    let [nodes, frames, threads, begins, calls] = &mut packed;
    let mut last = 0;
    for &(node, count) in &head.functions {
        nodes.number(difference(node.0, last));
        last = node.0;
        frames.number(count);
    }
    let mut last = PieceInfo {
        thread: 0,
        begin: Nanoseconds(0),
        calls: 0,
    };
    for piece in &head.pieces {
        threads.number(piece.thread - last.thread);
        if piece.thread != last.thread {
            last.begin = Nanoseconds(0);
        }
        begins.number(piece.begin.0 - last.begin.0);
        calls.number(piece.calls);
        last = *piece;
    }
    pack.number(head.functions.len() as u64);
    pack.number(head.pieces.len() as u64);
    for column in packed {
        pack.column(column);
    }
    pack.finish()
}

/// Unpacks the head of a profile whose tree has `tree` nodes.
pub(crate) fn unpack_kept_head(pack: &[u8], tree: usize) -> Result<KeptHead, DecodeError> {
    const MANY: DecodeError = DecodeError("there are more functions, or pieces, than there can be");
    let mut pack = Unpacker::new(pack);
    let functions = pack.number32()? as usize;
    let pieces = pack.number32()? as usize;
    if functions > MAX_CALL_FUNCTIONS || pieces > MAX_CALL_PIECES {
        return Err(MANY);
    }
    let [nodes, frames] = columns(&mut pack, functions * MAX_VARINT_32)?;
    let [threads, begins, calls] = columns(&mut pack, pieces * MAX_VARINT_64)?;
    pack.finish()?;
    let (mut nodes, mut frames) = (Nodes::new(Unpacker::new(&nodes)), Unpacker::new(&frames));
    let functions = (0..functions).map(|_| {
        let (node, frames) = (nodes.next()?, frames.number32()?);
        if node.get() < tree && frames > 0 {
            Ok((node, frames))
        } else {
            Err(DecodeError("a function of kept calls does not exist"))
        }
    });
    let functions = functions.collect::<Result<_, _>>()?;
    nodes.column.finish()?;
    frames.finish()?;
    let [mut threads, mut begins, mut calls] =
        [&threads, &begins, &calls].map(|column| Unpacker::new(column));
    let (mut thread, mut begin) = (0u32, Nanoseconds(0));
    let pieces = (0..pieces).map(|_| {
        let more = threads.number32()?;
        thread = thread
            .checked_add(more)
            .filter(|&thread| (thread as usize) < MAX_CALL_THREADS)
            .ok_or(MANY)?;
        if more > 0 {
            begin = Nanoseconds(0);
        }
        begin = add_time(begin, begins.number()?)?;
        Ok(PieceInfo {
            thread,
            begin,
            calls: calls.number32()?,
        })
    });
    let pieces = pieces.collect::<Result<_, _>>()?;
    for column in [threads, begins, calls] {
        column.finish()?;
    }
    Ok(KeptHead { functions, pieces })
}

/// Packs a piece.
#[doc(hidden)]
pub fn pack_piece(piece: &Piece) -> Result<Vec<u8>, DecodeError> {
    let mut packed: [Packer; 10] = Default::default();
    let [
        callers,
        begins,
        durations,
        functions,
        sizes,
        callees,
        counts,
        depths,
        items,
        times,
    ] = &mut packed;
    let mut last = 0;
    for call in &piece.callers {
        callers.number(call.function.0);
        begins.number(call.begin.0 - last);
        last = call.begin.0;
        durations.number(call.duration.0);
    }
    for (index, node) in (0..).zip(&piece.nodes) {
        functions.number(
            node.function
                .map_or(0, |function| u64::from(function.0) + 1),
        );
        sizes.number(node.callees.len() as u64);
        for &(callee, count) in &node.callees {
            callees.number(index - callee - 1);
            counts.number(count - 1);
        }
    }
    let mut last = 0;
    for item in &piece.items {
        depths.number(difference(item.depth, last));
        last = item.depth;
        match item.kind {
            ItemKind::Open(function) => items.number(u64::from(function.0) * 2 + 1),
            ItemKind::Whole((node, count)) => {
                items.number(u64::from(node) * 2);
                times.number(count - 1);
            }
        }
    }
    let mut pack = Packer::default();
    for count in [
        piece.callers.len(),
        piece.nodes.len(),
        piece.nodes.iter().map(|node| node.callees.len()).sum(),
        piece.items.len(),
        piece.gaps.len(),
    ] {
        pack.number(count as u64);
    }
    pack.number(piece.begin.0);
    for column in packed {
        pack.column(column);
    }
    let called = piece.functions(piece.gaps.len());
    let order = by_function(&called);
    for times in [&piece.gaps, &piece.rests] {
        pack_bytes(&mut pack, order.iter().map(|&at| times[at as usize]));
    }
    pack.finish()
}

/// The number of nodes in a packed piece.
pub(crate) fn piece_nodes(pack: &[u8]) -> Result<u64, DecodeError> {
    let mut pack = Unpacker::new(pack);
    pack.number()?;
    pack.number()
}

/// Unpacks a piece and the depths and functions of its calls; the head has `functions` functions.
pub(crate) fn unpack_piece(
    pack: &[u8],
    functions: usize,
) -> Result<(Piece, Vec<(u32, TraceFunctionIx)>), DecodeError> {
    const MANY: DecodeError = DecodeError("a piece of calls has more than there can be");
    const MISSING: DecodeError = DecodeError("a call is not among those announced");
    let mut pack = Unpacker::new(pack);
    let mut count = |most: usize| {
        let count = usize::try_from(pack.number()?).ok();
        count.filter(|&count| count <= most).ok_or(MANY)
    };
    let caller_count = count(MAX_DEPTH)?;
    // A sequence of calls has at least two elements, and so has the node that contains it.
    let node_count = count(2 * MAX_PIECE_CALLS)?;
    let callee_count = count(2 * MAX_PIECE_CALLS)?;
    let item_count = count(MAX_PIECE_CALLS)?;
    let call_count = count(MAX_PIECE_CALLS)?;
    let begin = Nanoseconds(pack.number()?);
    let callers: [Vec<u8>; 3] = columns(&mut pack, caller_count * MAX_VARINT_64)?;
    let nodes: [Vec<u8>; 2] = columns(&mut pack, node_count * MAX_VARINT_64)?;
    let callees: [Vec<u8>; 2] = columns(&mut pack, callee_count * MAX_VARINT_64)?;
    let items: [Vec<u8>; 3] = columns(&mut pack, item_count * MAX_VARINT_64)?;
    let function = |number: u64| {
        let number = u32::try_from(number).ok();
        let number = number.filter(|&number| (number as usize) < functions);
        number
            .map(TraceFunctionIx)
            .ok_or(DecodeError("a function of a call does not exist"))
    };
    let [mut numbers, mut begins, mut durations] =
        std::array::from_fn(|at| Unpacker::new(&callers[at]));
    let mut last = Nanoseconds(0);
    let callers = (0..caller_count as u32).map(|depth| {
        last = add_time(last, begins.number()?)?;
        let duration = durations.number()?;
        add_time(last, duration)?;
        Ok(Call {
            depth,
            function: function(numbers.number()?)?,
            arguments: None,
            begin: last,
            duration: Nanoseconds(duration),
        })
    });
    let callers = callers.collect::<Result<_, _>>()?;
    let [mut node_functions, mut sizes] = std::array::from_fn(|at| Unpacker::new(&nodes[at]));
    let [mut called, mut counts] = std::array::from_fn(|at| Unpacker::new(&callees[at]));
    let mut callees_left = callee_count;
    let nodes = (0..node_count as u32).map(|index| {
        let function = node_functions
            .number()?
            .checked_sub(1)
            .map(function)
            .transpose()?;
        let size = usize::try_from(sizes.number()?).ok();
        let size = size.filter(|&size| size <= callees_left).ok_or(MISSING)?;
        callees_left -= size;
        if function.is_none() && size == 0 {
            return Err(DecodeError("a sequence of calls is empty"));
        }
        let callees = (0..size).map(|_| {
            let callee = called.number32()?.checked_add(1);
            let callee = callee
                .and_then(|before| index.checked_sub(before))
                .ok_or(MISSING)?;
            Ok((callee, counts.number()?.checked_add(1).ok_or(MANY)?))
        });
        Ok(DagNode {
            function,
            callees: callees.collect::<Result<_, _>>()?,
        })
    });
    let nodes: Vec<DagNode> = nodes.collect::<Result<_, _>>()?;
    let [mut depths, mut whats, mut times] = std::array::from_fn(|at| Unpacker::new(&items[at]));
    let mut depth = 0;
    let items = (0..item_count).map(|_| {
        depth = add_difference(depth, depths.number32()?);
        let what = whats.number()?;
        let is_open = what % 2 == 1;
        if depth as usize > MAX_DEPTH || (!is_open && what / 2 >= node_count as u64) {
            return Err(MISSING);
        }
        Ok(PieceItem {
            depth,
            kind: if is_open {
                ItemKind::Open(function(what / 2)?)
            } else {
                let count = times.number()?.checked_add(1).ok_or(MANY)?;
                ItemKind::Whole(((what / 2) as u32, count))
            },
        })
    });
    let items = items.collect::<Result<_, _>>()?;
    for column in [
        numbers,
        begins,
        durations,
        node_functions,
        sizes,
        called,
        counts,
        depths,
        whats,
        times,
    ] {
        column.finish()?;
    }
    let mut piece = Piece {
        callers,
        begin,
        nodes,
        items,
        gaps: Vec::new(),
        rests: Vec::new(),
    };
    let called = piece.functions(call_count);
    // Each call's caller is the call before it or one of that call's callers.
    let mut most_depth = caller_count as u32;
    let nest = called.iter().all(|&(depth, _)| {
        let is_within = depth <= most_depth;
        most_depth = depth + 1;
        is_within
    });
    if called.len() != call_count || !nest {
        return Err(MISSING);
    }
    let order = by_function(&called);
    for times in [&mut piece.gaps, &mut piece.rests] {
        *times = vec![0; call_count];
        for (&at, time) in order.iter().zip(unpack_bytes(&mut pack, call_count)?) {
            times[at as usize] = time;
        }
    }
    pack.finish()?;
    Ok((piece, called))
}

/// The indices of calls grouped by function, in order within each.
fn by_function(called: &[(u32, TraceFunctionIx)]) -> Vec<u32> {
    let mut order: Vec<u32> = (0..called.len() as u32).collect();
    order.sort_by_key(|&at| called[at as usize].1);
    order
}

/// Packs numbers with a column for each byte position, lowest first, up to the width of the largest.
fn pack_bytes(pack: &mut Packer, numbers: impl Iterator<Item = u64> + Clone) {
    let all = numbers.clone().fold(0, |all, number| all | number);
    let width = (u64::BITS - all.leading_zeros()).div_ceil(8);
    pack.number(width);
    for at in 0..width {
        let bytes = numbers.clone().map(|number| (number >> (8 * at)) as u8);
        pack.column(Packer::from_bytes(bytes.collect()));
    }
}

fn unpack_bytes(pack: &mut Unpacker<'_>, count: usize) -> Result<Vec<u64>, DecodeError> {
    let width = pack.number32()?;
    if width > u64::BITS / 8 {
        return Err(DecodeError("a number takes more than 64 bits"));
    }
    let mut numbers = vec![0u64; count];
    for at in 0..width {
        let column = pack.column_within(count)?;
        if column.len() != count {
            return Err(DecodeError("there are not as many numbers as announced"));
        }
        for (number, byte) in numbers.iter_mut().zip(column) {
            *number |= u64::from(byte) << (8 * at);
        }
    }
    Ok(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use sto_model::trace::dag::Pieces;

    const FUNCTIONS: usize = 3;

    fn call(depth: u32, function: u32, begin: u64, duration: u64) -> Call {
        Call {
            arguments: None,
            depth,
            function: TraceFunctionIx(function),
            begin: Nanoseconds(begin),
            duration: Nanoseconds(duration),
        }
    }

    fn pieces(calls: &[Call], most: usize) -> Vec<Piece> {
        let functions: Vec<[u8; 16]> = (0..FUNCTIONS as u8)
            .map(|function| [function; 16])
            .collect();
        Pieces::new(calls.iter().copied(), most, &functions).collect()
    }

    /// The example of SPEC.md: `a` calls `b` twice and `c`, and again in the next piece.
    fn example() -> Vec<Piece> {
        let calls = [
            call(0, 0, 100, 60),
            call(1, 1, 110, 5),
            call(1, 1, 120, 6),
            call(1, 2, 126, 300),
            call(2, 1, 130, 5),
        ];
        pieces(&calls, 4)
    }

    #[test]
    fn example_matches_the_specification() {
        let [first, second] = &example()[..] else {
            panic!()
        };
        let pack = pack_piece(first).unwrap();
        let bytes = [
            &b"\0\x01\0\x03\x04\x64"[..],
            b"\0\0\0\0\0\0",
            b"\x01\0\x02\x01\0\0\0\0\0\0",
            b"\x03\0\0\x02\0\x03\0\x01\0\x05\x01\0\x01",
            b"\x01\x04\0\0\x0a\x05\0\x02\x04\0\x3c\x05\x06\x2c\x04\0\0\0\0\x01",
        ];
        assert_eq!(pack, bytes.concat(), "{pack:x?}");
        let (back, functions) = unpack_piece(&pack, FUNCTIONS).unwrap();
        assert_eq!((&back, functions.len()), (first, 4));
        assert_eq!(second.callers.len(), 2);
        let pack = pack_piece(second).unwrap();
        assert_eq!(&unpack_piece(&pack, FUNCTIONS).unwrap().0, second);
        let head = KeptHead {
            functions: vec![(NodeIx(0), 1), (NodeIx(1), 1), (NodeIx(2), 2)],
            pieces: vec![
                PieceInfo {
                    thread: 0,
                    begin: Nanoseconds(100),
                    calls: 4,
                },
                PieceInfo {
                    thread: 0,
                    begin: Nanoseconds(130),
                    calls: 1,
                },
            ],
        };
        let pack = pack_kept_head(&head).unwrap();
        let bytes =
            b"\x03\x02\x03\0\0\x02\x02\x03\0\x01\x01\x02\x02\0\0\0\x02\0\x64\x1e\x02\0\x04\x01";
        assert_eq!(pack, bytes, "{pack:x?}");
        assert_eq!(unpack_kept_head(&pack, 3), Ok(head));
        let missing = DecodeError("a function of kept calls does not exist");
        assert_eq!(unpack_kept_head(&pack, 2), Err(missing));
    }

    #[test]
    fn rejects_pieces_with_missing_or_extra_bytes() {
        let pack = pack_piece(&example()[0]).unwrap();
        for end in 0..pack.len() {
            assert!(unpack_piece(&pack[..end], FUNCTIONS).is_err(), "{end}");
        }
        let longer = [&pack[..], b"\0"].concat();
        assert!(unpack_piece(&longer, FUNCTIONS).is_err());
        assert!(unpack_piece(&pack, FUNCTIONS - 1).is_err());
    }

    #[test]
    fn rejects_pieces_with_too_many_calls() {
        // A chain of nodes; each repeats the previous one a thousand times.
        let nodes = (0..20u32).map(|index| DagNode {
            function: Some(TraceFunctionIx(0)),
            callees: index
                .checked_sub(1)
                .map(|before| (before, 1000))
                .into_iter()
                .collect(),
        });
        let piece = Piece {
            nodes: nodes.collect(),
            items: vec![PieceItem {
                depth: 0,
                kind: ItemKind::Whole((19, u64::MAX)),
            }],
            ..Piece::default()
        };
        assert_eq!(piece.functions(MAX_PIECE_CALLS).len(), MAX_PIECE_CALLS + 1);
    }

    proptest! {
        #[test]
        fn changed_bytes_never_panic(
            which in 0usize..2,
            changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
        ) {
            let mut pack = pack_piece(&example()[which]).unwrap();
            for (at, byte) in changes {
                let at = at.index(pack.len());
                pack[at] = byte;
            }
            if let Ok((piece, functions)) = unpack_piece(&pack, FUNCTIONS) {
                prop_assert_eq!(piece.calls(&functions).len(), functions.len());
            }
        }
    }
}
