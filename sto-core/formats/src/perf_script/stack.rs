//! Conversion of the lines of a stack to locations.

use super::call::Call;
use crate::recording::{Built, LocationIx, RecordingBuilder, StackIx};
use hashbrown::{Equivalent, HashMap};
use sto_model::FrameKind;

/// Collects the stack of one sample after the other.
#[derive(Default)]
pub(super) struct StackLines {
    /// Functions by symbol and file, so that each is parsed once for all its addresses.
    known: HashMap<Owned, Function>,
    inlined_names: Vec<Box<str>>,
    /// Locations of inlined functions, by name and by the function they were inlined into.
    inlined_into: HashMap<(usize, Option<LocationIx>), LocationIx>,
    /// Number of files with code without symbols.
    bare_files: usize,
    /// Locations without symbols, by file and offset; `None` for all that are addresses and not
    /// offsets.
    bare: HashMap<(usize, Option<u32>), LocationIx>,
    /// The stack so far, innermost frame first.
    stack: Vec<LocationIx>,
    /// The last lines of the stack, if they are inlined functions whose caller comes later:
    /// instruction pointers, and indices in `inlined_names`.
    inlined: Vec<(u64, usize)>,
    /// Number of frames that are not inlined.
    calls: usize,
}

/// A symbol and its file as written.
#[derive(Hash)]
struct Written<'t>(&'t [u8], &'t [u8]);

type Owned = (Box<[u8]>, Box<[u8]>);

#[derive(Clone, Copy)]
enum Function {
    Called(LocationIx),
    /// Index in [`StackLines::inlined_names`].
    Inlined(usize),
    /// Number of a file without a symbol at this address.
    Bare(usize),
}

impl Equivalent<Owned> for Written<'_> {
    fn equivalent(&self, (symbol, file): &Owned) -> bool {
        *self.0 == **symbol && *self.1 == **file
    }
}

impl StackLines {
    /// Adds the next line, which is the caller of the previous one.
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

    /// Ends the stack and starts the next one. Returns the stack and the number of frames that are
    /// not inlined.
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
        // Offsets in a file are the same in every run; addresses are not, and are larger.
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

    /// Adds inlined functions to the stack, now that their caller is known: the function with the
    /// same instruction pointer.
    ///
    /// If the names of a function in its symbol table and debug information differ, perf prints it
    /// as inlined but without a caller at that address; such a function is read as called.
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
