//! V8's `.heapprofile`, written by Node, Chrome and the domain `HeapProfiler` of the DevTools
//! Protocol: sampled allocations as a call tree.

use crate::error::{DecodeError, Decoded};
use crate::json::{CallTree, Caller, walk};
use crate::recording::RecordingBuilder;
use crate::report::add_to_only_thread;
use crate::source::Head;
use crate::v8::{CallFrame, add_location};
use crate::wire::json::{Number, parse};
use hashbrown::HashMap;
use serde::Deserialize;
use serde_json::value::RawValue;
use sto_model::units::{Cost, Unit};

/// Returns `true` if a file is an object with a tree whose nodes have sizes.
pub(super) fn matches(head: &Head<'_>) -> bool {
    head.keys().contains(&&b"head"[..])
        && memchr::memmem::find(head.bytes, b"\"selfSize\"").is_some()
}

#[derive(Deserialize)]
#[serde(bound(deserialize = "'de: 'b"))]
struct Profile<'b> {
    head: &'b RawValue,
    /// Sampled allocations, in newer versions.
    #[serde(default)]
    samples: Vec<Allocation>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Allocation {
    node_id: u64,
}

#[derive(Deserialize)]
#[serde(bound(deserialize = "'de: 'b"), rename_all = "camelCase")]
struct Node<'b> {
    call_frame: CallFrame<'b>,
    /// Bytes, without the children.
    self_size: Number,
    id: Option<u64>,
}

pub(super) fn read(bytes: &[u8]) -> Decoded<RecordingBuilder> {
    let profile: Profile<'_> = parse(bytes)?;
    let mut allocations: HashMap<u64, u64> = HashMap::new();
    for allocation in &profile.samples {
        *allocations.entry(allocation.node_id).or_insert(0) += 1;
    }
    let mut builder = RecordingBuilder::default();
    let mut tree = CallTree::default();
    walk(bytes, profile.head, |node: Node<'_>, caller| {
        let location =
            add_location(&node.call_frame, &mut builder).map_err(DecodeError::at("head"))?;
        let entry = tree.push(Caller { caller, location });
        let size = node.self_size.weight(1, || "selfSize".to_owned())?;
        let sampled = node.id.and_then(|id| allocations.get(&id).copied());
        if size > 0 {
            let stack = tree.stack(entry, &mut builder);
            let cost = Cost {
                samples: sampled.unwrap_or(1),
                value: size,
            };
            let added = stack.and_then(|stack| add_to_only_thread(&mut builder, 0, stack, cost));
            added.map_err(DecodeError::at("head"))?;
        }
        Ok(entry)
    })?;
    builder.sample_type("space", Unit::Bytes);
    Ok(builder)
}
