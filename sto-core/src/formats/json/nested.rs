//! Trees whose nodes stand in each other, however deep.

use crate::formats::error::{DecodeError, Decoded};
use crate::formats::wire::json::syntax;
use serde::Deserialize;
use serde_json::value::RawValue;

/// Most nodes in each other: each level is read over once for each that it stands in.
const MAX_DEPTH: u32 = 4096;

/// A node that has others.
pub(crate) trait Parent<'b> {
    /// As they are written.
    fn children(&self) -> &[&'b RawValue];
}

/// Visits the nodes of a tree, callers first, each with what the visit of its caller gave; `bytes` are those of the
/// file that the tree stands in.
pub(crate) fn walk<'b, T: Deserialize<'b> + Parent<'b>, V: Copy>(
    bytes: &'b [u8],
    root: &'b RawValue,
    mut visit: impl FnMut(T, Option<V>) -> Decoded<V>,
) -> Decoded<()> {
    let mut open = vec![(root, None, 0)];
    while let Some((raw, caller, depth)) = open.pop() {
        let text = raw.get();
        let at = text.as_ptr() as usize - bytes.as_ptr() as usize;
        if depth == MAX_DEPTH {
            let problem = format!("a call more than {MAX_DEPTH} deep; as deep ones are read");
            return Err(DecodeError::new(at, problem));
        }
        let node: T =
            serde_json::from_str(text).map_err(|error| syntax(text.as_bytes(), at, &error))?;
        let children = node.children().to_vec();
        let visited = visit(node, caller)?;
        let children = children.into_iter().rev();
        open.extend(children.map(|child| (child, Some(visited), depth + 1)));
    }
    Ok(())
}
