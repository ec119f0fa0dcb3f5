//! The command that builds a commit, and the command that is recorded.

use std::ffi::OsString;

/// A command line, split into a build step and the command to record.
#[derive(Debug, PartialEq)]
pub(super) struct Commands {
    /// The shell command that builds a commit.
    pub(super) build: Option<String>,
    /// The command to record.
    pub(super) run: Vec<OsString>,
}

/// Characters that only a shell interprets.
const SHELL_CHARACTERS: &str = "|&;<>()$`*?[]#~=%!{}\n";

impl Commands {
    /// Splits the words of the command line. A single word is a shell command line; without `build`, everything
    /// before its last `&&` is the build step. Several words are a program and its arguments.
    pub(super) fn parse(words: &[OsString], build: Option<&String>) -> Commands {
        let line = match words {
            [line] => line.to_str(),
            _ => None,
        };
        let Some(line) = line else {
            return Commands {
                build: build.cloned(),
                run: words.to_vec(),
            };
        };
        let (first, last) = match (build, last_and(line)) {
            (None, Some(at)) => (Some(line[..at].trim().to_owned()), &line[at + 2..]),
            _ => (build.cloned(), line),
        };
        Commands {
            build: first,
            run: words_of(last.trim()),
        }
    }
}

/// The offset of the last `&&` outside of quotes and parentheses.
fn last_and(line: &str) -> Option<usize> {
    let mut found = None;
    let mut quote = None;
    let mut depth = 0_usize;
    let mut chars = line.char_indices().peekable();
    while let Some((at, char)) = chars.next() {
        match (quote, char) {
            (Some('\''), '\'') | (Some('"'), '"') => quote = None,
            (None | Some('"'), '\\') => {
                chars.next();
            }
            (None, '\'' | '"') => quote = Some(char),
            (None, '(' | '{') => depth += 1,
            (None, ')' | '}') => depth = depth.saturating_sub(1),
            (None, '&') if depth == 0 && chars.next_if(|&(_, next)| next == '&').is_some() => {
                found = Some(at);
            }
            _ => {}
        }
    }
    found
}

/// The words of a program and its arguments; `sh -c` runs the line if it needs a shell.
fn words_of(line: &str) -> Vec<OsString> {
    let is_plain = !line.contains(|c| SHELL_CHARACTERS.contains(c));
    let words = shlex::split(line).filter(|words| is_plain && !words.is_empty());
    let words = words.unwrap_or_else(|| ["sh", "-c", line].map(str::to_owned).into());
    words.into_iter().map(OsString::from).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(line: &str) -> (Option<String>, Vec<String>) {
        let commands = Commands::parse(&[line.into()], None);
        let run = commands
            .run
            .into_iter()
            .map(|word| word.into_string().unwrap());
        (commands.build, run.collect())
    }

    #[track_caller]
    fn assert_split(line: &str, build: Option<&str>, run: &[&str]) {
        let run = run.iter().map(|&word| word.to_owned()).collect();
        assert_eq!(split(line), (build.map(str::to_owned), run), "{line}");
    }

    #[test]
    fn the_part_before_the_last_and_is_the_build_step() {
        assert_split("make && ./bench 'a b'", Some("make"), &["./bench", "a b"]);
        assert_split("cd x && make&&./bench", Some("cd x && make"), &["./bench"]);
        assert_split("./bench", None, &["./bench"]);
        assert_split(
            "make && ./bench > out",
            Some("make"),
            &["sh", "-c", "./bench > out"],
        );
        assert_split("echo 'a && b'", None, &["sh", "-c", "echo 'a && b'"]);
        assert_split(
            "(make && ./bench)",
            None,
            &["sh", "-c", "(make && ./bench)"],
        );
        assert_split("make & ./bench", None, &["sh", "-c", "make & ./bench"]);
        let words = ["./bench", "&&"].map(OsString::from);
        let several = Commands::parse(&words, Some(&"make".to_owned()));
        assert_eq!(
            (several.build.as_deref(), several.run),
            (Some("make"), words.into())
        );
    }
}
