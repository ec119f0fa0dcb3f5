//! What a user may have meant by a name that there is not.

/// The shortest name that has what was written in it; else the one that differs least, and of those the
/// first in order. `None` where it shares less than half of what was written, as it was hardly meant then.
pub(crate) fn closest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let known: Vec<&str> = known.collect();
    let having = known.iter().copied().filter(|known| known.contains(name));
    if let Some(shortest) = having.min_by_key(|known| (known.len(), *known)) {
        return Some(shortest);
    }
    let length = name.chars().count();
    let most = length / 2;
    known
        .into_iter()
        // The distance is never less than that of the lengths, and takes far longer.
        .filter(|known| known.chars().count().abs_diff(length) <= most)
        .map(|known| (strsim::damerau_levenshtein(known, name), known))
        .filter(|(distance, _)| *distance <= most)
        .min()
        .map(|(_, known)| known)
}
