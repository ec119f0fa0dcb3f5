//! The run time of the recorded program.

use super::walk::Walk;
use super::{check, records};
use crate::source::OnRead;
use linux_perf_data::linux_perf_event_reader::{EventRecord, RecordType};
use std::path::Path;
use sto_model::files::{Links, RegularFile};
use sto_model::units::Nanoseconds;

/// The time from the start of the program that `perf record -- COMMAND` ran to the end of its
/// process: from the first `exec` in the recording to the `PERF_RECORD_EXIT` of the thread that
/// called it.
///
/// Returns `None` if the recording has no such pair or cannot be read.
pub fn run_time(path: &Path) -> Option<Nanoseconds> {
    let file = RegularFile::open(path, Links::Follow).ok()?;
    let (mode, records) = check::check(path, &file).ok()?;
    let header = records::header(path, &file, mode).ok()?;
    let nobody = OnRead::default();
    let mut walk = Walk::new(path, &file, records, &header, &nobody);
    let mut began: Option<(i32, u64)> = None;
    while let Some(record) = walk.next().ok()? {
        if !matches!(record.kind, RecordType::COMM | RecordType::EXIT) {
            continue;
        }
        // Records about processes that ran before have no time.
        let Some(time) = record.time else {
            continue;
        };
        match (walk.raw(&record).parse().ok()?, began) {
            (EventRecord::Comm(comm), None) if comm.is_execve => began = Some((comm.tid, time)),
            (EventRecord::Exit(exit), Some((tid, start))) if exit.tid == tid => {
                return time.checked_sub(start).map(Nanoseconds);
            }
            _ => {}
        }
    }
    None
}
