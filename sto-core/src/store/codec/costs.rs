//! Self costs: which nodes, how many samples, what they stand for.

use super::Flaw;
use super::bytes::{Packer, Unpacker};
use crate::units::Cost;

/// Packs costs by node: nodes in ascending order, none twice, none with a zero cost.
pub(in crate::store) fn pack_costs(costs: &[(u32, Cost)]) -> Result<Vec<u8>, Flaw> {
    check_sum(costs.iter().map(|&(_, cost)| cost))?;
    let mut nodes = Packer::default();
    let mut next = 0;
    for &(node, _) in costs {
        nodes.number(node - next);
        next = node + 1;
    }
    let mut pack = Packer::default();
    pack.number(costs.len() as u64);
    pack.column(nodes);
    pack_counts(&mut pack, || costs.iter().map(|&(_, cost)| cost));
    pack.finish()
}

/// Unpacks costs of nodes below `node_count`.
pub(in crate::store) fn unpack_costs(
    pack: &[u8],
    node_count: usize,
) -> Result<Vec<(u32, Cost)>, Flaw> {
    let mut pack = Unpacker::new(pack);
    let count = pack.number32()? as usize;
    let nodes = pack.column()?;
    let mut nodes = Unpacker::new(&nodes);
    let counts = unpack_counts(&mut pack, count)?;
    pack.finish()?;
    let mut costs = Vec::with_capacity(count);
    let mut next = 0u32;
    for cost in counts {
        let node = next.checked_add(nodes.number32()?);
        let node = node.filter(|&node| (node as usize) < node_count);
        let node = node.ok_or(Flaw("a cost is of a node that does not exist"))?;
        if cost.is_zero() {
            return Err(Flaw("a cost is zero"));
        }
        costs.push((node, cost));
        next = node + 1;
    }
    nodes.finish()?;
    check_sum(costs.iter().map(|&(_, cost)| cost))?;
    Ok(costs)
}

/// Checks that all costs together stay below 2^64, so that no sum of some of them can leave it.
pub(super) fn check_sum(mut costs: impl Iterator<Item = Cost>) -> Result<(), Flaw> {
    costs
        .try_fold(Cost::ZERO, Cost::checked_add)
        .map(|_| ())
        .ok_or(Flaw("the counts add up to more than 2^64 - 1"))
}

/// Appends a column of samples, then the values: one number where every value is its samples times
/// that (a fixed period), else a column.
pub(super) fn pack_counts<I: Iterator<Item = Cost>>(pack: &mut Packer, costs: impl Fn() -> I) {
    let mut samples = Packer::default();
    for cost in costs() {
        samples.number(cost.samples);
    }
    pack.column(samples);
    let period = costs()
        .find(|cost| cost.samples > 0)
        .map_or(0, |cost| cost.value / cost.samples);
    if costs().all(|cost| cost.samples.checked_mul(period) == Some(cost.value)) {
        pack.number(FIXED_PERIOD);
        pack.number(period);
    } else {
        pack.number(OWN_VALUES);
        let mut values = Packer::default();
        for cost in costs() {
            values.number(cost.value);
        }
        pack.column(values);
    }
}

const FIXED_PERIOD: u32 = 0;
const OWN_VALUES: u32 = 1;

pub(super) fn unpack_counts(pack: &mut Unpacker<'_>, count: usize) -> Result<Vec<Cost>, Flaw> {
    let samples = pack.column()?;
    let mut samples = Unpacker::new(&samples);
    if count > samples.left() {
        return Err(Flaw("there are fewer counts than announced"));
    }
    let mut costs = Vec::with_capacity(count);
    match pack.number32()? {
        FIXED_PERIOD => {
            let period = pack.number()?;
            for _ in 0..count {
                let samples = samples.number()?;
                let value = samples
                    .checked_mul(period)
                    .ok_or(Flaw("a value leaves 64 bits"))?;
                costs.push(Cost { samples, value });
            }
        }
        OWN_VALUES => {
            let values = pack.column()?;
            let mut values = Unpacker::new(&values);
            for _ in 0..count {
                costs.push(Cost {
                    samples: samples.number()?,
                    value: values.number()?,
                });
            }
            values.finish()?;
        }
        _ => return Err(Flaw("the form of the values is unknown")),
    }
    samples.finish()?;
    Ok(costs)
}
