//! Adding a profile: what is to be written for it.

use super::codec::{
    BuildRecord, ExecutableRecord, Flaw, LastField, ProfileRecord, pack_costs, pack_frames,
    pack_lines, pack_modules, pack_nodes, pack_slices,
};
use super::error::Fault;
use super::graft::graft;
use super::rows::{NewRows, Rows};
use super::slices;
use super::tables::{Column, Record};
use crate::id::ExecutableId;
use crate::intern::{Interned, LineCost, SelfCosts, StackTree};
use crate::model::{Build, Frame, FrameIx, FrameTable, ModuleRef, Profile};
use crate::units::Cost;

/// Checks what the types of a profile leave open, so that nothing is stored that cannot be read.
pub(super) fn check(build: &Build, profile: &Profile, interned: &Interned) -> Result<(), Fault> {
    let Interned {
        frames,
        tree,
        costs,
        lines,
        slices,
    } = interned;
    let ascending = |costs: &SelfCosts| costs.is_sorted_by(|a, b| a.0 < b.0);
    let lines_ascending =
        |lines: &Vec<LineCost>| lines.is_sorted_by(|a, b| (a.frame, a.line) < (b.frame, b.line));
    let rules = [
        (profile.build == build.id(), "it names another build"),
        (
            costs.len() == profile.sample_types.len() && lines.len() == costs.len(),
            "it has not as many columns of costs as sample types",
        ),
        (is_preorder(tree), "its tree is not in preorder"),
        (
            tree.frames().iter().all(|frame| frame.get() < frames.len()),
            "a node's frame does not exist",
        ),
        (costs.iter().all(ascending), "its costs are out of order"),
        (
            costs
                .iter()
                .flatten()
                .all(|&(node, cost)| node.get() < tree.len() && !cost.is_zero()),
            "a cost is zero, or of a node that does not exist",
        ),
        (
            lines.iter().all(lines_ascending),
            "its line costs are out of order",
        ),
        (
            lines
                .iter()
                .flatten()
                .all(|cost| cost.frame.get() < frames.len() && cost.line > 0),
            "a line cost is of line 0, or of a frame that does not exist",
        ),
    ];
    if let Some((_, why)) = rules.iter().find(|(kept, _)| !kept) {
        return Err(Fault::Refused(why));
    }
    match slices {
        Some(slices) => slices::check(slices, interned),
        None => Ok(()),
    }
}

fn is_preorder(tree: &StackTree) -> bool {
    let mut open = None;
    tree.nodes().all(|node| {
        let parent = tree.parent(node);
        while open != parent && open.is_some() {
            open = open.and_then(|open| tree.parent(open));
        }
        let found = open == parent;
        open = Some(node);
        found
    })
}

/// What is to be written so that a store of these rows holds one more profile.
pub(super) fn plan(
    rows: &Rows,
    build: &Build,
    profile: &Profile,
    interned: &Interned,
) -> Result<NewRows, Fault> {
    let mut new = NewRows::after(rows.contents);
    let frames = plan_frames(rows, &mut new, &interned.frames)?;
    let nodes = plan_nodes(rows, &mut new, build, &interned.tree, &frames)?;

    let number = take_number(&mut new.contents.next_profile)?;
    for (part, costs) in (0..).zip(&interned.costs) {
        let column = pack_costs(&renumber_costs(costs, &nodes)).map_err(refused)?;
        new.column(Column::Costs, number, part, column);
    }
    for (part, lines) in (0..).zip(&interned.lines) {
        let column = pack_lines(&renumber_lines(lines, &frames)).map_err(refused)?;
        new.column(Column::Lines, number, part, column);
    }
    if let Some(slices) = &interned.slices {
        let column = pack_slices(slices, &interned.costs).map_err(refused)?;
        new.column(Column::Slices, number, 0, column);
    }
    plan_build(rows, &mut new, build, profile)?;
    let modules = plan_modules(rows, &mut new, &profile.modules)?;
    let record = ProfileRecord {
        number,
        written: new.bytes(),
        modules,
        profile: Profile {
            modules: Vec::new(),
            ..profile.clone()
        },
        slices: LastField(new.bytes_of(Column::Slices)),
    };
    new.record(Record::Profile, profile.id().0, &record)?;
    Ok(new)
}

fn refused(flaw: Flaw) -> Fault {
    Fault::Refused(flaw.0)
}

fn take_number(next: &mut u32) -> Result<u32, Fault> {
    let number = *next;
    *next = number
        .checked_add(1)
        .ok_or(Fault::Refused("the store has given out all its numbers"))?;
    Ok(number)
}

/// Finds the store's numbers of a profile's frames, and adds those it lacks.
fn plan_frames(rows: &Rows, new: &mut NewRows, frames: &FrameTable) -> Result<Vec<u32>, Fault> {
    let stored = rows.frames()?;
    let bytes = |frame: Frame<'_>| frame.module.len() + frame.symbol.len() + frame.file.len();
    let text: usize = frames.iter().map(|(_, frame)| bytes(frame)).sum();
    if text + stored.text_len() >= u32::MAX as usize {
        return Err(Fault::Refused("the names of all frames would reach 4 GiB"));
    }
    let mut table = FrameTable::new();
    for number in 0..stored.len() {
        if table.insert(stored.get(number)) != FrameIx(number) {
            return Err(Fault::damaged(
                "table columns, frames",
                "a frame stands twice",
            ));
        }
    }
    let numbers: Vec<u32> = frames
        .iter()
        .map(|(_, frame)| table.insert(frame).0)
        .collect();

    let first = stored.len();
    new.contents.frames = table.len() as u32;
    if new.contents.frames > first {
        let added = (first..new.contents.frames).map(|number| table.frame(FrameIx(number)));
        new.column(
            Column::Frames,
            0,
            first,
            pack_frames(added).map_err(refused)?,
        );
    }
    Ok(numbers)
}

/// Finds the store's numbers of a tree's nodes, and adds those it lacks, and the executable.
fn plan_nodes(
    rows: &Rows,
    new: &mut NewRows,
    build: &Build,
    tree: &StackTree,
    frames: &[u32],
) -> Result<Vec<u32>, Fault> {
    let id = ExecutableId::of(&build.executable);
    let stored = rows.record(Record::Executable, id.0)?;
    let is_new = stored.is_none();
    let mut executable = match stored {
        Some(executable) => executable,
        None => ExecutableRecord {
            name: build.executable.clone(),
            number: take_number(&mut new.contents.next_executable)?,
            nodes: 0,
        },
    };
    let mut nodes = rows.nodes(&executable, rows.contents.frames)?;
    let first = executable.nodes;
    let numbers = graft(tree, frames, new.contents.frames, &mut nodes).map_err(Fault::Refused)?;
    executable.nodes = nodes.len() as u32;
    if executable.nodes > first {
        let column = pack_nodes(&nodes, first as usize).map_err(refused)?;
        new.column(Column::Nodes, executable.number, first, column);
    }
    if is_new || executable.nodes > first {
        new.record(Record::Executable, id.0, &executable)?;
    }
    Ok(numbers)
}

fn renumber_costs(costs: &SelfCosts, nodes: &[u32]) -> Vec<(u32, Cost)> {
    let mut costs: Vec<_> = costs
        .iter()
        .map(|&(node, cost)| (nodes[node.get()], cost))
        .collect();
    costs.sort_unstable_by_key(|&(node, _)| node);
    costs
}

fn renumber_lines(lines: &[LineCost], frames: &[u32]) -> Vec<LineCost> {
    let mut lines: Vec<_> = lines
        .iter()
        .map(|&line| LineCost {
            frame: FrameIx(frames[line.frame.get()]),
            ..line
        })
        .collect();
    lines.sort_unstable_by_key(|line| (line.frame, line.line));
    lines
}

/// Counts the profile to its build. What the build lacked so far is filled in; what it has stays.
fn plan_build(
    rows: &Rows,
    new: &mut NewRows,
    build: &Build,
    profile: &Profile,
) -> Result<(), Fault> {
    let id = build.id();
    let mut record = match rows.record(Record::Build, id.0)? {
        Some(record) => record,
        None => {
            take_number(&mut new.contents.builds)?;
            BuildRecord {
                build: build.clone(),
                profiles: 0,
                samples: 0,
            }
        }
    };
    let known = &mut record.build;
    if known.gnu_build_id.is_none() {
        known.gnu_build_id.clone_from(&build.gnu_build_id);
    }
    if known.revision.is_none() {
        known.revision.clone_from(&build.revision);
    }
    take_number(&mut record.profiles)?;
    record.samples = record
        .samples
        .checked_add(profile.quality.samples)
        .ok_or(Fault::Refused(
            "its build would have more than 2^64 - 1 samples",
        ))?;
    new.record(Record::Build, id.0, &record)
}

/// Finds the number of an equal list of modules, or adds the list.
fn plan_modules(rows: &Rows, new: &mut NewRows, modules: &[ModuleRef]) -> Result<u32, Fault> {
    let list = pack_modules(modules).map_err(refused)?;
    let mut digest = [0; 16];
    digest.copy_from_slice(&blake3::hash(&list).as_bytes()[..16]);
    if let Some(number) = rows.record(Record::ModuleList, digest)? {
        return Ok(number);
    }
    let number = take_number(&mut new.contents.next_modules)?;
    new.record(Record::ModuleList, digest, &number)?;
    new.column(Column::Modules, number, 0, list);
    Ok(number)
}
