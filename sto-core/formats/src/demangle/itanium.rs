//! C++ names, parsed in bounded time.
//!
//! At some points the parser of `cpp_demangle` tries several productions to their end, and again
//! within each: a name of 88 bytes can take years. So a name is only parsed if few such points are
//! nested. Identifiers are hidden from the parser, because their letters can look like such points.

use cpp_demangle::Symbol;
use std::cell::Cell;
use std::rc::Rc;

/// Limit to nested points at which the parser may backtrack; each multiplies the work by up to
/// five.
const MAX_RETRIES: usize = 7;

/// Replaces each byte of an identifier: it is valid in identifiers, and no production begins with
/// it.
const HIDDEN: u8 = b'$';

/// The bytes of a name: without identifiers for parsing, with them for writing.
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

/// Parses a name. The returned flag must be set before the name is written.
pub(super) fn parse(mangled: &[u8]) -> Option<(Symbol<Bytes<'_>>, Rc<Cell<bool>>)> {
    // Backtracking counts as parsing, so hiding cannot circumvent the limit.
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

/// Hides the identifiers of a name. A number before `E` or `_` may be a literal and not a length;
/// leaving an identifier visible is harmless.
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

/// Upper bound on the nesting of points at which the parser may backtrack.
///
/// These points are, by the productions of the Itanium C++ ABI, 5.1: `new` and `delete`, as
/// expressions and as operators; types of conversions, lambdas' parameters and inherited
/// constructors, as a name and as a template's name; types of literals, also as mangled names;
/// arguments of a template that a substitution or parameter names, as a name and as a type.
fn retries(mangled: &[u8]) -> usize {
    // Template arguments and literals end at their `E`. The ends of other constructs are ignored.
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
            // Other constructs that end at `E`. Mistaking something for one only raises the bound.
            b'N' | b'X' | b'F' | b'Z' | b'J' => open.push(false),
            _ if OPENING.iter().any(|pair| mangled[..=at].ends_with(pair)) => open.push(false),
            b'E' => now -= usize::from(open.pop().unwrap_or(false)),
            _ => {}
        }
    }
    most
}

/// Two-letter prefixes of constructs that end at `E`.
const OPENING: [&[u8]; 12] = [
    b"cl", b"tl", b"il", b"nw", b"na", b"sP", b"sr", b"so", b"Dt", b"DT", b"DO", b"Ul",
];

/// Length of a substitution with an index (`S1N_`) that begins here, whose letters are not
/// productions. After a small letter it may be an operator (`aS`) instead.
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

/// Returns `true` if a substitution (`St`, `S1_`) or template parameter (`T_`, `T0_`) ends here.
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
