//! Output of ftrace's tracer `function_graph`, from `/sys/kernel/tracing/trace` or `trace-cmd
//! report`.
//!
//! Source: Linux, `Documentation/trace/ftrace.rst`.
//!
//! See [the manual](crate::manual::ftrace).

mod layout;
mod line;

use crate::calls;
use crate::error::{DecodeError, Decoded};
use crate::names::NamedFrame;
use crate::recording::RecordingBuilder;
use crate::source::{Head, LineReader, ReadOptions};
use crate::wire::text::{excerpt, lines};
use hashbrown::HashMap;
use layout::Calls;
use line::{Event, EventKind, Line, REPORTED, line};
use sto_model::FrameKind;
use sto_model::trace::CallThread;
use sto_model::trace::log::{CallLogWriter, LostEvents, TraceThreadIx};
use sto_model::trace::paths::TraceFunctionIx;

/// Returns `true` if a text begins with the tracer's name or one of its lines.
pub(super) fn matches(head: &Head<'_>) -> bool {
    /// Number of lines searched for the first call.
    const MAX_LINES: usize = 64;
    let mut begin = lines(head.whole_lines()).take(MAX_LINES);
    begin.any(|(_, text)| {
        let text = text.trim_ascii();
        text.starts_with(b"# tracer: function_graph") || REPORTED.find(text).is_some()
    }) || head
        .first_line()
        .is_some_and(|first| matches!(line(first), Some(Line::Event(_))))
}

/// Makes a reader.
pub(super) fn reader(options: &ReadOptions) -> Box<dyn LineReader> {
    Box::new(Reader {
        log: CallLogWriter::new(options.call_folder.as_deref()),
        options: options.clone(),
        threads: Vec::new(),
        thread_of: HashMap::new(),
        cpus: HashMap::new(),
        names: HashMap::new(),
        in_order: Vec::new(),
        line: 0,
        has_times: false,
        unread: None,
    })
}

struct Reader {
    options: ReadOptions,
    log: CallLogWriter,
    /// Open calls of each thread.
    threads: Vec<Calls>,
    /// Index of a thread by name and pid, and by processor for the idle task.
    thread_of: HashMap<(Vec<u8>, u32, u32), usize>,
    /// By processor: the current thread, if known, and the end of its last call if there are no
    /// times.
    cpus: HashMap<u32, Cpu>,
    names: HashMap<Vec<u8>, TraceFunctionIx>,
    in_order: Vec<Vec<u8>>,
    line: usize,
    has_times: bool,
    /// Number of lines that were not understood, and the first of them.
    unread: Option<(u64, usize, String)>,
}

/// A processor.
#[derive(Default)]
struct Cpu {
    thread: Option<usize>,
    now: u64,
}

impl LineReader for Reader {
    fn block(&mut self, bytes: &[u8]) -> Decoded<()> {
        for (_, text) in lines(bytes) {
            self.line += 1;
            match line(text) {
                Some(Line::Event(event)) => self.event(&event)?,
                Some(Line::Switch { cpu, to }) => {
                    let thread = self.thread(to.name, to.pid, cpu);
                    self.cpus.entry(cpu).or_default().thread = Some(thread);
                }
                Some(Line::Lost { cpu, events }) => {
                    let thread = self.running(cpu);
                    let lost = if events > 0 {
                        LostEvents::Count(events)
                    } else {
                        LostEvents::Unknown
                    };
                    self.log.record_loss(TraceThreadIx(thread as u32), lost);
                }
                Some(Line::Other) => {}
                None => {
                    let unread = self
                        .unread
                        .get_or_insert_with(|| (0, self.line, excerpt(text)));
                    unread.0 += 1;
                }
            }
        }
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> Decoded<RecordingBuilder> {
        for thread in 0..self.threads.len() {
            self.write(thread, 0)?;
        }
        let mut builder = RecordingBuilder::default();
        if let Some((count, line, text)) = &self.unread {
            builder.warnings.push(format!(
                "{count} lines were not understood and were ignored; the first is line {line}: {text}."
            ));
        }
        if !self.has_times && !self.in_order.is_empty() {
            builder.warnings.push(
                "The trace has no times, so the calls of a thread follow one another without gaps; record with the option funcgraph-abstime to get times."
                    .to_owned(),
            );
        }
        let functions = self.in_order.iter().map(|name| {
            let (symbol, module) = match name.split_last_chunk() {
                Some((_, b"]")) => match memchr::memmem::rfind(name, b" [") {
                    Some(at) => (&name[..at], &name[at + 1..]),
                    None => (&name[..], &b"[kernel]"[..]),
                },
                _ => (&name[..], &b"[kernel]"[..]),
            };
            let frame = NamedFrame {
                symbol,
                module,
                kind: Some(FrameKind::Kernel),
                ..NamedFrame::default()
            };
            frame
                .add(&mut builder)
                .map_err(DecodeError::at("its functions"))
        });
        let functions = functions.collect::<Decoded<Vec<_>>>()?;
        calls::finish(builder, self.log, &functions, &self.options)
    }
}

impl Reader {
    fn event(&mut self, event: &Event<'_>) -> Decoded<()> {
        let Event {
            cpu,
            time,
            duration,
            ..
        } = *event;
        let thread = match event.task {
            Some(task) => self.thread(task.name, task.pid, cpu),
            None => self.running(cpu),
        };
        self.has_times |= time.is_some();
        let no = match &event.what {
            EventKind::Begin(name) | EventKind::Leaf(name) | EventKind::End(Some(name)) => {
                Some(self.number(name))
            }
            EventKind::End(None) => None,
        };
        let calls = &mut self.threads[thread];
        let log = &mut self.log.thread_logs()[thread];
        let have_ended = match (&event.what, no) {
            (EventKind::Begin(_), Some(no)) => {
                calls.begin(no, time);
                false
            }
            (EventKind::Leaf(_), Some(no)) => {
                calls.begin(no, time);
                calls.end(None, (None, duration.or(Some(0))), log)
            }
            _ => calls.end(no, (time, duration), log),
        };
        if have_ended {
            self.write(thread, cpu)
        } else {
            Ok(())
        }
    }

    /// Writes the calls of a thread. Without times, they follow the previous calls on the
    /// processor.
    fn write(&mut self, thread: usize, cpu: u32) -> Decoded<()> {
        let cpu = self.cpus.entry(cpu).or_default();
        let earliest = if self.has_times { 0 } else { cpu.now };
        let log = &mut self.log.thread_logs()[thread];
        cpu.now = self.threads[thread].write(earliest, log)?;
        Ok(())
    }

    fn number(&mut self, name: &[u8]) -> TraceFunctionIx {
        if let Some(&known) = self.names.get(name) {
            return known;
        }
        let no = TraceFunctionIx(self.in_order.len() as u32);
        self.names.insert(name.to_owned(), no);
        self.in_order.push(name.to_owned());
        no
    }

    /// The current thread of a processor; while it is unknown, a thread for the processor itself.
    fn running(&mut self, cpu: u32) -> usize {
        match self.cpus.get(&cpu).and_then(|cpu| cpu.thread) {
            Some(thread) => thread,
            None => {
                let name = format!("CPU {cpu}");
                self.thread(name.as_bytes(), 0, cpu)
            }
        }
    }

    /// A thread. The idle task, whose id is 0, is a thread per processor.
    fn thread(&mut self, name: &[u8], pid: u32, cpu: u32) -> usize {
        let cpu = if pid == 0 { cpu } else { 0 };
        if let Some(&known) = self.thread_of.get(&(name.to_owned(), pid, cpu)) {
            return known;
        }
        let text = String::from_utf8_lossy(name).into_owned();
        let no = self.log.intern_thread(CallThread {
            pid,
            program: text.clone(),
            tid: if pid == 0 { cpu } else { pid },
            name: text,
        });
        if no.get() == self.threads.len() {
            self.threads.push(Calls::default());
        }
        self.thread_of.insert((name.to_owned(), pid, cpu), no.get());
        no.get()
    }
}
