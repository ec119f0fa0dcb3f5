//! `sample`: a row a stack of a run and event.

use super::LakeError;
use super::columns::{Column, file, text};
use crate::functions::{KeyOptions, key_of};
use crate::tree::{for_each_total, outermost};
use hashbrown::HashMap;
use parquet::data_type::ByteArray;
use sto_core::intern::NodeIx;
use sto_core::model::FrameTable;
use sto_core::store::{Loaded, StoredProfile};
use sto_core::units::Cost;

/// A stack of a run.
struct Row {
    event: usize,
    stack: NodeIx,
    own: Cost,
    total: Cost,
}

/// What is written of a frame.
struct FrameTexts {
    symbol: ByteArray,
    function: ByteArray,
    module: Option<ByteArray>,
    file: Option<ByteArray>,
    line: Option<u64>,
    kind: ByteArray,
    /// Which function of the run it is.
    number: u32,
}

/// The file of a run, of which all but its stacks is `run`.
pub(super) fn sample(run: &StoredProfile, loaded: &Loaded) -> Result<Vec<u8>, LakeError> {
    let Loaded { tree, frames, .. } = loaded;
    let texts = texts(frames);
    let numbers: Vec<u32> = texts.iter().map(|frame| frame.number).collect();
    let is_outermost: Vec<bool> = outermost(tree, &numbers).collect();
    let frame = |row: &Row| &texts[tree.frame(row.stack).get()];
    let id: ByteArray = text(&run.id.to_string());
    let build: ByteArray = text(&run.profile.build.to_string());
    let types = run.profile.sample_types.iter();
    let events: Vec<ByteArray> = types.map(|event| text(&event.event)).collect();
    let columns = [
        Column::text("profile", move |_| Some(id.clone())),
        Column::text("executable_id", move |_| Some(build.clone())),
        Column::text("event", |row: &Row| Some(events[row.event].clone())),
        Column::number("stack", |row: &Row| Some(row.stack.0.into())),
        Column::number("caller", |row: &Row| Some(tree.parent(row.stack)?.0.into())),
        Column::count("self", |row: &Row| Some(row.own.value)),
        Column::count("total", |row: &Row| Some(row.total.value)),
        Column::count("samples", |row: &Row| Some(row.own.samples)),
        Column::count("total_samples", |row: &Row| Some(row.total.samples)),
        Column::flag("outermost", |row: &Row| is_outermost[row.stack.get()]),
        Column::text("function", |row| Some(frame(row).function.clone())),
        Column::text("symbol", |row| Some(frame(row).symbol.clone())),
        Column::text("module", |row| frame(row).module.clone()),
        Column::text("file", |row| frame(row).file.clone()),
        Column::count("line", |row| frame(row).line),
        Column::text("kind", |row| Some(frame(row).kind.clone())),
    ];
    file(&rows(loaded), &columns)
}

/// By event, in the order of the stacks.
fn rows(loaded: &Loaded) -> Vec<Row> {
    let mut rows = Vec::new();
    for (event, costs) in loaded.costs.iter().flatten().enumerate() {
        let start = rows.len();
        let mut own = costs.iter().rev().peekable();
        for_each_total(&loaded.tree, costs, |stack, total| {
            let cost = own.next_if(|&&(of, _)| of == stack);
            rows.push(Row {
                event,
                stack,
                own: cost.map_or(Cost::ZERO, |&(_, cost)| cost),
                total,
            });
        });
        rows[start..].reverse();
    }
    rows
}

fn texts(frames: &FrameTable) -> Vec<FrameTexts> {
    let mut numbers = HashMap::new();
    let known = |name: &str| (!name.is_empty()).then(|| text(name));
    let texts = frames.iter().map(|(_, frame)| {
        let function = key_of(frame, KeyOptions::default());
        let next = numbers.len() as u32;
        FrameTexts {
            symbol: text(frame.symbol),
            function: text(&function),
            module: known(frame.module),
            file: known(frame.file),
            line: (frame.line != 0).then_some(frame.line.into()),
            kind: text(frame.kind.name()),
            number: *numbers.entry((function, frame.module)).or_insert(next),
        }
    });
    texts.collect()
}
