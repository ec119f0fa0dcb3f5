//! Python functions, and the stacks of threads.

use super::header::Header;
use super::lines::line;
use crate::names::NamedFrame;
use crate::recording::{LocationIx, ProcessIx, RecordingBuilder, StackIx};
use crate::wire::records::{RecordFailure, undefined_number};
use hashbrown::HashMap;
use sto_model::bytes::Cursor;

/// Code objects and, since version 12, the lines of their calls.
#[derive(Default)]
pub(super) struct Code {
    first_line: i64,
    functions: HashMap<u64, Function>,
    frames: HashMap<(u64, i64), LocationIx>,
}

struct Function {
    symbol: Box<[u8]>,
    file: Box<[u8]>,
    first_line: i64,
    table: Box<[u8]>,
}

impl Code {
    /// Reads a function.
    pub(super) fn function(&mut self, bytes: &mut Cursor<'_>) -> Result<(), RecordFailure> {
        let (number, symbol, file) = (bytes.varint()?, bytes.until_zero()?, bytes.until_zero()?);
        let (lines, length) = (bytes.signed_varint()?, bytes.varint()?);
        let table = bytes.take(length)?;
        self.first_line = self.first_line.wrapping_add(lines);
        let function = Function {
            symbol: symbol.into(),
            file: file.into(),
            // Python's line numbers have 32 bits.
            first_line: i64::from(self.first_line as i32),
            table: table.into(),
        };
        self.functions.insert(number, function);
        Ok(())
    }

    /// Reads a function's number and the offset of the calling instruction.
    pub(super) fn frame(
        &mut self,
        header: &Header,
        bytes: &mut Cursor<'_>,
        builder: &mut RecordingBuilder,
    ) -> Result<LocationIx, RecordFailure> {
        let (number, instruction) = (bytes.varint()?, bytes.signed_varint()?);
        if let Some(&known) = self.frames.get(&(number, instruction)) {
            return Ok(known);
        }
        let function = self
            .functions
            .get(&number)
            .ok_or_else(|| undefined_number("function", number))?;
        let (table, first) = (&function.table, function.first_line);
        let frame = NamedFrame {
            symbol: &function.symbol,
            file: &function.file,
            line: line(header.python, table, first, instruction),
            ..NamedFrame::default()
        };
        let location = frame.add(builder)?;
        self.frames.insert((number, instruction), location);
        Ok(location)
    }
}

/// The threads, in the order in which they first occur.
#[derive(Default)]
pub(super) struct Threads {
    by_id: HashMap<u64, usize>,
    threads: Vec<Thread>,
    /// The current thread.
    current: Option<usize>,
}

struct Thread {
    id: u64,
    name: Box<[u8]>,
    /// The stack of each open call; `None` for memray's own frames.
    stacks: Vec<Option<StackIx>>,
}

impl Threads {
    pub(super) fn enter(&mut self, id: u64) -> usize {
        let place = *self.by_id.entry(id).or_insert_with(|| {
            self.threads.push(Thread {
                id,
                name: Box::default(),
                stacks: Vec::new(),
            });
            self.threads.len() - 1
        });
        self.current = Some(place);
        place
    }

    pub(super) fn name(&mut self, name: &[u8]) -> Result<(), String> {
        let (_, thread) = self.current()?;
        thread.name = name.into();
        Ok(())
    }

    pub(super) fn call(
        &mut self,
        header: &Header,
        location: LocationIx,
        builder: &mut RecordingBuilder,
    ) -> Result<(), String> {
        let (_, thread) = self.current()?;
        let is_own = thread.id == header.main_thread && thread.stacks.len() < header.own_frames;
        let stack = if is_own {
            None
        } else {
            Some(builder.call(thread.stacks.last().copied().flatten(), location)?)
        };
        thread.stacks.push(stack);
        Ok(())
    }

    pub(super) fn end_calls(&mut self, count: usize) -> Result<(), String> {
        let (_, thread) = self.current()?;
        let left = thread.stacks.len().checked_sub(count);
        let left = left.ok_or("more calls end than began; was the file damaged?")?;
        thread.stacks.truncate(left);
        Ok(())
    }

    /// The current thread and its stack.
    pub(super) fn site(&mut self) -> Result<(usize, Option<StackIx>), String> {
        let (place, thread) = self.current()?;
        Ok((place, thread.stacks.last().copied().flatten()))
    }

    fn current(&mut self) -> Result<(usize, &mut Thread), String> {
        let current = self
            .current
            .and_then(|place| Some((place, self.threads.get_mut(place)?)));
        current.ok_or_else(|| "a record of a thread, before the first thread".to_owned())
    }

    /// Returns `true` for the thread with memray's own frames.
    pub(super) fn is_main(&self, header: &Header, place: usize) -> bool {
        self.threads
            .get(place)
            .is_some_and(|thread| thread.id == header.main_thread)
    }

    /// Adds the threads to a recording.
    pub(super) fn add(self, process: ProcessIx, builder: &mut RecordingBuilder) {
        for thread in self.threads {
            let name = builder.text(&thread.name).into_owned();
            match u32::try_from(thread.id) {
                Ok(id) => builder.new_thread(process, id, &name),
                Err(_) if name.is_empty() => {
                    builder.new_thread(process, 0, &format!("{:#x}", thread.id))
                }
                Err(_) => builder.new_thread(process, 0, &name),
            };
        }
    }
}
