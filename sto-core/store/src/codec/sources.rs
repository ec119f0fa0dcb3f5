//! Digests of source files.

use super::DecodeError;
use super::bytes::{MAX_VARINT_32, Packer, Unpacker};
use sto_model::limits::{MAX_NAME, MAX_SOURCE_FILES};
use sto_model::{SourceFileDigest, SourceFileDigests};

/// Length of a digest in bytes.
const DIGEST: usize = 16;

/// Packs the digests of a profile's source files.
pub(crate) fn pack_sources(sources: &SourceFileDigests) -> Result<Vec<u8>, DecodeError> {
    let [mut lengths, mut text, mut digests] = [(); 3].map(|()| Packer::default());
    for (path, SourceFileDigest(digest)) in sources {
        lengths.number(path.len() as u64);
        text.raw(path.as_bytes());
        digests.raw(digest);
    }
    let mut pack = Packer::default();
    pack.number(sources.len() as u64);
    for column in [lengths, text, digests] {
        pack.column(column);
    }
    pack.finish()
}

/// Unpacks the digests of a profile's source files.
pub(crate) fn unpack_sources(pack: &[u8]) -> Result<SourceFileDigests, DecodeError> {
    let mut pack = Unpacker::new(pack);
    let count = pack.number32()? as usize;
    if count > MAX_SOURCE_FILES {
        return Err(DecodeError("there are more source files than allowed"));
    }
    let [lengths, text, digests] = [
        pack.column_within(count * MAX_VARINT_32)?,
        pack.column_within(count * MAX_NAME)?,
        pack.column_within(count * DIGEST)?,
    ];
    pack.finish()?;
    let [mut lengths, mut text, mut digests] =
        [&lengths, &text, &digests].map(|column| Unpacker::new(column));
    let mut sources = SourceFileDigests::new();
    for _ in 0..count {
        let path = text.raw(lengths.number32()? as usize)?;
        let path = str::from_utf8(path).map_err(|_| DecodeError("a path is not UTF-8"))?;
        if sources
            .last_key_value()
            .is_some_and(|(last, _)| **last >= *path)
        {
            return Err(DecodeError("source files are out of order"));
        }
        let mut digest = [0; DIGEST];
        digest.copy_from_slice(digests.raw(DIGEST)?);
        sources.insert(path.to_owned(), SourceFileDigest(digest));
    }
    for column in [lengths, text, digests] {
        column.finish()?;
    }
    Ok(sources)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        #[test]
        fn digests_round_trip(sources: BTreeMap<String, [u8; 16]>) {
            let sources = sources.into_iter().map(|(path, digest)| (path, SourceFileDigest(digest)));
            let sources: SourceFileDigests = sources.collect();
            let pack = pack_sources(&sources).unwrap();
            prop_assert_eq!(unpack_sources(&pack), Ok(sources));
        }

        #[test]
        fn any_bytes_are_rejected_or_valid_digests(bytes: Vec<u8>) {
            if let Ok(sources) = unpack_sources(&bytes) {
                prop_assert_eq!(unpack_sources(&pack_sources(&sources).unwrap()), Ok(sources));
            }
        }
    }

    #[test]
    fn pack_matches_the_specification() {
        let digest = |first| SourceFileDigest(std::array::from_fn(|byte| first + byte as u8));
        let sources = [("a.c", 0), ("b/a.c", 16)];
        let sources = sources.map(|(path, first)| (path.to_owned(), digest(first)));
        let mut expected = vec![2, 2, 0, 3, 5, 8, 0];
        expected.extend(b"a.cb/a.c");
        expected.extend([32, 0]);
        expected.extend(0..32);
        let pack = pack_sources(&sources.into()).unwrap();
        assert_eq!(pack, expected);
        for len in 0..pack.len() {
            assert!(unpack_sources(&pack[..len]).is_err(), "{len}");
        }
    }
}
