//! Output of Android's `simpleperf report-sample --protobuf`.
//!
//! Source: `cmd_report_sample.proto` of `system/extras/simpleperf` of the Android Open Source
//! Project.

use crate::error::{DecodeError, Decoded};
use crate::names::{NamedFrame, kind_by_module, module_name, units_of_event};
use crate::recording::{Built, LocationIx, RecordingBuilder, Sample, SampleTypeIx, ThreadIx};
use crate::source::{Head, ReadOptions};
use crate::wire::protobuf::{Message, fields};
use hashbrown::HashMap;
use sto_model::FrameKind;
use sto_model::bytes::Cursor;
use sto_model::units::{Cost, Nanoseconds};

const MAGIC: &[u8] = b"SIMPLEPERF";
const VERSION: u16 = 1;

pub(super) fn matches(head: &Head<'_>) -> bool {
    head.bytes.starts_with(MAGIC)
}

pub(super) fn read(bytes: &[u8], options: &ReadOptions) -> Decoded<RecordingBuilder> {
    let mut profile = Profile {
        builder: options.builder(),
        ..Profile::default()
    };
    let mut samples = Vec::new();
    records(bytes, |mut record| {
        while let Some(field) = record.next()? {
            match field.number {
                1 => samples.push(field.message()?),
                2 => profile.lost(field.message()?)?,
                3 => profile.file(field.message()?)?,
                4 => profile.thread(field.message()?)?,
                5 => profile.meta(field.message()?)?,
                _ => {}
            }
        }
        Ok(())
    })?;
    // Samples refer to records that come after them.
    for sample in samples {
        profile.sample(sample)?;
    }
    profile.builder.lost = profile.lost;
    Ok(profile.builder)
}

/// Calls a function for each record. Each record follows its size; a size of 0 ends the file.
fn records<'b>(bytes: &'b [u8], mut read: impl FnMut(Message<'b>) -> Decoded<()>) -> Decoded<()> {
    let cut = |_| DecodeError::cut(bytes.len(), "before the last of its records");
    let mut rest = Cursor::at_position(bytes, MAGIC.len());
    let version = rest.u16().map_err(cut)?;
    if version != VERSION {
        let problem = format!("version {version}; expected {VERSION}");
        return Err(DecodeError::new(MAGIC.len(), problem));
    }
    loop {
        let size = rest.u32().map_err(cut)?;
        if size == 0 {
            return Ok(());
        }
        let record = rest.part(size.into()).map_err(cut)?;
        read(Message::from_part(record.rest(), record.at()))?;
    }
}

#[derive(Default)]
struct Profile<'b> {
    builder: RecordingBuilder,
    events: Vec<SampleTypeIx>,
    files: HashMap<u64, File<'b>>,
    threads: HashMap<u64, Thread<'b>>,
    lost: u64,
    /// Threads by id.
    known: HashMap<u64, ThreadIx>,
    /// Locations by file, symbol and execution type.
    locations: HashMap<[u64; 3], LocationIx>,
}

struct File<'b> {
    path: &'b [u8],
    symbols: Vec<&'b [u8]>,
}

#[derive(Clone, Copy)]
struct Thread<'b> {
    pid: u64,
    name: &'b [u8],
}

impl<'b> Profile<'b> {
    fn meta(&mut self, message: Message<'b>) -> Decoded<()> {
        let mut events = Vec::new();
        fields!(message, { 1 => events });
        for event in events {
            let event = self.builder.text(event).into_owned();
            let unit = units_of_event(&event);
            let event = self.builder.try_sample_type(&event, unit);
            self.events
                .push(event.map_err(DecodeError::at(message.at()))?);
        }
        Ok(())
    }

    fn file(&mut self, message: Message<'b>) -> Decoded<()> {
        let (mut id, mut paths, mut symbols) = (0, Vec::new(), Vec::new());
        fields!(message, { 1 => id, 2 => paths, 3 => symbols });
        let path = paths.pop().unwrap_or_default();
        self.files.insert(id, File { path, symbols });
        Ok(())
    }

    fn thread(&mut self, message: Message<'b>) -> Decoded<()> {
        let (mut tid, mut pid, mut names) = (0, 0, Vec::new());
        fields!(message, { 1 => tid, 2 => pid, 3 => names });
        let name = names.pop().unwrap_or_default();
        self.threads.insert(tid, Thread { pid, name });
        Ok(())
    }

    fn lost(&mut self, message: Message<'b>) -> Decoded<()> {
        let mut lost = 0;
        fields!(message, { 2 => lost });
        self.lost = lost;
        Ok(())
    }

    fn sample(&mut self, message: Message<'b>) -> Decoded<()> {
        let (mut time, mut tid, mut count, mut event) = (0, 0, 0, 0);
        let (mut calls, mut unwinding) = (Vec::new(), Vec::<Message<'b>>::new());
        fields!(message, {
            1 => time,
            2 => tid,
            3 => calls,
            4 => count,
            5 => event,
            6 => unwinding,
        });
        let event = usize::try_from(event)
            .ok()
            .and_then(|event| self.events.get(event).copied());
        let Some(event) = event else {
            let problem =
                "a sample of an event that the file does not name; was it cut short, or edited?";
            return Err(DecodeError::new(message.at(), problem));
        };
        let thread = self.thread_of(tid);
        let mut stack = Vec::with_capacity(calls.len());
        for call in calls.into_iter().rev() {
            stack.push(self.location(call)?);
        }
        let stack = self
            .builder
            .stack(&stack)
            .map_err(DecodeError::at(message.at()))?;
        let cost = Cost {
            samples: 1,
            value: count,
        };
        self.builder.push_sample(Sample {
            stack,
            thread,
            sample_type: event,
            time: Some(Nanoseconds(time)),
            cost,
            // The field says why callers are missing.
            truncated: !unwinding.is_empty(),
        });
        Ok(())
    }

    fn thread_of(&mut self, tid: u64) -> ThreadIx {
        if let Some(&known) = self.known.get(&tid) {
            return known;
        }
        let nobody = Thread { pid: 0, name: b"" };
        let thread = self.threads.get(&tid).copied().unwrap_or(nobody);
        let main = self.threads.get(&thread.pid).copied().unwrap_or(nobody);
        let (name, program) = (
            String::from_utf8_lossy(thread.name),
            String::from_utf8_lossy(main.name),
        );
        let process = self.builder.process(thread.pid as u32, &program);
        let thread = self.builder.thread_unchecked(process, tid as u32, &name);
        self.known.insert(tid, thread);
        thread
    }

    fn location(&mut self, message: Message<'b>) -> Decoded<LocationIx> {
        let (mut file, mut symbol, mut kind) = (0, 0, 0);
        fields!(message, { 2 => file, 3 => symbol, 4 => kind });
        if let Some(&known) = self.locations.get(&[file, symbol, kind]) {
            return Ok(known);
        }
        let Some(of) = self.files.get(&file) else {
            return Err(DecodeError::undefined_id(message.at(), "file", file));
        };
        let symbol_ix = usize::try_from(symbol as i64).ok();
        let name = symbol_ix.and_then(|symbol| of.symbols.get(symbol).copied());
        let location = frame(of.path, name, kind, &mut self.builder);
        let location = location.map_err(DecodeError::at(message.at()))?;
        self.locations.insert([file, symbol, kind], location);
        Ok(location)
    }
}

fn frame(
    path: &[u8],
    symbol: Option<&[u8]>,
    kind: u64,
    builder: &mut RecordingBuilder,
) -> Built<LocationIx> {
    let module = module_name(path);
    let unresolved = if module.starts_with(b"[") {
        module.to_vec()
    } else {
        [b"[", module, b"]"].concat()
    };
    let frame = NamedFrame {
        symbol: symbol.unwrap_or(&unresolved),
        module,
        kind: match (symbol, kind) {
            (None, _) => Some(FrameKind::Unresolved),
            (_, 1) => Some(FrameKind::Interpreted),
            (_, 2) => Some(FrameKind::Jit),
            _ => Some(kind_by_module(path)),
        },
        ..NamedFrame::default()
    };
    frame.add(builder)
}
