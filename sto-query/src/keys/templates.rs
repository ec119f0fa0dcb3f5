//! Removes arguments of templates, generic functions and types.
//!
//! `<` may open arguments (`Box<int>`), open the type at the start of a Rust path (`<Cart as
//! Drop>::drop`, which stays), compare (`(1)<(2)`), or be part of an operator's name; `>` may also
//! end an arrow. The preceding text decides.

use super::{Rule, is_name};

/// C++ operators with brackets in their names, the longer ones first.
const OPERATORS: [&str; 13] = [
    "<=>", "<<=", ">>=", "->*", "<<", ">>", "<=", ">=", "->", "<", ">", "()", "[]",
];

/// Returns the name without template arguments; `None` if it has no such arguments.
///
/// Arguments without a closing bracket, as in a truncated name, are not removed.
pub(super) fn without_arguments(
    name: &str,
    note: &mut impl FnMut(Rule, &str, &str),
) -> Option<String> {
    let mut scan = Scan::new(name);
    let mut shorter = String::new();
    let mut copied = 0;
    while let Some((start, end)) = scan.next_arguments() {
        note(Rule::TemplateArguments, &name[start..end], "");
        shorter.push_str(&name[copied..start]);
        copied = end;
    }
    if copied == 0 {
        return None;
    }
    shorter.push_str(&name[copied..]);
    Some(shorter)
}

/// Returns the name before the arguments in which it is truncated, if it is.
pub(crate) fn before_cut(name: &str) -> &str {
    let cut = name.strip_suffix('…').and_then(before_open_arguments);
    cut.unwrap_or(name)
}

/// Returns what precedes the first `<` that is not closed.
fn before_open_arguments(name: &str) -> Option<&str> {
    let mut open = Vec::new();
    for (at, byte) in name.bytes().enumerate() {
        match byte {
            b'<' => open.push(at),
            b'>' if name[..at].ends_with('-') => {}
            b'>' => drop(open.pop()),
            _ => {}
        }
    }
    let before = &name[..*open.first()?];
    (!before.is_empty()).then(|| before.trim_end_matches("::"))
}

/// A single pass over a name.
struct Scan<'a> {
    name: &'a [u8],
    at: usize,
    /// Closing brackets of the open brackets, innermost last.
    open: Vec<u8>,
    /// Number of open brackets of each kind: `>`, `)`, `]`, `}`.
    counts: [usize; 4],
    /// The outermost open arguments: number of enclosing brackets, and start.
    arguments: Option<(usize, usize)>,
}

impl<'a> Scan<'a> {
    fn new(name: &'a str) -> Self {
        Scan {
            name: name.as_bytes(),
            at: 0,
            open: Vec::new(),
            counts: [0; 4],
            arguments: None,
        }
    }

    /// Returns the start and the end of the next arguments.
    fn next_arguments(&mut self) -> Option<(usize, usize)> {
        while let Some(&byte) = self.name.get(self.at) {
            let rest = self.rest();
            match byte {
                b'o' if self.is_word_start() && rest.starts_with(b"operator") => self.operator(),
                b'-' if rest.starts_with(b"->") => self.at += 2,
                // A character literal, as in `Tag<'<'>`.
                b'\'' if rest.get(2) == Some(&b'\'') => self.at += 3,
                b'<' => self.less_than(),
                b'(' => self.push(b')'),
                b'{' => self.push(b'}'),
                b'[' => self.square(),
                b'>' | b')' | b']' | b'}' => {
                    if let Some(start) = self.close(byte) {
                        return Some((start, self.at));
                    }
                }
                _ => self.at += 1,
            }
        }
        None
    }

    fn rest(&self) -> &'a [u8] {
        &self.name[self.at..]
    }

    fn before(&self) -> Option<u8> {
        self.name[..self.at].last().copied()
    }

    fn is_word_start(&self) -> bool {
        !self.before().is_some_and(is_name)
    }

    /// Reads `operator<<`, and the space before its arguments.
    fn operator(&mut self) {
        self.at += "operator".len();
        let rest = self.rest();
        let found = |token: &&str| rest.starts_with(token.as_bytes());
        let Some(mut token) = OPERATORS.into_iter().find(found) else {
            return;
        };
        // In `operator<<int>`, the second `<` opens arguments, because a name follows.
        if token == "<<" && rest.get(2).copied().is_some_and(is_name) {
            token = "<";
        }
        self.at += token.len();
        if self.rest().starts_with(b"<") {
            self.start_arguments(self.at);
        } else if self.rest().starts_with(b" <") {
            self.at += 1;
            self.start_arguments(self.at - 1);
        }
    }

    fn less_than(&mut self) {
        let is_path = ["<impl ", "<init>", "<clinit>"]
            .iter()
            .any(|path| self.rest().starts_with(path.as_bytes()));
        match self.before() {
            Some(b')') => self.at += 1,
            Some(b':') if !is_path && self.name[..self.at].ends_with(b"::") => {
                self.start_arguments(self.at - 2);
            }
            Some(before)
                if !is_path && (is_name(before) || matches!(before, b']' | b'}' | b'$')) =>
            {
                self.start_arguments(self.at);
            }
            _ => self.push(b'>'),
        }
    }

    /// Reads Go's `Map[go.shape.int]` and `Map[...]`, but not `[abi:cxx11]`, array types, and crate
    /// hashes.
    fn square(&mut self) {
        let inside = &self.name[self.at + 1..];
        let begins = inside.first();
        let is_type = begins.is_some_and(|b| !b.is_ascii_digit() && *b != b']')
            && !inside.starts_with(b"abi:")
            && !self.is_crate_hash();
        if is_type && self.before().is_some_and(is_name) {
            self.arguments.get_or_insert((self.open.len(), self.at));
        }
        self.push(b']');
    }

    fn is_crate_hash(&self) -> bool {
        let inside = &self.name[self.at + 1..];
        let digits = inside
            .iter()
            .take(17)
            .take_while(|b| b.is_ascii_hexdigit())
            .count();
        (13..=16).contains(&digits) && inside.get(digits) == Some(&b']')
    }

    /// Starts arguments whose `<` is at the current position. The range to remove may start before.
    fn start_arguments(&mut self, start: usize) {
        self.arguments.get_or_insert((self.open.len(), start));
        self.push(b'>');
    }

    fn push(&mut self, closes: u8) {
        self.open.push(closes);
        self.counts[kind(closes)] += 1;
        self.at += 1;
    }

    /// Closes the innermost bracket of its kind. Returns the start of the arguments that end with
    /// it.
    fn close(&mut self, closes: u8) -> Option<usize> {
        self.at += 1;
        // Inside of other brackets, `>` is a comparison.
        let compares = closes == b'>' && self.open.last() != Some(&b'>');
        if compares || self.counts[kind(closes)] == 0 {
            return None;
        }
        while let Some(innermost) = self.open.pop() {
            self.counts[kind(innermost)] -= 1;
            if innermost == closes {
                break;
            }
        }
        let (depth, start) = self.arguments?;
        if self.open.len() > depth {
            return None;
        }
        self.arguments = None;
        (self.open.len() == depth).then_some(start)
    }
}

fn kind(closes: u8) -> usize {
    match closes {
        b'>' => 0,
        b')' => 1,
        b']' => 2,
        _ => 3,
    }
}
