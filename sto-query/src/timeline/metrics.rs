//! Metrics of a run over time, by name or all of them.

use super::formula::Formula;
use super::grid::{rates, resample_metric};
use super::rows::{NONE, RowAssignment};
use super::{Grid, RowsBy, RunOverTime, TimelineError};
use crate::functions::{FunctionChoice, KeyOptions, SymbolAndKey, key_of};
use crate::select::full_name;
use crate::text::find_closest;
use crate::tree::{Order, ThreadNames, sum_costs, thread_name};
use hashbrown::HashMap;
use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::BTreeSet;
use sto_core::model::MetricKind;
use sto_core::tree::{SampleContext, distinct_label_sets};
use sto_core::units::{SampleType, Unit};

/// Maximum number of costs by function and slice held at once: 32 MB.
const MOST_CELLS: usize = 1 << 22;

/// A metric over time.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct NamedSeries {
    /// Name of the metric.
    pub name: String,
    /// One value per slice of a grid; NaN if missing.
    pub values: Vec<f64>,
}

impl RunOverTime {
    /// Returns metrics on a grid, each given by its name or by a formula, which may use the metrics before it.
    /// Counts are per second.
    ///
    /// A recorded metric has its own name. Costs are `self:FUNCTION`, `total:FUNCTION`, `thread:NAME`, `module:NAME`,
    /// `label:KEY=VALUE` (these in the given sample type), and `event:EVENT` for all of an event.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no such metric, or if a formula is invalid.
    pub fn metrics(
        &self,
        sample_type: usize,
        texts: &[String],
        grid: Grid,
    ) -> Result<Vec<NamedSeries>, TimelineError> {
        let mut found: Vec<NamedSeries> = Vec::with_capacity(texts.len());
        for text in texts {
            let is_name = self.traced.iter().any(|series| series.name() == text);
            let formula = Formula::parse(text).filter(|_| !is_name).transpose()?;
            let series = match formula {
                None => NamedSeries {
                    name: text.clone(),
                    values: self.metric(sample_type, text, grid)?,
                },
                Some(formula) => {
                    let mut of = |name: &str| match found.iter().find(|made| made.name == name) {
                        Some(made) => Ok(made.values.clone()),
                        None => self.metric(sample_type, name, grid),
                    };
                    NamedSeries {
                        values: formula.evaluate(grid.count(), &mut of)?,
                        name: formula.name,
                    }
                }
            };
            found.push(series);
        }
        Ok(found)
    }

    /// Returns every metric of the run on a grid: recorded metrics, events, threads, modules and labels, and self and
    /// total cost of at most `most` functions, the most expensive.
    ///
    /// Functions with the same [key](crate::functions::key_symbol) are combined, and so are threads with the same
    /// name. Values of labels are limited to the `most` most expensive, too.
    ///
    /// The second result is the number of functions left out.
    pub fn all_metrics(
        &self,
        sample_type: usize,
        grid: Grid,
        most: usize,
    ) -> (Vec<NamedSeries>, usize) {
        let mut all = Vec::new();
        let mut omitted = 0;
        for series in &self.traced {
            all.push(NamedSeries {
                name: series.name().to_owned(),
                values: resample_metric(series, self.slices().first(), grid),
            });
        }
        for (ix, event) in self.view.sample_types.iter().enumerate() {
            all.push(NamedSeries {
                name: format!("event:{}", event.event),
                values: self.event(ix, grid),
            });
        }
        let (keys, numbers) = self.keys();
        let self_costs = self.view.self_costs(sample_type);
        let costs = sum_costs(&self.view, &self_costs, &numbers);
        for order in [Order::SelfCost, Order::Total] {
            let cost = |number: &u32| {
                let (own, total) = costs[*number as usize];
                match order {
                    Order::SelfCost => own,
                    Order::Total => total,
                }
            };
            let mut chosen: Vec<u32> = (0..costs.len() as u32).collect();
            chosen.retain(|number| !cost(number).is_zero());
            chosen.sort_by_key(|number| {
                let cost = cost(number);
                (Reverse((cost.value, cost.samples)), &keys[*number as usize])
            });
            // Set by the totals, which come last, because every function has one.
            omitted = chosen.len().saturating_sub(most);
            chosen.truncate(most);
            let own = self.grid();
            for chosen in chosen.chunks((MOST_CELLS / own.count()).max(1)) {
                let mut rows = vec![NONE; costs.len()];
                for (row, &number) in (0..).zip(chosen) {
                    rows[number as usize] = row;
                }
                let row_of = numbers.iter().map(|&number| rows[number as usize]);
                let row_of = RowAssignment::Frame(row_of.collect());
                let cells = self.cells(sample_type, &row_of, order, chosen.len());
                for (number, cells) in chosen.iter().zip(cells.chunks(own.count())) {
                    all.push(NamedSeries {
                        name: format!("{}:{}", order.name(), keys[*number as usize]),
                        values: rates(cells, own, grid),
                    });
                }
            }
        }
        let mut kinds = vec![("module:", RowsBy::Module)];
        let labels = self.label_keys().map(|key| RowsBy::Label(key.to_owned()));
        kinds.extend(labels.map(|by| ("label:", by)));
        for (prefix, by) in kinds {
            // These labels exist, and modules always do.
            let rows = self.rows(sample_type, &by, Order::SelfCost, Some(most));
            let Ok(rows) = rows else { continue };
            for (row, name) in rows.names.iter().enumerate() {
                if !name.name.is_empty() {
                    all.push(NamedSeries {
                        name: format!("{prefix}{}", name.name),
                        values: rates(rows.row(row), self.grid(), grid),
                    });
                }
            }
        }
        let threads: BTreeSet<String> = self.threads_by_name().collect();
        if threads.len() > 1 {
            for name in threads.into_iter().take(most) {
                let values = self.contexts_where(
                    sample_type,
                    grid,
                    self.threads_by_name().map(|n| n == name),
                );
                all.push(NamedSeries {
                    name: format!("thread:{name}"),
                    values,
                });
            }
        }
        (all, omitted)
    }

    /// Returns the unit of counts: for costs the event's unit per second, such as `ns/s`; for other counts `/s`.
    pub(crate) fn unit_of(&self, sample_type: usize, name: &str) -> Option<String> {
        if let Some(series) = self.traced.iter().find(|series| series.name() == name) {
            return (series.kind() == MetricKind::Count).then(|| "/s".to_owned());
        }
        let types = &self.view.sample_types;
        let (kind, of) = name.split_once(':')?;
        let ix = match kind {
            "event" => SampleType::index_of_event(of, types)?,
            _ => sample_type,
        };
        let unit = if self.counts_samples(ix) {
            Unit::Samples
        } else {
            types.get(ix)?.unit
        };
        Some(format!("{unit}/s"))
    }

    /// Names of the recorded metrics.
    pub fn traced_names(&self) -> impl Iterator<Item = &str> {
        self.traced.iter().map(|series| series.name())
    }

    /// Keys of the samples' labels, sorted.
    pub fn label_keys(&self) -> impl Iterator<Item = &str> {
        let labels = distinct_label_sets(self.contexts()).flatten();
        let keys: BTreeSet<&str> = labels.map(|label| &*label.key).collect();
        keys.into_iter()
    }

    /// Returns the names of metrics, without functions and labels.
    pub fn metric_names(&self) -> Vec<String> {
        let traced = self.traced.iter().map(|series| series.name().to_owned());
        let events = self.view.sample_types.iter();
        let events = events.map(|event| format!("event:{}", event.event));
        let (modules, _) = self.module_numbers();
        let modules = modules.into_iter().map(|m| self.view.frames.string(m));
        let modules = modules.filter(|name| !name.is_empty());
        let threads: BTreeSet<String> = self.threads_by_name().collect();
        let threads = threads.into_iter().map(|name| format!("thread:{name}"));
        let modules = modules.map(|name| format!("module:{name}"));
        traced.chain(events).chain(modules).chain(threads).collect()
    }

    fn metric(
        &self,
        sample_type: usize,
        name: &str,
        grid: Grid,
    ) -> Result<Vec<f64>, TimelineError> {
        if let Some(series) = self.traced.iter().find(|series| series.name() == name) {
            return Ok(resample_metric(series, self.slices().first(), grid));
        }
        let known = match name.split_once(':') {
            Some(("self", function)) => {
                return self.function(sample_type, function, Order::SelfCost, grid);
            }
            Some(("total", function)) => {
                return self.function(sample_type, function, Order::Total, grid);
            }
            Some(("event", event)) => {
                let types = &self.view.sample_types;
                let ix = SampleType::index_of_event(event, types);
                ix.map(|ix| self.event(ix, grid))
            }
            Some(("module", module)) => {
                let (modules, numbers) = self.module_numbers();
                let strings = &self.view.frames;
                let number = modules.iter().position(|ix| strings.string(*ix) == module);
                number.map(|number| {
                    let is_it = |&of: &u32| of as usize == number;
                    self.frames_where(
                        sample_type,
                        grid,
                        Order::SelfCost,
                        numbers.iter().map(is_it),
                    )
                })
            }
            Some(("thread", thread)) => {
                let with_id = |context: &SampleContext| {
                    thread_name(&context.thread, ThreadNames::NameAndId) == thread
                };
                let by_name = self.threads_by_name().map(|name| name == thread);
                let is_it = by_name.zip(self.contexts());
                let is_it: Vec<bool> = is_it.map(|(is_it, c)| is_it || with_id(c)).collect();
                let any = is_it.contains(&true);
                any.then(|| self.contexts_where(sample_type, grid, is_it.into_iter()))
            }
            Some(("label", label)) => {
                let (key, value) = label.split_once('=').unwrap_or((label, ""));
                let rows = self.rows(
                    sample_type,
                    &RowsBy::Label(key.to_owned()),
                    Order::SelfCost,
                    None,
                )?;
                let is_it = |name: &super::RowName| name.name == format!("{key}={value}");
                let row = rows.names.iter().position(is_it);
                if row.is_none() {
                    let names = rows.names.into_iter();
                    let known = names.map(|name| format!("label:{}", name.name)).collect();
                    return Err(no_metric(name, known));
                }
                row.map(|row| rates(rows.row(row), self.grid(), grid))
            }
            _ => None,
        };
        known.ok_or_else(|| no_metric(name, self.metric_names()))
    }

    /// Returns all of an event.
    fn event(&self, sample_type: usize, grid: Grid) -> Vec<f64> {
        self.contexts_where(sample_type, grid, self.contexts().iter().map(|_| true))
    }

    fn function(
        &self,
        sample_type: usize,
        text: &str,
        order: Order,
        grid: Grid,
    ) -> Result<Vec<f64>, TimelineError> {
        let frames = self.view.frames.iter();
        let functions: Vec<SymbolAndKey> = frames
            .map(|(_, frame)| SymbolAndKey::from_frame(frame))
            .collect();
        let choice = FunctionChoice::parse(text)?;
        let chosen = choice.find_matches(&functions);
        if chosen.is_empty() {
            let among = full_name(&self.view.selection.build);
            return Err(choice.not_found(among, &functions).into());
        }
        choice.names_of(&chosen, &functions)?;
        let mut is_chosen = vec![false; functions.len()];
        chosen.into_iter().for_each(|ix| is_chosen[ix] = true);
        Ok(self.frames_where(sample_type, grid, order, is_chosen.into_iter()))
    }

    /// Returns the combined cost of selected frames of the view.
    fn frames_where(
        &self,
        sample_type: usize,
        grid: Grid,
        order: Order,
        is_counted: impl Iterator<Item = bool>,
    ) -> Vec<f64> {
        let row_of = RowAssignment::Frame(is_counted.map(row).collect());
        let cells = self.cells(sample_type, &row_of, order, 1);
        rates(&cells, self.grid(), grid)
    }

    /// Returns the combined cost of selected contexts.
    fn contexts_where(
        &self,
        sample_type: usize,
        grid: Grid,
        is_counted: impl Iterator<Item = bool>,
    ) -> Vec<f64> {
        let row_of = RowAssignment::Context(is_counted.map(row).collect());
        let cells = self.cells(sample_type, &row_of, Order::SelfCost, 1);
        rates(&cells, self.grid(), grid)
    }

    /// Thread name of each context.
    fn threads_by_name(&self) -> impl Iterator<Item = String> + '_ {
        let threads = self.contexts().iter().map(|context| &context.thread);
        threads.map(|thread| thread_name(thread, ThreadNames::Name))
    }

    /// Returns the keys of functions, and for each frame the index of its key.
    fn keys(&self) -> (Vec<Cow<'_, str>>, Vec<u32>) {
        let mut keys: Vec<Cow<str>> = Vec::new();
        let mut known: HashMap<Cow<str>, u32> = HashMap::new();
        let frames = self.view.frames.iter();
        let numbers = frames.map(|(_, frame)| {
            let key = key_of(frame, KeyOptions::default());
            *known.entry(key).or_insert_with_key(|key| {
                keys.push(key.clone());
                keys.len() as u32 - 1
            })
        });
        let numbers = numbers.collect();
        (keys, numbers)
    }
}

/// Returns the only row, or none.
fn row(is_counted: bool) -> u32 {
    if is_counted { 0 } else { NONE }
}

fn no_metric(name: &str, known: Vec<String>) -> TimelineError {
    TimelineError::NoMetric {
        name: name.to_owned(),
        closest: find_closest(name, known.iter().map(String::as_str)).map(str::to_owned),
        known,
    }
}
