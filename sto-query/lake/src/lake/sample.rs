//! `sample`: one row per stack, run and event.

use super::LakeError;
use super::columns::{Column, file, text};

use parquet::data_type::ByteArray;
use sto_model::Build;
use sto_model::tree::{NodeIx, ProfileData, for_each_total, outermost};
use sto_model::units::Cost;
use sto_store::StoredProfile;

/// A stack of a run with its costs.
struct Row {
    event: usize,
    stack: NodeIx,
    own: Cost,
    total: Cost,
}

/// Texts of a frame.
struct FrameTexts {
    function: ByteArray,
    /// The symbol, if it differs from the function, which is rare.
    other_symbol: Option<ByteArray>,
    module: Option<ByteArray>,
    file: Option<ByteArray>,
    line: Option<u64>,
    kind: ByteArray,
}

/// A profile to be added to a dataset.
#[derive(Clone, Copy)]
pub struct ProfileToAdd<'a> {
    /// The build of the profile.
    pub build: &'a Build,
    /// The profile without its stacks.
    pub run: &'a StoredProfile,
    /// Stacks and costs.
    pub interned: &'a ProfileData,
    /// Index of the function of each frame.
    pub function_of: &'a [u32],
    /// Names of functions.
    pub functions: &'a [&'a str],
}

/// Encodes the file of a run.
///
/// # Errors
///
/// Returns an error if a line has a cost in a frame without a stack, or if a number is too large.
pub(super) fn sample(added: &ProfileToAdd<'_>) -> Result<Vec<u8>, LakeError> {
    let &ProfileToAdd { run, interned, .. } = added;
    let tree = &interned.tree;
    check_frames(run, interned)?;
    let texts = texts(added);
    let is_outermost: Vec<bool> = outermost(tree, added.function_of).collect();
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
        Column::text("other_symbol", |row| frame(row).other_symbol.clone()),
        Column::text("module", |row| frame(row).module.clone()),
        Column::text("file", |row| frame(row).file.clone()),
        Column::count("line", |row| frame(row).line),
        Column::text("kind", |row| Some(frame(row).kind.clone())),
    ];
    file(&rows(interned), &columns)
}

/// Returns the rows by event, in the order of stacks.
fn rows(interned: &ProfileData) -> Vec<Row> {
    let mut rows = Vec::new();
    for (event, costs) in interned.costs.iter().enumerate() {
        let start = rows.len();
        for_each_total(&interned.tree, costs, |stack, own, total| {
            rows.push(Row {
                event,
                stack,
                own,
                total,
            });
        });
        rows[start..].reverse();
    }
    rows
}

fn texts(added: &ProfileToAdd<'_>) -> Vec<FrameTexts> {
    let known = |name: &str| (!name.is_empty()).then(|| text(name));
    let texts = added.interned.frames.iter().zip(added.function_of);
    let texts = texts.map(|((_, frame), &number)| {
        let function = added.functions[number as usize];
        FrameTexts {
            function: text(function),
            other_symbol: (frame.symbol != function).then(|| text(frame.symbol)),
            module: known(frame.module),
            file: known(frame.file),
            line: (frame.line != 0).then_some(frame.line.into()),
            kind: text(frame.kind.name()),
        }
    });
    texts.collect()
}

/// Returns an error if a frame with costs is not on any stack, because it would be lost.
fn check_frames(run: &StoredProfile, interned: &ProfileData) -> Result<(), LakeError> {
    let mut is_used = vec![false; interned.frames.len()];
    for frame in interned.tree.frames() {
        is_used[frame.get()] = true;
    }
    if is_used.contains(&false) {
        Err(LakeError::FrameWithoutStack(run.id))
    } else {
        Ok(())
    }
}
