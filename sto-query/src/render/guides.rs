//! The lines that connect the rows of a tree.

use crate::text::{Style, title};

/// Maximum number of branching levels drawn to the left of a name, if the width is unlimited. Levels
/// further out are shown as a number.
const MAX_DRAWN_LEVELS: usize = 20;

/// Number of columns of which a level takes one of three at most, so that two thirds are left for names.
const COLUMNS_PER_LEVEL: usize = 10;

/// The text before the rows of a tree.
pub(super) struct Guides {
    rows: Vec<String>,
    is_cut: bool,
}

impl Guides {
    /// Draws the lines for rows with these parents, which come before their children.
    pub(super) fn new(parents: impl Iterator<Item = Option<usize>>, style: Style) -> Guides {
        let levels = levels(&Vec::from_iter(parents));
        let drawn = style.width.map_or(MAX_DRAWN_LEVELS, |width| {
            (width / COLUMNS_PER_LEVEL).clamp(1, MAX_DRAWN_LEVELS)
        });
        Guides {
            rows: levels.iter().map(|row| row.draw(drawn)).collect(),
            is_cut: levels.iter().any(|row| row.count > drawn),
        }
    }

    /// Returns the text before a row.
    pub(super) fn before(&self, row: usize) -> &str {
        &self.rows[row]
    }

    /// Explains numbers in place of levels; empty if there are none.
    pub(super) fn note(&self, style: Style) -> String {
        if self.is_cut {
            let meaning = "+N before a row: it is N levels further to the right";
            format!("\n{}", title(style, meaning))
        } else {
            String::new()
        }
    }
}

/// The levels to the left of a row.
#[derive(Clone, Copy, Default)]
struct Levels {
    /// Number of callers that have several children.
    count: usize,
    /// For each level, innermost in the lowest bit, whether more siblings follow below.
    continues: u64,
    /// Whether the row is one of several siblings.
    branches: bool,
}

fn levels(parents: &[Option<usize>]) -> Vec<Levels> {
    let index = |parent: Option<usize>| parent.map_or(0, |parent| parent + 1);
    let mut siblings = vec![0usize; parents.len() + 1];
    parents
        .iter()
        .for_each(|&parent| siblings[index(parent)] += 1);
    let mut unseen = siblings.clone();
    let mut levels: Vec<Levels> = Vec::with_capacity(parents.len());
    for &parent in parents {
        let caller = parent.map(|parent| levels[parent]).unwrap_or_default();
        let ix = index(parent);
        unseen[ix] -= 1;
        let branches = siblings[ix] > 1;
        levels.push(if branches {
            Levels {
                count: caller.count + 1,
                continues: caller.continues << 1 | u64::from(unseen[ix] > 0),
                branches,
            }
        } else {
            Levels { branches, ..caller }
        });
    }
    levels
}

impl Levels {
    /// Draws the innermost levels, `max` at most. If there are more, their number takes the place of
    /// the outermost one.
    fn draw(self, max: usize) -> String {
        let mut lines = String::new();
        let mut drawn = self.count.min(max);
        if self.count > drawn {
            lines = format!("{:<3}", format!("+{}", self.count - drawn));
            drawn -= 1;
        }
        for level in (0..drawn).rev() {
            let continues = self.continues >> level & 1 == 1;
            lines.push_str(match (level == 0 && self.branches, continues) {
                (true, true) => "├─ ",
                (true, false) => "└─ ",
                (false, true) => "│  ",
                (false, false) => "   ",
            });
        }
        lines
    }
}
