//! Probes at the entry and return of functions, as set by `perf probe`. They are read as calls,
//! with the fields as arguments.

use super::header::Header;
use super::reader::{Reader, header};
use super::threads::WITHOUT_PIDS;
use crate::call_events::{CallEvents, Functions, ThreadKind, Track};
use crate::calls;
use crate::error::{At, DecodeError, Decoded};
use crate::recording::{RecordingBuilder, process_name};
use crate::source::ReadOptions;
use crate::wire::text::{lines, words};
use hashbrown::HashMap;
use sto_model::trace::CallThread;
use sto_model::trace::log::CallLogWriter;
use sto_model::trace::paths::TraceFunctionIx;
use sto_model::units::Bytes;

/// Limit to the arguments of a call.
const MOST: usize = 16;

/// Limit to the events held until it is known which functions return.
const MOST_HELD: usize = 1 << 20;

/// Returns `true` if a text begins with a probe event and samples have no stacks.
pub(super) fn begins_with_probe(text: &[u8]) -> bool {
    let lines = lines(text).map(|(_, line)| line);
    let mut lines = lines.filter(|line| !line.starts_with(b"#"));
    let first = lines.find_map(header);
    let is_header = |line: &[u8]| header(line).is_some();
    first.is_some_and(|first| Probe::parse(&first).is_some()) && lines.next().is_none_or(is_header)
}

/// The entry or return of a function.
struct Probe<'a> {
    name: &'a [u8],
    is_return: bool,
    /// Address of the function's entry.
    address: u64,
    fields: &'a [u8],
}

impl<'a> Probe<'a> {
    /// Parses `prog:work: (ADDRESS) n=5` or `prog:work__return: (ADDRESS <- CALLER) arg1=0x7`.
    fn parse(header: &Header<'a>) -> Option<Probe<'a>> {
        let event = header.event?;
        let colon = memchr::memchr(b':', event)?;
        let name = event[colon + 1..].split(|byte| *byte == b':').next()?;
        let places = header.rest.strip_prefix(b"(")?;
        let end = memchr::memchr(b')', places)?;
        let (places, fields) = (&places[..end], &places[end + 1..]);
        let arrow = memchr::memmem::find(places, b" <- ");
        Some(Probe {
            name: match arrow {
                Some(_) => name.strip_suffix(b"__return").unwrap_or(name),
                None => name,
            },
            is_return: arrow.is_some(),
            address: hexadecimal(&places[..arrow.unwrap_or(end)])?,
            fields,
        })
    }

    /// The numeric fields: `n=5`, `n=-5` and `n=0x5`.
    fn arguments(&self) -> Vec<(&'a str, f64)> {
        let numbers = words(self.fields).filter_map(|word| {
            let (name, value) = std::str::from_utf8(word).ok()?.split_once('=')?;
            let number = match value.strip_prefix("0x") {
                Some(digits) => hexadecimal(digits.as_bytes())? as f64,
                None => value.parse::<i128>().ok()? as f64,
            };
            Some((name, number))
        });
        numbers.take(MOST).collect()
    }
}

fn hexadecimal(digits: &[u8]) -> Option<u64> {
    let digits = digits.strip_prefix(b"0x").unwrap_or(digits);
    u64::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

/// A reader of probes.
pub(super) struct Probes {
    options: ReadOptions,
    /// Reads lines that are not events, such as comments and lost events.
    others: Reader,
    events: CallEvents,
    functions: Functions,
    threads: Vec<CallThread>,
    /// Threads by process and thread id.
    numbers: HashMap<(u32, u32), u32>,
    any_without_pid: bool,
    /// Functions by thread and address.
    begun: HashMap<(u32, u64), TraceFunctionIx>,
    ends: HashMap<TraceFunctionIx, Ends>,
    /// Events since the entry of a function that may or may not return.
    held: Vec<Event>,
    /// Number of such functions.
    unknown: usize,
    left_out: u64,
    without_return: u64,
}

#[derive(Clone, Copy)]
struct Event {
    thread: u32,
    function: TraceFunctionIx,
    /// The function with its arguments.
    called: TraceFunctionIx,
    time: i64,
    is_return: bool,
}

/// Whether returns of a function are recorded.
#[derive(Clone, Copy)]
enum Ends {
    /// Not known yet: the number of its entries without a return.
    Unknown(u64),
    Known,
    Never,
}

impl Probes {
    pub(super) fn new(options: &ReadOptions) -> Probes {
        Probes {
            options: options.clone(),
            others: Reader::default(),
            events: CallEvents::new(options),
            functions: Functions::default(),
            threads: Vec::new(),
            numbers: HashMap::new(),
            any_without_pid: false,
            begun: HashMap::new(),
            ends: HashMap::new(),
            held: Vec::new(),
            unknown: 0,
            left_out: 0,
            without_return: 0,
        }
    }

    /// Number of the last line read.
    pub(super) fn line_number(&self) -> usize {
        self.others.line_number
    }

    pub(super) fn block(&mut self, text: &[u8]) -> Decoded<()> {
        for (_, line) in lines(text) {
            match header(line) {
                Some(header) if !header.is_other_record() => {
                    self.others.line_number += 1;
                    self.event(&header)?;
                }
                None if line.starts_with(b"\t") => self.others.line_number += 1,
                _ => {
                    let read = self.others.line(line);
                    read.map_err(DecodeError::at(At::Line(self.others.line_number)))?;
                }
            }
        }
        Ok(())
    }

    fn event(&mut self, header: &Header<'_>) -> Decoded<()> {
        let at = At::Line(self.others.line_number);
        let probe = Probe::parse(header);
        let time = header.time.and_then(|time| i64::try_from(time.0).ok());
        let (Some(probe), Some(time)) = (probe, time) else {
            self.left_out += 1;
            return Ok(());
        };
        let thread = self.thread(header);
        let place = (thread, probe.address);
        // Users can give a probe any name.
        let known = self.begun.get(&place).filter(|_| probe.is_return);
        let function = match known {
            Some(function) => *function,
            None => {
                let builder = self.others.builder();
                let function = self.functions.number(probe.name, builder);
                function.map_err(DecodeError::at(at))?
            }
        };
        if !probe.is_return {
            self.begun.insert(place, function);
        }
        let called = match &probe.arguments()[..] {
            [] => function,
            arguments => self.events.arguments().intern(function, arguments),
        };
        let ends = self.ends.entry(function).or_insert_with(|| {
            self.unknown += 1;
            Ends::Unknown(0)
        });
        match (probe.is_return, *ends) {
            (true, Ends::Unknown(_)) => {
                *ends = Ends::Known;
                self.unknown -= 1;
            }
            (false, Ends::Unknown(count)) => *ends = Ends::Unknown(count + 1),
            _ => {}
        }
        self.held.push(Event {
            thread,
            function,
            called,
            time,
            is_return: probe.is_return,
        });
        if self.held.len() >= MOST_HELD {
            self.decide();
        }
        match self.unknown {
            0 => self.hand_on(),
            _ => Ok(()),
        }
    }

    /// Treats functions without a return so far as never returning, except those entered only once.
    fn decide(&mut self) {
        for ends in self.ends.values_mut() {
            match ends {
                Ends::Unknown(1) => *ends = Ends::Known,
                Ends::Unknown(_) => *ends = Ends::Never,
                Ends::Known | Ends::Never => {}
            }
        }
        self.unknown = 0;
    }

    fn hand_on(&mut self) -> Decoded<()> {
        for event in self.held.drain(..) {
            let Event {
                thread,
                called,
                time,
                ..
            } = event;
            let track = Track::Thread(thread);
            match (event.is_return, self.ends.get(&event.function)) {
                (true, _) => self.events.end(track, Some(called), time)?,
                (false, Some(Ends::Never)) => {
                    self.without_return += 1;
                    self.events.call(thread, called, time, Some(time))?;
                }
                (false, _) => self.events.begin(track, called, time)?,
            }
        }
        Ok(())
    }

    fn thread(&mut self, header: &Header<'_>) -> u32 {
        self.any_without_pid |= header.pid.is_none();
        let (pid, tid) = (header.pid.unwrap_or(header.tid), header.tid);
        let number = *self.numbers.entry((pid, tid)).or_insert_with(|| {
            self.threads.push(CallThread {
                pid,
                program: String::new(),
                tid,
                name: String::new(),
            });
            self.threads.len() as u32 - 1
        });
        let name = &mut self.threads[number as usize].name;
        if name.as_bytes() != header.comm {
            *name = process_name(header.comm);
        }
        number
    }

    pub(super) fn finish(mut self, size: u64) -> Decoded<RecordingBuilder> {
        self.decide();
        self.hand_on()?;
        let at = At::Line(self.others.line_number);
        let mut builder = self.others.finish().map_err(DecodeError::at(at))?;
        let counts = [
            (
                self.left_out,
                "events are not probes of the entry or return of a function, or have no time; they were left out",
            ),
            (
                self.without_return,
                "calls are of functions whose return is not probed: they are counted, but their duration is unknown; add such probes, as in `perf probe -x PROGRAM 'FUNCTION%return'`",
            ),
        ];
        let counts = counts.iter().filter(|(count, _)| *count > 0);
        let counts = counts.map(|(count, what)| format!("{count} {what}."));
        builder.warnings.extend(counts);
        if self.any_without_pid && self.threads.len() > 1 {
            builder.warnings.push(WITHOUT_PIDS.to_owned());
        }
        let mut log = CallLogWriter::new(self.options.call_folder.as_deref());
        let (threads, numbers) = (&self.threads, &self.numbers);
        let row = |row: ThreadKind| {
            let thread = match row {
                ThreadKind::Thread(thread) => &threads[thread as usize],
                ThreadKind::Group(_) => &threads[0],
            };
            let main = numbers.get(&(thread.pid, thread.pid));
            let main = main.map_or(thread, |&main| &threads[main as usize]);
            CallThread {
                program: main.name.clone(),
                ..thread.clone()
            }
        };
        let paired = self.events.pair(|_| 0)?;
        let misfits = paired.write(0, Bytes(size), &mut log, row)?;
        builder.warnings.extend(misfits);
        calls::finish(builder, log, self.functions.locations(), &self.options)
    }
}
