//! Text profiles: numbers, `@` and addresses, after which Go writes the frames by name.

use super::mappings::{Mappings, hexadecimal};
use super::{NO_NAMES, add, sample_types};
use crate::error::{At, DecodeError, Decoded};
use crate::names::NamedFrame;
use crate::pprof::columns::Column;
use crate::pprof::schema::Named;
use crate::recording::{LocationIx, RecordingBuilder};
use crate::wire::text::{decimal, excerpt, lines, words};
use sto_model::units::Nanoseconds;

/// The kind of a profile, by its first line.
pub(super) enum Kind<'b> {
    /// Allocations, sampled with this mean period in bytes; 1 if all were recorded.
    Heap { period: u64 },
    /// `Heap` in jemalloc's format.
    Jemalloc { period: u64 },
    /// Waits for locks.
    Contention,
    /// Counts of things with this name.
    Count(&'b [u8]),
}

impl<'b> Kind<'b> {
    pub(super) fn from_first_line(first: &'b [u8]) -> Option<Kind<'b>> {
        if first.starts_with(b"--- contention") || first.starts_with(b"--- mutex:") {
            return Some(Kind::Contention);
        }
        if let Some(period) = first.strip_prefix(b"heap_v2/") {
            let period = decimal(period)?;
            return Some(Kind::Jemalloc { period });
        }
        if let Some(rest) = first.strip_prefix(b"heap profile:") {
            let at = memchr::memchr(b'@', rest)?;
            let mut kind = rest[at + 1..].trim_ascii().split(|&byte| byte == b'/');
            let (kind, period) = (kind.next()?, kind.next().and_then(decimal));
            let period = match kind {
                b"heapz_v2" | b"heap_v2" => period.unwrap_or(1),
                // Go writes twice the period.
                b"heap" => period.unwrap_or(2) / 2,
                b"heapprofile" | b"growth" | b"growthz" => 1,
                _ => return None,
            };
            return Some(Kind::Heap { period });
        }
        let mut words = words(first);
        let name = words.next()?;
        let is_count = words.next()? == b"profile:"
            && words.next()? == b"total"
            && words.next().and_then(decimal).is_some()
            && words.next().is_none();
        is_count.then_some(Kind::Count(name))
    }
}

/// Texts that precede mappings.
const MAPPED: [&[u8]; 2] = [b"\nMAPPED_LIBRARIES:", b"\n--- Memory map: ---"];
const LABELS: &str = "Labels of goroutines are left out; profiles written with debug=0 have them.";

pub(super) fn read(bytes: &[u8]) -> Decoded<RecordingBuilder> {
    let mapped = MAPPED.iter();
    let mapped = mapped.filter_map(|line| memchr::memmem::find(bytes, line));
    let (text, mapped) = bytes.split_at(mapped.min().map_or(bytes.len(), |end| end + 1));
    let mut builder = RecordingBuilder::default();
    let mappings = Mappings::parse(mapped, &mut builder);
    let first = lines(text).next().map_or(&b""[..], |(_, first)| first);
    let kind = Kind::from_first_line(first).ok_or_else(|| {
        DecodeError::unsupported(format!(
            "expected a first line such as `heap profile: 1: 16 [1: 16] @ heapprofile`, found {}",
            excerpt(first)
        ))
    })?;
    let types = kind.types(text);
    let mut reader = Reader {
        columns: sample_types(types, &mut builder)?,
        kind,
        has_mappings: !mapped.is_empty(),
        mappings,
        builder,
        sample: Sample::default(),
        period: 1,
        cycles: None,
        has_labels: false,
        is_nameless: false,
    };
    for (number, line) in lines(text).skip(1) {
        let at = line.as_ptr() as usize - bytes.as_ptr() as usize;
        let read = reader.line(line, at);
        read.map_err(|error| error.map_offset(|_| At::Line(number).to_string()))?;
    }
    reader.flush()?;
    let warnings = [(reader.is_nameless, NO_NAMES), (reader.has_labels, LABELS)];
    let warnings = warnings.into_iter().filter(|&(is_so, _)| is_so);
    let warnings = warnings.map(|(_, warning)| warning.to_owned());
    reader.builder.warnings.extend(warnings);
    Ok(reader.builder)
}

impl<'b> Kind<'b> {
    /// The sample types, with pprof's names.
    fn types(&self, text: &[u8]) -> Vec<Named<'b>> {
        match self {
            Kind::Contention => vec![(b"contentions", b"count"), (b"delay", b"nanoseconds")],
            Kind::Count(name) => vec![(name, b"count")],
            // Include allocated memory only if it differs from memory in use.
            Kind::Heap { .. } | Kind::Jemalloc { .. } if has_freed(text) => vec![
                (b"alloc_objects", b"count"),
                (b"alloc_space", b"bytes"),
                (b"inuse_objects", b"count"),
                (b"inuse_space", b"bytes"),
            ],
            Kind::Heap { .. } | Kind::Jemalloc { .. } => {
                vec![(b"inuse_objects", b"count"), (b"inuse_space", b"bytes")]
            }
        }
    }
}

/// Returns `true` if the first line has other numbers for allocated memory than for memory in use.
fn has_freed(text: &[u8]) -> bool {
    let totals = lines(text).take(2).find_map(|(_, line)| {
        let numbers = line.strip_prefix(b"heap profile:").unwrap_or(line);
        four_numbers(numbers)
    });
    let differs = |used: u64, all: u64| all != used && all != 0;
    totals.is_some_and(|[objects, bytes, all_objects, all_bytes]| {
        differs(objects, all_objects) || differs(bytes, all_bytes)
    })
}

/// `1: 16 [3: 48]` before an `@`, possibly preceded by `t*:`.
fn four_numbers(line: &[u8]) -> Option<[u64; 4]> {
    let end = memchr::memchr(b'@', line).unwrap_or(line.len());
    let line = line[..end].trim_ascii();
    let line = line.strip_prefix(b"t*:").unwrap_or(line);
    let is_between = |byte: &u8| matches!(byte, b' ' | b':' | b'[' | b']');
    let words = line.split(is_between).filter(|word| !word.is_empty());
    let numbers: Vec<u64> = words.map(decimal).collect::<Option<_>>()?;
    numbers.try_into().ok()
}

struct Reader<'b> {
    kind: Kind<'b>,
    columns: Vec<Column>,
    has_mappings: bool,
    mappings: Mappings,
    builder: RecordingBuilder,
    /// The last sample; its frames may follow.
    sample: Sample,
    /// Number of waits per recorded one.
    period: u64,
    /// Cycles per second.
    cycles: Option<f64>,
    has_labels: bool,
    is_nameless: bool,
}

#[derive(Default)]
struct Sample {
    at: usize,
    values: Vec<u64>,
    /// Addresses, leaf first, like the frames.
    addresses: Vec<u64>,
    named: Vec<LocationIx>,
}

impl Reader<'_> {
    fn line(&mut self, line: &[u8], at: usize) -> Decoded<()> {
        let problem = match line.trim_ascii() {
            b"" => return Ok(()),
            [b'#', text @ ..] => return self.comment(text, at),
            text if self.is_before_waits(text) => self.attribute(text),
            text => {
                if memchr::memchr(b'@', text).is_some() {
                    self.flush()?;
                    self.sample.at = at;
                }
                self.sample(text)
            }
        };
        problem.map_err(DecodeError::at(at))
    }

    /// A frame of the last sample, ``\t0x4b7737\tmain.keep+0x97\t\t/src/work.go:53``, or a comment.
    fn comment(&mut self, text: &[u8], at: usize) -> Decoded<()> {
        self.has_labels |= text.trim_ascii_start().starts_with(b"labels:");
        let columns = text.split(|&byte| byte == b'\t');
        let mut columns = columns
            .map(<[u8]>::trim_ascii)
            .filter(|column| !column.is_empty());
        if !columns
            .next()
            .is_some_and(|address| address.starts_with(b"0x"))
        {
            return Ok(());
        }
        let symbol = columns.next().unwrap_or_default();
        let symbol_end = memchr::memmem::rfind(symbol, b"+0x").unwrap_or(symbol.len());
        let place = columns.next().unwrap_or_default();
        let (file, line) = place.split_at(memchr::memrchr(b':', place).unwrap_or(place.len()));
        let line = line.strip_prefix(b":").and_then(decimal);
        let frame = NamedFrame {
            symbol: &symbol[..symbol_end],
            file,
            line: line.and_then(|line| u32::try_from(line).ok()).unwrap_or(0),
            ..NamedFrame::default()
        };
        let location = frame.add(&mut self.builder).map_err(DecodeError::at(at))?;
        self.sample.named.push(location);
        Ok(())
    }

    fn is_before_waits(&self, text: &[u8]) -> bool {
        matches!(self.kind, Kind::Contention) && memchr::memchr(b'=', text).is_some()
    }

    /// `cycles/second=2445467786`
    fn attribute(&mut self, text: &[u8]) -> Result<(), String> {
        let mut parts = text.splitn(2, |&byte| byte == b'=').map(<[u8]>::trim_ascii);
        let (key, value) = (
            parts.next().unwrap_or_default(),
            parts.next().unwrap_or_default(),
        );
        let number = || {
            let number = decimal(value);
            number.ok_or_else(|| format!("expected a number, found {}", excerpt(value)))
        };
        match key {
            b"cycles/second" => self.cycles = Some(number()? as f64),
            b"sampling period" => self.period = number()?,
            b"ms since reset" => {
                let duration = number()?.checked_mul(1_000_000);
                self.builder.origin().duration = duration.map(Nanoseconds);
            }
            b"format" => {
                return Err(format!(
                    "waits in the format {}, which is not read; record with a profiler of that language",
                    excerpt(value)
                ));
            }
            _ => {}
        }
        Ok(())
    }

    fn sample(&mut self, text: &[u8]) -> Result<(), String> {
        let at = memchr::memchr(b'@', text);
        let numbers = &text[..at.unwrap_or(text.len())];
        let unexpected = |expected: &str| format!("expected {expected}, found {}", excerpt(text));
        if let Some(at) = at {
            let addresses = words(&text[at + 1..]).map(hexadecimal);
            let addresses = addresses.collect::<Option<Vec<_>>>();
            self.sample.addresses = addresses.ok_or_else(|| unexpected("addresses behind `@`"))?;
        }
        let mut counted = words(numbers).map(decimal);
        match self.kind {
            // After a stack there are lines for all threads and for each one; before any stack
            // there are the totals.
            Kind::Jemalloc { .. }
                if !numbers.starts_with(b"t*:") || self.sample.addresses.is_empty() => {}
            Kind::Heap { period } | Kind::Jemalloc { period } => {
                let numbers = four_numbers(numbers)
                    .ok_or_else(|| unexpected("two numbers, and two in brackets"))?;
                let [objects, bytes, all_objects, all_bytes] = numbers;
                let used = scaled(objects, bytes, period);
                self.sample.values = match self.columns.len() {
                    4 => [scaled(all_objects, all_bytes, period), used].concat(),
                    _ => used.to_vec(),
                };
            }
            Kind::Contention => match (counted.next(), counted.next(), counted.next()) {
                (Some(Some(cycles)), Some(Some(count)), None) => {
                    let nanoseconds = match self.cycles {
                        Some(per_second) if per_second > 0.0 => {
                            cycles as f64 * self.period as f64 / (per_second / 1e9)
                        }
                        _ => cycles as f64 * self.period as f64,
                    };
                    self.sample.values =
                        vec![count.saturating_mul(self.period), nanoseconds as u64];
                }
                _ => return Err(unexpected("cycles and a number of waits before `@`")),
            },
            Kind::Count(_) => match (counted.next(), counted.next()) {
                (Some(Some(count)), None) => self.sample.values = vec![count],
                _ => return Err(unexpected("a number before `@`")),
            },
        }
        Ok(())
    }

    /// Adds the last sample.
    fn flush(&mut self) -> Decoded<()> {
        let Sample {
            at,
            values,
            addresses,
            mut named,
        } = std::mem::take(&mut self.sample);
        if values.is_empty() {
            return Ok(());
        }
        if named.is_empty() {
            self.is_nameless |= !self.has_mappings && !addresses.is_empty();
            for address in addresses {
                // It is a return address.
                let address = address.saturating_sub(1);
                let location = self.mappings.location(address, &mut self.builder);
                named.push(location.map_err(DecodeError::at(at))?);
            }
        }
        named.reverse();
        add((&values, &named), &self.columns, at, &mut self.builder)
    }
}

/// Estimates what was allocated from the sampled part: an allocation of `n` bytes is sampled with a
/// probability of `1 - exp(-n / period)`.
fn scaled(objects: u64, bytes: u64, period: u64) -> [u64; 2] {
    if objects == 0 || bytes == 0 || period <= 1 {
        return [objects, bytes];
    }
    let size = bytes as f64 / objects as f64;
    let scale = 1.0 / (1.0 - (-size / period as f64).exp());
    [
        (objects as f64 * scale) as u64,
        (bytes as f64 * scale) as u64,
    ]
}
