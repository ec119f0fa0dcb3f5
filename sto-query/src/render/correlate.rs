//! Metrics by how well they explain a target, as a table.

use crate::correlate::{Correlator, RankedMetric, RankedMetrics, Sign, WhyLeftOut};
use crate::text::{
    Cell, Column, Style, Table, counted, line, not_shown, printable, probability, some_of, title,
};

/// Less than this by chance is an answer.
const ALPHA: f64 = 0.05;
/// Columns that a note names.
const NAMED: usize = 3;

/// The report as text: what explains the target best, and one metric a line.
pub fn text(ranked: &RankedMetrics, style: Style) -> String {
    let mut text = style.bold(&title(style, &answer(ranked)));
    if ranked.by.is_none()
        && let Some(first) = ranked.metrics.first().filter(|first| first.sign.is_some())
    {
        text += &line(style, &agreement(first), 0);
    }
    let mut table = Table::new(vec![
        Column::number(if ranked.by.is_some() { "score" } else { "rank" }),
        Column::text("sign").dispensable(1),
        Column::number("lag").dispensable(2),
        Column::number("p").dispensable(4),
        Column::number("q"),
        Column::number("first 3").dispensable(3),
        Column::text("metric"),
    ]);
    for metric in &ranked.metrics {
        let or_dash = |text: Option<String>| Cell::from(text.unwrap_or_else(|| "-".to_owned()));
        let sign = metric.sign.map(|sign| match sign {
            Sign::Covaries => "+".to_owned(),
            Sign::Contravaries => "-".to_owned(),
        });
        let agree = format!("{}/{}", metric.agreeing.len(), metric.scores.len());
        table.row(vec![
            Cell::from(score(ranked, metric)),
            or_dash(sign.map(|sign| format!("  {sign}"))),
            or_dash(metric.lag.map(short)),
            or_dash(metric.p.map(probability)),
            or_dash(metric.q.map(probability)),
            Cell::from(agree),
            Cell::from(&metric.name),
        ]);
    }
    if !ranked.metrics.is_empty() {
        text += &format!("\n{}", table.render(style));
        text += &not_shown(ranked.omitted, "metric");
        text.push('\n');
    }
    text + &line(style, &basis(ranked), 0)
}

/// What explains the target.
fn answer(ranked: &RankedMetrics) -> String {
    let target = printable(&ranked.target);
    if ranked.rows < RankedMetrics::LEAST_ROWS {
        let least = RankedMetrics::LEAST_ROWS;
        let rows = counted(ranked.rows as u64, "row");
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
    let when = match lag {
        ..0.0 => format!(", {} after it", short(-lag)),
        0.0 => String::new(),
        _ => format!(", {} before it", short(lag)),
    };
    format!("{name} explains {target} best: it {goes}{when} (q {chance})")
}

/// Which correlators rank the first metric so.
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

/// What was compared.
fn basis(ranked: &RankedMetrics) -> String {
    let rows = counted(ranked.rows as u64, "row");
    let mut text = match &ranked.time {
        Some(time) => format!(
            "{rows}, {} from {} to {}.",
            printable(time),
            ranked.from,
            ranked.to
        ),
        None => format!("{rows}, taken as equally spaced: no column has times, which only grow."),
    };
    for (why, is) in [
        (WhyLeftOut::Text, "no numbers"),
        (WhyLeftOut::Gaps, "too many gaps"),
    ] {
        let out = ranked.left_out.iter().filter(|out| out.why == why);
        let names: Vec<_> = out.map(|out| printable(&out.name)).collect();
        if !names.is_empty() {
            text += &format!(" Left out, as they have {is}: {}.", some_of(&names, NAMED));
        }
    }
    text
}

/// A number with three digits.
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
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}
