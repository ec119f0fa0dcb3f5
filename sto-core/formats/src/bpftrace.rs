//! Maps with stacks in their keys that bpftrace prints: `@[kstack]`, `@[ustack, comm]`, `@[pid,
//! comm, kstack, ustack]` and so on, of counts or sums.
//!
//! Source: the manual of bpftrace, <https://github.com/bpftrace/bpftrace>.

use crate::names::{NamedFrame, is_address, module_name};
use crate::recording::{Built, LocationIx, RecordingBuilder, SampleTypeIx};
use crate::report::Report;
use crate::source::Head;
use crate::wire::text::{decimal, excerpt, lines, words};
use sto_model::FrameKind;
use sto_model::units::{Cost, Unit};

/// Number of bytes searched for the end of the first map.
const MAX_HEAD: usize = 1 << 16;

/// Returns `true` if a profile has a map with a key of several lines.
pub(super) fn matches(head: &Head<'_>) -> bool {
    let mut is_open = false;
    for (_, line) in lines(&head.bytes[..head.bytes.len().min(MAX_HEAD)]) {
        if is_open && end(line).is_some_and(|(_, value)| decimal(value).is_some()) {
            return true;
        }
        is_open = begin(line).is_some() || (is_open && !line.starts_with(b"@"));
    }
    false
}

/// The part of a key before its stacks: `@x[bash, `.
fn begin(line: &[u8]) -> Option<&[u8]> {
    let name = line.strip_prefix(b"@")?;
    let bracket = memchr::memchr(b'[', name)?;
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let is_open = memchr::memmem::rfind(line, b"]:").is_none();
    (is_open && name[..bracket].iter().all(is_name)).then(|| &name[bracket + 1..])
}

/// The part of a key after its stacks, and the value: `, bash]: 12`.
fn end(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let is_end = matches!(line.first(), Some(b',' | b']'));
    let bracket = memchr::memmem::rfind(line, b"]:").filter(|_| is_end)?;
    Some((&line[..bracket], line[bracket + 2..].trim_ascii()))
}

#[derive(Default)]
pub(super) struct Bpftrace {
    /// The unfinished key.
    key: Option<Key>,
}

#[derive(Default)]
struct Key {
    /// Leaf first.
    stack: Vec<LocationIx>,
    ids: [Option<u32>; 2],
    name: Vec<u8>,
}

impl Key {
    /// Reads parts of a key other than stacks: process id, thread id, name.
    fn add(&mut self, parts: &[u8]) {
        for part in parts.split(|&byte| byte == b',').map(<[u8]>::trim_ascii) {
            let id = decimal(part).and_then(|id| u32::try_from(id).ok());
            match (id, &mut self.ids) {
                (None, _) if part.is_empty() => {}
                (None, _) => self.name = part.to_owned(),
                (id, [free @ None, _] | [_, free]) => *free = id,
            }
        }
    }
}

impl Report for Bpftrace {
    fn line(&mut self, line: &[u8], builder: &mut RecordingBuilder) -> Result<(), String> {
        let Some(key) = &mut self.key else {
            // Between maps there is output of scripts, and maps without stacks.
            if let Some(parts) = begin(line) {
                let mut key = Key::default();
                key.add(parts);
                self.key = Some(key);
            }
            return Ok(());
        };
        if let Some((parts, value)) = end(line) {
            key.add(parts);
            let count = decimal(value).ok_or_else(|| {
                format!(
                    "expected a count of 0 or more, found {}; is it a map of other than count() or sum()?",
                    excerpt(value)
                )
            })?;
            let key = self.key.take().unwrap_or_default();
            return Ok(add(key, count, builder)?);
        }
        match line.trim_ascii() {
            b"" => {}
            parts if line.starts_with(b",") => key.add(parts),
            _ if line.starts_with(b"@") => {
                return Err("a map begins within the key of another; was a line lost?".to_owned());
            }
            text => key.stack.push(frame(text, builder)?),
        }
        Ok(())
    }

    fn cut(&self) -> Option<&'static str> {
        self.key.is_some().then_some("a key, which its count ends")
    }

    fn finish(self, builder: &mut RecordingBuilder) -> Result<(), String> {
        builder.sample_type("samples", Unit::Samples);
        Ok(())
    }
}

fn add(key: Key, count: u64, builder: &mut RecordingBuilder) -> Built<()> {
    let Key {
        mut stack,
        ids: [pid, tid],
        name,
    } = key;
    stack.reverse();
    let name = builder.text(&name).into_owned();
    let process = builder.process(pid.unwrap_or(0), &name);
    let thread = builder.thread_unchecked(process, tid.or(pid).unwrap_or(0), &name);
    let stack = builder.stack(&stack)?;
    builder.add_cost(thread, SampleTypeIx(0), stack, Cost::from_count(count))
}

/// `do_idle+390`, `[inlined] work+12@/src/work.c:7`; or `7f92deadbeef main+231 (/usr/bin/app)`, as with `ustack(perf)`.
fn frame(text: &[u8], builder: &mut RecordingBuilder) -> Built<LocationIx> {
    let mut frame = NamedFrame::default();
    let inlined = text.strip_prefix(b"[inlined] ");
    frame.kind = inlined.map(|_| FrameKind::Inlined);
    let mut symbol = inlined.unwrap_or(text);
    let address = words(symbol).next().unwrap_or_default();
    if address.len() >= 8 && address.iter().all(u8::is_ascii_hexdigit) {
        let named = symbol[address.len()..].trim_ascii_start();
        symbol = if named.is_empty() { symbol } else { named };
    }
    let module = symbol.strip_suffix(b")").and_then(|text| {
        let start = memchr::memmem::rfind(text, b" (")?;
        Some((&text[..start], &text[start + 2..]))
    });
    if let Some((named, module)) = module {
        symbol = named;
        match module {
            b"inlined" => frame.kind = Some(FrameKind::Inlined),
            module => frame.module = module_name(module),
        }
    }
    let source = memchr::memrchr(b'@', symbol).map(|at| (&symbol[..at], &symbol[at + 1..]));
    if let Some((named, source)) = source
        && let Some(colon) = memchr::memrchr(b':', source)
        && let Some(line) = decimal(&source[colon + 1..])
    {
        symbol = named;
        frame.file = &source[..colon];
        frame.line = u32::try_from(line).unwrap_or(0);
    }
    let plus = memchr::memrchr(b'+', symbol);
    let is_offset = |&at: &usize| decimal(&symbol[at + 1..]).is_some();
    let named = &symbol[..plus.filter(is_offset).unwrap_or(symbol.len())];
    // The address differs from run to run, so it is not a name.
    frame.symbol = if is_address(named) { b"" } else { named };
    frame.add(builder)
}
