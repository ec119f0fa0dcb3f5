//! A call path in one line.

use crate::compare::CallPath;
use crate::render::{printable, shorten};

/// `main > serve > log`: names at most this wide, and so many functions at either end; how many
/// stand between them, is said.
pub(super) fn steps(path: &CallPath, ends: usize, width: usize) -> String {
    let name = |ix: usize| shorten(&printable(&path.stack[ix].function), width);
    let named = path.stack.len();
    let (head, tail) = match named + path.omitted > 2 * ends {
        true => (ends, named - ends),
        false => (named, named),
    };
    let mut steps: Vec<String> = (0..head).map(name).collect();
    if tail > head || path.omitted > 0 {
        steps.push(format!("({} more)", tail - head + path.omitted));
    }
    steps.extend((tail..named).map(name));
    steps.join(" > ")
}
