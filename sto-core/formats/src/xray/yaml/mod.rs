//! Output of `llvm-xray convert -f yaml`: the header of a log, then one record per line, in order
//! of time.
//!
//! Source: LLVM, `llvm/include/llvm/XRay/YAMLXRayRecord.h`; for quoting, `needsQuotes` in
//! `llvm/include/llvm/Support/YAMLTraits.h`.

mod record;

use super::header::Clock;
use super::program::Program;
use super::{FIRST_ARGUMENT, locate, passed_over};
use crate::calls;
use crate::error::{At, DecodeError, Decoded, Salvage};
use crate::names::NamedFrame;
use crate::recording::{Built, LocationIx, RecordingBuilder};
use crate::source::{Head, LineReader, ReadOptions};
use crate::wire::text::{decimal, excerpt, lines};
use hashbrown::HashMap;
use record::{Ending, Event, closing, record};
use std::path::Path;
use sto_model::FrameKind;
use sto_model::trace::CallThread;
use sto_model::trace::log::{CallLogWriter, TraceThreadIx};
use sto_model::trace::paths::TraceFunctionIx;

/// Returns `true` if a text begins with the header of a log.
pub(crate) fn matches(head: &Head<'_>) -> bool {
    /// Number of lines of the header.
    const LINES: usize = 8;
    let mut lines = lines(head.whole_lines()).map(|(_, line)| line.trim_ascii_end());
    lines.next() == Some(b"---")
        && lines.next() == Some(b"header:")
        && lines.take(LINES).any(|line| frequency(line).is_some())
}

/// The value of the header's clock frequency, in cycles per second.
fn frequency(line: &[u8]) -> Option<&[u8]> {
    let value = line.trim_ascii().strip_prefix(b"cycle-frequency:")?;
    Some(value.trim_ascii())
}

/// Makes a reader.
pub(crate) fn reader(options: &ReadOptions) -> Box<dyn LineReader> {
    Box::new(Reader {
        options: options.clone(),
        log: CallLogWriter::new(options.call_folder.as_deref()),
        line: 0,
        clock: None,
        within: Within::Header,
        threads: HashMap::new(),
        functions: Functions::default(),
        events: 0,
    })
}

struct Reader {
    options: ReadOptions,
    log: CallLogWriter,
    /// Number of lines so far.
    line: usize,
    clock: Option<Clock>,
    within: Within,
    /// Threads by process and thread id.
    threads: HashMap<(u32, u32), TraceThreadIx>,
    functions: Functions,
    /// Number of events other than calls.
    events: u64,
}

/// The position in the text.
#[derive(Clone, Copy)]
enum Within {
    Header,
    Records,
    /// Within the data of a record, up to this quote.
    Data(u8),
    /// After the last record.
    End,
}

impl LineReader for Reader {
    fn block(&mut self, bytes: &[u8]) -> Decoded<()> {
        for (_, line) in lines(bytes) {
            self.line += 1;
            self.within = match self.within {
                Within::Header => self.header(line)?,
                Within::Records if line == b"..." => Within::End,
                Within::Records => self.record(line)?,
                Within::Data(quote) => match closing(line, quote) {
                    Some(_) => Within::Records,
                    None => Within::Data(quote),
                },
                Within::End if line.is_empty() => Within::End,
                Within::End => {
                    let problem = format!("expected nothing after `...`, found {}", excerpt(line));
                    return Err(self.wrong(problem));
                }
            };
        }
        Ok(())
    }

    fn finish(self: Box<Self>) -> Decoded<RecordingBuilder> {
        let mut builder = RecordingBuilder::default();
        if !matches!(self.within, Within::End) {
            let cut = format!("it ends after line {}, without the line `...`", self.line);
            if !self.options.allow_truncated {
                return Err(DecodeError::cut_off(cut, Salvage::Possible));
            }
            builder
                .warnings
                .push(format!("The file is cut off: {cut}."));
        }
        builder.warnings.extend(self.clock.and_then(Clock::warning));
        builder.warnings.extend(passed_over(self.events));
        let functions = self.functions.locate(&self.options, &mut builder);
        let functions = functions.map_err(DecodeError::at("its functions"))?;
        calls::finish(builder, self.log, &functions, &self.options)
    }
}

impl Reader {
    fn wrong(&self, problem: String) -> DecodeError {
        DecodeError::new(At::Line(self.line), problem)
    }

    fn header(&mut self, line: &[u8]) -> Decoded<Within> {
        if let Some(value) = frequency(line) {
            let clock = decimal(value).and_then(Clock::new).ok_or_else(|| {
                let value = excerpt(value);
                self.wrong(format!(
                    "expected a frequency of 0, or 1 MHz to 10 GHz, found {value}"
                ))
            })?;
            self.clock = Some(clock);
        }
        match (line, self.clock) {
            (b"records:", Some(_)) => Ok(Within::Records),
            (b"records:", None) => {
                let problem = "expected `cycle-frequency` in the header before the records";
                Err(self.wrong(problem.to_owned()))
            }
            _ => Ok(Within::Header),
        }
    }

    fn record(&mut self, line: &[u8]) -> Decoded<Within> {
        let record = record(line).map_err(|problem| self.wrong(problem))?;
        let Some(clock) = self.clock else {
            return Ok(Within::Header);
        };
        let time = clock.time(record.time);
        let thread = (record.process, record.thread);
        match &record.event {
            Event::Enter(function, name, argument) => {
                let function = self.functions.number(*function, name);
                let thread = self.thread(thread);
                let argument = argument.map(|of| (FIRST_ARGUMENT, of as f64));
                self.log.thread_logs()[thread.get()].begin_with_arguments(
                    function,
                    argument.as_slice(),
                    time,
                )?;
            }
            Event::Exit(function, name) => {
                let function = self.functions.number(*function, name);
                let thread = self.thread(thread);
                self.log.end(thread, Some(function), time);
            }
            Event::Other => self.events += 1,
        }
        Ok(match record.ending {
            Ending::Line => Within::Records,
            Ending::Quote(quote) => Within::Data(quote),
        })
    }

    fn thread(&mut self, (pid, tid): (u32, u32)) -> TraceThreadIx {
        let log = &mut self.log;
        *self.threads.entry((pid, tid)).or_insert_with(|| {
            log.intern_thread(CallThread {
                pid,
                program: String::new(),
                tid,
                name: String::new(),
            })
        })
    }
}

/// The functions of a log, in order of first use.
#[derive(Default)]
struct Functions {
    /// Ids and names.
    ids: Vec<(u32, Vec<u8>)>,
    index: HashMap<u32, TraceFunctionIx>,
}

impl Functions {
    fn number(&mut self, id: u32, name: &[u8]) -> TraceFunctionIx {
        *self.index.entry(id).or_insert_with(|| {
            self.ids.push((id, name.to_owned()));
            TraceFunctionIx(self.ids.len() as u32 - 1)
        })
    }

    /// Finds their locations: by name or, if the log was converted without names, in the program.
    fn locate(
        self,
        options: &ReadOptions,
        builder: &mut RecordingBuilder,
    ) -> Built<Vec<LocationIx>> {
        let is_number = |id: u32, name: &[u8]| {
            decimal(name.strip_prefix(b"#").unwrap_or(name)) == Some(id.into())
        };
        let unnamed = self.ids.iter().filter(|(id, name)| is_number(*id, name));
        let unnamed: Vec<u32> = unnamed.map(|&(id, _)| id).collect();
        let mut located = Vec::new();
        if !unnamed.is_empty() {
            let program = Program::find(Path::new(""), &options.symbols);
            located = locate(&unnamed, (program, ""), options, builder)?;
        }
        let mut located = located.into_iter();
        let locations = self.ids.iter().map(|(id, name)| {
            let by_number = if is_number(*id, name) {
                located.next()
            } else {
                None
            };
            match by_number {
                Some(location) => Ok(location),
                None => NamedFrame {
                    symbol: name,
                    // `@(4f10)` is an address without a name.
                    kind: name.starts_with(b"@(").then_some(FrameKind::Unresolved),
                    ..NamedFrame::default()
                }
                .add(builder),
            }
        });
        locations.collect()
    }
}
