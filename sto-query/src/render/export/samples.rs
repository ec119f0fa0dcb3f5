//! The samples of pprof and OTLP, and their values.

use crate::error::ExportError;
use crate::tree::{ContextCosts, View};
use sto_core::tree::{ContextIx, NodeIx, SampleContext};
use sto_core::units::{Cost, SampleType, Unit};

/// A sample of the file.
pub(super) struct Row<'c> {
    pub(super) node: NodeIx,
    pub(super) context: Option<(ContextIx, &'c SampleContext)>,
}

/// The samples, with their costs: `[sample type][row]`.
pub(super) struct Samples<'c> {
    pub(super) rows: Vec<Row<'c>>,
    pub(super) costs: Vec<Vec<Cost>>,
}

impl<'c> Samples<'c> {
    /// Collects one sample per node with a cost, or per node and context if contexts are known.
    pub(super) fn new(view: &View, contexts: Option<&'c ContextCosts>) -> Self {
        match contexts {
            Some(contexts) => Samples::by_context(view, contexts),
            None => Samples::by_node(view),
        }
    }

    fn by_node(view: &View) -> Self {
        let types = 0..view.sample_types.len();
        let mut costs: Vec<Vec<Cost>> = types.map(|ix| view.self_costs(ix)).collect();
        let has_cost = |node: &NodeIx| costs.iter().any(|costs| !costs[node.get()].is_zero());
        let nodes: Vec<NodeIx> = view.tree.nodes().filter(has_cost).collect();
        for costs in &mut costs {
            *costs = nodes.iter().map(|node| costs[node.get()]).collect();
        }
        let rows = nodes.into_iter().map(|node| Row {
            node,
            context: None,
        });
        Samples {
            rows: rows.collect(),
            costs,
        }
    }

    fn by_context(view: &View, contexts: &'c ContextCosts) -> Self {
        let mut costs = vec![Vec::new(); view.sample_types.len()];
        for own in contexts.costs.values() {
            for (column, &cost) in costs.iter_mut().zip(own) {
                column.push(cost);
            }
        }
        let rows = contexts.costs.keys().map(|&(context, node)| Row {
            node,
            context: Some((context, &contexts.contexts[context.0 as usize])),
        });
        Samples {
            rows: rows.collect(),
            costs,
        }
    }
}

/// A sample type of the file.
pub(super) struct Column<'v> {
    event: &'v str,
    pub(super) unit: &'static str,
    sample_type: usize,
    /// Whether it is the number of samples of an event whose values are in another column.
    pub(super) counts_samples: bool,
}

/// Both formats have signed numbers.
pub(super) const LIMIT: u64 = i64::MAX as u64;

impl Column<'_> {
    /// Returns the event, or `EVENT_samples` for its number of samples.
    pub(super) fn name(&self) -> String {
        if self.counts_samples {
            format!("{}_samples", self.event)
        } else {
            self.event.to_owned()
        }
    }

    pub(super) fn value(
        &self,
        costs: &[Vec<Cost>],
        row: usize,
        format: &'static str,
    ) -> Result<u64, ExportError> {
        let cost = costs[self.sample_type][row];
        let value = if self.counts_samples {
            cost.samples
        } else {
            cost.value
        };
        match value {
            ..=LIMIT => Ok(value),
            _ => Err(ExportError::TooLarge {
                value,
                format,
                limit: LIMIT,
            }),
        }
    }
}

/// Returns the columns of each event: the number of samples, unless this is the value, then the
/// value.
///
/// `stand_alone` means that the reader does not pair a number of samples with the column that
/// follows it, so that units need no renaming.
pub(super) fn columns<'v>(
    view: &'v View,
    costs: &[Vec<Cost>],
    stand_alone: bool,
) -> Vec<Column<'v>> {
    let mut columns = Vec::new();
    for (sample_type, known) in view.sample_types.iter().enumerate() {
        let is_number_of_samples = known.unit == Unit::Samples
            && costs[sample_type]
                .iter()
                .all(|cost| cost.samples == cost.value);
        if !is_number_of_samples {
            columns.push(Column {
                event: &known.event,
                unit: "count",
                sample_type,
                counts_samples: true,
            });
        }
        columns.push(Column {
            event: &known.event,
            unit: unit(known, stand_alone && is_number_of_samples),
            sample_type,
            counts_samples: false,
        });
    }
    columns
}

/// Returns the unit as pprof's tools name it. Another name is used if sto's reader would otherwise
/// take the column for the number of samples of the next one.
fn unit(sample_type: &SampleType, is_alone: bool) -> &'static str {
    let event = sample_type.event.as_str();
    match sample_type.unit {
        Unit::Nanoseconds => "nanoseconds",
        Unit::Bytes => "bytes",
        Unit::Samples if is_alone && event == "samples" => "count",
        Unit::Samples => "samples",
        Unit::Events if event.ends_with("sample") || event.ends_with("samples") => "events",
        _ => "count",
    }
}
