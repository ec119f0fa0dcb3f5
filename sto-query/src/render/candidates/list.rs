//! The candidates at a glance, and functions that changed for good before.

use super::{Html, candidate_id, mean, runs_before, signed};
use crate::candidates::Candidates;
use crate::render::html::short_name;
use crate::render::series::rests_on;
use crate::report::ScoreReport;
use crate::series::Status;
use crate::text::numbers::counted;

/// The table of candidates, in their order, with what each column is.
pub(super) fn write(html: &mut Html, found: &Candidates) {
    html.raw("<h3>Candidates</h3>\n");
    if found.candidates.is_empty() {
        html.raw("<p>No function has a score of ")
            .text(&found.options.min_score.to_string())
            .raw(" or more that chance hardly explains.</p>\n");
        return;
    }
    html.raw(
        "<p>A candidate is a function whose samples are farther from its mean in the window than chance \
         explains over as many functions (q of 5&nbsp;% at most): a probable cause of what changed, or something that inherits it, as a sample counts \
         for each function on its stack, once.</p>\n\
         <div class=\"find\" hidden><label>Find <input type=\"search\" spellcheck=\"false\" \
         autocomplete=\"off\" placeholder=\"part of a name\"></label> <span class=\"soft\" \
         role=\"status\"></span> <span class=\"soft keys\">Keys: <kbd>/</kbd> find, <kbd>j</kbd> and \
         <kbd>k</kbd> next and previous candidate, <kbd>o</kbd> unfold it, <kbd>Esc</kbd> show \
         all</span></div>\n\
         <table class=\"scores\">\n<thead><tr><th scope=\"col\">Function</th>\
         <th scope=\"col\" class=\"number\">Expected<small>mean of the ",
    )
    .text(&runs_before(found))
    .raw(
        "; runs without it count as 0</small></th>\
         <th scope=\"col\" class=\"number\">Actual<small>samples in a judged run, on average</small></th>\
         <th scope=\"col\" class=\"number\">Difference<small>actual less expected</small></th>\
         <th scope=\"col\" class=\"number\">Own<small>of that, in its own code</small></th>\
         <th scope=\"col\" class=\"number\">Score<small>difference in standard deviations of the \
         window</small></th>\
         <th scope=\"col\" class=\"number\">q<small>rate of false ones among as far ones</small></th>\
         <th scope=\"col\">Status<small>new: first seen; gone: only before</small></th></tr></thead>\n\
         <tbody>\n",
    );
    for (number, candidate) in (1..).zip(&found.candidates) {
        let score = &candidate.score;
        html.raw("<tr data-candidate=\"")
            .text(&candidate_id(number))
            .raw("\"><td>")
            .text(&number.to_string())
            .raw(". <a href=\"#")
            .text(&candidate_id(number))
            .raw("\"><code>")
            .text(&short_name(&score.function.function))
            .raw("</code></a></td>");
        for (label, text) in [
            ("Expected", mean(score.expected)),
            ("Actual", mean(score.actual)),
            ("Difference", signed(score.difference)),
            ("Own", signed(candidate.self_difference())),
            ("Score", signed(score.score)),
            ("q", rate(score.q)),
        ] {
            cell(html, label, &text);
        }
        html.raw("<td data-label=\"Status\">");
        status(html, score.status);
        html.raw("</td></tr>\n");
    }
    html.raw("</tbody>\n</table>\n");
    if found.omitted > 0 {
        html.raw("<p class=\"soft\">")
            .text(&counted(found.omitted as u64, "more candidate"))
            .raw(" with less extreme scores; <code>--limit</code> shows more.</p>\n");
    }
}

fn rate(q: Option<f64>) -> String {
    q.map_or_else(|| "–".to_owned(), crate::render::scores::probability)
}

/// A number, with the name of its column for where the head is not shown.
pub(super) fn cell(html: &mut Html, label: &'static str, text: &str) {
    html.raw("<td class=\"number\" data-label=\"")
        .raw(label)
        .raw("\">")
        .text(text)
        .raw("</td>");
}

/// Whether it is new or gone; of all others there is nothing to tell.
pub(super) fn status(html: &mut Html, status: Status) {
    html.raw(match status {
        Status::Known => "",
        Status::New => "<span class=\"kind worse\">new</span>",
        Status::Gone => "<span class=\"kind better\">gone</span>",
    });
}

/// What is no candidate, but changed for good in some run: an old step, or a slow slide.
pub(super) fn changed(html: &mut Html, found: &Candidates) {
    if found.changed.is_empty() {
        return;
    }
    html.raw(
        "<h3>Changed for good, in some run</h3>\n<p>These are no candidates: the judged runs are as \
         those right before them. But over all runs, there is one from which on their samples are \
         others. The largest change stands first.</p>\n\
         <table class=\"scores steps\">\n<thead><tr><th scope=\"col\">Function</th>\
         <th scope=\"col\">Since<small>first build and run after the change</small></th>\
         <th scope=\"col\" class=\"number\">Before<small>mean samples, up to it</small></th>\
         <th scope=\"col\" class=\"number\">After<small>mean samples, from it on</small></th>\
         <th scope=\"col\" class=\"number\">p<small>probability of such a change by chance</small></th>\
         </tr></thead>\n<tbody>\n",
    );
    for function in &found.changed {
        rows(html, function);
    }
    html.raw("</tbody>\n</table>\n");
}

fn rows(html: &mut Html, function: &ScoreReport) {
    for change in &function.changes {
        html.raw("<tr><td><code>")
            .text(&short_name(&function.function.function))
            .raw("</code></td><td data-label=\"Since\">")
            .text(&change.run.build);
        if let Some(recorded) = &change.run.recorded {
            html.raw(" <small>").text(recorded).raw("</small>");
        }
        html.raw("</td>");
        cell(html, "Before", &mean(change.before));
        cell(html, "After", &mean(change.after));
        cell(html, "p", &format!("{:.0e}{}", change.p, rests_on(change)));
        html.raw("</tr>\n");
    }
}
