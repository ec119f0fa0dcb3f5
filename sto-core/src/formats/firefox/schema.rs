//! The tables of a profile, of which only what is read here.

use crate::formats::wire::json::{Id, Number, Text};
use serde::Deserialize;

#[derive(Deserialize)]
pub(super) struct Profile<'b> {
    #[serde(borrow)]
    pub(super) meta: Meta<'b>,
    #[serde(borrow, default)]
    pub(super) libs: Vec<Lib<'b>>,
    #[serde(borrow)]
    pub(super) threads: Vec<Thread<'b>>,
    /// What threads have in common, since version 56.
    #[serde(borrow, default)]
    pub(super) shared: Thread<'b>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Meta<'b> {
    pub(super) preprocessed_profile_version: u32,
    /// Milliseconds since 1970.
    #[serde(default)]
    pub(super) start_time: f64,
    #[serde(borrow, default)]
    pub(super) categories: Vec<Category<'b>>,
    #[serde(borrow, default)]
    pub(super) sample_units: Option<SampleUnits<'b>>,
    /// What the profile was converted by, if it was.
    #[serde(borrow, default)]
    pub(super) imported_from: Option<Text<'b>>,
}

#[derive(Deserialize)]
pub(super) struct Category<'b> {
    #[serde(borrow)]
    pub(super) name: Text<'b>,
}

#[derive(Deserialize)]
pub(super) struct SampleUnits<'b> {
    #[serde(borrow, default, rename = "threadCPUDelta")]
    pub(super) thread_cpu_delta: Text<'b>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Lib<'b> {
    #[serde(borrow, default)]
    pub(super) name: Text<'b>,
    #[serde(borrow, default)]
    pub(super) path: Text<'b>,
    /// GNU build id.
    #[serde(borrow, default)]
    pub(super) code_id: Option<Text<'b>>,
}

/// A thread, or what threads have in common.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Thread<'b> {
    #[serde(borrow, default)]
    pub(super) name: Text<'b>,
    #[serde(borrow, default)]
    pub(super) process_name: Text<'b>,
    #[serde(default)]
    pub(super) pid: Id,
    #[serde(default)]
    pub(super) tid: Id,
    #[serde(borrow, default)]
    pub(super) samples: Option<SampleTable<'b>>,
    #[serde(borrow, default)]
    pub(super) js_allocations: Option<SampleTable<'b>>,
    #[serde(borrow, default)]
    pub(super) native_allocations: Option<SampleTable<'b>>,
    #[serde(borrow, default)]
    pub(super) string_array: Option<Vec<Text<'b>>>,
    #[serde(default)]
    pub(super) stack_table: Option<StackTable>,
    #[serde(default)]
    pub(super) frame_table: Option<FrameTable>,
    #[serde(default)]
    pub(super) func_table: Option<FuncTable>,
    #[serde(default)]
    pub(super) resource_table: Option<ResourceTable>,
    /// Source files, since version 57.
    #[serde(default)]
    pub(super) sources: Option<Sources>,
}

/// Samples or allocations, by column.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SampleTable<'b> {
    /// `null`, or since version 78 -1, without one.
    pub(super) stack: Vec<Option<i32>>,
    /// Milliseconds since the start.
    #[serde(default)]
    pub(super) time: Option<Vec<f64>>,
    /// Milliseconds since the sample before.
    #[serde(default)]
    pub(super) time_deltas: Option<Vec<f64>>,
    #[serde(default)]
    pub(super) weight: Option<Vec<Option<Number>>>,
    #[serde(borrow, default)]
    pub(super) weight_type: Option<Text<'b>>,
    #[serde(default, rename = "threadCPUDelta")]
    pub(super) thread_cpu_delta: Option<Vec<Option<Number>>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct StackTable {
    /// The caller; it stands before its callees.
    #[serde(default)]
    pub(super) prefix: Vec<Option<u32>>,
    /// How far before its callee the caller stands, since version 66; 0 without one.
    #[serde(default)]
    pub(super) prefix_offset: Option<Vec<u32>>,
    pub(super) frame: Vec<u32>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct FrameTable {
    pub(super) func: Vec<u32>,
    /// Which of the other columns are set, since version 71: [`FrameFlag`].
    #[serde(default)]
    flags: Vec<u32>,
    /// From where the module's first segment is in memory; -1 without one.
    #[serde(default)]
    pub(super) address: Vec<i64>,
    /// The library that the address is in, since version 70; before, that of the function's resource.
    #[serde(default)]
    pub(super) lib: Vec<Option<i64>>,
    /// Before version 71.
    #[serde(default)]
    inline_depth: Vec<u32>,
    #[serde(default)]
    pub(super) category: Vec<Option<u32>>,
    #[serde(default)]
    pub(super) line: Vec<Option<u32>>,
    /// How SpiderMonkey ran it: a string.
    #[serde(default)]
    pub(super) implementation: Vec<Option<u32>>,
}

/// A bit of a frame's flags.
#[derive(Clone, Copy)]
pub(super) enum FrameFlag {
    Inlined = 1 << 0,
    /// Also that there is a library.
    Address = 1 << 1,
    Category = 1 << 2,
    Line = 1 << 4,
}

/// A bit of a function's flags.
#[derive(Clone, Copy)]
pub(super) enum FuncFlag {
    Resource = 1 << 2,
    Source = 1 << 3,
}

impl FrameTable {
    /// Whether a column is set for a frame; before there were flags, its value tells.
    pub(super) fn has(&self, ix: usize, flag: FrameFlag) -> bool {
        self.flags
            .get(ix)
            .is_none_or(|flags| flags & flag as u32 != 0)
    }

    pub(super) fn is_inlined(&self, ix: usize) -> bool {
        match self.flags.get(ix) {
            Some(flags) => flags & FrameFlag::Inlined as u32 != 0,
            None => self.inline_depth.get(ix).is_some_and(|&depth| depth > 0),
        }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct FuncTable {
    pub(super) name: Vec<u32>,
    /// Which of the other columns are set, since version 73: [`FuncFlag`].
    #[serde(default)]
    flags: Vec<u32>,
    #[serde(default)]
    pub(super) resource: Vec<i64>,
    #[serde(default)]
    pub(super) file_name: Vec<Option<u32>>,
    #[serde(default)]
    pub(super) source: Vec<Option<u32>>,
}

impl FuncTable {
    /// Whether a column is set for a function; before there were flags, its value tells.
    pub(super) fn has(&self, func: usize, flag: FuncFlag) -> bool {
        self.flags
            .get(func)
            .is_none_or(|flags| flags & flag as u32 != 0)
    }
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
