//! Adding a profile: what is to be written for it.

mod build;
mod check;
mod frames;
mod nodes;

use super::codec::{Flaw, ProfileRecord, pack_costs, pack_lines, pack_modules};
use super::error::Fault;
use super::rows::{NewRows, Rows};
use super::tables::{Column, Record};
use crate::intern::{Interned, LineCost, SelfCosts};
use crate::model::{Build, FrameIx, ModuleRef, Profile};
use crate::units::Cost;
use rayon::prelude::*;
use std::sync::Arc;

pub(in crate::store) use check::check;

/// What is to be written so that a store of these rows holds one more profile.
pub(super) fn plan(
    rows: &Rows,
    build: &Build,
    profile: &Profile,
    interned: &Interned,
) -> Result<NewRows, Fault> {
    let mut new = NewRows::after(rows.contents);
    let frames = frames::plan(rows, &mut new, &interned.frames)?;
    let (nodes, node_count) = nodes::plan(rows, &mut new, build, &interned.tree, &frames)?;

    let number = take_number(&mut new.contents.profiles)?;
    let costs: Vec<_> = interned
        .costs
        .par_iter()
        .map(|costs| renumber_costs(costs, &nodes))
        .collect();
    let packed = costs.par_iter().map(|costs| pack_costs(costs));
    let mut columns: Vec<_> = packed.map(|pack| (Column::Costs, pack)).collect();
    let lines = interned
        .lines
        .par_iter()
        .map(|lines| pack_lines(&renumber_lines(lines, &frames)));
    columns.par_extend(lines.map(|pack| (Column::Lines, pack)));
    let mut own = 0;
    let parts = (0..interned.costs.len() as u32).chain(0..interned.lines.len() as u32);
    for ((kind, pack), part) in columns.into_iter().zip(parts) {
        own += new.column(kind, number, part, pack.map_err(refused)?);
    }
    build::plan(rows, &mut new, build, profile, number, &costs, node_count)?;
    let record = ProfileRecord {
        number,
        columns: own,
        modules: plan_modules(rows, &mut new, &profile.modules)?,
        gnu_build_id: build.gnu_build_id.clone(),
        revision: build.revision.clone(),
        profile: Profile {
            modules: Arc::default(),
            ..profile.clone()
        },
    };
    new.record(Record::Profile, profile.id().0, &record)?;
    new.contents.history = after(rows.contents.history, profile.id().0);
    Ok(new)
}

/// The history of a store once something was done to it.
fn after(history: [u8; 16], done: [u8; 16]) -> [u8; 16] {
    digest(&[&history, &done])
}

fn digest(parts: &[&[u8]]) -> [u8; 16] {
    let mut hasher = blake3::Hasher::new();
    for part in parts {
        hasher.update(part);
    }
    let mut digest = [0; 16];
    digest.copy_from_slice(&hasher.finalize().as_bytes()[..16]);
    digest
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

/// Finds the number of an equal list of modules, or adds the list.
fn plan_modules(rows: &Rows, new: &mut NewRows, modules: &[ModuleRef]) -> Result<u32, Fault> {
    let list = pack_modules(modules).map_err(refused)?;
    let digest = digest(&[&list]);
    if let Some(number) = rows.record(Record::ModuleList, digest)? {
        return Ok(number);
    }
    let number = take_number(&mut new.contents.modules)?;
    new.record(Record::ModuleList, digest, &number)?;
    new.column(Column::Modules, number, 0, list);
    Ok(number)
}
