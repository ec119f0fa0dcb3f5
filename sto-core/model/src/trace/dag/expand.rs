//! Expanding pieces to calls.

use super::{DagNode, ItemKind, Level, Piece, PieceItem, Repeated, levels};
use crate::trace::log::Call;
use crate::trace::paths::TraceFunctionIx;
use crate::units::Nanoseconds;

impl Piece {
    /// Expands the graph to the depths and functions of the calls in preorder. Stops after more than `limit`.
    pub fn functions(&self, limit: usize) -> Vec<(u32, TraceFunctionIx)> {
        let mut functions = Vec::new();
        for item in &self.items {
            match item.kind {
                ItemKind::Open(function) => functions.push((item.depth, function)),
                ItemKind::Whole(repeated) => {
                    self.expand(item.depth, repeated, limit, &mut functions)
                }
            }
            if functions.len() > limit {
                break;
            }
        }
        functions
    }

    fn expand(
        &self,
        depth: u32,
        repeated: Repeated,
        limit: usize,
        functions: &mut Vec<(u32, TraceFunctionIx)>,
    ) {
        // Depths and nodes that are not expanded yet, last first.
        let mut pending = vec![(depth, repeated)];
        while let Some((depth, (node, count))) = pending.pop() {
            if functions.len() > limit {
                return;
            }
            if count > 1 {
                pending.push((depth, (node, count - 1)));
            }
            let DagNode { function, callees } = &self.nodes[node as usize];
            functions.extend(function.map(|function| (depth, function)));
            let callee_depth = depth + u32::from(function.is_some());
            pending.extend(callees.iter().rev().map(|&callee| (callee_depth, callee)));
        }
    }

    /// Adds times to the depths and functions of the calls. The numbers of gaps and rests must match.
    pub fn calls(&self, functions: &[(u32, TraceFunctionIx)]) -> Vec<Call> {
        let mut calls: Vec<Call> = Vec::with_capacity(functions.len());
        let mut levels = levels(&self.callers, self.begin);
        for (index, &(depth, function)) in functions.iter().enumerate() {
            while levels.len() > depth as usize + 1 {
                self.close(&mut levels, &mut calls);
            }
            let Some(caller) = levels.last_mut() else {
                break;
            };
            let begin = caller.cursor.wrapping_add(self.gaps[index]);
            calls.push(Call {
                depth,
                function,
                arguments: None,
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
        let is_open = |item: &&PieceItem| matches!(item.kind, ItemKind::Open(_));
        let open_items = self.items.iter().filter(is_open);
        let open_depths: Vec<u32> = open_items.map(|item| item.depth).collect();
        while let [_, .., innermost] = &levels[..] {
            match innermost.call {
                // Calls that continue in the next piece have their whole duration as rest.
                Some((index, _)) if open_depths.contains(&(levels.len() as u32 - 2)) => {
                    calls[index].duration = Nanoseconds(self.rests[index]);
                    levels.pop();
                }
                _ => self.close(&mut levels, &mut calls),
            }
        }
        calls
    }

    /// Ends the innermost call, and sets its duration.
    fn close(&self, levels: &mut Vec<Level>, calls: &mut [Call]) {
        let Some(level) = levels.pop() else {
            return;
        };
        let Some((index, _)) = level.call else {
            return;
        };
        let call = &mut calls[index];
        let end = level.cursor.wrapping_add(self.rests[index]);
        call.duration = Nanoseconds(end.wrapping_sub(call.begin.0));
        if let Some(caller) = levels.last_mut() {
            caller.cursor = end;
        }
    }
}
