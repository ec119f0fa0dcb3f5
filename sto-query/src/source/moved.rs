//! Where the lines of a text are after it was edited.

use similar::{Algorithm, DiffOp, capture_diff_slices};

/// Where each line of an old text is in a new one.
///
/// Lines that stand in both keep their order: of a block that was moved over another, one of the two is kept, and the
/// other one changed. How a line ends (`\n` or `\r\n`) is no change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Moved {
    /// By line of the old text, from 0, its number in the new one; 0 where it was changed or is gone.
    lines: Vec<u32>,
}

impl Moved {
    /// Compares two texts, in time that grows with their length and with how much of them differs, but not with the
    /// square of either.
    pub(crate) fn between(old: &str, new: &str) -> Moved {
        let old: Vec<&str> = old.lines().collect();
        let new: Vec<&str> = new.lines().collect();
        let mut lines = vec![0; old.len()];
        for same in capture_diff_slices(Algorithm::Myers, &old, &new) {
            if let DiffOp::Equal {
                old_index,
                new_index,
                len,
            } = same
            {
                // Larger files are not source: the numbers fit.
                let numbers = new_index as u32 + 1..;
                let kept = lines[old_index..old_index + len].iter_mut();
                kept.zip(numbers).for_each(|(line, number)| *line = number);
            }
        }
        Moved { lines }
    }

    /// The number that a line of the old text has in the new one, both from 1; `None` where it was changed or is gone, or
    /// the old text has no such line.
    pub(crate) fn line(&self, old: u32) -> Option<u32> {
        let index = (old as usize).checked_sub(1)?;
        self.lines.get(index).copied().filter(|&line| line != 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Texts of few different lines, so that many of them are alike.
    fn text() -> impl Strategy<Value = String> {
        let line = prop_oneof!["[ab{}]?", "    return x;", "[a-z]{0,3}"];
        let ended = (line, prop_oneof![Just("\n"), Just("\r\n")]);
        proptest::collection::vec(ended, 0..60).prop_map(|lines| {
            let joined = lines.into_iter().map(|(line, end)| line + end);
            joined.collect()
        })
    }

    proptest! {
        #[test]
        fn lines_keep_their_order_and_are_where_their_text_is(old in text(), new in text()) {
            let moved = Moved::between(&old, &new);
            let (old, new): (Vec<_>, Vec<_>) = (old.lines().collect(), new.lines().collect());
            let mut last = 0;
            for (number, line) in (1..).zip(&old) {
                if let Some(now) = moved.line(number) {
                    prop_assert!(last < now);
                    prop_assert_eq!(*line, new[now as usize - 1]);
                    last = now;
                }
            }
            prop_assert_eq!(moved.line(0), None);
            prop_assert_eq!(moved.line(old.len() as u32 + 1), None);
        }

        #[test]
        fn lines_of_a_text_that_was_not_edited_are_where_they_were(text in text()) {
            let moved = Moved::between(&text, &text.replace("\r\n", "\n"));
            for number in 1..=text.lines().count() as u32 {
                prop_assert_eq!(moved.line(number), Some(number));
            }
        }

        #[test]
        fn inserted_lines_move_all_that_stand_after_them(text in text(), at in 0usize..60) {
            let before: String = text.split_inclusive('\n').take(at).collect();
            let after: String = text.split_inclusive('\n').skip(at).collect();
            let new = format!("{before}an inserted line\n{after}");
            let moved = Moved::between(&text, &new);
            let at = at.min(text.lines().count()) as u32;
            for number in 1..=text.lines().count() as u32 {
                let now = if number > at { number + 1 } else { number };
                prop_assert_eq!(moved.line(number), Some(now));
            }
        }
    }

    #[test]
    fn a_line_that_was_changed_is_nowhere() {
        let moved = Moved::between("a\nb\nc\n", "new\na\nB\nc\n");
        let lines: Vec<_> = (1..=3).map(|line| moved.line(line)).collect();
        assert_eq!(lines, [Some(2), None, Some(4)]);
    }
}
