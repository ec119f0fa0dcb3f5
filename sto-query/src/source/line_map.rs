//! Mapping of lines between two versions of a text.

use similar::{Algorithm, DiffOp, capture_diff_slices};

/// Mapping of the lines of an old text to a new one.
///
/// Unchanged lines keep their order: if two blocks were swapped, only one of them counts as unchanged. Line endings
/// (`\n` or `\r\n`) are ignored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LineMap {
    /// New line number, from 1, of each line of the old text, from 0; 0 if the line was changed or removed.
    lines: Vec<u32>,
}

impl LineMap {
    /// Compares two texts. The time grows with their length and the size of the difference, but not quadratically
    /// with either.
    pub(crate) fn new(old: &str, new: &str) -> LineMap {
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
                // Larger files are not source, so the numbers fit.
                let numbers = new_index as u32 + 1..;
                let kept = lines[old_index..old_index + len].iter_mut();
                kept.zip(numbers).for_each(|(line, number)| *line = number);
            }
        }
        LineMap { lines }
    }

    /// Returns the new number of a line of the old text, both from 1; `None` if it was changed or removed, or does
    /// not exist.
    pub(crate) fn new_line(&self, old: u32) -> Option<u32> {
        let index = (old as usize).checked_sub(1)?;
        self.lines.get(index).copied().filter(|&line| line != 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Texts with few distinct lines, so that many are equal.
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
        fn mapped_lines_are_equal_and_in_order(old in text(), new in text()) {
            let moved = LineMap::new(&old, &new);
            let (old, new): (Vec<_>, Vec<_>) = (old.lines().collect(), new.lines().collect());
            let mut last = 0;
            for (number, line) in (1..).zip(&old) {
                if let Some(now) = moved.new_line(number) {
                    prop_assert!(last < now);
                    prop_assert_eq!(*line, new[now as usize - 1]);
                    last = now;
                }
            }
            prop_assert_eq!(moved.new_line(0), None);
            prop_assert_eq!(moved.new_line(old.len() as u32 + 1), None);
        }

        #[test]
        fn unchanged_text_maps_to_itself(text in text()) {
            let moved = LineMap::new(&text, &text.replace("\r\n", "\n"));
            for number in 1..=text.lines().count() as u32 {
                prop_assert_eq!(moved.new_line(number), Some(number));
            }
        }

        #[test]
        fn inserted_lines_move_the_following_ones(text in text(), at in 0usize..60) {
            let before: String = text.split_inclusive('\n').take(at).collect();
            let after: String = text.split_inclusive('\n').skip(at).collect();
            let new = format!("{before}an inserted line\n{after}");
            let moved = LineMap::new(&text, &new);
            let at = at.min(text.lines().count()) as u32;
            for number in 1..=text.lines().count() as u32 {
                let now = if number > at { number + 1 } else { number };
                prop_assert_eq!(moved.new_line(number), Some(now));
            }
        }
    }

    #[test]
    fn changed_line_is_not_mapped() {
        let moved = LineMap::new("a\nb\nc\n", "new\na\nB\nc\n");
        let lines: Vec<_> = (1..=3).map(|line| moved.new_line(line)).collect();
        assert_eq!(lines, [Some(2), None, Some(4)]);
    }
}
