//! The result of a bisection, as text.

use crate::commits::ShownCommit;
use crate::commits::bisect::{BisectState, BisectedCommit, Bisection};
use crate::text::{Cell, Column, Style, Table, format_count, list_names, paragraph, printable};
use sto_core::model::CommitHash;

/// Number of digits of a commit's id to show.
const ID_DIGITS: usize = 12;
/// Maximum number of commits in the table.
const SHOWN: usize = 10;
/// Probability below which a commit without runs is not listed.
const MIN_PROBABILITY: f64 = 0.001;
/// Maximum number of other functions to name.
const MAX_OTHERS: usize = 5;

/// Returns the report as text: the first bad commit, its probability, and the regression.
///
/// `subjects` has the subject lines of the commits that the caller knows.
pub fn text(bisection: &Bisection, subjects: &[ShownCommit], style: Style) -> String {
    let mut text = String::new();
    let sentence = sentence(bisection, subjects);
    let sentence = paragraph(style, "", &sentence, 0);
    text += &match bisection.state {
        BisectState::Found(_) => style.worse(sentence.trim_end()) + "\n",
        _ => style.bold(sentence.trim_end()) + "\n",
    };
    if let Some(finding) = &bisection.finding {
        text += &paragraph(style, "", &finding.reason, 0);
        if !finding.others.is_empty() {
            let others: Vec<_> = finding.others.iter().map(|name| printable(name)).collect();
            let also = format!(
                "The bad commit also made worse: {}",
                list_names(&others, MAX_OTHERS)
            );
            text += &paragraph(style, "", &also, 0);
        }
    }
    text.push('\n');
    text += &table(bisection, subjects).render(style);
    let measured = bisection
        .commits
        .iter()
        .filter(|commit| commit.runs > 0)
        .count();
    text += &format!(
        "\n{} of {} measured, {} in all\n",
        measured,
        format_count(bisection.commits.len() as u64, "commit"),
        format_count(bisection.runs() as u64, "run"),
    );
    text
}

/// Returns the progress in one line: `12 runs, 5 commits left, 63 % sure of 0123456789ab`.
pub fn progress(bisection: &Bisection) -> String {
    let left = bisection
        .commits
        .iter()
        .filter(|commit| commit.first >= 0.01);
    let left = format_count(left.count() as u64, "commit");
    let runs = format_count(bisection.runs() as u64, "run");
    match bisection
        .likeliest()
        .filter(|_| bisection.finding.is_some())
    {
        None => format!("{runs} of the good and the bad commit so far"),
        Some(likeliest) => format!(
            "{runs}; {left} may be the first, {} with {}",
            short(&likeliest.hash),
            certainty(likeliest.first)
        ),
    }
}

fn sentence(bisection: &Bisection, subjects: &[ShownCommit]) -> String {
    let likeliest = bisection.likeliest();
    let named = |commit: &CommitHash| match subject(commit, subjects) {
        "" => short(commit),
        subject => format!("{} ({})", short(commit), printable(subject)),
    };
    match (&bisection.state, likeliest) {
        (BisectState::Found(first), Some(likeliest)) => format!(
            "{} is the first bad commit, with {}",
            named(first),
            certainty(likeliest.first)
        ),
        (BisectState::NothingToFind, _) => {
            "The runs do not show that the bad commit is worse than the good one".to_owned()
        }
        (_, Some(likeliest)) if bisection.finding.is_some() => format!(
            "The first bad commit is uncertain; the likeliest is {}, with {}",
            named(&likeliest.hash),
            certainty(likeliest.first)
        ),
        _ => "The good and the bad commit have too few runs to compare them".to_owned(),
    }
}

fn table(bisection: &Bisection, subjects: &[ShownCommit]) -> Table {
    let mut table = Table::new(vec![
        Column::text("commit"),
        Column::number("runs"),
        Column::number("first"),
        Column::number("worse"),
        Column::text("subject"),
    ]);
    let mut shown: Vec<&BisectedCommit> = bisection.commits.iter().collect();
    shown.retain(|commit| {
        commit.first >= MIN_PROBABILITY || commit.runs > 0 || commit.skipped.is_some()
    });
    // The sort is stable: of equally likely commits, the earlier in the list comes first.
    let mut ranked = shown.clone();
    ranked.sort_by(|a, b| b.first.total_cmp(&a.first));
    ranked.truncate(SHOWN);
    shown.retain(|commit| ranked.iter().any(|ranked| ranked.hash == commit.hash));
    for commit in shown {
        let subject = subject(&commit.hash, subjects);
        let said = match &commit.skipped {
            None => subject.to_owned(),
            Some(why) => format!("not measured: {why}; {subject}"),
        };
        table.add_row(vec![
            Cell::from(short(&commit.hash)),
            Cell::from(commit.runs.to_string()),
            Cell::from(certainty(commit.first)),
            Cell::from(certainty(commit.having)),
            Cell::from(said),
        ]);
    }
    table
}

fn subject<'a>(commit: &CommitHash, subjects: &'a [ShownCommit]) -> &'a str {
    let found = subjects.iter().find(|known| known.hash == *commit);
    found.map_or("", |known| known.subject.as_str())
}

/// Formats a probability: `97 %`. Never rounds to 0 % or 100 %.
fn certainty(p: f64) -> String {
    match p {
        p if (0.995..1.0).contains(&p) => ">99 %".to_owned(),
        p if p > 0.0 && p < 0.005 => "<1 %".to_owned(),
        p => format!("{:.0} %", p * 100.0),
    }
}

fn short(commit: &CommitHash) -> String {
    let mut id = commit.to_string();
    id.truncate(ID_DIGITS);
    id
}
