//! Search for function definitions in source text by name, without a parser and for any language.

use hashbrown::HashMap;

/// Keywords that precede the name in a definition in some language.
const KEYWORDS: [&str; 9] = [
    "fn", "def", "func", "function", "fun", "sub", "proc", "defn", "method",
];

/// Words that may begin a line with a call, but not a definition.
const NO_TYPES: [&str; 14] = [
    "return", "else", "if", "while", "for", "switch", "case", "await", "yield", "new", "delete",
    "throw", "goto", "assert",
];

/// Lines of a text that look like definitions of functions with given names.
pub(super) struct Definitions<'a> {
    by_name: HashMap<&'a str, Lines>,
}

/// Sorted line numbers.
#[derive(Default)]
struct Lines {
    /// Lines with a keyword.
    certain: Vec<u32>,
    /// Lines that only have the form of a definition, as in C.
    likely: Vec<u32>,
}

impl<'a> Definitions<'a> {
    /// Searches a text for functions with these source names.
    pub(super) fn new(text: &str, names: impl Iterator<Item = &'a str>) -> Definitions<'a> {
        let none = |name| (name, Lines::default());
        let mut by_name: HashMap<&'a str, Lines> = names.map(none).collect();
        for (line, number) in text.lines().zip(1..) {
            for (at, word) in words(line) {
                let Some(lines) = by_name.get_mut(word) else {
                    continue;
                };
                let (before, after) = (&line[..at], &line[at + word.len()..]);
                if is_certain(before) {
                    lines.certain.push(number);
                } else if is_likely(before, after) {
                    lines.likely.push(number);
                }
            }
        }
        Definitions { by_name }
    }

    /// Returns the line of the definition of a function that has a cost at line `near`: the last definition up to that
    /// line. If no definition precedes it, because compilers attribute code to other lines, or if the line is unknown,
    /// returns the only definition.
    pub(super) fn find(&self, name: &str, near: Option<u32>) -> Option<u32> {
        let Lines { certain, likely } = self.by_name.get(name)?;
        let lines = if certain.is_empty() { likely } else { certain };
        let before = near.and_then(|near| lines.iter().copied().rfind(|&line| line <= near));
        match lines[..] {
            [only] => Some(only),
            _ => before,
        }
    }
}

/// Returns the source name of a function for a symbol's key: the last part of its path, without parameters. `None`
/// for functions without a name, such as closures.
pub(super) fn name_in_source(key: &str) -> Option<&str> {
    let mut rest = key.trim_end_matches(" const");
    while let Some(close) = rest.chars().last().filter(|c| [')', '>', ']'].contains(c)) {
        rest = without_group(rest, close)?;
    }
    let start = rest.rfind(|c| !is_of_word(c)).map_or(0, |at| {
        at + rest[at..].chars().next().map_or(1, char::len_utf8)
    });
    let name = &rest[start..];
    (!name.is_empty() && !name.starts_with(|c: char| c.is_ascii_digit())).then_some(name)
}

/// Removes the bracketed group at the end of a text.
fn without_group(text: &str, close: char) -> Option<&str> {
    let open = match close {
        ')' => '(',
        '>' => '<',
        _ => '[',
    };
    let mut depth = 0usize;
    for (at, character) in text.char_indices().rev() {
        if character == close {
            depth += 1;
        } else if character == open {
            depth -= 1;
            if depth == 0 {
                return Some(&text[..at]);
            }
        }
    }
    None
}

fn is_of_word(character: char) -> bool {
    character.is_alphanumeric() || character == '_' || character == '$'
}

/// Returns the words of a line with their positions.
fn words(line: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        at += line[at..].find(is_of_word)?;
        let start = at;
        let length = line[start..].find(|c| !is_of_word(c));
        at = length.map_or(line.len(), |length| start + length);
        Some((start, &line[start..at]))
    })
}

fn is_certain(before: &str) -> bool {
    let last = before.trim_end().rsplit(|c| !is_of_word(c)).next();
    let has_space = before.ends_with(char::is_whitespace);
    // In Go methods, the receiver precedes the name.
    let is_method = before.starts_with("func (") && before.trim_end().ends_with(')');
    !is_comment(before) && has_space && (last.is_some_and(|l| KEYWORDS.contains(&l)) || is_method)
}

/// Returns `true` if the text around a name looks like a definition in C, C++, Java or JavaScript: only a type or
/// nothing before it, and parameters after it without a final `;`. If the parameters span several lines, a type is
/// required to distinguish the definition from a call.
fn is_likely(before: &str, after: &str) -> bool {
    let is_type = |c: char| is_of_word(c) || c.is_whitespace() || "*&:<>,~[]@".contains(c);
    let mut first = words(before).map(|(_, word)| word);
    let is_called = match after.trim_end().chars().next_back() {
        Some(',') => words(before).next().is_none(),
        last => last == Some(';'),
    };
    after.trim_start().starts_with('(')
        && !is_called
        && !is_comment(before)
        && before.chars().all(is_type)
        && !first.any(|word| NO_TYPES.contains(&word))
}

fn is_comment(before: &str) -> bool {
    let begins = before.trim_start();
    ["//", "/*", "*", "#", "--"]
        .iter()
        .any(|start| begins.starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extracts_source_names() {
        for (key, name) in [
            ("main", Some("main")),
            ("shop::Cart::add", Some("add")),
            ("<shop::Cart as shop::Sum>::total", Some("total")),
            (
                "ns::Map<int, ns::Pair<A>>::find(int const&) const",
                Some("find"),
            ),
            ("sort<std::vector<int>>", Some("sort")),
            ("main.(*Server).Serve", Some("Serve")),
            ("com.example.Parser.parse", Some("parse")),
            ("größe", Some("größe")),
            ("shop::run::{closure}", None),
            ("Foo::operator==(Foo const&)", None),
            ("a)", None),
            ("[unresolved]", None),
            ("", None),
        ] {
            assert_eq!(name_in_source(key), name, "{key}");
        }
    }

    fn found(text: &str, name: &str, near: Option<u32>) -> Option<u32> {
        Definitions::new(text, [name].into_iter()).find(name, near)
    }

    #[test]
    fn distinguishes_definitions_from_calls() {
        let c = "int add(int a);\n// add(\nstatic int *add(int a,\n    int b)\n{\n  return add (a);\n  x = add(1)\n}\n";
        let several_lines = "  add(1,\n    2)\nint add(int a,\n    int b)\n{\n";
        assert_eq!(found(several_lines, "add", None), Some(3));
        assert_eq!(found(c, "add", None), Some(3));
        assert_eq!(found(c, "add", Some(6)), Some(3));
        let rust = "add(\n    pub(crate) fn add<T>(\nadd();\n";
        assert_eq!(found(rust, "add", None), Some(2));
        assert_eq!(
            found("func (s *Server) Serve(w W) {\n", "Serve", None),
            Some(1)
        );
        assert_eq!(
            found("  async handle(request) {\n", "handle", None),
            Some(1)
        );
        assert_eq!(
            found("def parse(text):\n  parse(1)\n", "parse", None),
            Some(1)
        );
    }

    #[test]
    fn finds_only_definition_after_the_cost() {
        let text = "int other(void) {\n}\nint append(int a) {\n}\n";
        assert_eq!(found(text, "append", Some(2)), Some(3));
    }

    #[test]
    fn finds_last_definition_before_the_cost() {
        let text = "fn new() {\n  1\n}\nfn new() {\n  2\n}\n";
        assert_eq!(found(text, "new", Some(2)), Some(1));
        assert_eq!(found(text, "new", Some(5)), Some(4));
        assert_eq!(found(text, "new", None), None);
        assert_eq!(found(text, "old", Some(5)), None);
    }
}
