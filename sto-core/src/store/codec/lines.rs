//! Line costs: which lines of which frames, self and total.

use super::Flaw;
use super::bytes::{Packer, Unpacker};
use super::costs::{check_sum, pack_counts, unpack_counts};
use crate::intern::LineCost;
use crate::model::FrameIx;

/// Packs line costs: frames are the store's, in ascending order, lines in ascending order within
/// a frame, none twice.
pub(in crate::store) fn pack_lines(lines: &[LineCost]) -> Result<Vec<u8>, Flaw> {
    check_sum(lines.iter().map(|line| line.self_cost))?;
    let mut frames = Packer::default();
    let mut numbers = Packer::default();
    let (mut frame, mut line) = (0, 0);
    for cost in lines {
        if cost.frame.0 != frame {
            line = 0;
        }
        frames.number(cost.frame.0 - frame);
        numbers.number(cost.line - line);
        (frame, line) = (cost.frame.0, cost.line);
    }
    let mut pack = Packer::default();
    pack.number(lines.len() as u64);
    pack.column(frames);
    pack.column(numbers);
    pack_counts(&mut pack, || lines.iter().map(|line| line.self_cost));
    pack_counts(&mut pack, || lines.iter().map(|line| line.total));
    pack.finish()
}

/// Unpacks line costs of frames below `frame_count`.
pub(in crate::store) fn unpack_lines(pack: &[u8], frame_count: u32) -> Result<Vec<LineCost>, Flaw> {
    let mut pack = Unpacker::new(pack);
    let count = pack.number32()? as usize;
    let frames = pack.column()?;
    let mut frames = Unpacker::new(&frames);
    let numbers = pack.column()?;
    let mut numbers = Unpacker::new(&numbers);
    let self_costs = unpack_counts(&mut pack, count)?;
    let totals = unpack_counts(&mut pack, count)?;
    pack.finish()?;
    let mut lines = Vec::with_capacity(count);
    let (mut frame, mut line) = (0u32, 0u32);
    for (self_cost, total) in self_costs.into_iter().zip(totals) {
        let frame_step = frames.number32()?;
        let line_step = numbers.number32()?;
        if frame_step > 0 {
            line = 0;
        }
        if line_step == 0 {
            return Err(Flaw("a line stands twice, or has the number 0"));
        }
        frame = frame
            .checked_add(frame_step)
            .filter(|&frame| frame < frame_count)
            .ok_or(Flaw("a line is of a frame that does not exist"))?;
        line = line
            .checked_add(line_step)
            .ok_or(Flaw("a line number takes more than 32 bits"))?;
        lines.push(LineCost {
            frame: FrameIx(frame),
            line,
            self_cost,
            total,
        });
    }
    frames.finish()?;
    numbers.finish()?;
    check_sum(lines.iter().map(|line| line.self_cost))?;
    Ok(lines)
}
