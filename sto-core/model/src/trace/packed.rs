//! Storage for all calls of a run before they are added to a store.

use super::log::{Spool, StoredChunk};
use std::io;
use std::path::Path;

/// All calls of a run as packs of bytes: one with the data that all pieces share, then one for each piece.
///
/// Packs are in memory up to a limit, and in a temporary file beyond it.
#[derive(Debug)]
pub struct PackedCalls {
    spool: Spool,
    packs: Vec<StoredChunk>,
    bytes: u64,
}

impl PackedCalls {
    /// Creates an empty sequence. The temporary file is created in `folder`; without one, all packs stay in memory.
    #[doc(hidden)]
    pub fn new(folder: Option<&Path>) -> PackedCalls {
        PackedCalls {
            spool: Spool::new(folder),
            packs: Vec::new(),
            bytes: 0,
        }
    }

    /// Appends a pack.
    #[doc(hidden)]
    pub fn push(&mut self, pack: &[u8]) -> io::Result<()> {
        self.packs.push(self.spool.write(pack)?);
        self.bytes += pack.len() as u64;
        Ok(())
    }

    /// Inserts a pack before the others.
    #[doc(hidden)]
    pub fn push_front(&mut self, pack: &[u8]) -> io::Result<()> {
        self.push(pack)?;
        self.packs.rotate_right(1);
        Ok(())
    }

    /// The number of packs.
    #[doc(hidden)]
    pub fn pack_count(&self) -> u32 {
        self.packs.len() as u32
    }

    /// The total size of the packs in bytes.
    #[doc(hidden)]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Reads a pack.
    #[doc(hidden)]
    pub fn pack(&self, index: u32) -> io::Result<Vec<u8>> {
        let mut pack = Vec::new();
        self.spool.read(&self.packs[index as usize], &mut pack)?;
        Ok(pack)
    }
}
