//! Building the graphs of pieces from calls.

use super::{DagNode, ItemKind, Level, Piece, PieceItem, Repeated, levels};
use crate::trace::log::Call;
use crate::trace::paths::TraceFunctionIx;
use crate::units::Nanoseconds;
use hashbrown::HashMap;

/// Maximum length of a sequence of calls whose repetitions are found.
const MAX_SEQUENCE: usize = 8;

/// Divides the calls of a thread into pieces.
pub struct Pieces<'a, I: Iterator<Item = Call>> {
    calls: std::iter::Peekable<I>,
    max_calls: usize,
    functions: &'a [[u8; 16]],
    callers: Vec<Call>,
}

impl<'a, I: Iterator<Item = Call>> Pieces<'a, I> {
    /// Divides calls into pieces of at most `max_calls` calls. `functions` are the functions' content addresses.
    pub fn new(calls: I, max_calls: usize, functions: &'a [[u8; 16]]) -> Self {
        Pieces {
            calls: calls.peekable(),
            max_calls,
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
        let calls: Vec<Call> = self.calls.by_ref().take(self.max_calls).collect();
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

struct Builder<'a> {
    functions: &'a [[u8; 16]],
    /// Nodes by content address.
    nodes: HashMap<[u8; 16], u32>,
    /// Nodes of functions without callees.
    leaves: HashMap<TraceFunctionIx, u32>,
    /// The content address of each node.
    addresses: Vec<[u8; 16]>,
    /// The thread itself, then the current callers, outermost first.
    levels: Vec<Level>,
    piece: Piece,
}

impl<'a> Builder<'a> {
    fn new(functions: &'a [[u8; 16]], callers: &[Call], begin: Nanoseconds) -> Self {
        Builder {
            functions,
            nodes: HashMap::new(),
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

    /// Completes the innermost call.
    fn close(&mut self) {
        let Some(level) = self.levels.pop() else {
            return;
        };
        let depth = self.levels.len() as u32;
        let Some((index, function)) = level.call else {
            return self.add_items(depth, level.callees);
        };
        self.piece.rests[index] = level.end.wrapping_sub(level.cursor);
        let node = if level.callees.is_empty() {
            self.leaf(function)
        } else {
            let callees = self.group_sequences(level.callees);
            self.node(Some(function), callees)
        };
        if let Some(caller) = self.levels.last_mut() {
            match caller.callees.last_mut() {
                Some((last, count)) if *last == node => *count += 1,
                _ => caller.callees.push((node, 1)),
            }
        }
    }

    fn leaf(&mut self, function: TraceFunctionIx) -> u32 {
        match self.leaves.get(&function) {
            Some(&node) => node,
            None => {
                let node = self.node(Some(function), Vec::new());
                self.leaves.insert(function, node);
                node
            }
        }
    }

    /// Adds calls whose caller began in an earlier piece or continues in the next one.
    fn add_items(&mut self, depth: u32, callees: Vec<Repeated>) {
        let callees = self.group_sequences(callees);
        let items = callees.into_iter().map(|callee| PieceItem {
            depth,
            kind: ItemKind::Whole(callee),
        });
        self.piece.items.extend(items);
    }

    fn node(&mut self, function: Option<TraceFunctionIx>, callees: Vec<Repeated>) -> u32 {
        let callee = |&(node, count): &Repeated| (self.addresses[node as usize], count);
        let function_address = function.map(|function| &self.functions[function.get()]);
        let address = address(function_address, callees.iter().map(callee));
        let nodes = &mut self.piece.nodes;
        *self.nodes.entry(address).or_insert_with(|| {
            nodes.push(DagNode { function, callees });
            self.addresses.push(address);
            nodes.len() as u32 - 1
        })
    }

    /// Replaces repeated sequences by nodes. At each call, the sequence is chosen whose repetitions cover most calls,
    /// and among equals the shortest.
    fn group_sequences(&mut self, callees: Vec<Repeated>) -> Vec<Repeated> {
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
            let lengths = 2..=MAX_SEQUENCE.min(rest.len() / 2);
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

    /// Completes the piece of these calls, given the depth of the next call.
    fn finish(mut self, next_depth: u32, calls: &[Call]) -> Piece {
        while self.levels.len() > next_depth as usize + 1 {
            self.close();
        }
        for (depth, level) in (0..).zip(std::mem::take(&mut self.levels)) {
            if let Some((index, function)) = level.call {
                self.piece.rests[index] = calls[index].duration.0;
                self.piece.items.push(PieceItem {
                    depth: depth - 1,
                    kind: ItemKind::Open(function),
                });
            }
            self.add_items(depth, level.callees);
        }
        self.piece
    }
}

/// Computes the content address of a node from its function, if it has one, and its callees.
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
