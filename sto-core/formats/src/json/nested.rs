//! Trees of nodes nested in lists called `children`, of any depth.
//!
//! One pass finds the nodes and a second reads each without its children, so that the time depends
//! only on the length of the text, not also on the depth.

use crate::error::{DecodeError, Decoded};
use crate::wire::json::{string_length, syntax};
use serde::Deserialize;
use serde::de::value::MapDeserializer;
use serde_json::value::RawValue;
use std::ops::Range;

/// The place of a node.
struct Node {
    /// Offset after the opening brace.
    at: usize,
    /// Index of the caller among the nodes.
    caller: Option<usize>,
    /// The list of children; empty if there is none.
    children: Range<usize>,
}

/// Visits the nodes of a tree, callers first and otherwise in order, each with the result of its
/// caller's visit. `bytes` is the file that contains the tree. Nodes are read without their
/// children.
pub(crate) fn walk<'b, T: Deserialize<'b>, V: Copy>(
    bytes: &'b [u8],
    root: &'b RawValue,
    mut visit: impl FnMut(T, Option<V>) -> Decoded<V>,
) -> Decoded<()> {
    let text = root.get();
    let start = text.as_ptr() as usize - bytes.as_ptr() as usize;
    let nodes = nodes(text).map_err(|at| {
        let problem = "expected a node, or one list of nodes as its `children`";
        DecodeError::new(start + at, problem)
    })?;
    let mut visited: Vec<V> = Vec::with_capacity(nodes.len());
    let mut members = Vec::new();
    for node in &nodes {
        let read = read_members(text, node, &mut members)
            .and_then(|()| T::deserialize(MapDeserializer::new(members.drain(..))));
        let read = read.map_err(|error| syntax(&[], start + node.at, &error))?;
        visited.push(visit(read, node.caller.map(|caller| visited[caller]))?);
    }
    Ok(())
}

/// Finds the nodes of a tree, callers first. Returns the offset of anything that is not a node as
/// an error.
fn nodes(text: &str) -> Result<Vec<Node>, usize> {
    let mut json = Json { text, at: 0 };
    let mut nodes: Vec<Node> = Vec::new();
    let mut open: Vec<usize> = Vec::new();
    loop {
        let before = json.at;
        match (json.next(), open.last().copied()) {
            (b'{', caller) => {
                open.push(nodes.len());
                nodes.push(Node {
                    at: json.at,
                    caller,
                    children: 0..0,
                });
            }
            (b'"', Some(node)) => {
                let is_children = json.string() == "children";
                if json.next() != b':' {
                    return Err(before);
                }
                if !is_children {
                    json.value();
                    continue;
                }
                let children = &mut nodes[node].children;
                if json.next() != b'[' || children.end > 0 {
                    return Err(json.at - 1);
                }
                *children = json.at - 1..json.at;
            }
            (b',', Some(_)) => {}
            (b']', Some(node)) => nodes[node].children.end = json.at,
            (b'}', Some(_)) => {
                open.pop();
                if open.is_empty() {
                    return Ok(nodes);
                }
            }
            _ => return Err(before),
        }
    }
}

/// Reads the members of a node except its children.
fn read_members<'b>(
    text: &'b str,
    node: &Node,
    members: &mut Vec<(&'b str, &'b RawValue)>,
) -> serde_json::Result<()> {
    let mut json = Json { text, at: node.at };
    loop {
        match json.next() {
            b'"' => {
                let name = json.string();
                json.next();
                json.skip_blanks();
                if json.at == node.children.start {
                    json.at = node.children.end
                } else {
                    members.push((name, serde_json::from_str(json.value())?))
                }
            }
            b',' => {}
            _ => return Ok(()),
        }
    }
}

/// A position in valid JSON.
struct Json<'b> {
    text: &'b str,
    at: usize,
}

impl<'b> Json<'b> {
    fn skip_blanks(&mut self) {
        let rest = &self.text.as_bytes()[self.at..];
        self.at += rest
            .iter()
            .take_while(|byte| byte.is_ascii_whitespace())
            .count();
    }

    /// The next byte that is not white space; 0 at the end.
    fn next(&mut self) -> u8 {
        self.skip_blanks();
        let byte = self.text.as_bytes().get(self.at).copied();
        self.at += usize::from(byte.is_some());
        byte.unwrap_or(0)
    }

    /// The rest of a string up to its closing quote, still escaped.
    fn string(&mut self) -> &'b str {
        let rest = &self.text[self.at..];
        let length = string_length(rest.as_bytes()).unwrap_or(rest.len());
        self.at = (self.at + length + 1).min(self.text.len());
        &rest[..length]
    }

    /// The next value.
    fn value(&mut self) -> &'b str {
        self.skip_blanks();
        let start = self.at;
        let mut depth = 0;
        loop {
            match self.text.as_bytes().get(self.at) {
                None => break,
                Some(b',' | b'}' | b']') if depth == 0 => break,
                Some(b'{' | b'[') => depth += 1,
                Some(b'}' | b']') => depth -= 1,
                Some(b'"') => {
                    self.at += 1;
                    self.string();
                    continue;
                }
                Some(_) => {}
            }
            self.at += 1;
        }
        &self.text[start..self.at]
    }
}
