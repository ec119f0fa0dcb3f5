//! Decoding of a run's stacks and costs from the rows of `sample`.

use super::LakeError;
use super::read::Table;
use sto_model::tree::{NodeIx, ProfileData, SelfCosts, StackTree};
use sto_model::units::{Cost, SampleType};
use sto_model::{Frame, FrameIx, FrameKind, FrameTable};

/// Decodes the file of a run with these sample types into stacks and costs.
pub(super) fn stacks(
    file: &str,
    bytes: Vec<u8>,
    types: &[SampleType],
) -> Result<ProfileData, LakeError> {
    let table = Table::open(file, bytes)?;
    let stacks = table.all_numbers("stack")?;
    let nodes = nodes(&table, &stacks)?;
    let (frames, tree) = tree(&table, &nodes)?;
    let costs = costs(&table, &stacks, types)?;
    Ok(ProfileData {
        line_costs: vec![Vec::new(); costs.len()],
        frames,
        tree,
        costs,
        ..ProfileData::default()
    })
}

/// Returns the first row of each stack.
fn nodes(table: &Table<'_>, stacks: &[u64]) -> Result<Vec<usize>, LakeError> {
    const NO_ROW: usize = usize::MAX;
    let count = stacks
        .iter()
        .max()
        .map_or(0, |&last| last.saturating_add(1));
    // Each stack has at least one row, so a larger number is an error; this also bounds memory.
    let count = usize::try_from(count)
        .ok()
        .filter(|&count| count <= table.rows());
    let count = count.ok_or_else(|| table.damaged("the numbers of stacks have gaps"))?;
    let mut rows = vec![NO_ROW; count];
    for (row, &stack) in stacks.iter().enumerate() {
        let known = &mut rows[stack as usize];
        *known = row.min(*known);
    }
    if rows.contains(&NO_ROW) {
        Err(table.damaged("the numbers of stacks have gaps"))
    } else {
        Ok(rows)
    }
}

/// Builds the tree of stacks from their first rows, with frames in order of appearance.
fn tree(table: &Table<'_>, rows: &[usize]) -> Result<(FrameTable, StackTree), LakeError> {
    let callers = table.numbers("caller")?;
    let names = ["module", "file", "kind"].map(|name| table.texts(name));
    let [modules, files, kinds] = names;
    let (modules, files, kinds) = (modules?, files?, kinds?);
    let (functions, others) = (table.texts("function")?, table.texts("other_symbol")?);
    let lines = table.numbers("line")?;
    let mut found = FrameTable::new();
    let mut frames = Vec::with_capacity(rows.len());
    for &row in rows {
        let line = u32::try_from(lines[row].unwrap_or(0));
        let symbol = others[row].as_ref().or(functions[row].as_ref());
        frames.push(found.insert(Frame {
            module: table.text(modules[row].as_ref())?,
            symbol: table.text(symbol)?,
            kind: kind(table, table.text(kinds[row].as_ref())?)?,
            file: table.text(files[row].as_ref())?,
            line: line.map_err(|_| table.damaged("the number of a line is too large"))?,
        }));
    }
    let ranks = found.ranks();
    let mut by_rank = vec![FrameIx(0); ranks.len()];
    for (ix, &rank) in (0..).zip(&ranks) {
        by_rank[rank as usize] = FrameIx(ix);
    }
    let mut in_order = FrameTable::new();
    for ix in by_rank {
        in_order.insert(found.frame(ix));
    }
    let mut tree = StackTree::with_capacity(rows.len());
    let mut open: Vec<NodeIx> = Vec::new();
    for (&row, frame) in rows.iter().zip(frames) {
        let caller = callers[row].map(|caller| NodeIx(caller.min(u32::MAX.into()) as u32));
        while open.last().is_some_and(|&last| Some(last) != caller) {
            open.pop();
        }
        if open.last().copied() != caller {
            return Err(table.damaged("a stack comes before its caller"));
        }
        open.push(tree.push(caller, FrameIx(ranks[frame.get()])));
    }
    Ok((in_order, tree))
}

fn kind(table: &Table<'_>, name: &str) -> Result<FrameKind, LakeError> {
    let kinds = FrameKind::ALL.into_iter();
    let mut named = kinds.filter(|kind| kind.name() == name);
    named
        .next()
        .ok_or_else(|| table.damaged(format!("a frame's kind is `{name}`")))
}

/// Returns self costs by sample type. Rows of a sample type must be consecutive, with ascending stacks.
fn costs(
    table: &Table<'_>,
    stacks: &[u64],
    types: &[SampleType],
) -> Result<Vec<SelfCosts>, LakeError> {
    let events = table.texts("event")?;
    let (values, samples) = (table.all_numbers("self")?, table.all_numbers("samples")?);
    let mut costs = vec![SelfCosts::new(); types.len()];
    let mut before: Option<(usize, u64)> = None;
    for (row, &stack) in stacks.iter().enumerate() {
        let name = table.text(events[row].as_ref())?;
        let is_same = |&(event, last): &(usize, u64)| types[event].event == name && stack > last;
        let event = match before.filter(is_same) {
            Some((event, _)) => event,
            None => {
                let next = before.map_or(0, |(event, _)| event + 1);
                let mut rest = types.iter().enumerate().skip(next);
                let event = rest.find(|(_, known)| known.event == name);
                let missing =
                    || table.damaged("its events differ from those of its profile or their order");
                event.ok_or_else(missing)?.0
            }
        };
        before = Some((event, stack));
        let cost = Cost {
            samples: samples[row],
            value: values[row],
        };
        if !cost.is_zero() {
            costs[event].push((NodeIx(stack as u32), cost));
        }
    }
    Ok(costs)
}
