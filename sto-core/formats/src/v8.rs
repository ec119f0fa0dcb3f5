//! Call nodes and samples of V8's sampling profilers, as found in `.cpuprofile`, `.heapprofile` and
//! Chrome traces.
//!
//! Source: the domain `Profiler` of the Chrome DevTools Protocol.

use crate::error::{DecodeError, Decoded};
use crate::json::{CallTree, Caller};
use crate::names::NamedFrame;
use crate::recording::{Built, LocationIx, RecordingBuilder, SampleKey, StackIx};
use crate::wire::json::{Number, Text};
use crate::wire::text::decimal;
use hashbrown::HashMap;
use serde::{Deserialize, Deserializer};
use sto_model::units::{Cost, Nanoseconds};

#[derive(Deserialize)]
#[serde(bound(deserialize = "'de: 'b"), rename_all = "camelCase")]
pub(super) struct Node<'b> {
    pub(super) id: u64,
    pub(super) call_frame: CallFrame<'b>,
    pub(super) hit_count: Option<u64>,
    #[serde(default)]
    pub(super) children: Vec<u64>,
    pub(super) parent: Option<u64>,
    #[serde(default)]
    pub(super) position_ticks: Vec<Ticks>,
}

#[derive(Deserialize)]
#[serde(bound(deserialize = "'de: 'b"), rename_all = "camelCase")]
pub(super) struct CallFrame<'b> {
    #[serde(default)]
    pub(super) function_name: Text<'b>,
    #[serde(default)]
    pub(super) url: Text<'b>,
    /// First line of the function, from 0; -1 if it has none.
    pub(super) line_number: Option<i64>,
}

/// The number of a node's samples at a line, which counts from 1.
#[derive(Deserialize)]
pub(super) struct Ticks {
    line: u32,
    ticks: u64,
}

/// The nodes of a profile, by id.
#[derive(Default)]
pub(super) struct Nodes {
    tree: CallTree,
    indices: HashMap<u64, u32>,
    /// The nodes by index.
    nodes: Vec<KnownNode>,
    /// Locations of a node's function at other lines.
    at_lines: HashMap<(u32, u32), u32>,
    /// Number of references to missing nodes; `None` if these are errors.
    missing: Option<u64>,
}

struct KnownNode {
    /// Index in the tree.
    entry: u32,
    /// Lines and their remaining samples, in order of lines.
    ticks: Vec<(u32, u64)>,
}

impl Nodes {
    /// Makes the nodes of a profile whose parts may be lost.
    pub(super) fn with_lost_parts() -> Nodes {
        Nodes {
            missing: Some(0),
            ..Nodes::default()
        }
    }

    /// Number of references to missing nodes.
    pub(super) fn missing_count(&self) -> u64 {
        self.missing.unwrap_or(0)
    }

    /// Counts a missing node and returns `true` if nodes may be missing.
    fn may_miss(&mut self) -> bool {
        self.missing = self.missing.map(|missing| missing + 1);
        self.missing.is_some()
    }

    /// Adds a node; `at` is its JSON path.
    pub(super) fn add(
        &mut self,
        node: &Node<'_>,
        at: &str,
        builder: &mut RecordingBuilder,
    ) -> Decoded<()> {
        let index = self.nodes.len() as u32;
        if self.indices.insert(node.id, index).is_some() {
            let problem = format!(
                "{}, the id of another node; expected one of its own",
                node.id
            );
            return Err(DecodeError::new(format!("{at}.id"), problem));
        }
        let caller = match node.parent {
            None => None,
            Some(parent) => match self.indices.get(&parent).copied() {
                Some(parent) if parent != index => Some(self.nodes[parent as usize].entry),
                None if self.may_miss() => None,
                _ => {
                    let problem = format!("{parent}; expected the id of a node before it");
                    return Err(DecodeError::new(format!("{at}.parent"), problem));
                }
            },
        };
        let location = add_location(&node.call_frame, builder).map_err(DecodeError::at(at))?;
        let mut ticks: Vec<_> = node
            .position_ticks
            .iter()
            .map(|t| (t.line, t.ticks))
            .collect();
        ticks.sort_unstable();
        ticks.reverse();
        let entry = self.tree.push(Caller { caller, location });
        self.nodes.push(KnownNode { entry, ticks });
        Ok(())
    }

    /// Links nodes to their children, once all nodes are added.
    pub(super) fn link(&mut self, nodes: &[Node<'_>], at: &str) -> Decoded<()> {
        let before = self.nodes.len() - nodes.len();
        for (index, node) in nodes.iter().enumerate() {
            for (ix, child) in node.children.iter().enumerate() {
                let path = || format!("{at}[{index}].children[{ix}]");
                let Some(callee) = self.indices.get(child).copied() else {
                    if self.may_miss() {
                        continue;
                    }
                    return Err(DecodeError::new(
                        path(),
                        format!("{child}; expected the id of a node"),
                    ));
                };
                let caller = self.nodes[before + index].entry;
                if !self
                    .tree
                    .set_caller(self.nodes[callee as usize].entry, caller)
                {
                    let problem =
                        format!("{child}, which another node calls already; expected a tree");
                    return Err(DecodeError::new(path(), problem));
                }
            }
        }
        Ok(())
    }

    /// The stack for a sample of the node with this id, at `line` of its function if known.
    ///
    /// A `.cpuprofile` has the number of a node's samples at each line, but not which samples these
    /// are; they are assigned in the order of lines.
    fn stack(
        &mut self,
        id: u64,
        line: Option<u32>,
        builder: &mut RecordingBuilder,
    ) -> Built<StackIx> {
        let Some(index) = self.indices.get(&id).copied() else {
            return if self.may_miss() {
                builder.stack(&[])
            } else {
                Err(format!("{id}; expected the id of a node").into())
            };
        };
        let node = &mut self.nodes[index as usize];
        let line = line.or_else(|| {
            while node.ticks.pop_if(|(_, left)| *left == 0).is_some() {}
            let (line, left) = node.ticks.last_mut()?;
            *left -= 1;
            Some(*line)
        });
        let entry = node.entry;
        let Caller { caller, location } = self.tree.get(entry);
        let (Some(line @ 1..), Some(location)) = (line, location) else {
            return self.tree.stack(entry, builder);
        };
        let location = builder.at_line(location, line)?;
        let tree = &mut self.tree;
        let entry = *self.at_lines.entry((index, line)).or_insert_with(|| {
            tree.push(Caller {
                caller,
                location: Some(location),
            })
        });
        self.tree.stack(entry, builder)
    }

    /// Adds samples of nodes. Each lasts until the next one, and the last one until `end`.
    pub(super) fn samples(&mut self, run: Run<'_>, builder: &mut RecordingBuilder) -> Decoded<()> {
        let mut times = run.deltas;
        let mut now = run.start;
        for (ix, Delta(time)) in times.iter_mut().enumerate() {
            let delta = *time;
            now = now.saturating_add(delta.into());
            *time = i64::try_from(now.saturating_sub(run.zero)).map_err(|_| {
                let path = (run.path)("timeDeltas", ix);
                DecodeError::new(
                    path,
                    format!("{delta} ns; expected no more than 292 years in all"),
                )
            })?;
        }
        let end = run.end.map(|end| end.saturating_sub(run.zero));
        // V8 writes some samples too late, with a negative time since the previous one.
        let order = (!times.is_sorted()).then(|| {
            let mut order: Vec<u32> = (0..times.len() as u32).collect();
            order.sort_by_key(|&ix| times[ix as usize].0);
            order
        });
        let in_order = |at: usize| order.as_ref().map_or(at, |order| order[at] as usize);
        for at in 0..times.len() {
            let ix = in_order(at);
            let line = run.lines.get(ix).copied().filter(|&line| line > 0);
            let line = line.and_then(|line| u32::try_from(line).ok());
            let stack = self.stack(run.ids[ix], line, builder);
            let stack =
                stack.map_err(|problem| DecodeError::new((run.path)("samples", ix), problem))?;
            let next = (at + 1 < times.len()).then(|| i128::from(times[in_order(at + 1)].0));
            let now = i128::from(times[ix].0);
            let until = next.or(end).unwrap_or(now);
            let took = u64::try_from(until.saturating_sub(now)).unwrap_or(0);
            let since = u64::try_from(now).unwrap_or(0);
            let cost = Cost {
                samples: 1,
                value: took,
            };
            builder.push(run.measured, stack, Some(Nanoseconds(since)), cost);
        }
        Ok(())
    }

    /// Adds the hit counts of nodes, if there are no single samples.
    pub(super) fn add_hit_counts(
        &mut self,
        nodes: &[Node<'_>],
        measured: SampleKey,
        builder: &mut RecordingBuilder,
    ) -> Decoded<()> {
        for (ix, node) in nodes.iter().enumerate() {
            let at = || format!("nodes[{ix}]");
            let mut left = node.hit_count.unwrap_or(0);
            let lines = node
                .position_ticks
                .iter()
                .map(|ticks| (ticks.line, ticks.ticks));
            for (line, hits) in lines.chain([(0, u64::MAX)]) {
                let hits = hits.min(left);
                left -= hits;
                if hits == 0 {
                    continue;
                }
                let stack = self.stack(node.id, Some(line), builder);
                let stack = stack.map_err(|problem| DecodeError::new(at(), problem))?;
                builder.push(measured, stack, None, Cost::from_count(hits));
            }
        }
        Ok(())
    }
}

/// Samples in the file's order.
pub(super) struct Run<'r> {
    pub(super) measured: SampleKey,
    pub(super) ids: &'r [u64],
    /// One delta per sample.
    pub(super) deltas: Vec<Delta>,
    /// Lines, if known; values of 0 or less are unknown.
    pub(super) lines: &'r [i64],
    /// In nanoseconds: the base of the first delta, the end, and the recording's start.
    pub(super) start: i128,
    pub(super) end: Option<i128>,
    pub(super) zero: i128,
    /// Returns the JSON path of an entry of a column.
    pub(super) path: &'r dyn Fn(&str, usize) -> String,
}

/// Nanoseconds from a sample to the next one in the file, which may be earlier.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Delta(pub(super) i64);

impl<'d> Deserialize<'d> for Delta {
    fn deserialize<D: Deserializer<'d>>(deserializer: D) -> Result<Delta, D::Error> {
        let microseconds = Number::deserialize(deserializer)?;
        let nanoseconds = microseconds.multiply(1000);
        let nanoseconds = nanoseconds.and_then(|nanoseconds| i64::try_from(nanoseconds).ok());
        nanoseconds.map(Delta).ok_or_else(|| {
            let problem = format!("{microseconds}, expected microseconds of up to 292 years");
            serde::de::Error::custom(problem)
        })
    }
}

/// The location of a node's function; `None` for the root, which only groups the others.
pub(super) fn add_location(
    frame: &CallFrame<'_>,
    builder: &mut RecordingBuilder,
) -> Built<Option<LocationIx>> {
    if *frame.function_name.0 == *b"(root)" {
        return Ok(None);
    }
    let line = frame.line_number.unwrap_or(-1).saturating_add(1);
    let line = u32::try_from(line).unwrap_or(0);
    let url = &*frame.url.0;
    let frame = function(&frame.function_name.0, url, line);
    frame.add(builder).map(Some)
}

/// A JavaScript function, which may have no name.
pub(super) fn function<'f>(name: &'f [u8], url: &'f [u8], line: u32) -> NamedFrame<'f> {
    NamedFrame {
        symbol: match name {
            b"" => b"(anonymous)",
            name => name,
        },
        file: url,
        line,
        ..NamedFrame::default()
    }
}

/// Splits off a colon and number at the end, such as the line or column after a file name.
pub(super) fn split_trailing_number(text: &[u8]) -> Option<(&[u8], u32)> {
    let colon = memchr::memrchr(b':', text)?;
    let number = u32::try_from(decimal(&text[colon + 1..])?).ok()?;
    Some((&text[..colon], number))
}
