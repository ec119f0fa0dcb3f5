//! The alignment of two runs in time, as a table with a picture of the path.

use crate::correlate::{Alignment, Doubt, Fit};
use crate::render::header::full_name;
use crate::text::{
    Cell, Column, Style, Table, format_count, group_digits, line, percent, printable, seconds,
    title,
};
use sto_core::units::Nanoseconds;

/// Number of rows of the table.
const ROWS: usize = 20;
/// Largest and smallest width of the picture, in columns.
const COLUMNS: (usize, usize) = (40, 12);
/// Maximum number of nearly constant parts to list.
const CONSTANT: usize = 2;
/// Width of the other columns of the table.
const BEFORE: usize = 28;

/// Returns the report as text: the quality of the alignment, where it is doubtful, and the path at
/// equally spaced times of the first run.
pub fn text(alignment: &Alignment, style: Style) -> String {
    let [first, second] = &alignment.runs;
    let mut text = style.bold(&title(style, &answer(alignment)));
    text += &doubts(&alignment.fit, style);
    let mut table = Table::new(vec![
        Column::number("first"),
        Column::number("second"),
        Column::number("later"),
        Column::text("second run"),
    ]);
    let columns = style.width.map_or(COLUMNS.0, |width| {
        width.saturating_sub(BEFORE).clamp(COLUMNS.1, COLUMNS.0)
    });
    for row in 0..ROWS {
        let part = row as f64 / (ROWS - 1) as f64;
        let at = part * first.seconds;
        let found = second_at(&alignment.path, at);
        let place = |part: f64| ((part * columns as f64) as usize).min(columns - 1);
        let mut cells = vec![' '; columns];
        cells[place(part)] = '·';
        cells[place(found / second.seconds)] = '█';
        table.add_row(vec![
            Cell::from(time(at)),
            Cell::from(time(found)),
            Cell::from(time(found - at)),
            Cell::from(cells.iter().collect::<String>().trim_end()),
        ]);
    }
    text += &format!("\n{}\n", table.render(style));
    let slices = |ix: usize| group_digits(alignment.runs[ix].slices as u64);
    let basis = format!(
        "The runs have {} and {} slices. A dot is where the second run would be at the pace of the first.",
        slices(0),
        slices(1)
    );
    text + &line(style, &basis, 0)
}

/// Returns the names of both runs.
pub(super) fn names(alignment: &Alignment) -> [String; 2] {
    let [first, second] = &alignment.runs;
    let names = [full_name(&first.subject), full_name(&second.subject)];
    if names[0] == names[1] {
        ["the first run".to_owned(), "the second run".to_owned()]
    } else {
        names
    }
}

/// Returns a sentence about the quality of the alignment.
pub(super) fn answer(alignment: &Alignment) -> String {
    let [to, which] = names(alignment);
    format!(
        "{which} is aligned with {to} by {}, with a mean difference of {} of its range",
        printable(&alignment.fit.metric),
        percent(alignment.fit.mean_error)
    )
}

/// Returns a paragraph for each part in which the alignment is unreliable.
pub(in crate::render) fn doubts(fit: &Fit, style: Style) -> String {
    let sentences = sentences(fit).into_iter();
    sentences
        .map(|sentence| line(style, &sentence, 0))
        .collect()
}

/// Returns a sentence for each part in which the alignment is unreliable.
pub(in crate::render) fn sentences(fit: &Fit) -> Vec<String> {
    let metric = printable(&fit.metric);
    let span = |[from, to]: [f64; 2]| format!("{} to {}", time(from), time(to));
    let sentence = |doubt: &Doubt| match doubt {
        Doubt::NearlyConstant { first, second } => format!(
            "{metric} is nearly constant from {} of the first run and from {} of the second: the alignment there is arbitrary.",
            span(*first),
            span(*second)
        ),
        Doubt::Repetitive {
            run,
            period,
            shift,
            first,
            second,
        } => format!(
            "{metric} repeats itself every {} in the {} run, and from {} of the first and from {} of the second the \
             path is up to {} off: it may confuse repetitions.",
            time(*period),
            ["first", "second"][usize::from(*run > 0)],
            span(*first),
            span(*second),
            time(*shift)
        ),
    };
    let (repeats, constant): (Vec<&Doubt>, Vec<&Doubt>) = fit
        .warnings
        .iter()
        .partition(|doubt| matches!(doubt, Doubt::Repetitive { .. }));
    let shown = repeats
        .into_iter()
        .chain(constant.iter().copied().take(CONSTANT));
    let mut sentences: Vec<String> = shown.map(sentence).collect();
    if constant.len() > CONSTANT {
        let more = format_count((constant.len() - CONSTANT) as u64, "more part");
        sentences.push(format!("The same applies to {more}; JSON lists all."));
    }
    sentences
}

/// Returns the time of the second run that is aligned with `at`: the mean over all pairs of the
/// nearest time of the first run.
fn second_at(path: &[[f64; 2]], at: f64) -> f64 {
    let nearest = path
        .iter()
        .map(|pair| pair[0])
        .min_by(|a, b| (a - at).abs().total_cmp(&(b - at).abs()));
    let with = path.iter().filter(|pair| Some(pair[0]) == nearest);
    let (sum, count) = with.fold((0.0, 0.0), |(sum, count), pair| {
        (sum + pair[1], count + 1.0)
    });
    sum / count
}

/// Formats a signed time: `1.250 s`, `-20 ms`.
pub(in crate::render) fn time(seconds_since: f64) -> String {
    let size = Nanoseconds((seconds_since.abs() * 1e9).round() as u64);
    let sign = if seconds_since < 0.0 && size.0 > 0 {
        "-"
    } else {
        ""
    };
    format!("{sign}{}", seconds(size))
}
