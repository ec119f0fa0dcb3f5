//! Windows of time whose rows are compared.

use super::table::NamedSeries;

/// The ends of a window, both included; `None` if it is open.
pub(super) type TimeWindow = (Option<f64>, Option<f64>);

/// Times of the rows that are compared.
#[derive(Default)]
pub(super) struct RowTimes {
    /// The times of the table, or of slices.
    pub(super) all: Vec<f64>,
    /// First and last time of each window.
    pub(super) windows: Vec<[f64; 2]>,
    /// The times without the gaps between windows.
    pub(super) joined: Vec<f64>,
}

/// Restricts series to windows, or not at all if there are none.
pub(super) fn within(
    times: &[f64],
    mut series: Vec<NamedSeries>,
    windows: &[TimeWindow],
) -> (RowTimes, Vec<NamedSeries>) {
    let is_in = |time: f64, (from, to): &TimeWindow| {
        from.is_none_or(|from| from <= time) && to.is_none_or(|to| time <= to)
    };
    let mut rows: Vec<usize> = (0..times.len()).collect();
    if !windows.is_empty() {
        rows.retain(|&row| windows.iter().any(|of| is_in(times[row], of)));
    }
    for one in &mut series {
        one.values = rows.iter().map(|&row| one.values[row]).collect();
    }
    let mut found = RowTimes::default();
    let mut gaps = 0.0;
    for window in rows.chunk_by(|a, b| a + 1 == *b) {
        let [first, last] = [window[0], window[window.len() - 1]];
        if let Some([_, end]) = found.windows.last() {
            // The window begins as long after the last one as its first row begins after the row before it.
            gaps += times[first - 1] - end;
        }
        found.windows.push([times[first], times[last]]);
        let joined = window.iter().map(|&row| times[row] - gaps);
        found.joined.extend(joined);
    }
    found.all = rows.iter().map(|&row| times[row]).collect();
    (found, series)
}
