//! Line costs: self and total cost by frame and line.

use super::DecodeError;
use super::bytes::{MAX_VARINT_32, Packer, Unpacker};
use super::costs::{TOO_FEW, ValuePacker, Values, check_sum};
use super::pairs::{PairPacker, Pairs};
use crate::numbers::FrameNo;
use sto_model::tree::LineCost;

/// Packs line costs, with distinct frames and lines in ascending order.
pub(crate) fn pack_lines(lines: &[LineCost<FrameNo>]) -> Result<Vec<u8>, DecodeError> {
    check_sum(lines.iter().map(|line| line.self_cost))?;
    if lines.len() > MAX_PACK_LINES {
        return Err(DecodeError("it has costs of more than 2^24 lines"));
    }
    let [mut frames, mut numbers] = [(); 2].map(|()| Packer::default());
    let mut samples = PairPacker::default();
    let mut self_values = ValuePacker::new(lines.iter().map(|line| line.self_cost));
    let mut totals = ValuePacker::new(lines.iter().map(|line| line.total));
    let (mut frame, mut line) = (0, 0);
    for cost in lines {
        if cost.frame.0 > frame {
            line = 0;
        }
        frames.number(cost.frame.0 - frame);
        numbers.number(cost.line - line);
        samples.push([cost.self_cost.samples, cost.total.samples]);
        self_values.push(cost.self_cost);
        totals.push(cost.total);
        (frame, line) = (cost.frame.0, cost.line);
    }
    let mut pack = Packer::default();
    pack.number(lines.len() as u64);
    pack.column(frames);
    pack.column(numbers);
    samples.finish(&mut pack);
    self_values.finish(&mut pack);
    totals.finish(&mut pack);
    pack.finish()
}

/// Unpacks line costs of frames below `frames_end`.
pub(crate) fn unpack_lines(
    pack: &[u8],
    frames_end: FrameNo,
) -> Result<Vec<LineCost<FrameNo>>, DecodeError> {
    let mut pack = Unpacker::new(pack);
    let count = pack.number32()? as usize;
    if count > MAX_PACK_LINES {
        return Err(DecodeError("it has costs of more than 2^24 lines"));
    }
    let longest = count * MAX_VARINT_32;
    let (frames, numbers) = (pack.column_within(longest)?, pack.column_within(longest)?);
    let (mut frames, mut numbers) = (Unpacker::new(&frames), Unpacker::new(&numbers));
    let samples = Pairs::unpack(&mut pack, count)?;
    let (self_values, totals) = (
        Values::unpack(&mut pack, count)?,
        Values::unpack(&mut pack, count)?,
    );
    let (mut self_values, mut totals) = (self_values.reader(), totals.reader());
    pack.finish()?;
    if samples.len() != count {
        return Err(TOO_FEW);
    }
    let mut lines = Vec::with_capacity(count);
    let (mut frame, mut line) = (0u32, 0u32);
    let mut samples = samples.reader();
    for _ in 0..count {
        let [self_samples, total_samples] = samples.next()?;
        let frame_step = frames.number32()?;
        if frame_step > 0 {
            line = 0;
        }
        let line_step = numbers.number32()?;
        if line_step == 0 {
            return Err(DecodeError("a line occurs twice, or has the number 0"));
        }
        let next = frame.checked_add(frame_step);
        let next = next.filter(|&frame| frame < frames_end.0);
        frame = next.ok_or(DecodeError("a line's frame does not exist"))?;
        let next = line.checked_add(line_step);
        line = next.ok_or(DecodeError("a line number takes more than 32 bits"))?;
        lines.push(LineCost {
            frame: FrameNo(frame),
            line,
            self_cost: self_values.cost(self_samples)?,
            total: totals.cost(total_samples)?,
        });
    }
    frames.finish()?;
    numbers.finish()?;
    samples.finish()?;
    self_values.finish()?;
    totals.finish()?;
    check_sum(lines.iter().map(|line| line.self_cost))?;
    Ok(lines)
}

/// Maximum number of lines in a pack, which bounds the memory that hostile bytes can make a reader reserve.
const MAX_PACK_LINES: usize = 1 << 24;
