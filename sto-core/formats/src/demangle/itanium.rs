//! C++ names, parsed in bounded time.
//!
//! At some points the parser of `cpp_demangle` tries several productions to their end, and again
//! within each: a name of 88 bytes can take years. So a name is only parsed if few such points are
//! nested. Identifiers are hidden from the parser, because their letters can look like such points.
//!
//! The parser is recursive. Names that need more levels than any thread has stack for are parsed
//! again on a thread with a large stack.

use super::Capped;
use cpp_demangle::{DemangleOptions, ParseOptions, Symbol};
use std::cell::Cell;
use std::fmt;
use std::rc::Rc;
use std::thread;

/// Levels of recursion for the stack of any thread, which has 2 MiB: 96, the default of
/// `cpp_demangle`, take up to 0.5 MiB. Debug builds need 4 MiB for that.
const SHALLOW: u32 = if cfg!(debug_assertions) { 32 } else { 96 };

/// Levels of recursion for a stack of [`DEEP_STACK`] bytes. Names of Boost.Spirit need 160; GNU's
/// demangler stops at 2048.
const DEEP: u32 = 512;

/// Twice what [`DEEP`] levels take in a debug build, and 16 times what they take in a release
/// build.
const DEEP_STACK: usize = 64 << 20;

/// Limit to nested points at which the parser may backtrack; each multiplies the work by up to
/// five.
const MAX_RETRIES: usize = 7;

/// Replaces each byte of an identifier: it is valid in identifiers, and no production begins with
/// it.
const HIDDEN: u8 = b'$';

/// The bytes of a name: without identifiers for parsing, with them for writing.
struct Bytes<'a> {
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

/// Writes the readable name.
///
/// # Errors
/// Returns an error if the name cannot be demangled, or `out` is full.
pub(super) fn write(mangled: &[u8], out: &mut Capped) -> fmt::Result {
    match write_within(SHALLOW, mangled, out) {
        Err(Failure::TooDeep) => {}
        result => return result.map_err(|_| fmt::Error),
    }
    thread::scope(|scope| {
        let deep = thread::Builder::new().stack_size(DEEP_STACK);
        let deep = deep.spawn_scoped(scope, || write_within(DEEP, mangled, out));
        let result = deep.ok().and_then(|thread| thread.join().ok());
        result.and_then(Result::ok).ok_or(fmt::Error)
    })
}

/// The reason why a name was not written.
enum Failure {
    /// It needs more levels of recursion.
    TooDeep,
    /// It is no mangled name, would take too long to parse, or is too long.
    Other,
}

/// Writes the readable name with a limit to the levels of recursion. If the name is too deep,
/// nothing was written.
fn write_within(levels: u32, mangled: &[u8], out: &mut Capped) -> Result<(), Failure> {
    let (symbol, is_parsed) = parse(levels, mangled)?;
    is_parsed.set(true);
    let options = DemangleOptions::new()
        .no_params()
        .no_return_type()
        .recursion_limit(levels);
    let result = symbol.structured_demangle(&mut *out, &options);
    result.map_err(|_| match out.is_full() {
        true => Failure::Other,
        false => {
            out.text.clear();
            Failure::TooDeep
        }
    })
}

/// Parses a name. The returned flag must be set before the name is written.
fn parse(levels: u32, mangled: &[u8]) -> Result<(Symbol<Bytes<'_>>, Rc<Cell<bool>>), Failure> {
    let options = ParseOptions::default().recursion_limit(levels);
    let mut failure = Failure::Other;
    // Backtracking counts as parsing, so hiding cannot circumvent the limit.
    let candidates = [mangled.to_vec(), hide(mangled)];
    for hidden in candidates {
        if retries(&hidden) > MAX_RETRIES {
            continue;
        }
        let is_parsed = Rc::new(Cell::new(false));
        let bytes = Bytes {
            mangled,
            hidden,
            is_parsed: Rc::clone(&is_parsed),
        };
        match Symbol::new_with_options(bytes, &options) {
            Ok(symbol) => return Ok((symbol, is_parsed)),
            Err(cpp_demangle::error::Error::TooMuchRecursion) => failure = Failure::TooDeep,
            Err(_) => {}
        }
    }
    Err(failure)
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
/// arguments of a template that a substitution or parameter names, as a name and as a type. Not if
/// it begins a nested name (`NS_I...E`), whose parts are parsed one after the other.
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
            b'I' => before.ends_with(b"C") || is_reference_alone(before),
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
    before_reference(before).is_some()
}

/// Returns `true` if a substitution or template parameter ends here that does not begin a nested
/// name. The `N` of the operator `aN` begins none.
fn is_reference_alone(before: &[u8]) -> bool {
    before_reference(before).is_some_and(|mut rest| {
        while let [unqualified @ .., b'r' | b'V' | b'K'] = rest {
            rest = unqualified;
        }
        !rest.ends_with(b"N") || rest.ends_with(b"aN")
    })
}

/// Returns what precedes the substitution or template parameter that ends here.
fn before_reference(before: &[u8]) -> Option<&[u8]> {
    match before {
        [
            rest @ ..,
            b'S',
            b'a' | b'b' | b's' | b'i' | b'o' | b'd' | b't',
        ] => Some(rest),
        [index @ .., b'_'] => {
            let is_index = |byte: &u8| byte.is_ascii_digit() || byte.is_ascii_uppercase();
            let letters = index.iter().rev().take_while(|byte| is_index(byte)).count();
            let indices = &index[index.len() - letters..];
            let start = indices.iter().rposition(|byte| matches!(byte, b'S' | b'T'));
            match start {
                Some(start) => Some(&index[..index.len() - letters + start]),
                None => index.ends_with(b"_").then_some(index),
            }
        }
        _ => None,
    }
}
