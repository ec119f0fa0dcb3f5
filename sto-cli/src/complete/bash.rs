//! Completion in bash.
//!
//! Bash splits words at characters that occur in names (`demo@v1`, `std::vec`), inserts completions
//! without quoting them, and expands patterns in them. So bash passes its line unchanged, and the answer replaces
//! the end of the last word and is already quoted.

use clap_complete::engine;
use clap_complete::env::EnvCompleter;
use std::ffi::OsString;
use std::io::{self, Write};
use std::path::Path;

/// Characters that need no quotes in bash, besides letters and digits.
const PLAIN: &str = "_@%+=:,./^-";

/// The script that makes bash run this program for completions.
const REGISTRATION: &str = r#"_sto_complete() {
    local line
    COMPREPLY=()
    while IFS= read -r line; do
        COMPREPLY+=("$line")
    done < <(VARIABLE=bash COMPLETER -- "${COMP_LINE:0:COMP_POINT}" "$COMP_WORDBREAKS" 2>/dev/null)
    if [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *[=/:@~] ]]; then
        compopt -o nospace 2>/dev/null
    fi
}
complete -o bashdefault -F _sto_complete BINARY
"#;

pub(super) struct Bash;

/// The last word of a line, and the words before it.
#[derive(Debug, PartialEq, Eq)]
struct Words<'a> {
    before: Vec<String>,
    /// The last word as the user typed it.
    raw: &'a str,
    /// The last word without escapes; `None` in quotes, where nothing is completed.
    last: Option<String>,
}

impl EnvCompleter for Bash {
    fn name(&self) -> &'static str {
        "bash"
    }

    fn is(&self, name: &str) -> bool {
        name == "bash"
    }

    fn write_registration(
        &self,
        var: &str,
        _name: &str,
        bin: &str,
        completer: &str,
        buf: &mut dyn Write,
    ) -> io::Result<()> {
        let script = REGISTRATION
            .replace("VARIABLE", var)
            .replace("COMPLETER", &quoted(completer))
            .replace("BINARY", &quoted(bin));
        buf.write_all(script.as_bytes())
    }

    fn write_complete(
        &self,
        cmd: &mut clap::Command,
        args: Vec<OsString>,
        current_dir: Option<&Path>,
        buf: &mut dyn Write,
    ) -> io::Result<()> {
        let (Some(line), breaks) = (args.first().and_then(|line| line.to_str()), args.get(1))
        else {
            return Ok(());
        };
        let breaks = breaks
            .and_then(|breaks| breaks.to_str())
            .unwrap_or_default();
        let words = words(line);
        let Some(last) = words.last else {
            return Ok(());
        };
        let index = words.before.len();
        let args = words.before.into_iter().chain([last]);
        let unchanged = words.raw.len() - replaced(words.raw, breaks).len();
        let found = engine::complete(cmd, args.map(OsString::from).collect(), index, current_dir)?;
        for candidate in found {
            let value = quoted(&candidate.get_value().to_string_lossy());
            // A value whose escapes differ from the typed ones, such as `\d` for `d`, cannot be appended.
            if value.starts_with(words.raw) {
                writeln!(buf, "{}", &value[unchanged..])?;
            }
        }
        Ok(())
    }
}

/// The words of a line, split as bash does.
pub(super) fn words_of(line: &str) -> Vec<String> {
    let Words {
        mut before, last, ..
    } = words(line);
    before.extend(last);
    before
}

fn words(line: &str) -> Words<'_> {
    let (mut before, mut word, mut start) = (Vec::new(), String::new(), 0);
    let mut quote = None;
    let mut letters = line.char_indices();
    while let Some((at, letter)) = letters.next() {
        match (quote, letter) {
            (None, ' ' | '\t') => {
                if start < at {
                    before.push(std::mem::take(&mut word));
                }
                start = at + 1;
            }
            (None, '\'' | '"') => quote = Some(letter),
            (Some(open), _) if open == letter => quote = None,
            (None | Some('"'), '\\') => word.extend(letters.next().map(|(_, letter)| letter)),
            _ => word.push(letter),
        }
    }
    let raw = &line[start..];
    let is_plain = quote.is_none() && !raw.contains(['\'', '"']);
    Words {
        before,
        raw,
        last: is_plain.then_some(word),
    }
}

/// The end of a word that bash replaces: what follows the last break character, including that character if it is
/// an `@`, one of readline's special prefixes.
fn replaced<'a>(raw: &'a str, breaks: &str) -> &'a str {
    let mut start = 0;
    let mut is_escaped = false;
    for (at, letter) in raw.char_indices() {
        if !is_escaped && letter != '\\' && breaks.contains(letter) {
            start = if letter == '@' {
                at
            } else {
                at + letter.len_utf8()
            };
        }
        is_escaped = !is_escaped && letter == '\\';
    }
    &raw[start..]
}

/// Quotes text so that bash reads it as one word.
fn quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len());
    for letter in text.chars() {
        let is_plain = letter.is_alphanumeric() || PLAIN.contains(letter);
        // A tilde is special only at the beginning of a word.
        let is_tilde = letter == '~' && !quoted.is_empty();
        if !is_plain && !is_tilde {
            quoted.push('\\');
        }
        quoted.push(letter);
    }
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splits_lines_as_bash_does() {
        let words = words(r"sto  --store 'a b'  top\ x demo@v");
        assert_eq!(words.before, ["sto", "--store", "a b", "top x"]);
        assert_eq!(
            (words.raw, words.last.as_deref()),
            ("demo@v", Some("demo@v"))
        );
        assert_eq!(super::words("sto top 'v").last, None);
        assert_eq!(super::words("sto top ").last.as_deref(), Some(""));
        assert_eq!(
            super::words(r"sto where Vec\<T").last.as_deref(),
            Some("Vec<T")
        );
    }

    #[test]
    fn bash_replaces_what_follows_the_last_break() {
        let breaks = " \t\n\"'@><=;|&(:";
        assert_eq!(replaced("demo@v", breaks), "@v");
        assert_eq!(replaced("std::", breaks), "");
        assert_eq!(replaced(r"Vec\<T", breaks), r"Vec\<T");
        assert_eq!(replaced("plain", breaks), "plain");
    }

    #[test]
    fn quotes_names_so_that_bash_runs_nothing() {
        assert_eq!(quoted("$(touch x)"), r"\$\(touch\ x\)");
        assert_eq!(quoted("demo@v1~2"), "demo@v1~2");
        assert_eq!(quoted("~root"), r"\~root");
        assert_eq!(quoted("a*`b`"), r"a\*\`b\`");
    }
}
