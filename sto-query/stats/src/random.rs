//! A deterministic pseudo-random number generator.

/// Pseudo-random numbers: xorshift64* (S. Vigna, ACM TOMS 42:30, 2016).
pub struct Random(u64);

impl Random {
    /// Creates a generator; each seed has its own sequence.
    pub fn new(seed: u64) -> Random {
        // Makes the state odd, so not zero, and spreads neighbouring seeds over all bits.
        let mut random = Random(seed.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
        random.next();
        random
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    /// Returns a number below `end`; 0 if `end` is 0.
    pub fn below(&mut self, end: usize) -> usize {
        ((u128::from(self.next()) * end as u128) >> 64) as usize
    }

    /// Returns a number between 0 and 1, both excluded.
    fn unit(&mut self) -> f64 {
        ((self.next() >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
    }

    /// Returns a standard normal deviate, by the method of Box and Muller.
    pub fn normal(&mut self) -> f64 {
        let (radius, angle) = (-2.0 * self.unit().ln(), std::f64::consts::TAU * self.unit());
        radius.sqrt() * angle.cos()
    }
}
