//! Time, total cost and other metrics of whole runs, one per line.

use crate::compare::{
    Comparison, Measured, MetricChange, MetricOutcome, MetricUnit, TOTAL_COST, WorseIf,
};
use crate::text::{Cell, Column, Style, Table, group_digits, printable, probability};
use std::fmt::Write;
use sto_core::units::Unit;

/// Maximum width of a metric's name.
const LONGEST_NAME: usize = 24;

/// A metric as text.
pub(super) struct Row {
    /// `seconds`, `seconds / requests`.
    pub(super) name: String,
    /// `0.912 ± 0.095`.
    pub(super) baseline: String,
    pub(super) candidate: String,
    /// `+37.4%`.
    pub(super) change: String,
    /// `p 0.002`, or why the metric was not tested.
    pub(super) evidence: String,
    pub(super) outcome: MetricOutcome,
}

/// Returns the metrics, except those with the same value in all runs.
pub(super) fn rows(comparison: &Comparison) -> Vec<Row> {
    let varies = |metric: &&MetricChange| {
        let sides = [metric.baseline, metric.candidate];
        let is_steady = |side: Measured| side.deviation.is_none_or(|deviation| deviation == 0.0);
        sides[0].mean != sides[1].mean || !sides.into_iter().all(is_steady)
    };
    comparison.metrics.iter().filter(varies).map(row).collect()
}

fn row(metric: &MetricChange) -> Row {
    let scale = Scale::new(metric);
    let name = match &*metric.name {
        TOTAL_COST => "total cost",
        name => name,
    };
    let per = metric.per.iter().map(|per| format!(" / {per}"));
    let evidence = match metric.p {
        Some(p) => match metric.q.filter(|_| metric.outcome == MetricOutcome::Same) {
            Some(q) if q > p => format!("p {}, adjusted {}", probability(p), probability(q)),
            _ => format!("p {}", probability(p)),
        },
        None => "one run a side".to_owned(),
    };
    let evidence = match metric.worse_if {
        WorseIf::Never if metric.p.is_some() => format!("{evidence}, does not count"),
        _ => evidence,
    };
    Row {
        name: printable(&format!("{name}{}", per.collect::<String>())).into_owned(),
        baseline: scale.show(metric.baseline),
        candidate: scale.show(metric.candidate),
        change: metric.change.map_or("-".to_owned(), |change| match change {
            2.0.. => format!("{change:.1}x"),
            _ => format!("{:+.1}%", (change - 1.0) * 100.0),
        }),
        evidence,
        outcome: metric.outcome,
    }
}

/// Returns the word for a metric's outcome; empty if it did not change.
pub(super) fn word(outcome: MetricOutcome) -> &'static str {
    match outcome {
        MetricOutcome::Worse => "worse",
        MetricOutcome::Better => "better",
        MetricOutcome::Changed => "changed",
        MetricOutcome::Ignored => "worse, ignored",
        MetricOutcome::Same | MetricOutcome::Untested => "",
    }
}

/// Returns the metrics as a table, if there are any.
pub(super) fn table(comparison: &Comparison, style: Style) -> String {
    let rows = rows(comparison);
    if rows.is_empty() {
        return String::new();
    }
    let mut table = Table::new(vec![
        Column::text(if comparison.within_runs {
            "each part"
        } else {
            "each run"
        })
        .with_max_width(LONGEST_NAME),
        Column::number("baseline").with_drop_rank(2),
        Column::number("candidate").with_drop_rank(1),
        Column::number("change"),
        Column::text(""),
    ]);
    for row in rows {
        let mark: fn(Style, &str) -> String = match row.outcome {
            MetricOutcome::Worse => Style::worse,
            MetricOutcome::Better => Style::better,
            _ => |_, text| text.to_owned(),
        };
        let evidence = match word(row.outcome) {
            "" => row.evidence,
            word => format!("{word}, {}", row.evidence),
        };
        table.add_row(vec![
            Cell::from(row.name),
            Cell::from(row.baseline),
            Cell::from(row.candidate),
            Cell::from(row.change),
            Cell::from(evidence).with_style(mark),
        ]);
    }
    table.render(style)
}

/// The unit and number of decimals of a metric.
struct Scale {
    divisor: f64,
    unit: &'static str,
    decimals: usize,
}

impl Scale {
    fn new(metric: &MetricChange) -> Scale {
        let sides = [metric.baseline, metric.candidate];
        let largest = sides.iter().map(|side| side.mean.abs()).fold(0.0, f64::max);
        let units: &[&str] = match metric.unit {
            Some(MetricUnit::Event(Unit::Nanoseconds)) => &["ns", "µs", "ms", "s"],
            Some(MetricUnit::Event(Unit::Bytes)) => &["B", "kB", "MB", "GB", "TB"],
            Some(MetricUnit::Event(Unit::Events)) => &["events", "k", "M", "G", "T"],
            Some(MetricUnit::Event(_)) => &["samples"],
            Some(MetricUnit::Seconds) => &["s"],
            None => &[""],
        };
        let (mut divisor, mut at) = (1.0, 0);
        while largest / divisor >= 999.5 && at + 1 < units.len() {
            (divisor, at) = (divisor * 1000.0, at + 1);
        }
        // The larger deviation has two digits, and no number has more than five unless it is an
        // integer.
        let deviation = sides
            .iter()
            .filter_map(|side| side.deviation)
            .fold(0.0, f64::max);
        let power = |number: f64| {
            if number > 0.0 {
                (number / divisor).log10().floor() as i32
            } else {
                0
            }
        };
        let wanted = if deviation > 0.0 {
            1 - power(deviation)
        } else {
            2 - power(largest)
        };
        let is_whole = sides.iter().all(|side| {
            let deviation = side.deviation.unwrap_or(0.0);
            divisor == 1.0 && side.mean.fract() == 0.0 && deviation == 0.0
        });
        let decimals = if is_whole {
            0
        } else {
            wanted.min(4 - power(largest)).clamp(0, 12) as usize
        };
        Scale {
            divisor,
            unit: units[at],
            decimals,
        }
    }

    fn show(&self, measured: Measured) -> String {
        let number = |number: f64| {
            let number = number / self.divisor;
            match self.decimals {
                0 if (1e4..1e15).contains(&number) => group_digits(number.round() as u64),
                decimals => format!("{number:.decimals$}"),
            }
        };
        let mut text = number(measured.mean);
        if let Some(deviation) = measured.deviation {
            let _ = write!(text, " ± {}", number(deviation));
        }
        if !self.unit.is_empty() {
            let _ = write!(text, " {}", self.unit);
        }
        text
    }
}
