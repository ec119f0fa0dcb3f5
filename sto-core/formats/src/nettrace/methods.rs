//! The methods at addresses, from the runtime's events.

use super::blocks::text;
use crate::error::Decoded;
use crate::names::NamedFrame;
use crate::recording::{Built, Location, LocationIx, RecordingBuilder};
use hashbrown::HashMap;
use std::collections::BTreeMap;
use sto_model::FrameKind;
use sto_model::bytes::Cursor;

#[derive(Default)]
pub(super) struct Methods {
    /// Methods by start address; a method compiled again has several.
    by_address: BTreeMap<u64, Method>,
    /// Names of modules by id.
    modules: HashMap<u64, String>,
    known: HashMap<u64, LocationIx>,
}

struct Method {
    end: u64,
    module: u64,
    symbol: String,
    kind: FrameKind,
}

impl Methods {
    /// Handles `MethodLoadVerbose` and `MethodDCEndVerbose`.
    pub(super) fn method(&mut self, mut payload: Cursor<'_>) -> Decoded<()> {
        payload.take(8)?;
        let (module, start, size) = (payload.u64()?, payload.u64()?, payload.u32()?);
        payload.take(4)?;
        let flags = payload.u32()?;
        let [class, name, signature] = [
            text(&mut payload)?,
            text(&mut payload)?,
            text(&mut payload)?,
        ];
        let parameters = signature.find('(').map_or("", |at| &signature[at..]);
        let symbol = match &*class {
            "" => format!("{name}{parameters}"),
            class => format!("{class}.{name}{parameters}"),
        };
        let method = Method {
            end: start.saturating_add(size.into()),
            module,
            symbol,
            kind: kind(flags),
        };
        self.by_address.insert(start, method);
        Ok(())
    }

    /// Handles `ModuleLoad` and `ModuleDCEnd`.
    pub(super) fn module(&mut self, mut payload: Cursor<'_>) -> Decoded<()> {
        let id = payload.u64()?;
        payload.take(16)?;
        let path = text(&mut payload)?;
        let name = path.rsplit(['/', '\\']).next().unwrap_or_default();
        self.modules.insert(id, name.to_owned());
        Ok(())
    }

    /// The location of the method at an address, which is the address of a call except at the leaf.
    pub(super) fn location(
        &mut self,
        address: u64,
        builder: &mut RecordingBuilder,
    ) -> Built<LocationIx> {
        if let Some(&known) = self.known.get(&address) {
            return Ok(known);
        }
        let method = self.by_address.range(..=address).next_back();
        let location = match method.filter(|(_, method)| address < method.end) {
            Some((_, method)) => {
                let module = self.modules.get(&method.module);
                let frame = NamedFrame {
                    symbol: method.symbol.as_bytes(),
                    module: module.map_or("", String::as_str).as_bytes(),
                    kind: Some(method.kind),
                    ..NamedFrame::default()
                };
                frame.add(builder)?
            }
            None => builder.unnamed_location(Location::Unmapped)?,
        };
        self.known.insert(address, location);
        Ok(location)
    }
}

/// The kind of code, from `MethodFlags`.
fn kind(flags: u32) -> FrameKind {
    let (is_jitted, tier) = (flags & 8 != 0, flags >> 7 & 7);
    match (is_jitted, tier) {
        (false, _) | (_, 5) => FrameKind::User,
        (true, 1 | 3) => FrameKind::JitBaseline,
        (true, _) => FrameKind::Jit,
    }
}
