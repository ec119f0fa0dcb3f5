//! V8's `.heapsnapshot`, written by Node, Chrome and the domain `HeapProfiler` of the DevTools
//! Protocol: the objects of a heap and their references.
//!
//! A snapshot has no calls. The stack of an object is the constructors of the objects that keep it
//! alive, ending with its own. An object is kept alive by its dominator, so the total of a
//! constructor is its retained size. Consecutive objects with the same constructor, as in a list,
//! are one frame. As in DevTools, weak references keep nothing alive, and unreachable objects do not
//! keep reachable ones alive.
//!
//! Source: `src/profiler/heap-snapshot-generator.cc` of V8, and `HeapSnapshot.ts` of Chrome's
//! DevTools.

mod dominators;

use crate::error::{DecodeError, Decoded};
use crate::names::NamedFrame;
use crate::recording::{Built, LocationIx, RecordingBuilder, StackIx};
use crate::report::add_to_only_thread;
use crate::source::Head;
use crate::wire::json::{Text, parse};
use dominators::{Graph, dominators};
use serde::Deserialize;
use serde::de::IgnoredAny;
use sto_model::FrameKind;
use sto_model::units::{Cost, Unit};

pub(super) fn matches(head: &Head<'_>) -> bool {
    head.keys().first() == Some(&&b"snapshot"[..])
        && memchr::memmem::find(head.bytes, b"\"node_fields\"").is_some()
}

const NOT_CALLS: &str = "Stacks are not calls but the constructors of the objects that keep an object alive; totals are retained sizes.";

#[derive(Deserialize)]
#[serde(bound(deserialize = "'de: 'b"))]
struct File<'b> {
    snapshot: Snapshot,
    nodes: Vec<u64>,
    edges: Vec<u64>,
    strings: Vec<Text<'b>>,
}

#[derive(Deserialize)]
struct Snapshot {
    meta: Meta,
}

#[derive(Deserialize)]
struct Meta {
    node_fields: Vec<String>,
    node_types: Vec<Types>,
    edge_fields: Vec<String>,
    edge_types: Vec<Types>,
}

/// The type of a field; for the first field, the names of its values.
#[derive(Deserialize)]
#[serde(untagged)]
enum Types {
    Names(Vec<String>),
    Other(IgnoredAny),
}

pub(super) fn read(bytes: &[u8]) -> Decoded<RecordingBuilder> {
    let file: File<'_> = parse(bytes)?;
    let mut heap = Heap::from_file(&file)?;
    if heap.nodes.is_empty() {
        return Ok(RecordingBuilder::default());
    }
    let used = heap.used_by_program();
    heap.edges.retain(|edge| {
        let [from, to] = [edge.from, edge.to].map(|node| used[node as usize]);
        edge.from == 0 || from || !to
    });
    let edges = heap.edges.iter().map(|edge| (edge.from, edge.to));
    let dominators = dominators(&Graph::new(heap.nodes.len(), edges), 0);
    let kept = dominators
        .iter()
        .zip(0..)
        .filter_map(|(by, node)| Some(((*by)?, node)));
    let kept = Graph::new(heap.nodes.len(), kept);
    let mut builder = RecordingBuilder::default();
    for (node, by) in (0..).zip(&dominators) {
        // Start at the nodes without a dominator.
        if by.is_none() {
            let added = add(node, &kept, &heap, &mut builder);
            added.map_err(DecodeError::at("nodes"))?;
        }
    }
    builder.sample_type("inuse_space", Unit::Bytes);
    builder.warnings.push(NOT_CALLS.to_owned());
    Ok(builder)
}

struct Heap<'f, 'b> {
    nodes: Vec<Node<'f>>,
    edges: Vec<Edge>,
    strings: &'f [Text<'b>],
}

struct Node<'f> {
    of: &'f str,
    /// Index of the string.
    name: usize,
    size: u64,
}

struct Edge {
    from: u32,
    to: u32,
    is_shortcut: bool,
}

impl<'f, 'b> Heap<'f, 'b> {
    /// Reads all objects and the references that keep them alive.
    fn from_file(file: &'f File<'b>) -> Decoded<Heap<'f, 'b>> {
        let meta = &file.snapshot.meta;
        let (node_types, edge_types) = (names(&meta.node_types), names(&meta.edge_types));
        let [of, name, size, count] = columns(
            &meta.node_fields,
            "node_fields",
            ["type", "name", "self_size", "edge_count"],
        )?;
        let [edge_of, to] = columns(&meta.edge_fields, "edge_fields", ["type", "to_node"])?;
        let (width, edge_width) = (meta.node_fields.len(), meta.edge_fields.len());
        if file.nodes.len() / width > u32::MAX as usize {
            return Err(DecodeError::new("nodes", "more than 2^32 nodes"));
        }
        let mut heap = Heap {
            nodes: Vec::with_capacity(file.nodes.len() / width),
            edges: Vec::with_capacity(file.edges.len() / edge_width),
            strings: &file.strings,
        };
        let mut edges = file.edges.chunks_exact(edge_width);
        let end = (file.nodes.len() / width * width) as u64;
        for (node, from) in file.nodes.chunks_exact(width).zip(0..) {
            heap.nodes.push(Node {
                of: type_of(node_types, node[of]),
                name: usize::try_from(node[name]).unwrap_or(usize::MAX),
                size: node[size],
            });
            for _ in 0..node[count] {
                let Some(edge) = edges.next() else {
                    let problem = "fewer edges than nodes have; was the file edited?";
                    return Err(DecodeError::new("edges", problem));
                };
                let (is_node, to) = (edge[to] < end && edge[to] % width as u64 == 0, edge[to]);
                if !is_node {
                    let problem = format!("{to}; expected where a node begins");
                    return Err(DecodeError::new("edges", problem));
                }
                let edge_of = type_of(edge_types, edge[edge_of]);
                let is_shortcut = edge_of == "shortcut";
                if edge_of != "weak" && (!is_shortcut || from == 0) {
                    let to = (to / width as u64) as u32;
                    heap.edges.push(Edge {
                        from,
                        to,
                        is_shortcut,
                    });
                }
            }
        }
        Ok(heap)
    }

    /// Whether the program can reach each object, starting from its global objects, to which the
    /// root has shortcuts.
    fn used_by_program(&self) -> Vec<bool> {
        let edges = self.edges.iter().map(|edge| (edge.from, edge.to));
        let graph = Graph::new(self.nodes.len(), edges);
        let mut used = vec![false; self.nodes.len()];
        let globals = self.edges.iter().filter(|edge| edge.is_shortcut);
        let mut left: Vec<u32> = globals.map(|edge| edge.to).collect();
        while let Some(node) = left.pop() {
            if !std::mem::replace(&mut used[node as usize], true) {
                left.extend(graph.from(node).iter().filter(|&&to| !used[to as usize]));
            }
        }
        used
    }

    /// Adds a node that is kept alive by another.
    fn add(
        &self,
        node: u32,
        by: Option<Place>,
        builder: &mut RecordingBuilder,
    ) -> Built<Option<Place>> {
        if node == 0 {
            return Ok(None);
        }
        let location = self.location(node, builder)?;
        let at = match by {
            Some(by) if by.location == location => by,
            by => {
                let (caller, depth) = match by {
                    Some(by) if by.depth == MOST => (by.caller, MOST),
                    Some(by) => (Some(by.stack), by.depth + 1),
                    None => (None, 1),
                };
                let stack = builder.call(caller, location)?;
                Place {
                    location,
                    caller,
                    stack,
                    depth,
                }
            }
        };
        let value = self.nodes[node as usize].size;
        add_to_only_thread(builder, 0, at.stack, Cost { samples: 1, value })?;
        Ok(Some(at))
    }

    /// The name of a node: its constructor if it has one.
    fn location(&self, node: u32, builder: &mut RecordingBuilder) -> Built<LocationIx> {
        let node = &self.nodes[node as usize];
        let name = self.strings.get(node.name).map_or(&b""[..], |name| &name.0);
        let other = format!("({})", node.of);
        let frame = NamedFrame {
            symbol: match node.of {
                "object" | "native" | "synthetic" => name,
                "hidden" => b"(system)",
                "code" => b"(compiled code)",
                "closure" => b"Function",
                "regexp" => b"RegExp",
                _ => other.as_bytes(),
            },
            kind: Some(FrameKind::User),
            ..NamedFrame::default()
        };
        frame.add(builder)
    }
}

/// Limit to the constructors in a stack; deeper objects are added to the last one.
const MOST: usize = 1000;

/// A node on the path from the root, and its dominated nodes not added yet.
struct Step<'k> {
    /// `None` for the root, which only groups the others.
    at: Option<Place>,
    left: std::slice::Iter<'k, u32>,
}

#[derive(Clone, Copy)]
struct Place {
    location: LocationIx,
    caller: Option<StackIx>,
    stack: StackIx,
    depth: usize,
}

/// Adds a node and everything that it keeps alive.
fn add(top: u32, kept: &Graph, heap: &Heap<'_, '_>, builder: &mut RecordingBuilder) -> Built<()> {
    let step = |node, at| Step {
        at,
        left: kept.from(node).iter(),
    };
    let mut way = vec![step(top, heap.add(top, None, builder)?)];
    while let Some(last) = way.last_mut() {
        match last.left.next() {
            Some(&node) => {
                let at = heap.add(node, last.at, builder)?;
                way.push(step(node, at));
            }
            None => {
                way.pop();
            }
        }
    }
    Ok(())
}

/// The names for the values of the first field.
fn names(types: &[Types]) -> &[String] {
    match types.first() {
        Some(Types::Names(names)) => names,
        _ => &[],
    }
}

fn type_of(names: &[String], value: u64) -> &str {
    let name = usize::try_from(value)
        .ok()
        .and_then(|value| names.get(value));
    name.map_or("unknown", String::as_str)
}

fn columns<const N: usize>(fields: &[String], at: &str, wanted: [&str; N]) -> Decoded<[usize; N]> {
    let mut columns = [0; N];
    for (column, wanted) in columns.iter_mut().zip(wanted) {
        let found = fields.iter().position(|field| field == wanted);
        *column = found.ok_or_else(|| {
            let problem = format!("a list without {wanted}, which is needed");
            DecodeError::new(format!("snapshot.meta.{at}"), problem)
        })?;
    }
    Ok(columns)
}
