//! An entropy coder: what is likely takes a fraction of a bit.
//!
//! Range asymmetric numeral systems (Duda, "Asymmetric numeral systems", arXiv:1311.2540) with models
//! that learn as they go, so that a pack needs no tables of probabilities.

use super::Flaw;

/// Bits of the scale that the symbols of a model share.
const SCALE_BITS: u32 = 15;

/// The least share of a symbol.
const LEAST: i16 = 32;

/// The slowest rate at which shares move, as a power of two.
const SLOWEST: u32 = 5;

/// The state between two symbols is at least this.
const LOWEST_STATE: u64 = 1 << 31;

/// Most bits that are coded at once without a model.
const PLAIN_BITS: u32 = SCALE_BITS;

/// Whether this many bytes can hold so many symbols. No symbol has a share above `2^15 - LEAST`, so
/// each takes at least 1/710 bit.
pub(super) fn can_hold(bytes: usize, symbols: u32) -> bool {
    symbols as usize / 8192 <= bytes
}

/// Symbols of a model: each number of 0 to 3, each length in bits from 3 to 21, and longer.
const N: usize = 24;

/// The symbol of numbers of more than 21 bits.
const LONG: usize = N - 1;

/// A model of numbers of any size: how likely each symbol is, by what came up so far.
#[derive(Clone, Copy)]
pub(super) struct Number {
    /// Where each symbol's share of the scale begins.
    starts: [i16; N],
    seen: u8,
}

impl Default for Number {
    fn default() -> Self {
        Number {
            starts: std::array::from_fn(|i| ((i << SCALE_BITS) / N) as i16),
            seen: 0,
        }
    }
}

impl Number {
    #[inline]
    fn share(&self, symbol: usize) -> Share {
        let start = self.starts[symbol] as u32;
        let end = self.starts.get(symbol + 1);
        let end = end.map_or(1 << SCALE_BITS, |&end| end as u32);
        Share {
            start,
            size: end - start,
        }
    }

    /// The symbol whose share a place is in.
    fn symbol_at(&self, place: i16) -> usize {
        // Counting takes fewer steps than stopping: no branch, many at once. Most are below 4.
        let count = |starts: &[i16]| {
            let begun = starts.iter().map(|&start| i16::from(start <= place));
            begun.sum::<i16>() as usize
        };
        if self.starts[4] > place {
            count(&self.starts[1..4])
        } else {
            count(&self.starts[1..])
        }
    }

    /// For each symbol, where shares would begin if it took all that the others can spare.
    const GOALS: [[i16; N]; N] = {
        let mut goals = [[0; N]; N];
        let mut symbol = 0;
        while symbol < N {
            let mut i = 1;
            while i < N {
                goals[symbol][i] = if i <= symbol {
                    i as i16 * LEAST
                } else {
                    i16::MAX - ((N - i) as i16 * LEAST - 1)
                };
                i += 1;
            }
            symbol += 1;
        }
        goals
    };

    /// Moves the shares towards a symbol, at first in large steps.
    fn learn(&mut self, symbol: usize) {
        let rate = (u32::from(self.seen) + 2).ilog2().min(SLOWEST);
        self.seen = self.seen.saturating_add(1);
        for (start, goal) in self.starts.iter_mut().zip(&Self::GOALS[symbol]) {
            *start += (goal - *start) >> rate;
        }
    }
}

/// A symbol's part of the scale.
#[derive(Clone, Copy)]
struct Share {
    start: u32,
    size: u32,
}

/// The share of a value of so many bits, all of which are equally likely.
fn plain_share(value: u32, bits: u32) -> Share {
    let size = 1 << (SCALE_BITS - bits);
    Share {
        start: value * size,
        size,
    }
}

/// Symbols to be coded: the last one has to go first.
#[derive(Default)]
pub(super) struct Encoder(Vec<Share>);

impl Encoder {
    fn symbol(&mut self, model: &mut Number, symbol: usize) {
        self.0.push(model.share(symbol));
        model.learn(symbol);
    }

    pub(super) fn number(&mut self, model: &mut Number, number: u64) {
        if number < 4 {
            return self.symbol(model, number as usize);
        }
        let bits = number.ilog2();
        let symbol = (bits as usize + 2).min(LONG);
        self.symbol(model, symbol);
        if symbol == LONG {
            self.plain(u64::from(bits), 6);
        }
        self.plain(number & ((1 << bits) - 1), bits);
    }

    /// Appends the low bits of a number without a model.
    fn plain(&mut self, number: u64, mut bits: u32) {
        while bits > 0 {
            let some = bits.min(PLAIN_BITS);
            bits -= some;
            let value = (number >> bits) as u32 & ((1 << some) - 1);
            self.0.push(plain_share(value, some));
        }
    }

    /// The bytes that a [`Decoder`] takes.
    pub(super) fn finish(self) -> Vec<u8> {
        let mut words = Vec::new();
        let mut state = LOWEST_STATE;
        for share in self.0.into_iter().rev() {
            let size = u64::from(share.size);
            if state >= size << (63 - SCALE_BITS) {
                words.push(state as u32);
                state >>= 32;
            }
            state = ((state / size) << SCALE_BITS) + state % size + u64::from(share.start);
        }
        words.extend([state as u32, (state >> 32) as u32]);
        words
            .iter()
            .rev()
            .flat_map(|word| word.to_le_bytes())
            .collect()
    }
}

/// Coded symbols being read.
pub(super) struct Decoder<'a> {
    state: u64,
    words: std::slice::Iter<'a, [u8; 4]>,
    /// Whether more was read than there is: then everything since is made up.
    ended: bool,
}

impl<'a> Decoder<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Result<Self, Flaw> {
        let (words, []) = bytes.as_chunks() else {
            return Err(Flaw("it has not whole words"));
        };
        let mut decoder = Decoder {
            state: 0,
            words: words.iter(),
            ended: false,
        };
        decoder.state = decoder.word() << 32 | decoder.word();
        Ok(decoder)
    }

    fn word(&mut self) -> u64 {
        match self.words.next() {
            Some(&word) => u64::from(u32::from_le_bytes(word)),
            None => {
                self.ended = true;
                0
            }
        }
    }

    #[inline]
    fn take(&mut self, share: Share) {
        let place = self.state & ((1 << SCALE_BITS) - 1);
        self.state =
            (self.state >> SCALE_BITS) * u64::from(share.size) + place - u64::from(share.start);
        if self.state < LOWEST_STATE {
            self.state = self.state << 32 | self.word();
        }
    }

    fn place(&self) -> i16 {
        (self.state & ((1 << SCALE_BITS) - 1)) as i16
    }

    #[inline]
    fn symbol(&mut self, model: &mut Number) -> usize {
        let symbol = model.symbol_at(self.place());
        self.take(model.share(symbol));
        model.learn(symbol);
        symbol
    }

    pub(super) fn number(&mut self, model: &mut Number) -> u64 {
        let symbol = self.symbol(model);
        if symbol < 4 {
            return symbol as u64;
        }
        let bits = if symbol == LONG {
            self.plain(6) as u32
        } else {
            symbol as u32 - 2
        };
        1 << bits | self.plain(bits)
    }

    fn plain(&mut self, bits: u32) -> u64 {
        let mut number = 0;
        let mut left = bits;
        while left > PLAIN_BITS {
            number = number << PLAIN_BITS | self.few_plain(PLAIN_BITS);
            left -= PLAIN_BITS;
        }
        number << left | self.few_plain(left)
    }

    /// Takes at most [`PLAIN_BITS`].
    #[inline]
    fn few_plain(&mut self, bits: u32) -> u64 {
        let value = self.place() as u32 >> (SCALE_BITS - bits);
        self.take(plain_share(value, bits));
        u64::from(value)
    }

    /// Checks that everything was read.
    pub(super) fn finish(self) -> Result<(), Flaw> {
        if self.ended {
            Err(Flaw("it ends early"))
        } else if self.state != LOWEST_STATE || self.words.len() > 0 {
            Err(Flaw("bytes are left over"))
        } else {
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_was_coded_comes_back(numbers: Vec<(u64, u32)>) {
            let numbers: Vec<_> = numbers.into_iter().map(|(n, shift)| n >> (shift % 64)).collect();
            let mut model = Number::default();
            let mut encoder = Encoder::default();
            for &number in &numbers {
                encoder.number(&mut model, number);
            }
            let bytes = encoder.finish();
            let mut model = Number::default();
            let mut decoder = Decoder::new(&bytes).unwrap();
            for number in numbers {
                prop_assert_eq!(decoder.number(&mut model), number);
            }
            prop_assert_eq!(decoder.finish(), Ok(()));
        }

        #[test]
        fn every_symbol_keeps_a_share(symbols in proptest::collection::vec(0usize..24, 0..2000)) {
            let mut model = Number::default();
            for symbol in symbols {
                model.learn(symbol % 5);
                model.learn(symbol);
                for symbol in 0..24 {
                    prop_assert!(model.share(symbol).size >= LEAST as u32);
                }
            }
        }
    }

    #[test]
    fn bytes_that_end_early_or_are_left_over_are_found() {
        let mut encoder = Encoder::default();
        let mut model = Number::default();
        for number in 0..100 {
            encoder.number(&mut model, number);
        }
        let bytes = encoder.finish();
        let read = |bytes: &[u8]| {
            let mut decoder = Decoder::new(bytes)?;
            let mut model = Number::default();
            for _ in 0..100 {
                decoder.number(&mut model);
            }
            decoder.finish()
        };
        assert_eq!(read(&bytes), Ok(()));
        assert!(read(&bytes[..bytes.len() - 1]).is_err());
        assert!(read(&bytes[..bytes.len() - 4]).is_err());
        assert!(read(&[&bytes[..], &[0; 4]].concat()).is_err());
    }
}
