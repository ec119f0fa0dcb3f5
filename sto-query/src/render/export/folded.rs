//! Folded stacks.

use super::{Weight, check_any, check_frames};
use crate::error::ExportError;
use crate::text::printable;
use crate::tree::View;
use std::io::{BufWriter, Write};
use sto_core::model::{Frame, FrameKind};
use sto_core::tree::NodeIx;

/// Writes the stacks in one sample type as folded text, `root;caller;leaf value`, in the order of
/// the tree.
///
/// The number is the value in the sample type's unit, which folded text does not name. Modules,
/// source files and lines are left out: frames that differ only in these are merged. A frame's kind
/// is written as the usual suffix (`_[k]` kernel, `_[i]` inlined, `_[j]` and `_[1]` JIT-compiled,
/// `_[0]` interpreted, `_[w]` waker). User and unresolved frames have none, so a name that ends in
/// such a suffix, or looks like an address, is read back as such a frame. In names, `;` becomes
/// `:`, invisible characters are escaped (`\u{a}`), a `#` at the beginning of a line gets a
/// backslash, and a space before a number at the end of a stack becomes U+00A0.
///
/// # Errors
///
/// Returns an error if there are no samples, the stacks are too deep to be written out, or `writer`
/// fails.
pub fn folded(view: &View, sample_type: usize, writer: impl Write) -> Result<(), ExportError> {
    check_any(view)?;
    let costs = view.self_costs(sample_type);
    let weight = Weight::new(&costs);
    let ends = view.tree.nodes();
    let ends = ends.filter(|node| weight.get(costs[node.get()]) > 0);
    check_frames(view, ends, "folded text")?;
    let names: Vec<String> = view.frames.iter().map(|(_, frame)| name(frame)).collect();
    let mut writer = BufWriter::new(writer);
    // Text of the last node's stack, and the end of each of its frames.
    let mut line = String::new();
    let mut ends: Vec<(NodeIx, usize)> = Vec::new();
    for node in view.tree.nodes() {
        let caller = view.tree.parent(node);
        while ends.pop_if(|(open, _)| Some(*open) != caller).is_some() {}
        line.truncate(ends.last().map_or(0, |&(_, end)| end));
        let name = &*names[view.tree.frame(node).get()];
        match line.is_empty() {
            true if name.starts_with('#') => line.push('\\'),
            true => {}
            false => line.push(';'),
        }
        line.push_str(name);
        ends.push((node, line.len()));
        match weight.get(costs[node.get()]) {
            0 => {}
            count => writeln!(writer, "{} {count}", without_number(&line))?,
        }
    }
    Ok(writer.flush()?)
}

fn name(frame: Frame<'_>) -> String {
    let symbol = match frame.symbol {
        "" => "[unknown]",
        symbol => symbol,
    };
    let suffix = match frame.kind {
        FrameKind::User | FrameKind::Unresolved => "",
        FrameKind::Kernel => "_[k]",
        FrameKind::Inlined => "_[i]",
        FrameKind::Jit => "_[j]",
        FrameKind::JitBaseline => "_[1]",
        FrameKind::Waker => "_[w]",
        FrameKind::Interpreted => "_[0]",
    };
    printable(symbol).replace(';', ":") + suffix
}

/// Protects a stack whose last name ends in what would be read as a second number.
fn without_number(stack: &str) -> String {
    match stack.rsplit_once(' ') {
        Some((before, number)) if is_number(number) => format!("{before}\u{a0}{number}"),
        _ => stack.to_owned(),
    }
}

fn is_number(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_digit())
        && text.chars().all(|c| c.is_ascii_digit() || c == '.')
}
