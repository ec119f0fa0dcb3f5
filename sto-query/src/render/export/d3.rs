//! JSON for d3-flame-graph.

use super::walk::{Step, walk};
use super::{Weight, check_any, title};
use crate::error::ExportError;
use crate::tree::{View, totals};
use serde_json::to_writer;
use std::io::{BufWriter, Write};
use sto_core::model::FrameKind;

/// Writes the call tree in one sample type as the nested JSON that `d3-flame-graph` takes: `name`,
/// `value` (total), `children`, and `libtype` by which it colours kernel, inlined and JIT-compiled
/// frames. The root is the build; it has `event` and `unit` too.
///
/// Modules, source files, lines, and numbers of samples beside values are left out.
///
/// # Errors
/// Where there are no samples, or `writer` fails.
pub fn d3(view: &View, sample_type: usize, writer: impl Write) -> Result<(), ExportError> {
    check_any(view)?;
    let costs = view.self_costs(sample_type);
    let weight = Weight::of(&costs);
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
    let mut is_first = true;
    walk(
        &view.tree,
        |node| weight.get(totals[node.get()]) > 0,
        |step| {
            let Step::Enter(node) = step else {
                is_first = false;
                return write!(writer, "]}}");
            };
            let frame = view.frames.frame(view.tree.frame(node));
            let separator = if is_first { "" } else { "," };
            is_first = true;
            write!(writer, "{separator}\n{{\"name\":")?;
            to_writer(&mut writer, frame.symbol)?;
            let libtype = match frame.kind {
                FrameKind::Kernel => ",\"libtype\":\"kernel\"",
                FrameKind::Inlined => ",\"libtype\":\"inlined\"",
                FrameKind::Jit | FrameKind::JitBaseline => ",\"libtype\":\"jit\"",
                _ => "",
            };
            let value = weight.get(totals[node.get()]);
            write!(writer, "{libtype},\"value\":{value},\"children\":[")
        },
    )?;
    writeln!(writer, "]}}")?;
    Ok(writer.flush()?)
}
