//! Calls over time.
//!
//! Most records follow each other closely, and successive calls are near each other in the tree. So times are
//! stored as the gap since the previous record, and stacks as the difference to the previous one.

mod arguments;
pub(super) mod columns;
mod moments;
mod records;
#[cfg(test)]
mod tests;
mod threads;

use super::DecodeError;
use super::bytes::{Packer, Unpacker};
pub(crate) use arguments::{claimed_by_arguments, pack_arguments, unpack_arguments};
use moments::{pack_outliers, pack_waits, unpack_outliers, unpack_waits};
use records::{pack_records, unpack_records};
use sto_model::limits::{MAX_CALL_RECORDS, MAX_CALL_THREADS};
use sto_model::trace::{
    CallRecord, CallThresholds, CalledStack, Outlier, RunCalls, ThreadActivity, ThreadCalls,
    Threshold, Wait,
};
use sto_model::tree::NodeIx;
use sto_model::units::Nanoseconds;
use threads::{pack_threads, unpack_threads};

/// Packs the calls of a run, which [`check`](crate::read::call_rules::check) has accepted, without the calls by
/// argument.
pub(crate) fn pack_calls(run: &RunCalls<NodeIx>) -> Result<Vec<u8>, DecodeError> {
    let mut pack = Packer::default();
    let CallThresholds {
        call_duration,
        call_gap,
        total_time,
    } = run.thresholds;
    for threshold in [call_duration, call_gap, total_time] {
        pack_threshold(&mut pack, threshold);
    }
    let stacks = || run.threads.iter().flat_map(ThreadCalls::expression_stacks);
    let meanwhile = run.outliers.iter().map(|outlier| outlier.activities.len());
    for count in [
        run.threads.len(),
        run.threads.iter().map(|thread| thread.records.len()).sum(),
        stacks().count(),
        run.outliers.len(),
        meanwhile.sum(),
        run.waits.len(),
    ] {
        pack.number(count as u64);
    }
    pack_threads(&mut pack, run);
    pack_records(&mut pack, run);
    pack_outliers(&mut pack, run);
    pack_waits(&mut pack, run);
    pack.finish()
}

/// Unpacks the calls of a run without the calls by argument. Does not check their rules.
pub(crate) fn unpack_calls(pack: &[u8]) -> Result<RunCalls<NodeIx>, DecodeError> {
    let mut pack = Unpacker::new(pack);
    let head = Head::unpack(&mut pack)?;
    let mut threads = unpack_threads(&mut pack, head.threads)?;
    unpack_records(&mut pack, (head.records, head.stacks), &mut threads)?;
    let threads: Vec<ThreadCalls<NodeIx>> = threads.into_iter().map(|(thread, _)| thread).collect();
    let outliers = unpack_outliers(&mut pack, (head.outliers, head.meanwhile), &threads)?;
    let waits = unpack_waits(&mut pack, head.waits, &threads)?;
    pack.finish()?;
    Ok(RunCalls {
        thresholds: head.thresholds,
        threads,
        outliers,
        waits,
        arguments: Vec::new(),
    })
}

/// Bytes of memory for the unpacked calls of a run.
pub(crate) fn claimed_by_calls(pack: &[u8]) -> Result<u64, DecodeError> {
    let head = Head::unpack(&mut Unpacker::new(pack))?;
    let each = [
        (head.threads, size_of::<ThreadCalls<NodeIx>>()),
        (head.records, size_of::<CallRecord<NodeIx>>()),
        (head.stacks, size_of::<CalledStack<NodeIx>>()),
        (head.outliers, size_of::<Outlier<NodeIx>>()),
        (head.meanwhile, size_of::<ThreadActivity<NodeIx>>()),
        (head.waits, size_of::<Wait<NodeIx>>()),
    ];
    Ok(each
        .iter()
        .map(|&(count, size)| count as u64 * size as u64)
        .sum())
}

/// The part of the pack before the columns.
struct Head {
    thresholds: CallThresholds,
    threads: usize,
    records: usize,
    stacks: usize,
    outliers: usize,
    meanwhile: usize,
    waits: usize,
}

impl Head {
    fn unpack(pack: &mut Unpacker<'_>) -> Result<Head, DecodeError> {
        let thresholds = CallThresholds {
            call_duration: unpack_threshold(pack)?,
            call_gap: unpack_threshold(pack)?,
            total_time: unpack_threshold(pack)?,
        };
        let mut count = |most: usize| {
            let count = usize::try_from(pack.number()?).ok();
            count.filter(|&count| count <= most).ok_or(DecodeError(
                "there are more threads, or records of calls, than a run may have",
            ))
        };
        Ok(Head {
            thresholds,
            threads: count(MAX_CALL_THREADS)?,
            records: count(MAX_CALL_RECORDS)?,
            stacks: count(MAX_CALL_RECORDS)?,
            outliers: count(MAX_CALL_RECORDS)?,
            meanwhile: count(MAX_CALL_RECORDS)?,
            waits: count(MAX_CALL_RECORDS)?,
        })
    }
}

fn pack_threshold(pack: &mut Packer, threshold: Threshold) {
    match threshold {
        Threshold::Share(share) => {
            pack.number(0u32);
            pack.raw(&share.to_le_bytes());
        }
        Threshold::Time(time) => {
            pack.number(1u32);
            pack.number(time.0);
        }
    }
}

fn unpack_threshold(pack: &mut Unpacker<'_>) -> Result<Threshold, DecodeError> {
    match pack.number()? {
        0 => {
            let bytes = pack.raw(8)?.try_into().unwrap_or_default();
            Ok(Threshold::Share(f64::from_le_bytes(bytes)))
        }
        1 => Ok(Threshold::Time(Nanoseconds(pack.number()?))),
        _ => Err(DecodeError("the form of a threshold is unknown")),
    }
}
