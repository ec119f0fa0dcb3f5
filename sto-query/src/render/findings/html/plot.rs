//! The runs of a finding, each a dot.
//!
//! Positions across are in percent, so that the plot takes the width that there is, while its text
//! keeps its size.

use super::Section;
use crate::compare::{Finding, Run, RunCost, Side};
use crate::render::findings::notes::threshold;
use crate::render::findings::words::basis;
use crate::render::html::{Axis, Html, coordinate, short_name};
use crate::text::numbers::counted;
use crate::text::numbers::{grouped, percent};

/// Pixels from one run to the next, and the least and most that a side takes.
const PITCH: f64 = 9.0;
const SIDE_HEIGHT: (f64, f64) = (18.0, 144.0);
/// Pixels above a side's runs, for its label, and below the last side, for the axis.
const LABEL_HEIGHT: f64 = 22.0;
const AXIS_HEIGHT: f64 = 24.0;

/// One side of the plot.
struct Band<'a> {
    label: &'static str,
    class: &'static str,
    side: &'a Side,
    costs: &'a [RunCost],
    top: f64,
}

impl Band<'_> {
    fn height(&self) -> f64 {
        let (least, most) = SIDE_HEIGHT;
        (self.costs.len() as f64 * PITCH).clamp(least, most)
    }

    fn bottom(&self) -> f64 {
        self.top + self.height()
    }

    /// The mean that the change is worked out from: of counts by size factor, not of their ratios.
    fn mean(&self) -> f64 {
        let sizes = || self.side.profiles.iter().filter_map(|run| run.size_factor);
        let cost: f64 = self
            .costs
            .iter()
            .zip(sizes())
            .map(|(run, size)| run.cost * size)
            .sum();
        cost / sizes().sum::<f64>()
    }
}

impl Section<'_> {
    /// Draws what the function cost in each run, the mean of each side, and where the interval of
    /// the change has the candidate's.
    pub(super) fn plot(&self, html: &mut Html, finding: &Finding) {
        let baseline = Band {
            label: "BASELINE",
            class: "baseline",
            side: &self.comparison.baseline,
            costs: &finding.runs.baseline,
            top: LABEL_HEIGHT,
        };
        let candidate = Band {
            label: "CANDIDATE",
            class: "candidate",
            side: &self.comparison.candidate,
            costs: &finding.runs.candidate,
            top: baseline.bottom() + LABEL_HEIGHT,
        };
        let means = [baseline.mean(), candidate.mean()];
        let change = basis(finding);
        let interval = change.change_low.filter(|_| means[0] > 0.0).map(|low| {
            let high = change.change_high.map(|high| high * means[0]);
            (low * means[0], high)
        });
        let costs = [&baseline, &candidate]
            .into_iter()
            .flat_map(|band| band.costs);
        let largest = costs.map(|run| run.cost).fold(0.0, f64::max);
        let high = interval.and_then(|(_, high)| high).unwrap_or(0.0);
        // An interval of a few runs may be so wide that the runs could not be told from each other.
        let axis = Axis::over(largest.max(high.min(1.5 * largest)));

        let bottom = candidate.bottom() + 6.0;
        html.raw("<figure class=\"runs\">\n<svg role=\"img\" width=\"100%\" height=\"")
            .text(&coordinate(bottom + AXIS_HEIGHT))
            .raw("\">\n<title>");
        let title = format!(
            "Cost of {} by run: {} of the baseline, {} on average; {} of the candidate, {}",
            short_name(&finding.function),
            counted(baseline.costs.len() as u64, "run"),
            percent(means[0]),
            counted(candidate.costs.len() as u64, "run"),
            percent(means[1]),
        );
        html.text(&title).raw("</title>\n");
        grid(html, &axis, bottom);
        if let Some((low, high)) = interval {
            let low = axis.place(low);
            let high = high.map_or(100.0, |high| axis.place(high).min(100.0));
            html.raw("<rect class=\"interval\" x=\"")
                .text(&coordinate(low))
                .raw("%\" width=\"")
                .text(&coordinate((high - low).max(0.0)))
                .raw("%\" y=\"")
                .text(&coordinate(candidate.top))
                .raw("\" height=\"")
                .text(&coordinate(candidate.height()))
                .raw("\"/>\n");
        }
        // The baseline's mean goes on through the candidate's runs, to be compared with.
        line(html, "before", axis.place(means[0]), (baseline.top, bottom));
        for (band, mean) in [baseline, candidate].iter().zip(means) {
            band.write(html, &axis, mean);
        }
        html.raw("</svg>\n<figcaption>");
        self.caption(html, interval.is_some());
        html.raw("</figcaption>\n</figure>\n");
    }

    fn caption(&self, html: &mut Html, has_interval: bool) {
        html.raw(
            "Cost of a run, normalised, in percent of what a run of the baseline costs on average. \
             Each dot is a run, the oldest on top; the line is their mean",
        );
        if has_interval {
            html.raw("; the shade is where the candidate’s mean lies, with a confidence of ")
                .text(&threshold(1.0 - self.comparison.thresholds.alpha));
        }
        html.raw(".");
    }
}

impl Band<'_> {
    fn write(&self, html: &mut Html, axis: &Axis, mean: f64) {
        html.raw("<text class=\"side-name\" y=\"")
            .text(&coordinate(self.top - 7.0))
            .raw("\">")
            .raw(self.label)
            .raw("<tspan class=\"side-facts\" dx=\"8\">")
            .text(&match self.costs.len() {
                1 => format!("1 run: {}", percent(mean)),
                runs => format!("{runs} runs, mean {}", percent(mean)),
            })
            .raw("</tspan></text>\n");
        line(html, "mean", axis.place(mean), (self.top, self.bottom()));
        let pitch = self.height() / self.costs.len().max(1) as f64;
        let radius = (pitch / 2.0).clamp(1.5, 4.5);
        html.raw("<g class=\"").raw(self.class).raw("\">\n");
        for (ix, (cost, run)) in self.costs.iter().zip(&self.side.profiles).enumerate() {
            html.raw("<circle cx=\"")
                .text(&coordinate(axis.place(cost.cost)))
                .raw("%\" cy=\"")
                .text(&coordinate(self.top + pitch * (ix as f64 + 0.5)))
                .raw("\" r=\"")
                .text(&coordinate(radius))
                .raw("\"><title>")
                .text(&describe(ix + 1, self.costs.len(), cost, run))
                .raw("</title></circle>\n");
        }
        html.raw("</g>\n");
    }
}

fn describe(number: usize, runs: usize, cost: &RunCost, run: &Run) -> String {
    let mut text = format!(
        "run {number} of {runs}: {} ({} of {})",
        percent(cost.cost),
        grouped(cost.samples),
        counted(run.samples, "sample"),
    );
    if let Some(recorded) = &run.recorded {
        text += &format!(", recorded {recorded}");
    }
    if let Some(host) = &run.host {
        text += &format!(" on {host}");
    }
    text + &format!(", profile {:.12}", run.profile)
}

fn line(html: &mut Html, class: &'static str, x: f64, (top, bottom): (f64, f64)) {
    html.raw("<line class=\"").raw(class).raw("\"");
    for (name, x) in [(" x1=\"", x), (" x2=\"", x)] {
        html.raw(name).text(&coordinate(x)).raw("%\"");
    }
    for (name, y) in [(" y1=\"", top), (" y2=\"", bottom)] {
        html.raw(name).text(&coordinate(y)).raw("\"");
    }
    html.raw("/>\n");
}

fn grid(html: &mut Html, axis: &Axis, bottom: f64) {
    let last = axis.ticks().len() - 1;
    for (step, cost) in axis.ticks().enumerate() {
        let x = axis.place(cost);
        line(html, "grid", x, (LABEL_HEIGHT, bottom));
        html.raw("<text class=\"tick\" text-anchor=\"")
            .raw(match step {
                0 => "start",
                _ if step == last => "end",
                _ => "middle",
            })
            .raw("\" x=\"")
            .text(&coordinate(x))
            .raw("%\" y=\"")
            .text(&coordinate(bottom + 15.0))
            .raw("\">")
            .text(&threshold(cost))
            .raw("</text>\n");
    }
}
