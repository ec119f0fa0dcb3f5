//! A walk over the records of a file, and their sorting by time.
//!
//! Samples are not decoded here; only their time, event and thread are read.

use super::check::{CheckedReader, HEADER_SIZE, Header};
use super::expansion::Expansion;
use crate::error::FormatError;
use crate::source::OnRead;
use hashbrown::HashMap;
use linux_perf_data::linux_perf_event_reader::{
    Endianness, RawData, RawEventRecord, RecordParseInfo, RecordType, SampleFormat,
};
use linux_perf_data::{AttributeDescription, Feature, PerfFile};
use std::collections::VecDeque;
use std::ops::Range;
use std::path::Path;
use sto_model::bytes::u32_at;
use sto_model::files::{ByteWindow, ReadAt, SharedBytes};

/// `PERF_RECORD_LOST_SAMPLES`.
pub(super) const LOST_SAMPLES: RecordType = RecordType(13);
/// Record types of `tools/lib/perf/include/perf/event.h`, which perf itself writes.
pub(super) const HEADER_BUILD_ID: RecordType = RecordType(67);
const FINISHED_ROUND: RecordType = RecordType(68);
pub(super) const AUXTRACE_INFO: RecordType = RecordType(70);
const COMPRESSED: RecordType = RecordType(81);
const COMPRESSED2: RecordType = RecordType(83);

/// Number of records per round for simpleperf, which does not mark rounds but writes records nearly
/// in order.
const SIMPLEPERF_ROUND: usize = 1024;

/// Minimum number of bytes between two reports of progress.
const REPORTED: u64 = 1 << 18;

/// A record that is used.
pub(super) struct Record {
    pub(super) kind: RecordType,
    pub(super) misc: u16,
    /// Size in the file, including the header.
    pub(super) size: u16,
    /// Index of the event.
    pub(super) event: u32,
    /// Offset in the file; for a compressed record, the offset of its compressed bytes.
    pub(super) at: u64,
    pub(super) time: Option<u64>,
    /// Process and thread id of a sample.
    pub(super) thread: (u32, u32),
    /// The bytes after the header.
    pub(super) body: SharedBytes,
}

impl Record {
    /// Makes an error for a record that is too short for its fields.
    pub(super) fn malformed(&self, path: &Path) -> FormatError {
        FormatError::malformed(
            path,
            format_args!("the record at byte {}", self.at),
            "its layout does not match its event; the file is damaged, or perf is newer than this version of sto. \
             Record it again, or run `perf script` and ingest its text",
        )
    }
}

/// A walk over the records of a file.
pub(super) struct Walk<'a> {
    file: CheckedReader<'a>,
    /// The byte range of the records that are left.
    left: Range<u64>,
    on_read: &'a OnRead,
    reported: u64,
    events: RecordEvents,
    expansion: Expansion,
    rounds: Rounds,
    /// Number of records that end a round, if the file does not mark rounds.
    round: Option<usize>,
}

impl<'a> Walk<'a> {
    /// Makes a walk over a byte range of a file with this header.
    pub(super) fn new(
        path: &'a Path,
        file: &'a dyn ReadAt,
        records: Range<u64>,
        header: &PerfFile,
        on_read: &'a OnRead,
    ) -> Self {
        let simpleperf = header.feature_section_data(Feature::SIMPLEPERF_META_INFO);
        Walk {
            file: CheckedReader::new(path, file, ByteWindow::new(file)),
            reported: records.start,
            left: records,
            on_read,
            events: RecordEvents::new(header),
            expansion: Expansion::new(),
            rounds: Rounds::default(),
            round: simpleperf.map(|_| SIMPLEPERF_ROUND),
        }
    }

    /// The next record that is used; `None` at the end.
    ///
    /// # Errors
    /// Returns an error if a record is too short for its header, ends outside the file, or cannot
    /// be expanded or read.
    pub(super) fn next(&mut self) -> Result<Option<Record>, FormatError> {
        while self.rounds.ready.is_empty() && !self.left.is_empty() {
            self.step()?;
        }
        if self.left.is_empty() {
            self.rounds.finish_all();
        }
        Ok(self.rounds.ready.pop_front())
    }

    /// Parses a record that is not a sample.
    pub(super) fn raw<'r>(&self, record: &'r Record) -> RawEventRecord<'r> {
        let event = record.event as usize;
        self.events
            .raw(record.kind, record.misc, event, &record.body)
    }

    fn step(&mut self) -> Result<(), FormatError> {
        let at = self.left.start;
        let header = self.file.record(at)?;
        let end = self.file.record_end(at, header)?;
        let part = format_args!("the record at byte {at}");
        let (events, waiting) = (&self.events, &mut self.rounds.waiting);
        match header.kind {
            FINISHED_ROUND => {
                self.expansion.finish_round();
                self.rounds.finish();
            }
            COMPRESSED | COMPRESSED2 => {
                let is_padded = header.kind == COMPRESSED2;
                let compressed = self.file.compressed(is_padded, at, end)?;
                let expanded = self.expansion.expand(compressed, |header, body| {
                    if matters(header.kind) {
                        waiting.push(events.record(at, header, body.into()));
                    }
                });
                expanded.map_err(|problem| self.file.malformed(part, problem))?;
            }
            kind if matters(kind) => {
                let body = self.file.part(at + HEADER_SIZE, end)?;
                waiting.push(events.record(at, header, body));
                let in_round = waiting.len() - self.rounds.begun;
                if self.round.is_some_and(|round| in_round >= round) {
                    self.rounds.finish();
                }
            }
            _ => {}
        }
        self.left.start = end;
        if end - self.reported >= REPORTED {
            let new = end - std::mem::replace(&mut self.reported, end);
            self.on_read.call(new).map_err(FormatError::Cancelled)?;
        }
        Ok(())
    }
}

/// Sorts records by time.
///
/// perf reads the buffers of all processors in rounds, each buffer in order. Records of a round are
/// therefore not older than any record of the round before the previous one; see
/// `PERF_RECORD_FINISHED_ROUND` in the format's description.
#[derive(Default)]
struct Rounds {
    ready: VecDeque<Record>,
    /// In the file's order, after the records that earlier rounds left.
    waiting: Vec<Record>,
    /// Number of records that earlier rounds left.
    begun: usize,
    /// The latest time of the earlier rounds.
    latest: Option<u64>,
}

impl Rounds {
    fn finish(&mut self) {
        // A stable sort: records with equal times keep the order of the file.
        self.waiting.sort_by_key(|record| record.time);
        let latest = self.latest;
        let ready = self.waiting.partition_point(|record| record.time <= latest);
        self.latest = latest.max(self.waiting.last().and_then(|record| record.time));
        self.ready.extend(self.waiting.drain(..ready));
        self.begun = self.waiting.len();
    }

    fn finish_all(&mut self) {
        self.waiting.sort_by_key(|record| record.time);
        self.ready.extend(self.waiting.drain(..));
    }
}

/// Whether records of a type are used.
fn matters(kind: RecordType) -> bool {
    use RecordType as Kind;
    matches!(
        kind,
        Kind::SAMPLE
            | Kind::MMAP
            | Kind::MMAP2
            | Kind::COMM
            | Kind::FORK
            | Kind::EXIT
            | Kind::LOST
            | LOST_SAMPLES
            | Kind::THROTTLE
            | Kind::SWITCH
            | Kind::SWITCH_CPU_WIDE
            | HEADER_BUILD_ID
            | AUXTRACE_INFO
    )
}

/// The fields of records that depend on their event.
struct RecordEvents {
    infos: Vec<RecordParseInfo>,
    of_id: HashMap<u64, u32>,
}

impl RecordEvents {
    fn new(header: &PerfFile) -> Self {
        let events = header.event_attributes();
        let info = |event: &AttributeDescription| {
            RecordParseInfo::new(event.attributes(), Endianness::LittleEndian)
        };
        let mut of_id = HashMap::new();
        for (number, event) in (0..).zip(events) {
            of_id.extend(event.ids().iter().map(|&id| (id, number)));
        }
        RecordEvents {
            infos: events.iter().map(info).collect(),
            of_id,
        }
    }

    fn raw<'r>(
        &self,
        kind: RecordType,
        misc: u16,
        event: usize,
        body: &'r [u8],
    ) -> RawEventRecord<'r> {
        RawEventRecord {
            record_type: kind,
            misc,
            data: RawData::from(body),
            parse_info: self.infos[event],
        }
    }

    fn record(&self, at: u64, header: Header, body: SharedBytes) -> Record {
        let Header { kind, misc, size } = header;
        // The reader of the header checks that all events have the id at the same offset.
        let id = self.raw(kind, misc, 0, &body).id();
        let event = id.and_then(|id| self.of_id.get(&id).copied()).unwrap_or(0);
        let raw = self.raw(kind, misc, event as usize, &body);
        let fields = raw.parse_info.sample_format;
        let before = SampleFormat::IDENTIFIER | SampleFormat::IP;
        let thread = fields.contains(SampleFormat::TID).then(|| {
            let offset = fields.intersection(before).bits().count_ones() as usize * 8;
            Some((u32_at(&body, offset)?, u32_at(&body, offset + 4)?))
        });
        Record {
            kind,
            misc,
            size,
            event,
            at,
            time: raw.timestamp(),
            thread: thread.flatten().unwrap_or_default(),
            body,
        }
    }
}
