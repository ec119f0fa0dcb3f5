//! Stored profiles in the formats of other tools: folded text, and rows of the design document's three tables.

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use sto_core::id::{ExecutableId, FrameId, NodeId};
use sto_core::model::{Frame, FrameKind, FrameTable};
use sto_core::store::Loaded;
use sto_core::tree::{NodeIx, SelfCosts};

/// Writes sorted `root;caller;function samples` lines with plain names, as stack collapsers do.
///
/// # Errors
/// Returns an error if the output cannot be written.
pub fn folded(loaded: &Loaded, costs: &SelfCosts, out: &mut impl Write) -> io::Result<()> {
    let Loaded { frames, tree, .. } = loaded;
    let mut lines: BTreeMap<String, u64> = BTreeMap::new();
    for &(node, cost) in costs {
        let mut stack: Vec<NodeIx> = tree.ancestors(node).collect();
        stack.reverse();
        let symbols: Vec<&str> = stack
            .iter()
            .map(|&node| frames.frame(tree.frame(node)).symbol)
            .collect();
        *lines.entry(symbols.join(";")).or_default() += cost.samples;
    }
    for (stack, samples) in lines {
        writeln!(out, "{stack} {samples}")?;
    }
    Ok(())
}

/// Writes a profile as rows of the document's tables, in the text format of PostgreSQL's COPY:
/// `FOLDER/NAME.stack_node_data`, `.executable` and `.stack_node`.
///
/// A row's id is a hash truncated to 63 bits, so that it fits a `bigint`. The document's executables
/// are builds, and its frames have no module, so stacks that only differ in modules are one row.
///
/// # Errors
/// Returns an error if a file cannot be written.
pub fn tables(
    loaded: &Loaded,
    costs: &SelfCosts,
    (executable, version): (&str, u32),
    folder: &Path,
    name: &str,
) -> io::Result<()> {
    let create = |table: &str| -> io::Result<BufWriter<File>> {
        Ok(BufWriter::new(File::create(
            folder.join(format!("{name}.{table}")),
        )?))
    };
    let Loaded { frames, tree, .. } = loaded;
    let data = data_ids(frames, &mut create("stack_node_data")?)?;

    let build = ExecutableId::from_name(&format!("{executable}@{version}"));
    let samples: u64 = costs.iter().map(|(_, cost)| cost.samples).sum();
    let (build_id, executable) = (bigint(build.0), escaped(executable));
    let mut out = create("executable")?;
    writeln!(out, "{build_id}\t{executable}\t{version}\t{samples}")?;

    let mut counts = vec![0; tree.len()];
    for &(node, cost) in costs {
        counts[node.get()] = cost.samples;
    }
    let mut ids: Vec<NodeId> = Vec::with_capacity(tree.len());
    // Parent, frame and samples by id.
    let mut rows: HashMap<i64, (Option<i64>, i64, u64)> = HashMap::with_capacity(tree.len());
    let mut order = Vec::with_capacity(tree.len());
    for node in tree.nodes() {
        let parent = tree.parent(node).map(|parent| ids[parent.get()]);
        let frame = data[tree.frame(node).get()];
        let id = NodeId::new(parent, build, frame);
        ids.push(id);
        let row = rows.entry(bigint(id.0)).or_insert_with(|| {
            order.push(bigint(id.0));
            (parent.map(|parent| bigint(parent.0)), bigint(frame.0), 0)
        });
        row.2 += counts[node.get()];
    }
    let mut out = create("stack_node")?;
    for id in order {
        let (parent, frame, samples) = rows[&id];
        let parent = parent.map_or("\\N".to_owned(), |parent| parent.to_string());
        writeln!(out, "{id}\t{build_id}\t{frame}\t{parent}\t{samples}")?;
    }
    out.flush()
}

/// Writes a row for each frame in the document's sense, and returns the ids by frame.
fn data_ids(frames: &FrameTable, out: &mut impl Write) -> io::Result<Vec<FrameId>> {
    let mut rows: BTreeMap<i64, Frame<'_>> = BTreeMap::new();
    let mut ids = Vec::with_capacity(frames.len());
    for (_, frame) in frames.iter() {
        let row = Frame {
            module: "",
            kind: FrameKind::User,
            ..frame
        };
        let id = FrameId::from_frame(row);
        ids.push(id);
        rows.insert(bigint(id.0), row);
    }
    for (id, frame) in rows {
        let (file, symbol) = (escaped(frame.file), escaped(frame.symbol));
        writeln!(out, "{id}\t{}\t{file}\t{symbol}", frame.line)?;
    }
    out.flush()?;
    Ok(ids)
}

/// Returns the first 63 bits of an id, as a non-negative number.
fn bigint(id: [u8; 16]) -> i64 {
    (u128::from_le_bytes(id) as u64 >> 1) as i64
}

/// Escapes text for COPY.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\\' => escaped.push_str("\\\\"),
            '\t' => escaped.push_str("\\t"),
            '\n' => escaped.push_str("\\n"),
            '\r' => escaped.push_str("\\r"),
            '\0' => {}
            c => escaped.push(c),
        }
    }
    escaped
}
