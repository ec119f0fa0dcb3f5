//! From the lines of one stack to its locations.

use super::call::Call;
use crate::recording::{Built, LocationIx, RecordingBuilder, StackIx};
use hashbrown::{Equivalent, HashMap};
use sto_model::FrameKind;

/// The stack of one sample after the other.
#[derive(Default)]
pub(super) struct StackLines {
    /// By symbol and file, so that what addresses share is parsed once.
    known: HashMap<Owned, Function>,
    inlined_names: Vec<Box<str>>,
    /// Locations of inlined functions, by the one that they were inlined into.
    inlined_into: HashMap<(usize, Option<LocationIx>), LocationIx>,
    /// Numbers of the files that have code without symbols.
    bare_files: usize,
    /// Locations without symbols, by file and offset; `None` stands for all that are no offsets.
    bare: HashMap<(usize, Option<u32>), LocationIx>,
    /// The stack so far, innermost frame first.
    stack: Vec<LocationIx>,
    /// Its last lines, if they are functions inlined into one whose line comes later: instruction
    /// pointers, and indices in `inlined_names`.
    inlined: Vec<(u64, usize)>,
    /// Number of its frames that are not inlined.
    calls: usize,
}

/// A symbol and its file as they are written.
#[derive(Hash)]
struct Written<'t>(&'t [u8], &'t [u8]);

type Owned = (Box<[u8]>, Box<[u8]>);

#[derive(Clone, Copy)]
enum Function {
    Called(LocationIx),
    /// An index in [`StackLines::inlined_names`].
    Inlined(usize),
    /// The number of a file, which has no symbol there.
    Bare(usize),
}

impl Equivalent<Owned> for Written<'_> {
    fn equivalent(&self, (symbol, file): &Owned) -> bool {
        *self.0 == **symbol && *self.1 == **file
    }
}

impl StackLines {
    /// Adds the next line, that of a caller.
    pub(super) fn add(&mut self, call: &Call<'_>, stacks: &mut RecordingBuilder) -> Built<()> {
        let location = match self.function(call, stacks)? {
            Function::Inlined(name) => {
                self.inlined.push((call.ip, name));
                return Ok(());
            }
            Function::Called(location) => location,
            Function::Bare(file) => self.bare(file, call, stacks)?,
        };
        self.push_inlined(Some((call.ip, location)), stacks)?;
        self.stack.push(location);
        self.calls += 1;
        Ok(())
    }

    /// Ends the stack, and begins the next one; says how many of its frames are not inlined.
    pub(super) fn finish(&mut self, stacks: &mut RecordingBuilder) -> Built<(StackIx, usize)> {
        self.push_inlined(None, stacks)?;
        self.stack.reverse();
        let stack = stacks.stack(&self.stack)?;
        self.stack.clear();
        Ok((stack, std::mem::take(&mut self.calls)))
    }

    fn function(&mut self, call: &Call<'_>, stacks: &mut RecordingBuilder) -> Built<Function> {
        if let Some(&known) = self.known.get(&Written(call.symbol, call.dso)) {
            return Ok(known);
        }
        let function = if call.is_inlined() {
            let name = stacks.text(call.symbol);
            self.inlined_names.push(name.into());
            Function::Inlined(self.inlined_names.len() - 1)
        } else if call.is_resolved() {
            let (symbol, module) = (stacks.text(call.symbol), stacks.text(call.module()));
            Function::Called(stacks.function(call.kind(), &symbol, &module)?)
        } else {
            self.bare_files += 1;
            Function::Bare(self.bare_files - 1)
        };
        self.known
            .insert((call.symbol.into(), call.dso.into()), function);
        Ok(function)
    }

    /// The location of an address without a symbol.
    fn bare(
        &mut self,
        file: usize,
        call: &Call<'_>,
        stacks: &mut RecordingBuilder,
    ) -> Built<LocationIx> {
        // Offsets in a file are the same in every run; addresses are not, and lie higher.
        let offset = u32::try_from(call.ip).ok();
        if let Some(&location) = self.bare.get(&(file, offset)) {
            return Ok(location);
        }
        let module = stacks.text(call.module());
        let symbol = match (&*module, offset) {
            ("", _) => "[unknown]".to_owned(),
            (name, _) if name.starts_with('[') => name.to_owned(),
            (name, Some(offset)) => format!("[{name}+0x{offset:x}]"),
            (name, None) => format!("[{name}]"),
        };
        let location = stacks.function(FrameKind::Unresolved, &symbol, &module)?;
        self.bare.insert((file, offset), location);
        Ok(location)
    }

    /// Puts inlined functions onto the stack, now that the function that they were inlined into
    /// is known: the one with the same instruction pointer.
    ///
    /// Where a function's names in its symbol table and its debug information differ, perf prints
    /// it as inlined into nothing; such a function is taken for one that was called.
    fn push_inlined(
        &mut self,
        into: Option<(u64, LocationIx)>,
        stacks: &mut RecordingBuilder,
    ) -> Built<()> {
        for (ip, name) in self.inlined.drain(..) {
            let into = into.filter(|&(outer, _)| outer == ip);
            let into = into.map(|(_, location)| location);
            let location = match self.inlined_into.get(&(name, into)) {
                Some(&location) => location,
                None => {
                    let symbol = &self.inlined_names[name];
                    let location = match into {
                        Some(into) => stacks.inlined(symbol, into)?,
                        None => stacks.function(FrameKind::User, symbol, "")?,
                    };
                    *self.inlined_into.entry((name, into)).insert(location).get()
                }
            };
            self.stack.push(location);
        }
        Ok(())
    }
}
