//! JSON for speedscope.

use super::walk::{Step, walk};
use super::{Weight, check_any, title};
use crate::error::ExportError;
use crate::tree::{View, totals};
use serde::Serialize;
use serde_json::to_writer;
use std::io::{self, BufWriter, Write};
use sto_core::units::Unit;

/// Writes the stacks in every sample type as JSON for speedscope, one profile per sample type.
///
/// A profile is *evented*: a frame opens and closes at positions on an axis of values instead of
/// times, so that the file is no larger than the tree. A stack's self cost comes before its
/// callees. Units are nanoseconds, bytes or none. Modules, kinds of frames and the numbers of
/// samples next to values are left out.
///
/// # Errors
///
/// Returns an error if there are no samples, or `writer` fails.
pub fn speedscope(view: &View, writer: impl Write) -> Result<(), ExportError> {
    check_any(view)?;
    let mut writer = BufWriter::new(writer);
    write!(
        writer,
        "{{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\
         \"exporter\":\"sto@{}\",\"name\":",
        env!("CARGO_PKG_VERSION")
    )?;
    to_writer(&mut writer, &title(view)).map_err(io::Error::from)?;
    write!(
        writer,
        ",\"activeProfileIndex\":0,\"shared\":{{\"frames\":["
    )?;
    for (ix, frame) in view.frames.iter() {
        let separator = if ix.0 == 0 { "" } else { "," };
        let frame = Frame {
            name: frame.symbol,
            file: Some(frame.file).filter(|file| !file.is_empty()),
            line: Some(frame.line).filter(|&line| line > 0),
        };
        writeln!(writer, "{separator}")?;
        to_writer(&mut writer, &frame).map_err(io::Error::from)?;
    }
    write!(writer, "]}},\"profiles\":[")?;
    for sample_type in 0..view.sample_types.len() {
        let separator = if sample_type == 0 { "" } else { "," };
        writeln!(writer, "{separator}")?;
        profile(view, sample_type, &mut writer)?;
    }
    writeln!(writer, "]}}")?;
    Ok(writer.flush()?)
}

#[derive(Serialize)]
struct Frame<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u32>,
}

fn profile(view: &View, sample_type: usize, writer: &mut impl Write) -> io::Result<()> {
    let costs = view.self_costs(sample_type);
    let weight = Weight::new(&costs);
    let unit = match weight.unit(view, sample_type) {
        Unit::Nanoseconds => "nanoseconds",
        Unit::Bytes => "bytes",
        _ => "none",
    };
    let whole = weight.get(costs.iter().copied().sum());
    write!(writer, "{{\"type\":\"evented\",\"name\":")?;
    to_writer(&mut *writer, &view.sample_types[sample_type].event)?;
    write!(
        writer,
        ",\"unit\":\"{unit}\",\"startValue\":0,\"endValue\":{whole},\"events\":["
    )?;
    let totals = totals(&view.tree, &costs);
    let mut at = 0;
    let mut separator = "";
    let nodes = view.tree.nodes();
    let kept = nodes.filter(|node| weight.get(totals[node.get()]) > 0);
    walk(&view.tree, kept, |step| {
        let (kind, node) = match step {
            Step::Enter(node) => ('O', node),
            Step::Leave(node) => ('C', node),
        };
        let frame = view.tree.frame(node).0;
        write!(
            writer,
            "{separator}\n{{\"type\":\"{kind}\",\"frame\":{frame},\"at\":{at}}}"
        )?;
        separator = ",";
        if let Step::Enter(node) = step {
            at += weight.get(costs[node.get()]);
        }
        Ok(())
    })?;
    write!(writer, "]}}")
}
