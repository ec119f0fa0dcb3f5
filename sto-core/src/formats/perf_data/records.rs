//! From records to processes and batches of samples.

use super::check::Mode;
use super::events::Events;
use super::processes::{KERNEL, Mapped, Processes};
use super::stacks::{Batch, Taken};
use crate::binary::SymbolOptions;
use crate::files::{ReadAt, Window};
use crate::formats::FormatError;
use crate::formats::source::{OnRead, Reporting};
use crate::limits::{MAX_NAME, MAX_PROCESS_NAME, cut};
use crate::model::GnuBuildId;
use crate::recording::{GUEST, SampleTypeIx};
use linux_perf_data::linux_perf_event_reader::{
    CpuMode, EventRecord, Mmap2FileId, RawData, RawEventRecord, RecordType, constants,
};
use linux_perf_data::{
    Error, PerfFile, PerfFileReader, PerfFileRecord, PerfRecordIter, UserRecordType,
};
use std::borrow::Cow;
use std::path::Path;

/// `PERF_RECORD_LOST_SAMPLES`.
const LOST_SAMPLES: RecordType = RecordType(13);
/// `PROT_EXEC`.
const EXECUTABLE: u32 = 4;
/// Where the length of the build id stands in a `PERF_RECORD_MMAP2`, and its greatest value.
const BUILD_ID_LENGTH_AT: usize = 32;
const BUILD_ID_MAX: u8 = 20;

/// What records say apart from samples.
#[derive(Default)]
pub(super) struct Records {
    pub(super) processes: Processes,
    lost_events: u64,
    lost_samples: u64,
    throttled: u64,
}

impl Records {
    pub(super) fn new(options: &SymbolOptions) -> Records {
        Records {
            processes: Processes::new(options),
            ..Records::default()
        }
    }

    /// Dropped events: perf counts them as they happen and, since 6.1, again at the end.
    pub(super) fn lost(&self) -> u64 {
        self.lost_events.max(self.lost_samples)
    }

    pub(super) fn warnings(&self) -> Vec<String> {
        if self.throttled == 0 {
            return Vec::new();
        }
        vec![format!(
            "the kernel throttled sampling {} times, so busy moments are undercounted; record at a \
             lower frequency",
            self.throttled
        )]
    }
}

/// An open perf.data file.
pub(super) struct Reader<'a> {
    path: &'a Path,
    pub(super) file: PerfFile,
    records: PerfRecordIter<Reporting<'a, Window<'a>>>,
    number: u64,
}

impl<'a> Reader<'a> {
    pub(super) fn open(
        path: &'a Path,
        file: &'a dyn ReadAt,
        mode: Mode,
        on_read: &'a OnRead,
    ) -> Result<Self, FormatError> {
        let window = Reporting::new(Window::new(file), on_read);
        let opened = match mode {
            Mode::File => PerfFileReader::parse_file(window),
            Mode::Pipe => PerfFileReader::parse_pipe(window),
        };
        let PerfFileReader {
            perf_file,
            record_iter,
        } = opened.map_err(|error| malformed(path, "the header".into(), &error))?;
        Ok(Reader {
            path,
            file: perf_file,
            records: record_iter,
            number: 0,
        })
    }

    /// Takes the next record: a sample goes into the batch, anything else into `records`; false at
    /// the end.
    pub(super) fn next(
        &mut self,
        events: &Events,
        records: &mut Records,
        batch: &mut Batch,
    ) -> Result<bool, FormatError> {
        if self.number == 0 {
            self.add_build_ids(&mut records.processes);
        }
        let place = |number: u64| format!("record {number}");
        let record = self
            .records
            .next_record(&mut self.file)
            .map_err(|error| malformed(self.path, place(self.number), &error))?;
        self.number += 1;
        let taken = match record {
            None => return Ok(false),
            Some(PerfFileRecord::EventRecord { attr_index, record }) => {
                if record.record_type == RecordType::SAMPLE {
                    take_sample(events, attr_index, &record, records, batch)
                } else {
                    take_event(&record, records)
                }
            }
            Some(PerfFileRecord::UserRecord(record)) => {
                if record.record_type == UserRecordType::PERF_HEADER_BUILD_ID {
                    take_build_id(&record.data.as_slice(), &mut records.processes);
                }
                Some(())
            }
        };
        match taken {
            Some(()) => Ok(true),
            None => Err(FormatError::malformed(
                self.path,
                place(self.number),
                "it is not laid out as its event says; the file is damaged, or its perf is newer than this sto. \
                 Record it again, or run `perf script` and ingest its text",
            )),
        }
    }

    /// The next record as it is, `Some(None)` at the end.
    pub(super) fn raw(&mut self) -> Option<Option<PerfFileRecord<'_>>> {
        self.records.next_record(&mut self.file).ok()
    }

    fn add_build_ids(&self, processes: &mut Processes) {
        let build_ids = self.file.build_ids().unwrap_or_default();
        for (key, info) in build_ids {
            let path = if key == linux_perf_data::DsoKey::Kernel {
                Cow::Borrowed(KERNEL)
            } else {
                String::from_utf8_lossy(&info.path)
            };
            if let Some(build_id) = GnuBuildId::from_bytes(&info.build_id) {
                processes.add_build_id(&path, build_id);
            }
        }
    }
}

fn malformed(path: &Path, place: String, error: &Error) -> FormatError {
    let problem = format!("{error}; the file is damaged or of an unknown kind, record it again");
    FormatError::malformed(path, place, problem)
}

fn take_sample(
    events: &Events,
    attr_index: usize,
    record: &RawEventRecord<'_>,
    records: &mut Records,
    batch: &mut Batch,
) -> Option<()> {
    let body = record.data.as_slice();
    let sample = events.layouts.get(attr_index)?.decode(&body)?;
    let taken = Taken {
        thread: records.processes.thread(sample.pid, sample.tid),
        sample_type: SampleTypeIx(attr_index as u32),
        time: sample.time,
        period: sample.period,
    };
    let guest = match CpuMode::from_misc(record.misc) {
        CpuMode::GuestKernel => Some(records.processes.guest(GUEST[0])),
        CpuMode::GuestUser => Some(records.processes.guest(GUEST[1])),
        _ => None,
    };
    batch.push(taken, &sample, records.processes.space(sample.pid), guest);
    Some(())
}

/// `None` if the record is too short.
fn take_event(record: &RawEventRecord<'_>, records: &mut Records) -> Option<()> {
    let Records {
        processes,
        lost_events,
        lost_samples,
        throttled,
    } = records;
    if record.record_type == LOST_SAMPLES {
        let count = record.data.as_slice().first_chunk::<8>().copied()?;
        *lost_samples = lost_samples.saturating_add(u64::from_le_bytes(count));
        return Some(());
    }
    // The crate asserts this length.
    if record.record_type == RecordType::MMAP2
        && record.misc & constants::PERF_RECORD_MISC_MMAP_BUILD_ID != 0
        && record
            .data
            .as_slice()
            .get(BUILD_ID_LENGTH_AT)
            .is_none_or(|&length| length > BUILD_ID_MAX)
    {
        return None;
    }
    match record.parse().ok()? {
        EventRecord::Comm(comm) => {
            let (pid, tid) = (comm.pid as u32, comm.tid as u32);
            processes.comm(pid, tid, &text(comm.name, MAX_PROCESS_NAME), comm.is_execve);
        }
        EventRecord::Fork(fork) => {
            let pid = fork.pid as u32;
            processes.fork(pid, fork.tid as u32, fork.ppid as u32, fork.ptid as u32);
            // perf writes such a record for a process that ran before: its program and mappings follow.
            if record.misc & constants::PERF_RECORD_MISC_FORK_EXEC != 0 && fork.pid != fork.ppid {
                processes.exec(pid);
            }
        }
        EventRecord::Mmap(mmap) => {
            let mapped = Mapped {
                pid: mmap.pid as u32,
                start: mmap.address,
                length: mmap.length,
                file_offset: mmap.page_offset,
                path: &text(mmap.path, MAX_NAME),
                executable: mmap.is_executable,
                inode: None,
                build_id: None,
            };
            map(processes, mmap.cpu_mode, mapped);
        }
        EventRecord::Mmap2(mmap) => {
            let (inode, build_id) = match &mmap.file_id {
                Mmap2FileId::InodeAndVersion(file) => (Some(file.inode), None),
                Mmap2FileId::BuildId(bytes) => (None, GnuBuildId::from_bytes(bytes)),
            };
            let mapped = Mapped {
                pid: mmap.pid as u32,
                start: mmap.address,
                length: mmap.length,
                file_offset: mmap.page_offset,
                path: &text(mmap.path, MAX_NAME),
                executable: mmap.protection & EXECUTABLE != 0,
                inode,
                build_id,
            };
            map(processes, mmap.cpu_mode, mapped);
        }
        EventRecord::Lost(lost) => *lost_events = lost_events.saturating_add(lost.count),
        EventRecord::Throttle(_) => *throttled += 1,
        _ => {}
    }
    Some(())
}

fn map(processes: &mut Processes, mode: CpuMode, mapped: Mapped<'_>) {
    match mode {
        CpuMode::Kernel => processes.map_kernel(mapped),
        CpuMode::User | CpuMode::Unknown => processes.map_user(mapped),
        // Guests and hypervisors have address spaces of their own.
        _ => {}
    }
}

/// `PERF_RECORD_HEADER_BUILD_ID`, as pipe mode has it: pid, 20 bytes of build id with their number
/// behind them, padding to 24, path.
fn take_build_id(body: &[u8], processes: &mut Processes) {
    let Some((fixed, path)) = body.split_at_checked(4 + 24) else {
        return;
    };
    let path: &[u8] = path.split(|&byte| byte == 0).next().unwrap_or_default();
    let length = match fixed[24] {
        0 => BUILD_ID_MAX,
        length => length.min(BUILD_ID_MAX),
    };
    let path = String::from_utf8_lossy(path);
    let path = if path.starts_with(KERNEL) {
        KERNEL
    } else {
        &path
    };
    if let Some(build_id) = GnuBuildId::from_bytes(&fixed[4..4 + usize::from(length)]) {
        processes.add_build_id(path, build_id);
    }
}

fn text(data: RawData<'_>, limit: usize) -> String {
    let mut text = String::from_utf8_lossy(&data.as_slice()).into_owned();
    cut(&mut text, limit);
    text
}
