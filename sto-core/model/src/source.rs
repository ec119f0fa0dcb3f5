//! Digests of source files at compile time.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

/// The MD5 of a source file that the compiler wrote into debug info.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SourceFileDigest(pub [u8; 16]);

/// Digests by source path, in the form used by [`Frame::file`](crate::Frame::file).
pub type SourceFileDigests = BTreeMap<String, SourceFileDigest>;

/// Collects digests by path, without the paths that have several different digests.
pub fn agreed_digests(
    all: impl IntoIterator<Item = (String, SourceFileDigest)>,
) -> SourceFileDigests {
    let mut digests: BTreeMap<String, Option<SourceFileDigest>> = BTreeMap::new();
    for (path, digest) in all {
        match digests.entry(path) {
            Entry::Vacant(new) => {
                new.insert(Some(digest));
            }
            Entry::Occupied(mut known) if *known.get() != Some(digest) => {
                known.insert(None);
            }
            Entry::Occupied(_) => {}
        }
    }
    digests
        .into_iter()
        .filter_map(|(path, digest)| Some((path, digest?)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drops_paths_with_conflicting_digests() {
        let all = [("a.c", 1), ("b.c", 1), ("a.c", 2), ("b.c", 1), ("a.c", 1)]
            .map(|(path, byte)| (path.to_owned(), SourceFileDigest([byte; 16])));
        let expected = [("b.c".to_owned(), SourceFileDigest([1; 16]))].into();
        assert_eq!(agreed_digests(all), expected);
    }
}
