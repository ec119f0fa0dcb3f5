//! Decompression of programs and kernel modules.

use flate2::read::MultiGzDecoder;
use lzma_rust2::XzReader;
use std::io::{self, BufReader, Read};
use sto_model::files::{Links, MemoryFile, ReadAt, RegularFile, too_large_error};

/// Maximum ratio of the decompressed size, beyond [`FREE`], to the compressed size. Programs compress to about a fifth.
const MAX_RATIO: u64 = 64;
/// Decompressed bytes that are allowed at any ratio.
const FREE: u64 = 1 << 20;
/// Maximum decompressed size; the largest kernel modules have 500 MB with debug info.
const MAX_FILE: u64 = 1 << 30;
/// Memory limit of the xz decoder in KiB: enough for files written by `xz -9`.
const MAX_MEMORY: u32 = 65 << 10;

/// Decompresses a file packed by xz, zstd or gzip, as distributions pack kernel modules. Returns `None` if the file is
/// not compressed.
pub(super) fn decompressed(packed: &RegularFile) -> io::Result<Option<RegularFile>> {
    let mut magic = [0; 6];
    if packed.size() < magic.len() as u64 {
        return Ok(None);
    }
    packed.read_exact_at(&mut magic, 0)?;
    let file = BufReader::new(&packed.file);
    let size = packed.size();
    let memory = match magic {
        [0xfd, b'7', b'z', b'X', b'Z', 0] => unpack_xz(file, size),
        [0x28, 0xb5, 0x2f, 0xfd, ..] => unpack(zstd::stream::read::Decoder::new(file)?, size),
        [0x1f, 0x8b, ..] => unpack(MultiGzDecoder::new(file), size),
        _ => return Ok(None),
    }?;
    RegularFile::open(&memory.path(), Links::Follow).map(Some)
}

/// Decompresses an xz stream of `size` bytes.
pub(super) fn unpack_xz(packed: impl Read, size: u64) -> io::Result<MemoryFile> {
    unpack(XzReader::new_mem_limit(packed, true, MAX_MEMORY), size)
}

fn unpack(unpacked: impl Read, packed: u64) -> io::Result<MemoryFile> {
    let memory = MemoryFile::new()?;
    let limit = MAX_FILE.min(FREE + MAX_RATIO.saturating_mul(packed));
    if io::copy(&mut unpacked.take(limit + 1), &mut memory.file())? > limit {
        return Err(too_large_error(limit));
    }
    Ok(memory)
}
