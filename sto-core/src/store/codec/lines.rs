//! Line costs: which lines of which frames, self and total.

use super::Flaw;
use super::bytes::{Packer, Unpacker};
use super::coder::{Decoder, Encoder, Number, can_hold};
use super::costs::{Counts, TOO_FEW, check_sum, fixed_period, pack_period, unpack_period};
use crate::intern::LineCost;
use crate::model::FrameIx;

/// Packs line costs: frames are the store's, in ascending order, lines in ascending order within
/// a frame, none twice.
pub(in crate::store) fn pack_lines(lines: &[LineCost]) -> Result<Vec<u8>, Flaw> {
    check_sum(lines.iter().map(|line| line.self_cost))?;
    let self_period = fixed_period(lines.iter().map(|line| line.self_cost));
    let total_period = fixed_period(lines.iter().map(|line| line.total));
    let mut coder = Encoder::default();
    let mut steps = [Number::default(); 3];
    let mut self_costs = Counts::new(self_period);
    let mut totals = Counts::new(total_period);
    let (mut frame, mut line) = (0, 0);
    for cost in lines {
        let frame_step = cost.frame.0 - frame;
        if frame_step > 0 {
            line = 0;
        }
        coder.number(&mut steps[0], u64::from(frame_step));
        let line_model = &mut steps[if line == 0 { 1 } else { 2 }];
        coder.number(line_model, u64::from(cost.line - line));
        self_costs.encode(&mut coder, cost.self_cost);
        totals.encode(&mut coder, cost.total);
        (frame, line) = (cost.frame.0, cost.line);
    }
    if lines.len() > MOST_LINES as usize {
        return Err(Flaw("it has costs of more than 2^24 lines"));
    }
    let mut pack = Packer::default();
    pack.number(lines.len() as u64);
    pack_period(&mut pack, self_period);
    pack_period(&mut pack, total_period);
    pack.raw(&coder.finish());
    pack.finish()
}

/// Unpacks line costs of frames below `frame_count`.
pub(in crate::store) fn unpack_lines(pack: &[u8], frame_count: u32) -> Result<Vec<LineCost>, Flaw> {
    let mut pack = Unpacker::new(pack);
    let count = pack.number32()?;
    let mut self_costs = Counts::new(unpack_period(&mut pack)?);
    let mut totals = Counts::new(unpack_period(&mut pack)?);
    if count > MOST_LINES || !can_hold(pack.left(), count) {
        return Err(TOO_FEW);
    }
    let mut coder = Decoder::new(pack.rest())?;
    let mut steps = [Number::default(); 3];
    let mut lines = Vec::with_capacity(count as usize);
    let (mut frame, mut line) = (0u32, 0u32);
    for _ in 0..count {
        let frame_step = coder.number(&mut steps[0]);
        if frame_step > 0 {
            line = 0;
        }
        let line_step = coder.number(&mut steps[if line == 0 { 1 } else { 2 }]);
        if line_step == 0 {
            return Err(Flaw("a line stands twice, or has the number 0"));
        }
        frame = add(frame, frame_step)
            .filter(|&frame| frame < frame_count)
            .ok_or(Flaw("a line is of a frame that does not exist"))?;
        line = add(line, line_step).ok_or(Flaw("a line number takes more than 32 bits"))?;
        lines.push(LineCost {
            frame: FrameIx(frame),
            line,
            self_cost: self_costs.decode(&mut coder)?,
            total: totals.decode(&mut coder)?,
        });
    }
    coder.finish()?;
    check_sum(lines.iter().map(|line| line.self_cost))?;
    Ok(lines)
}

fn add(number: u32, step: u64) -> Option<u32> {
    number.checked_add(u32::try_from(step).ok()?)
}

/// Most lines of one pack: what hostile bytes can make a reader reserve.
const MOST_LINES: u32 = 1 << 24;
