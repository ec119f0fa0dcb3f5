//! The tables of a profile that are read.

use crate::wire::json::{Id, Number, Text};
use serde::Deserialize;
use serde_json::value::RawValue;

#[derive(Deserialize)]
#[serde(bound(deserialize = "'de: 'b"))]
pub(super) struct Profile<'b> {
    pub(super) meta: Meta<'b>,
    #[serde(default)]
    pub(super) libs: Vec<Lib<'b>>,
    pub(super) threads: Vec<Thread<'b>>,
    /// Tables shared by all threads, since version 56.
    #[serde(default)]
    pub(super) shared: Thread<'b>,
    /// [`Counter`]s.
    pub(super) counters: Option<&'b RawValue>,
}

#[derive(Deserialize)]
#[serde(bound(deserialize = "'de: 'b"), rename_all = "camelCase")]
pub(super) struct Counter<'b> {
    #[serde(default)]
    pub(super) name: Text<'b>,
    #[serde(default)]
    pub(super) category: Text<'b>,
    #[serde(default)]
    pub(super) pid: Id,
    pub(super) samples: Option<CounterSamples>,
    /// Before version 48; only one is used.
    #[serde(default)]
    pub(super) sample_groups: Vec<SampleGroup>,
    /// Since version 62.
    pub(super) display: Option<CounterDisplay<'b>>,
}

#[derive(Deserialize)]
pub(super) struct SampleGroup {
    pub(super) samples: CounterSamples,
}

#[derive(Deserialize)]
#[serde(bound(deserialize = "'de: 'b"), rename_all = "camelCase")]
pub(super) struct CounterDisplay<'b> {
    #[serde(default)]
    pub(super) graph_type: Text<'b>,
}

/// Samples of a counter, by column.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct CounterSamples {
    /// Milliseconds since the start.
    pub(super) time: Option<Vec<f64>>,
    /// Milliseconds since the previous sample, since version 50.
    pub(super) time_deltas: Option<Vec<f64>>,
    /// The change of the level, or the count, since the previous sample.
    pub(super) count: Vec<Option<f64>>,
    /// Number of changes since the previous sample.
    pub(super) number: Option<Vec<Option<f64>>>,
}

#[derive(Deserialize)]
#[serde(bound(deserialize = "'de: 'b"), rename_all = "camelCase")]
pub(super) struct Meta<'b> {
    pub(super) preprocessed_profile_version: u32,
    /// Milliseconds since 1970.
    #[serde(default)]
    pub(super) start_time: f64,
    #[serde(default)]
    pub(super) categories: Vec<Category<'b>>,
    pub(super) sample_units: Option<SampleUnits<'b>>,
    /// The format from which the profile was converted.
    pub(super) imported_from: Option<Text<'b>>,
}

#[derive(Deserialize)]
#[serde(bound(deserialize = "'de: 'b"))]
pub(super) struct Category<'b> {
    pub(super) name: Text<'b>,
}

#[derive(Deserialize)]
#[serde(bound(deserialize = "'de: 'b"))]
pub(super) struct SampleUnits<'b> {
    #[serde(default, rename = "threadCPUDelta")]
    pub(super) thread_cpu_delta: Text<'b>,
}

#[derive(Deserialize)]
#[serde(bound(deserialize = "'de: 'b"), rename_all = "camelCase")]
pub(super) struct Lib<'b> {
    #[serde(default)]
    pub(super) name: Text<'b>,
    #[serde(default)]
    pub(super) path: Text<'b>,
    /// GNU build id.
    pub(super) code_id: Option<Text<'b>>,
}

/// A thread, or the tables shared by all threads.
#[derive(Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'b"), rename_all = "camelCase")]
pub(super) struct Thread<'b> {
    pub(super) name: Text<'b>,
    pub(super) process_name: Text<'b>,
    pub(super) pid: Id,
    pub(super) tid: Id,
    /// Before version 41, instead of the profile's libraries.
    pub(super) libs: Vec<Lib<'b>>,
    pub(super) samples: Option<SampleTable<'b>>,
    pub(super) js_allocations: Option<SampleTable<'b>>,
    pub(super) native_allocations: Option<SampleTable<'b>>,
    pub(super) string_array: Option<Vec<Text<'b>>>,
    pub(super) stack_table: Option<StackTable>,
    pub(super) frame_table: Option<FrameTable>,
    pub(super) func_table: Option<FuncTable>,
    pub(super) resource_table: Option<ResourceTable>,
    /// Source files, since version 57.
    pub(super) sources: Option<Sources>,
}

/// Samples or allocations, by column.
#[derive(Deserialize)]
#[serde(bound(deserialize = "'de: 'b"), rename_all = "camelCase")]
pub(super) struct SampleTable<'b> {
    /// The stack; `null`, or -1 since version 78, if there is none.
    pub(super) stack: Vec<Option<i32>>,
    /// Milliseconds since the start.
    pub(super) time: Option<Vec<f64>>,
    /// Milliseconds since the previous sample.
    pub(super) time_deltas: Option<Vec<f64>>,
    pub(super) weight: Option<Vec<Option<Number>>>,
    pub(super) weight_type: Option<Text<'b>>,
    #[serde(rename = "threadCPUDelta")]
    pub(super) thread_cpu_delta: Option<Vec<Option<Number>>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct StackTable {
    /// The caller, which precedes its callees.
    #[serde(default)]
    pub(super) prefix: Vec<Option<u32>>,
    /// Distance to the caller, since version 66; 0 without one.
    pub(super) prefix_offset: Option<Vec<u32>>,
    pub(super) frame: Vec<u32>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct FrameTable {
    pub(super) func: Vec<u32>,
    /// Which of the other columns are set, since version 71.
    #[serde(default)]
    pub(super) flags: Vec<u32>,
    /// Offset from the start of the module's first segment in memory; -1 without one.
    #[serde(default)]
    pub(super) address: Vec<i64>,
    /// The library of the address, since version 70; before, the library of the function's
    /// resource.
    #[serde(default)]
    pub(super) lib: Vec<Option<i64>>,
    /// Before version 71.
    #[serde(default)]
    inline_depth: Vec<u32>,
    #[serde(default)]
    pub(super) category: Vec<Option<u32>>,
    #[serde(default)]
    pub(super) line: Vec<Option<u32>>,
    /// How SpiderMonkey ran the function: index of a string.
    #[serde(default)]
    pub(super) implementation: Vec<Option<u32>>,
}

// Flags of a frame. The flag of the address also says that there is a library.
const FRAME_INLINED: u32 = 1 << 0;
pub(super) const FRAME_ADDRESS: u32 = 1 << 1;
pub(super) const FRAME_CATEGORY: u32 = 1 << 2;
pub(super) const FRAME_LINE: u32 = 1 << 4;

// Flags of a function.
pub(super) const FUNC_RESOURCE: u32 = 1 << 2;
pub(super) const FUNC_SOURCE: u32 = 1 << 3;

/// Returns `true` if a column is set in a row with these flags. Without flags, the value shows it.
pub(super) fn is_column_set(flags: &[u32], row: usize, flag: u32) -> bool {
    flags.get(row).is_none_or(|flags| flags & flag != 0)
}

impl FrameTable {
    pub(super) fn is_inlined(&self, ix: usize) -> bool {
        match self.flags.get(ix) {
            Some(_) => is_column_set(&self.flags, ix, FRAME_INLINED),
            None => self.inline_depth.get(ix).is_some_and(|&depth| depth > 0),
        }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct FuncTable {
    pub(super) name: Vec<u32>,
    /// Which of the other columns are set, since version 73.
    #[serde(default)]
    pub(super) flags: Vec<u32>,
    #[serde(default)]
    pub(super) resource: Vec<i64>,
    #[serde(default)]
    pub(super) file_name: Vec<Option<u32>>,
    #[serde(default)]
    pub(super) source: Vec<Option<u32>>,
}

#[derive(Default, Deserialize)]
pub(super) struct ResourceTable {
    /// Before version 70.
    #[serde(default)]
    pub(super) lib: Vec<Option<i64>>,
    pub(super) name: Vec<u32>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Sources {
    pub(super) filename: Vec<u32>,
}
