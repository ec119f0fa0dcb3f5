//! Every call of a part of a thread's time, as a graph of equal subtrees of calls, with the times apart.
//!
//! What a program calls repeats much more than how long it takes. So a call, with all that it calls, is a node that
//! has its function and the nodes of its callees in order, equal ones in a row as one and a count; and so a loop of a
//! million equal iterations is one node and a count. Sequences of calls that repeat (`a b a b`) are nodes without a
//! function. A node has a content address, by which equal ones are found.

use super::log::Call;
use super::paths::FunctionNo;
use crate::units::Nanoseconds;
use hashbrown::HashMap;

/// Most calls of a piece.
pub(crate) const PIECE: usize = 1 << 18;

/// Longest sequence of calls whose repetitions are found.
const LONGEST_SEQUENCE: usize = 8;

/// What node it is, and how often it comes in a row.
pub(crate) type Repeated = (u32, u64);

/// A node of the graph. Its callees are nodes before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DagNode {
    /// The function that was called; none of a sequence of calls.
    pub(crate) function: Option<FunctionNo>,
    /// What it called, or what it is a sequence of.
    pub(crate) callees: Vec<Repeated>,
}

/// Calls of a piece that no other one of it made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Item {
    /// How many calls it was made in.
    pub(crate) depth: u32,
    /// What it is.
    pub(crate) what: Calls,
}

/// Calls that were made in one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Calls {
    /// Whole calls.
    Whole(Repeated),
    /// One that makes further calls in the next piece.
    Open(FunctionNo),
}

/// Calls of a thread that follow each other in preorder.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Piece {
    /// The calls that the first one was made in, outermost first.
    pub(crate) callers: Vec<Call>,
    /// When the first one began.
    pub(crate) begin: Nanoseconds,
    /// The graph.
    pub(crate) nodes: Vec<DagNode>,
    /// The calls, in preorder.
    pub(crate) items: Vec<Item>,
    /// By call in preorder: the time from the end of the call of its caller before it, or else from its caller's
    /// begin.
    pub(crate) gaps: Vec<u64>,
    /// By call in preorder: the time from the end of the last call that it made, or else from its begin, to its end.
    /// Of a call that makes further calls in the next piece, all its time.
    pub(crate) rests: Vec<u64>,
}

/// Cuts the calls of a thread into pieces of at most so many.
pub(crate) struct Pieces<'a, I: Iterator<Item = Call>> {
    calls: std::iter::Peekable<I>,
    most: usize,
    /// By function: its content address.
    functions: &'a [[u8; 16]],
    callers: Vec<Call>,
}

impl<'a, I: Iterator<Item = Call>> Pieces<'a, I> {
    pub(crate) fn new(calls: I, most: usize, functions: &'a [[u8; 16]]) -> Self {
        Pieces {
            calls: calls.peekable(),
            most,
            functions,
            callers: Vec::new(),
        }
    }
}

impl<I: Iterator<Item = Call>> Iterator for Pieces<'_, I> {
    type Item = Piece;

    fn next(&mut self) -> Option<Piece> {
        let first = *self.calls.peek()?;
        self.callers.truncate(first.depth as usize);
        let calls: Vec<Call> = self.calls.by_ref().take(self.most).collect();
        let next_depth = self.calls.peek().map_or(0, |next| next.depth);
        let mut builder = Builder::new(self.functions, &self.callers, first.begin);
        calls.iter().for_each(|call| builder.add(call));
        let piece = builder.finish(next_depth, &calls);
        for call in calls {
            self.callers.truncate(call.depth as usize);
            self.callers.push(call);
        }
        Some(piece)
    }
}

/// A call that may make further ones.
struct Level {
    /// None of a call of a piece before.
    call: Option<(usize, FunctionNo)>,
    callees: Vec<Repeated>,
    /// When the last of these ended.
    cursor: u64,
    end: u64,
}

struct Builder<'a> {
    functions: &'a [[u8; 16]],
    ids: HashMap<[u8; 16], u32>,
    /// By function: the node of a call that made none.
    leaves: HashMap<FunctionNo, u32>,
    /// By node: its content address.
    addresses: Vec<[u8; 16]>,
    /// Callers, outermost first; before them the thread itself.
    levels: Vec<Level>,
    piece: Piece,
}

impl<'a> Builder<'a> {
    fn new(functions: &'a [[u8; 16]], callers: &[Call], begin: Nanoseconds) -> Self {
        Builder {
            functions,
            ids: HashMap::new(),
            leaves: HashMap::new(),
            addresses: Vec::new(),
            levels: levels(callers, begin),
            piece: Piece {
                callers: callers.to_vec(),
                begin,
                ..Piece::default()
            },
        }
    }

    fn add(&mut self, call: &Call) {
        while self.levels.len() > call.depth as usize + 1 {
            self.close();
        }
        let Some(caller) = self.levels.last_mut() else {
            return;
        };
        let (begin, end) = (call.begin.0, call.end().0);
        let index = self.piece.gaps.len();
        self.piece.gaps.push(begin.wrapping_sub(caller.cursor));
        self.piece.rests.push(0);
        caller.cursor = end;
        self.levels.push(Level {
            call: Some((index, call.function)),
            callees: Vec::new(),
            cursor: begin,
            end,
        });
    }

    /// The last call made all its calls.
    fn close(&mut self) {
        let Some(level) = self.levels.pop() else {
            return;
        };
        let depth = self.levels.len() as u32;
        let Some((index, function)) = level.call else {
            return self.put(depth, level.callees);
        };
        self.piece.rests[index] = level.end.wrapping_sub(level.cursor);
        let node = match level.callees.is_empty() {
            true => self.leaf(function),
            false => {
                let callees = self.sequences(level.callees);
                self.node(Some(function), callees)
            }
        };
        if let Some(caller) = self.levels.last_mut() {
            match caller.callees.last_mut() {
                Some((last, count)) if *last == node => *count += 1,
                _ => caller.callees.push((node, 1)),
            }
        }
    }

    fn leaf(&mut self, function: FunctionNo) -> u32 {
        match self.leaves.get(&function) {
            Some(&node) => node,
            None => {
                let node = self.node(Some(function), Vec::new());
                self.leaves.insert(function, node);
                node
            }
        }
    }

    /// Calls whose caller is of a piece before, or goes on in the next one.
    fn put(&mut self, depth: u32, callees: Vec<Repeated>) {
        let callees = self.sequences(callees);
        let items = callees.into_iter().map(|callee| Item {
            depth,
            what: Calls::Whole(callee),
        });
        self.piece.items.extend(items);
    }

    fn node(&mut self, function: Option<FunctionNo>, callees: Vec<Repeated>) -> u32 {
        let callee = |&(node, count): &Repeated| (self.addresses[node as usize], count);
        let function_id = function.map(|function| &self.functions[function.get()]);
        let id = address(function_id, callees.iter().map(callee));
        let nodes = &mut self.piece.nodes;
        *self.ids.entry(id).or_insert_with(|| {
            nodes.push(DagNode { function, callees });
            self.addresses.push(id);
            nodes.len() as u32 - 1
        })
    }

    /// The same calls, with sequences that repeat as nodes of their own: of those that begin at a call, the one that
    /// repeats over most calls, the shortest of equals.
    fn sequences(&mut self, callees: Vec<Repeated>) -> Vec<Repeated> {
        if callees.len() < 4 {
            return callees;
        }
        let mut shorter: Vec<Repeated> = Vec::new();
        let mut at = 0;
        while at < callees.len() {
            let rest = &callees[at..];
            let repeats = |length: usize| {
                let sequence = &rest[..length];
                let repeated = rest.chunks_exact(length);
                repeated.take_while(|chunk| *chunk == sequence).count()
            };
            let lengths = 2..=LONGEST_SEQUENCE.min(rest.len() / 2);
            let best = lengths
                .map(|length| (repeats(length) * length, length))
                .filter(|&(all, length)| all > length)
                .max_by_key(|&(all, length)| (all, std::cmp::Reverse(length)));
            match best {
                Some((all, length)) => {
                    let node = self.node(None, rest[..length].to_vec());
                    shorter.push((node, (all / length) as u64));
                    at += all;
                }
                None => {
                    shorter.push(rest[0]);
                    at += 1;
                }
            }
        }
        shorter
    }

    /// The piece, where the call after it is made in so many.
    fn finish(mut self, next_depth: u32, calls: &[Call]) -> Piece {
        while self.levels.len() > next_depth as usize + 1 {
            self.close();
        }
        for (depth, level) in (0..).zip(std::mem::take(&mut self.levels)) {
            if let Some((index, function)) = level.call {
                self.piece.rests[index] = calls[index].duration.0;
                self.piece.items.push(Item {
                    depth: depth - 1,
                    what: Calls::Open(function),
                });
            }
            self.put(depth, level.callees);
        }
        self.piece
    }
}

/// The thread, and these callers in it, before a call that begins then.
fn levels(callers: &[Call], begin: Nanoseconds) -> Vec<Level> {
    let outermost = callers.iter().map(|call| call.end().0);
    let cursors = outermost.chain([begin.0]);
    let ends = [0]
        .into_iter()
        .chain(callers.iter().map(|call| call.end().0));
    let levels = cursors.zip(ends).map(|(cursor, end)| Level {
        call: None,
        callees: Vec::new(),
        cursor,
        end,
    });
    levels.collect()
}

/// The content address of calls of a function, or of a sequence without one.
fn address(
    function: Option<&[u8; 16]>,
    callees: impl Iterator<Item = ([u8; 16], u64)>,
) -> [u8; 16] {
    let mut hasher = blake3::Hasher::new();
    hasher.update(b"sto.calls.v1");
    hasher.update(&[u8::from(function.is_some())]);
    if let Some(function) = function {
        hasher.update(function);
    }
    for (callee, count) in callees {
        hasher.update(&callee);
        hasher.update(&count.to_le_bytes());
    }
    let mut address = [0; 16];
    address.copy_from_slice(&hasher.finalize().as_bytes()[..16]);
    address
}

impl Piece {
    /// Depths and functions of the calls in preorder, up to so many and one.
    pub(crate) fn functions(&self, most: usize) -> Vec<(u32, FunctionNo)> {
        let mut functions = Vec::new();
        for item in &self.items {
            match item.what {
                Calls::Open(function) => functions.push((item.depth, function)),
                Calls::Whole(repeated) => self.expand(item.depth, repeated, most, &mut functions),
            }
            if functions.len() > most {
                break;
            }
        }
        functions
    }

    fn expand(
        &self,
        depth: u32,
        repeated: Repeated,
        most: usize,
        functions: &mut Vec<(u32, FunctionNo)>,
    ) {
        // What is still to come, last first: nodes with their depth, and how often.
        let mut open = vec![(depth, repeated)];
        while let Some((depth, (node, count))) = open.pop() {
            if functions.len() > most {
                return;
            }
            if count > 1 {
                open.push((depth, (node, count - 1)));
            }
            let DagNode { function, callees } = &self.nodes[node as usize];
            functions.extend(function.map(|function| (depth, function)));
            let depth = depth + u32::from(function.is_some());
            open.extend(callees.iter().rev().map(|&callee| (depth, callee)));
        }
    }

    /// Its calls, of which these are the depths and functions; one for each gap and rest.
    pub(crate) fn calls(&self, functions: &[(u32, FunctionNo)]) -> Vec<Call> {
        let opens = self
            .items
            .iter()
            .filter(|item| matches!(item.what, Calls::Open(_)));
        let opens: Vec<u32> = opens.map(|item| item.depth).collect();
        let mut calls: Vec<Call> = Vec::with_capacity(functions.len());
        // By depth: the call that is open, and when the last of its calls ended.
        let mut levels = levels(&self.callers, self.begin);
        let close = |levels: &mut Vec<Level>, calls: &mut Vec<Call>, rests: &[u64]| {
            let Some(Level {
                call: Some((index, _)),
                cursor,
                ..
            }) = levels.pop()
            else {
                return;
            };
            let call = &mut calls[index];
            call.duration =
                Nanoseconds(cursor.wrapping_add(rests[index]).wrapping_sub(call.begin.0));
            if let Some(caller) = levels.last_mut() {
                caller.cursor = call.begin.0.wrapping_add(call.duration.0);
            }
        };
        for (index, &(depth, function)) in functions.iter().enumerate() {
            while levels.len() > depth as usize + 1 {
                close(&mut levels, &mut calls, &self.rests);
            }
            let Some(caller) = levels.last_mut() else {
                break;
            };
            let begin = caller.cursor.wrapping_add(self.gaps[index]);
            calls.push(Call {
                depth,
                function,
                begin: Nanoseconds(begin),
                duration: Nanoseconds(0),
            });
            levels.push(Level {
                call: Some((index, function)),
                callees: Vec::new(),
                cursor: begin,
                end: 0,
            });
        }
        // The innermost calls that are left: those that go on have all their time as their rest.
        while levels.len() > 1 {
            let is_open = opens.contains(&(levels.len() as u32 - 2));
            match (is_open, levels.last()) {
                (
                    true,
                    Some(Level {
                        call: Some((index, _)),
                        ..
                    }),
                ) => {
                    calls[*index].duration = Nanoseconds(self.rests[*index]);
                    levels.pop();
                }
                _ => close(&mut levels, &mut calls, &self.rests),
            }
        }
        calls
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn address_of(function: u32) -> [u8; 16] {
        [function as u8; 16]
    }

    /// A thread's calls: of each, how many calls end before it, the function, the gap before it and what it takes by
    /// itself after that.
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
                depth,
                function: FunctionNo(function.into()),
                begin: Nanoseconds(now),
                duration: Nanoseconds(0),
            });
        }
        while !open.is_empty() {
            end(&mut open, &mut calls, &mut now);
        }
        calls
    }

    fn pieces(calls: &[Call], most: usize) -> Vec<Piece> {
        let functions: Vec<[u8; 16]> = (0..256).map(address_of).collect();
        Pieces::new(calls.iter().copied(), most, &functions).collect()
    }

    fn back(pieces: &[Piece]) -> Vec<Call> {
        let calls = pieces.iter().map(|piece| {
            let functions = piece.functions(usize::MAX - 1);
            assert_eq!(functions.len(), piece.gaps.len());
            piece.calls(&functions)
        });
        calls.collect::<Vec<_>>().concat()
    }

    #[test]
    fn a_loop_of_equal_iterations_is_one_node_and_a_count() {
        // main: a million times f, which calls g and h, whatever they take.
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
            function: Some(FunctionNo(function)),
            callees,
        };
        let nodes = [
            node(2, vec![]),
            node(3, vec![]),
            node(1, vec![(0, 1), (1, 1)]),
            node(0, vec![(2, 200_000)]),
        ];
        assert_eq!(piece.nodes, nodes);
        assert_eq!(back(&pieces(&calls, usize::MAX)), calls);
        // Cut, each piece has the loop once.
        let cut = pieces(&calls, 1000);
        assert!(
            cut.iter()
                .all(|piece| piece.nodes.len() <= 6 && piece.items.len() <= 6)
        );
        assert_eq!(back(&cut), calls);
    }

    #[test]
    fn a_sequence_of_calls_that_repeats_is_one_node_and_a_count() {
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
        assert_eq!(back(std::slice::from_ref(piece)), calls);
    }

    proptest! {
        #[test]
        fn calls_come_back_exactly(
            parts in prop::collection::vec((0u8..4, 0u8..4, 0u64..9, 0u64..9), 0..200),
            most in 1usize..40,
        ) {
            let calls = calls(&parts);
            let pieces = pieces(&calls, most);
            prop_assert!(pieces.iter().all(|piece| piece.gaps.len() <= most));
            prop_assert_eq!(back(&pieces), calls);
        }
    }
}
