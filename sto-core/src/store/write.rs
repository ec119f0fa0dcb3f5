//! Adding a profile.

use super::codec::{
    BuildRecord, ExecutableRecord, Flaw, ProfileRecord, pack_costs, pack_frames, pack_lines,
    pack_modules, pack_nodes,
};
use super::error::Fault;
use super::graft::graft;
use super::rows::{WriteRows, put_contents};
use super::tables::{Column, Record};
use crate::id::ExecutableId;
use crate::intern::{Interned, LineCost, SelfCosts, StackTree};
use crate::model::{Build, FrameIx, FrameTable, ModuleRef, Profile};
use crate::units::Cost;
use redb::WriteTransaction;

/// Checks what the types of a profile leave open, so that nothing is stored that cannot be read.
pub(super) fn check(build: &Build, profile: &Profile, interned: &Interned) -> Result<(), Fault> {
    let Interned {
        frames,
        tree,
        costs,
        lines,
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
    match rules.iter().find(|(kept, _)| !kept) {
        Some((_, why)) => Err(Fault::Refused(why)),
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

/// Writes a profile, and returns the packed size of what that took. The caller commits.
pub(super) fn put_profile(
    transaction: &WriteTransaction,
    rows: &mut WriteRows<'_>,
    build: &Build,
    profile: &Profile,
    interned: &Interned,
) -> Result<u64, Fault> {
    let mut written = 0;
    let frames = put_frames(rows, &interned.frames, &mut written)?;
    let executable = Executable::find(rows, &build.executable)?;
    let nodes = put_nodes(rows, executable, &interned.tree, &frames, &mut written)?;

    let number = take_number(&mut rows.contents.next_profile)?;
    for (part, costs) in (0..).zip(&interned.costs) {
        let column = pack_costs(&renumber_costs(costs, &nodes)).map_err(refused)?;
        written += rows.put_column(Column::Costs, number, part, column)?;
    }
    for (part, lines) in (0..).zip(&interned.lines) {
        let column = pack_lines(&renumber_lines(lines, &frames)).map_err(refused)?;
        written += rows.put_column(Column::Lines, number, part, column)?;
    }
    put_build(rows, build, profile, &mut written)?;
    let modules = put_modules(rows, &profile.modules, &mut written)?;
    let record = ProfileRecord {
        number,
        written,
        modules,
        profile: Profile {
            modules: Vec::new(),
            ..profile.clone()
        },
    };
    written += rows.put_record(Record::Profile, profile.id().0, &record)?;
    put_contents(transaction, rows.contents)?;
    Ok(written)
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
fn put_frames(
    rows: &mut WriteRows<'_>,
    frames: &FrameTable,
    written: &mut u64,
) -> Result<Vec<u32>, Fault> {
    let stored = rows.frames()?;
    let bytes =
        |frame: crate::model::Frame<'_>| frame.module.len() + frame.symbol.len() + frame.file.len();
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
    if table.len() > first as usize {
        let added = table.len() as u32 - first;
        let column = pack_frames((first..first + added).map(|number| table.frame(FrameIx(number))));
        *written += rows.put_column(Column::Frames, 0, first, column)?;
        rows.contents.frames = table.len() as u32;
    }
    Ok(numbers)
}

struct Executable {
    id: ExecutableId,
    record: ExecutableRecord,
}

impl Executable {
    fn find(rows: &mut WriteRows<'_>, name: &str) -> Result<Self, Fault> {
        let id = ExecutableId::of(name);
        let record = match rows.record(Record::Executable, id.0)? {
            Some(record) => record,
            None => ExecutableRecord {
                name: name.to_owned(),
                number: take_number(&mut rows.contents.next_executable)?,
                nodes: 0,
            },
        };
        Ok(Executable { id, record })
    }
}

/// Finds the store's numbers of a tree's nodes, and adds those it lacks.
fn put_nodes(
    rows: &mut WriteRows<'_>,
    executable: Executable,
    tree: &StackTree,
    frames: &[u32],
    written: &mut u64,
) -> Result<Vec<u32>, Fault> {
    let Executable { id, mut record } = executable;
    let mut nodes = rows.nodes(&record)?;
    let first = nodes.len();
    let numbers = graft(tree, frames, rows.contents.frames, &mut nodes).map_err(Fault::Refused)?;
    if nodes.len() > first {
        let column = pack_nodes(&nodes, first);
        *written += rows.put_column(Column::Nodes, record.number, first as u32, column)?;
        record.nodes = nodes.len() as u32;
    }
    *written += rows.put_record(Record::Executable, id.0, &record)?;
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
fn put_build(
    rows: &mut WriteRows<'_>,
    build: &Build,
    profile: &Profile,
    written: &mut u64,
) -> Result<(), Fault> {
    let id = build.id();
    let mut record = match rows.record(Record::Build, id.0)? {
        Some(record) => record,
        None => {
            take_number(&mut rows.contents.builds)?;
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
    *written += rows.put_record(Record::Build, id.0, &record)?;
    Ok(())
}

/// Finds the number of an equal list of modules, or adds the list.
fn put_modules(
    rows: &mut WriteRows<'_>,
    modules: &[ModuleRef],
    written: &mut u64,
) -> Result<u32, Fault> {
    let list = pack_modules(modules).map_err(refused)?;
    let mut digest = [0; 16];
    digest.copy_from_slice(&blake3::hash(&list).as_bytes()[..16]);
    if let Some(number) = rows.record(Record::ModuleList, digest)? {
        return Ok(number);
    }
    let number = take_number(&mut rows.contents.next_modules)?;
    *written += rows.put_record(Record::ModuleList, digest, &number)?;
    *written += rows.put_column(Column::Modules, number, 0, list)?;
    Ok(number)
}
