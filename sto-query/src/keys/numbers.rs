//! Removes numbers that compilers and virtual machines assign: to closures, lambdas, unnamed types
//! and proxies.
//!
//! A new closure renumbers all that follow it, and code that is generated at run time is numbered
//! in the order of generation.

use super::{Rule, is_name};
use std::ops::Range;

/// The text that must follow a number.
#[derive(Clone, Copy)]
enum Next {
    Is(u8),
    /// Anything that is not part of a name.
    NoName,
}

/// Prefixes of numbers: a prefix that is kept, a prefix that is removed with the number, the text
/// that follows, and the rule.
const NUMBERED: [(&str, &str, Next, Rule); 14] = [
    ("", "#", Next::Is(b'}'), Rule::ClosureNumber),
    ("'lambda", "", Next::Is(b'\''), Rule::ClosureNumber),
    ("'unnamed", "", Next::Is(b'\''), Rule::ClosureNumber),
    ("$_", "", Next::NoName, Rule::ClosureNumber),
    ("._omp_fn", ".", Next::NoName, Rule::OpenmpRegion),
    ("$$Lambda", "$", Next::NoName, Rule::JavaLambda),
    ("$Proxy", "", Next::NoName, Rule::JavaProxy),
    ("jdk.proxy", "", Next::Is(b'.'), Rule::JavaProxy),
    ("jdk/proxy", "", Next::Is(b'/'), Rule::JavaProxy),
    (
        "GeneratedMethodAccessor",
        "",
        Next::NoName,
        Rule::JavaAccessor,
    ),
    (
        "GeneratedConstructorAccessor",
        "",
        Next::NoName,
        Rule::JavaAccessor,
    ),
    (
        "GeneratedSerializationConstructorAccessor",
        "",
        Next::NoName,
        Rule::JavaAccessor,
    ),
    (".init", ".", Next::NoName, Rule::GoInit),
    ("-range", "", Next::NoName, Rule::GoClosure),
];

/// Names of functions that Go creates from code inside other functions.
const GO_INNER: [&str; 3] = [".func", ".gowrap", ".deferwrap"];

/// A range of a name, and its replacement.
struct Cut {
    range: Range<usize>,
    written: &'static str,
    rule: Rule,
}

/// Returns the name without numbers; `None` if it contains no number.
pub(super) fn without_numbers(
    name: &str,
    note: &mut impl FnMut(Rule, &str, &str),
) -> Option<String> {
    let mut scan = Scan::new(name);
    let mut key = String::new();
    let mut copied = 0;
    while let Some(cut) = scan.next_cut() {
        note(cut.rule, &name[cut.range.clone()], cut.written);
        key.push_str(&name[copied..cut.range.start]);
        key.push_str(cut.written);
        copied = cut.range.end;
    }
    if copied == 0 {
        return None;
    }
    key.push_str(&name[copied..]);
    Some(key)
}

/// A single pass over a name, with the state that rules need about preceding bytes.
struct Scan<'a> {
    name: &'a str,
    at: usize,
    /// End and rule of the last cut.
    last_cut: Option<(usize, Rule)>,
    /// Start of the current word; `$` is part of words.
    word: usize,
    /// Position of the first dot since the last slash, which ends the name of a Go package.
    package: Option<usize>,
    has_go_shape: bool,
}

impl<'a> Scan<'a> {
    fn new(name: &'a str) -> Self {
        Scan {
            name,
            at: 0,
            last_cut: None,
            word: 0,
            package: None,
            has_go_shape: false,
        }
    }

    fn byte(&self, at: usize) -> Option<u8> {
        self.name.as_bytes().get(at).copied()
    }

    fn next_cut(&mut self) -> Option<Cut> {
        while let Some(byte) = self.byte(self.at) {
            let cut = match byte {
                b'0'..=b'9' => {
                    let digits = self.count(self.at, u8::is_ascii_digit);
                    let number = self.at..self.at + digits;
                    self.at = number.end;
                    self.numbered(number)
                }
                b'{' | b'[' => {
                    let cut = self.bracket();
                    self.at += 1;
                    cut
                }
                _ => {
                    self.at += 1;
                    None
                }
            };
            if let Some(cut) = cut {
                self.at = cut.range.end;
                self.last_cut = Some((cut.range.end, cut.rule));
                return Some(cut);
            }
            match byte {
                b'/' => self.package = None,
                b'.' => {
                    self.package.get_or_insert(self.at - 1);
                    self.has_go_shape |= self.name[..self.at].ends_with("go.shape.");
                }
                _ => {}
            }
            if !is_name(byte) && byte != b'$' {
                self.word = self.at;
            }
        }
        None
    }

    fn count(&self, from: usize, is_counted: impl Fn(&u8) -> bool) -> usize {
        let bytes = &self.name.as_bytes()[from..];
        bytes.iter().take_while(|byte| is_counted(byte)).count()
    }

    /// Matches `{{closure}}`, `{{vtable.shim}}`, and crate hashes such as `core[846817f741e54dfd]`: 64 bits without
    /// leading zeros, so nearly always 13 digits or more.
    fn bracket(&self) -> Option<Cut> {
        const LEGACY: [(&str, &str); 2] = [
            ("{{closure}}", "{closure}"),
            ("{{vtable.shim}}", "::{shim:vtable}"),
        ];
        for (legacy, written) in LEGACY {
            if self.name[self.at..].starts_with(legacy) {
                return Some(Cut {
                    range: self.at..self.at + legacy.len(),
                    written,
                    rule: Rule::ClosureNumber,
                });
            }
        }
        let digits = self.count(self.at + 1, u8::is_ascii_hexdigit);
        let end = self.at + 1 + digits;
        let is_hash = self.byte(self.at) == Some(b'[')
            && (13..=16).contains(&digits)
            && self.byte(end) == Some(b']');
        is_hash.then_some(Cut {
            range: self.at..end + 1,
            written: "",
            rule: Rule::CrateHash,
        })
    }

    fn numbered(&self, number: Range<usize>) -> Option<Cut> {
        self.listed(&number)
            .or_else(|| self.go(&number))
            .or_else(|| self.java_name(&number))
            .or_else(|| self.java_address(&number))
            .or_else(|| self.anonymous_namespace(&number))
    }

    fn listed(&self, number: &Range<usize>) -> Option<Cut> {
        let before = &self.name[..number.start];
        let after = self.byte(number.end);
        NUMBERED.iter().find_map(|&(stays, taken, expected, rule)| {
            let fits = match expected {
                Next::Is(byte) => after == Some(byte),
                Next::NoName => !after.is_some_and(is_name),
            };
            let is_this = fits && before.strip_suffix(taken)?.ends_with(stays);
            is_this.then(|| Cut {
                range: number.start - taken.len()..number.end,
                written: "",
                rule,
            })
        })
    }

    /// Matches `main.total.func1.2-range3` and `go.shape.int_0`.
    fn go(&self, number: &Range<usize>) -> Option<Cut> {
        let before = &self.name[..number.start];
        let after = self.byte(number.end);
        if self.has_go_shape && before.ends_with('_') && matches!(after, Some(b',' | b']')) {
            return Some(Cut {
                range: number.start - 1..number.end,
                written: "",
                rule: Rule::GoShape,
            });
        }
        if !matches!(after, None | Some(b'.' | b'-')) {
            return None;
        }
        // A closure in a closure is only numbered.
        if before.ends_with('.') && self.last_cut == Some((number.start - 1, Rule::GoClosure)) {
            return Some(Cut {
                range: number.start - 1..number.end,
                written: ".{closure}",
                rule: Rule::GoClosure,
            });
        }
        // `main.func1` is a function of package `main`; in `main.total.func1`, a function name
        // precedes.
        let outer = GO_INNER
            .iter()
            .find_map(|inner| before.strip_suffix(inner))?;
        let is_inner = self.package.is_some_and(|dot| dot < outer.len());
        let (start, written) = match before.strip_suffix("func") {
            Some(path) => (path.len(), "{closure}"),
            None => (number.start, ""),
        };
        is_inner.then_some(Cut {
            range: start..number.end,
            written,
            rule: Rule::GoClosure,
        })
    }

    /// Matches `Cart$1.run`, `lambda$total$2` and `access$100`; Kotlin's `total$lambda$0` and
    /// `total$lambda-0`; Scala's `$anonfun$total$1` and `total$$anonfun$1`.
    fn java_name(&self, number: &Range<usize>) -> Option<Cut> {
        let before = self.name[..number.start].strip_suffix(['$', '-'])?;
        let is_dollar = self.byte(before.len()) == Some(b'$');
        let after = &self.name[number.end..];
        let with_dollar = before.len()..number.end;
        // `-` is no part of words.
        let word = before.get(self.word..).unwrap_or_default();
        let ends_word = !self.byte(number.end).is_some_and(is_name);
        let is_class = after.starts_with(['.', ';', '$']) || after.starts_with("::");
        let ends_part = ends_word || after.starts_with('$');
        let (range, rule) = if ends_part && before.ends_with("$lambda") {
            (with_dollar, Rule::KotlinLambda)
        } else if !is_dollar {
            return None;
        } else if ends_part && (word.starts_with("$anonfun$") || word.ends_with("$$anonfun")) {
            (with_dollar, Rule::ScalaFunction)
        } else if ends_word && word.starts_with("lambda$") {
            (with_dollar, Rule::JavaLambda)
        } else if ends_word && word == "access" {
            (with_dollar, Rule::JavaAccessor)
        } else if is_class && !word.is_empty() {
            // Keeps the `$`, because the enclosing class has methods, too.
            (number.clone(), Rule::JavaAnonymousClass)
        } else {
            return None;
        };
        Some(Cut {
            range,
            written: "",
            rule,
        })
    }

    /// Matches `Cart$$Lambda/0x00007f037c001230`, and `Cart$$Lambda$14/1324119927` of Java 8. JDK
    /// Flight Recorder writes both.
    fn java_address(&self, number: &Range<usize>) -> Option<Cut> {
        let class = self.name[..number.start].strip_suffix(['/', '.', '+'])?;
        let end = match self.name[number.end..].strip_prefix('x') {
            Some(_) => {
                let digits = self.count(number.end + 1, u8::is_ascii_hexdigit);
                let end = number.end + 1 + digits;
                let is_address = &self.name[number.clone()] == "0" && digits == 16;
                let is_whole = !self.byte(end).is_some_and(is_name);
                let is_class = class
                    .bytes()
                    .last()
                    .is_some_and(|b| b == b'$' || is_name(b));
                (is_address && is_whole && is_class).then_some(end)?
            }
            None => {
                let (end, rule) = self.last_cut?;
                let is_hidden = matches!(rule, Rule::JavaLambda | Rule::JavaHiddenClass);
                (is_hidden && end == class.len()).then_some(number.end)?
            }
        };
        Some(Cut {
            range: class.len()..end,
            written: "",
            rule: Rule::JavaHiddenClass,
        })
    }

    fn anonymous_namespace(&self, number: &Range<usize>) -> Option<Cut> {
        let before = self.name[..number.start].strip_suffix("_GLOBAL__N_")?;
        let is_whole = !before.bytes().last().is_some_and(is_name)
            && !self.byte(number.end).is_some_and(is_name);
        is_whole.then_some(Cut {
            range: before.len()..number.end,
            written: "(anonymous namespace)",
            rule: Rule::AnonymousNamespace,
        })
    }
}
