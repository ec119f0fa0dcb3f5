//! Self costs: which nodes, how many samples, what they stand for.

use super::Flaw;
use super::bytes::{Packer, Unpacker};
use super::coder::{Decoder, Encoder, Number, can_hold};
use crate::units::Cost;

/// Packs costs by node: nodes in ascending order, none twice, none with a zero cost.
pub(in crate::store) fn pack_costs(costs: &[(u32, Cost)]) -> Result<Vec<u8>, Flaw> {
    check_sum(costs.iter().map(|&(_, cost)| cost))?;
    let period = fixed_period(costs.iter().map(|&(_, cost)| cost));
    let mut coder = Encoder::default();
    let mut gaps = Gaps::default();
    let mut counts = Counts::new(period);
    for &(node, cost) in costs {
        gaps.encode(&mut coder, node);
        counts.encode(&mut coder, cost);
    }
    let mut pack = Packer::default();
    pack.number(costs.len() as u64);
    pack_period(&mut pack, period);
    pack.raw(&coder.finish());
    pack.finish()
}

/// Unpacks costs of nodes below `node_count`.
pub(in crate::store) fn unpack_costs(
    pack: &[u8],
    node_count: usize,
) -> Result<Vec<(u32, Cost)>, Flaw> {
    let mut pack = Unpacker::new(pack);
    let count = pack.number32()?;
    let mut counts = Counts::new(unpack_period(&mut pack)?);
    if !can_hold(pack.left(), count) || count as usize > node_count {
        return Err(TOO_FEW);
    }
    let mut coder = Decoder::new(pack.rest())?;
    let mut gaps = Gaps::default();
    let mut costs = Vec::with_capacity(count as usize);
    for _ in 0..count {
        let node = gaps.decode(&mut coder);
        let node = node.filter(|&node| (node as usize) < node_count);
        let node = node.ok_or(Flaw("a cost is of a node that does not exist"))?;
        let cost = counts.decode(&mut coder)?;
        if cost.is_zero() {
            return Err(Flaw("a cost is zero"));
        }
        costs.push((node, cost));
    }
    coder.finish()?;
    check_sum(costs.iter().map(|&(_, cost)| cost))?;
    Ok(costs)
}

pub(super) const TOO_FEW: Flaw = Flaw("there are fewer costs than announced");

/// Checks that all costs together stay below 2^64, so that no sum of some of them can leave it.
pub(super) fn check_sum(mut costs: impl Iterator<Item = Cost>) -> Result<(), Flaw> {
    costs
        .try_fold(Cost::ZERO, Cost::checked_add)
        .map(|_| ())
        .ok_or(Flaw("the counts add up to more than 2^64 - 1"))
}

/// Ascending numbers: how many lie between each and the one before.
#[derive(Default)]
struct Gaps {
    /// By whether the last gap was 0, 1, or larger.
    models: [Number; 3],
    last: u64,
    next: u32,
}

impl Gaps {
    fn encode(&mut self, coder: &mut Encoder, number: u32) {
        let gap = u64::from(number - self.next);
        coder.number(&mut self.models[self.last.min(2) as usize], gap);
        self.last = gap;
        self.next = number + 1;
    }

    fn decode(&mut self, coder: &mut Decoder<'_>) -> Option<u32> {
        let gap = coder.number(&mut self.models[self.last.min(2) as usize]);
        self.last = gap;
        let number = self.next.checked_add(u32::try_from(gap).ok()?)?;
        self.next = number.checked_add(1)?;
        Some(number)
    }
}

/// The value of every sample, where it is always the same.
pub(super) fn fixed_period(costs: impl Iterator<Item = Cost> + Clone) -> Option<u64> {
    let sampled = costs.clone().find(|cost| cost.samples > 0);
    let period = sampled.map_or(0, |cost| cost.value / cost.samples);
    let is_fixed = |cost: Cost| cost.samples.checked_mul(period) == Some(cost.value);
    costs.into_iter().all(is_fixed).then_some(period)
}

const FIXED_PERIOD: u32 = 0;
const OWN_VALUES: u32 = 1;

pub(super) fn pack_period(pack: &mut Packer, period: Option<u64>) {
    match period {
        Some(period) => {
            pack.number(FIXED_PERIOD);
            pack.number(period);
        }
        None => pack.number(OWN_VALUES),
    }
}

pub(super) fn unpack_period(pack: &mut Unpacker<'_>) -> Result<Option<u64>, Flaw> {
    match pack.number32()? {
        FIXED_PERIOD => pack.number().map(Some),
        OWN_VALUES => Ok(None),
        _ => Err(Flaw("the form of the values is unknown")),
    }
}

/// Costs one after another: samples, and values where no period gives them.
pub(super) struct Counts {
    period: Option<u64>,
    /// By the samples before, at most 3.
    samples: [Number; 4],
    values: Number,
    last: u64,
}

impl Counts {
    pub(super) fn new(period: Option<u64>) -> Self {
        Counts {
            period,
            samples: Default::default(),
            values: Number::default(),
            last: 0,
        }
    }

    pub(super) fn encode(&mut self, coder: &mut Encoder, cost: Cost) {
        coder.number(&mut self.samples[self.last.min(3) as usize], cost.samples);
        self.last = cost.samples;
        if self.period.is_none() {
            coder.number(&mut self.values, cost.value);
        }
    }

    pub(super) fn decode(&mut self, coder: &mut Decoder<'_>) -> Result<Cost, Flaw> {
        let samples = coder.number(&mut self.samples[self.last.min(3) as usize]);
        self.last = samples;
        let value = match self.period {
            Some(period) => samples
                .checked_mul(period)
                .ok_or(Flaw("a value leaves 64 bits"))?,
            None => coder.number(&mut self.values),
        };
        Ok(Cost { samples, value })
    }
}
