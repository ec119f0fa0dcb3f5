//! The frames of a pack of nodes, and which of them call which.

use super::Flaw;
use super::coder::{Decoder, Encoder, Flag, Number};

/// A difference of either sign: how large it is, and whether it is below zero.
#[derive(Clone, Copy, Default)]
pub(super) struct Difference {
    size: Number,
    is_negative: Flag,
}

impl Difference {
    pub(super) fn encode(&mut self, coder: &mut Encoder, value: u32, previous: u32) {
        let difference = i64::from(value) - i64::from(previous);
        coder.number(&mut self.size, difference.unsigned_abs());
        if difference != 0 {
            coder.flag(&mut self.is_negative, difference < 0);
        }
    }

    pub(super) fn decode(&mut self, coder: &mut Decoder<'_>, previous: u32) -> Result<u32, Flaw> {
        let size = coder.number(&mut self.size);
        let is_negative = size != 0 && coder.flag(&mut self.is_negative);
        u32::try_from(size)
            .ok()
            .and_then(|size| {
                if is_negative {
                    previous.checked_sub(size)
                } else {
                    previous.checked_add(size)
                }
            })
            .ok_or(Flaw("a number leaves 32 bits"))
    }
}

/// Frames in ascending order, as runs of successive ones: how many numbers lie before the run, and
/// how many frames follow its first one.
pub(super) fn encode_frames(coder: &mut Encoder, frames: &[u32]) {
    let mut models = [Number::default(); 2];
    let mut next = 0;
    for run in frames.chunk_by(|a, b| a + 1 == *b) {
        coder.number(&mut models[0], u64::from(run[0] - next));
        coder.number(&mut models[1], run.len() as u64 - 1);
        next = run[run.len() - 1] + 1;
    }
}

pub(super) fn decode_frames(
    coder: &mut Decoder<'_>,
    count: u32,
    frame_count: u32,
) -> Result<Vec<u32>, Flaw> {
    const MISSING: Flaw = Flaw("a node's frame does not exist");
    let mut models = [Number::default(); 2];
    let mut frames = Vec::with_capacity(count as usize);
    let mut next = 0;
    while frames.len() < count as usize {
        let begin = add_below(next, coder.number(&mut models[0]), frame_count).ok_or(MISSING)?;
        let more = coder.number(&mut models[1]);
        let last = add_below(begin, more, frame_count).ok_or(MISSING)?;
        if more >= u64::from(count) - frames.len() as u64 {
            return Err(Flaw("there are more frames than announced"));
        }
        frames.extend(begin..=last);
        next = last + 1;
    }
    Ok(frames)
}

/// The sum, if it is below a limit.
fn add_below(a: u32, b: u64, limit: u32) -> Option<u32> {
    let sum = u64::from(a).checked_add(b)?;
    u32::try_from(sum).ok().filter(|&sum| sum < limit)
}

/// Models of the calls: for each callee how many callers it has, and which.
#[derive(Default)]
struct CallModels {
    counts: [Number; 3],
    first_callers: [Difference; 4],
    callers: [Number; 8],
}

/// A context by the length of a number in bits.
pub(super) fn length(number: u32, contexts: usize) -> usize {
    (number.checked_ilog2().map_or(0, |bits| bits as usize)).min(contexts - 1)
}

/// Calls as (callee, caller), in ascending order.
pub(super) fn encode_calls(coder: &mut Encoder, calls: &[(u32, u32)], frames: usize) {
    let mut models = CallModels::default();
    let (mut last_count, mut last_first) = (0, 0);
    let mut calls = calls;
    for frame in 0..frames as u32 {
        let count = calls
            .iter()
            .take_while(|&&(callee, _)| callee == frame)
            .count();
        let (callers, rest) = calls.split_at(count);
        calls = rest;
        coder.number(&mut models.counts[last_count.min(2)], count as u64);
        last_count = count;
        let mut next = 0;
        for (i, &(_, caller)) in callers.iter().enumerate() {
            let left = (count - i) as u32;
            if i == 0 {
                models.first_callers[length(left, 4)].encode(coder, caller, last_first);
                last_first = caller;
            } else {
                coder.number(
                    &mut models.callers[length(left, 8)],
                    u64::from(caller - next),
                );
            }
            next = caller + 1;
        }
    }
}

pub(super) fn decode_calls(
    coder: &mut Decoder<'_>,
    frames: u32,
    most: u32,
) -> Result<Vec<(u32, u32)>, Flaw> {
    const NO_CALLER: Flaw = Flaw("a caller does not exist");
    let mut models = CallModels::default();
    let (mut last_count, mut last_first) = (0, 0);
    let mut calls = Vec::new();
    for callee in 0..frames {
        let count = coder.number(&mut models.counts[last_count.min(2)]);
        let left = u64::from(most) - calls.len() as u64;
        if count > left {
            return Err(Flaw("there are more calls than nodes"));
        }
        last_count = count as usize;
        let mut next = 0;
        for i in 0..count as u32 {
            let left = count as u32 - i;
            let caller = if i == 0 {
                last_first = models.first_callers[length(left, 4)].decode(coder, last_first)?;
                Some(last_first).filter(|&caller| caller < frames)
            } else {
                let between = coder.number(&mut models.callers[length(left, 8)]);
                add_below(next, between, frames)
            };
            let caller = caller.ok_or(NO_CALLER)?;
            calls.push((callee, caller));
            next = caller + 1;
        }
    }
    Ok(calls)
}
