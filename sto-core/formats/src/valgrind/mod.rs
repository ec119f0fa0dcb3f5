//! Valgrind's memory profiles: DHAT, also written by the crate `dhat`, and massif.

pub(super) mod dhat;
pub(super) mod massif;

use crate::names::{NamedFrame, module_name};
use crate::recording::{Built, LocationIx, RecordingBuilder, StackIx};
use crate::wire::text::decimal;
use sto_model::FrameKind;

/// A frame: `0x1092B9: keep(int) (work.cc:20)`, `0x4929: ??? (in /usr/lib/libc.so.6)`.
#[derive(Clone, Copy)]
struct Place<'b> {
    address: &'b [u8],
    frame: NamedFrame<'b>,
}

impl<'b> Place<'b> {
    fn parse(text: &'b [u8]) -> Place<'b> {
        let colon = memchr::memmem::find(text, b": ").filter(|_| text.starts_with(b"0x"));
        let (address, named) = match colon {
            Some(colon) => (&text[..colon], &text[colon + 2..]),
            None => (&b""[..], text),
        };
        let source = named.strip_suffix(b")").and_then(|named| {
            let start = memchr::memmem::rfind(named, b" (")?;
            Some((&named[..start], &named[start + 2..]))
        });
        let (symbol, source) = source.unwrap_or((named, b""));
        let mut frame = NamedFrame {
            symbol: if symbol == b"???" { b"" } else { symbol },
            ..NamedFrame::default()
        };
        if let Some(module) = source.strip_prefix(b"in ") {
            frame.module = module_name(module);
        } else {
            // The crate also writes columns.
            let (file, last) = number_behind(source);
            let (file, line) = match number_behind(file) {
                (file, Some(line)) => (file, Some(line)),
                (file, None) => (file, last),
            };
            frame.file = file;
            frame.line = line.unwrap_or(0);
        }
        Place { address, frame }
    }

    fn add(self, kind: Option<FrameKind>, builder: &mut RecordingBuilder) -> Built<LocationIx> {
        NamedFrame { kind, ..self.frame }.add(builder)
    }
}

/// Splits off a colon and number at the end of a text.
fn number_behind(text: &[u8]) -> (&[u8], Option<u32>) {
    let colon = memchr::memrchr(b':', text);
    let number = colon.and_then(|colon| u32::try_from(decimal(&text[colon + 1..])?).ok());
    match (colon, number) {
        (Some(colon), Some(number)) => (&text[..colon], Some(number)),
        _ => (text, None),
    }
}

/// The stack of places, leaf first. An inlined function has the address of the function that it was
/// inlined into.
fn stack(
    leaf_first: &[Place<'_>],
    below: Option<LocationIx>,
    builder: &mut RecordingBuilder,
) -> Built<StackIx> {
    let mut stack: Vec<LocationIx> = below.into_iter().collect();
    for (depth, place) in leaf_first.iter().enumerate().rev() {
        let caller = leaf_first.get(depth + 1);
        let is_inlined = caller
            .is_some_and(|caller| caller.address == place.address && !place.address.is_empty());
        stack.push(place.add(is_inlined.then_some(FrameKind::Inlined), builder)?);
    }
    builder.count_expanded_frames(stack.len())?;
    builder.stack(&stack)
}
