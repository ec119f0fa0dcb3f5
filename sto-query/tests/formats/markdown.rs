//! Markdown: limits, tables and hostile names.

use super::fixtures::{hostile, many};
use crate::words::markdown;

#[test]
fn page_fits_a_comment_and_states_omissions() {
    let many: Vec<_> = (0..10).map(|_| many()).collect();
    let page = markdown(&many);
    assert!(page.len() <= 30_000, "{}", page.len());
    assert!(page.starts_with("## sto: REGRESSION\n"), "{page}");
    let more = "… and 692 more findings, which `CheckInFull` lists.";
    assert!(page.contains(more), "{page}");
    assert_eq!(page.matches("<details><summary>regression: ").count(), 5);
}

#[test]
fn rows_have_a_cell_for_each_column() {
    let page = markdown(&[hostile()]);
    let mut cells = None;
    for line in page.lines() {
        let count = line.matches('|').count();
        match (line.starts_with('|'), cells) {
            (false, _) => cells = None,
            (true, None) => cells = Some(count),
            (true, Some(cells)) => assert_eq!(count, cells, "{line}"),
        }
    }
}

/// The page has no tags except `details`, `summary` and `code`, and no name outside of code.
#[test]
fn names_are_code_or_have_no_markup() {
    let page = markdown(&[hostile()]);
    let mut is_fenced = false;
    for line in page.lines() {
        if line.starts_with("```") {
            is_fenced = !is_fenced;
            continue;
        }
        if is_fenced {
            continue;
        }
        let outside: String = line.split('`').step_by(2).collect();
        let outside = outside.replace("&#", "&");
        for tag in outside.split('<').skip(1) {
            let known = [
                "details>",
                "/details>",
                "summary>",
                "/summary>",
                "code>",
                "/code>",
                "!-- -->",
            ];
            assert!(known.iter().any(|known| tag.starts_with(known)), "{line}");
        }
        for markup in ["@o", "#1", "://", "www.", "**", "](", "::error"] {
            assert!(!outside.contains(markup), "{markup}: {line}");
        }
    }
    assert!(!is_fenced, "every fence is closed");
}
