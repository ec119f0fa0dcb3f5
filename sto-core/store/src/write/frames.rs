//! Finds a profile's frames in the store, and adds a pack of the missing ones.

use super::take_number;
use crate::codec::{FrameColumns, pack_frames};
use crate::error::{InternalError, Result, packing_error};
use crate::numbers::{FrameNo, Number};
use crate::read::packs::{Pack, packs_to_merge};
use crate::read::rows::{NewRows, Rows};
use crate::tables::{Column, MAX_PACK_FRAMES};
use rayon::prelude::*;
use sto_model::{Frame, FrameIx, FrameTable, StringIx};

/// Returns the store's numbers of a profile's frames, after adding the missing ones.
pub(super) fn plan(rows: &Rows, new: &mut NewRows, frames: &FrameTable) -> Result<Vec<FrameNo>> {
    let packs = rows.packs(rows.contents.frames, Column::Frames)?;
    let found: Vec<Found> = packs
        .par_iter()
        .map(|pack| find(pack, frames))
        .collect::<Result<_>>()?;
    let text: usize = found.iter().map(|found| found.text_len).sum();
    if text + frames.text_len() >= u32::MAX as usize {
        return Err(InternalError::Refused(
            "the names of all frames would reach 4 GiB",
        ));
    }
    let mut numbers = vec![FrameNo::NONE; frames.len()];
    for (frame, number) in found.into_iter().flat_map(|found| found.numbers) {
        numbers[frame.get()] = number;
    }
    let mut added = Vec::new();
    for (number, (frame, _)) in numbers.iter_mut().zip(frames.iter()) {
        if *number == FrameNo::NONE {
            *number = take_number(&mut new.contents.frames)?;
            added.push(frame);
        }
    }

    let outgrown = packs_to_merge(&packs, added.len() as u32, MAX_PACK_FRAMES);
    let before = outgrown
        .iter()
        .map(Pack::frames)
        .collect::<Result<Vec<FrameColumns>>>()?;
    for pack in outgrown {
        new.remove_column(pack.column);
    }
    let first = outgrown
        .first()
        .map_or(rows.contents.frames, |pack| pack.first);
    let before = before
        .iter()
        .flat_map(|pack| (0..pack.len()).map(|i| pack.get(i)));
    let all: Vec<_> = before
        .chain(added.iter().map(|&frame| frames.frame(frame)))
        .collect();
    write_packs(new, first, &all)?;
    Ok(numbers)
}

/// Writes frames in packs, numbered from `first`.
pub(crate) fn write_packs(new: &mut NewRows, first: FrameNo, frames: &[Frame<'_>]) -> Result<()> {
    let chunks = frames.par_chunks(MAX_PACK_FRAMES as usize);
    let packs = chunks.map(|chunk| pack_frames(chunk.iter().copied()));
    let firsts = first.onward().step_by(MAX_PACK_FRAMES as usize);
    for (first, pack) in firsts.zip(packs.collect::<Vec<_>>()) {
        new.column(Column::Frames(first), pack.map_err(packing_error)?);
    }
    Ok(())
}

/// The frames of a profile that a pack contains.
struct Found {
    numbers: Vec<(FrameIx, FrameNo)>,
    /// Length of all strings of the pack.
    text_len: usize,
}

fn find(pack: &Pack<FrameNo>, frames: &FrameTable) -> Result<Found> {
    let stored = pack.frames()?;
    // Neighbouring frames mostly have the same module and file.
    type Last<'a> = Option<(&'a str, Option<StringIx>)>;
    let (mut module, mut file): (Last<'_>, Last<'_>) = (None, None);
    fn find<'a>(last: &mut Last<'a>, string: &'a str, frames: &FrameTable) -> Option<StringIx> {
        match last {
            Some((known, found)) if std::ptr::eq(*known, string) => *found,
            last => last.insert((string, frames.find_string(string))).1,
        }
    }
    let numbers = pack.first.onward().zip(0..stored.len());
    let numbers = numbers.filter_map(|(number, i)| {
        let frame = stored.get(i);
        let module = find(&mut module, frame.module, frames)?;
        let file = find(&mut file, frame.file, frames)?;
        let symbol = frames.find_string(frame.symbol)?;
        let frame = frames.find_row(frame.to_row([symbol, module, file]))?;
        Some((frame, number))
    });
    Ok(Found {
        numbers: numbers.collect(),
        text_len: stored.text_len(),
    })
}
