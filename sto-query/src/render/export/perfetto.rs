//! Perfetto traces in Protocol Buffers: calls over time, as track events.
//!
//! Source: `protos/perfetto/trace` of <https://github.com/google/perfetto>.

use crate::QueryError;
use crate::calls::{CallTrace, nest_records};
use crate::error::ExportError;
use hashbrown::{HashMap, HashSet};
use std::io::{self, BufWriter, Write};
use sto_core::formats::MessageWriter;
use sto_core::model::FrameIx;
use sto_core::trace::{CallRecord, CallThread, Expression};
use sto_core::tree::NodeIx;
use sto_core::units::Nanoseconds;

/// Writes the calls of a run's threads as track events, with one track per thread and one slice per
/// call.
///
/// If every call was kept, each is a slice. Otherwise only long calls are, and shorter consecutive
/// calls are one slice per stack, as long as its calls took together, with their number in the
/// argument `calls`. These slices are placed side by side from the begin of the first call. Modules
/// are categories, files and lines are source locations. Times are in the clock of the recording.
///
/// # Errors
///
/// Returns an error if the store cannot be read, or `writer` fails.
pub fn perfetto(run: &CallTrace, writer: impl Write) -> Result<(), QueryError> {
    let mut trace = Trace {
        run,
        file: BufWriter::new(writer),
        track: 0,
        flags: CLEARED,
        known: HashSet::new(),
        processes: HashMap::new(),
        open: Vec::new(),
    };
    let everything = (Nanoseconds(0), Nanoseconds(u64::MAX));
    let part = run.window().unwrap_or(everything);
    for (ix, of) in run.calls.threads.iter().enumerate() {
        trace.thread(&of.thread).map_err(ExportError::Io)?;
        let written = match &run.kept {
            Some(kept) => {
                let mut written = Ok(());
                kept.visit_calls_during(ix, part, |call| {
                    let slice = Slice {
                        depth: call.depth as usize,
                        stack: call.stack,
                        begin: call.begin,
                        end: call.end,
                        calls: None,
                    };
                    if written.is_ok() {
                        written = trace.slice(&slice);
                    }
                })?;
                written
            }
            None => trace.records(&of.records),
        };
        written
            .and_then(|()| trace.end(0))
            .map_err(ExportError::Io)?;
    }
    Ok(trace.file.flush().map_err(ExportError::Io)?)
}

/// `TracePacket.SequenceFlags`: interned names are reset by, or needed by, this packet.
const CLEARED: u64 = 1;
const NEEDED: u64 = 2;

/// `TrackEvent.Type`.
const BEGIN: u64 = 1;
const END: u64 = 2;

struct Trace<'r, W> {
    run: &'r CallTrace,
    file: W,
    /// The current track. Tracks are numbered from 1.
    track: u64,
    flags: u64,
    /// Frames whose names were written.
    known: HashSet<FrameIx>,
    /// Tracks of processes by process id.
    processes: HashMap<u32, u64>,
    /// Ends of the open slices of the track.
    open: Vec<Nanoseconds>,
}

struct Slice {
    depth: usize,
    stack: NodeIx,
    begin: Nanoseconds,
    end: Nanoseconds,
    /// Number of calls that the slice sums up.
    calls: Option<u64>,
}

impl<W: Write> Trace<'_, W> {
    /// Begins the track of a thread, or a named track if it is not a real thread.
    fn thread(&mut self, thread: &CallThread) -> io::Result<()> {
        let process = self.process(thread)?;
        let (mut track, mut about) = (MessageWriter::default(), MessageWriter::default());
        if thread.tid == 0 {
            track.bytes(2, thread.name.as_bytes());
            track.number(5, process);
        } else {
            about.number(1, thread.pid.into());
            about.number(2, thread.tid.into());
            about.bytes(5, thread.name.as_bytes());
            track.message(4, &about);
        }
        self.new_track(track).map(drop)
    }

    /// Returns the track of a thread's process; 0 if the process is unknown.
    fn process(&mut self, thread: &CallThread) -> io::Result<u64> {
        if thread.pid == 0 {
            return Ok(0);
        }
        if let Some(&track) = self.processes.get(&thread.pid) {
            return Ok(track);
        }
        let (mut track, mut process) = (MessageWriter::default(), MessageWriter::default());
        process.number(1, thread.pid.into());
        process.bytes(6, thread.program.as_bytes());
        track.message(3, &process);
        let track = self.new_track(track)?;
        self.processes.insert(thread.pid, track);
        Ok(track)
    }

    fn new_track(&mut self, mut track: MessageWriter) -> io::Result<u64> {
        self.track += 1;
        track.number(1, self.track);
        let mut packet = MessageWriter::default();
        packet.message(60, &track);
        self.packet(packet)?;
        Ok(self.track)
    }

    fn packet(&mut self, mut packet: MessageWriter) -> io::Result<()> {
        packet.number(10, 1);
        packet.number(13, self.flags);
        self.flags = NEEDED;
        let mut file = MessageWriter::default();
        file.message(1, &packet);
        self.file.write_all(&file.bytes)
    }

    fn records(&mut self, records: &[CallRecord<NodeIx>]) -> io::Result<()> {
        let mut depths: Vec<usize> = Vec::with_capacity(records.len());
        for of in nest_records(records, &self.run.view.tree) {
            let depth = of.caller.map_or(0, |caller| depths[caller] + 1);
            depths.push(depth);
            match of.record {
                CallRecord::Call(call) => self.slice(&Slice {
                    depth,
                    stack: call.stack,
                    begin: call.begin,
                    end: call.end,
                    calls: None,
                })?,
                CallRecord::Expression(expression) => self.expression(depth, expression)?,
            }
        }
        Ok(())
    }

    /// Writes the tree of an expression's stacks.
    fn expression(&mut self, depth: usize, expression: &Expression<NodeIx>) -> io::Result<()> {
        let stacks = &expression.stacks;
        let numbers = stacks.iter().zip(0..);
        let number_of: HashMap<NodeIx, usize> = numbers.map(|(of, ix)| (of.stack, ix)).collect();
        let tree = &self.run.view.tree;
        // The last entry holds the outermost stacks of the expression.
        let outermost = stacks.len();
        let mut callees = vec![Vec::new(); stacks.len() + 1];
        let mut callers = Vec::with_capacity(stacks.len());
        for (ix, of) in stacks.iter().enumerate() {
            let mut up = tree.ancestors(of.stack).skip(1);
            let caller = up.find_map(|node| number_of.get(&node).copied());
            let caller = caller.unwrap_or(outermost);
            callees[caller].push(ix);
            callers.push(caller);
        }
        // End of each stack, and begin of its next callee.
        let mut times = vec![(expression.end, expression.begin); stacks.len() + 1];
        let in_order = |callees: &[usize], depth| {
            let callees = callees.iter().rev();
            callees.map(|&ix| (ix, depth)).collect::<Vec<_>>()
        };
        let mut open = in_order(&callees[outermost], depth);
        while let Some((ix, depth)) = open.pop() {
            let of = &stacks[ix];
            let (last, begin) = times[callers[ix]];
            let end = Nanoseconds(begin.0.saturating_add(of.duration.0)).min(last);
            times[callers[ix]].1 = end;
            times[ix] = (end, begin);
            self.slice(&Slice {
                depth,
                stack: of.stack,
                begin,
                end,
                calls: Some(of.calls),
            })?;
            open.extend(in_order(&callees[ix], depth + 1));
        }
        Ok(())
    }

    /// Begins a slice after ending the slices that are at its depth or deeper.
    fn slice(&mut self, slice: &Slice) -> io::Result<()> {
        self.end(slice.depth)?;
        self.open.push(slice.end);
        let (mut packet, mut event) = (MessageWriter::default(), MessageWriter::default());
        let frame_ix = self.run.view.tree.frame(slice.stack);
        let frame = self.run.view.frames.frame(frame_ix);
        let number = u64::from(frame_ix.0) + 1;
        if self.known.insert(frame_ix) {
            packet.message(12, &self.names(slice.stack, number));
        }
        event.number(9, BEGIN);
        event.number(10, number);
        if !frame.module.is_empty() {
            event.number(3, number);
        }
        if !frame.file.is_empty() {
            event.number(34, number);
        }
        if let Some(calls) = slice.calls {
            let mut argument = MessageWriter::default();
            argument.bytes(10, b"calls");
            argument.number(3, calls);
            event.message(4, &argument);
        }
        self.event(packet, event, slice.begin)
    }

    /// Ends the slices from this depth on.
    fn end(&mut self, depth: usize) -> io::Result<()> {
        while self.open.len() > depth
            && let Some(end) = self.open.pop()
        {
            let mut event = MessageWriter::default();
            event.number(9, END);
            self.event(MessageWriter::default(), event, end)?;
        }
        Ok(())
    }

    fn event(
        &mut self,
        mut packet: MessageWriter,
        mut event: MessageWriter,
        at: Nanoseconds,
    ) -> io::Result<()> {
        event.number(11, self.track);
        packet.number_or_zero(8, at.0);
        packet.message(11, &event);
        self.packet(packet)
    }

    /// Returns the `InternedData` for a frame's number.
    fn names(&self, stack: NodeIx, number: u64) -> MessageWriter {
        let frame = self.run.view.frames.frame(self.run.view.tree.frame(stack));
        let mut names = MessageWriter::default();
        let mut add = |field: u32, name: &str| {
            let mut entry = MessageWriter::default();
            entry.number(1, number);
            entry.bytes(2, name.as_bytes());
            names.message(field, &entry);
        };
        add(2, self.run.function(stack));
        if !frame.module.is_empty() {
            add(1, frame.module);
        }
        if !frame.file.is_empty() {
            let mut location = MessageWriter::default();
            location.number(1, number);
            location.bytes(2, frame.file.as_bytes());
            location.bytes(3, self.run.function(stack).as_bytes());
            location.number(4, frame.line.into());
            names.message(4, &location);
        }
        names
    }
}
