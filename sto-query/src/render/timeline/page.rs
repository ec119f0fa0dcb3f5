//! A run over time as a page: heat maps with metrics above them, and a flame graph of a selected
//! time window.

use super::axis::{rate, ticks};
use super::heat::{HeatMap, ROW, legend};
use super::line::Line;
use super::text::seconds;
use crate::correlate::slices_for;
use crate::questions::Timelines;
use crate::render::flame::{FrameLabels, change_legend, draw_frames};
use crate::render::header::full_name;
use crate::render::html::{Page, measured, name, number_head, numbers, script_data, short_name};
use crate::text::names::shorten_name;
use crate::text::{Command, Words, format_count, group_digits, percent, printable};
use crate::timeline::{Grid, RowsBy, StacksOverTime, Timeline};
use crate::tree::Order;
use maud::{Markup, html};
use serde::Serialize;
use serde_json::Number;
use sto_core::units::{Cost, Unit};

/// Maximum number of slices on the page.
const MAX_SLICES: usize = 400;
/// Minimum number of slices, even if the page gets large or slices have few samples.
const MIN_SLICES: usize = 50;
/// Minimum average number of samples in a slice. With fewer, the shades would mostly show noise.
const SAMPLES: usize = 15;
/// Maximum number of costs of stacks in slices, of about 8 bytes each.
const MAX_COSTS: usize = 100_000;
/// Maximum number of stacks.
const MAX_STACKS: usize = 4_000;
/// Width of a row's name in characters.
const NAME_WIDTH: usize = 30;
/// Number of functions in the list of the most expensive functions.
const TOP: usize = 20;
/// Maximum number of ticks on the time axis.
const TICKS: f64 = 6.0;

/// Returns a run over time as a self-contained HTML page that loads nothing and runs only its own
/// scripts. Without scripts, everything but the time window can be read.
///
/// The rows of each timeline can be chosen. Metrics come from the first timeline. `ranking` is the command that ranks
/// them, to which the page adds the metric and the pattern that the reader draws.
pub fn html(found: &Timelines, words: Words, ranking: &Command) -> String {
    let page = TimePage {
        ranking: ranking.line().unwrap_or_default(),
        ..TimePage::new(found, words)
    };
    let title = format!("{} over time", full_name(&found.timelines[0].subject));
    Page {
        title: &title,
        style: include_str!("timeline.css"),
        script: concat!(include_str!("timeline.js"), include_str!("pattern.js")),
    }
    .render(&page.markup(&title))
}

struct TimePage<'a> {
    timelines: &'a [Timeline],
    omitted_metrics: usize,
    words: Words,
    ranking: String,
    /// Slices of the timelines, and slices of the page.
    own: Grid,
    grid: Grid,
    labels: FrameLabels,
    stacks: StacksOverTime,
}

/// The data for the page's script.
#[derive(Serialize)]
struct Data<'a> {
    /// Time range in seconds.
    from: f64,
    to: f64,
    /// Unit of costs for display, and its size: in seconds if the unit is `s`, otherwise in the
    /// unit of the event.
    unit: &'a str,
    scale: f64,
    others: usize,
    phases: &'a [f64],
    labels: Vec<&'a str>,
    /// Short form of each label.
    short: Vec<&'a str>,
    colors: Vec<String>,
    parents: Vec<i64>,
    of: Vec<usize>,
    /// For each slice, alternating stack and cost.
    slices: Vec<Vec<Number>>,
}

impl<'a> TimePage<'a> {
    fn new(found: &'a Timelines, words: Words) -> TimePage<'a> {
        let Timelines { run, timelines, .. } = found;
        let labels = FrameLabels::new(&run.view);
        let samples = timelines[0].subject.samples as usize;
        let slices = (samples / SAMPLES).clamp(MIN_SLICES, MAX_SLICES);
        let mut grid = run.grid().with_max_slices(slices);
        let stacks = loop {
            let of = (&labels.of_frame[..], labels.others);
            let stacks = run.stacks(found.sample_type, of, grid, MAX_STACKS);
            let costs: usize = stacks.slices.iter().map(Vec::len).sum();
            if costs <= MAX_COSTS || grid.count() <= MIN_SLICES {
                break stacks;
            }
            grid = grid.with_max_slices((grid.count() / 2).max(MIN_SLICES));
        };
        TimePage {
            own: timelines[0].grid().unwrap_or(grid),
            timelines,
            omitted_metrics: found.omitted_metrics,
            words,
            ranking: String::new(),
            grid,
            labels,
            stacks,
        }
    }

    fn markup(&self, title: &str) -> Markup {
        let timeline = &self.timelines[0];
        html! {
            header {
                h1 { (title) }
                p.reason { (self.about()) }
            }
            main.over-time {
                (self.choice())
                figure.plot #plot {
                    (self.metrics())
                    @for (ix, timeline) in self.timelines.iter().enumerate() { (self.map(ix, timeline)) }
                    (self.axis())
                    (self.phase_marks())
                }
                p.pointed role="status" {}
                @if !timeline.phases.is_empty() { p.soft { "Dashed lines: " (self.phases_note()) "." } }
                @let highest = HeatMap::new(timeline, self.own, self.grid).highest;
                (legend(&rate(highest, self.unit())))
                (self.pattern())
                section #window {
                    h2 { "What was done in all of the time" }
                    p.hint {
                        "In a browser that runs the script of this page: drag over the time above to select a \
                         window, and see how it differs from the rest. Arrow keys move the edges of the window, \
                         with Shift in larger steps; Escape shows all again."
                    }
                    (self.top())
                    h3 { "Flame graph" }
                    figure.flame #graph {
                        (draw_frames(&self.stacks, &self.labels))
                        figcaption {
                            .differences hidden { (change_legend()) }
                            p {
                                "Each box is a function, and the boxes below it are its callees, as wide as their \
                                 share of the window. "
                                span.differences hidden {
                                    "Red, or orange, has a larger share in the window than in the rest of the \
                                     time, blue a smaller one. "
                                }
                                "A click, or Enter, shows one stack alone; arrow keys walk from box to box, Escape \
                                 shows all again."
                            }
                            p { (self.left_out()) }
                        }
                    }
                }
                (self.data())
            }
        }
    }

    /// Formats `1,325 samples of cpu-clock, 1.33 s, in a run of 1.95 s.`
    fn about(&self) -> String {
        let timeline = &self.timelines[0];
        let subject = &timeline.subject;
        let cost = Cost {
            samples: subject.samples,
            value: subject.value,
        };
        let measured = measured(cost, subject.sample_type.as_ref());
        let part = if subject.windows.is_empty() {
            String::new()
        } else {
            format!("{} to {} of ", seconds(timeline.from), seconds(timeline.to))
        };
        let run = match (&subject.profiles[..], timeline.runs) {
            ([newest], runs @ 2..) => format!(", run {newest}, the newest of {runs}"),
            _ => String::new(),
        };
        format!(
            "{measured}, in {part}a run of {}{run}.",
            seconds(timeline.seconds)
        )
    }

    fn unit(&self) -> Unit {
        let subject = &self.timelines[0].subject;
        let unit = subject.sample_type.as_ref().map(|t| t.unit);
        unit.filter(|_| subject.value > 0).unwrap_or(Unit::Samples)
    }

    /// Returns the buttons that choose the rows.
    fn choice(&self) -> Markup {
        html! {
            fieldset.choice hidden {
                legend { "Rows" }
                @for (ix, timeline) in self.timelines.iter().enumerate() {
                    label {
                        input type="radio" name="rows" value=(ix) checked[ix == 0];
                        " " (rows_of(timeline))
                    }
                }
            }
        }
    }

    fn metrics(&self) -> Markup {
        let Timeline {
            metrics, subject, ..
        } = &self.timelines[0];
        let lines = self.own.with_max_slices(slices_for(subject.samples));
        html! {
            @for metric in metrics {
                @let line = Line::new(metric, self.own, lines);
                @let (least, most) = line.ends.unwrap_or_default();
                .row.metric data-metric=(metric.name) data-least=(least) data-most=(most) {
                    label.name title=(metric.name) {
                        input type="checkbox" aria-label={ "Enlarge " (metric.name) };
                        (printable(&metric.name))
                    }
                    (line.svg(&metric.name))
                    .range { span { (line.most()) } span { (line.least()) } }
                }
            }
            @if self.omitted_metrics > 0 {
                p.soft {
                    (format_count(self.omitted_metrics as u64, "more metric")) " not shown: " (self.words.option)
                    "metric names others."
                }
            }
        }
    }

    /// Returns the tool to draw a pattern over a metric, as input for a ranking of metrics.
    fn pattern(&self) -> Markup {
        let metrics = &self.timelines[0].metrics;
        let seconds = |nanoseconds: f64| nanoseconds / 1e9;
        html! {
            @if !metrics.is_empty() {
                details #pattern hidden data-option=(self.words.option) data-ranking=(self.ranking)
                    data-from=(seconds(self.grid.from()))
                    data-to=(seconds(self.grid.to())) data-slices=(self.grid.count()) {
                    summary { "Draw the pattern to explain" }
                    p.hint {
                        "A click on the line of a metric above sets a point of a pattern, a drag moves it, and a click on \
                         it takes it away; or write times and values below. The command that is shown then says which \
                         metrics follow the pattern."
                    }
                    p.ends {
                        label { "Metric " select { @for metric in metrics { option { (printable(&metric.name)) } } } }
                        label { "Pattern " input type="text" placeholder="TIME:VALUE,TIME:VALUE" spellcheck="false"; }
                    }
                    p { code {} }
                }
            }
        }
    }

    fn map(&self, ix: usize, timeline: &Timeline) -> Markup {
        let map = HeatMap::new(timeline, self.own, self.grid);
        html! {
            .map data-rows=(ix) data-highest=(rate(map.highest, self.unit())) {
                h3 { (rows_of(timeline)) }
                .row {
                    ul.names {
                        @for row in &timeline.rows {
                            @let name = shown_name(&row.name.name);
                            li title={ (name) @if let Some(module) = &row.name.module { " [" (module.trim_matches(['[', ']'])) "]" } } {
                                (shorten_name(&name, NAME_WIDTH))
                            }
                        }
                    }
                    (map.svg(&format!("Heat map of {} over time", rows_of(timeline))))
                    ul.shares { @for row in &timeline.rows { li { (percent(row.cost.share)) } } }
                }
                @if timeline.omitted > 0 {
                    p.soft { (format_count(timeline.omitted as u64, "more row")) " not shown." }
                }
            }
        }
    }

    fn axis(&self) -> Markup {
        html! {
            .row.axis {
                .name {}
                svg width="100%" height=(ROW) aria-hidden="true" {
                    @for (part, time) in ticks(self.grid, 1.0 / TICKS) {
                        @let x = format!("{:.3}%", part * 100.0);
                        line x1=(x) x2=(x) y2="5" {}
                        text x=(x) y="16" dx="2" { (time) }
                    }
                }
                .shares {}
            }
        }
    }

    /// Draws lines where phases begin. The script adds a button for each phase.
    fn phase_marks(&self) -> Markup {
        let length = (self.grid.to() - self.grid.from()) / 1e9;
        html! {
            @if !self.timelines[0].phases.is_empty() {
                svg.phases role="img" aria-label=(self.phases_note()) {
                    @for from in &self.timelines[0].phases {
                        @let x = format!("{:.3}%", from / length * 100.0);
                        line x1=(x) x2=(x) y2="100%" {}
                    }
                }
            }
        }
    }

    /// Formats `3 phases: others begin at 1.20 s, 3.40 s`.
    fn phases_note(&self) -> String {
        let begins = self.timelines[0].phases.iter().map(|from| seconds(*from));
        let begins: Vec<String> = begins.collect();
        let number = begins.len() as u64 + 1;
        format!(
            "{}: others begin at {}",
            format_count(number, "phase"),
            begins.join(", ")
        )
    }

    /// Returns the most expensive functions of the whole time. The script replaces them by the most
    /// expensive functions of the window.
    fn top(&self) -> Markup {
        let by_self = |t: &&Timeline| t.by == RowsBy::Function && t.order == Order::SelfCost;
        let timeline = self.timelines.iter().find(by_self);
        html! {
            table.top {
                thead { tr {
                    th scope="col" { "Function" }
                    (number_head("Self", "in the window"))
                    (number_head("Self", "in the rest"))
                    (number_head("Change", "of self"))
                    (number_head("Total", "in the window"))
                    (number_head("Total", "in the rest"))
                } }
                tbody {
                    @for row in timeline.iter().flat_map(|timeline| &timeline.rows).take(TOP) {
                        tr {
                            th scope="row" { (name(&shown_name(&row.name.name))) }
                            (numbers([&percent(row.cost.share), "", "", "", ""]))
                        }
                    }
                }
            }
        }
    }

    fn left_out(&self) -> String {
        let slices = format!(
            "Time is cut into {} slices of {}.",
            group_digits(self.grid.count() as u64),
            seconds(self.grid.step())
        );
        match self.stacks.omitted {
            0 => slices,
            omitted => format!(
                "{slices} {} that cost less than {} of any fiftieth of the time are added up as (others).",
                format_count(omitted as u64, "stack"),
                percent(self.stacks.least_share),
            ),
        }
    }

    /// Returns the data for the page's script.
    fn data(&self) -> Markup {
        let samples: f64 = self.timelines[0].subject.samples as f64;
        let costs = || self.stacks.slices.iter().flatten().map(|(_, cost)| *cost);
        // Most samples cost the same: in units of the mean cost, numbers are short.
        let scale = (costs().sum::<f64>() / samples).max(f64::MIN_POSITIVE);
        let rounded = |cost: f64| {
            let thousandths = (cost / scale * 1000.0).round();
            match thousandths as u64 {
                whole if whole.is_multiple_of(1000) => Number::from(whole / 1000),
                _ => Number::from_f64(thousandths / 1000.0).unwrap_or_else(|| 0.into()),
            }
        };
        let slices = self.stacks.slices.iter().map(|costs| {
            let costs = costs.iter();
            let costs = costs.flat_map(|&(stack, cost)| [stack.into(), rounded(cost)]);
            costs.collect()
        });
        let unit = self.unit();
        // In a large program, most functions occur only in stacks that were left out.
        let mut used: Vec<u32> = self.stacks.labels.clone();
        used.push(self.labels.others);
        used.sort_unstable();
        used.dedup();
        let index = |label: &u32| used.partition_point(|used| used < label);
        let labels = || used.iter().map(|&label| &self.labels.all[label as usize]);
        let data = Data {
            from: self.grid.from() / 1e9,
            to: self.grid.to() / 1e9,
            unit: match unit {
                Unit::Nanoseconds => "s",
                unit => unit.name(),
            },
            scale: match unit {
                Unit::Nanoseconds => scale / 1e9,
                _ => scale,
            },
            others: index(&self.labels.others),
            phases: &self.timelines[0].phases,
            labels: labels().map(|label| label.name.as_str()).collect(),
            short: labels().map(|label| label.short.as_str()).collect(),
            colors: labels().map(|label| hex(label.color)).collect(),
            parents: self
                .stacks
                .parents
                .iter()
                .map(|p| p.map_or(-1, i64::from))
                .collect(),
            of: self.stacks.labels.iter().map(index).collect(),
            slices: slices.collect(),
        };
        script_data("data", &data)
    }
}

fn hex([r, g, b]: [u8; 3]) -> String {
    format!("#{r:02x}{g:02x}{b:02x}")
}

fn rows_of(timeline: &Timeline) -> String {
    let kind = match timeline.order {
        Order::SelfCost => "self",
        Order::Total => "total",
    };
    match &timeline.by {
        RowsBy::Function => format!("functions, {kind}"),
        RowsBy::Module => format!("modules, {kind}"),
        RowsBy::Thread => "threads".to_owned(),
        RowsBy::Label(key) => format!("label {key}"),
    }
}

fn shown_name(symbol: &str) -> String {
    match symbol {
        "" => "[unknown]".to_owned(),
        symbol => short_name(symbol),
    }
}
