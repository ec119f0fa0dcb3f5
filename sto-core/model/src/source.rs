//! Source files as they were compiled.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

/// The MD5 of a source file, as the compiler wrote it into debug info.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SourceDigest(pub [u8; 16]);

/// Digests by the paths of files, as frames have these.
pub type SourceDigests = BTreeMap<String, SourceDigest>;

/// Of what several say, that which nobody says otherwise.
pub fn agreed_digests(all: impl IntoIterator<Item = (String, SourceDigest)>) -> SourceDigests {
    let mut agreed: BTreeMap<String, Option<SourceDigest>> = BTreeMap::new();
    for (path, digest) in all {
        match agreed.entry(path) {
            Entry::Vacant(new) => {
                new.insert(Some(digest));
            }
            Entry::Occupied(mut known) if *known.get() != Some(digest) => {
                known.insert(None);
            }
            Entry::Occupied(_) => {}
        }
    }
    let agreed = agreed.into_iter();
    agreed
        .filter_map(|(path, digest)| Some((path, digest?)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_several_texts_has_no_digest() {
        let said = [("a.c", 1), ("b.c", 1), ("a.c", 2), ("b.c", 1), ("a.c", 1)];
        let said = said.map(|(path, byte)| (path.to_owned(), SourceDigest([byte; 16])));
        let agreed = agreed_digests(said);
        assert_eq!(agreed, [("b.c".to_owned(), SourceDigest([1; 16]))].into());
    }
}
