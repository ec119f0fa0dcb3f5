//! Kept calls on their way into a store.

use super::log::{Spool, Stored};
use std::io;
use std::path::Path;

/// Every call of a run, packed: what all pieces have in common, and the pieces. They are in memory up to a limit, and
/// in a temporary file beyond.
#[derive(Debug)]
pub struct PackedCalls {
    spool: Spool,
    packs: Vec<Stored>,
    bytes: u64,
}

impl PackedCalls {
    /// None yet; with the temporary file in this folder, or all in memory.
    #[doc(hidden)]
    pub fn new(folder: Option<&Path>) -> PackedCalls {
        PackedCalls {
            spool: Spool::new(folder),
            packs: Vec::new(),
            bytes: 0,
        }
    }

    /// Adds a pack.
    #[doc(hidden)]
    pub fn push(&mut self, pack: &[u8]) -> io::Result<()> {
        self.packs.push(self.spool.write(pack)?);
        self.bytes += pack.len() as u64;
        Ok(())
    }

    /// Adds a pack before the others.
    #[doc(hidden)]
    pub fn put_first(&mut self, pack: &[u8]) -> io::Result<()> {
        self.push(pack)?;
        self.packs.rotate_right(1);
        Ok(())
    }

    /// Number of packs.
    #[doc(hidden)]
    pub fn pack_count(&self) -> u32 {
        self.packs.len() as u32
    }

    /// Number of bytes of all packs.
    #[doc(hidden)]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// A pack.
    #[doc(hidden)]
    pub fn pack(&self, index: u32) -> io::Result<Vec<u8>> {
        let mut pack = Vec::new();
        self.spool.read(&self.packs[index as usize], &mut pack)?;
        Ok(pack)
    }
}
