//! Messages of `querier.v1`, as clients have them from the public definition.

use prost::Message;

#[derive(Clone, PartialEq, Message)]
pub(crate) struct ProfileTypesRequest {
    #[prost(int64, tag = "1")]
    pub(crate) start: i64,
    #[prost(int64, tag = "2")]
    pub(crate) end: i64,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct ProfileTypesResponse {
    #[prost(message, repeated, tag = "1")]
    pub(crate) profile_types: Vec<ProfileType>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct ProfileType {
    #[prost(string, tag = "1")]
    pub(crate) id: String,
    #[prost(string, tag = "2")]
    pub(crate) name: String,
    #[prost(string, tag = "4")]
    pub(crate) sample_type: String,
    #[prost(string, tag = "5")]
    pub(crate) sample_unit: String,
    #[prost(string, tag = "6")]
    pub(crate) period_type: String,
    #[prost(string, tag = "7")]
    pub(crate) period_unit: String,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct LabelNamesRequest {
    #[prost(string, repeated, tag = "1")]
    pub(crate) matchers: Vec<String>,
    #[prost(int64, tag = "2")]
    pub(crate) start: i64,
    #[prost(int64, tag = "3")]
    pub(crate) end: i64,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct LabelValuesRequest {
    #[prost(string, tag = "1")]
    pub(crate) name: String,
    #[prost(string, repeated, tag = "2")]
    pub(crate) matchers: Vec<String>,
    #[prost(int64, tag = "3")]
    pub(crate) start: i64,
    #[prost(int64, tag = "4")]
    pub(crate) end: i64,
}

/// The answer of both label methods.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct Names {
    #[prost(string, repeated, tag = "1")]
    pub(crate) names: Vec<String>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct SeriesRequest {
    #[prost(string, repeated, tag = "1")]
    pub(crate) matchers: Vec<String>,
    #[prost(string, repeated, tag = "2")]
    pub(crate) label_names: Vec<String>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct SeriesResponse {
    #[prost(message, repeated, tag = "2")]
    pub(crate) labels_set: Vec<Labels>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct Labels {
    #[prost(message, repeated, tag = "1")]
    pub(crate) labels: Vec<LabelPair>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct LabelPair {
    #[prost(string, tag = "1")]
    pub(crate) name: String,
    #[prost(string, tag = "2")]
    pub(crate) value: String,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct SelectSeriesRequest {
    #[prost(string, tag = "1")]
    pub(crate) profile_type: String,
    #[prost(string, tag = "2")]
    pub(crate) label_selector: String,
    #[prost(int64, tag = "3")]
    pub(crate) start: i64,
    #[prost(int64, tag = "4")]
    pub(crate) end: i64,
    #[prost(string, repeated, tag = "5")]
    pub(crate) group_by: Vec<String>,
    #[prost(double, tag = "6")]
    pub(crate) step: f64,
    #[prost(int64, optional, tag = "9")]
    pub(crate) limit: Option<i64>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct SelectSeriesResponse {
    #[prost(message, repeated, tag = "1")]
    pub(crate) series: Vec<Series>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct Series {
    #[prost(message, repeated, tag = "1")]
    pub(crate) labels: Vec<LabelPair>,
    #[prost(message, repeated, tag = "2")]
    pub(crate) points: Vec<Point>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct Point {
    #[prost(double, tag = "1")]
    pub(crate) value: f64,
    #[prost(int64, tag = "2")]
    pub(crate) timestamp: i64,
}

/// The request of `SelectMergeStacktraces`, and the first fields of that of `SelectMergeProfile`.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct Stacktraces {
    #[prost(string, tag = "1")]
    pub(crate) profile_type: String,
    #[prost(string, tag = "2")]
    pub(crate) label_selector: String,
    #[prost(int64, tag = "3")]
    pub(crate) start: i64,
    #[prost(int64, tag = "4")]
    pub(crate) end: i64,
    #[prost(int64, optional, tag = "5")]
    pub(crate) max_nodes: Option<i64>,
    #[prost(string, repeated, tag = "8")]
    pub(crate) profile_id_selector: Vec<String>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct DiffRequest {
    #[prost(message, optional, tag = "1")]
    pub(crate) left: Option<Stacktraces>,
    #[prost(message, optional, tag = "2")]
    pub(crate) right: Option<Stacktraces>,
}

/// The answer of `SelectMergeStacktraces` and `Diff`.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct Flame {
    #[prost(message, optional, tag = "1")]
    pub(crate) flamegraph: Option<FlameGraph>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct FlameGraph {
    #[prost(string, repeated, tag = "1")]
    pub(crate) names: Vec<String>,
    #[prost(message, repeated, tag = "2")]
    pub(crate) levels: Vec<Level>,
    #[prost(int64, tag = "3")]
    pub(crate) total: i64,
    #[prost(int64, tag = "4")]
    pub(crate) max_self: i64,
    #[prost(int64, tag = "5")]
    pub(crate) left_ticks: i64,
    #[prost(int64, tag = "6")]
    pub(crate) right_ticks: i64,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct Level {
    #[prost(int64, repeated, tag = "1")]
    pub(crate) values: Vec<i64>,
}
