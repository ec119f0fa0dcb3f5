//! Records that follow each other, of numbers in little-endian order or of seven bits a byte, and of text that ends with a
//! zero; they are read as they come.

use crate::error::{DecodeError, Decoded};
use sto_model::limits::MAX_LINE;

/// What was not read yet.
#[derive(Default)]
pub(crate) struct Held {
    bytes: Vec<u8>,
    /// Where in the file that begins.
    at: usize,
}

impl Held {
    pub(crate) fn at(&self) -> usize {
        self.at
    }

    pub(crate) fn len(&self) -> usize {
        self.bytes.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Reads what came now behind what was left, record by record, up to the first one that is not there as a whole.
    /// `what` is the name of one.
    pub(crate) fn read(
        &mut self,
        new: &[u8],
        what: &str,
        mut record: impl FnMut(&mut Bytes<'_>) -> Result<(), Stop>,
    ) -> Decoded<()> {
        if self.bytes.len() > MAX_LINE {
            let problem = format!("{what} of more than {} MiB", MAX_LINE >> 20);
            return Err(DecodeError::new(self.at, problem));
        }
        self.bytes.extend_from_slice(new);
        let mut rest = Bytes(&self.bytes);
        let mut done = 0;
        while !rest.0.is_empty() {
            match record(&mut rest) {
                Ok(()) => done = self.bytes.len() - rest.0.len(),
                Err(Stop::Ends) => break,
                Err(Stop::Wrong(problem)) => return Err(DecodeError::new(self.at + done, problem)),
            }
        }
        self.bytes.drain(..done);
        self.at += done;
        Ok(())
    }
}

/// What a record says of another one, by a number that none had.
pub(crate) fn not_before(what: &str, number: u64) -> String {
    format!("{what} {number}, which was not written before; was the file damaged?")
}

/// Why a record was not read.
pub(crate) enum Stop {
    /// What is there ends before it does.
    Ends,
    Wrong(String),
}

impl<P: Into<String>> From<P> for Stop {
    fn from(problem: P) -> Stop {
        Stop::Wrong(problem.into())
    }
}

/// What is left to read.
pub(crate) struct Bytes<'b>(pub(crate) &'b [u8]);

impl<'b> Bytes<'b> {
    pub(crate) fn take(&mut self, length: u64) -> Result<&'b [u8], Stop> {
        let length = usize::try_from(length).map_err(|_| Stop::Ends)?;
        let (taken, rest) = self.0.split_at_checked(length).ok_or(Stop::Ends)?;
        self.0 = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Stop> {
        let (&taken, rest) = self.0.split_first_chunk().ok_or(Stop::Ends)?;
        self.0 = rest;
        Ok(taken)
    }

    pub(crate) fn byte(&mut self) -> Result<u8, Stop> {
        self.array().map(|[byte]| byte)
    }

    pub(crate) fn u32(&mut self) -> Result<u32, Stop> {
        self.array().map(u32::from_le_bytes)
    }

    pub(crate) fn u64(&mut self) -> Result<u64, Stop> {
        self.array().map(u64::from_le_bytes)
    }

    /// Up to a zero byte.
    pub(crate) fn text(&mut self) -> Result<&'b [u8], Stop> {
        let end = memchr::memchr(0, self.0).ok_or(Stop::Ends)?;
        let text = &self.0[..end];
        self.0 = &self.0[end + 1..];
        Ok(text)
    }

    /// Seven bits a byte.
    pub(crate) fn number(&mut self) -> Result<u64, Stop> {
        self.further_bits(0, 0)
    }

    /// Seven bits a byte, above so many lower ones.
    pub(crate) fn further_bits(&mut self, lower: u64, count: u32) -> Result<u64, Stop> {
        let (mut number, mut shift) = (lower, count);
        loop {
            let byte = self.byte()?;
            let bits = u64::from(byte & 0x7f);
            if shift > 63 || bits << shift >> shift != bits {
                return Err("a number of more than 64 bits".into());
            }
            number |= bits << shift;
            if byte & 0x80 == 0 {
                return Ok(number);
            }
            shift += 7;
        }
    }

    /// Seven bits a byte, with the sign in the lowest one.
    pub(crate) fn signed(&mut self) -> Result<i64, Stop> {
        let number = self.number()?;
        Ok((number >> 1) as i64 ^ -((number & 1) as i64))
    }
}
