//! The text that `perf script` prints.
//!
//! A sample is a line that tells when and where it was taken, then its stack, innermost frame
//! first, a line a frame, then an empty line. Without call chains there is one line a sample.
//!
//! Source: `tools/perf/builtin-script.c` and `tools/perf/util/evsel_fprintf.c` of Linux 6.1.

mod call;
mod header;
mod threads;

use super::detect::Head;
use super::named::{Limit, NamedStacks, malformed};
use super::text::{LineReader, decimal, lines};
use super::{
    Format, FormatError, LocationIx, ReadOptions, Recording, Sample, SampleTypeIx, ThreadIx,
    excerpt, units_of_event,
};
use crate::id::SourceDigest;
use crate::limits::MAX_SAMPLE_TYPES;
use crate::model::{FrameKind, Origin};
use crate::units::{Bytes, Cost, Nanoseconds, SampleType, Unit};
use call::Call;
use hashbrown::HashMap;
use header::Header;
use std::path::Path;
use threads::Threads;

/// Whether a profile begins with the first line of a sample.
pub(super) fn is_told(head: &Head<'_>) -> bool {
    let text = head.first_line().filter(|line| !line.contains(&0));
    text.is_some_and(|line| Header::parse(line).is_some())
}

/// The kind of code in a file, or what stands for one, of this name.
pub(super) fn kind_by_module(dso: &[u8]) -> FrameKind {
    call(dso).kind()
}

/// The name that frames carry of a file, or of what stands for one.
pub(super) fn module_name(dso: &[u8]) -> &[u8] {
    call(dso).module()
}

fn call(dso: &[u8]) -> Call<'_> {
    Call {
        ip: 0,
        symbol: b"function",
        dso,
    }
}

/// Begins to read the text that `perf script` prints; `path` is for messages.
pub(super) fn reader<'p>(path: &'p Path, _options: &ReadOptions) -> Box<dyn LineReader + 'p> {
    Box::new(Parser {
        path,
        line_number: 0,
        reader: Reader::default(),
    })
}

struct Parser<'p> {
    path: &'p Path,
    line_number: usize,
    reader: Reader,
}

impl LineReader for Parser<'_> {
    fn block(&mut self, bytes: &[u8]) -> Result<(), FormatError> {
        for (_, line) in lines(bytes) {
            self.line_number += 1;
            let read = self.reader.line(line);
            read.map_err(|problem| problem.at_line(self.path, self.line_number, line))?;
        }
        if !bytes.is_empty() && !bytes.ends_with(b"\n") {
            return Err(malformed(self.path, self.line_number, CUT_OFF));
        }
        Ok(())
    }

    fn finish(
        mut self: Box<Self>,
        source: SourceDigest,
        source_bytes: Bytes,
    ) -> Result<Recording, FormatError> {
        let ended = self.reader.end_sample();
        ended.map_err(|limit| malformed(self.path, self.line_number, limit))?;
        let mut reader = self.reader;
        reader.samples.sort_by_key(|sample| sample.time);
        let stacks = reader.stacks.finish();
        let (processes, threads, threads_warning) = reader.threads.finish();
        let no_stacks = (!reader.any_call_chain).then(|| NO_CALL_CHAINS.to_owned());
        let warnings = [threads_warning, no_stacks].into_iter().flatten();
        Ok(Recording {
            format: Format::PerfScript,
            source,
            source_bytes,
            origin: Origin {
                duration: duration(&reader.samples),
                ..reader.origin
            },
            sample_types: reader.sample_types,
            processes,
            threads,
            modules: Vec::new(),
            locations: stacks.locations,
            named: stacks.frames,
            stacks: stacks.stacks,
            samples: reader.samples,
            lost: reader.lost.events.max(reader.lost.samples),
            warnings: warnings.chain(stacks.warnings).collect(),
        })
    }
}

const CUT_OFF: &str = "truncated: the text ends within this line, and perf ends every line; was perf \
    stopped, or the copy cut short? Print or copy it again, or take what there is: --allow-truncated";

const NO_CALL_CHAINS: &str = "No sample has a call chain; record with `perf record -g` or `perf \
    record --call-graph dwarf`, and print without `-G`.";

/// Time between the first sample and the last, of samples in order of time.
fn duration(samples: &[Sample]) -> Option<Nanoseconds> {
    let first = samples.iter().find_map(|sample| sample.time)?;
    let last = samples.last()?.time?;
    Some(Nanoseconds(last.0 - first.0))
}

enum Problem {
    NotASample,
    NotACall,
    Limit(Limit),
}

impl Problem {
    fn at_line(self, path: &Path, number: usize, line: &[u8]) -> FormatError {
        let expected = match self {
            Problem::NotASample => "a sample, as in `prog 123 [000] 4.567890: 1000 cycles:`",
            Problem::NotACall => {
                "a line of a sample's stack, as in `7f3a work+0x1c (/usr/bin/prog)`"
            }
            Problem::Limit(limit) => return malformed(path, number, limit),
        };
        let problem = format!(
            "expected {expected}, found {}; print the recording with the default fields: \
             `perf script -i perf.data`",
            excerpt(line)
        );
        malformed(path, number, problem)
    }
}

impl From<Limit> for Problem {
    fn from(limit: Limit) -> Problem {
        Problem::Limit(limit)
    }
}

/// Deepest call chain that the kernel records and perf prints unless it is told otherwise
/// (`PERF_MAX_STACK_DEPTH`, `kernel.perf_event_max_stack`): a stack that reaches it was cut.
const MAX_STACK: usize = 127;

/// Lost events. perf counts them as they happen (`PERF_RECORD_LOST lost 5`), and since Linux 6.1 all
/// of them once more at the end (`PERF_RECORD_LOST_SAMPLES lost 5`).
#[derive(Default)]
struct Lost {
    events: u64,
    samples: u64,
}

impl Lost {
    fn add(&mut self, record: &[u8]) {
        let mut words = record.split(|byte| matches!(byte, b' ' | b':'));
        let sum = match words.next() {
            Some(b"PERF_RECORD_LOST") => &mut self.events,
            Some(b"PERF_RECORD_LOST_SAMPLES") => &mut self.samples,
            _ => return,
        };
        *sum = sum.saturating_add(words.find_map(decimal).unwrap_or(0));
    }
}

/// `-F +srcline` puts the source line under each line of a stack, two spaces in: `  work.c:12`.
fn is_source_line(line: &[u8]) -> bool {
    matches!(line, [b' ', b' ', next, ..] if *next != b' ') && Call::parse(line).is_none()
}

#[derive(Default)]
struct Reader {
    origin: Origin,
    sample_types: Vec<SampleType>,
    /// By name, without periods and with them.
    known_types: [HashMap<Box<[u8]>, SampleTypeIx>; 2],
    threads: Threads,
    stacks: NamedStacks,
    /// Locations by the whole line, so that each distinct line is taken apart once.
    known_calls: HashMap<Box<[u8]>, Known>,
    /// Names of inlined functions.
    functions: Vec<Box<str>>,
    /// Locations of inlined functions, by the one that they were inlined into.
    placed: HashMap<(usize, Option<LocationIx>), LocationIx>,
    samples: Vec<Sample>,
    lost: Lost,
    any_call_chain: bool,
    open: Option<OpenSample>,
    /// The open sample's stack so far, innermost frame first.
    stack: Vec<LocationIx>,
    /// Its last lines, if they are functions inlined into one whose line comes later.
    inlined: Vec<(u64, usize)>,
    /// Number of its frames that are not inlined.
    calls: usize,
}

/// What a line of a stack says: an instruction pointer, and where it is.
#[derive(Clone, Copy)]
enum Known {
    Call {
        ip: u64,
        location: LocationIx,
    },
    /// The number of a name in [`Reader::functions`].
    Inlined {
        ip: u64,
        function: usize,
    },
}

/// A sample whose stack is being read.
#[derive(Clone, Copy)]
struct OpenSample {
    thread: ThreadIx,
    sample_type: SampleTypeIx,
    time: Option<Nanoseconds>,
    cost: Cost,
}

impl Reader {
    fn line(&mut self, line: &[u8]) -> Result<(), Problem> {
        let text = line.trim_ascii();
        if text.is_empty() {
            return Ok(self.end_sample()?);
        }
        if let [b'\t', ..] = line {
            return self.call(text);
        }
        if let [b'#', comment @ ..] = line {
            self.comment(comment);
            return Ok(());
        }
        match Header::parse(line) {
            Some(header) => self.begin_sample(header),
            None if is_source_line(line) || line.starts_with(b"PERF_RECORD_") => Ok(()),
            // Somebody's editor made spaces of the tabs.
            None if line.starts_with(b" ") => self.call(text),
            None => Err(Problem::NotASample),
        }
    }

    fn begin_sample(&mut self, header: Header<'_>) -> Result<(), Problem> {
        self.end_sample()?;
        // `--show-mmap-events` and its like print other records of the recording too.
        if header.is_other_record() {
            self.lost.add(header.rest);
            return Ok(());
        }
        self.open = Some(OpenSample {
            thread: self.threads.insert(&header),
            sample_type: self.sample_type(header.event, header.period.is_some())?,
            time: header.time,
            cost: Cost {
                samples: 1,
                value: header.period.unwrap_or(1),
            },
        });
        // A tracepoint's fields may stand there too; only a function has its file behind it.
        if header.rest.ends_with(b")") && Call::parse(header.rest).is_some() {
            self.call(header.rest)?;
            self.end_sample()?;
        }
        Ok(())
    }

    fn end_sample(&mut self) -> Result<(), Limit> {
        let Some(sample) = self.open.take() else {
            return Ok(());
        };
        self.place_inlined(None)?;
        self.stack.reverse();
        self.samples.push(Sample {
            stack: self.stacks.stack(&self.stack)?,
            thread: sample.thread,
            sample_type: sample.sample_type,
            time: sample.time,
            cost: sample.cost,
            truncated: self.calls >= MAX_STACK,
        });
        self.any_call_chain |= self.calls > 1;
        self.stack.clear();
        self.calls = 0;
        Ok(())
    }

    fn call(&mut self, line: &[u8]) -> Result<(), Problem> {
        if self.open.is_none() {
            return Err(Problem::NotASample);
        }
        let known = match self.known_calls.get(line) {
            Some(&known) => known,
            None => self.learn(line)?,
        };
        match known {
            Known::Inlined { ip, function } => self.inlined.push((ip, function)),
            Known::Call { ip, location } => {
                self.place_inlined(Some((ip, location)))?;
                self.stack.push(location);
                self.calls += 1;
            }
        }
        Ok(())
    }

    /// Takes a line of a stack apart that was not met before.
    fn learn(&mut self, line: &[u8]) -> Result<Known, Problem> {
        let call = Call::parse(line).ok_or(Problem::NotACall)?;
        let ip = call.ip;
        let known = if call.is_inlined() {
            let function = self.functions.len();
            let symbol = self.stacks.text(call.symbol);
            self.functions.push(symbol.into());
            Known::Inlined { ip, function }
        } else {
            let location = self.location(&call)?;
            Known::Call { ip, location }
        };
        self.known_calls.insert(line.into(), known);
        Ok(known)
    }

    fn location(&mut self, call: &Call<'_>) -> Result<LocationIx, Limit> {
        let module = self.stacks.text(call.module());
        if call.is_resolved() {
            let symbol = self.stacks.text(call.symbol);
            return self.stacks.frame(call.kind(), &symbol, &module);
        }
        let symbol = match &*module {
            "" => "[unknown]".to_owned(),
            name if name.starts_with('[') => name.to_owned(),
            // Offsets in a file are the same in every run; addresses are not, and lie higher.
            name if call.ip < 1 << 32 => format!("[{name}+0x{:x}]", call.ip),
            name => format!("[{name}]"),
        };
        self.stacks.frame(FrameKind::Unresolved, &symbol, &module)
    }

    /// Puts inlined functions onto the stack, now that the function that they were inlined into
    /// is known: the one with the same instruction pointer.
    ///
    /// Where a function's names in its symbol table and its debug information differ, perf prints
    /// it as inlined into nothing; such a function is taken for one that was called.
    fn place_inlined(&mut self, into: Option<(u64, LocationIx)>) -> Result<(), Limit> {
        for (ip, function) in self.inlined.drain(..) {
            let into = into.filter(|&(outer, _)| outer == ip);
            let into = into.map(|(_, location)| location);
            let location = match self.placed.get(&(function, into)) {
                Some(&location) => location,
                None => {
                    let symbol = &self.functions[function];
                    let location = match into {
                        Some(into) => self.stacks.inlined(symbol, into)?,
                        None => self.stacks.frame(FrameKind::User, symbol, "")?,
                    };
                    *self.placed.entry((function, into)).insert(location).get()
                }
            };
            self.stack.push(location);
        }
        Ok(())
    }

    fn sample_type(
        &mut self,
        event: Option<&[u8]>,
        has_period: bool,
    ) -> Result<SampleTypeIx, Limit> {
        let event = event.unwrap_or(b"samples");
        let known = &self.known_types[usize::from(has_period)];
        if let Some(&known) = known.get(event) {
            return Ok(known);
        }
        let ix = self.sample_types.len();
        if ix == MAX_SAMPLE_TYPES {
            return Err(format!(
                "samples of more than {MAX_SAMPLE_TYPES} events; print fewer of them, or split the \
                 text"
            ));
        }
        let ix = SampleTypeIx(ix as u32);
        self.known_types[usize::from(has_period)].insert(event.into(), ix);
        let event = self.stacks.text(event).into_owned();
        let unit = match has_period {
            true => units_of_event(&event),
            false => Unit::Samples,
        };
        self.sample_types.push(SampleType { event, unit });
        Ok(ix)
    }

    /// What `perf script --header` says of the machine.
    fn comment(&mut self, comment: &[u8]) {
        let Some(colon) = memchr::memchr(b':', comment) else {
            return;
        };
        let field = match comment[..colon].trim_ascii() {
            b"hostname" => &mut self.origin.host,
            b"os release" => &mut self.origin.kernel,
            b"arch" => &mut self.origin.arch,
            b"cpudesc" => &mut self.origin.cpu,
            b"cmdline" => &mut self.origin.command,
            _ => return,
        };
        let value = self.stacks.text(comment[colon + 1..].trim_ascii());
        *field = Some(value.into_owned());
    }
}
