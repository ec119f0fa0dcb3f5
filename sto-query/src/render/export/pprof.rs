//! pprof's format.

use super::dictionary::Dictionary;
use super::samples::{Column, Row, Samples, columns};
use super::{check_any, check_frames, recorded};
use crate::error::ExportError;
use crate::tree::{ContextCosts, View};
use flate2::Compression;
use flate2::write::GzEncoder;
use std::collections::BTreeSet;
use std::io::{BufWriter, Write};
use sto_core::formats::MessageWriter;
use sto_core::model::LabelValue;
use sto_core::tree::SampleContext;

/// Writes the stacks in every sample type in pprof's format, Protocol Buffers compressed by gzip.
///
/// Each sample type is two: the number of samples (`samples`, or `EVENT_samples` if there are
/// several), and the value in nanoseconds, bytes or as a count. If the value is the number of
/// samples, it is one. The first sample type of the view is the default. A module is a mapping,
/// with its build id if the profiles have it; the executable comes first. Inlined frames are lines
/// of their function's location. If a frame's names don't imply its kind, a suffix of the
/// function's system name does, see
/// [`PPROF_SYSTEM_NAME_SUFFIXES`](sto_core::formats::PPROF_SYSTEM_NAME_SUFFIXES). The time is that
/// of the latest profile, durations are added up, and the recorded commands are comments.
///
/// All stacks and costs of a view are kept, but not the separate runs. Addresses are left out.
///
/// Given the costs in each context, threads and labels of samples are kept as well: `thread`,
/// `thread_id` and `pid` are labels. pprof cannot represent labels whose value is an empty text or
/// zero without a unit, and mistakes labels with its own keys for threads, processes and times.
///
/// # Errors
///
/// Returns an error if there are no samples, the stacks are too deep to be written out, a value is
/// larger than 2^63 - 1, or `writer` fails.
pub fn pprof(
    view: &View,
    contexts: Option<&ContextCosts>,
    writer: impl Write,
) -> Result<(), ExportError> {
    check_any(view)?;
    let samples = Samples::new(view, contexts);
    let is_alone = view.sample_types.len() == 1;
    let columns = columns(view, &samples.costs, is_alone);
    check_frames(view, samples.rows.iter().map(|row| row.node), "pprof")?;
    let mut tables = Dictionary::from_view(view);
    let name = |column: &Column| {
        if column.counts_samples && is_alone {
            "samples".to_owned()
        } else {
            column.name()
        }
    };

    let mut file = GzEncoder::new(BufWriter::new(writer), Compression::default());
    let mut message = MessageWriter::default();
    for column in &columns {
        let mut value_type = MessageWriter::default();
        value_type.number(1, tables.string(&name(column)));
        value_type.number(2, tables.string(column.unit));
        message.message(1, &value_type);
    }
    file.write_all(&std::mem::take(&mut message.bytes))?;
    for (row, &Row { node, context }) in samples.rows.iter().enumerate() {
        let mut sample = MessageWriter::default();
        sample.numbers(1, tables.stack(node));
        let values = columns.iter();
        let values = values.map(|column| column.value(&samples.costs, row, "pprof"));
        let values: Vec<u64> = values.collect::<Result<_, _>>()?;
        sample.numbers(2, values);
        if let Some((_, context)) = context {
            add_labels(context, &mut tables, &mut sample);
        }
        message.message(2, &sample);
        file.write_all(&std::mem::take(&mut message.bytes))?;
    }
    let default = columns.iter().find(|column| !column.counts_samples);
    let default = default.map_or(0, |column| tables.string(&name(column)));
    message.number(14, default);
    origin(view, &mut tables, &mut message);
    add_tables(&tables, &mut message);
    for string in &tables.strings {
        message.bytes(6, string.as_bytes());
    }
    file.write_all(&std::mem::take(&mut message.bytes))?;
    Ok(file.finish()?.flush()?)
}

/// Writes when, for how long and with which commands the profiles were recorded.
fn origin(view: &View, tables: &mut Dictionary, message: &mut MessageWriter) {
    let (time, duration) = recorded(view);
    message.number(9, time);
    message.number(10, duration);
    let origins = view.selection.profiles.iter();
    let commands = origins.filter_map(|stored| stored.profile.origin.command.as_deref());
    let commands: BTreeSet<&str> = commands.collect();
    let comments: Vec<u64> = commands
        .into_iter()
        .flat_map(str::lines)
        .map(|line| tables.string(line))
        .collect();
    if !comments.is_empty() {
        message.numbers(13, comments);
    }
}

/// Writes the labels of a sample in this context.
fn add_labels(context: &SampleContext, tables: &mut Dictionary, sample: &mut MessageWriter) {
    let thread = &context.thread;
    let mut add = |key: &str, text: &str, number: u64, unit: &str| {
        let mut label = MessageWriter::default();
        for (field, value) in [
            (1, tables.string(key)),
            (2, tables.string(text)),
            (3, number),
            (4, tables.string(unit)),
        ] {
            label.number(field, value);
        }
        sample.message(3, &label);
    };
    if thread.pid != 0 {
        add("pid", "", thread.pid.into(), "");
    }
    if thread.tid != 0 {
        add("thread_id", "", thread.tid.into(), "");
    }
    if !thread.name.is_empty() {
        add("thread", &thread.name, 0, "");
    }
    for label in &*context.labels {
        match &label.value {
            LabelValue::Text(text) => add(&label.key, text, 0, ""),
            LabelValue::Number { number, unit } => add(&label.key, "", *number as u64, unit),
        }
    }
}

fn add_tables(tables: &Dictionary, message: &mut MessageWriter) {
    for (mapping, id) in tables.mappings.iter().zip(1..) {
        let mut fields = MessageWriter::default();
        fields.number(1, id);
        fields.number(5, mapping.file);
        fields.number(6, mapping.build_id);
        // Marks functions, files, lines and inlined frames as known, so that tools don't look for
        // symbols.
        (7..=10).for_each(|field| fields.number(field, 1));
        message.message(3, &fields);
    }
    for (location, id) in tables.locations.iter().zip(1..) {
        let mut fields = MessageWriter::default();
        fields.number(1, id);
        fields.number(2, location.mapping);
        for (function, line) in tables.lines(location) {
            let mut own = MessageWriter::default();
            own.number(1, function);
            own.number(2, line.into());
            fields.message(4, &own);
        }
        message.message(4, &fields);
    }
    for (function, id) in tables.functions.iter().zip(1..) {
        let mut fields = MessageWriter::default();
        fields.number(1, id);
        fields.number(2, function.name);
        fields.number(3, function.system_name);
        fields.number(4, function.file);
        message.message(5, &fields);
    }
}
