//! A profile's data besides stacks and costs as bytes, for callers that keep it in tables of their own.

use crate::codec::{
    DecodeError, pack_lines, pack_parts, pack_slices, unpack_lines, unpack_parts, unpack_slices,
    unpack_sources,
};
use crate::error::{InternalError, Result, packing_error, spool_error};
use crate::numbers::FrameNo;
use crate::read::counts::{CallPacks, SideData, WITHOUT_CALLS, renumbered_lines};
use crate::read::{call_rules, kept, metrics};
use std::sync::Arc;
use sto_model::FrameIx;
use sto_model::trace::PackedCalls;
use sto_model::tree::ProfileData;

/// An error of packing or unpacking such data.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct RestError(String);

impl From<InternalError> for RestError {
    fn from(error: InternalError) -> Self {
        RestError(match error {
            InternalError::Damaged { location, what } => format!("{location}: {what}"),
            InternalError::Refused(why) => why.to_owned(),
            InternalError::TooMuch(much) => much.to_string(),
            InternalError::Redb(error) => error.to_string(),
            other => format!("{other:?}"),
        })
    }
}

/// Packs the data of a profile besides frames, tree and costs, in the bytes of a store's columns: line costs by
/// sample type, costs by slice of time, metrics over time, calls over time, calls by argument, digests of source
/// files, and all calls. SPEC.md, *Packs*, specifies each; missing data is empty. The number of parts comes
/// first, and before each part its length, both as varints.
///
/// # Errors
/// Returns an error if the data exceeds the format's limits, or its temporary file cannot be read.
pub fn pack_rest(interned: &ProfileData) -> Result<Vec<u8>, RestError> {
    let numbered = |lines| renumbered_lines(lines, |frame: FrameIx| FrameNo(frame.0));
    let lines = interned.line_costs.iter();
    let lines = lines.map(|lines| pack_lines(&numbered(lines)).map_err(packing_error));
    let mut parts = lines.collect::<Result<Vec<_>>>()?;
    let slices = interned.slices.as_ref();
    let slices = slices.map(|slices| pack_slices(slices, &interned.costs).map_err(packing_error));
    let SideData {
        metrics,
        calls,
        kept,
        sources,
        addresses: _,
    } = SideData::pack(interned)?;
    let (calls, arguments) = match calls {
        Some(CallPacks { calls, arguments }) => (Some(calls), arguments),
        None => (None, None),
    };
    let rest = [slices.transpose()?, metrics, calls, arguments, sources];
    parts.extend(rest.map(Option::unwrap_or_default));
    for part in 0..kept.as_ref().map_or(0, |kept| kept.pack_count()) {
        let pack = kept.as_ref().map(|kept| kept.pack(part)).transpose();
        parts.extend(pack.map_err(spool_error)?);
    }
    Ok(pack_parts(&parts).map_err(packing_error)?)
}

/// Unpacks the output of [`pack_rest`] into a profile that has frames, tree and costs.
///
/// # Errors
/// Returns an error if the bytes do not match the profile, or the data would take more memory than
/// [allowed](sto_model::memory).
pub fn unpack_rest(interned: &mut ProfileData, bytes: &[u8]) -> Result<(), RestError> {
    let damaged = |part: &'static str| move |error: DecodeError| error.at(part);
    let parts = unpack_parts(bytes).map_err(damaged("its parts"))?;
    let types = interned.costs.len();
    let Some((lines, [slices, of_time, calls, arguments, sources, kept @ ..])) =
        parts.split_at_checked(types)
    else {
        return Err(InternalError::damaged("its parts", "some are missing").into());
    };
    let end = FrameNo(interned.frames.len() as u32);
    let lines = lines.iter().map(|pack| {
        let lines = unpack_lines(pack, end).map_err(damaged("lines"))?;
        Ok(renumbered_lines(&lines, |frame: FrameNo| FrameIx(frame.0)))
    });
    interned.line_costs = lines.collect::<Result<_>>()?;
    if !slices.is_empty() {
        interned.slices = Some(unpack_slices(slices, &interned.costs).map_err(damaged("slices"))?);
    }
    if !of_time.is_empty() {
        interned.metrics = Some(metrics::unpacked(of_time, "metrics")?);
    }
    if !calls.is_empty() {
        let packs = CallPacks {
            calls: calls.to_vec(),
            arguments: (!arguments.is_empty()).then(|| arguments.to_vec()),
        };
        let calls = call_rules::unpacked(&packs, ["calls", "arguments"], interned.tree.len())?;
        interned.calls = Some(calls);
    } else if !arguments.is_empty() {
        return Err(damaged("arguments")(WITHOUT_CALLS).into());
    }
    if !sources.is_empty() {
        interned.source_digests = unpack_sources(sources).map_err(damaged("sources"))?;
    }
    if !kept.is_empty() {
        let missing = || damaged("kept calls")(DecodeError("a piece of them is missing"));
        let read = |part| kept.get(part as usize).map(|pack| pack.to_vec());
        let parts = kept::check(
            interned,
            |part| read(part).ok_or_else(missing),
            |_| "kept calls",
        )?;
        if parts as usize != kept.len() {
            return Err(damaged("kept calls")(DecodeError("there are more than announced")).into());
        }
        let mut packed = PackedCalls::new(None);
        for pack in kept {
            packed.push(pack).map_err(spool_error)?;
        }
        interned.kept_calls = Some(Arc::new(packed));
    }
    Ok(())
}
