//! Lists that have a most.

/// Leaves the first ones in a list, as many as there may be, and tells how many went.
pub(super) fn limited<T>(list: &mut Vec<T>, limit: Option<usize>) -> usize {
    let all = list.len();
    list.truncate(limit.unwrap_or(all));
    all - list.len()
}
