//! Logs of V8 (`node --prof`, `d8 --prof`): the addresses of the stack at each tick of the
//! profiler, and the code at these addresses; and the JSON into which `node --prof-process
//! --preprocess` converts them.
//!
//! Source: `src/logging/log.cc`, `tools/tickprocessor.mjs` and `tools/profile.mjs` of V8. Frames
//! are resolved in the same way, except that builtins in the program's file keep their names.

pub(super) mod preprocessed;
pub(super) mod raw;

use crate::names::NamedFrame;
use crate::recording::{Built, LocationIx, RecordingBuilder};
use crate::v8;
use crate::v8::split_trailing_number;
use std::borrow::Cow;
use sto_model::FrameKind;

/// The state of the virtual machine during garbage collection.
const GARBAGE_COLLECTION: u64 = 1;

/// The frame for garbage collection.
fn garbage_collector(builder: &mut RecordingBuilder) -> Built<LocationIx> {
    builder.function(FrameKind::User, "(garbage collector)", "")
}

/// A JavaScript function, logged as `name script:line:column`; each part may be empty.
fn function(name: &[u8], kind: FrameKind, builder: &mut RecordingBuilder) -> Built<LocationIx> {
    let (name, line) = split_trailing_number(name)
        .and_then(|(name, _column)| split_trailing_number(name))
        .unwrap_or((name, 0));
    let (symbol, file) = match script(name).filter(|_| line > 0) {
        Some(at) => (&name[..at], &name[at + 1..]),
        None => (name, &b""[..]),
    };
    let frame = NamedFrame {
        kind: Some(kind),
        ..v8::function(symbol, file, line)
    };
    frame.add(builder)
}

/// The position of the space before the script; names (`get size`) and paths may contain spaces.
fn script(name: &[u8]) -> Option<usize> {
    let begins: [&[u8]; 4] = [b" /", b" node:", b" file:", b" http"];
    let found = begins
        .iter()
        .filter_map(|begin| memchr::memmem::find(name, begin));
    found.min().or_else(|| memchr::memrchr(b' ', name))
}

/// Code other than JavaScript functions: `Builtin: ArrayPrototypeSort`, `RegExp: a+`.
fn code(of: &[u8], name: &[u8], builder: &mut RecordingBuilder) -> Built<LocationIx> {
    let symbol = [of, b": ", name].concat();
    let frame = NamedFrame {
        symbol: &symbol,
        kind: Some(match of {
            b"Builtin" | b"BytecodeHandler" => FrameKind::User,
            _ => FrameKind::Jit,
        }),
        ..NamedFrame::default()
    };
    frame.add(builder)
}

/// Removes the escapes of the log: `\x2C`, `\u2028`, `\n`, `\\`.
fn unescaped(text: &[u8]) -> Cow<'_, [u8]> {
    let Some(first) = memchr::memchr(b'\\', text) else {
        return Cow::Borrowed(text);
    };
    let (mut plain, mut rest) = (text[..first].to_vec(), &text[first..]);
    while let Some((&byte, behind)) = rest.split_first() {
        let (length, character) = match (byte, behind) {
            (b'\\', [b'n', ..]) => (2, Some('\n')),
            (b'\\', [b'\\', ..]) => (2, Some('\\')),
            (b'\\', [b'x', digits @ ..]) => (4, hexadecimal(digits, 2)),
            (b'\\', [b'u', digits @ ..]) => (6, hexadecimal(digits, 4)),
            _ => (1, None),
        };
        match character {
            Some(character) => plain.extend(character.encode_utf8(&mut [0; 4]).bytes()),
            None => plain.push(byte),
        }
        rest = &rest[if character.is_some() { length } else { 1 }..];
    }
    Cow::Owned(plain)
}

fn hexadecimal(digits: &[u8], length: usize) -> Option<char> {
    let digits = std::str::from_utf8(digits.get(..length)?).ok()?;
    char::from_u32(u32::from_str_radix(digits, 16).ok()?)
}
