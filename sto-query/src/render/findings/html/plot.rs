//! The runs of a finding as dots.

use super::Section;
use crate::compare::{Finding, Run, RunCost, Side};
use crate::render::findings::notes::threshold;
use crate::render::findings::words::basis;
use crate::render::plot::{Axis, Percent, Px, vertical};
use crate::text::{format_count, group_digits, percent};
use maud::{Markup, html};

/// Distance of runs in pixels, and minimum and maximum height of a side.
const PITCH: f64 = 9.0;
const SIDE_HEIGHT: (f64, f64) = (18.0, 144.0);
/// Height in pixels of a side's label, and of the axis below the last side.
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

    /// Returns the mean on which the change is based: the mean of counts weighted by size factor,
    /// not of their ratios.
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
    /// Draws the function's cost in each run, the mean of each side, and the confidence interval of
    /// the candidate's mean.
    pub(super) fn plot(&self, finding: &Finding) -> Markup {
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
        // The interval of a few runs can be so wide that the runs could not be told apart.
        let axis = Axis::up_to(largest.max(high.min(1.5 * largest)));
        let x = |cost| 100.0 * axis.part(cost);
        let bottom = candidate.bottom() + 6.0;
        html! {
            figure.runs {
                svg role="img" width="100%" height=(Px(bottom + AXIS_HEIGHT)) {
                    title {
                        "Cost of " (finding.short_name) " by run: "
                        (format_count(baseline.costs.len() as u64, "run")) " of the baseline, "
                        (percent(means[0])) " on average; "
                        (format_count(candidate.costs.len() as u64, "run")) " of the candidate, "
                        (percent(means[1]))
                    }
                    (grid(&axis, bottom))
                    @if let Some((low, high)) = interval {
                        @let high = high.map_or(100.0, |high| x(high).min(100.0));
                        rect.interval x=(Percent(x(low))) width=(Percent((high - x(low)).max(0.0)))
                            y=(Px(candidate.top)) height=(Px(candidate.height())) {}
                    }
                    // The baseline's mean extends through the candidate's runs, for comparison.
                    (vertical("before", x(means[0]), (baseline.top, bottom), None))
                    (baseline.runs(&axis, means[0]))
                    (candidate.runs(&axis, means[1]))
                }
                figcaption {
                    "Cost of a run, normalised, in percent of what a run of the baseline costs on \
                     average. Each dot is a run, the oldest on top; the line is their mean"
                    @if interval.is_some() {
                        "; the shade is the interval of the candidate’s mean, with a confidence of "
                        (threshold(1.0 - self.comparison.thresholds.alpha))
                    }
                    "."
                }
            }
        }
    }
}

impl Band<'_> {
    fn runs(&self, axis: &Axis, mean: f64) -> Markup {
        let x = |cost| 100.0 * axis.part(cost);
        let pitch = self.height() / self.costs.len().max(1) as f64;
        html! {
            text.side-name y=(Px(self.top - 7.0)) {
                (self.label)
                tspan.side-facts dx="8" {
                    @match self.costs.len() {
                        1 => { "1 run: " (percent(mean)) },
                        runs => { (runs) " runs, mean " (percent(mean)) },
                    }
                }
            }
            (vertical("mean", x(mean), (self.top, self.bottom()), None))
            g class=(self.class) {
                @for (ix, (cost, run)) in self.costs.iter().zip(&self.side.profiles).enumerate() {
                    circle cx=(Percent(x(cost.cost))) cy=(Px(self.top + pitch * (ix as f64 + 0.5)))
                        r=(Px((pitch / 2.0).clamp(1.5, 4.5))) {
                        title { (describe(ix + 1, self.costs.len(), cost, run)) }
                    }
                }
            }
        }
    }
}

fn describe(number: usize, runs: usize, cost: &RunCost, run: &Run) -> String {
    let mut text = format!(
        "run {number} of {runs}: {} ({} of {})",
        percent(cost.cost),
        group_digits(cost.samples),
        format_count(run.samples, "sample"),
    );
    if let Some(recorded) = &run.recorded {
        text += &format!(", recorded {recorded}");
    }
    if let Some(host) = &run.host {
        text += &format!(" on {host}");
    }
    text + &format!(", profile {:.12}", run.profile)
}

fn grid(axis: &Axis, bottom: f64) -> Markup {
    let last = axis.ticks().len() - 1;
    html! {
        @for (step, cost) in axis.ticks().enumerate() {
            @let x = 100.0 * axis.part(cost);
            @let anchor = match step {
                0 => "start",
                _ if step == last => "end",
                _ => "middle",
            };
            (vertical("grid", x, (LABEL_HEIGHT, bottom), None))
            text.tick text-anchor=(anchor) x=(Percent(x)) y=(Px(bottom + 15.0)) { (threshold(cost)) }
        }
    }
}
