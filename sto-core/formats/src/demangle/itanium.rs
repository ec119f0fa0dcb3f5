//! C++ names, parsed in bounded time.
//!
//! The parser of `cpp_demangle` tries several productions at some points, each to its end, and again
//! within each: a name of 88 bytes takes years. So a name is parsed only where few such points are
//! nested. Identifiers are hidden from the parser, as their letters look like such points.

use cpp_demangle::Symbol;
use std::cell::Cell;
use std::rc::Rc;

/// Most nested points at which the parser may try again: each takes up to five times the work.
const MAX_RETRIES: usize = 7;

/// What stands for each byte of an identifier: an identifier may have it, and no production begins with it.
const HIDDEN: u8 = b'$';

/// The bytes of a name: without identifiers while it is parsed, with them when it is written.
pub(super) struct Bytes<'a> {
    mangled: &'a [u8],
    hidden: Vec<u8>,
    is_parsed: Rc<Cell<bool>>,
}

impl AsRef<[u8]> for Bytes<'_> {
    fn as_ref(&self) -> &[u8] {
        if self.is_parsed.get() {
            self.mangled
        } else {
            &self.hidden
        }
    }
}

/// Parses a name. What is returned beside it is to be set before it is written.
pub(super) fn parse(mangled: &[u8]) -> Option<(Symbol<Bytes<'_>>, Rc<Cell<bool>>)> {
    // What is counted is always what is parsed, so nothing is hidden from the count alone.
    let candidates = [mangled.to_vec(), hide(mangled)];
    candidates.into_iter().find_map(|hidden| {
        if retries(&hidden) > MAX_RETRIES {
            return None;
        }
        let is_parsed = Rc::new(Cell::new(false));
        let bytes = Bytes {
            mangled,
            hidden,
            is_parsed: Rc::clone(&is_parsed),
        };
        Some((Symbol::new(bytes).ok()?, is_parsed))
    })
}

/// The name without its identifiers. A number before an `E` or `_`, which may be a literal, is taken for none's
/// length: an identifier that is not hidden does no harm.
fn hide(mangled: &[u8]) -> Vec<u8> {
    let mut hidden = mangled.to_vec();
    let mut at = 0;
    while at < mangled.len() {
        let digits = mangled[at..]
            .iter()
            .take_while(|byte| byte.is_ascii_digit());
        let end = at + digits.count();
        let is_number = match at.checked_sub(1).map(|before| mangled[before]) {
            // Back references, parameters, array bounds, constructors, discriminators.
            Some(b'S' | b'T' | b'A' | b'C' | b'D') => true,
            Some(b'_') if !follows_reference(&mangled[..at]) => true,
            _ => matches!(mangled.get(end), Some(b'E' | b'_')),
        };
        let length = std::str::from_utf8(&mangled[at..end])
            .ok()
            .and_then(|digits| digits.parse::<usize>().ok())
            .filter(|_| !is_number);
        let identifier = length.and_then(|length| hidden.get_mut(end..end.checked_add(length)?));
        at = match identifier {
            Some(identifier) => {
                identifier.fill(HIDDEN);
                end + identifier.len()
            }
            None => end.max(at + 1),
        };
    }
    hidden
}

/// At how many nested points the parser may try again, at most.
///
/// Those are, by the productions of the Itanium C++ ABI, 5.1: `new` and `delete`, as expressions and as
/// operators; types of conversions, lambdas' parameters and inherited constructors, as a name and as
/// a template's name; types of literals, also as mangled names; arguments of a template that a substitution or parameter names, as a name and
/// as a type.
fn retries(mangled: &[u8]) -> usize {
    // Arguments of templates and literals end at their `E`; of everything else the end is not looked for.
    let mut open = Vec::new();
    let mut now = 0;
    let mut most = 0;
    let mut index_end = 0;
    for (at, &byte) in mangled.iter().enumerate() {
        if at < index_end {
            continue;
        }
        index_end = at + index_length(&mangled[..at], &mangled[at..]);
        let before = &mangled[..at];
        let is_retried = match byte {
            b'I' => before.ends_with(b"C") || follows_reference(before),
            b'l' => before.ends_with(b"d") || before.ends_with(b"U"),
            b'a' => before.ends_with(b"d") || before.ends_with(b"n"),
            b'w' => before.ends_with(b"n"),
            b'v' => before.ends_with(b"c"),
            b'L' => true,
            _ => false,
        };
        now += usize::from(is_retried);
        most = most.max(now);
        match byte {
            b'I' | b'L' => open.push(is_retried),
            // Whatever else an `E` ends; what is taken for it by mistake only makes the result larger.
            b'N' | b'X' | b'F' | b'Z' | b'J' => open.push(false),
            _ if OPENING.iter().any(|pair| mangled[..=at].ends_with(pair)) => open.push(false),
            b'E' => now -= usize::from(open.pop().unwrap_or(false)),
            _ => {}
        }
    }
    most
}

/// Two letters that begin what ends at an `E`.
const OPENING: [&[u8]; 12] = [
    b"cl", b"tl", b"il", b"nw", b"na", b"sP", b"sr", b"so", b"Dt", b"DT", b"DO", b"Ul",
];

/// Bytes of a substitution with an index (`S1N_`) that begins here, whose letters are no productions. After a
/// small letter it may be an operator (`aS`) and is none.
fn index_length(before: &[u8], from_here: &[u8]) -> usize {
    if from_here[0] != b'S' || before.last().is_some_and(u8::is_ascii_lowercase) {
        return 0;
    }
    let index = from_here[1..]
        .iter()
        .take_while(|byte| byte.is_ascii_digit() || byte.is_ascii_uppercase())
        .count();
    match from_here.get(1 + index) {
        Some(b'_') => index + 2,
        _ => 0,
    }
}

/// Whether a substitution (`St`, `S1_`) or a template's parameter (`T_`, `T0_`) ends here.
fn follows_reference(before: &[u8]) -> bool {
    match before {
        [.., b'S', b'a' | b'b' | b's' | b'i' | b'o' | b'd' | b't'] => true,
        [.., b'_'] => {
            let index = before[..before.len() - 1].iter().rev();
            let rest = index
                .take_while(|byte| byte.is_ascii_digit() || byte.is_ascii_uppercase())
                .copied();
            before.ends_with(b"__") || rest.into_iter().any(|byte| matches!(byte, b'S' | b'T'))
        }
        _ => false,
    }
}
