//! Numbers and text as memray writes them.

/// Why a record was not read.
pub(super) enum Stop {
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
pub(super) struct Bytes<'b>(pub(super) &'b [u8]);

impl<'b> Bytes<'b> {
    pub(super) fn take(&mut self, length: u64) -> Result<&'b [u8], Stop> {
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

    pub(super) fn byte(&mut self) -> Result<u8, Stop> {
        self.array().map(|[byte]| byte)
    }

    pub(super) fn u32(&mut self) -> Result<u32, Stop> {
        self.array().map(u32::from_le_bytes)
    }

    pub(super) fn u64(&mut self) -> Result<u64, Stop> {
        self.array().map(u64::from_le_bytes)
    }

    /// Up to a zero byte.
    pub(super) fn text(&mut self) -> Result<&'b [u8], Stop> {
        let end = memchr::memchr(0, self.0).ok_or(Stop::Ends)?;
        let text = &self.0[..end];
        self.0 = &self.0[end + 1..];
        Ok(text)
    }

    /// Seven bits a byte.
    pub(super) fn number(&mut self) -> Result<u64, Stop> {
        let (mut number, mut shift) = (0, 0);
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

    /// The same, with the sign in the lowest bit.
    pub(super) fn signed(&mut self) -> Result<i64, Stop> {
        let number = self.number()?;
        Ok((number >> 1) as i64 ^ -((number & 1) as i64))
    }
}
