//! One entry to all questions.

use super::calls::{outliers, waits};
use super::correlate::{align, correlate};
use super::drawings::{diff, flame};
use super::export::export;
use super::histories::{
    bottlenecks, evolve, expand, occurrences, regressions_over_time, series, suspects,
};
use super::hot::{blame, hot};
use super::labelled::{over_time, sets};
use super::models::{calibrate_curves, compare_models, model_function, model_of_two, models};
use super::phases::phases;
use super::savings::savings;
use super::search::search;
use super::source::source;
use super::stacks::{calibrate, potential, show, top, tree};
use super::stores::{builds, labels, runs};
use super::timeline::{call_timeline, call_trace, timeline, timelines};
use super::*;
use crate::QueryError;
use crate::answer::Named;
#[cfg(feature = "schemas")]
use crate::answer::{Answer, schema};
use crate::calls::{CallTimeline, CallTrace, Outliers, Waits};
use crate::check::{Check, CheckRequest, check};
use crate::commits::CommitLog;
use crate::commits::bisect::Bisection;
use crate::commits::bisect::bisect;
use crate::commits::log;
use crate::compare::{Calibration, CurveCalibration};
use crate::correlate::{Alignment, Bottlenecks, RankedMetrics};
use crate::expand::Expansion;
use crate::history::{Evolution, Occurrences};
use crate::hot::{Blame, HotSpots};
use crate::labelled::{CostOverTime, LabelSets};
use crate::listing::{BuildList, LabelList, RunList};
use crate::models::{CostModel, CostModels, ModelChanges, ModelOfTwo};
use crate::phases::Phases;
use crate::potential::Potentials;
use crate::savings::Savings;
use crate::search::SearchResults;
use crate::series::{FunctionSeries, Scores};
use crate::show::ShownBuild;
use crate::source::FunctionSource;
use crate::sources::{Context, Sources};
use crate::suspects::Suspects;
use crate::timeline::Timeline;
use crate::tree::{CallTree, Top};
use serde::de::{DeserializeSeed, Deserializer};
use serde::{Deserialize, Serialize, Serializer};
#[cfg(feature = "schemas")]
use serde_json::Value;

/// A question about [`Sources`]: a request with a known kind of answer.
///
/// This crate implements it for every request. Each is also a variant of [`AnyQuestion`], except those whose answers only
/// renderers read: [`ExportRequest`], [`TimelinesRequest`] and [`CallTraceRequest`].
pub trait Question {
    /// The answer.
    type Answer;

    /// Answers the question in the sources' context.
    #[doc(hidden)]
    fn answer(&self, sources: &Sources) -> Result<Self::Answer, QueryError>;
}

/// Answers a question.
///
/// A program that knows the question passes its request:
///
/// ```no_run
/// use sto_query::questions::TopRequest;
/// use sto_query::sources::{Context, Sources};
///
/// let sources = Sources::from_folder("profiles".as_ref());
/// let mut request = TopRequest::default();
/// request.named = "v2".into();
/// request.limit = Some(10);
/// for function in sto_query::ask(&sources, &request, &Context::default())?.functions {
///     println!("{} {}", function.self_cost.value, function.frame.function);
/// }
/// # Ok::<(), sto_query::QueryError>(())
/// ```
///
/// A server, or a binding to another language, passes on what it was sent, as an [`AnyQuestion`]. Questions can name
/// files of this machine, so only those who may read them may ask:
///
/// ```no_run
/// use sto_query::questions::AnyQuestion;
/// use sto_query::sources::{Context, Sources};
///
/// let question = r#"{ "question": "top", "named": { "selector": "v2" }, "limit": 10 }"#;
/// let question: AnyQuestion = serde_json::from_str(question)?;
/// let sources = Sources::from_folder("profiles".as_ref());
/// let answer = sto_query::ask(&sources, &question, &Context::default())?;
/// println!("{}", serde_json::to_string(&answer)?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// Returns an error if the sources cannot be read, lack what the request names, or the question was cancelled.
/// [`QueryError::class`] tells these apart.
pub fn ask<Q: Question>(
    sources: &Sources,
    question: &Q,
    context: &Context,
) -> Result<Q::Answer, QueryError> {
    context.cancel.check()?;
    let answer = question.answer(&sources.with_context(context));
    match answer {
        Err(_) if context.cancel.is_cancelled() => Err(sto_core::Cancelled.into()),
        answer => answer,
    }
}

/// The schemas of a question and its answer.
#[cfg(feature = "schemas")]
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct QuestionSchema {
    /// The name in [`AnyQuestion`].
    pub name: String,
    /// A noun phrase that describes the answer.
    pub about: String,
    /// The schema of the request.
    pub request: schemars::Schema,
    /// The schema of the answer.
    pub answer: schemars::Schema,
}

#[cfg(feature = "schemas")]
impl QuestionSchema {
    /// Takes a variant of [`AnyQuestion`]'s schema, and the schemas of the request and the answer, with its name.
    fn new(
        (named, (request, answer, schema)): (&Value, (schemars::Schema, schemars::Schema, &str)),
    ) -> QuestionSchema {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let name = schemars::json_schema!({
            "type": "object",
            "properties": { "schema": { "const": schema } },
            "required": ["schema"],
        });
        QuestionSchema {
            name: text(&named["properties"]["question"]["const"]),
            about: text(&named["description"]),
            request,
            answer: schemars::json_schema!({ "allOf": [answer, name] }),
        }
    }
}

macro_rules! question {
    ($answer_fn:ident($request:ty) -> $answer:ty) => {
        impl Question for $request {
            type Answer = $answer;

            fn answer(&self, sources: &Sources) -> Result<$answer, QueryError> {
                $answer_fn(sources, self)
            }
        }
    };
}

question!(call_trace(CallTraceRequest) -> CallTrace);
question!(export(ExportRequest) -> Exported);
question!(timelines(TimelinesRequest) -> Timelines);

/// Lists every question: its name in [`AnyQuestion`], the function that answers it, its request, and its answer.
macro_rules! questions {
    ($($(#[$doc:meta])* $name:ident: $answer_fn:ident($request:ty) -> $answer:ty,)*) => {
        $(question!($answer_fn($request) -> $answer);)*

        /// Any question. In JSON, `question` has its name, and the other fields are those of its request. Fields that are
        /// missing have their defaults, and unknown ones are an error; `AnyQuestion::schema` describes them.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
        #[serde(tag = "question", rename_all = "kebab-case")]
        #[non_exhaustive]
        pub enum AnyQuestion {
            $($(#[$doc])* $name($request),)*
        }

        /// The name of a question, which is known apart from its request: as the last part of an address, for example.
        ///
        /// As a seed of serde, it deserializes the request alone.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
        #[serde(rename_all = "kebab-case")]
        #[non_exhaustive]
        pub enum QuestionName {
            $($(#[$doc])* $name,)*
        }

        impl<'de> DeserializeSeed<'de> for QuestionName {
            type Value = AnyQuestion;

            fn deserialize<D: Deserializer<'de>>(self, request: D) -> Result<AnyQuestion, D::Error> {
                match self {
                    $(QuestionName::$name => <$request>::deserialize(request).map(AnyQuestion::$name),)*
                }
            }
        }

        #[cfg(feature = "schemas")]
        impl AnyQuestion {
            /// Returns the JSON schema (draft 2020-12) of all questions.
            pub fn schema() -> schemars::Schema {
                schemars::schema_for!(AnyQuestion)
            }

            /// Describes every question, for documents such as OpenAPI. Adds the types of requests and answers to the
            /// definitions of the generators.
            pub fn describe(
                requests: &mut schemars::SchemaGenerator,
                answers: &mut schemars::SchemaGenerator,
            ) -> Vec<QuestionSchema> {
                let schemas = [$((
                    requests.subschema_for::<$request>(),
                    answers.subschema_for::<$answer>(),
                    <$answer>::SCHEMA,
                )),*];
                let named = AnyQuestion::schema().to_value();
                let named = named["oneOf"].as_array().into_iter().flatten();
                named.zip(schemas).map(QuestionSchema::new).collect()
            }
        }

        /// The answer to [`AnyQuestion`].
        ///
        /// In JSON, `schema` has the name and version of its schema, and the other fields are those of the answer.
        #[derive(Debug)]
        #[non_exhaustive]
        #[expect(clippy::large_enum_variant, reason = "a program has few of them at a time")]
        pub enum AnyAnswer {
            $(
                #[doc = concat!("The answer to [`AnyQuestion::", stringify!($name), "`].")]
                $name($answer),
            )*
        }

        impl Question for AnyQuestion {
            type Answer = AnyAnswer;

            fn answer(&self, sources: &Sources) -> Result<AnyAnswer, QueryError> {
                Ok(match self {
                    $(AnyQuestion::$name(request) => AnyAnswer::$name($answer_fn(sources, request)?),)*
                })
            }
        }

        impl Serialize for AnyAnswer {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                match self {
                    $(AnyAnswer::$name(answer) => Named::from(answer).serialize(serializer),)*
                }
            }
        }

        impl AnyAnswer {
            /// Returns the JSON schema (draft 2020-12) of every answer, by the name and version in its field `schema`.
            #[cfg(feature = "schemas")]
            pub fn schemas() -> std::collections::BTreeMap<&'static str, schemars::Schema> {
                [$((<$answer>::SCHEMA, schema::<$answer>()),)*].into()
            }
        }
    };
}

questions! {
    /// How two runs of the same work correspond to each other over time.
    Align: align(AlignRequest) -> Alignment,
    /// The commit that introduced a regression.
    Bisect: bisect(BisectRequest) -> Bisection,
    /// The cost of each line of a source file.
    Blame: blame(BlameRequest) -> Blame,
    /// The functions whose cost correlates with a metric of the runs.
    Bottlenecks: bottlenecks(BottlenecksRequest) -> Bottlenecks,
    /// The builds in a store.
    Builds: builds(BuildsRequest) -> BuildList,
    /// How reliable comparisons with a build are.
    Calibrate: calibrate(CalibrateRequest) -> Calibration,
    /// How reliable comparisons of its cost curves are.
    CalibrateCurves: calibrate_curves(CalibrateCurvesRequest) -> CurveCalibration,
    /// The calls of a run's threads over time.
    Calls: call_timeline(CallTimelineRequest) -> CallTimeline,
    /// Whether a build got worse.
    Check: check(CheckRequest) -> Check,
    /// How cost grows in two builds.
    CompareModels: compare_models(CompareModelsRequest) -> ModelChanges,
    /// The metrics of runs that explain another metric.
    Correlate: correlate(CorrelateRequest) -> RankedMetrics,
    /// The cost of runs with the same labels over the time of day.
    CostOverTime: over_time(CostOverTimeRequest) -> CostOverTime,
    /// How stacks of two builds differ.
    Diff: diff(DiffRequest) -> DiffStacks,
    /// The call tree of a program over its builds.
    Evolve: evolve(EvolveRequest) -> Evolution,
    /// The contexts that explain a function's change.
    Expand: expand(ExpandRequest) -> Expansion,
    /// The stacks of a flame graph.
    Flame: flame(FlameRequest) -> FlameStacks,
    /// The most expensive lines of source files.
    Hot: hot(HotSpotsRequest) -> HotSpots,
    /// The distinct label sets of runs.
    LabelSets: sets(LabelSetsRequest) -> LabelSets,
    /// The values of labels and metrics of the runs in a store.
    Labels: labels(LabelsRequest) -> LabelList,
    /// A commit history with measurements.
    Log: log(LogRequest) -> CommitLog,
    /// How the cost of a function grows with a number.
    ModelFunction: model_function(FunctionModelRequest) -> CostModel,
    /// How the cost of a function grows with two numbers.
    ModelTwo: model_of_two(TwoNumberModelRequest) -> ModelOfTwo,
    /// How the cost of each function grows with a number.
    Models: models(ModelRequest) -> CostModels,
    /// The runs in which a function exceeds a share.
    Occurrences: occurrences(OccurrencesRequest) -> Occurrences,
    /// The calls of a run that took unusually long.
    Outliers: outliers(OutliersRequest) -> Outliers,
    /// The phases of a run.
    Phases: phases(PhasesRequest) -> Phases,
    /// The functions with the highest optimization potential.
    Potential: potential(PotentialRequest) -> Potentials,
    /// The functions of a build that differ from earlier builds.
    RegressionsOverTime: regressions_over_time(RegressionsRequest) -> Scores,
    /// The runs in a store.
    Runs: runs(RunsRequest) -> RunList,
    /// The functions or libraries that keep the most cores busy.
    Savings: savings(SavingsRequest) -> Savings,
    /// Functions, files, builds and labels by a part of their name.
    Search: search(SearchRequest) -> SearchResults,
    /// A function over the runs of a program.
    Series: series(SeriesRequest) -> FunctionSeries,
    /// The origin and quality of profiles.
    Show: show(ShowRequest) -> ShownBuild,
    /// The source of a function with the cost of each line.
    Source: source(SourceRequest) -> FunctionSource,
    /// The suspects of a build: functions that differ from earlier builds, with their history and contexts.
    Suspects: suspects(SuspectsRequest) -> Suspects,
    /// A run over time.
    Timeline: timeline(TimelineRequest) -> Timeline,
    /// The most expensive functions.
    Top: top(TopRequest) -> Top,
    /// The call tree.
    Tree: tree(TreeRequest) -> CallTree,
    /// The time that threads of a run waited.
    Waits: waits(WaitsRequest) -> Waits,
}
