//! Records as the page's script reads them: numbers in base64.

use crate::calls::{CalledRun, Nested, ProminentFunction};
use base64::prelude::{BASE64_STANDARD, Engine};
use std::collections::{HashMap, HashSet};
use sto_core::trace::{CalledStack, Record};
use sto_core::tree::NodeIx;
use sto_core::units::Nanoseconds;

/// Stacks and functions of the page, by number.
pub(super) struct Numbers<'a> {
    run: &'a CalledRun,
    functions: HashMap<&'a str, usize>,
    stacks: HashMap<NodeIx, usize>,
    /// Of each stack its caller's, or -1.
    pub(super) parents: Vec<i64>,
    /// Of each stack its function.
    pub(super) of: Vec<usize>,
}

/// Records in one another.
pub(super) struct Packed {
    /// The records: of each how many stacks, its depth, its begin since the last one's, its length; a long call has no
    /// stacks and then its own, an expression of each of its stacks that, calls, and duration. Each number has 7 bits a
    /// byte, the lowest first, and the eighth says that there are more.
    bytes: Vec<u8>,
    /// Of each record which one of these it is, if it is there.
    pub(super) index: Vec<Option<usize>>,
    /// Functions that only records have that were left out.
    pub(super) also: Vec<usize>,
    /// Number of records, and of stacks of expressions, that were left out.
    pub(super) left_out: u64,
}

impl Packed {
    /// As text.
    pub(super) fn text(&self) -> String {
        BASE64_STANDARD.encode(&self.bytes)
    }

    /// How long that is.
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
    /// With these functions, and no stack.
    pub(super) fn new(run: &'a CalledRun, functions: &'a [ProminentFunction]) -> Numbers<'a> {
        let named = functions.iter().enumerate();
        Numbers {
            run,
            functions: named.map(|(ix, of)| (&*of.name, ix)).collect(),
            stacks: HashMap::new(),
            parents: Vec::new(),
            of: Vec::new(),
        }
    }

    /// The functions by their numbers.
    pub(super) fn functions(&self) -> Vec<&'a str> {
        let mut functions = vec![""; self.functions.len()];
        for (name, &number) in &self.functions {
            functions[number] = name;
        }
        functions
    }

    /// Those records, and stacks of expressions, that are not shorter than this. Begins are since the first one's, of
    /// which this is the begin.
    pub(super) fn records(
        &mut self,
        nested: &[Nested],
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
                Record::Call(call) if length >= least => {
                    shown.insert(self.function(call.stack));
                    vec![[self.stack(call.stack), 1, length.0]]
                }
                Record::Call(call) => {
                    also.insert(self.function(call.stack));
                    packed.left_out += 1;
                    Vec::new()
                }
                Record::Expression(expression) => {
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
            // All of an expression is said to be there where nothing of it is.
            packed.index.push((!stacks.is_empty()).then_some(count));
            if stacks.is_empty() {
                continue;
            }
            count += 1;
            let head = |count| [count, depth, begin.0.saturating_sub(before.0), length.0];
            match of.record {
                Record::Call(_) => {
                    packed.push(&head(0));
                    packed.push(&stacks[0][..1]);
                }
                Record::Expression(_) => {
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
        // A caller may be inlined code, which nobody called.
        let next = self.functions.len();
        let name = self.run.function(stack);
        *self.functions.entry(name).or_insert(next)
    }

    /// The number of a stack, whose callers have lower ones.
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
