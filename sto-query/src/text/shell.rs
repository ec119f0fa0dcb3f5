//! Command lines, quoted for a shell and wrapped with backslashes.

use super::{Style, display_width, printable};
use serde::Serialize;
use std::fmt::{self, Display, Write};

/// A command line.
///
/// [`Display`] quotes it so that a shell reads exactly these words, whatever characters they
/// contain, and so that every character is visible.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(into = "String", try_from = "String")]
#[cfg_attr(feature = "schemas", schemars(inline))]
pub struct Command {
    /// The program and its arguments.
    pub words: Vec<String>,
}

impl Command {
    /// Returns the quoted command, if there is one.
    pub(crate) fn line(&self) -> Option<String> {
        (!self.words.is_empty()).then(|| self.to_string())
    }

    /// Quotes a word for a POSIX shell. Invisible characters are written in octal within `$'...'`
    /// (POSIX.1-2024), which bash, zsh and ksh support, but dash does not.
    fn quoted(word: &str) -> String {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "_@%+=:,./-".contains(c);
        if !word.is_empty() && word.chars().all(is_plain) {
            return word.to_owned();
        }
        if printable(word) == word {
            return format!("'{}'", word.replace('\'', r"'\''"));
        }
        let mut text = "$'".to_owned();
        for character in word.chars() {
            let mut bytes = [0; 4];
            let utf8 = &*character.encode_utf8(&mut bytes);
            match character {
                '\'' | '\\' => text.extend(['\\', character]),
                _ if printable(utf8) == utf8 => text.push(character),
                _ => {
                    for byte in utf8.bytes() {
                        // Writing to a string cannot fail.
                        let _ = write!(text, "\\{byte:03o}");
                    }
                }
            }
        }
        text + "'"
    }
}

impl Display for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words: Vec<String> = self
            .words
            .iter()
            .map(|word| Command::quoted(word))
            .collect();
        f.write_str(&words.join(" "))
    }
}

impl From<Command> for String {
    fn from(command: Command) -> String {
        command.to_string()
    }
}

impl TryFrom<String> for Command {
    type Error = String;

    /// Parses the output of [`Display`] like a shell.
    fn try_from(line: String) -> Result<Command, String> {
        let words = words_of(line.as_bytes());
        let command = words.map(|words| Command { words });
        command.ok_or_else(|| format!("{line:?} is not a command line"))
    }
}

fn words_of(line: &[u8]) -> Option<Vec<String>> {
    let mut words: Vec<Option<Vec<u8>>> = vec![None];
    let mut rest = line;
    while let [first, after @ ..] = rest {
        rest = after;
        if *first == b' ' {
            words.push(None);
            continue;
        }
        let word = words.last_mut()?.get_or_insert_default();
        match first {
            b'\'' => {
                let end = rest.iter().position(|byte| *byte == b'\'')?;
                word.extend(&rest[..end]);
                rest = &rest[end + 1..];
            }
            b'$' if rest.first() == Some(&b'\'') => {
                rest = &rest[1..];
                loop {
                    let (byte, after) = match rest {
                        [b'\'', after @ ..] => {
                            rest = after;
                            break;
                        }
                        [
                            b'\\',
                            a @ b'0'..=b'3',
                            b @ b'0'..=b'7',
                            c @ b'0'..=b'7',
                            after @ ..,
                        ] => ((a - b'0') << 6 | (b - b'0') << 3 | (c - b'0'), after),
                        [b'\\', byte, after @ ..] | [byte, after @ ..] => (*byte, after),
                        [] => return None,
                    };
                    word.push(byte);
                    rest = after;
                }
            }
            b'\\' => {
                let (byte, after) = rest.split_first()?;
                word.push(*byte);
                rest = after;
            }
            byte => word.push(*byte),
        }
    }
    let words = words.into_iter().flatten();
    words.map(|word| String::from_utf8(word).ok()).collect()
}

/// Returns `head` and the quoted command, wrapped with backslashes at the width of sentences. Empty
/// if there is no command.
///
/// A word that is longer than a line continues at the beginning of the next, as a shell removes a
/// backslash and line feed, but not indentation.
pub(crate) fn command(style: Style, head: &str, command: &Command, indent: usize) -> String {
    if command.words.is_empty() {
        return String::new();
    }
    let line = style.text_width();
    let mut text = head.to_owned();
    let mut column = display_width(head);
    let mut is_first = true;
    for word in &command.words {
        let quoted = Command::quoted(word);
        let width = display_width(&quoted);
        // A space before the word; a space and `\` after it.
        if !is_first && column + 1 + width + 2 > line {
            text += &format!(" \\\n{:indent$}", "");
            column = indent;
        } else if !is_first {
            text.push(' ');
            column += 1;
        }
        is_first = false;
        if column + width + 2 <= line {
            text += &quoted;
            column += width;
            continue;
        }
        let mut part = String::new();
        for character in word.chars() {
            part.push(character);
            if column + display_width(&Command::quoted(&part)) + 2 > line {
                part.pop();
                text += &Command::quoted(&part);
                text += "\\\n";
                part = character.to_string();
                column = 0;
            }
        }
        let last = Command::quoted(&part);
        column += display_width(&last);
        text += &last;
    }
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse_with_bash(line: &str) -> Vec<String> {
        let script = format!("show() {{ printf '%s\\0' \"$@\"; }}\n{line}");
        let output = std::process::Command::new("bash")
            .args(["-c", &script])
            .output()
            .expect("there is a bash");
        assert!(
            output.status.success() && output.stderr.is_empty(),
            "{output:?}"
        );
        let words = String::from_utf8(output.stdout).expect("words are text");
        words.split_terminator('\0').map(str::to_owned).collect()
    }

    #[test]
    fn quotes_words_that_a_shell_would_interpret() {
        assert_eq!(Command::quoted("demo@v1"), "demo@v1");
        assert_eq!(Command::quoted(""), "''");
        assert_eq!(Command::quoted("std::vec<int>"), "'std::vec<int>'");
        assert_eq!(Command::quoted("a'b; $(rm x)"), r"'a'\''b; $(rm x)'");
        assert_eq!(Command::quoted("a\n\x1b'\\"), r"$'a\012\033\'\\'");
        assert_eq!(Command::quoted("\u{202e}x"), r"$'\342\200\256x'");
    }

    #[test]
    fn shell_parses_quoted_words_unchanged() {
        if std::process::Command::new("bash")
            .arg("--version")
            .output()
            .is_err()
        {
            assert_ne!(
                std::env::var("STO_TEST_ALL").as_deref(),
                Ok("1"),
                "there is no bash"
            );
            return;
        }
        let long = "std::map<std::string, std::vector<int>>::find(const char*) ".repeat(5);
        for name in [
            "parse",
            "",
            "it's $(date) `date` !! \\ \"x\" *",
            "\x1b[31mred\nsecond line\u{202e}",
            "<script>alert(1)</script>",
            &long,
            &"x".repeat(400),
            &"\x1b'".repeat(100),
        ] {
            let words = ["show", "demo@v1", "--focus", name].map(str::to_owned);
            let line = command(
                Style::default(),
                "",
                &Command {
                    words: words.to_vec(),
                },
                5,
            );
            assert!(line.lines().all(|line| display_width(line) <= 80), "{line}");
            assert_eq!(parse_with_bash(&line), words[1..], "{line}");
            let line = Command {
                words: words.to_vec(),
            }
            .to_string();
            assert_eq!(parse_with_bash(&line), words[1..], "{line}");
            let read = Command::try_from(line).map(|command| command.words);
            assert_eq!(read.as_deref(), Ok(&words[..]));
        }
        for broken in ["'a", "$'a", "a\\", "$'\\377'"] {
            assert!(Command::try_from(broken.to_owned()).is_err(), "{broken}");
        }
    }
}
