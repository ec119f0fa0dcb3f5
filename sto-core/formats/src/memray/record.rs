//! Shared code of all kinds of records.

use super::heap::Site;
use crate::recording::{Built, RecordingBuilder, SampleTypeIx, ThreadIx};
use crate::wire::records::RecordFailure;
use sto_model::bytes::Cursor;
use sto_model::units::Cost;

/// The result of reading a record.
pub(super) enum Read {
    Record,
    EndMark,
    /// Only zeros are left, which were never overwritten.
    Zeros,
}

/// Adds the costs of a stack for the first sample types.
pub(super) fn add(
    builder: &mut RecordingBuilder,
    (thread, stack): Site,
    costs: impl IntoIterator<Item = Cost>,
) -> Built<()> {
    let stack = match stack {
        Some(stack) => stack,
        None => builder.stack(&[])?,
    };
    for (cost, sample_type) in costs.into_iter().zip(0..) {
        let thread = ThreadIx(thread as u32);
        builder.add_cost(thread, SampleTypeIx(sample_type), stack, cost)?;
    }
    Ok(())
}

/// Reads records about native code, which all files may have: frames and memory mappings.
pub(super) fn native(kind: u8, bytes: &mut Cursor<'_>) -> Result<Read, RecordFailure> {
    match kind {
        5 => {
            let _pointer_and_caller = (bytes.signed_varint()?, bytes.signed_varint()?);
        }
        6 => {}
        7 => {
            let _module = (bytes.until_zero()?, bytes.varint()?, bytes.u64()?);
        }
        8 => {
            let _segment = (bytes.u64()?, bytes.varint()?);
        }
        other => {
            return Err(format!(
                "a record of kind {other}, which memray does not write; was the file damaged?"
            )
            .into());
        }
    }
    Ok(Read::Record)
}
