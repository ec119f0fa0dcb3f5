//! The text that `perf script` prints.
//!
//! A sample is a line that tells when and where it was taken, then its stack, innermost frame
//! first, a line a frame, then an empty line. Without call chains there is one line a sample.
//!
//! Source: `tools/perf/builtin-script.c` and `tools/perf/util/evsel_fprintf.c` of Linux 6.1.

mod call;
mod header;
mod threads;

use super::detect::{Head, Source};
use super::named::{Limit, NamedStacks, malformed};
use super::text::lines;
use super::{
    Format, FormatError, LocationIx, Recording, Sample, SampleTypeIx, ThreadIx, excerpt,
    units_of_event,
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

/// Reads the text that `perf script` prints.
pub(super) fn read(source: &Source<'_>) -> Result<Recording, FormatError> {
    let &Source { path, bytes, .. } = source;
    let (source, reader) = rayon::join(|| SourceDigest::of(bytes), || parse(path, bytes));
    let mut reader = reader?;
    if reader.samples.is_empty() {
        return Err(FormatError::NoSamples {
            path: path.to_owned(),
        });
    }
    reader.samples.sort_by_key(|sample| sample.time);
    let stacks = reader.stacks.finish();
    let (processes, threads, threads_warning) = reader.threads.finish();
    let no_stacks = (!reader.any_call_chain).then(|| {
        "No sample has a call chain; record with `perf record -g` or `perf record --call-graph \
         dwarf`, and print without `-G`."
            .to_owned()
    });
    Ok(Recording {
        format: Format::PerfScript,
        source,
        source_bytes: Bytes(bytes.len() as u64),
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
        lost: 0,
        warnings: [threads_warning, no_stacks]
            .into_iter()
            .flatten()
            .chain(stacks.warnings)
            .collect(),
    })
}

/// Time between the first sample and the last, of samples in order of time.
fn duration(samples: &[Sample]) -> Option<Nanoseconds> {
    let first = samples.iter().find_map(|sample| sample.time)?;
    let last = samples.last()?.time?;
    Some(Nanoseconds(last.0 - first.0))
}

fn parse<'b>(path: &Path, bytes: &'b [u8]) -> Result<Reader<'b>, FormatError> {
    let mut reader = Reader::default();
    for (number, line) in lines(bytes) {
        reader
            .line(line)
            .map_err(|problem| problem.at_line(path, number, line))?;
    }
    reader
        .end_sample()
        .map_err(|limit| malformed(path, lines(bytes).count(), limit))?;
    Ok(reader)
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

#[derive(Default)]
struct Reader<'b> {
    origin: Origin,
    sample_types: Vec<SampleType>,
    known_types: HashMap<(&'b [u8], bool), SampleTypeIx>,
    threads: Threads,
    stacks: NamedStacks,
    /// Locations by the whole line, so that each distinct line is taken apart once.
    known_calls: HashMap<&'b [u8], LocationIx>,
    samples: Vec<Sample>,
    any_call_chain: bool,
    open: Option<OpenSample>,
    /// The open sample's stack so far, innermost frame first.
    stack: Vec<LocationIx>,
    /// Its last lines, if they are functions inlined into one whose line comes later.
    inlined: Vec<Call<'b>>,
    /// Number of its frames that are not inlined.
    calls: usize,
}

/// A sample whose stack is being read.
#[derive(Clone, Copy)]
struct OpenSample {
    thread: ThreadIx,
    sample_type: SampleTypeIx,
    time: Option<Nanoseconds>,
    cost: Cost,
}

impl<'b> Reader<'b> {
    fn line(&mut self, line: &'b [u8]) -> Result<(), Problem> {
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
            // Somebody's editor made spaces of the tabs.
            None if line.starts_with(b" ") => self.call(text),
            None => Err(Problem::NotASample),
        }
    }

    fn begin_sample(&mut self, header: Header<'b>) -> Result<(), Problem> {
        self.end_sample()?;
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

    fn call(&mut self, line: &'b [u8]) -> Result<(), Problem> {
        if self.open.is_none() {
            return Err(Problem::NotASample);
        }
        let known = self.known_calls.get(line).copied();
        let location = match known {
            Some(location) if self.inlined.is_empty() => location,
            _ => {
                let call = Call::parse(line).ok_or(Problem::NotACall)?;
                if call.is_inlined() {
                    self.inlined.push(call);
                    return Ok(());
                }
                let location = match known {
                    Some(location) => location,
                    None => self.location(&call)?,
                };
                self.known_calls.insert(line, location);
                self.place_inlined(Some((call.ip, location)))?;
                location
            }
        };
        self.stack.push(location);
        self.calls += 1;
        Ok(())
    }

    fn location(&mut self, call: &Call<'b>) -> Result<LocationIx, Limit> {
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
        for call in self.inlined.drain(..) {
            let symbol = self.stacks.text(call.symbol);
            let location = match into {
                Some((ip, location)) if ip == call.ip => self.stacks.inlined(&symbol, location)?,
                _ => self.stacks.frame(FrameKind::User, &symbol, "")?,
            };
            self.stack.push(location);
        }
        Ok(())
    }

    fn sample_type(
        &mut self,
        event: Option<&'b [u8]>,
        has_period: bool,
    ) -> Result<SampleTypeIx, Limit> {
        let event = event.unwrap_or(b"samples");
        if let Some(&known) = self.known_types.get(&(event, has_period)) {
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
        self.known_types.insert((event, has_period), ix);
        let event = self.stacks.text(event).into_owned();
        let unit = match has_period {
            true => units_of_event(&event),
            false => Unit::Samples,
        };
        self.sample_types.push(SampleType { event, unit });
        Ok(ix)
    }

    /// What `perf script --header` says of the machine.
    fn comment(&mut self, comment: &'b [u8]) {
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
