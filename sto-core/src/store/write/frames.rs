//! The frames of a profile: which the store has, and a pack of those that it lacks.

use super::take_number;
use crate::model::{FrameTable, StringIx};
use crate::store::codec::{FrameColumns, pack_frames};
use crate::store::error::{Fault, refused};
use crate::store::read::packs::{Pack, outgrown};
use crate::store::read::rows::{NewRows, Rows};
use crate::store::tables::{Column, MOST_FRAMES};
use rayon::prelude::*;

/// Finds the store's numbers of a profile's frames, and adds those it lacks.
pub(super) fn plan(rows: &Rows, new: &mut NewRows, frames: &FrameTable) -> Result<Vec<u32>, Fault> {
    let packs = rows.packs(Column::Frames, 0, rows.contents.frames)?;
    let found: Vec<Found> = packs
        .par_iter()
        .map(|pack| find(pack, frames))
        .collect::<Result<_, Fault>>()?;
    let text: usize = found.iter().map(|found| found.text_len).sum();
    if text + frames.text_len() >= u32::MAX as usize {
        return Err(Fault::Refused("the names of all frames would reach 4 GiB"));
    }
    const MISSING: u32 = u32::MAX;
    let mut numbers = vec![MISSING; frames.len()];
    for (frame, number) in found.into_iter().flat_map(|found| found.numbers) {
        numbers[frame] = number;
    }
    let mut added = Vec::new();
    for (number, (frame, _)) in numbers.iter_mut().zip(frames.iter()) {
        if *number == MISSING {
            *number = take_number(&mut new.contents.frames)?;
            added.push(frame);
        }
    }

    let outgrown = outgrown(&packs, added.len() as u32, MOST_FRAMES);
    let before = outgrown
        .iter()
        .map(Pack::frames)
        .collect::<Result<Vec<FrameColumns>, Fault>>()?;
    for pack in outgrown {
        new.remove_column(Column::Frames, 0, pack.first);
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
    let chunks: Vec<_> = all
        .par_chunks(MOST_FRAMES as usize)
        .map(|chunk| pack_frames(chunk.iter().copied()))
        .collect();
    for (chunk, first) in chunks
        .into_iter()
        .zip((first..).step_by(MOST_FRAMES as usize))
    {
        new.column(Column::Frames, 0, first, chunk.map_err(refused)?);
    }
    Ok(numbers)
}

/// What a pack has of a profile's frames.
struct Found {
    /// Their places in the profile, and their numbers.
    numbers: Vec<(usize, u32)>,
    /// Bytes of all strings of the pack.
    text_len: usize,
}

fn find(pack: &Pack, frames: &FrameTable) -> Result<Found, Fault> {
    let stored = pack.frames()?;
    // Next to one another, frames mostly have the module and file of the one before.
    type Last<'a> = Option<(&'a str, Option<StringIx>)>;
    let (mut module, mut file): (Last<'_>, Last<'_>) = (None, None);
    fn find<'a>(last: &mut Last<'a>, string: &'a str, frames: &FrameTable) -> Option<StringIx> {
        match last {
            Some((known, found)) if std::ptr::eq(*known, string) => *found,
            last => last.insert((string, frames.find_string(string))).1,
        }
    }
    let numbers = pack.numbers().enumerate().filter_map(|(i, number)| {
        let frame = stored.get(i);
        let module = find(&mut module, frame.module, frames)?;
        let file = find(&mut file, frame.file, frames)?;
        let symbol = frames.find_string(frame.symbol)?;
        let place = frames.find_row(frame.row([symbol, module, file]))?;
        Some((place.get(), number))
    });
    Ok(Found {
        numbers: numbers.collect(),
        text_len: stored.text_len(),
    })
}
