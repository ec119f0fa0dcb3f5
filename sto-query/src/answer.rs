//! What answers share.

/// Leaves the first ones in a list, as many as there may be, and returns the number of those that went.
pub(crate) fn limited<T>(list: &mut Vec<T>, limit: Option<usize>) -> usize {
    let all = list.len();
    list.truncate(limit.unwrap_or(all));
    all - list.len()
}
