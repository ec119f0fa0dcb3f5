//! JSON for d3-flame-graph.

use super::walk::{Step, walk};
use super::{Weight, check_any, title};
use crate::error::ExportError;
use crate::tree::{View, totals};
use serde_json::to_writer;
use std::io::{BufWriter, Write};
use sto_core::model::FrameKind;
use sto_core::tree::NodeIx;
#[cfg(feature = "sql")]
use sto_core::units::Cost;

/// Writes the call tree in one sample type as the nested JSON that `d3-flame-graph` reads: `name`,
/// `value` (total), `children`, and `libtype`, by which it colours kernel, inlined and JIT-compiled
/// frames. The root is the build, with the additional fields `event` and `unit`.
///
/// Modules, source files, lines, and the numbers of samples next to values are left out.
///
/// # Errors
///
/// Returns an error if there are no samples, or `writer` fails.
pub fn d3(view: &View, sample_type: usize, writer: impl Write) -> Result<(), ExportError> {
    check_any(view)?;
    let costs = view.self_costs(sample_type);
    let weight = Weight::new(&costs);
    let totals = totals(&view.tree, &costs);
    let whole = weight.get(costs.iter().copied().sum());
    let mut writer = BufWriter::new(writer);
    write!(writer, "{{\"name\":")?;
    to_writer(&mut writer, &title(view)).map_err(std::io::Error::from)?;
    if let Some(known) = view.sample_types.get(sample_type) {
        write!(writer, ",\"event\":")?;
        to_writer(&mut writer, &known.event).map_err(std::io::Error::from)?;
    }
    let unit = weight.unit(view, sample_type).name();
    write!(
        writer,
        ",\"unit\":\"{unit}\",\"value\":{whole},\"children\":["
    )?;
    let weights: Vec<u64> = totals.into_iter().map(|total| weight.get(total)).collect();
    frames(view, &weights, view.tree.nodes(), &mut writer)?;
    writeln!(writer, "]}}")?;
    Ok(writer.flush()?)
}

/// Like [`d3`], for the subtree of one stack, which becomes the root.
///
/// # Errors
///
/// Returns an error if `writer` fails.
#[cfg(feature = "sql")]
pub(crate) fn d3_below(
    view: &View,
    totals: &[Cost],
    root: NodeIx,
    mut writer: impl Write,
) -> Result<(), ExportError> {
    let weight = Weight::new(totals);
    let weights: Vec<u64> = totals.iter().map(|&total| weight.get(total)).collect();
    let end = view.tree.subtree_ends()[root.get()];
    frames(view, &weights, (root.0..end).map(NodeIx), &mut writer)
}

/// Writes the nodes with a weight, which must be in preorder, each in the `children` of its caller.
fn frames(
    view: &View,
    weights: &[u64],
    nodes: impl Iterator<Item = NodeIx>,
    writer: &mut impl Write,
) -> Result<(), ExportError> {
    let mut is_first = true;
    let kept = nodes.filter(|node| weights[node.get()] > 0);
    walk(&view.tree, kept, |step| {
        let Step::Enter(node) = step else {
            is_first = false;
            return write!(writer, "]}}");
        };
        let frame = view.frames.frame(view.tree.frame(node));
        let separator = if is_first { "" } else { "," };
        is_first = true;
        write!(writer, "{separator}\n{{\"name\":")?;
        to_writer(&mut *writer, frame.symbol)?;
        let libtype = match frame.kind {
            FrameKind::Kernel => ",\"libtype\":\"kernel\"",
            FrameKind::Inlined => ",\"libtype\":\"inlined\"",
            FrameKind::Jit | FrameKind::JitBaseline => ",\"libtype\":\"jit\"",
            _ => "",
        };
        let value = weights[node.get()];
        write!(writer, "{libtype},\"value\":{value},\"children\":[")
    })?;
    Ok(())
}
