//! The first line of a sample: `comm pid/tid [cpu] time: period event:`.
//!
//! The fields depend on the recording and on `perf script -F`. perf separates them by any number of
//! spaces, and a command name may contain spaces and digits. So each number is tried as the thread
//! id until one is found that is followed by the other fields.

use crate::wire::text::decimal;
use sto_model::units::Nanoseconds;

/// The fields of a sample's first line.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Header<'a> {
    pub(super) comm: &'a [u8],
    /// Process id, which `perf script` prints only with `-F +pid`.
    pub(super) pid: Option<u32>,
    pub(super) tid: u32,
    pub(super) time: Option<Nanoseconds>,
    pub(super) period: Option<u64>,
    pub(super) event: Option<&'a [u8]>,
    /// The rest: without call chains the sampled function, for a tracepoint its fields.
    pub(super) rest: &'a [u8],
}

impl<'a> Header<'a> {
    /// Returns `true` if the line is of a record that is not a sample, as printed by
    /// `--show-mmap-events`.
    pub(super) fn is_other_record(&self) -> bool {
        is_other_record(self.event.unwrap_or(self.rest))
    }

    pub(super) fn parse(line: &'a [u8]) -> Option<Header<'a>> {
        let mut words = Words::new(line);
        while words.first_len > 0 {
            let comm_len = line.len() - words.text.len();
            let rest = &words.text[words.first_len..];
            if let Some((pid, tid)) = words.take(parse_ids)
                && let Some(header) =
                    Header::from_words(line[..comm_len].trim_ascii(), (pid, tid), words)
            {
                return Some(header);
            }
            words = Words::new(rest);
        }
        None
    }

    /// Parses the text after the ids, `[cpu] misc time: period event:`. There must be a time, an
    /// event, or a record that is not a sample.
    fn from_words(
        comm: &'a [u8],
        (pid, tid): (Option<u32>, u32),
        mut words: Words<'a>,
    ) -> Option<Header<'a>> {
        words.take(parse_cpu);
        words.take(parse_misc);
        let time = words.take(parse_time);
        let after_time = words.text;
        let period = words.take(decimal);
        let event = words.take(parse_event);
        let is_one = time.is_some() || event.is_some() || is_other_record(after_time);
        is_one.then(|| Header {
            comm,
            pid,
            tid,
            time,
            period: period.filter(|_| event.is_some()),
            event,
            rest: match event {
                Some(_) => words.text.trim_ascii(),
                None => after_time.trim_ascii(),
            },
        })
    }
}

/// Returns `true` if a record that is not a sample follows: `PERF_RECORD_MMAP2 1/1: [...]`.
fn is_other_record(text: &[u8]) -> bool {
    text.trim_ascii_start().starts_with(b"PERF_RECORD_")
}

/// A text of words separated by white space.
#[derive(Clone, Copy)]
struct Words<'a> {
    /// The text without leading white space.
    text: &'a [u8],
    /// Length of the first word, or 0 if there is none.
    first_len: usize,
}

impl<'a> Words<'a> {
    fn new(text: &'a [u8]) -> Words<'a> {
        let text = text.trim_ascii_start();
        let first_len = text.iter().position(u8::is_ascii_whitespace);
        Words {
            text,
            first_len: first_len.unwrap_or(text.len()),
        }
    }

    /// Removes the first word if it can be parsed.
    fn take<T>(&mut self, parse: impl Fn(&'a [u8]) -> Option<T>) -> Option<T> {
        let (first, rest) = self.text.split_at(self.first_len);
        let parsed = parse(first).filter(|_| !first.is_empty())?;
        *self = Words::new(rest);
        Some(parsed)
    }
}

/// `tid` or `pid/tid`.
fn parse_ids(token: &[u8]) -> Option<(Option<u32>, u32)> {
    match memchr::memchr(b'/', token) {
        Some(slash) => Some((
            Some(parse_id(&token[..slash])?),
            parse_id(&token[slash + 1..])?,
        )),
        None => Some((None, parse_id(token)?)),
    }
}

/// A process or thread id; perf writes -1 for an unknown one.
fn parse_id(token: &[u8]) -> Option<u32> {
    match token {
        b"-1" => Some(u32::MAX),
        _ => decimal(token)?.try_into().ok(),
    }
}

fn parse_cpu(token: &[u8]) -> Option<u64> {
    decimal(token.strip_prefix(b"[")?.strip_suffix(b"]")?)
}

/// The mode of the sample and other flags of `-F +misc`: `U`, `KM`.
fn parse_misc(token: &[u8]) -> Option<()> {
    let is_misc = token.iter().all(|flag| b"UKHGgMEcSFDA".contains(flag));
    is_misc.then_some(())
}

/// Seconds with up to nine decimals, and a colon.
fn parse_time(token: &[u8]) -> Option<Nanoseconds> {
    let token = token.strip_suffix(b":")?;
    let point = memchr::memchr(b'.', token)?;
    let (seconds, fraction) = (&token[..point], &token[point + 1..]);
    let scale = 10u64.pow(9u32.checked_sub(fraction.len() as u32)?);
    let nanoseconds = decimal(seconds)?
        .checked_mul(1_000_000_000)?
        .checked_add(decimal(fraction)? * scale)?;
    Some(Nanoseconds(nanoseconds))
}

/// The name of an event and a colon; the name may end in modifiers, as in `cycles:u:`.
fn parse_event(token: &[u8]) -> Option<&[u8]> {
    let event = token.strip_suffix(b":")?;
    // Go's heap profiles as text have `1: 4 [20: 400]`.
    let is_name = |first: &u8| !first.is_ascii_digit() && *first != b'[';
    event.first().is_some_and(is_name).then_some(event)
}
