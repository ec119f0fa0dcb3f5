//! The call tree as CSV.

use super::check_any;
use crate::error::ExportError;
use crate::tree::{View, totals};
use std::borrow::Cow;
use std::io::{BufWriter, Write};

const HEADER: &str = "event,unit,node,parent,depth,symbol,module,kind,file,line,\
self_samples,self_value,total_samples,total_value";

/// Writes the call tree in every sample type as CSV (RFC 4180), with one row per node and sample
/// type in which the node has a cost.
///
/// `node` numbers the nodes of the tree in preorder from 0, `parent` is the caller's number (empty
/// for a root), and `depth` counts from 0. Values are integers in the row's `unit`. Nothing of a
/// view is lost. Text that begins with `=`, `+`, `-`, `@`, a tab or a line end is preceded by an
/// apostrophe, as spreadsheets would evaluate it as a formula.
///
/// # Errors
///
/// Returns an error if there are no samples, or `writer` fails.
pub fn csv(view: &View, writer: impl Write) -> Result<(), ExportError> {
    check_any(view)?;
    let depths = view.tree.depths();
    let frames: Vec<String> = view
        .frames
        .iter()
        .map(|(_, frame)| {
            let (symbol, module, file) = (cell(frame.symbol), cell(frame.module), cell(frame.file));
            let (kind, line) = (frame.kind.name(), frame.line);
            format!("{symbol},{module},{kind},{file},{line}")
        })
        .collect();
    let mut writer = BufWriter::new(writer);
    write!(writer, "{HEADER}\r\n")?;
    for (ix, sample_type) in view.sample_types.iter().enumerate() {
        let (event, unit) = (cell(&sample_type.event), sample_type.unit.name());
        let costs = view.self_costs(ix);
        let totals = totals(&view.tree, &costs);
        for node in view.tree.nodes() {
            let (own, total) = (costs[node.get()], totals[node.get()]);
            if total.is_zero() {
                continue;
            }
            let parent = view
                .tree
                .parent(node)
                .map_or(String::new(), |p| p.0.to_string());
            write!(
                writer,
                "{event},{unit},{},{parent},{},{},{},{},{},{}\r\n",
                node.0,
                depths[node.get()],
                frames[view.tree.frame(node).get()],
                own.samples,
                own.value,
                total.samples,
                total.value
            )?;
        }
    }
    Ok(writer.flush()?)
}

/// Quotes a cell if necessary.
fn cell(text: &str) -> Cow<'_, str> {
    let is_formula = text.starts_with(['=', '+', '-', '@', '\t', '\r', '\n']);
    let text = if is_formula {
        Cow::Owned(format!("'{text}"))
    } else {
        Cow::Borrowed(text)
    };
    if text.contains(['"', ',', '\r', '\n']) {
        Cow::Owned(format!("\"{}\"", text.replace('"', "\"\"")))
    } else {
        text
    }
}
