//! Arguments that several commands share: selectors, formats, percentages.

mod about;
pub(crate) mod calls;
mod choice;
mod curve;
pub(crate) mod drawing;
mod findings;
mod history;
mod hot;
pub(crate) mod inputs;
mod points;
mod policy;
pub(crate) mod quantities;
mod select;
mod symbols;
mod timeout;

pub(crate) use about::About;
pub(crate) use choice::{choice, word};
pub(crate) use curve::CurveArgs;
pub(crate) use drawing::{DrawingArgs, StacksArgs};
#[cfg(feature = "serve")]
pub(crate) use findings::FindingsFormat;
pub(crate) use findings::{FindingsOutputArgs, Rendered, Rendering};
pub(crate) use history::{HistoryArgs, JudgedArgs, ListingArgs};
pub(crate) use hot::HotArgs;
pub(crate) use points::{BinsArg, read_points, write_drawing};
pub(crate) use policy::PolicyArg;
pub(crate) use quantities::Percent;
pub(crate) use select::{
    BenchmarkArg, EventArg, FilterArgs, InlinedArg, MatchingArgs, SelectArgs, SelectPairArgs,
    SelectSeveralArgs, SidesArgs, WindowArgs,
};
pub(crate) use symbols::SymbolArgs;
pub(crate) use timeout::TimeoutArg;
