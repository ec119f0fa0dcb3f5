//! Metrics ranked by how well they explain a target, as a table.

use crate::correlate::{Correlator, RankedMetric, RankedMetrics, Sign, WhyLeftOut};
use crate::render::align::{doubts, time};
use crate::render::header::full_name;
use crate::text::{
    Cell, Column, Style, Table, format_count, line, list_names, omitted_line, percent, printable,
    probability, title,
};

/// Significance level.
const ALPHA: f64 = 0.05;
/// Maximum number of columns to name in a note.
const NAMED: usize = 3;

/// Returns the report as text: the best explanation of the target, then one metric per line.
pub fn text(ranked: &RankedMetrics, style: Style) -> String {
    let mut text = style.bold(&title(style, &answer(ranked)));
    if let Some(sentence) = agreement(ranked) {
        text += &line(style, &sentence, 0);
    }
    for run in ranked.runs.iter().filter_map(|run| run.fit.as_ref()) {
        text += &doubts(run, style);
    }
    let of_several = ranked.runs.len() > 1;
    let mut columns = vec![
        Column::number(if ranked.by.is_some() { "score" } else { "rank" }),
        Column::text("sign").with_drop_rank(1),
        Column::number("lag").with_drop_rank(2),
        Column::number("p").with_drop_rank(4),
        Column::number("q"),
        Column::number("first 3").with_drop_rank(3),
    ];
    if of_several {
        columns.push(Column::number("run"));
    }
    columns.push(Column::text("metric"));
    let mut table = Table::new(columns);
    for metric in &ranked.metrics {
        let or_dash = |text: Option<String>| Cell::from(text.unwrap_or_else(|| "-".to_owned()));
        let sign = metric.sign.map(|sign| match sign {
            Sign::Covaries => "+".to_owned(),
            Sign::Contravaries => "-".to_owned(),
        });
        let agree = format!("{}/{}", metric.agreeing.len(), metric.scores.len());
        let mut row = vec![
            Cell::from(score(ranked, metric)),
            or_dash(sign.map(|sign| format!("  {sign}"))),
            or_dash(metric.lag.map(|lag| duration(ranked, lag))),
            or_dash(metric.p.map(probability)),
            or_dash(metric.q.map(probability)),
            Cell::from(agree),
        ];
        if of_several {
            row.push(or_dash(metric.run.map(|run| (run + 1).to_string())));
        }
        let others = match &metric.same[..] {
            [] => String::new(),
            [one] => format!(", {}", printable(one)),
            all => format!(", and {} others", all.len()),
        };
        row.push(Cell::from(&metric.name).with_prefix_and_suffix(String::new(), others));
        table.add_row(row);
    }
    if !ranked.metrics.is_empty() {
        text += &format!("\n{}", table.render(style));
        text += &omitted_line(ranked.omitted, "metric");
        text.push('\n');
    }
    text + &line(style, &basis(ranked), 0)
}

/// Returns a sentence that names the metric that explains the target best.
pub(super) fn answer(ranked: &RankedMetrics) -> String {
    let target = printable(&ranked.target);
    if ranked.rows < RankedMetrics::LEAST_ROWS {
        let least = RankedMetrics::LEAST_ROWS;
        let rows = format_count(ranked.rows as u64, noun(ranked));
        return format!("{rows} of {target}: too few to compare, which takes {least}");
    }
    let Some(first) = ranked.metrics.first() else {
        return format!("There is no metric to compare {target} with");
    };
    let (name, chance) = (
        printable(&first.name),
        first.q.map(probability).unwrap_or_default(),
    );
    let Some(relation) = relation(ranked, first) else {
        return format!("No metric varies that could explain {target}");
    };
    if first.q.is_none_or(|q| q > ALPHA) {
        return format!(
            "No metric explains {target} beyond chance; the first is {name} (q {chance})"
        );
    }
    format!("{name} explains {target} best: it {relation} (q {chance})")
}

/// Formats `goes with it, 20 ms before it`, where "it" is the target; `None` if the metric is constant.
pub(super) fn relation(ranked: &RankedMetrics, metric: &RankedMetric) -> Option<String> {
    let goes = match metric.sign? {
        Sign::Covaries => "goes with it",
        Sign::Contravaries => "goes against it",
    };
    let lag = metric.lag?;
    let size = duration(ranked, lag.abs());
    Some(match lag {
        ..0.0 => format!("{goes}, {size} after it"),
        0.0 => goes.to_owned(),
        _ => format!("{goes}, {size} before it"),
    })
}

/// Formats a number of rows, or a duration in the unit of the table's times or of the run.
pub(super) fn duration(ranked: &RankedMetrics, length: f64) -> String {
    if ranked.runs.is_empty() {
        short(length)
    } else {
        time(length)
    }
}

/// Returns a sentence about the correlators that rank the first metric among the first three; `None` if one correlator
/// ranks, or if no metric varies.
pub(super) fn agreement(ranked: &RankedMetrics) -> Option<String> {
    let varies = |first: &&RankedMetric| ranked.by.is_none() && first.sign.is_some();
    let first = ranked.metrics.first().filter(varies)?;
    let all = first.scores.len();
    let differs = first
        .scores
        .keys()
        .filter(|by| !first.agreeing.contains(by));
    let differing: Vec<&str> = differs.map(|by| by.name()).collect();
    Some(match (differing.len(), first.agreeing.len()) {
        (0, _) => format!("All {all} correlators rank it among the first 3."),
        (_, 0) => format!("None of the {all} correlators ranks it among the first 3."),
        _ => format!(
            "{} of {all} correlators rank it among the first 3; not {}.",
            first.agreeing.len(),
            differing.join(", ")
        ),
    })
}

/// Formats the number that a metric is ranked by.
pub(super) fn score(ranked: &RankedMetrics, metric: &RankedMetric) -> String {
    match ranked.by {
        None if metric.score > 0.0 => format!("{:.1}", 1.0 / metric.score),
        None => "0".to_owned(),
        Some(by) => score_by(by, metric.score),
    }
}

/// Formats a score by this correlator.
pub(super) fn score_by(by: Correlator, score: f64) -> String {
    match by {
        _ if score == 0.0 => "0".to_owned(),
        _ if score >= 1e15 => "exact".to_owned(),
        Correlator::Pearson | Correlator::Spearman | Correlator::LinearPattern => {
            format!("{score:.3}")
        }
        _ => short(score),
    }
}

/// Describes the rows that were compared and the metrics that were left out.
pub(super) fn basis(ranked: &RankedMetrics) -> String {
    let mut rows = format_count(ranked.rows as u64, noun(ranked));
    if ranked.windows.len() > 1 {
        rows += &format!(" in {} windows", ranked.windows.len());
    }
    let mut text = match (&ranked.runs[..], &ranked.time) {
        ([], Some(time)) => format!(
            "{rows}, {} from {} to {}.",
            printable(time),
            ranked.from,
            ranked.to
        ),
        ([], None) => {
            format!("{rows}, taken as equally spaced: no column has times, which only grow.")
        }
        ([first, others @ ..], _) => {
            let mut text = format!(
                "{rows} of {} ({}).",
                full_name(&first.run.subject),
                time(first.run.seconds)
            );
            for (ix, other) in others.iter().enumerate() {
                let how = match &other.fit {
                    Some(fit) => format!(
                        "by {}, with a mean difference of {} of its range",
                        printable(&fit.metric),
                        percent(fit.mean_error)
                    ),
                    None => "by the time since the first sample".to_owned(),
                };
                text += &format!(
                    " Run {} is {}, {how}.",
                    ix + 2,
                    full_name(&other.run.subject)
                );
            }
            text
        }
    };
    for (why, is) in [
        (WhyLeftOut::Text, "they have no numbers"),
        (WhyLeftOut::Gaps, "they have too many gaps"),
        (WhyLeftOut::Part, "the target is made of them"),
        (WhyLeftOut::Same, "they are the same as the target"),
        (WhyLeftOut::Aligned, "runs are aligned by them"),
    ] {
        let out = ranked.left_out.iter().filter(|out| out.why == why);
        let names: Vec<_> = out.map(|out| printable(&out.name)).collect();
        if !names.is_empty() {
            text += &format!(" Left out, as {is}: {}.", list_names(&names, NAMED));
        }
    }
    if ranked.unranked > 0 {
        let costs = format_count(ranked.unranked as u64, "cost");
        text += &format!(" {costs} too small, or in too few slices, to compare.");
    }
    text
}

/// Returns what one row of the data is called.
fn noun(ranked: &RankedMetrics) -> &'static str {
    if ranked.runs.is_empty() {
        "row"
    } else {
        "slice"
    }
}

/// Formats a number with three significant digits.
fn short(number: f64) -> String {
    let size = number.abs();
    let decimals = match size {
        0.0 => return "0".to_owned(),
        ..0.000_5 | 1e6.. => return format!("{number:.1e}"),
        ..10.0 => 3,
        ..100.0 => 1,
        _ => 0,
    };
    let text = format!("{number:.decimals$}");
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}
