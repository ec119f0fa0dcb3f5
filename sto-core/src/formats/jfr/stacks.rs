//! From the stack traces of a chunk to stacks of named frames.

use super::cursor::Cursor;
use super::damage::Damage;
use super::pools::Pools;
use super::types::TypeIx;
use super::values::{Identity, Value, Wanted};
use crate::formats::named::NamedStacks;
use crate::formats::{LocationIx, StackIx, kind_by_names};
use crate::limits::{MAX_DEPTH, MAX_NAME};
use crate::model::{Frame, FrameKind};
use hashbrown::HashMap;

/// A stack, and whether it was cut before its root.
#[derive(Clone, Copy)]
pub(super) struct Trace {
    pub(super) stack: StackIx,
    pub(super) truncated: bool,
}

/// The stack traces of a chunk, each read once.
pub(super) struct Traces<'r, 'c, 'b> {
    pools: &'r Pools<'c, 'b>,
    stacks: &'r mut NamedStacks,
    known: HashMap<Identity, Trace>,
    /// By method, line and frame type.
    locations: HashMap<(Identity, u32, Identity), LocationIx>,
    frame: Option<(TypeIx, Wanted<3>)>,
    trace: Option<(TypeIx, Wanted<2>)>,
    /// Whether frames of the type `Native` are functions of libraries, as async-profiler has them, and
    /// not native methods of Java.
    has_native_functions: bool,
    /// Traces and methods that frames refer to, and that the chunk does not have.
    pub(super) missing: u64,
}

impl<'r, 'c, 'b> Traces<'r, 'c, 'b> {
    pub(super) fn of(
        pools: &'r Pools<'c, 'b>,
        stacks: &'r mut NamedStacks,
    ) -> Result<Traces<'r, 'c, 'b>, Damage> {
        let mut has_native_functions = false;
        if let Some(kinds) = pools.types.by_name("jdk.types.FrameType") {
            for kind in pools.constants(kinds) {
                // The JDK sees no kernel.
                has_native_functions |= &*pools.text(kind)? == b"Kernel";
            }
        }
        Ok(Traces {
            pools,
            stacks,
            known: HashMap::new(),
            locations: HashMap::new(),
            frame: None,
            trace: None,
            has_native_functions,
            missing: 0,
        })
    }

    /// The stack of a value that refers to a stack trace.
    pub(super) fn read(&mut self, trace: Value<'b>, at: usize) -> Result<Trace, Damage> {
        let identity = trace.identity();
        if let Some(&known) = self.known.get(&identity) {
            return Ok(known);
        }
        self.missing += u64::from(self.pools.is_missing(trace));
        let mut locations = Vec::new();
        let mut truncated = false;
        if let Some((of, mut cursor)) = self.pools.place(trace) {
            let types = self.pools.types;
            let wanted = match &self.trace {
                Some((known, wanted)) if *known == of => wanted,
                _ => {
                    let wanted = Wanted::of(types, of, ["frames", "truncated"]);
                    &self.trace.insert((of, wanted)).1
                }
            };
            let [frames, cut] = wanted.read(types, &mut cursor)?;
            truncated = cut.number() != 0;
            if let Value::Array(of, count, cursor) = frames {
                self.frames(of, count, cursor, &mut locations)?;
            }
        }
        let stack = self.stacks.stack(&locations).map_err(Damage::limit(at))?;
        let trace = Trace { stack, truncated };
        self.known.insert(identity, trace);
        Ok(trace)
    }

    /// The locations of frames, which stand leaf first, root first.
    fn frames(
        &mut self,
        of: TypeIx,
        count: usize,
        mut cursor: Cursor<'b>,
        locations: &mut Vec<LocationIx>,
    ) -> Result<(), Damage> {
        if count > MAX_DEPTH {
            let problem =
                format!("a stack of {count} frames; stacks of up to {MAX_DEPTH} are read");
            return Err(Damage::new(cursor.at(), problem));
        }
        let types = self.pools.types;
        if self.frame.as_ref().is_none_or(|(known, _)| *known != of) {
            let names = ["method", "lineNumber", "type"];
            self.frame = Some((of, Wanted::of(types, of, names)));
        }
        for _ in 0..count {
            let at = cursor.at();
            let Some((_, wanted)) = &self.frame else {
                break;
            };
            let [method, line, kind] = wanted.read(types, &mut cursor)?;
            let line = u32::try_from(line.number()).unwrap_or(0);
            let key = (method.identity(), line, kind.identity());
            let location = match self.locations.get(&key) {
                Some(&known) => known,
                None => {
                    let location = self.frame(method, line, kind, at)?;
                    self.locations.insert(key, location);
                    location
                }
            };
            locations.push(location);
        }
        locations.reverse();
        Ok(())
    }

    fn frame(
        &mut self,
        method: Value<'b>,
        line: u32,
        kind: Value<'b>,
        at: usize,
    ) -> Result<LocationIx, Damage> {
        self.missing += u64::from(self.pools.is_missing(method));
        let [class, name] = self.pools.fields(method, ["type", "name"])?;
        let [class] = self.pools.fields(class, ["name"])?;
        let (class, name) = (self.pools.text(class)?, self.pools.text(name)?);
        let kind = self.pools.text(kind)?;
        let is_native = match &*kind {
            b"C++" | b"Kernel" => true,
            b"Native" => self.has_native_functions,
            _ => false,
        };
        let (symbol, module) = match (is_native, &*kind) {
            (true, b"Kernel") => (name.into_owned(), "[kernel]".into()),
            (true, _) => (name.into_owned(), self.stacks.text(&class)),
            (false, _) => (method_name(&class, &name), "".into()),
        };
        let symbol = match &*symbol {
            b"" => "[unknown]".into(),
            symbol => self.stacks.text(symbol),
        };
        let frame = Frame {
            symbol: &symbol,
            module: &module,
            kind: match &*kind {
                _ if symbol == "[unknown]" => FrameKind::Unresolved,
                b"Interpreted" => FrameKind::Interpreted,
                b"JIT compiled" => FrameKind::Jit,
                b"C1 compiled" => FrameKind::JitBaseline,
                b"Inlined" => FrameKind::Inlined,
                b"Kernel" => FrameKind::Kernel,
                _ => kind_by_names(&symbol, &module),
            },
            file: "",
            line,
        };
        self.stacks.frame_at_line(frame).map_err(Damage::limit(at))
    }
}

/// A method with its class, as Java writes them: `java.util.HashMap.put`.
///
/// A `/` before a digit does not part packages: it stands before the number of a hidden class.
fn method_name(class: &[u8], name: &[u8]) -> Vec<u8> {
    let mut symbol = Vec::with_capacity(class.len() + 1 + name.len());
    let following = class.iter().skip(1).chain([&0]);
    for (&byte, next) in class.iter().zip(following) {
        let is_separator = byte == b'/' && !next.is_ascii_digit();
        symbol.push(if is_separator { b'.' } else { byte });
    }
    if !class.is_empty() && !name.is_empty() {
        symbol.push(b'.');
    }
    symbol.extend_from_slice(&name[..name.len().min(MAX_NAME + 1)]);
    symbol
}
