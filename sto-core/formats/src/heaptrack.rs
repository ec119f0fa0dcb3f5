//! heaptrack recordings, as output by `heaptrack_interpret`: all allocations with stacks, in order of time.
//!
//! They are read as allocated memory, memory in use at the peak, and leaked memory. Numbers are hexadecimal:
//!
//! ```text
//! s 4 work            the next string, after its length (from version 3 on)
//! i 5634 1 23 17 1e   the next instruction: its address, module, function, file and line; then the functions it was inlined into
//! t 10 f              the next stack: its instruction, and its caller's stack
//! a 18 9              the next kind of allocation: size and stack
//! + 1, - 1            an allocation or a free of this kind
//! ```
//!
//! Source: `src/interpret` and `src/analyze/accumulatedtracedata.cpp` of <https://invent.kde.org/sdk/heaptrack>.

use crate::names::{NamedFrame, module_name};
use crate::recording::{LocationIx, RecordingBuilder, StackIx, process_name};
use crate::report::{Report, add_to_only_thread};
use crate::source::Head;
use crate::wire::text::{base_name, excerpt, lines, words};
use sto_model::FrameKind;
use sto_model::units::{Cost, Nanoseconds, Unit};

/// Returns `true` if a profile begins with a version and names the program.
pub(super) fn matches(head: &Head<'_>) -> bool {
    let mut lines = lines(head.bytes).map(|(_, line)| line);
    let version = lines.next().and_then(version_of);
    version.is_some() && lines.take(8).any(|line| line.starts_with(b"X "))
}

/// `v 10400 3`: version of heaptrack and version of the file.
fn version_of(line: &[u8]) -> Option<u64> {
    let mut words = words(line.strip_prefix(b"v ")?).map(hexadecimal);
    let _heaptrack = words.next()??;
    let file = words.next().unwrap_or(Some(0))?;
    words.next().is_none().then_some(file)
}

#[derive(Default)]
pub(super) struct Heaptrack {
    version: u64,
    strings: Vec<Box<[u8]>>,
    /// The functions of each instruction: leaf first, then the functions that it was inlined into.
    instructions: Vec<Box<[LocationIx]>>,
    stacks: Vec<StackIx>,
    kinds: Vec<Allocations>,
    /// Allocated bytes, and their peak.
    used: u64,
    most: u64,
    /// Indices of allocations that changed since the peak.
    changed: Vec<usize>,
    program: String,
}

/// Allocations of one size by one stack.
struct Allocations {
    size: u64,
    stack: StackIx,
    all: u64,
    used: u64,
    at_peak: u64,
    is_changed: bool,
}

/// Limit to the functions inlined at one instruction.
const MAX_INLINED: usize = 1024;

impl Report for Heaptrack {
    fn line(&mut self, line: &[u8], builder: &mut RecordingBuilder) -> Result<(), String> {
        let Some((&kind, rest)) = line.split_first() else {
            return Ok(());
        };
        match kind {
            b'+' | b'-' => self.event(kind == b'+', rest),
            b'v' => self.version(line),
            b'X' => {
                let command = builder.text(rest.trim_ascii()).into_owned();
                let program = words(rest).next().unwrap_or_default();
                self.program = process_name(base_name(program));
                builder.origin().command = Some(command);
                Ok(())
            }
            b's' => self.string(rest),
            b'i' => self.instruction(rest, builder),
            b't' => self.stack(rest, builder),
            b'a' => self.kind(rest),
            b'c' => {
                let [milliseconds] = numbers(line, rest)?;
                let duration = milliseconds.checked_mul(1_000_000);
                builder.origin().duration = duration.map(Nanoseconds);
                Ok(())
            }
            b'm' => Err(
                "a recording without symbols; use the output of `heaptrack_interpret < FILE`"
                    .to_owned(),
            ),
            // Sizes of the process and of pages, suppressions, comments.
            _ => Ok(()),
        }
    }

    fn finish(self, builder: &mut RecordingBuilder) -> Result<(), String> {
        for kind in &self.kinds {
            for (count, sample_type) in [kind.all, kind.at_peak, kind.used].into_iter().zip(0..) {
                let value = count.checked_mul(kind.size);
                let cost = Cost {
                    samples: count,
                    value: value.ok_or("its allocations are more than 2^64 bytes")?,
                };
                add_to_only_thread(builder, sample_type, kind.stack, cost)?;
            }
        }
        for name in ["allocated", "peak", "at-end"] {
            builder.sample_type(name, Unit::Bytes);
        }
        let process = builder.process(0, &self.program);
        builder.new_thread(process, 0, "");
        Ok(())
    }
}

impl Heaptrack {
    fn version(&mut self, line: &[u8]) -> Result<(), String> {
        self.version = version_of(line).ok_or_else(|| unexpected(line))?;
        match self.version {
            1..=3 => Ok(()),
            version => Err(format!(
                "a file of heaptrack in version {version}; versions 1 to 3 are read, of heaptrack 1.1 to 1.5"
            )),
        }
    }

    fn string(&mut self, rest: &[u8]) -> Result<(), String> {
        let mut text = rest.strip_prefix(b" ").unwrap_or(rest);
        if self.version >= 3 {
            let space = memchr::memchr(b' ', text).unwrap_or(text.len());
            let length = hexadecimal(&text[..space]);
            text = text.get(space + 1..).unwrap_or_default();
            if length != Some(text.len() as u64) {
                return Err(format!(
                    "expected a string behind its length, found {}",
                    excerpt(rest)
                ));
            }
        }
        self.strings.push(text.into());
        Ok(())
    }

    /// The string with this number; empty for 0.
    fn text(&self, number: u64) -> Result<&[u8], String> {
        match number {
            0 => Ok(b""),
            number => at(&self.strings, number - 1, "string").map(|text| &**text),
        }
    }

    fn instruction(&mut self, rest: &[u8], builder: &mut RecordingBuilder) -> Result<(), String> {
        let numbers = words(rest).map(|word| hexadecimal(word).ok_or_else(|| unexpected(rest)));
        let numbers = numbers.collect::<Result<Vec<u64>, String>>()?;
        let [_address, module, functions @ ..] = &numbers[..] else {
            return Err(unexpected(rest));
        };
        // Without debug info, there are no file and line.
        let functions: Vec<[u64; 3]> = match functions {
            [] => vec![[0; 3]],
            [function] => vec![[*function, 0, 0]],
            functions => {
                let chunks = functions.chunks(3);
                let whole = chunks.map(|chunk| chunk.try_into().map_err(|_| unexpected(rest)));
                whole.collect::<Result<_, String>>()?
            }
        };
        if functions.len() > MAX_INLINED {
            return Err(format!(
                "an instruction of {} functions; those of up to {MAX_INLINED} are read",
                functions.len()
            ));
        }
        let module = module_name(self.text(*module)?);
        let mut locations = Vec::with_capacity(functions.len());
        for (depth, &[function, file, line]) in functions.iter().enumerate() {
            let is_inlined = depth + 1 < functions.len();
            let frame = NamedFrame {
                symbol: self.text(function)?,
                module,
                file: self.text(file)?,
                line: u32::try_from(line).unwrap_or(0),
                kind: is_inlined.then_some(FrameKind::Inlined),
            };
            locations.push(frame.add(builder)?);
        }
        self.instructions.push(locations.into());
        Ok(())
    }

    fn stack(&mut self, rest: &[u8], builder: &mut RecordingBuilder) -> Result<(), String> {
        let [instruction, caller] = numbers(rest, rest)?;
        let mut caller = match caller {
            0 => None,
            caller => Some(*at(&self.stacks, caller - 1, "stack")?),
        };
        let instruction = instruction.checked_sub(1).ok_or_else(|| unexpected(rest))?;
        for &location in at(&self.instructions, instruction, "instruction")?
            .iter()
            .rev()
        {
            caller = Some(builder.call(caller, location)?);
        }
        self.stacks.extend(caller);
        Ok(())
    }

    fn kind(&mut self, rest: &[u8]) -> Result<(), String> {
        let [size, stack] = numbers(rest, rest)?;
        let stack = stack.checked_sub(1).ok_or_else(|| unexpected(rest))?;
        self.kinds.push(Allocations {
            size,
            stack: *at(&self.stacks, stack, "stack")?,
            all: 0,
            used: 0,
            at_peak: 0,
            is_changed: false,
        });
        Ok(())
    }

    fn event(&mut self, is_allocated: bool, rest: &[u8]) -> Result<(), String> {
        let [index] = numbers(rest, rest)?;
        let found = usize::try_from(index)
            .ok()
            .and_then(|index| Some((index, self.kinds.get_mut(index)?)));
        let Some((index, kind)) = found else {
            return Err(missing(index, "allocation", self.kinds.len()));
        };
        if !kind.is_changed {
            kind.is_changed = true;
            self.changed.push(index);
        }
        if is_allocated {
            kind.all += 1;
            kind.used += 1;
            self.used = self.used.saturating_add(kind.size);
        } else {
            // Memory allocated before the recording began may be freed.
            let used = kind.used.checked_sub(1);
            self.used -= used.map_or(0, |_| kind.size.min(self.used));
            kind.used = used.unwrap_or(0);
        }
        if self.used > self.most {
            self.most = self.used;
            for index in self.changed.drain(..) {
                if let Some(kind) = self.kinds.get_mut(index) {
                    kind.is_changed = false;
                    kind.at_peak = kind.used;
                }
            }
        }
        Ok(())
    }
}

fn at<'t, T>(table: &'t [T], index: u64, what: &str) -> Result<&'t T, String> {
    let found = usize::try_from(index)
        .ok()
        .and_then(|index| table.get(index));
    found.ok_or_else(|| missing(index, what, table.len()))
}

fn missing(index: u64, what: &str, length: usize) -> String {
    format!("the {what} {index:x}, where {length:x} stand before; was a line lost?")
}

fn numbers<const N: usize>(line: &[u8], rest: &[u8]) -> Result<[u64; N], String> {
    let mut numbers = [0; N];
    let mut words = words(rest);
    for number in &mut numbers {
        *number = words
            .next()
            .and_then(hexadecimal)
            .ok_or_else(|| unexpected(line))?;
    }
    Ok(numbers)
}

fn unexpected(line: &[u8]) -> String {
    format!("expected hexadecimal numbers, found {}", excerpt(line))
}

fn hexadecimal(digits: &[u8]) -> Option<u64> {
    let (first, others) = digits.split_first()?;
    let value = |digit: &u8| (*digit as char).to_digit(16).map(u64::from);
    others.iter().try_fold(value(first)?, |sum, digit| {
        Some(sum.checked_mul(16)? + value(digit)?)
    })
}
