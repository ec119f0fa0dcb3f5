//! Records other than samples, and the header of the file.

use super::check::Mode;
use super::off_cpu::SwitchRecord;
use super::processes::{KERNEL, Mapped, Processes};
use super::stacks::Pending;
use super::walk::{AUXTRACE_INFO, HEADER_BUILD_ID, LOST_SAMPLES, Record};
use crate::error::FormatError;
use crate::recording::GUEST_MODULES;
use linux_perf_data::linux_perf_event_reader::{
    ContextSwitchRecord, CpuMode, EventRecord, Mmap2FileId, RawData, RawEventRecord, RecordType,
    TaskWasPreempted, constants,
};
use linux_perf_data::{DsoKey, Feature, PerfFile, PerfFileReader};
use std::borrow::Cow;
use std::path::Path;
use sto_model::SymbolOptions;
use sto_model::files::{ByteWindow, ReadAt};
use sto_model::limits::{MAX_NAME, MAX_PROCESS_NAME, truncate_text};
use sto_model::{GnuBuildId, Origin};

/// `PROT_EXEC`.
const EXECUTABLE: u32 = 4;
/// Offset of the build id's length in a `PERF_RECORD_MMAP2`, and its maximum.
const BUILD_ID_LENGTH_AT: usize = 32;
const BUILD_ID_MAX: u8 = 20;

/// The state built from records other than samples.
#[derive(Default)]
pub(super) struct Records {
    pub(super) processes: Processes,
    lost_events: u64,
    lost_samples: u64,
    throttled: u64,
    /// Whether the file has traces by the processor, such as Intel PT's.
    has_processor_trace: bool,
    /// Times at which threads started and stopped to run.
    pub(super) switches: Vec<SwitchRecord>,
}

impl Records {
    /// The state before the first record.
    pub(super) fn new(header: &PerfFile, options: &SymbolOptions) -> Records {
        let mut records = Records {
            processes: Processes::new(options),
            ..Records::default()
        };
        records.add_build_ids(header);
        records
    }

    /// Adds the build ids that the header of a file lists.
    pub(super) fn add_build_ids(&mut self, header: &PerfFile) {
        for (key, info) in header.build_ids().unwrap_or_default() {
            let path = match key {
                DsoKey::Kernel => Cow::Borrowed(KERNEL),
                _ => String::from_utf8_lossy(&info.path),
            };
            if let Some(build_id) = GnuBuildId::from_bytes(&info.build_id) {
                self.processes.add_build_id(&path, build_id);
            }
        }
    }

    /// Makes a pending sample with the thread and mappings at its time.
    pub(super) fn sample(&mut self, record: Record) -> Pending {
        let (pid, tid) = record.thread;
        let guest = match CpuMode::from_misc(record.misc) {
            CpuMode::GuestKernel => Some(self.processes.guest_location(GUEST_MODULES[0])),
            CpuMode::GuestUser => Some(self.processes.guest_location(GUEST_MODULES[1])),
            _ => None,
        };
        Pending {
            thread: self.processes.thread(pid, tid),
            space: self.processes.address_space(pid),
            guest,
            record,
        }
    }

    /// Number of lost events. perf counts them as they happen and, since 6.1, again at the end.
    pub(super) fn lost(&self) -> u64 {
        self.lost_events.max(self.lost_samples)
    }

    pub(super) fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        if self.throttled > 0 {
            let times = match self.throttled {
                1 => "once".to_owned(),
                more => format!("{more} times"),
            };
            warnings.push(format!(
                "the kernel throttled sampling {times}, so busy moments are undercounted; record \
                 at a lower frequency"
            ));
        }
        if self.has_processor_trace {
            let warning = "the processor's trace in it (Intel PT, ARM CoreSight or SPE) is not \
                           read; `perf inject --itrace=i100usg` turns it into samples";
            warnings.push(warning.to_owned());
        }
        warnings
    }
}

/// Parses the header of a checked file.
pub(super) fn header(path: &Path, file: &dyn ReadAt, mode: Mode) -> Result<PerfFile, FormatError> {
    let window = ByteWindow::new(file);
    let opened = match mode {
        Mode::File => PerfFileReader::parse_file(window),
        Mode::Pipe => PerfFileReader::parse_pipe(window),
    };
    opened.map(|opened| opened.perf_file).map_err(|error| {
        let problem =
            format!("{error}; the file is damaged or of an unknown kind, record it again");
        FormatError::malformed(path, "the header", problem)
    })
}

/// Returns the machine and command of the recording, from the feature sections of the header.
pub(super) fn origin(file: &PerfFile) -> Origin {
    let text = |value: Result<Option<&str>, linux_perf_data::Error>| {
        let value: Option<&str> = value.unwrap_or(None);
        value.filter(|text| !text.is_empty()).map(|text| {
            let mut text = text.to_owned();
            truncate_text(&mut text, MAX_NAME);
            text
        })
    };
    Origin {
        host: text(file.hostname()),
        kernel: text(file.os_release()),
        arch: text(file.arch()),
        cpu: text(file.cpu_desc()),
        command: command(file),
        ..Origin::default()
    }
}

fn command(file: &PerfFile) -> Option<String> {
    let mut command = arguments(file)?.join(" ");
    truncate_text(&mut command, MAX_NAME);
    Some(command)
}

/// The words of the command line, or `None` if its section is too short for its number of strings.
pub(super) fn arguments(file: &PerfFile) -> Option<Vec<String>> {
    let section = file.feature_section_data(Feature::CMDLINE)?;
    let count = u32::from_le_bytes(section.first_chunk::<4>().copied()?);
    // Each string takes at least the four bytes of its length.
    if count as usize > section.len() / 4 {
        return None;
    }
    let words = file.cmdline().ok()??;
    Some(words.into_iter().map(str::to_owned).collect())
}

/// Applies a record to the state. Returns `None` if the record is too short.
pub(super) fn take_event(record: &RawEventRecord<'_>, records: &mut Records) -> Option<()> {
    let Records {
        processes,
        lost_events,
        lost_samples,
        throttled,
        has_processor_trace,
        switches,
    } = records;
    match record.record_type {
        LOST_SAMPLES => {
            let count = record.data.as_slice().first_chunk::<8>().copied()?;
            *lost_samples = lost_samples.saturating_add(u64::from_le_bytes(count));
            return Some(());
        }
        AUXTRACE_INFO => {
            *has_processor_trace = true;
            return Some(());
        }
        HEADER_BUILD_ID => {
            take_build_id(&record.data.as_slice(), processes);
            return Some(());
        }
        _ => {}
    }
    // linux-perf-event-reader asserts this length.
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
        EventRecord::ContextSwitch(switch) => {
            let common = record.common_data().ok();
            let thread = common.and_then(|common| Some((common.tid? as u32, common.timestamp?)));
            let Some((tid, time)) = thread else {
                return Some(());
            };
            switches.push(SwitchRecord {
                tid,
                time,
                is_in: matches!(switch, ContextSwitchRecord::In { .. }),
                is_preempted: matches!(
                    switch,
                    ContextSwitchRecord::Out {
                        preempted: TaskWasPreempted::Yes,
                        ..
                    }
                ),
            });
        }
        EventRecord::Fork(fork) => {
            let pid = fork.pid as u32;
            processes.fork(pid, fork.tid as u32, fork.ppid as u32, fork.ptid as u32);
            // perf writes such a record for a process that already runs: its program and mappings
            // follow.
            if record.misc & constants::PERF_RECORD_MISC_FORK_EXEC != 0 && fork.pid != fork.ppid {
                processes.exec(pid);
            } else {
                processes.add_child(pid, fork.ppid as u32);
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
        // Guests and hypervisors have their own address spaces.
        _ => {}
    }
}

/// Reads a `PERF_RECORD_HEADER_BUILD_ID` of pipe mode: pid, 20 bytes of build id followed by its
/// length, padding to 24 bytes, path.
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
    truncate_text(&mut text, limit);
    text
}
