//! Encoding of records for the page's script, as base64.

use crate::calls::{CallTrace, NestedRecord, ProminentFunction};
use base64::prelude::{BASE64_STANDARD, Engine};
use std::collections::{HashMap, HashSet};
use sto_core::trace::{CallRecord, CalledStack};
use sto_core::tree::NodeIx;
use sto_core::units::Nanoseconds;

/// Assigns numbers to the stacks and functions of the page.
pub(super) struct Numbers<'a> {
    run: &'a CallTrace,
    functions: HashMap<&'a str, usize>,
    stacks: HashMap<NodeIx, usize>,
    /// Caller of each stack, or -1.
    pub(super) parents: Vec<i64>,
    /// Function of each stack.
    pub(super) of: Vec<usize>,
}

/// Encoded records.
pub(super) struct Packed {
    /// Records as varints (LEB128).
    ///
    /// Each record begins with its number of stacks, its depth, its begin relative to the previous
    /// record's, and its duration. A long call has 0 stacks, and its stack follows. In an
    /// expression, each stack follows with its number of calls and duration.
    bytes: Vec<u8>,
    /// For each input record, its index among the encoded records, if it is one of them.
    pub(super) index: Vec<Option<usize>>,
    /// Functions that occur only in records that were left out.
    pub(super) also: Vec<usize>,
    /// Number of long calls and of stacks of expressions that were left out.
    pub(super) left_out: u64,
}

impl Packed {
    /// Returns the records as base64.
    pub(super) fn text(&self) -> String {
        BASE64_STANDARD.encode(&self.bytes)
    }

    /// Returns the length of the base64 text.
    pub(super) fn text_length(&self) -> usize {
        self.bytes.len().div_ceil(3) * 4
    }

    fn push(&mut self, numbers: &[u64]) {
        for &number in numbers {
            let mut rest = number;
            while rest >= 0x80 {
                self.bytes.push(rest as u8 | 0x80);
                rest >>= 7;
            }
            self.bytes.push(rest as u8);
        }
    }
}

impl<'a> Numbers<'a> {
    /// Creates a numbering that has these functions and no stacks.
    pub(super) fn new(run: &'a CallTrace, functions: &'a [ProminentFunction]) -> Numbers<'a> {
        let named = functions.iter().enumerate();
        Numbers {
            run,
            functions: named.map(|(ix, of)| (&*of.name, ix)).collect(),
            stacks: HashMap::new(),
            parents: Vec::new(),
            of: Vec::new(),
        }
    }

    /// Returns the functions ordered by number.
    pub(super) fn functions(&self) -> Vec<&'a str> {
        let mut functions = vec![""; self.functions.len()];
        for (name, &number) in &self.functions {
            functions[number] = name;
        }
        functions
    }

    /// Encodes the calls, and the stacks of expressions, that take at least `least`. The first
    /// begin is relative to `first`.
    pub(super) fn records(
        &mut self,
        nested: &[NestedRecord],
        first: Nanoseconds,
        least: Nanoseconds,
    ) -> Packed {
        let mut depths: Vec<u64> = Vec::with_capacity(nested.len());
        let mut before = first;
        let mut packed = Packed {
            bytes: Vec::new(),
            index: Vec::with_capacity(nested.len()),
            also: Vec::new(),
            left_out: 0,
        };
        let mut shown = HashSet::new();
        let mut also = HashSet::new();
        let mut count = 0;
        for of in nested {
            let depth = of.caller.map_or(0, |caller| depths[caller] + 1);
            depths.push(depth);
            let (begin, end) = of.record.time();
            let length = Nanoseconds(end.0.saturating_sub(begin.0));
            let stacks: Vec<[u64; 3]> = match of.record {
                CallRecord::Call(call) if length >= least => {
                    shown.insert(self.function(call.stack));
                    vec![[self.stack(call.stack), 1, length.0]]
                }
                CallRecord::Call(call) => {
                    also.insert(self.function(call.stack));
                    packed.left_out += 1;
                    Vec::new()
                }
                CallRecord::Expression(expression) => {
                    let stacks = expression.stacks.iter();
                    let (kept, others): (Vec<&CalledStack<NodeIx>>, Vec<_>) =
                        stacks.partition(|of| of.duration >= least);
                    also.extend(others.iter().map(|of| self.function(of.stack)));
                    shown.extend(kept.iter().map(|of| self.function(of.stack)));
                    packed.left_out += others.len() as u64;
                    let kept = kept.into_iter();
                    kept.map(|of| [self.stack(of.stack), of.calls, of.duration.0])
                        .collect()
                }
            };
            // An expression of which no stack is shown is left out.
            packed.index.push((!stacks.is_empty()).then_some(count));
            if stacks.is_empty() {
                continue;
            }
            count += 1;
            let head = |count| [count, depth, begin.0.saturating_sub(before.0), length.0];
            match of.record {
                CallRecord::Call(_) => {
                    packed.push(&head(0));
                    packed.push(&stacks[0][..1]);
                }
                CallRecord::Expression(_) => {
                    packed.push(&head(stacks.len() as u64));
                    packed.push(stacks.as_flattened());
                }
            }
            before = begin;
        }
        packed.also = also.difference(&shown).copied().collect();
        packed.also.sort_unstable();
        packed
    }

    fn function(&mut self, stack: NodeIx) -> usize {
        // A caller may be inlined code, which is never called.
        let next = self.functions.len();
        let name = self.run.function(stack);
        *self.functions.entry(name).or_insert(next)
    }

    /// Returns the number of a stack. Callers have lower numbers than their callees.
    pub(super) fn stack(&mut self, stack: NodeIx) -> u64 {
        if let Some(&number) = self.stacks.get(&stack) {
            return number as u64;
        }
        let tree = &self.run.view.tree;
        let up = std::iter::successors(Some(stack), |&node| tree.parent(node));
        let unknown: Vec<NodeIx> = up
            .take_while(|node| !self.stacks.contains_key(node))
            .collect();
        for node in unknown.into_iter().rev() {
            let caller = tree.parent(node);
            self.parents
                .push(caller.map_or(-1, |caller| self.stacks[&caller] as i64));
            let function = self.function(node);
            self.of.push(function);
            self.stacks.insert(node, self.stacks.len());
        }
        self.stacks[&stack] as u64
    }
}
