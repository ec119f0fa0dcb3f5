//! Self costs: nodes, sample counts and values.

use super::DecodeError;
use super::bytes::{MAX_VARINT_64, Packer, Unpacker};
use super::pairs::{PairPacker, Pairs};
use crate::numbers::NodeNo;
use sto_model::units::Cost;

/// Packs costs of distinct nodes in ascending order, without zero costs.
pub(crate) fn pack_costs(costs: &[(NodeNo, Cost)]) -> Result<Vec<u8>, DecodeError> {
    check_sum(costs.iter().map(|&(_, cost)| cost))?;
    let mut pairs = PairPacker::default();
    let mut values = ValuePacker::new(costs.iter().map(|&(_, cost)| cost));
    let mut next = 0;
    for &(node, cost) in costs {
        pairs.push([u64::from(node.0 - next), cost.samples]);
        values.push(cost);
        next = node.0 + 1;
    }
    let mut pack = Packer::default();
    pack.number(costs.len() as u64);
    pairs.finish(&mut pack);
    values.finish(&mut pack);
    pack.finish()
}

/// Unpacks costs of nodes below `nodes_end`.
pub(crate) fn unpack_costs(
    pack: &[u8],
    nodes_end: NodeNo,
) -> Result<Vec<(NodeNo, Cost)>, DecodeError> {
    let mut pack = Unpacker::new(pack);
    let count = pack.number32()? as usize;
    if count > nodes_end.get() {
        return Err(TOO_FEW);
    }
    let pairs = Pairs::unpack(&mut pack, count)?;
    let values = Values::unpack(&mut pack, count)?;
    pack.finish()?;
    if pairs.len() != count {
        return Err(TOO_FEW);
    }
    let (mut pairs, mut values) = (pairs.reader(), values.reader());
    let mut costs = Vec::with_capacity(count);
    let mut next = 0u64;
    for _ in 0..count {
        let [gap, samples] = pairs.next()?;
        let node = next.checked_add(gap);
        let node = node.filter(|&node| node < nodes_end.0.into());
        let node = node.ok_or(DecodeError("a cost is of a node that does not exist"))?;
        next = node + 1;
        let cost = values.cost(samples)?;
        if cost.is_zero() {
            return Err(DecodeError("a cost is zero"));
        }
        costs.push((NodeNo(node as u32), cost));
    }
    pairs.finish()?;
    values.finish()?;
    check_sum(costs.iter().map(|&(_, cost)| cost))?;
    Ok(costs)
}

pub(super) const TOO_FEW: DecodeError = DecodeError("there are fewer costs than announced");

/// Checks that the sum of all costs is below 2^64, so that no partial sum overflows.
pub(super) fn check_sum(mut costs: impl Iterator<Item = Cost>) -> Result<(), DecodeError> {
    costs
        .try_fold(Cost::ZERO, Cost::checked_add)
        .map(|_| ())
        .ok_or(DecodeError("the counts add up to more than 2^64 - 1"))
}

/// The value per sample, if it is always the same.
fn fixed_period(costs: impl Iterator<Item = Cost> + Clone) -> Option<u64> {
    let sampled = costs.clone().find(|cost| cost.samples > 0);
    let period = sampled.map_or(0, |cost| cost.value / cost.samples);
    let is_fixed = |cost: Cost| cost.samples.checked_mul(period) == Some(cost.value);
    costs.into_iter().all(is_fixed).then_some(period)
}

const FIXED_PERIOD: u32 = 0;
const OWN_VALUES: u32 = 1;

/// Values of costs under construction: a common value per sample, or a column of values.
pub(super) struct ValuePacker {
    period: Option<u64>,
    values: Packer,
}

impl ValuePacker {
    /// Prepares for these costs, which the caller then pushes one by one.
    pub(super) fn new(costs: impl Iterator<Item = Cost> + Clone) -> Self {
        ValuePacker {
            period: fixed_period(costs),
            values: Packer::default(),
        }
    }

    pub(super) fn push(&mut self, cost: Cost) {
        if self.period.is_none() {
            self.values.number(cost.value);
        }
    }

    pub(super) fn finish(self, pack: &mut Packer) {
        match self.period {
            Some(period) => {
                pack.number(FIXED_PERIOD);
                pack.number(period);
            }
            None => {
                pack.number(OWN_VALUES);
                pack.column(self.values);
            }
        }
    }
}

/// Values of costs.
pub(super) enum Values {
    Period(u64),
    Own(Vec<u8>),
}

impl Values {
    /// Reads at most `most` values.
    pub(super) fn unpack(pack: &mut Unpacker<'_>, most: usize) -> Result<Self, DecodeError> {
        match pack.number32()? {
            FIXED_PERIOD => pack.number().map(Values::Period),
            OWN_VALUES => pack.column_within(most * MAX_VARINT_64).map(Values::Own),
            _ => Err(DecodeError("the form of the values is unknown")),
        }
    }

    pub(super) fn reader(&self) -> ValueReader<'_> {
        match self {
            Values::Period(period) => ValueReader::Period(*period),
            Values::Own(column) => ValueReader::Own(Unpacker::new(column)),
        }
    }
}

/// A reader of values.
pub(super) enum ValueReader<'a> {
    Period(u64),
    Own(Unpacker<'a>),
}

impl ValueReader<'_> {
    /// Reads the value of a cost with this number of samples.
    pub(super) fn cost(&mut self, samples: u64) -> Result<Cost, DecodeError> {
        let value = match self {
            ValueReader::Period(period) => samples
                .checked_mul(*period)
                .ok_or(DecodeError("a value takes more than 64 bits"))?,
            ValueReader::Own(values) => values.number()?,
        };
        Ok(Cost { samples, value })
    }

    /// Checks that all values were read.
    pub(super) fn finish(self) -> Result<(), DecodeError> {
        match self {
            ValueReader::Period(_) => Ok(()),
            ValueReader::Own(values) => values.finish(),
        }
    }
}
