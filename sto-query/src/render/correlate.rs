//! Metrics ranked by how well they explain a target, as a table.

use super::align::{doubts, time};
use super::header::full_name;
use crate::correlate::{Correlator, RankedMetric, RankedMetrics, Sign, WhyLeftOut};
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
    if ranked.by.is_none()
        && let Some(first) = ranked.metrics.first().filter(|first| first.sign.is_some())
    {
        text += &line(style, &agreement(first), 0);
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
        let lag = |lag| {
            if ranked.runs.is_empty() {
                short(lag)
            } else {
                time(lag)
            }
        };
        let mut row = vec![
            Cell::from(score(ranked, metric)),
            or_dash(sign.map(|sign| format!("  {sign}"))),
            or_dash(metric.lag.map(lag)),
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
fn answer(ranked: &RankedMetrics) -> String {
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
    let (goes, lag) = match (first.sign, first.lag) {
        (Some(Sign::Contravaries), Some(lag)) => ("goes against it", lag),
        (Some(_), Some(lag)) => ("goes with it", lag),
        _ => return format!("No metric varies that could explain {target}"),
    };
    if first.q.is_none_or(|q| q > ALPHA) {
        return format!(
            "No metric explains {target} beyond chance; the first is {name} (q {chance})"
        );
    }
    let size = if ranked.runs.is_empty() {
        short(lag.abs())
    } else {
        time(lag.abs())
    };
    let when = match lag {
        ..0.0 => format!(", {size} after it"),
        0.0 => String::new(),
        _ => format!(", {size} before it"),
    };
    format!("{name} explains {target} best: it {goes}{when} (q {chance})")
}

/// Returns a sentence about the correlators that rank the first metric among the first three.
fn agreement(first: &RankedMetric) -> String {
    let all = first.scores.len();
    let differs = first
        .scores
        .keys()
        .filter(|by| !first.agreeing.contains(by));
    let differing: Vec<&str> = differs.map(|by| by.name()).collect();
    match (differing.len(), first.agreeing.len()) {
        (0, _) => format!("All {all} correlators rank it among the first 3."),
        (_, 0) => format!("None of the {all} correlators ranks it among the first 3."),
        _ => format!(
            "{} of {all} correlators rank it among the first 3; not {}.",
            first.agreeing.len(),
            differing.join(", ")
        ),
    }
}

fn score(ranked: &RankedMetrics, metric: &RankedMetric) -> String {
    match ranked.by {
        _ if metric.score == 0.0 => "0".to_owned(),
        None => format!("{:.1}", 1.0 / metric.score),
        Some(_) if metric.score >= 1e15 => "exact".to_owned(),
        Some(Correlator::Pearson | Correlator::Spearman | Correlator::LinearPattern) => {
            format!("{:.3}", metric.score)
        }
        Some(_) => short(metric.score),
    }
}

/// Describes the rows that were compared and the metrics that were left out.
fn basis(ranked: &RankedMetrics) -> String {
    let rows = format_count(ranked.rows as u64, noun(ranked));
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
