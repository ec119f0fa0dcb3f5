//! Profiles that are too poor to compare.

use super::IngestError;
use crate::model::Quality;
use std::path::Path;

/// Most samples of a hundred whose innermost frame may have no symbol.
const MAX_UNRESOLVED: u64 = 20;
/// Most samples of a hundred whose stack may be cut before its root.
const MAX_TRUNCATED: u64 = 20;
/// Most samples of a hundred that may have no more than one frame.
const MAX_WITHOUT_STACK: u64 = 20;
/// Most events of a hundred that may have been lost.
const MAX_LOST: u64 = 5;

/// Refuses what passes a threshold.
pub(super) fn check(path: &Path, quality: &Quality) -> Result<(), IngestError> {
    let samples = quality.samples;
    let events = samples.saturating_add(quality.lost);
    let problems: Vec<String> = [
        (
            (quality.unresolved, samples, MAX_UNRESOLVED),
            "of samples have no symbol",
            "give the folder of the files that ran: --symbol-dir DIR",
        ),
        (
            (quality.truncated, samples, MAX_TRUNCATED),
            "of stacks are cut before their root",
            "build with frame pointers, or record with a larger --call-graph dwarf,SIZE",
        ),
        (
            (quality.without_stack, samples, MAX_WITHOUT_STACK),
            "of samples have no stack",
            "record with call chains: perf record -g",
        ),
        (
            (quality.lost, events, MAX_LOST),
            "of events were lost",
            "record at a lower frequency (-F), or with larger buffers (-m)",
        ),
    ]
    .into_iter()
    .filter(|&((part, whole, limit), ..)| {
        u128::from(part) * 100 > u128::from(whole) * u128::from(limit)
    })
    .map(|((part, whole, limit), what, remedy)| {
        let percent = part as f64 * 100.0 / whole as f64;
        format!("{percent:.1} % {what}, at most {limit} % may: {remedy}")
    })
    .collect();
    if problems.is_empty() {
        return Ok(());
    }
    Err(IngestError::Poor {
        path: path.display().to_string(),
        problems: problems.join("; "),
    })
}
