//! Aggregations of stacks printed by DTrace: `@[ustack()] = count()` and so on.
//!
//! Source: the chapters *Aggregations* and *stack()* of the Dynamic Tracing Guide.

use crate::names::{NamedFrame, without_rust_mangling};
use crate::recording::{Built, LocationIx, RecordingBuilder};
use crate::report::{Report, add_to_only_thread};
use crate::source::Head;
use crate::wire::text::{decimal, excerpt, lines, words};
use sto_model::FrameKind;
use sto_model::units::{Cost, Unit};

/// Number of bytes searched for the end of the first stack.
const MAX_HEAD: usize = 1 << 16;

/// Returns `true` if a profile begins with a stack of indented lines that ends with a count.
pub(super) fn matches(head: &Head<'_>) -> bool {
    let mut is_stack = false;
    for (_, line) in lines(&head.bytes[..head.bytes.len().min(MAX_HEAD)]) {
        let text = line.trim_ascii();
        let is_indented = text.len() < line.len() && line.starts_with(b" ") && !text.is_empty();
        if is_stack && is_indented && decimal(text).is_some() {
            return true;
        }
        is_stack = is_indented && (is_stack || is_frame(text));
    }
    false
}

/// Returns `true` if a line is certainly a frame and not part of the header.
fn is_frame(text: &[u8]) -> bool {
    memchr::memchr(b'`', text).is_some() || text.starts_with(b"0x")
}

/// Returns `true` for lines that DTrace prints besides stacks: column titles, a processor with a
/// probe (`  0      1      :END`), or a message.
fn is_header(line: &[u8]) -> bool {
    let mut words = words(line);
    let mut number = || words.next().and_then(decimal).is_some();
    let is_probe = number() && number() && words.next().is_some_and(|word| word.contains(&b':'));
    let is_message = line.starts_with(b"dtrace: ");
    is_probe || is_message || self::words(line).eq([&b"CPU"[..], b"ID", b"FUNCTION:NAME"])
}

#[derive(Default)]
pub(super) struct DTrace {
    /// Leaf first.
    stack: Vec<LocationIx>,
    /// Whether the header has ended.
    has_frames: bool,
    /// Whether a blank line ended the kernel stack; the user stack follows.
    is_kernel_over: bool,
}

impl Report for DTrace {
    fn line(&mut self, line: &[u8], builder: &mut RecordingBuilder) -> Result<(), String> {
        match line.trim_ascii() {
            text if is_header(line) && !text.is_empty() => {
                self.stack.clear();
                self.is_kernel_over = false;
                Ok(())
            }
            b"" if self.is_kernel_over && !self.stack.is_empty() => {
                Err("a stack ends here without its count; was a line lost?".to_owned())
            }
            b"" => {
                self.is_kernel_over = self.has_frames && !self.stack.is_empty();
                if !self.is_kernel_over {
                    self.stack.clear();
                }
                Ok(())
            }
            text if text.iter().all(u8::is_ascii_digit) => {
                let count = decimal(text);
                let count = count.ok_or_else(|| {
                    format!("the count {} is larger than 2^64 - 1", excerpt(text))
                })?;
                self.stack.reverse();
                if count > 0 {
                    let stack = builder.stack(&self.stack)?;
                    add_to_only_thread(builder, 0, stack, Cost::from_count(count))?;
                }
                self.stack.clear();
                self.has_frames = true;
                self.is_kernel_over = false;
                Ok(())
            }
            [b'-', digits @ ..] if !digits.is_empty() && digits.iter().all(u8::is_ascii_digit) => {
                Err(format!(
                    "expected a count of 0 or more, found {}; is it an aggregation other than count()?",
                    excerpt(line)
                ))
            }
            text => {
                self.has_frames |= is_frame(text);
                self.stack.push(frame(text, builder)?);
                Ok(())
            }
        }
    }

    fn cut(&self) -> Option<&'static str> {
        let is_whole = self.stack.is_empty() || !self.has_frames;
        (!is_whole).then_some("a stack, which its count ends")
    }

    fn finish(self, builder: &mut RecordingBuilder) -> Result<(), String> {
        builder.sample_type("samples", Unit::Samples);
        Ok(())
    }
}

/// ``libc.so.1`memcpy+0x42``, or an address.
fn frame(text: &[u8], builder: &mut RecordingBuilder) -> Built<LocationIx> {
    let (module, symbol) = match memchr::memchr(b'`', text) {
        Some(quote) => (&text[..quote], &text[quote + 1..]),
        None => (&b""[..], text),
    };
    let offset = memchr::memmem::rfind(symbol, b"+0x");
    let is_hex = |at: &usize| symbol[at + 3..].iter().all(u8::is_ascii_hexdigit);
    let symbol = &symbol[..offset.filter(is_hex).unwrap_or(symbol.len())];
    // Names of the kernel in illumos, FreeBSD and macOS.
    let is_kernel = matches!(module, b"unix" | b"genunix" | b"kernel" | b"mach_kernel");
    let frame = NamedFrame {
        symbol: &without_rust_mangling(symbol),
        module,
        kind: is_kernel.then_some(FrameKind::Kernel),
        ..NamedFrame::default()
    };
    frame.add(builder)
}
