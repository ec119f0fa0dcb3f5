//! Shortening of function names such that different names stay distinguishable, and the name that a
//! user may have meant.

use super::short_names::{name_with_types, part_starts, short_name};
use super::width::take_columns;
use super::{display_width, shorten};
use hashbrown::HashMap;

/// Number of characters kept before the first difference, as context.
const BEFORE_DIFFERENCE: usize = 3;

/// Minimum width of the arguments that tell functions apart.
const MIN_ARGUMENTS: usize = 8;

/// Maximum width of a function's name where the width is not limited, as in a pipe.
pub(crate) const MAX_NAME_WIDTH: usize = 120;

/// A text to shorten to a width.
#[derive(Clone, Copy)]
pub(crate) struct Wide<'a> {
    pub(crate) text: &'a str,
    /// Maximum width.
    pub(crate) max: usize,
    /// Whether the text is the name of a function.
    pub(crate) is_function: bool,
}

impl Wide<'_> {
    fn cut(&self) -> String {
        if self.is_function {
            cut_path(self.text, self.max)
        } else {
            shorten(self.text, self.max)
        }
    }
}

/// Returns the [short forms](short_name) of names of functions. Different functions with the same
/// short form have a longer form.
pub(crate) fn distinct_names<'a>(names: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let names: Vec<&str> = names.into_iter().collect();
    let mut forms: Vec<String> = names.iter().map(|name| short_name(name)).collect();
    for longer in [name_with_types, str::to_owned] {
        for (_, group) in look_alikes(&names, &forms, (0..names.len()).collect()) {
            for ix in group {
                forms[ix] = longer(names[ix]);
            }
        }
    }
    forms
}

/// Shortens texts, each to its maximum width.
///
/// Different texts that would look the same keep their first difference. They begin with `…` shortly
/// before it or, if it is in the arguments of a function, have `…` around it.
pub(crate) fn shorten_distinctly(texts: &[Wide]) -> Vec<String> {
    let mut shown: Vec<String> = texts.iter().map(Wide::cut).collect();
    let whole: Vec<&str> = texts.iter().map(|wide| wide.text).collect();
    let mut alike = look_alikes(&whole, &shown, (0..texts.len()).collect());
    while let Some((common, group)) = alike.pop() {
        for &ix in &group {
            let Wide { text, max, .. } = texts[ix];
            let start = common.saturating_sub(BEFORE_DIFFERENCE);
            let start = text.char_indices().nth(start).map_or(0, |(at, _)| at);
            shown[ix] = cut_arguments(text, start, max)
                .unwrap_or_else(|| format!("…{}", shorten(&text[start..], max.saturating_sub(1))));
        }
        // If the width does not reach the difference, another round would not help.
        let closer = look_alikes(&whole, &shown, group);
        alike.extend(closer.into_iter().filter(|(longer, _)| *longer > common));
    }
    shown
}

/// Returns the [short form](short_name) of a function's name in at most `max` columns, with `…` for
/// omitted parts.
pub(crate) fn shorten_name(name: &str, max: usize) -> String {
    cut_path(&short_name(name), max)
}

/// Cuts a path to at most `max` columns: outer parts are left out first, then the end of the last
/// part, as a function's own name begins with what is most specific.
pub(crate) fn cut_path(path: &str, max: usize) -> String {
    if display_width(path) <= max {
        return path.to_owned();
    }
    let starts = part_starts(path);
    let mut inner = starts[1..].iter().map(|&start| {
        let separator = if path[..start].ends_with("::") {
            "::"
        } else {
            ""
        };
        format!("…{separator}{}", &path[start..])
    });
    if let Some(inner) = inner.find(|inner| display_width(inner) <= max) {
        return inner;
    }
    if path.contains(['<', '(']) {
        return shorten(path, max);
    }
    let last = starts.last().map_or(path, |&start| &path[start..]);
    take_columns(last.chars(), max.saturating_sub(1))
        .chain(['…'])
        .collect()
}

/// Cuts all of a function's arguments but those from `start` on: `…::invoke<…plus_assign…>::call`.
/// `None` if there are no arguments at `start`, or too little would be left of them.
fn cut_arguments(name: &str, start: usize, max: usize) -> Option<String> {
    let groups = brackets(name);
    let (open, close) = *groups
        .iter()
        .find(|(open, close)| (*open..*close).contains(&start))?;
    let elided = |from: usize, to: usize| {
        let mut text = String::new();
        let mut at = from;
        for &(open, close) in groups
            .iter()
            .filter(|(open, close)| (from..to).contains(open) && *close < to)
        {
            text += &format!("{}…", &name[at..=open]);
            at = close;
        }
        text + &name[at..to]
    };
    let before = cut_path(&elided(0, open), max / 3);
    let after = elided(close, name.len());
    let room =
        max.checked_sub(display_width(&before) + display_width(&after) + "<…".chars().count())?;
    let shown = &name[start.max(open + 1)..close];
    let arguments = if display_width(shown) <= room {
        shown.to_owned()
    } else {
        String::from_iter(take_columns(shown.chars(), room.saturating_sub(1))) + "…"
    };
    let bracket = &name[open..=open];
    (room >= MIN_ARGUMENTS).then(|| format!("{before}{bracket}…{arguments}{after}"))
}

/// Returns the outermost brackets `<...>` and `(...)` of a name.
fn brackets(name: &str) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let mut open = Vec::new();
    for (at, byte) in name.bytes().enumerate() {
        match byte {
            b'<' | b'(' => open.push(at),
            b'>' if name[..at].ends_with('-') => {}
            b'>' | b')' => {
                if let (Some(start), true) = (open.pop(), open.is_empty()) {
                    found.push((start, at));
                }
            }
            _ => {}
        }
    }
    found
}

/// Returns the groups of different names that look the same when shortened, each with the length of
/// the common prefix in characters.
fn look_alikes(names: &[&str], shown: &[String], among: Vec<usize>) -> Vec<(usize, Vec<usize>)> {
    let mut groups: HashMap<&str, Vec<usize>> = HashMap::new();
    for ix in among {
        groups.entry(&shown[ix]).or_default().push(ix);
    }
    let group = |group: Vec<usize>| {
        let first = names[group[0]];
        let mut others = group
            .iter()
            .map(|&ix| names[ix])
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
    fn cut_names_keep_the_end_of_the_path_and_the_start_of_the_name() {
        let consume = "rayon::iter::collect::consumer::consume_iter";
        for (max, shown) in [
            (50, consume),
            (36, "…::collect::consumer::consume_iter"),
            (26, "…::consumer::consume_iter"),
            (16, "…::consume_iter"),
            (12, "consume_ite…"),
        ] {
            assert_eq!(shorten_name(consume, max), shown, "{max}");
        }
        assert_eq!(
            shorten_name("a_function_of_c_without_parts", 12),
            "a_function_…"
        );
        assert_eq!(
            shorten_name("github.com/shop/cart.(*Cart).Add", 20),
            "…cart.(*Cart).Add"
        );
        assert_eq!(
            shorten_name("app::run::{{closure}}", 17),
            "…::run::{closure}"
        );
    }

    #[test]
    fn functions_with_the_same_short_form_keep_what_tells_them_apart() {
        let names = [
            "app::parse::<app::Json>",
            "app::parse::<app::Xml>",
            "shop::add(int)",
            "shop::add(long)",
            "receive.isra.0",
            "receive.part.1",
            "<alloc::vec::Vec<T> as core::ops::Drop>::drop",
            "receive.isra.0",
        ];
        assert_eq!(
            distinct_names(names),
            [
                "app::parse<Json>",
                "app::parse<Xml>",
                "shop::add(int)",
                "shop::add(long)",
                "receive.isra.0",
                "receive.part.1",
                "Vec::drop",
                "receive.isra.0",
            ]
        );
    }

    #[test]
    fn long_arguments_are_cut_around_what_differs() {
        let names = ["plus", "minus"].map(|operator| {
            let arguments = format!("Rule<Sequence<{}{operator}>>", "Literal, ".repeat(30));
            format!("spirit::qi::Invoker<{arguments}>::invoke(char const*)")
        });
        let wide = names.each_ref().map(|text| Wide {
            text,
            max: 40,
            is_function: true,
        });
        assert_eq!(
            shorten_distinctly(&wide),
            [
                "…::Invoker<…l, plus>>>::invoke(…)",
                "…::Invoker<…l, minus>>>::invoke(…)"
            ]
        );
    }

    #[test]
    fn different_names_stay_distinguishable() {
        let stem = "core::iter::adapters::map::Map<alloc::vec::into_iter::IntoIter<u8>>";
        let names: Vec<String> = ["a::next", "b::next", "b::next", "bc::next", "::next"]
            .iter()
            .map(|end| format!("{stem}{end}{stem}"))
            .collect();
        let wide = |text, max| Wide {
            text,
            max,
            is_function: true,
        };
        for width in [12, 24, 40] {
            let wanted: Vec<_> = names.iter().map(|name| wide(name, width)).collect();
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
        let wide = ["函数函数函数甲函数", "函数函数函数乙函数"].map(|name| wide(name, 4));
        assert!(
            shorten_distinctly(&wide)
                .iter()
                .all(|name| display_width(name) <= 4)
        );
    }
}
