//! Stacks in binary columns, which a page draws without parsing them.
//!
//! ```text
//! u32               length of the header
//! header            JSON, with spaces at its end so that the columns begin at a multiple of 8 bytes
//! each column       an f64 or u32 for each node, in the order of `columns` in the header
//! ```
//!
//! All numbers are little-endian. `columns` lists objects such as `{"name": "self", "type": "f64"}`, and `nodes` is the
//! length of each column. Callers come before their callees; the column `parent` has the index of each node's caller, or
//! `u32::MAX`. Total costs are left out, because a page sums them up faster than it receives them. The question's answer
//! has the other fields of the header.

use crate::compare::{Comparison, FunctionName};
use crate::questions::{DiffStacks, DifferenceColumns, FlameColumns, FlameStacks};
use crate::text::short_name;
use crate::tree::{FrameInfo, Subject};
use serde::Serialize;

/// The alignment of the columns, in bytes.
const ALIGNMENT: usize = 8;
/// The parent of the outermost nodes.
const NONE: u32 = u32::MAX;

/// Writes the stacks of a flame graph: the columns `self`, `parent` and `frame`.
///
/// # Errors
///
/// Returns an error if the serializer of a result fails; those of this crate never do.
pub fn flame(stacks: &FlameStacks) -> Result<Vec<u8>, serde_json::Error> {
    let columns = FlameColumns::from(stacks);
    let short_names = columns
        .frames
        .iter()
        .map(|frame| short_name(&frame.function));
    let head = FlameHead {
        subject: &columns.subject,
        frames: &columns.frames,
        short_names: short_names.collect(),
    };
    let self_cost: Vec<f64> = columns.self_cost.iter().map(|&cost| cost as f64).collect();
    let columns = [
        ("self", Numbers::F64(self_cost)),
        ("parent", Numbers::U32(parents(&columns.parent))),
        ("frame", Numbers::U32(columns.frame)),
    ];
    encode(head, &columns)
}

/// Writes the stacks of two builds: the columns `baseline_self`, `candidate_self`, `parent` and `function`. Costs are
/// samples, of which each has the normalised cost `baseline_cost` or `candidate_cost` of the header.
///
/// # Errors
///
/// Returns an error if the serializer of a result fails; those of this crate never do.
pub fn diff(mut answer: DiffStacks) -> Result<Vec<u8>, serde_json::Error> {
    let stacks = answer.comparison.stacks.take().unwrap_or_default();
    let columns = DifferenceColumns::from(&stacks);
    let short_names = columns
        .functions
        .iter()
        .map(|name| short_name(&name.function));
    let head = DiffHead {
        comparison: &answer.comparison,
        new_outliers: answer.new_outliers.as_deref(),
        functions: columns.functions,
        short_names: short_names.collect(),
        baseline_cost: columns.baseline_cost,
        candidate_cost: columns.candidate_cost,
    };
    let samples = |samples: &[u64]| samples.iter().map(|&samples| samples as f64).collect();
    let columns = [
        (
            "baseline_self",
            Numbers::F64(samples(&columns.baseline_self)),
        ),
        (
            "candidate_self",
            Numbers::F64(samples(&columns.candidate_self)),
        ),
        ("parent", Numbers::U32(parents(&columns.parent))),
        ("function", Numbers::U32(columns.function)),
    ];
    encode(head, &columns)
}

#[derive(Serialize)]
struct FlameHead<'a> {
    #[serde(flatten)]
    subject: &'a Subject,
    frames: &'a [FrameInfo],
    /// The short form of each frame's name.
    short_names: Vec<String>,
}

#[derive(Serialize)]
struct DiffHead<'a> {
    comparison: &'a Comparison,
    new_outliers: Option<&'a str>,
    functions: &'a [FunctionName],
    /// The short form of each function's name.
    short_names: Vec<String>,
    baseline_cost: f64,
    candidate_cost: f64,
}

/// A column.
enum Numbers {
    F64(Vec<f64>),
    U32(Vec<u32>),
}

impl Numbers {
    fn len(&self) -> usize {
        match self {
            Numbers::F64(numbers) => numbers.len(),
            Numbers::U32(numbers) => numbers.len(),
        }
    }

    fn write(&self, bytes: &mut Vec<u8>) {
        match self {
            Numbers::F64(numbers) => {
                bytes.extend(numbers.iter().flat_map(|number| number.to_le_bytes()))
            }
            Numbers::U32(numbers) => {
                bytes.extend(numbers.iter().flat_map(|number| number.to_le_bytes()))
            }
        }
    }
}

#[derive(Serialize)]
struct Header<'a, H> {
    #[serde(flatten)]
    head: H,
    nodes: usize,
    columns: Vec<ColumnName<'a>>,
}

#[derive(Serialize)]
struct ColumnName<'a> {
    name: &'a str,
    r#type: &'static str,
}

fn parents(parents: &[Option<u32>]) -> Vec<u32> {
    parents
        .iter()
        .map(|parent| parent.unwrap_or(NONE))
        .collect()
}

/// Writes a header and columns of equal length. The caller puts columns of f64 first, so that all are aligned.
fn encode(head: impl Serialize, columns: &[(&str, Numbers)]) -> Result<Vec<u8>, serde_json::Error> {
    let nodes = columns.first().map_or(0, |(_, numbers)| numbers.len());
    let names = columns.iter().map(|(name, numbers)| {
        let r#type = match numbers {
            Numbers::F64(_) => "f64",
            Numbers::U32(_) => "u32",
        };
        ColumnName { name, r#type }
    });
    let header = Header {
        head,
        nodes,
        columns: names.collect(),
    };
    let mut header = serde_json::to_vec(&header)?;
    let begin = (size_of::<u32>() + header.len()).next_multiple_of(ALIGNMENT);
    header.resize(begin - size_of::<u32>(), b' ');
    let mut bytes = Vec::with_capacity(begin + columns.len() * nodes * size_of::<f64>());
    bytes.extend((header.len() as u32).to_le_bytes());
    bytes.extend(header);
    columns
        .iter()
        .for_each(|(_, numbers)| numbers.write(&mut bytes));
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn columns_begin_at_a_multiple_of_eight_bytes() {
        for name in ["", "a", "longer"] {
            let columns = [
                ("self", Numbers::F64(vec![1.5, 2.0])),
                ("parent", Numbers::U32(vec![NONE, 0])),
            ];
            let bytes = encode(json!({ "name": name }), &columns).unwrap();
            let length = u32::from_le_bytes(*bytes.first_chunk().unwrap()) as usize;
            let (header, columns) = bytes[4..].split_at(length);
            let header: Value = serde_json::from_slice(header).unwrap();
            let names =
                json!([{ "name": "self", "type": "f64" }, { "name": "parent", "type": "u32" }]);
            assert_eq!(
                header,
                json!({ "name": name, "nodes": 2, "columns": names })
            );
            assert_eq!((4 + length) % ALIGNMENT, 0);
            let parts: [Vec<u8>; 4] = [
                1.5_f64.to_le_bytes().to_vec(),
                2.0_f64.to_le_bytes().to_vec(),
                NONE.to_le_bytes().to_vec(),
                0_u32.to_le_bytes().to_vec(),
            ];
            assert_eq!(columns, parts.concat());
        }
    }
}
