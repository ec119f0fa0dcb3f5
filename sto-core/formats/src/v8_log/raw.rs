//! The log itself, `isolate-*-v8.log`.

use super::{GARBAGE_COLLECTION, code, function, garbage_collector, unescaped};
use crate::names::module_of_path;
use crate::recording::{
    Built, Location, LocationIx, ModuleIx, ModuleKind, RecordingBuilder, SampleTypeIx, ThreadIx,
};
use crate::report::Report;
use crate::source::Head;
use crate::wire::text::{decimal, excerpt};
use std::collections::BTreeMap;
use sto_model::FrameKind;
use sto_model::units::{Cost, Nanoseconds, Unit};

pub(crate) fn matches(head: &Head<'_>) -> bool {
    head.bytes.starts_with(b"v8-version,")
}

#[derive(Default)]
pub(crate) struct V8Log {
    /// Code by start address.
    code: BTreeMap<u64, Code>,
    libraries: BTreeMap<u64, Library>,
    /// Addresses of the current tick, leaf first, and its stack, root first.
    addresses: Vec<u64>,
    stack: Vec<LocationIx>,
}

#[derive(Clone, Copy)]
struct Code {
    end: u64,
    location: LocationIx,
    is_function: bool,
}

#[derive(Clone, Copy)]
struct Library {
    end: u64,
    module: ModuleIx,
}

impl Report for V8Log {
    fn line(&mut self, line: &[u8], builder: &mut RecordingBuilder) -> Result<(), String> {
        let mut fields = Fields(Some(line));
        match fields.next().unwrap_or_default() {
            b"tick" => self.tick(&mut fields, builder),
            b"code-creation" => self.created(&mut fields, builder),
            b"code-move" => {
                let (from, to) = (fields.address()?, fields.address()?);
                if let Some(mut code) = self.code.remove(&from) {
                    code.end = to.saturating_add(code.end - from);
                    self.add(to, code);
                }
                Ok(())
            }
            b"code-delete" => {
                self.code.remove(&fields.address()?);
                Ok(())
            }
            b"shared-library" => {
                let path = fields.text();
                let (start, end) = (fields.address()?, fields.address()?);
                let module = module_of_path(&path, ModuleKind::File, None, builder);
                let module = builder.module(module);
                self.libraries.insert(start, Library { end, module });
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn finish(self, builder: &mut RecordingBuilder) -> Result<(), String> {
        builder.sample_type("ticks", Unit::Samples);
        Ok(())
    }
}

impl V8Log {
    /// `code-creation,JS,10,328611,0x1363f5a8a8c8,5,fib /tmp/w.js:2:13,0x2bead7e810a0,~`; old
    /// versions have no time.
    fn created(
        &mut self,
        fields: &mut Fields<'_>,
        builder: &mut RecordingBuilder,
    ) -> Result<(), String> {
        let of = fields.expected()?;
        fields.expected()?;
        if !fields.0.unwrap_or_default().starts_with(b"0x") {
            fields.expected()?;
        }
        let (start, size) = (fields.address()?, fields.number()?);
        let name = fields.text();
        let name = unescaped(&name);
        // Code of a function also has the function's address and its tier.
        let is_function = fields.next().is_some();
        let location = if is_function {
            function(&name, tier(fields.next().unwrap_or_default()), builder)?
        } else {
            code(of, &name, builder)?
        };
        let end = start.saturating_add(size);
        self.add(
            start,
            Code {
                end,
                location,
                is_function,
            },
        );
        Ok(())
    }

    /// Adds code and removes the code that it overlaps.
    fn add(&mut self, start: u64, code: Code) {
        while let Some((&there, Code { end, .. })) = self.code.range(..code.end).next_back()
            && *end > start
        {
            self.code.remove(&there);
        }
        self.code.insert(start, code);
    }

    /// `tick,0x19f8110,1806789,0,0x0,0,0x19fa691,0x349f8fdd2e16`: the address, microseconds,
    /// whether the next field is the address of a callback, the top of the stack, the state, and
    /// return addresses, which some versions write relative to the previous one.
    fn tick(
        &mut self,
        fields: &mut Fields<'_>,
        builder: &mut RecordingBuilder,
    ) -> Result<(), String> {
        let (pc, time) = (fields.address()?, fields.number()?);
        let is_callback = fields.number()? != 0;
        let (top, state) = (fields.address()?, fields.number()?);
        let first = if is_callback { top } else { pc };
        self.addresses.clear();
        self.addresses.push(first);
        // A function that was just called and has no frame yet.
        if !is_callback && self.code_at(top).is_some_and(|code| code.is_function) {
            self.addresses.push(top);
        }
        let mut last = first;
        for field in fields {
            let address = match field.split_first() {
                Some((b'+', digits)) => number(digits).and_then(|by| last.checked_add(by)),
                Some((b'-', digits)) => number(digits).and_then(|by| last.checked_sub(by)),
                // Marks an overflow.
                Some((b'o', _)) => continue,
                _ => number(field),
            };
            let address = address.ok_or_else(|| expected("a return address", field))?;
            self.addresses.push(address);
            if !field.starts_with(b"0x") {
                last = address;
            }
        }
        self.stack.clear();
        for ix in (0..self.addresses.len()).rev() {
            if ix == 0 && state == GARBAGE_COLLECTION {
                self.stack.push(garbage_collector(builder)?);
            }
            let address = self.addresses[ix];
            match self.location(address, ix == 0, builder)? {
                Some(location) => self.stack.push(location),
                // A value on the stack may not be a return address.
                None if ix > 0 => {}
                None => self
                    .stack
                    .push(builder.unnamed_location(Location::Unmapped)?),
            }
        }
        let stack = builder.stack(&self.stack)?;
        let time = Nanoseconds(time.saturating_mul(1000));
        builder.push(
            (ThreadIx(0), SampleTypeIx(0)),
            stack,
            Some(time),
            Cost::from_count(1),
        );
        Ok(())
    }

    fn location(
        &self,
        address: u64,
        is_leaf: bool,
        builder: &mut RecordingBuilder,
    ) -> Built<Option<LocationIx>> {
        if let Some(code) = self.code_at(address) {
            return Ok(Some(code.location));
        }
        let library = self.libraries.range(..=address).next_back();
        let Some((start, library)) = library.filter(|(_, library)| address < library.end) else {
            return Ok(None);
        };
        let offset = (address - start).saturating_sub(u64::from(!is_leaf));
        builder.address(library.module, offset).map(Some)
    }

    fn code_at(&self, address: u64) -> Option<Code> {
        let (_, &code) = self.code.range(..=address).next_back()?;
        (address < code.end).then_some(code)
    }
}

/// The compilation tier of a function.
fn tier(state: &[u8]) -> FrameKind {
    match state {
        b"~" => FrameKind::Interpreted,
        b"^" => FrameKind::JitBaseline,
        _ => FrameKind::Jit,
    }
}

/// The remaining fields of a line.
struct Fields<'l>(Option<&'l [u8]>);

impl<'l> Iterator for Fields<'l> {
    type Item = &'l [u8];

    fn next(&mut self) -> Option<&'l [u8]> {
        let line = self.0?;
        let end = memchr::memchr(b',', line);
        self.0 = end.map(|end| &line[end + 1..]);
        Some(&line[..end.unwrap_or(line.len())])
    }
}

impl<'l> Fields<'l> {
    fn expected(&mut self) -> Result<&'l [u8], String> {
        self.next()
            .ok_or_else(|| "a line with too few fields; was it cut short?".to_owned())
    }

    fn number(&mut self) -> Result<u64, String> {
        let field = self.expected()?;
        decimal(field).ok_or_else(|| expected("a number", field))
    }

    fn address(&mut self) -> Result<u64, String> {
        let field = self.expected()?;
        number(field).ok_or_else(|| expected("an address", field))
    }

    /// A name; old versions quote it.
    fn text(&mut self) -> Vec<u8> {
        let quoted = self.0.and_then(|line| line.strip_prefix(b"\""));
        let Some(mut rest) = quoted else {
            return self.next().unwrap_or_default().to_vec();
        };
        let mut text = Vec::new();
        loop {
            let end = memchr::memchr(b'"', rest).unwrap_or(rest.len());
            text.extend_from_slice(&rest[..end]);
            match rest.get(end + 1..) {
                // A doubled quote is part of the name.
                Some([b'"', behind @ ..]) => {
                    text.push(b'"');
                    rest = behind;
                }
                behind => {
                    self.0 = behind.and_then(|behind| behind.strip_prefix(b","));
                    return text;
                }
            }
        }
    }
}

fn number(text: &[u8]) -> Option<u64> {
    let digits = text.strip_prefix(b"0x").unwrap_or(text);
    u64::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

fn expected(what: &str, found: &[u8]) -> String {
    format!("expected {what}, found {}", excerpt(found))
}
