//! Command lines broken into lines that a shell still reads as one.

use super::{Style, display_width};
use crate::compare::Command;

/// The command behind `head`, its further lines indented, each but the last ending in `\`, as wide as
/// sentences.
///
/// A word that takes more than a line goes on at the beginning of the next, as a shell takes out
/// `\` and line feed, but no spaces.
pub(super) fn command(style: Style, head: &str, command: &Command, indent: usize) -> String {
    let line = style.text_width();
    let mut text = head.to_owned();
    let mut column = display_width(head);
    let mut is_first = true;
    for word in &command.words {
        let quoted = Command::quoted(word);
        let width = display_width(&quoted);
        // A space before it, a space and `\` behind it.
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

    fn read_by_a_shell(line: &str) -> Vec<String> {
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
    fn a_shell_reads_the_words_whatever_is_in_them() {
        if crate::missing::missing(&["bash"]) {
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
            assert_eq!(read_by_a_shell(&line), words[1..], "{line}");
            let line = Command {
                words: words.to_vec(),
            }
            .to_string();
            assert_eq!(read_by_a_shell(&line), words[1..], "{line}");
        }
    }
}
