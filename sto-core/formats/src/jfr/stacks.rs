//! Conversion of a chunk's stack traces to stacks of named frames.

use super::pools::Pools;
use super::types::TypeIx;
use super::values::{Identity, Value, WantedFields};
use crate::error::{DecodeError, Decoded};
use crate::names::NamedFrame;
use crate::recording::{LocationIx, RecordingBuilder, StackIx};
use crate::wire::text::base_name;
use hashbrown::HashMap;
use sto_model::FrameKind;
use sto_model::bytes::Cursor;
use sto_model::limits::{MAX_DEPTH, MAX_NAME};

/// A stack, and whether it was cut before its root.
#[derive(Clone, Copy)]
pub(super) struct Trace {
    pub(super) stack: StackIx,
    pub(super) truncated: bool,
}

/// The stack traces of a chunk; each is read once.
pub(super) struct Traces<'r, 'c, 'b> {
    pools: &'r Pools<'c, 'b>,
    pub(super) builder: &'r mut RecordingBuilder,
    known: HashMap<Identity, Trace>,
    /// The class name and name of each method; read once, because many frames may share a large
    /// constant.
    methods: HashMap<Identity, [Value<'b>; 2]>,
    classes: HashMap<Identity, Value<'b>>,
    /// Locations by method, line and frame type.
    locations: HashMap<(Identity, u32, Identity), LocationIx>,
    /// Whether frames of type `Native` are functions of native libraries, as in recordings of
    /// async-profiler, and not native methods of Java.
    has_native_functions: bool,
    /// Number of traces and methods that are referred to but missing in the chunk.
    pub(super) missing: u64,
}

impl<'r, 'c, 'b> Traces<'r, 'c, 'b> {
    pub(super) fn new(
        pools: &'r Pools<'c, 'b>,
        builder: &'r mut RecordingBuilder,
    ) -> Decoded<Traces<'r, 'c, 'b>> {
        let mut has_native_functions = false;
        if let Some(kinds) = pools.types.by_name("jdk.types.FrameType") {
            for kind in pools.constants_of_type(kinds) {
                // Only async-profiler records kernel frames.
                has_native_functions |= &*pools.text(kind)? == b"Kernel";
            }
        }
        Ok(Traces {
            pools,
            builder,
            known: HashMap::new(),
            methods: HashMap::new(),
            classes: HashMap::new(),
            locations: HashMap::new(),
            has_native_functions,
            missing: 0,
        })
    }

    /// Reads the stack trace that a value refers to.
    pub(super) fn read(&mut self, trace: Value<'b>, at: usize) -> Decoded<Trace> {
        let identity = trace.identity();
        if let Some(&known) = self.known.get(&identity) {
            return Ok(known);
        }
        self.missing += u64::from(self.pools.is_missing(trace));
        let mut locations = Vec::new();
        let [frames, truncated] = self.pools.fields(trace, ["frames", "truncated"])?;
        if let Value::Array(of, count, cursor) = frames {
            self.frames(of, count, cursor, &mut locations)?;
        }
        let stack = self
            .builder
            .stack(&locations)
            .map_err(DecodeError::at(at))?;
        let truncated = truncated.number() != 0;
        let trace = Trace { stack, truncated };
        self.known.insert(identity, trace);
        Ok(trace)
    }

    /// Reads frames, stored leaf first, and returns their locations root first.
    fn frames(
        &mut self,
        of: TypeIx,
        count: usize,
        mut cursor: Cursor<'b>,
        locations: &mut Vec<LocationIx>,
    ) -> Decoded<()> {
        if count > MAX_DEPTH {
            let problem =
                format!("a stack of {count} frames; stacks of up to {MAX_DEPTH} are read");
            return Err(DecodeError::new(cursor.at(), problem));
        }
        let types = self.pools.types;
        let wanted = WantedFields::new(types, of, ["method", "lineNumber", "type"]);
        for _ in 0..count {
            let at = cursor.at();
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
    ) -> Decoded<LocationIx> {
        let [class, name] = self.method(method)?;
        let (class, name) = (self.pools.text(class)?, self.pools.text(name)?);
        let kind = self.pools.text(kind)?;
        let (symbol, module) = match &*kind {
            b"Kernel" => (name.into_owned(), b"[kernel]".to_vec()),
            b"C++" => native_function(&class, &name),
            // Java methods have a class; functions recorded by Datadog's profiler have no library.
            b"Native" if self.has_native_functions || class.is_empty() => {
                native_function(&class, &name)
            }
            _ => (method_name(&class, &name), Vec::new()),
        };
        let frame = NamedFrame {
            symbol: &symbol,
            module: &module,
            kind: match &*kind {
                _ if matches!(&*symbol, b"" | b"[unknown]") => None,
                // Also names with a suffix: `libc.so (deleted)`.
                _ if is_library(&symbol, &module) => Some(FrameKind::Unresolved),
                b"Interpreted" => Some(FrameKind::Interpreted),
                b"JIT compiled" => Some(FrameKind::Jit),
                b"C1 compiled" => Some(FrameKind::JitBaseline),
                b"Inlined" => Some(FrameKind::Inlined),
                b"Kernel" => Some(FrameKind::Kernel),
                _ => None,
            },
            file: b"",
            line,
        };
        frame.add(self.builder).map_err(DecodeError::at(at))
    }

    /// The names of a method's class and of the method.
    fn method(&mut self, method: Value<'b>) -> Decoded<[Value<'b>; 2]> {
        if let Some(&known) = self.methods.get(&method.identity()) {
            return Ok(known);
        }
        self.missing += u64::from(self.pools.is_missing(method));
        let [class, name] = self.pools.fields(method, ["type", "name"])?;
        let class_name = match self.classes.get(&class.identity()) {
            Some(&known) => known,
            None => {
                let [name] = self.pools.fields(class, ["name"])?;
                self.classes.insert(class.identity(), name);
                name
            }
        };
        self.methods.insert(method.identity(), [class_name, name]);
        Ok([class_name, name])
    }
}

/// The function and library of a native frame. Code without a symbol is named by the path of its
/// library; code outside of libraries is called `unknown` (`CodeCache::binarySearch` and
/// `Lookup::resolveMethod` of async-profiler 4.0).
fn native_function(library: &[u8], name: &[u8]) -> (Vec<u8>, Vec<u8>) {
    match (library, name) {
        (b"", b"unknown") => (Vec::new(), Vec::new()),
        (b"", [b'/', path @ ..]) => {
            let library = base_name(path);
            ([b"[", library, b"]"].concat(), library.to_vec())
        }
        _ => (name.to_vec(), library.to_vec()),
    }
}

/// Returns `true` if the symbol only names the library: `[libc.so.6]` in `libc.so.6`.
fn is_library(symbol: &[u8], module: &[u8]) -> bool {
    let name = symbol
        .strip_prefix(b"[")
        .and_then(|name| name.strip_suffix(b"]"));
    !module.is_empty() && name == Some(module)
}

/// A method with its class, as in Java: `java.util.HashMap.put`.
///
/// A `/` before a digit is not a package separator: it precedes the number of a hidden class.
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
