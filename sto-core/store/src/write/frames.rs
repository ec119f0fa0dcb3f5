//! Finds a profile's frames in the store, and packs the missing ones.

use super::take_number;
use crate::codec::{FrameColumns, pack_frames};
use crate::error::{InternalError, Result, packing_error};
use crate::numbers::{FrameNo, Number};
use crate::read::packs::{Pack, packs_to_merge};
use crate::read::rows::{NewRows, Rows};
use crate::tables::{Column, MAX_PACK_FRAMES};
use rayon::prelude::*;
use sto_model::{Frame, FrameIx, FrameTable, StringIx};

/// The frames of a profile, as a store numbers them.
pub(super) struct PlannedFrames<'a> {
    /// For each frame of the profile its number.
    pub(super) numbers: Vec<FrameNo>,
    /// The number of the first frame to write.
    first: FrameNo,
    /// Stored frames that are written again, because their packs grow.
    stored: Vec<FrameColumns>,
    /// The profile's frames that are missing in the store.
    added: Vec<Frame<'a>>,
}

/// Numbers a profile's frames, and removes the packs that grow.
pub(super) fn plan<'a>(
    rows: &Rows,
    new: &mut NewRows,
    frames: &'a FrameTable,
) -> Result<PlannedFrames<'a>> {
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
    for (number, (_, frame)) in numbers.iter_mut().zip(frames.iter()) {
        if *number == FrameNo::NONE {
            *number = take_number(&mut new.contents.frames)?;
            added.push(frame);
        }
    }

    let outgrown = packs_to_merge(&packs, added.len() as u32, MAX_PACK_FRAMES);
    let stored = outgrown.iter().map(Pack::frames).collect::<Result<_>>()?;
    for pack in outgrown {
        new.remove_column(pack.column);
    }
    let first = outgrown
        .first()
        .map_or(rows.contents.frames, |pack| pack.first);
    Ok(PlannedFrames {
        numbers,
        first,
        stored,
        added,
    })
}

impl PlannedFrames<'_> {
    /// Packs the frames to write.
    pub(super) fn pack(&self) -> Result<FramePacks> {
        let stored = self.stored.iter();
        let stored = stored.flat_map(|pack| (0..pack.len()).map(|i| pack.get(i)));
        let all: Vec<_> = stored.chain(self.added.iter().copied()).collect();
        FramePacks::new(self.first, &all)
    }
}

/// Frames in packs, each with the number of its first frame.
pub(crate) struct FramePacks(Vec<(FrameNo, Vec<u8>)>);

impl FramePacks {
    /// Packs frames that are numbered from `first`.
    pub(crate) fn new(first: FrameNo, frames: &[Frame<'_>]) -> Result<FramePacks> {
        let chunks = frames.par_chunks(MAX_PACK_FRAMES as usize);
        let packs = chunks.map(|chunk| pack_frames(chunk.iter().copied()).map_err(packing_error));
        let packs: Vec<_> = packs.collect::<Result<_>>()?;
        let firsts = first.onward().step_by(MAX_PACK_FRAMES as usize);
        Ok(FramePacks(firsts.zip(packs).collect()))
    }

    pub(crate) fn write(self, new: &mut NewRows) {
        for (first, pack) in self.0 {
            new.column(Column::Frames(first), pack);
        }
    }
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
