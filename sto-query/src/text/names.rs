//! Shortening of function names such that different names stay distinguishable, and the name that a
//! user may have meant.

use super::{display_width, shorten};
use hashbrown::HashMap;

/// Number of characters kept before the first difference, as context.
const BEFORE_DIFFERENCE: usize = 3;

/// Minimum width at which a name may be shortened to its end.
const SHORTEST_NAME: usize = 8;

/// Shortens names, each to its maximum width.
///
/// Different names that would look the same begin with `…` shortly before their first difference.
pub(crate) fn shorten_distinctly(names: &[(&str, usize)]) -> Vec<String> {
    let mut shown: Vec<String> = names
        .iter()
        .map(|(name, max)| shorten(name, *max))
        .collect();
    let mut alike = look_alikes(names, &shown, (0..names.len()).collect());
    while let Some((common, group)) = alike.pop() {
        for &ix in &group {
            let (name, max) = names[ix];
            let differs = name.chars().skip(common.saturating_sub(BEFORE_DIFFERENCE));
            shown[ix] = format!(
                "…{}",
                shorten(&String::from_iter(differs), max.saturating_sub(1))
            );
        }
        // If the width does not reach the difference, another round would not help.
        let closer = look_alikes(names, &shown, group);
        alike.extend(closer.into_iter().filter(|(longer, _)| *longer > common));
    }
    shown
}

/// Shortens a function's name to at most `max` columns, with `…` for omitted parts: first template
/// arguments and parameters, then outer namespaces, as a function's own name is most specific. A
/// name that is still too long is cut in its middle.
pub(crate) fn shorten_name(name: &str, max: usize) -> String {
    if display_width(name) <= max {
        return name.to_owned();
    }
    let name = without_arguments(name);
    if display_width(&name) <= max {
        return name;
    }
    let ends = |ix: usize| {
        ["::", ".", "/"]
            .iter()
            .any(|parting| name[..ix].ends_with(parting))
    };
    let starts = name.char_indices().map(|(ix, _)| ix).filter(|&ix| ends(ix));
    let mut inner = starts
        .map(|ix| &name[ix..])
        .filter(|inner| display_width(inner) < max);
    match inner.next() {
        // Anything shorter would hardly be recognisable.
        Some(inner) if display_width(inner) >= max.min(SHORTEST_NAME) => format!("…{inner}"),
        _ => shorten(&name, max),
    }
}

/// Replaces the content of brackets that follow a name by `…`: `Map<…>::find(…) const`.
fn without_arguments(name: &str) -> String {
    let mut shown = String::with_capacity(name.len());
    let mut depth = 0;
    let mut before = ' ';
    for character in name.chars() {
        let is_behind_name = before.is_alphanumeric() || "_:>}".contains(before);
        match character {
            '<' | '(' if depth > 0 => depth += 1,
            '<' | '(' if is_behind_name => {
                depth = 1;
                shown.push(character);
            }
            '>' | ')' if depth > 0 && before != '-' => {
                depth -= 1;
                if depth == 0 {
                    shown.push('…');
                    shown.push(character);
                }
            }
            _ if depth == 0 => shown.push(character),
            _ => {}
        }
        before = character;
    }
    match depth {
        0 => shown,
        // Unbalanced brackets, as in `operator<`.
        _ => name.to_owned(),
    }
}

/// Returns the groups of different names that look the same when shortened, each with the length of
/// the common prefix in characters.
fn look_alikes(
    names: &[(&str, usize)],
    shown: &[String],
    among: Vec<usize>,
) -> Vec<(usize, Vec<usize>)> {
    let mut groups: HashMap<&str, Vec<usize>> = HashMap::new();
    for ix in among {
        groups.entry(&shown[ix]).or_default().push(ix);
    }
    let group = |group: Vec<usize>| {
        let first = names[group[0]].0;
        let mut others = group
            .iter()
            .map(|&ix| names[ix].0)
            .filter(|name| *name != first)
            .peekable();
        others.peek()?;
        let common = others.map(|name| common_characters(first, name)).min()?;
        Some((common, group))
    };
    groups.into_values().filter_map(group).collect()
}

fn common_characters(a: &str, b: &str) -> usize {
    a.chars().zip(b.chars()).take_while(|(a, b)| a == b).count()
}

/// Returns the shortest name that contains `name`, or else the most similar one, by edit distance
/// and order. `None` if more than half of the characters differ, as it is probably unrelated.
pub(crate) fn find_closest<'a>(
    name: &str,
    known: impl Iterator<Item = &'a str>,
) -> Option<&'a str> {
    let known: Vec<&str> = known.collect();
    let having = known.iter().copied().filter(|known| known.contains(name));
    if let Some(shortest) = having.min_by_key(|known| (known.len(), *known)) {
        return Some(shortest);
    }
    let length = name.chars().count();
    let most = length / 2;
    known
        .into_iter()
        // The difference of lengths is a lower bound of the distance, and much faster.
        .filter(|known| known.chars().count().abs_diff(length) <= most)
        .map(|known| (strsim::damerau_levenshtein(known, name), known))
        .filter(|(distance, _)| *distance <= most)
        .min()
        .map(|(_, known)| known)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::display_width;

    #[test]
    fn shortening_drops_arguments_then_namespaces_then_the_middle() {
        let find = "std::map<std::string, std::vector<int>>::find(std::string const&) const";
        assert_eq!(shorten_name(find, 80), find);
        assert_eq!(shorten_name(find, 40), "std::map<…>::find(…) const");
        assert_eq!(shorten_name(find, 20), "…find(…) const");
        assert_eq!(shorten_name(find, 12), "std::m…const");
        let next = "<&mut I as core::iter::traits::iterator::Iterator>::next";
        assert_eq!(shorten_name(next, 24), "…Iterator>::next");
        assert_eq!(
            shorten_name("a_function_of_c_without_parts", 12),
            "a_func…parts"
        );
        // Unbalanced brackets.
        assert_eq!(
            shorten_name("std::operator<< <char>", 16),
            "std::ope… <char>"
        );
    }

    #[test]
    fn different_names_stay_distinguishable() {
        let stem = "core::iter::adapters::map::Map<alloc::vec::into_iter::IntoIter<u8>>";
        let names: Vec<String> = ["a::next", "b::next", "b::next", "bc::next", "::next"]
            .iter()
            .map(|end| format!("{stem}{end}{stem}"))
            .collect();
        for width in [12, 24, 40] {
            let wanted: Vec<_> = names.iter().map(|name| (name.as_str(), width)).collect();
            let shown = shorten_distinctly(&wanted);
            assert!(
                shown.iter().all(|name| display_width(name) <= width),
                "{shown:?}"
            );
            for (a, shown_a) in names.iter().zip(&shown) {
                for (b, shown_b) in names.iter().zip(&shown) {
                    assert_eq!(a == b, shown_a == shown_b, "{a} {b} {shown:?}");
                }
            }
        }
        let wide = ["函数函数函数甲函数", "函数函数函数乙函数"].map(|name| (name, 4));
        assert!(
            shorten_distinctly(&wide)
                .iter()
                .all(|name| display_width(name) <= 4)
        );
    }
}
