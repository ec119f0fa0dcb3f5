use super::*;
use proptest::prelude::*;

fn address_of(function: u32) -> [u8; 16] {
    [function as u8; 16]
}

/// Builds the calls of a thread from (number of calls that end before it, function, gap, rest) of each.
fn calls(parts: &[(u8, u8, u64, u64)]) -> Vec<Call> {
    let mut calls: Vec<Call> = Vec::new();
    let mut open: Vec<(usize, u64)> = Vec::new();
    let mut now = 100u64;
    let end = |open: &mut Vec<(usize, u64)>, calls: &mut Vec<Call>, now: &mut u64| {
        if let Some((index, rest)) = open.pop() {
            *now += rest;
            calls[index].duration = Nanoseconds(*now - calls[index].begin.0);
        }
    };
    for &(ends, function, gap, rest) in parts {
        for _ in 0..ends {
            end(&mut open, &mut calls, &mut now);
        }
        now += gap;
        let depth = open.len() as u32;
        open.push((calls.len(), rest));
        calls.push(Call {
            arguments: None,
            depth,
            function: TraceFunctionIx(function.into()),
            begin: Nanoseconds(now),
            duration: Nanoseconds(0),
        });
    }
    while !open.is_empty() {
        end(&mut open, &mut calls, &mut now);
    }
    calls
}

fn pieces(calls: &[Call], max_calls: usize) -> Vec<Piece> {
    let functions: Vec<[u8; 16]> = (0..256).map(address_of).collect();
    Pieces::new(calls.iter().copied(), max_calls, &functions).collect()
}

fn expanded(pieces: &[Piece]) -> Vec<Call> {
    let calls = pieces.iter().map(|piece| {
        let functions = piece.functions(usize::MAX - 1);
        assert_eq!(functions.len(), piece.gaps.len());
        piece.calls(&functions)
    });
    calls.collect::<Vec<_>>().concat()
}

#[test]
fn loop_of_equal_iterations_is_one_node() {
    // main calls f 200,000 times, which calls g and h, with different durations.
    let mut parts = vec![(0, 0, 0, 5)];
    for at in 0..200_000u64 {
        let ends = if at == 0 { 0 } else { 2 };
        parts.extend([(ends, 1, at % 7, 3), (0, 2, at % 11, 1), (1, 3, 2, at % 5)]);
    }
    let calls = calls(&parts);
    let [piece] = &pieces(&calls, usize::MAX)[..] else {
        panic!()
    };
    let node = |function, callees| DagNode {
        function: Some(TraceFunctionIx(function)),
        callees,
    };
    let nodes = [
        node(2, vec![]),
        node(3, vec![]),
        node(1, vec![(0, 1), (1, 1)]),
        node(0, vec![(2, 200_000)]),
    ];
    assert_eq!(piece.nodes, nodes);
    assert_eq!(expanded(&pieces(&calls, usize::MAX)), calls);
    // Each of several pieces has the loop once.
    let small_pieces = pieces(&calls, 1000);
    assert!(
        small_pieces
            .iter()
            .all(|piece| piece.nodes.len() <= 6 && piece.items.len() <= 6)
    );
    assert_eq!(expanded(&small_pieces), calls);
}

#[test]
fn repeated_sequence_is_one_node() {
    let mut parts = vec![(0, 0, 0, 0), (0, 9, 1, 1)];
    for _ in 0..50 {
        parts.extend([(1, 1, 1, 2), (1, 2, 1, 2), (1, 3, 1, 2)]);
    }
    let calls = calls(&parts);
    let [piece] = &pieces(&calls, usize::MAX)[..] else {
        panic!()
    };
    let last = piece.nodes.last().unwrap();
    assert_eq!(last.callees, [(0, 1), (4, 50)]);
    assert_eq!(piece.nodes[4].function, None);
    assert_eq!(piece.nodes[4].callees, [(1, 1), (2, 1), (3, 1)]);
    assert_eq!(expanded(std::slice::from_ref(piece)), calls);
}

proptest! {
    #[test]
    fn pieces_expand_to_the_same_calls(
        parts in prop::collection::vec((0u8..4, 0u8..4, 0u64..9, 0u64..9), 0..200),
        max_calls in 1usize..40,
    ) {
        let calls = calls(&parts);
        let pieces = pieces(&calls, max_calls);
        prop_assert!(pieces.iter().all(|piece| piece.gaps.len() <= max_calls));
        prop_assert_eq!(expanded(&pieces), calls);
    }
}
