//! Formats of stacks that only Pyroscope has, converted to folded stacks.

use crate::problem::Problem;
use sto_model::bytes::{Cursor, Read};

/// Counts each line, which is a stack.
pub(super) fn lines_to_folded(lines: &[u8]) -> Vec<u8> {
    let lines = lines.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii);
    let lines = lines.filter(|line| !line.is_empty());
    lines.flat_map(|line| [line, b" 1\n"].concat()).collect()
}

/// The meaning of a node's name.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Nodes {
    /// A part of a stack's text, of any length: `format=trie`.
    Text,
    /// A function: `format=tree`.
    Functions,
}

/// Maximum length in bytes of the folded stacks, which repeat the names of each node's parents.
const MAX_FOLDED: usize = 64 << 20;

/// Converts a tree, written before its children: for each node the length of its name, the name, its value, and the number
/// of its children, as numbers of variable length.
pub(super) fn tree_to_folded(tree: &[u8], nodes: Nodes) -> Result<Vec<u8>, Problem> {
    let mut cursor = Cursor::new(tree);
    let mut folded = Vec::new();
    let mut stack: Vec<u8> = Vec::new();
    // For each open node, the length of the stack with it, and the number of its children that follow.
    let mut open: Vec<(usize, u64)> = Vec::new();
    loop {
        let (name, value, children) = node(&mut cursor)
            .map_err(|error| Problem::bad_request(format!("a tree of stacks: {error}")))?;
        if nodes == Nodes::Functions && !stack.is_empty() {
            stack.push(b';');
        }
        stack.extend(
            name.iter()
                .map(|&byte| if byte == b'\n' { b' ' } else { byte }),
        );
        if value > 0 && !stack.is_empty() {
            folded.extend_from_slice(&stack);
            folded.extend_from_slice(format!(" {value}\n").as_bytes());
        }
        if folded.len() > MAX_FOLDED || stack.len() > MAX_FOLDED {
            let limit = MAX_FOLDED >> 20;
            let problem =
                format!("a tree whose stacks are longer than {limit} MiB; send it as pprof");
            return Err(Problem::bad_request(problem));
        }
        open.push((stack.len(), children));
        while let Some((_, 0)) = open.last() {
            open.pop();
        }
        let Some((length, left)) = open.last_mut() else {
            return Ok(folded);
        };
        *left -= 1;
        stack.truncate(*length);
    }
}

fn node<'b>(cursor: &mut Cursor<'b>) -> Read<(&'b [u8], u64, u64)> {
    let length = cursor.varint()?;
    Ok((cursor.take(length)?, cursor.varint()?, cursor.varint()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(name: &str, value: u8, children: u8) -> Vec<u8> {
        [&[name.len() as u8][..], name.as_bytes(), &[value, children]].concat()
    }

    #[test]
    fn lines_are_counted() {
        assert_eq!(
            lines_to_folded(b"a;b\n\n a;c\r\na;b"),
            b"a;b 1\na;c 1\na;b 1\n"
        );
    }

    #[test]
    fn trees_become_folded_stacks() {
        let trie = [
            node("", 0, 2),
            node("a;b", 1, 2),
            node("ar", 2, 0),
            node(";c", 3, 0),
            node("d", 4, 0),
        ]
        .concat();
        let folded = tree_to_folded(&trie, Nodes::Text).expect("a trie");
        assert_eq!(folded, b"a;b 1\na;bar 2\na;b;c 3\nd 4\n");
        let tree = [
            node("", 0, 1),
            node("a", 1, 1),
            node("b", 2, 1),
            node("c", 3, 0),
        ]
        .concat();
        let folded = tree_to_folded(&tree, Nodes::Functions).expect("a tree");
        assert_eq!(folded, b"a 1\na;b 2\na;b;c 3\n");
        for length in 0..tree.len() {
            assert!(
                tree_to_folded(&tree[..length], Nodes::Functions).is_err(),
                "{length}"
            );
        }
    }
}
