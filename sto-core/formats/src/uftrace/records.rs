//! The calls of a thread: `TID.dat`, records of 16 bytes, some followed by data.
//!
//! Source: uftrace, `uftrace.h` (`struct uftrace_record`), for the layout.

use super::arguments::{Field, read_numbers};
use super::names::{Address, Arguments};
use super::sessions::{Session, Sessions};
use crate::error::{DecodeError, Decoded, Salvage};
use hashbrown::HashMap;
use std::io;
use sto_model::bytes::u64_at;
use sto_model::files::{ByteWindow, ReadAt};
use sto_model::trace::log::{LostEvents, ThreadLog};
use sto_model::trace::paths::TraceFunctionIx;
use sto_model::units::Nanoseconds;

const RECORD: usize = 16;

/// Number of bytes of a file examined at once.
const VIEW: usize = 1 << 18;

/// Limit to the data after a record: arguments of a call, its result, or an event.
const MAX_DATA: usize = 1024 + 8;

/// The value of a field by which records are recognised.
const MAGIC: u64 = 5;

/// Reads the records of a thread.
pub(super) struct Reader<'a> {
    sessions: &'a Sessions,
    /// The sessions of the thread's process, with their begins.
    of_process: &'a [(u64, usize)],
    session: usize,
    /// Begin of the next session.
    until: u64,
    log: &'a mut ThreadLog,
    arguments: &'a Arguments<'a>,
    /// The recorded arguments of each function, by number.
    fields: Vec<Option<&'a [Field]>>,
    functions: HashMap<Address, TraceFunctionIx>,
    /// Open calls with their depths, outermost first.
    open: Vec<(u16, TraceFunctionIx)>,
    time: u64,
    pub(super) read: ReadThread,
}

/// The data of a thread besides its calls.
#[derive(Default)]
pub(super) struct ReadThread {
    /// The address of each function number.
    pub(super) addresses: Vec<Address>,
    /// Number of calls that were left without an exit, as by `longjmp` and `exec`.
    pub(super) left: u64,
    /// Number of records other than calls.
    pub(super) events: u64,
    /// Offset from which on the file is cut off or damaged.
    pub(super) damaged: Option<u64>,
}

#[derive(Clone, Copy)]
struct Record {
    time: u64,
    kind: u64,
    has_data: bool,
    magic: u64,
    depth: u16,
    address: u64,
}

const ENTRY: u64 = 0;
const EXIT: u64 = 1;
const LOST: u64 = 2;

/// Marks a call that was not open.
const NONE: TraceFunctionIx = TraceFunctionIx(u32::MAX);

impl<'a> Reader<'a> {
    pub(super) fn new(
        arguments: &'a Arguments<'a>,
        pid: u32,
        log: &'a mut ThreadLog,
    ) -> Reader<'a> {
        let sessions = arguments.names.sessions;
        Reader {
            sessions,
            of_process: sessions.sessions_of_process(pid),
            session: 0,
            until: 0,
            log,
            arguments,
            fields: Vec::new(),
            functions: HashMap::new(),
            open: Vec::new(),
            time: 0,
            read: ReadThread::default(),
        }
    }

    /// Reads all records of a file or, if that is allowed, those before a cut or damage.
    pub(super) fn read(mut self, file: &dyn ReadAt, allow_truncated: bool) -> Decoded<ReadThread> {
        let mut window = ByteWindow::with_read_size(file, VIEW);
        let mut at = 0;
        while at < file.size() {
            let wrong = match self.read_view(&mut window, &mut at)? {
                None => continue,
                Some(wrong) => wrong,
            };
            if !allow_truncated {
                return Err(wrong);
            }
            self.log.record_loss(LostEvents::Unknown);
            self.read.damaged = Some(at);
            break;
        }
        Ok(self.read)
    }

    /// Reads the records of a part of the file and advances. Returns the problem of an invalid
    /// record.
    fn read_view(
        &mut self,
        window: &mut ByteWindow<'_>,
        at: &mut u64,
    ) -> Decoded<Option<DecodeError>> {
        let left = window.size() - *at;
        let view = window
            .slice(*at, left.min(VIEW as u64) as usize)
            .map_err(unreadable)?;
        let is_last = view.len() as u64 == left;
        let mut within = 0;
        let wrong = loop {
            let bytes = &view[within..];
            // The view must contain the data of a record and the record after it.
            if bytes.is_empty() || !is_last && bytes.len() < RECORD + MAX_DATA + RECORD {
                break None;
            }
            let here = *at + within as u64;
            let Some(record) = Record::parse(bytes) else {
                let cut = format!("the file ends within the record at byte {here}");
                break Some(DecodeError::cut_off(cut, Salvage::Possible));
            };
            if record.magic != MAGIC {
                let problem = "expected a record of uftrace; was the file damaged?";
                break Some(DecodeError::new(here as usize, problem));
            }
            within += RECORD;
            let data = if record.has_data {
                self.data(record, &view[within..])
            } else {
                Some(0)
            };
            self.take(record, &view[within..within + data.unwrap_or(0)])?;
            let Some(length) = data else {
                let problem = "expected a record of uftrace after the data of this one; was the file damaged?";
                break Some(DecodeError::new(here as usize, problem));
            };
            within += length;
        };
        *at += within as u64;
        Ok(wrong)
    }

    fn take(&mut self, record: Record, data: &[u8]) -> Decoded<()> {
        let time = Nanoseconds(record.time);
        self.time = record.time;
        match record.kind {
            ENTRY => {
                self.leave(|depth| depth >= record.depth, time);
                let function = self.function(record);
                match self.fields[function.get()] {
                    Some(fields) if record.has_data => {
                        self.log.begin_with_arguments(
                            function,
                            &read_numbers(fields, data),
                            time,
                        )?;
                    }
                    _ => self.log.begin(function, time)?,
                }
                self.open.push((record.depth, function));
            }
            EXIT => {
                self.leave(|depth| depth > record.depth, time);
                let function = self.function(record);
                let innermost = self.open.last().copied();
                if innermost == Some((record.depth, function)) {
                    self.open.pop();
                    self.log.end(Some(function), time);
                } else {
                    self.leave(|depth| depth == record.depth, time);
                    self.log.end(Some(NONE), time);
                }
            }
            LOST => self.log.record_loss(LostEvents::Count(record.address)),
            _ => self.read.events += 1,
        }
        Ok(())
    }

    /// Ends calls without an exit, because an outer call continued.
    fn leave(&mut self, is_left: impl Fn(u16) -> bool, time: Nanoseconds) {
        while self.open.last().is_some_and(|&(depth, _)| is_left(depth)) {
            self.open.pop();
            self.log.end(None, time);
            self.read.left += 1;
        }
    }

    fn function(&mut self, record: Record) -> TraceFunctionIx {
        if record.time >= self.until {
            self.change_session(record.time);
        }
        let address = (self.session, record.address);
        *self.functions.entry(address).or_insert_with(|| {
            self.read.addresses.push(address);
            self.fields.push(self.arguments.get(address));
            TraceFunctionIx(self.read.addresses.len() as u32 - 1)
        })
    }

    #[cold]
    fn change_session(&mut self, time: u64) {
        let after = self.of_process.partition_point(|&(begin, _)| begin <= time);
        self.session = match self.of_process.get(after.saturating_sub(1)) {
            Some(&(_, session)) => session,
            None => 0,
        };
        let next = self.of_process.get(after.max(1));
        self.until = next.map_or(u64::MAX, |&(begin, _)| begin);
    }

    /// The length of the data after a record. It is not recorded, so the next record is searched;
    /// `None` if there is none.
    fn data(&self, record: Record, bytes: &[u8]) -> Option<usize> {
        let ends = (0..=MAX_DATA)
            .step_by(8)
            .take_while(|&at| at <= bytes.len());
        let follows = |at: &usize| {
            bytes.len() == *at
                || Record::parse(&bytes[*at..]).is_some_and(|next| self.follows(record, next))
        };
        ends.clone().find(follows)
    }

    /// Returns `true` if `next` can follow a record.
    fn follows(&self, record: Record, next: Record) -> bool {
        /// An hour: bytes of data rarely look like a time of this run.
        const LONG: u64 = 3_600_000_000_000;
        let is_later = next
            .time
            .checked_sub(record.time)
            .is_some_and(|passed| passed < LONG);
        if next.magic != MAGIC || !is_later {
            return false;
        }
        let mappings = self.sessions.list.get(self.session);
        next.kind > EXIT
            || mappings.is_none_or(|session: &Session| session.mapping(next.address).is_some())
    }
}

impl Record {
    /// Decodes a record.
    fn parse(bytes: &[u8]) -> Option<Record> {
        let (time, bits) = (u64_at(bytes, 0)?, u64_at(bytes, 8)?);
        Some(Record {
            time,
            kind: bits & 3,
            has_data: bits & 4 > 0,
            magic: bits >> 3 & 7,
            depth: (bits >> 6 & 0x3ff) as u16,
            address: bits >> 16,
        })
    }
}

fn unreadable(error: io::Error) -> DecodeError {
    DecodeError::unsupported(format!("it cannot be read: {error}"))
}
