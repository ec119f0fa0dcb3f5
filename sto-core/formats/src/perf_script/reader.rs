//! The reader of samples, line by line.

use super::call::Call;
use super::header::Header;
use super::stack::StackLines;
use super::threads::Threads;
use crate::names::units_of_event;
use crate::recording::{Built, NO_CALL_CHAINS, RecordingBuilder, Sample, SampleTypeIx, StackIx};
use crate::source::ReadOptions;
use crate::wire::text::{decimal, excerpt};
use hashbrown::HashMap;
use sto_model::Origin;
use sto_model::units::{Cost, Unit};

/// Default limit of the kernel and perf to the length of a call chain (`PERF_MAX_STACK_DEPTH`,
/// `kernel.perf_event_max_stack`). A stack that reaches it was cut.
const MAX_STACK: usize = 127;

const A_SAMPLE: &str = "a sample, as in `prog 123 [000] 4.567890: 1000 cycles:`";
const A_CALL: &str = "a line of a sample's stack, as in `7f3a work+0x1c (/usr/bin/prog)`";

fn unexpected(expected: &str, line: &[u8]) -> String {
    format!(
        "expected {expected}, found {}; print the recording with the default fields: \
         `perf script -i perf.data`",
        excerpt(line)
    )
}

/// The fields of a line that begins a sample or another record. Such a line always ends the
/// previous sample, so that reading can begin at it.
pub(super) fn header(line: &[u8]) -> Option<Header<'_>> {
    match line {
        [b'\t' | b'#', ..] => None,
        _ => Header::parse(line),
    }
}

/// `-F +srcline` prints the source line below each line of a stack, indented by two spaces: `
/// work.c:12`.
fn is_source_line(line: &[u8]) -> bool {
    matches!(line, [b' ', b' ', next, ..] if *next != b' ') && Call::parse(line).is_none()
}

#[derive(Default)]
pub(super) struct Reader {
    pub(super) line_number: usize,
    builder: RecordingBuilder,
    /// Sample types by name, without and with periods.
    known_types: [HashMap<Box<[u8]>, SampleTypeIx>; 2],
    threads: Threads,
    lost: Lost,
    any_call_chain: bool,
    /// The sample whose stack is being read.
    open: Option<Sample>,
    stack: StackLines,
}

impl Reader {
    pub(super) fn new(options: &ReadOptions) -> Reader {
        Reader {
            builder: options.builder(),
            ..Reader::default()
        }
    }

    pub(super) fn line(&mut self, line: &[u8]) -> Result<(), String> {
        self.line_number += 1;
        if line.trim_ascii().is_empty() {
            return Ok(self.end_sample()?);
        }
        if let Some(header) = header(line) {
            return self.begin_sample(header);
        }
        match line {
            [b'#', comment @ ..] => {
                self.comment(comment);
                Ok(())
            }
            [b'\t', ..] => self.call(line),
            _ if is_source_line(line) || line.starts_with(b"PERF_RECORD_") => Ok(()),
            // An editor may have replaced the tabs by spaces,
            [b' ', ..] => self.call(line),
            // or removed them.
            _ if self.open.is_some() && Call::parse(line).is_some() => self.call(line),
            _ => Err(unexpected(A_SAMPLE, line)),
        }
    }

    pub(super) fn builder(&mut self) -> &mut RecordingBuilder {
        &mut self.builder
    }

    fn begin_sample(&mut self, header: Header<'_>) -> Result<(), String> {
        self.end_sample()?;
        // `--show-mmap-events` and similar options print other records.
        if header.is_other_record() {
            self.lost.add(header.rest);
            return Ok(());
        }
        self.open = Some(Sample {
            stack: StackIx(0),
            truncated: false,
            thread: self.threads.insert(&header, &mut self.builder),
            sample_type: self
                .sample_type(header.event.unwrap_or(b"samples"), header.period.is_some())?,
            time: header.time,
            cost: Cost {
                samples: 1,
                value: header.period.unwrap_or(1),
            },
        });
        // It may also be the fields of a tracepoint; only a function is followed by its file.
        if header.rest.ends_with(b")") && Call::parse(header.rest).is_some() {
            self.call(header.rest)?;
            self.end_sample()?;
        }
        Ok(())
    }

    fn call(&mut self, line: &[u8]) -> Result<(), String> {
        if self.open.is_none() {
            return Err(unexpected(A_SAMPLE, line));
        }
        let call = Call::parse(line).ok_or_else(|| unexpected(A_CALL, line))?;
        Ok(self.stack.add(&call, &mut self.builder)?)
    }

    /// Ends the open sample, if there is one. After an error it stays open.
    fn end_sample(&mut self) -> Built<()> {
        let Some(sample) = self.open else {
            return Ok(());
        };
        let (stack, calls) = self.stack.finish(&mut self.builder)?;
        self.builder.push_sample(Sample {
            stack,
            truncated: calls >= MAX_STACK,
            ..sample
        });
        self.any_call_chain |= calls > 1;
        self.open = None;
        Ok(())
    }

    fn sample_type(&mut self, event: &[u8], has_period: bool) -> Built<SampleTypeIx> {
        let known = &mut self.known_types[usize::from(has_period)];
        if let Some(&known) = known.get(event) {
            return Ok(known);
        }
        let name = self.builder.text(event).into_owned();
        let unit = if has_period {
            units_of_event(&name)
        } else {
            Unit::Samples
        };
        let ix = self.builder.try_sample_type(&name, unit)?;
        known.insert(event.into(), ix);
        Ok(ix)
    }

    /// Reads a header line about the machine, as printed by `perf script --header`.
    fn comment(&mut self, comment: &[u8]) {
        let Some(colon) = memchr::memchr(b':', comment) else {
            return;
        };
        let field: fn(&mut Origin) -> &mut Option<String> = match comment[..colon].trim_ascii() {
            b"hostname" => |origin| &mut origin.host,
            b"os release" => |origin| &mut origin.kernel,
            b"arch" => |origin| &mut origin.arch,
            b"cpudesc" => |origin| &mut origin.cpu,
            b"cmdline" => |origin| &mut origin.command,
            _ => return,
        };
        let value = self.builder.text(comment[colon + 1..].trim_ascii());
        *field(&mut self.builder.origin) = Some(value.into_owned());
    }

    /// Appends the result of another reader of the text that follows, whose first line begins a
    /// sample. The result is the same as if this reader had read that text.
    pub(super) fn append(&mut self, mut later: Reader) -> Built<()> {
        self.end_sample()?;
        later.end_sample()?;
        let sample_types = self.append_types(&later)?;
        let from = &later.builder;
        let threads = self.threads.append(&later.threads, from, &mut self.builder);
        let stacks = self.builder.append(&later.builder)?;
        for sample in later.builder.samples.into_iter() {
            self.builder.push_sample(Sample {
                stack: stacks[sample.stack.get()],
                thread: threads[sample.thread.get()],
                sample_type: sample_types[sample.sample_type.get()],
                ..sample
            });
        }
        self.append_origin(later.builder.origin);
        self.lost.append(later.lost);
        self.any_call_chain |= later.any_call_chain;
        self.line_number += later.line_number;
        Ok(())
    }

    fn append_types(&mut self, later: &Reader) -> Built<Vec<SampleTypeIx>> {
        let [without, with] = &later.known_types;
        let without = without.iter().map(|(event, ix)| (ix, event, false));
        let mut types: Vec<_> = without
            .chain(with.iter().map(|(event, ix)| (ix, event, true)))
            .collect();
        types.sort_unstable();
        types
            .into_iter()
            .map(|(_, event, has_period)| self.sample_type(event, has_period))
            .collect()
    }

    fn append_origin(&mut self, later: Origin) {
        let origin = &mut self.builder.origin;
        for (field, later) in [
            (&mut origin.host, later.host),
            (&mut origin.kernel, later.kernel),
            (&mut origin.arch, later.arch),
            (&mut origin.cpu, later.cpu),
            (&mut origin.command, later.command),
        ] {
            if later.is_some() {
                *field = later;
            }
        }
    }

    pub(super) fn finish(mut self) -> Built<RecordingBuilder> {
        self.end_sample()?;
        let mut builder = self.builder;
        builder.origin.duration = builder.duration();
        builder.lost = self.lost.all();
        self.threads.finish(&mut builder);
        let is_without = !self.any_call_chain && !builder.samples.is_empty();
        let no_stacks = is_without.then(|| NO_CALL_CHAINS.to_owned());
        builder.warnings.extend(no_stacks);
        Ok(builder)
    }
}

/// Numbers of lost events. perf counts them as they happen (`PERF_RECORD_LOST lost 5`) and, since
/// Linux 6.1, prints the total at the end (`PERF_RECORD_LOST_SAMPLES lost 5`).
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

    fn append(&mut self, later: Lost) {
        self.events = self.events.saturating_add(later.events);
        self.samples = self.samples.saturating_add(later.samples);
    }

    fn all(&self) -> u64 {
        self.events.max(self.samples)
    }
}
