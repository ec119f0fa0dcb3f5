//! The short form of a function's name, in which people read it everywhere.
//!
//! | symbol | short form |
//! |---|---|
//! | `app::run::{{closure}}::h0123456789abcdef` | `app::run::{closure}` |
//! | `alloc::vec::Vec<T>::push`, `app::parse::<u8>` | `alloc::vec::Vec::push`, `app::parse` |
//! | `<alloc::vec::Vec<T> as core::ops::Drop>::drop` | `Vec::drop` |
//! | `<&mut I as core::iter::Iterator>::next` | `Iterator::next` |
//! | `void std::sort<int*>(int*, int*)`, `Cart::add(int) const` | `std::sort`, `Cart::add` |
//! | `Main$$Lambda$14/0x00007f2eb8004af0.run` | `Main$$Lambda.run` |
//! | `_D3app4Shop5totalMFiZi`, `camlApp__leaf_88` | `app.Shop.total`, `App.leaf` |

use crate::keys::{KeyOptions, Method, before_cut, key_symbol};
use std::borrow::Cow;

/// Returns the short form of a function's name: without the parts that compilers change from build
/// to build, type arguments, parameters, and the paths of types whose methods they are.
pub fn short_name(symbol: &str) -> String {
    let key = key_symbol(symbol, KeyOptions::WITHOUT_ARGUMENTS);
    let has_result = symbol.contains(">(");
    let short = without_parameters(before_cut(&key), has_result);
    let short = qualified(without_qualifiers(&short));
    if short.is_empty() {
        symbol.to_owned()
    } else {
        short
    }
}

/// Returns a longer form, for functions whose short forms are equal: with arguments and parameters,
/// but without the paths of the types in them: `Vec<Item>::push`.
pub(crate) fn name_with_types(symbol: &str) -> String {
    let key = key_symbol(symbol, KeyOptions::default());
    let mut shown = String::with_capacity(key.len());
    let (mut depth, mut word) = (0_usize, 0);
    let mut rest = &*key;
    while let Some(next) = rest.chars().next() {
        let separator = ["::", "."].iter().find(|mark| rest.starts_with(**mark));
        let after = separator.map_or("", |mark| &rest[mark.len()..]);
        if depth > 0 && word < shown.len() && after.starts_with(is_in_name) {
            shown.truncate(word);
            rest = after;
            continue;
        }
        match next {
            '<' | '(' | '[' => depth += 1,
            '>' if shown.ends_with('-') => {}
            '>' | ')' | ']' => {
                depth = depth.saturating_sub(1);
                // An empty pack of template arguments.
                shown.truncate(shown.trim_end_matches(", ").len());
            }
            _ => {}
        }
        shown.push(next);
        rest = &rest[next.len_utf8()..];
        if !is_in_name(next) {
            word = shown.len();
        }
    }
    shown
}

/// Returns the positions at which the parts of a path start: `Vec::push` and `push` in
/// `alloc::Vec::push`. A closure is one part with the function that it is in.
pub(crate) fn part_starts(name: &str) -> Vec<usize> {
    let mut starts = vec![0];
    let mut depth = 0_usize;
    let mut before = ' ';
    for (at, character) in name.char_indices() {
        let after = &name[at + character.len_utf8()..];
        match character {
            '<' | '(' | '[' | '{' => depth += 1,
            '>' if before == '-' => {}
            '>' | ')' | ']' | '}' => depth = depth.saturating_sub(1),
            ':' if before != ':' => {}
            ':' | '.' | '/' if depth == 0 && after.starts_with(|c| is_in_name(c) || c == '(') => {
                starts.push(at + 1);
            }
            _ => {}
        }
        before = character;
    }
    starts
}

fn is_in_name(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

/// Turns `<Type as Trait>::f` into `Type::f`, or into `Trait::f` if the type has no name of its own.
fn qualified(name: &str) -> String {
    let Some(Method {
        self_type,
        of_trait,
        after,
    }) = Method::parse(name).filter(|method| method.after.starts_with("::"))
    else {
        return name.to_owned();
    };
    let owner = qualified(self_type);
    let is_path = owner.starts_with(is_in_name) && !owner.contains([' ', '(', '[']);
    let is_parameter = !owner.contains(char::is_lowercase);
    let owner = match of_trait {
        Some(_) if is_path && !is_parameter => last_part(&owner),
        Some(of_trait) => last_part(of_trait),
        None if is_path => &owner,
        None => return name.to_owned(),
    };
    format!("{owner}{after}")
}

fn last_part(name: &str) -> &str {
    &name[part_starts(name).pop().unwrap_or(0)..]
}

/// Texts that may follow a list of parameters.
const FOLLOWERS: [&str; 6] = ["}", "::", ".", "@", "$", " ["];

/// Qualifiers of C++'s methods, which follow the parameters.
const QUALIFIERS: [&str; 5] = [" const", " volatile", " &&", " &", " noexcept"];

/// Removes lists of parameters, with the qualifiers behind them, and the result before a name that
/// had parameters.
fn without_parameters(name: &str, has_result: bool) -> Cow<'_, str> {
    let mut shown = String::new();
    let mut rest = name;
    let mut is_signature = false;
    while let Some(open) = rest.find('(') {
        let (before, list) = rest.split_at(open);
        shown.push_str(before);
        let after = after_brackets(list);
        let is_d = shown.ends_with('!');
        let is_list = shown.ends_with(|c| is_in_name(c) || "}])'!".contains(c))
            && !shown.ends_with("operator")
            && (after.is_empty() || FOLLOWERS.iter().any(|mark| after.starts_with(mark)));
        if is_list {
            is_signature = after.is_empty() && !is_d;
            rest = after;
        } else if shown.ends_with("operator") {
            shown.push_str("()");
            rest = list.strip_prefix("()").unwrap_or(&list[1..]);
        } else {
            shown.push('(');
            rest = &list[1..];
        }
        if is_d && is_list {
            shown.pop();
            rest = without_repetition(last_part(&shown), rest);
        }
    }
    if shown.is_empty() {
        return Cow::Borrowed(name);
    }
    shown.push_str(rest);
    Cow::Owned(if is_signature {
        without_result(&shown, has_result).to_owned()
    } else {
        shown
    })
}

/// Returns what follows brackets and the qualifiers behind them.
fn after_brackets(list: &str) -> &str {
    let mut depth = 0_usize;
    let end = list.char_indices().find(|(_, character)| {
        match character {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        depth == 0
    });
    let mut after = end.map_or("", |(end, _)| &list[end + 1..]);
    while let Some(rest) = QUALIFIERS.iter().find_map(|it| after.strip_prefix(it)) {
        after = rest;
    }
    after
}

/// Removes the qualifiers at the end of a name without parameters.
fn without_qualifiers(mut name: &str) -> &str {
    while let Some(rest) = QUALIFIERS.iter().find_map(|it| name.strip_suffix(it)) {
        name = rest;
    }
    name
}

/// D repeats the name of a template behind its arguments: `sort!(int).sort`.
fn without_repetition<'a>(name: &str, after: &'a str) -> &'a str {
    let repeated = after.strip_prefix('.').and_then(|it| it.strip_prefix(name));
    repeated
        .filter(|rest| !rest.starts_with(is_in_name))
        .unwrap_or(after)
}

/// Removes the result before a name, as C++ writes it for templates and HotSpot for all methods.
fn without_result(name: &str, has_result: bool) -> &str {
    let Some((result, function)) = name.rsplit_once(' ') else {
        return name;
    };
    let is_path = function.contains("::") || function.contains('.');
    let is_thunk = [" to", " for"].iter().any(|word| result.ends_with(word));
    let in_brackets = result.matches('(').count() > result.matches(')').count();
    if name.contains("operator") || is_thunk || in_brackets || !(is_path || has_result) {
        name
    } else {
        function
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_forms_keep_what_a_reader_looks_for() {
        for (symbol, short) in [
            // Rust
            (
                "app::run::{{closure}}::h0123456789abcdef",
                "app::run::{closure}",
            ),
            ("app::run::{closure#3}", "app::run::{closure}"),
            ("app::parse::<app::Json>", "app::parse"),
            ("alloc::vec::Vec<T,A>::push", "alloc::vec::Vec::push"),
            ("<alloc::vec::Vec<u8>>::push", "alloc::vec::Vec::push"),
            (
                "<alloc::vec::Vec<T> as core::ops::drop::Drop>::drop",
                "Vec::drop",
            ),
            (
                "<&mut I as core::iter::traits::iterator::Iterator>::next",
                "Iterator::next",
            ),
            (
                "<I as core::iter::traits::collect::IntoIterator>::into_iter",
                "IntoIterator::into_iter",
            ),
            ("<[T] as core::cmp::PartialEq>::eq", "PartialEq::eq"),
            ("<u64 as core::fmt::Display>::fmt", "u64::fmt"),
            (
                "<fn() -> bool as core::ops::FnOnce<()>>::call_once",
                "FnOnce::call_once",
            ),
            ("core::num::<impl usize>::checked_add", "usize::checked_add"),
            (
                "<<wc2::Item as serde::Deserialize>::deserialize::__Visitor as serde::Visitor>::visit_map::<serde_json::MapAccess>",
                "__Visitor::visit_map",
            ),
            (
                "<wc2::main::{closure#0} as core::ops::function::FnOnce<()>>::call_once::{shim:vtable#0}",
                "main::{closure}::call_once::{shim:vtable}",
            ),
            (
                "core::ptr::drop_in_place<alloc::string::String>",
                "core::ptr::drop_in_place",
            ),
            ("app::parse::<app::Json, app::Re…", "app::parse"),
            // C and C++
            ("parse.constprop.0.isra.1", "parse"),
            ("weigh.llvm.4340967187306755749", "weigh"),
            ("shop::Box<long>::get(int) const", "shop::Box::get"),
            ("void std::sort<int*>(int*, int*)", "std::sort"),
            ("void sort<int>(int*)", "sort"),
            (
                "(anonymous namespace)::hidden(int)",
                "(anonymous namespace)::hidden",
            ),
            (
                "run(int)::{lambda(int)#1}::operator()(int) const",
                "run::{lambda}::operator()",
            ),
            (
                "std::function<void (int)>::operator()(int) const",
                "std::function::operator()",
            ),
            (
                "non-virtual thunk to shop::Cart::add(int)",
                "non-virtual thunk to shop::Cart::add",
            ),
            (
                "shop::Box<long>::operator<< <long>",
                "shop::Box::operator<<",
            ),
            ("operator new(unsigned long)", "operator new"),
            ("shop::Box<long>::visit<Item const> &", "shop::Box::visit"),
            // Java, Go, OCaml, D
            ("Main$$Lambda$14/0x00007f2eb8004af0.run", "Main$$Lambda.run"),
            (
                "long shop.Cart.total(java.lang.String, int)",
                "shop.Cart.total",
            ),
            ("main.(*List[go.shape.int_0]).Push", "main.(*List).Push"),
            ("camlStdlib__List__map_236", "Stdlib.List.map"),
            ("_D3app4Shop5totalMFiZi", "app.Shop.total"),
            (
                "_D3std9algorithm7sorting__T4sortTiZQiFNfiZv",
                "std.algorithm.sorting.sort",
            ),
            ("_D3app__T5twiceTiZ5twiceFiZi", "app.twice"),
            ("_D3app4mainFZ5innerMFZv", "app.main.inner"),
            ("app.twice!(int).twice(int)", "app.twice"),
            // Not functions, or nothing to remove
            ("[unknown]", "[unknown]"),
            ("(program)", "(program)"),
            ("<module>", "<module>"),
            ("work (app.py:12)", "work (app.py:12)"),
        ] {
            assert_eq!(short_name(symbol), short, "{symbol}");
        }
    }

    #[test]
    fn longer_form_has_types_without_their_paths() {
        for (symbol, form) in [
            (
                "<core::iter::Map<core::slice::Iter<u8>, app::run::{closure#1}> as core::iter::Iterator>::next",
                "<Map<Iter<u8>, run::{closure}> as Iterator>::next",
            ),
            ("app::parse::<app::Json>", "app::parse<Json>"),
            ("shop::run<shop::Sort, >", "shop::run<Sort>"),
            (
                "shop::Box<shop::Item>::get(std::string const&)",
                "shop::Box<Item>::get(string const&)",
            ),
        ] {
            assert_eq!(name_with_types(symbol), form);
        }
    }
}
