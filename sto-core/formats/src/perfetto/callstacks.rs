//! Interned call stacks: frames of functions, or of addresses in mapped files.

use crate::error::{DecodeError, Decoded};
use crate::names::{NamedFrame, module_name, module_of_path};
use crate::recording::{
    Built, Location, LocationIx, ModuleIx, ModuleKind, RecordingBuilder, StackIx, text_prefix,
};
use crate::wire::protobuf::{Field, Message, fields};
use hashbrown::HashMap;
use sto_model::GnuBuildId;
use sto_model::limits::MAX_NAME;

/// The tables, by id.
#[derive(Default)]
pub(super) struct Callstacks {
    functions: HashMap<u64, Vec<u8>>,
    paths: HashMap<u64, Vec<u8>>,
    build_ids: HashMap<u64, Vec<u8>>,
    sources: HashMap<u64, Vec<u8>>,
    mappings: HashMap<u64, Mapping>,
    frames: HashMap<u64, Frame>,
    /// The frames of each call stack, root first.
    callstacks: HashMap<u64, Vec<u64>>,
    known: HashMap<u64, StackIx>,
    modules: HashMap<u64, ModuleIx>,
}

#[derive(Default)]
struct Mapping {
    build_id: u64,
    load_bias: u64,
    path: Vec<u64>,
}

#[derive(Default)]
struct Frame {
    function: u64,
    mapping: u64,
    /// Address in the file; for a caller, the address of the call.
    address: u64,
    source: u64,
    line: u64,
}

impl Callstacks {
    /// Reads a field of `InternedData`.
    pub(super) fn interned(&mut self, field: &Field<'_>) -> Decoded<()> {
        match field.number {
            5 => text(&mut self.functions, field.message()?),
            16 => text(&mut self.build_ids, field.message()?),
            17 => text(&mut self.paths, field.message()?),
            18 => text(&mut self.sources, field.message()?),
            19 => self.mapping(field.message()?),
            6 => self.frame(field.message()?),
            7 => self.callstack(field.message()?),
            _ => Ok(()),
        }
    }

    /// Reads a field of `ProfilePacket`, which has its own tables in old versions.
    pub(super) fn read_heap_field(&mut self, field: &Field<'_>) -> Decoded<()> {
        match field.number {
            1 => {
                for table in [&mut self.functions, &mut self.build_ids, &mut self.paths] {
                    text(table, field.message()?)?;
                }
                Ok(())
            }
            4 => self.mapping(field.message()?),
            2 => self.frame(field.message()?),
            3 => self.callstack(field.message()?),
            _ => Ok(()),
        }
    }

    fn mapping(&mut self, message: Message<'_>) -> Decoded<()> {
        let (mut id, mut mapping) = (0, Mapping::default());
        fields!(message, {
            1 => id,
            2 => mapping.build_id,
            6 => mapping.load_bias,
            7 => mapping.path,
        });
        self.mappings.insert(id, mapping);
        Ok(())
    }

    fn frame(&mut self, message: Message<'_>) -> Decoded<()> {
        let (mut id, mut frame) = (0, Frame::default());
        fields!(message, {
            1 => id,
            2 => frame.function,
            3 => frame.mapping,
            4 => frame.address,
            5 => frame.source,
            6 => frame.line,
        });
        self.frames.insert(id, frame);
        Ok(())
    }

    fn callstack(&mut self, message: Message<'_>) -> Decoded<()> {
        let (mut id, mut frames) = (0, Vec::new());
        fields!(message, { 1 => id, 2 => frames });
        self.callstacks.insert(id, frames);
        self.known.remove(&id);
        Ok(())
    }

    /// The stack with an id; `None` if the sequence has not defined it.
    pub(super) fn stack(
        &mut self,
        id: u64,
        at: usize,
        builder: &mut RecordingBuilder,
    ) -> Decoded<Option<StackIx>> {
        if let Some(&known) = self.known.get(&id) {
            return Ok(Some(known));
        }
        let Some(frames) = self.callstacks.get(&id).cloned() else {
            return Ok(None);
        };
        let mut stack = Vec::with_capacity(frames.len());
        for frame in frames {
            let Some(location) = self.location(frame, builder).map_err(DecodeError::at(at))? else {
                return Ok(None);
            };
            stack.push(location);
        }
        let stack = builder.stack(&stack).map_err(DecodeError::at(at))?;
        self.known.insert(id, stack);
        Ok(Some(stack))
    }

    fn location(
        &mut self,
        frame: u64,
        builder: &mut RecordingBuilder,
    ) -> Built<Option<LocationIx>> {
        let Some(frame) = self.frames.get(&frame) else {
            return Ok(None);
        };
        let mapping = self.mappings.get(&frame.mapping);
        let path = mapping.map_or_else(Vec::new, |mapping| self.path(mapping));
        let function = self
            .functions
            .get(&frame.function)
            .filter(|name| !name.is_empty());
        if let Some(function) = function {
            let source = self.sources.get(&frame.source);
            let frame = NamedFrame {
                symbol: function,
                module: module_name(&path),
                file: source.map_or(b"", Vec::as_slice),
                line: u32::try_from(frame.line).unwrap_or(0),
                kind: None,
            };
            return frame.add(builder).map(Some);
        }
        let Some(mapping) = mapping else {
            return builder.unnamed_location(Location::Unmapped).map(Some);
        };
        let address = frame.address.saturating_sub(mapping.load_bias);
        let module = match self.modules.get(&frame.mapping) {
            Some(&known) => known,
            None => {
                let build_id = self.build_ids.get(&mapping.build_id);
                let build_id = build_id.and_then(|build_id| build_id_of(build_id));
                let module = module_of_path(&path, ModuleKind::Image, build_id, builder);
                let module = builder.module(module);
                self.modules.insert(frame.mapping, module);
                module
            }
        };
        builder.address(module, address).map(Some)
    }

    /// The path of a mapping, whose parts are interned.
    fn path(&self, mapping: &Mapping) -> Vec<u8> {
        let mut parts = mapping.path.iter().filter_map(|part| self.paths.get(part));
        let first = parts.next().map_or(&b""[..], Vec::as_slice);
        let mut path = match first {
            // Not a file: `[vdso]`.
            [] | [b'/' | b'[', ..] => first.to_vec(),
            _ => [b"/", first].concat(),
        };
        for part in parts {
            if path.len() > MAX_NAME {
                break;
            }
            path.push(b'/');
            path.extend_from_slice(text_prefix(part));
        }
        path
    }
}

/// Reads an `InternedString`.
fn text(table: &mut HashMap<u64, Vec<u8>>, message: Message<'_>) -> Decoded<()> {
    let (mut id, mut texts) = (0, Vec::new());
    fields!(message, { 1 => id, 2 => texts });
    let text: &[u8] = texts.pop().unwrap_or_default();
    table.insert(id, text.to_vec());
    Ok(())
}

/// A build id in bytes, or in hexadecimal digits as Chrome writes it.
fn build_id_of(bytes: &[u8]) -> Option<GnuBuildId> {
    let is_text = bytes.len() >= 32 && bytes.iter().all(u8::is_ascii_hexdigit);
    let digits = std::str::from_utf8(bytes).ok().filter(|_| is_text);
    let parsed = digits.and_then(|digits| digits.to_ascii_lowercase().parse().ok());
    parsed.or_else(|| GnuBuildId::from_bytes(bytes))
}
