//! Programs and modules that are compressed.

use flate2::read::MultiGzDecoder;
use lzma_rust2::XzReader;
use std::io::{self, BufReader, Read};
use sto_model::files::{Links, MemoryFile, ReadAt, SafeFile, too_large};

/// How many times larger than packed a file may be, beside what any may have: code, names and addresses are packed to a
/// fifth or so.
const MAX_RATIO: u64 = 64;
const FREE: u64 = 1 << 20;
/// Longest unpacked file: the largest kernel modules have 500 MB with their debug info.
const MAX_FILE: u64 = 1 << 30;
/// Most memory that unpacking may ask for, in KiB: what `xz -9` asks for.
const MAX_MEMORY: u32 = 65 << 10;

/// What a file has that distributions compress, as kernel modules are (`.ko.xz`, `.ko.zst`, `.ko.gz`); `None` where it
/// is not compressed.
pub(super) fn unpacked(packed: &SafeFile) -> io::Result<Option<SafeFile>> {
    let mut magic = [0; 6];
    if packed.size() < magic.len() as u64 {
        return Ok(None);
    }
    packed.fill_at(&mut magic, 0)?;
    let file = BufReader::new(&packed.file);
    let size = packed.size();
    let memory = match magic {
        [0xfd, b'7', b'z', b'X', b'Z', 0] => unpack_xz(file, size),
        [0x28, 0xb5, 0x2f, 0xfd, ..] => unpack(zstd::stream::read::Decoder::new(file)?, size),
        [0x1f, 0x8b, ..] => unpack(MultiGzDecoder::new(file), size),
        _ => return Ok(None),
    }?;
    SafeFile::open(&memory.path(), Links::Follow).map(Some)
}

/// Unpacks what `xz` has packed to so many bytes.
pub(super) fn unpack_xz(packed: impl Read, size: u64) -> io::Result<MemoryFile> {
    unpack(XzReader::new_mem_limit(packed, true, MAX_MEMORY), size)
}

fn unpack(unpacked: impl Read, packed: u64) -> io::Result<MemoryFile> {
    let memory = MemoryFile::new()?;
    let most = MAX_FILE.min(FREE + MAX_RATIO.saturating_mul(packed));
    match io::copy(&mut unpacked.take(most + 1), &mut memory.file())? > most {
        true => Err(too_large(most)),
        false => Ok(memory),
    }
}
