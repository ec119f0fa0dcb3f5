"""The questions to a store.

Made from the library's schemas by `STO_UPDATE_GOLDENS=1 cargo test -p sto-python`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypedDict, TypeVar, Union

from ._answers import Answer, Drawing, Tree

A = TypeVar("A", bound=Answer)

#: A build: a selector as on the command line (`v1`, `demo@v1`, a tag, `git:HEAD`), the path of a
#: file, or an object with `runs` or `labelled`.
Build = Union[str, "os.PathLike[str]", Mapping[str, Any]]


class Attribution(TypedDict, total=False):
    """The attribution rules of a policy, which override the built-in ones."""

    to_caller: FunctionPatterns
    """Functions whose cost is attributed to their caller."""

    to_itself: FunctionPatterns
    """Functions that keep their cost. They override `to_caller`."""


class BottleneckOptions(TypedDict, total=False):
    """Options of a bottleneck search."""

    combination: Combination
    """The way to combine the coefficients of several benchmarks."""

    measure: Measure
    """The correlation coefficient."""

    metric: str
    """The metric."""

    min_runs: int
    """Minimum number of runs with the metric in a benchmark, and of runs that contain a function among
    them; at least 2.
    """

    negative: bool
    """Whether to look for negative correlations."""

    of_self: bool
    """Whether to count self samples instead of total samples."""

    omit_absent: bool
    """Whether to leave out runs without a function, instead of counting them as zero samples."""


class CallThresholds(TypedDict, total=False):
    """The thresholds that decide which calls are kept individually, and where expressions end."""

    call_duration: str
    """Longer calls are kept individually; `CallDurationThresh` of the paper."""

    call_gap: str
    """A longer gap between two calls of one caller ends an expression; `CallGapThresh`."""

    total_time: str
    """An expression ends when it becomes longer than this; `TotalTimeFractionThresh`."""


class CheckRequest(TypedDict, total=False):
    """A request to check a release."""

    against: Any | None
    """The part of each run's time that is compared with; by default the same as `window`. The runs may
    be the same.
    """

    all: bool
    """Whether the answer includes every tested function."""

    baseline: Build | None
    """The baseline; by default the policy's."""

    benchmarks: Sequence[str]
    """The benchmarks to compare; by default the policy's benchmarks, or otherwise all that both sides
    have.
    """

    candidate: Build
    """The candidate."""

    counts: str | None
    """Counts by function and run that a query engine computed over a dataset, with which builds are
    compared instead of their stacks: a Parquet file of the question `lake/counts`, or a folder of
    such files.

    Tests, verdict and metrics are the same as with stacks, as far as counts suffice. Missing are
    affected callers, attribution of library code, moved cost other than by names, lines, the
    variation of an earlier build, parts of runs, and curves. Each function and run takes about 240
    bytes of memory.
    """

    event: str | None
    """The event to compare; by default the one with most samples."""

    instances: bool
    """See `CompareOptions::instances`."""

    matching: KeyOptions
    """How functions of the two builds are matched."""

    policy: Policy
    """The policy."""

    policy_name: str | None
    """The name of the policy in the answer, such as its file name."""

    stacks: bool
    """Whether the answer includes the stacks of both sides, for drawings."""

    thresholds: Thresholds
    """Thresholds that override the policy."""

    window: Any | None
    """The part of each run's time that is judged; by default all."""

Combination = Literal["mean", "max"]


class CompareModelsOptions(TypedDict, total=False):
    """Thresholds of a comparison of models."""

    alpha: float
    """Share of comparisons of equal builds that report any change."""

    bins: Any | None
    """Bins of x that are applied to the points of both sides."""

    detectors: Sequence[Detector]
    """Perun detectors to run as well. The verdict does not depend on them."""

    fit: Any
    """Curves that the detectors compare."""

    how_sure: bool
    """Whether to estimate the certainty of models and exponents, which takes most of the time. The
    verdict does not depend on it.
    """

    min_effect: float
    """Minimum change in a function's cost at the largest x, relative to the smaller cost."""

    min_share: float
    """Minimum share of the total cost at the largest x that a function must have on one side."""

    rules: DetectorRules
    """Thresholds of the detectors."""


class CorrelateOptions(TypedDict, total=False):
    """Options of ranking metrics."""

    by: Correlator | None
    """Correlator whose score ranks metrics; without one, the median of the ranks by all correlators.
    """

    pattern: Sequence[Sequence[Any]]
    """Pattern to look for in place of the target, as ascending times and values; empty for none."""

    splits: int | None
    """Number of segments, from 2; without it, chosen to suit the target."""

    target: str
    """Name of the target."""

    windows: Sequence[Sequence[Any]]
    """Windows of time whose rows are compared, both ends included; either end may be open. Rows in
    several windows count once. All rows are compared if it is empty.
    """

Correlator = Literal["pearson", "spearman", "euclidean", "manhattan", "dtw", "same-splits", "best-splits", "linear-pattern"]

Detector = Literal["integral_comparison", "local_statistics", "average_amount", "best_model_order", "fast_check", "linear_check", "polynomial_check"]


class DetectorRules(TypedDict, total=False):
    """Thresholds of `integral_comparison` and `local_statistics`, and the parts of the latter."""

    change: float
    """Relative change above which a change is certain."""

    no_change: float
    """Relative change up to which nothing changed."""

    parts: int
    """Number of parts of x: fewer if a part would have only one value, more if the values cannot be
    divided equally.
    """

Direction = Literal["callers", "callees"]


class DrawnStacks(TypedDict, total=False):
    """The stacks that a drawing shows."""

    by: str | None
    """The roots below which stacks are placed."""

    focus: str | None
    """Only stacks that contain these functions, as parsed by `Focus::new`."""

    ignore: str | None
    """No stack that contains these functions."""


class ExpandLimits(TypedDict, total=False):
    """Limits of an expansion."""

    max_breadth: int
    """Maximum number of extensions pursued for each branch."""

    max_depth: int
    """Maximum number of functions in a branch, without the first."""


class Filter(TypedDict, total=False):
    """Filter for the named runs, and the event to use."""

    benchmarks: Sequence[str]
    """Benchmarks of the runs; `*` in a name stands for any text, and an empty name for runs without
    one. If there are no names, all runs must have the same benchmark.
    """

    event: str | None
    """Event; by default the one with most samples."""

    window: Any | None
    """Part of each run's time; by default all of it."""

FoundKind = Literal["program", "build", "benchmark", "label", "function", "module", "file"]


class FunctionPatterns(TypedDict, total=False):
    """Patterns of functions, by symbol, module and source file. In a pattern, `*` stands for any text;
    all other characters are literal.
    """

    files: Sequence[str]
    """Patterns of source files, as recorded in frames."""

    functions: Sequence[str]
    """Patterns of symbols, as returned by `key_symbol`(super::key_symbol)."""

    modules: Sequence[str]
    """Patterns of the names of files that code was loaded from."""


class HistoryQuery(TypedDict, total=False):
    """A query for the runs of a history."""

    ancestry: Sequence[Sequence[str]] | None
    """The commits by which builds are ordered. Each build keeps its runs of these commits, and builds
    without such runs are left out. By default, builds are ordered by time.
    """

    benchmarks: Sequence[str]
    """The benchmarks, see `Filter`(crate::sources::Filter::benchmarks); by default the only one."""

    event: str | None
    """The event; by default the one that most runs measured."""

    executable: str | None
    """The program; by default the only one that has runs of the benchmark."""

    matching: KeyOptions
    """How functions of the builds are matched."""


class HotRequest(TypedDict, total=False):
    """Selection of the build whose costs are shown in source code."""

    filter: Filter
    """Selection of runs and event."""

    named: Build | None
    """The profiles; by default, those returned by `newest_of_branch`."""


class IgnoreEntry(TypedDict, total=False):
    """An entry by which findings of a function do not count, until a day."""

    ignored: IgnoredFunction
    """The function, the reason, and the last day."""

    line: int
    """Line in the file, counted from 1."""


class Ignored(TypedDict, total=False):
    """Why a finding does not count for the verdict."""

    expires: str
    """The last day on which the finding is ignored."""

    reason: str
    """The reason given by the user."""


class IgnoredFunction(TypedDict, total=False):
    """A function whose findings do not count for the verdict."""

    function: str
    """The function's symbol, in any form that `key_symbol`(crate::functions::key_symbol) accepts.
    """

    module: str | None
    """The file that its code was loaded from; None for any file."""

    why: Ignored
    """The reason and the last day."""


class JudgedRequest(TypedDict, total=False):
    """The build of a history that is judged, and the builds it is compared with."""

    at: str | None
    """The id of a run of the build, or its beginning; the newest build if None."""

    window: int
    """Number of builds before it from which it is predicted; if the program has only one build, number
    of runs.
    """

    window_runs: int | None
    """Number of runs before it from which it is predicted instead, whether or not there was a level
    shift among them.
    """


class KeyOptions(TypedDict, total=False):
    """User options for keys."""

    exact_symbols: bool
    """Whether symbols are compared literally, without any rule. Default false."""

    ignore_template_arguments: bool
    """Whether instantiations of one template, generic function or type are one function. Default
    false, as `parse<Json>` may be slower while `parse<Xml>` is not.
    """


class LabelledRuns(TypedDict, total=False):
    """Runs of any number of programs and builds, selected by labels and time. Averages of runs are
    left out.
    """

    labels: str
    """Conditions on their labels."""

    since: str | None
    """Only the time from this one on."""

    until: str | None
    """Only the time before this one."""


class Listing(TypedDict, total=False):
    """Selection of listed runs, which must match all filters; newest first."""

    benchmarks: Sequence[str]
    """Only runs of these benchmarks, if any; `*` in a name stands for any text."""

    executable: str | None
    """Only runs of this program."""

    labels: Mapping[str, Any]
    """Only runs with all of these labels."""

    limit: int | None
    """Maximum number of builds or runs."""

    offset: int
    """Number of builds or runs to leave out at the beginning."""

    since: str | None
    """Only runs recorded at this time or later."""

    text: str | None
    """Only runs with this text in the name of the program, build or benchmark, regardless of case.
    """

    until: str | None
    """Only runs recorded before this time."""

Measure = Literal["pearson", "spearman"]

Method = Literal["greedy", "informed", "correlation"]

Observation = Literal["run", "build"]

Observed = Literal["share", "cost"]

Order = Literal["self", "total"]


class Policy(TypedDict, total=False):
    """A project's requirements on a release. The [module](self) describes the file format."""

    attribution: Attribution
    """Rules that attribute the cost of functions to their callers."""

    baseline: str | None
    """Selector of the baseline, usually a tag."""

    benchmarks: Mapping[str, Any]
    """The benchmarks to compare, by name, with thresholds that override the general ones. If empty,
    the benchmarks of both sides are compared.
    """

    ignore: Sequence[IgnoreEntry]
    """Findings that do not count, in the order of the file."""

    thresholds: Thresholds
    """Thresholds for all benchmarks."""


class Prune(TypedDict, total=False):
    """Limits of a call tree."""

    max_depth: int
    """Number of levels to keep."""

    min_share: float
    """Share (0 to 1) below which stacks are cut."""

SavingsOf = Literal["functions", "modules"]


class SavingsOptions(TypedDict, total=False):
    """Options of a search for savings."""

    inlined: bool
    """Whether inlined functions count separately from those that they were compiled into."""

    less: float
    """The saved part of the cost, above 0 and at most 1."""

    limit: int | None
    """Maximum number of functions or libraries; unlimited if None."""

    matching: KeyOptions
    """How functions of several builds are matched."""

    of: SavingsOf
    """The kind of listed code."""

    order: Order
    """The cost that orders the list, and that is partly saved."""


class ShownCommit(TypedDict, total=False):
    """A commit as shown in a history."""

    author_time: str
    """Author time."""

    graph: Sequence[str]
    """Text to the left of the commit in a drawing of the ancestry: for its first line, for further
    lines, and lines between it and the next commit. Empty without a drawing.
    """

    hash: str
    """Commit id."""

    parents: Sequence[str]
    """Parents; if only commits of a path are shown, the nearest shown ancestors."""

    refs: Sequence[str]
    """The branches and tags that point to it, as git writes them: `HEAD -> main`, `tag: v1`."""

    subject: str
    """The first paragraph of the message."""


class SuspectOptions(TypedDict, total=False):
    """Criteria for suspects."""

    limit: int
    """Maximum number of listed suspects."""

    min_score: float
    """Minimum score of a suspect; for a function that is gone, its negative."""

    min_share: float
    """Minimum share that a function must have in some run."""

    window: int
    """Number of earlier builds that determine the expectation, at least 1."""


class Thresholds(TypedDict, total=False):
    """Options of a comparison that are set explicitly."""

    alpha: float | None
    """See `CompareOptions::alpha`."""

    min_effect: float | None
    """See `CompareOptions::min_effect`."""

    min_samples: int | None
    """See `CompareOptions::min_samples`."""

    min_share: float | None
    """See `CompareOptions::min_share`."""

    normalisation: Any | None
    """See `CompareOptions::normalisation`."""

    worse_if: Mapping[str, Any]
    """See `CompareOptions::worse_if`. Metrics that are missing here keep their setting of the next
    level.
    """

    x: str | None
    """Name of the metric with the input size by which curves are compared; see
    `CheckRequest`(crate::check::CheckRequest).
    """

WorseIf = Literal["higher", "lower", "never"]


#: The list of each answer that is its table, and the path and type of each column.
TABLES: dict[str, tuple[str, str]] = {
    "bisect": ("commits", """
        first:float hash:str having:float runs:int skipped:str
    """),
    "blame": ("lines", """
        line:int self.samples:int self.share:float self.value:int source:str total.samples:int
        total.share:float total.value:int was.self.samples:int was.self.share:float
        was.self.value:int was.total.samples:int was.total.share:float was.total.value:int
    """),
    "bottlenecks": ("functions", """
        benchmarks:json coefficient:float function:str high:float low:float module:str p:float
        q:float
    """),
    "builds": ("builds", """
        commit.author_time:str commit.dirty:bool commit.hash:str commit.parents:json
        commit.subject:str executable:str gnu_build_id:str profiles:json revision:str tags:json
        totals.own_bytes:int totals.profiles:int totals.samples:int totals.source_bytes:int
        version:str
    """),
    "calibrate": ("visible", """
        change:float function:str module:str share:float
    """),
    "calibrate-curves": ("ways", """
        comparisons.comparisons:int comparisons.high:float comparisons.low:float
        comparisons.reports:int comparisons.share:float detector:str functions.comparisons:int
        functions.high:float functions.low:float functions.reports:int functions.share:float
    """),
    "calls": ("threads", """
        calls:int end_ns:int expressions:json gaps:json long_calls:json name:str outliers_ns:json
        pid:int records:int start_ns:int tid:int
    """),
    "check": ("comparisons.findings", """
        affected_callers:json attributed_callees:json attributed_self.baseline_cost:float
        attributed_self.baseline_samples:int attributed_self.baseline_share:float
        attributed_self.candidate_cost:float attributed_self.candidate_samples:int
        attributed_self.candidate_share:float attributed_self.change:float
        attributed_self.change_high:float attributed_self.change_low:float attributed_self.p:float
        attributed_self.q:float basis:str call_paths:json calls.baseline:float calls.candidate:float
        calls.each:float calls.often:float command:str file:str function:str grown_callees:json
        ignored.expires:str ignored.reason:str instances:int kind:str line:int module:str
        more_call_paths:int moved_from.function:str moved_from.module:str moved_to.function:str
        moved_to.module:str reason:str replaced_by.function:str replaced_by.module:str
        replaces.function:str replaces.module:str runs.baseline:json runs.candidate:json
        self.baseline_cost:float self.baseline_samples:int self.baseline_share:float
        self.candidate_cost:float self.candidate_samples:int self.candidate_share:float
        self.change:float self.change_high:float self.change_low:float self.p:float self.q:float
        total.baseline_cost:float total.baseline_samples:int total.baseline_share:float
        total.candidate_cost:float total.candidate_samples:int total.candidate_share:float
        total.change:float total.change_high:float total.change_low:float total.p:float
        total.q:float weak:bool
    """),
    "compare-models": ("functions", """
        baseline.certainty.exponent.high:float baseline.certainty.exponent.low:float
        baseline.certainty.exponent.value:float baseline.certainty.winner:float
        baseline.model.adjusted_r_square:float baseline.model.aicc:float
        baseline.model.coefficients:json baseline.model.curve:json baseline.model.kind:str
        baseline.model.parameters:float baseline.model.r_square:float baseline.model.smoothing:float
        baseline.model.x_end:float baseline.model.x_start:float baseline.points:json
        candidate.certainty.exponent.high:float candidate.certainty.exponent.low:float
        candidate.certainty.exponent.value:float candidate.certainty.winner:float
        candidate.model.adjusted_r_square:float candidate.model.aicc:float
        candidate.model.coefficients:json candidate.model.curve:json candidate.model.kind:str
        candidate.model.parameters:float candidate.model.r_square:float
        candidate.model.smoothing:float candidate.model.x_end:float candidate.model.x_start:float
        candidate.points:json curves:json function:str growth.baseline:float growth.candidate:float
        growth.high:float growth.low:float ignored:bool inherited_by:json largest_x:float
        matters_from:float module:str p:float q:float ratio:float reason:str result:str
    """),
    "correlate": ("metrics", """
        agreeing:json lag:float name:str p:float q:float ranks:json run:int same:json score:float
        scores:json sign:str
    """),
    "cost-over-time": ("series", """
        labels:json points:json
    """),
    "diff": ("comparison.findings", """
        affected_callers:json attributed_callees:json attributed_self.baseline_cost:float
        attributed_self.baseline_samples:int attributed_self.baseline_share:float
        attributed_self.candidate_cost:float attributed_self.candidate_samples:int
        attributed_self.candidate_share:float attributed_self.change:float
        attributed_self.change_high:float attributed_self.change_low:float attributed_self.p:float
        attributed_self.q:float basis:str call_paths:json calls.baseline:float calls.candidate:float
        calls.each:float calls.often:float command:str file:str function:str grown_callees:json
        ignored.expires:str ignored.reason:str instances:int kind:str line:int module:str
        more_call_paths:int moved_from.function:str moved_from.module:str moved_to.function:str
        moved_to.module:str reason:str replaced_by.function:str replaced_by.module:str
        replaces.function:str replaces.module:str runs.baseline:json runs.candidate:json
        self.baseline_cost:float self.baseline_samples:int self.baseline_share:float
        self.candidate_cost:float self.candidate_samples:int self.candidate_share:float
        self.change:float self.change_high:float self.change_low:float self.p:float self.q:float
        total.baseline_cost:float total.baseline_samples:int total.baseline_share:float
        total.candidate_cost:float total.candidate_samples:int total.candidate_share:float
        total.change:float total.change_high:float total.change_low:float total.p:float
        total.q:float weak:bool
    """),
    "evolve": ("stacks", """
        costs:json depth:int file:str folded:bool function:str kind:str module:str parent:int
    """),
    "expand": ("contexts", """
        candidate_actual:float candidate_difference:float candidate_expected:float
        candidate_score:float depth:int difference:float folded:bool function:str module:str
        rank:float status:str
    """),
    "hot": ("spots", """
        function:str line:int path:str self.samples:int self.share:float self.value:int source:str
        total.samples:int total.share:float total.value:int
    """),
    "label-sets": ("sets", """
        events:json labels:json runs:int
    """),
    "log": ("commits", """
        author_time:str build:str compared:json cost:int graph:json hash:str parents:json refs:json
        runs:int subject:str verdict:str
    """),
    "model-function": ("points", """
        x:float y:float
    """),
    "model-two": ("points", """
        x:json y:float
    """),
    "models": ("functions", """
        certainty.exponent.high:float certainty.exponent.low:float certainty.exponent.value:float
        certainty.winner:float function:str left_out:json models:json module:str points:json
        spread:float
    """),
    "occurrences": ("runs", """
        benchmark:str build:str event:str executable:str profile:str recorded:str samples:int
        share:float
    """),
    "outliers": ("outliers", """
        calls:int duration_ns:int end_ns:int frames:json function:str lost_ns:int meanwhile:json
        pid:int start_ns:int thread:str tid:int typical_ns:int within:json
    """),
    "phases": ("phases", """
        changes:json cost.samples:int cost.share:float cost.value:int from:int functions:json
        number:int to:int
    """),
    "potential": ("functions", """
        cost.samples:int cost.share:float cost.value:int file:str function:str kind:str module:str
        potential:float self.samples:int self.share:float self.value:int total.samples:int
        total.share:float total.value:int
    """),
    "regressions-over-time": ("functions", """
        actual:float changes:json deviation:float difference:float expected:float function:str
        is_cause:bool module:str moved_from.function:str moved_from.module:str moved_to.function:str
        moved_to.module:str p:float q:float score:float status:str
    """),
    "runs": ("runs", """
        benchmark:str build:str events:json executable:str format:str id:str labels:json
        metrics:json quality.lost:float quality.truncated:float quality.unresolved:float
        quality.without_stack:float recorded:str samples:int source_bytes:int
    """),
    "savings": ("savings", """
        function:str module:str programs:json saved.high:float saved.low:float saved.value:float
        self.high:float self.low:float self.value:float share:float total.high:float total.low:float
        total.value:float
    """),
    "search": ("found", """
        build:str executables:json kind:str module:str name:str
    """),
    "series": ("points", """
        build:str cost:float high:float low:float mean:float profile:str recorded:str samples:int
        share:float value:int
    """),
    "show": ("profiles", """
        benchmark:str calls_over_time.calls:int calls_over_time.kept.bytes:int
        calls_over_time.kept.calls:int calls_over_time.kept.nodes:int calls_over_time.records:int
        calls_over_time.threads:int event_totals:json events:json format:str id:str labels:json
        lost_events:int merged_from:str metrics:json metrics_over_time:json origin.arch:str
        origin.command:str origin.cpu:str origin.duration_ns:int origin.host:str origin.kernel:str
        own_bytes:int quality.lost:float quality.truncated:float quality.unresolved:float
        quality.without_stack:float recorded:str replaces:json sample_labels:json samples:int
        samples_without_stack:int source_bytes:int truncated_samples:int unresolved:json
        unresolved_samples:int
    """),
    "source": ("files.lines", """
        line:int self.samples:int self.share:float self.value:int source:str total.samples:int
        total.share:float total.value:int
    """),
    "suspects": ("suspects", """
        callees.contexts:json callees.direction:str callees.function.function:str
        callees.function.module:str callees.history.benchmark:str callees.history.executable:str
        callees.history.runs:int callees.history.sample_type.event:str
        callees.history.sample_type.unit:str callees.judged:int callees.method:str
        callees.run.build:str callees.run.profile:str callees.run.recorded:str callees.window:int
        callers.contexts:json callers.direction:str callers.function.function:str
        callers.function.module:str callers.history.benchmark:str callers.history.executable:str
        callers.history.runs:int callers.history.sample_type.event:str
        callers.history.sample_type.unit:str callers.judged:int callers.method:str
        callers.run.build:str callers.run.profile:str callers.run.recorded:str callers.window:int
        command:str samples:json score.actual:float score.changes:json score.deviation:float
        score.difference:float score.expected:float score.function:str score.is_cause:bool
        score.module:str score.moved_from.function:str score.moved_from.module:str
        score.moved_to.function:str score.moved_to.module:str score.p:float score.q:float
        score.score:float score.status:str self_actual:float self_expected:float
    """),
    "timeline": ("rows", """
        cost.samples:int cost.share:float cost.value:int kind:str module:str name:str values:json
    """),
    "top": ("functions", """
        file:str function:str kind:str module:str self.samples:int self.share:float self.value:int
        total.samples:int total.share:float total.value:int
    """),
    "tree": ("nodes", """
        cut.samples:int cut.share:float cut.stacks:int cut.value:int depth:int file:str folded:bool
        function:str kind:str line:int module:str parent:int self.samples:int self.share:float
        self.value:int total.samples:int total.share:float total.value:int
    """),
    "waits": ("functions", """
        caller:str calls:int function:str longest_ns:int total_ns:int
    """),
}


class Questions:
    """A method for each question."""

    def _ask(self, answer: type[A], question: str, fields: dict[str, Any]) -> A:
        """Answers a question. Fields that are None, and `self`, are not passed on."""
        raise NotImplementedError

    def align(
        self,
        named: Sequence[Build],
        metric: str | None = None,
        *,
        filter: Filter | None = None,
        slices: int | None = None,
    ) -> Answer:
        """How two runs of the same work correspond to each other over time.

        Args:
            named: The reference, and the run that is aligned with it. The newest run of each
                build is used.
            metric: The metric by which they are aligned, by name or as `NAME = EXPRESSION`; the
                whole event if None.
            filter: Filter of their runs, and the event.
            slices: Maximum number of slices of each run.

        Returns:
            An answer with these fields:

            error: Sum of the metric's differences along the path (equation 1), in its unit.
            mean_error: Mean difference along the path, as a share of the metric's range in both
                runs.
            metric: The metric by which the runs are aligned.
            path: The best path: pairs of matching times in both runs, in seconds since the
                first sample of each.
            runs: The reference run, and the run aligned to it.
            warnings: Reasons not to trust the path.
        """
        return self._ask(Answer, "align", locals())

    def bisect(
        self,
        function: str | None = None,
        *,
        ancestry: Sequence[Sequence[str]] | None = None,
        check: CheckRequest | None = None,
        history: HistoryQuery | None = None,
        skipped: Mapping[str, Any] | None = None,
        sure: float | None = None,
    ) -> Answer:
        """The commit that introduced a regression.

        Args:
            function: The function whose change is sought: its name, a part of it, or `re:` and
                a regular expression. Default: the function of the first finding.
            ancestry: The commits after the good one up to the bad one, starting with the bad
                one, and then the good one: as `git rev-list --topo-order --parents GOOD..BAD` lists
                them.
            check: Options for comparing the bad commit with the good one. Sides and benchmark
                are taken from `history`.
            history: Selection of the commits' runs.
            skipped: Commits that cannot be measured, with the reasons.
            sure: Probability at which a commit counts as found.

        Returns:
            An answer with these fields, and as a table a row for each of `commits`:

            bad: The commit with the finding.
            benchmark: The benchmark; None for runs without one.
            commits: Candidates for the first commit, starting with the bad one, descendants
                before ancestors.
            executable: The program; None if nothing has been measured yet.
            finding: The finding; None if the bad commit has not been found to be worse than the
                good one.
            good: The commit without the finding.
            good_runs: Number of runs of the good commit.
            state: Outcome, or the next step.
        """
        return self._ask(Answer, "bisect", locals())

    def blame(
        self,
        path: str | None = None,
        *,
        chosen: Mapping[str, Any] | None = None,
        of: HotRequest | None = None,
        policy: Policy | None = None,
        since: Build | None = None,
    ) -> Answer:
        """The cost of each line of a source file.

        Args:
            path: The source file.
            chosen: Choices between several files of the work tree, by path in the profiles.
            of: The build.
            policy: The policy of the comparison.
            since: The baseline. A text that names no build is parsed as a revision.

        Returns:
            An answer with these fields, and as a table a row for each of `lines`:

            build: The build's version.
            executable: The executable.
            files: Matching source files in the profiles.
            functions: The functions in the file, sorted by line.
            incomplete: Share of the samples of all events that lack some or all callers, from 0
                to 1; omitted in JSON if none does.
            lines: All lines of the file.
            path: Path of the file, as given.
            profiles: Ids of the profiles.
            sample_type: The measured event; None if the profiles measured nothing.
            samples: Number of samples of that type in all profiles.
            since: The build that costs are compared with.
            text_known: Whether the text at build time is known. If not, lines have no cost, and
                functions are found by name.
            value: Their value, in the sample type's unit.
            windows: The selected part of the time of each profile; omitted in JSON if all of it
                is selected.
        """
        return self._ask(Answer, "blame", locals())

    def bottlenecks(
        self,
        *,
        history: HistoryQuery | None = None,
        limit: int | None = None,
        options: BottleneckOptions | None = None,
    ) -> Answer:
        """The functions whose cost correlates with a metric of the runs.

        Args:
            history: The runs, of any program and benchmark.
            limit: Maximum number of functions; unlimited if None.
            options: The metric and the method.

        Returns:
            An answer with these fields, and as a table a row for each of `functions`:

            benchmarks: The benchmarks, by program and name.
            by: The samples that are counted: self or total.
            combination: The way the coefficients of several benchmarks are combined.
            functions: The functions, strongest correlation first, then by name.
            measure: The correlation coefficient.
            metric: The metric.
            min_runs: Minimum number of runs in a benchmark, and of runs that contain a
                function.
            negative: Whether negative correlations come first.
            omit_absent: Whether runs without a function are left out for it; otherwise, they
                count as zero samples.
            omitted: Number of functions that a limit left out.
        """
        return self._ask(Answer, "bottlenecks", locals())

    def builds(
        self,
        text: str | None = None,
        *,
        benchmarks: Sequence[str] | None = None,
        executable: str | None = None,
        labels: Mapping[str, Any] | None = None,
        limit: int | None = None,
        offset: int | None = None,
        since: str | None = None,
        until: str | None = None,
    ) -> Answer:
        """The builds in a store.

        Args:
            text: Only runs with this text in the name of the program, build or benchmark,
                regardless of case.
            benchmarks: Only runs of these benchmarks, if any; `*` in a name stands for any
                text.
            executable: Only runs of this program.
            labels: Only runs with all of these labels.
            limit: Maximum number of builds or runs.
            offset: Number of builds or runs to leave out at the beginning. By default 0.
            since: Only runs recorded at this time or later.
            until: Only runs recorded before this time.

        Returns:
            An answer with these fields, and as a table a row for each of `builds`:

            builds: The builds; [in a listing](super::Listing), most recently recorded first.
            file_bytes: Size of the store's file in bytes; None for a store in memory, and if
                only some runs are listed.
            more: Number of builds that a limit left out.
            saving: Ratio of the recordings' size to the file's size; None without either.
            totals: Sums over all builds, including those left out by a limit.
        """
        return self._ask(Answer, "builds", locals())

    def calibrate(
        self,
        named: Build,
        *,
        filter: Filter | None = None,
        matching: KeyOptions | None = None,
        runs: int | None = None,
        splits: int | None = None,
        thresholds: Thresholds | None = None,
    ) -> Answer:
        """How reliable comparisons with a build are.

        Args:
            named: The profiles.
            filter: Filter of their runs, and the event.
            matching: How functions are matched.
            runs: Number of runs on each side; half of the runs if None.
            splits: Number of comparisons; by default as in `CalibrateOptions`.
            thresholds: Thresholds of the comparisons.

        Returns:
            An answer with these fields, and as a table a row for each of `visible`:

            build: The build's version.
            executable: The executable.
            false_reports: How often comparisons reported a function; None if there are too few
                runs.
            incomplete: Share of the samples of all events that lack some or all callers, from 0
                to 1; omitted in JSON if none does.
            metrics: How often each metric was reported that counts for the verdict, by name.
            profiles: Ids of the profiles.
            reported: The functions that were reported, most often first.
            runs: Number of runs that have samples of the event.
            runs_a_side: Number of runs on each side of a comparison.
            runs_needed: Minimum number of runs.
            sample_type: The measured event; None if the profiles measured nothing.
            samples: Number of samples of that type in all profiles.
            thresholds: The thresholds of the comparisons.
            value: Their value, in the sample type's unit.
            visible: The smallest detectable changes of the functions with most samples, in this
                order.
            windows: The selected part of the time of each profile; omitted in JSON if all of it
                is selected.
        """
        return self._ask(Answer, "calibrate", locals())

    def calibrate_curves(
        self,
        named: Build,
        *,
        filter: Filter | None = None,
        matching: KeyOptions | None = None,
        runs: int | None = None,
        splits: int | None = None,
        thresholds: Thresholds | None = None,
        x: str | None = None,
    ) -> Answer:
        """How reliable comparisons of its cost curves are.

        Args:
            named: The profiles.
            filter: Filter of their runs, and the event.
            matching: How functions are matched.
            runs: Number of runs on each side; half of the runs if None.
            splits: Number of comparisons; by default as in `CalibrateOptions`.
            thresholds: Thresholds of the comparisons.
            x: A metric of the runs.

        Returns:
            An answer with these fields, and as a table a row for each of `ways`:

            build: The build's version, or the file name of a table that is compared; None for
                another table.
            cost: Cost of functions that is y.
            executable: The program; None for a table.
            of_calls: Whether each point is a call, or several that were stored together, and y
                their duration; otherwise a point is a run or a part of one.
            runs: Number of runs that have x; for a table, of its rows.
            sample_type: The sample type; None for a table.
            ways: How often each method reports a degradation: the test first, then Perun's
                detectors. Empty if an x has only one run.
            without_x: Number of runs that do not have x and were left out.
            x: The name of x: a metric of runs, a label of runs or samples, `time`, an argument
                of calls, their `order`, or a column.
        """
        return self._ask(Answer, "calibrate-curves", locals())

    def calls(
        self,
        named: Build,
        *,
        filter: Filter | None = None,
        limit: int | None = None,
        thresholds: CallThresholds | None = None,
    ) -> Answer:
        """The calls of a run's threads over time.

        Args:
            named: The profiles; the newest of several runs is used.
            filter: Filter of their runs, and the part of the time.
            limit: Maximum number of threads; unlimited if None.
            thresholds: Thresholds of compression; if None, the stored ones or the default.

        Returns:
            An answer with these fields, and as a table a row for each of `threads`:

            build: The build's version.
            call_duration: Duration above which calls are stored individually: a share of the
                thread's time (`1%`), or a time (`2000ns`).
            call_gap: Time between two calls of the same caller above which it is a gap.
            calls: Number of calls in all threads.
            duration_ns: Time from the first call of any thread to the end of the last call.
            every_call_kept: Whether every call is stored. If so, a time window has exactly its
                calls, compressed relative to the threads' time in it; otherwise it has the run's
                records that overlap it.
            executable: The executable.
            incomplete: Share of the samples of all events that lack some or all callers, from 0
                to 1; omitted in JSON if none does.
            omitted: Number of threads that a limit left out.
            profiles: Ids of the profiles.
            records: Number of records after compression.
            runs: Number of selected runs; this is the newest of them.
            sample_type: The measured event; None if the profiles measured nothing.
            samples: Number of samples of that type in all profiles.
            threads: The threads, by their first call.
            total_time: Duration at which an expression ends.
            value: Their value, in the sample type's unit.
            window: Time window that is shown; omitted from JSON if it is the whole run.
            windows: The selected part of the time of each profile; omitted in JSON if all of it
                is selected.
        """
        return self._ask(Answer, "calls", locals())

    def compare(
        self,
        baseline: Build | None,
        candidate: Build,
        *,
        against: Any | None = None,
        all: bool | None = None,
        benchmarks: Sequence[str] | None = None,
        counts: str | None = None,
        event: str | None = None,
        instances: bool | None = None,
        matching: KeyOptions | None = None,
        policy: Policy | None = None,
        policy_name: str | None = None,
        stacks: bool | None = None,
        thresholds: Thresholds | None = None,
        window: Any | None = None,
    ) -> Answer:
        """Whether a build got worse.

        Args:
            baseline: The baseline; by default the policy's.
            candidate: The candidate.
            against: The part of each run's time that is compared with; by default the same as
                `window`. The runs may be the same.
            all: Whether the answer includes every tested function.
            benchmarks: The benchmarks to compare; by default the policy's benchmarks, or
                otherwise all that both sides have.
            counts: Counts by function and run that a query engine computed over a dataset, with
                which builds are compared instead of their stacks: a Parquet file of the question
                `lake/counts`, or a folder of such files.
            event: The event to compare; by default the one with most samples.
            instances: See `CompareOptions::instances`.
            matching: How functions of the two builds are matched.
            policy: The policy.
            policy_name: The name of the policy in the answer, such as its file name.
            stacks: Whether the answer includes the stacks of both sides, for drawings.
            thresholds: Thresholds that override the policy.
            window: The part of each run's time that is judged; by default all.

        Returns:
            An answer with these fields, and as a table a row for each of `comparisons.findings`:

            comparisons: The comparisons, one per benchmark. Not empty.
            reason: The verdict as a sentence.
            verdict: The worst of the comparisons' verdicts: a regression, otherwise
                insufficient data, otherwise clean.
        """
        return self._ask(Answer, "check", locals())

    def compare_models(
        self,
        named: Sequence[Build],
        function: str | None = None,
        *,
        cost: Order | None = None,
        filter: Filter | None = None,
        inlined: bool | None = None,
        limit: int | None = None,
        options: CompareModelsOptions | None = None,
        x: str | None = None,
    ) -> Answer:
        """How cost grows in two builds.

        Args:
            named: The baseline and the candidate.
            function: A function, or `re:` and a regular expression; all functions if None.
            cost: The cost of functions that is y. By default `total`.
            filter: Filter of their runs, and the event.
            inlined: Whether inlined functions count separately from those that they were
                compiled into.
            limit: Maximum number of functions.
            options: Rules for what counts as a change.
            x: The meaning of x, see `ModelRequest::x`.

        Returns:
            An answer with these fields, and as a table a row for each of `functions`:

            baseline: The baseline.
            candidate: The candidate.
            commits: The commits of the two builds, if both are known and differ; omitted from
                JSON otherwise.
            functions: The functions: degradations first; within each result, the highest cost
                at the largest x first.
            omitted: Number of functions that a limit left out.
            unchanged: Number of unchanged functions left out because only changes were
                requested; omitted from JSON if zero.
            verdict: Outcome: a regression if any function is a degradation, insufficient if no
                function could be tested.
        """
        return self._ask(Answer, "compare-models", locals())

    def correlate(
        self,
        named: Sequence[Build],
        *,
        align: str | None = None,
        filter: Filter | None = None,
        inlined: bool | None = None,
        limit: int | None = None,
        metrics: Sequence[str] | None = None,
        options: CorrelateOptions | None = None,
        slices: int | None = None,
    ) -> Answer:
        """The metrics of runs that explain another metric.

        Args:
            named: The runs. The first one has the target. The newest run of each build is used.
            align: A metric of all runs by which the others are aligned with the first.
            filter: Filter of their runs, and the event.
            inlined: Whether inlined functions count separately from those that they were
                compiled into.
            limit: Maximum number of metrics.
            metrics: Metrics computed from others, as `NAME = EXPRESSION`.
            options: The target, and how metrics are compared with it. Times are seconds since
                the first run's first sample.
            slices: Maximum number of slices of the first run's time.

        Returns:
            An answer with these fields, and as a table a row for each of `metrics`:

            by: Correlator that ranks; without one, the median of the ranks by all correlators.
            from: Time of the first row; 0 without rows.
            left_out: Metrics that are not compared.
            metrics: The metrics, best explanation first; equal scores by the mean of all ranks.
            omitted: Number of metrics that a limit left out.
            rows: Number of rows or slices in the windows.
            runs: The runs whose metrics are compared, the target's first; empty for a table.
            shifts: Number of shifts of the target from which p is computed.
            splits: Number of segments of the target.
            target: The target.
            time: Column of times. Without one, times are row numbers from 1, or for runs,
                seconds since the first sample of the first run.
            to: Time of the last row.
            unranked: Number of metrics of functions and the like that are not compared because
                others cost more or because they have values in too few slices.
            windows: First and last time of each window with rows; windows that overlap or
                follow each other are one.
        """
        return self._ask(Answer, "correlate", locals())

    def cost_over_time(
        self,
        *,
        event: str | None = None,
        group_by: Sequence[str] | None = None,
        runs: LabelledRuns | None = None,
        step: int | None = None,
    ) -> Answer:
        """The cost of runs with the same labels over the time of day.

        Args:
            event: Event; by default the one that the newest run shows by default.
            group_by: The labels by whose values costs are added up; one sum of all runs if
                empty.
            runs: The runs. Their time is extended to whole steps.
            step: The length of a step in seconds, at least 1. By default 60.

        Returns:
            An answer with these fields, and as a table a row for each of `series`:

            sample_type: The measured event; None without any.
            series: The costs for each set of labels, in ascending order of their values.
            step: The length of a step in seconds. Steps begin at its multiples since 1970.
        """
        return self._ask(Answer, "cost-over-time", locals())

    def diff(
        self,
        baseline: Build,
        candidate: Build,
        *,
        against: Any | None = None,
        filter: Filter | None = None,
        matching: KeyOptions | None = None,
        stacks: DrawnStacks | None = None,
    ) -> Drawing:
        """How stacks of two builds differ.

        Args:
            baseline: The baseline.
            candidate: The candidate.
            against: The part of the baseline's time, if it differs.
            filter: Filter of their runs, the event, and the part of their time.
            matching: How functions of the two builds are matched.
            stacks: The stacks to draw.

        Returns:
            An answer with these fields, and as a table a row for each of `comparison.findings`:

            comparison: The comparison, with the test of every function and the stacks of both
                sides.
            new_outliers: For traces of calls, a sentence about functions whose calls took
                unusually long only in the candidate.
        """
        return self._ask(Drawing, "diff", locals())

    def evolve(
        self,
        *,
        history: HistoryQuery | None = None,
        prune: Prune | None = None,
    ) -> Answer:
        """The call tree of a program over its builds.

        Args:
            history: The runs.
            prune: Limits of the tree. A stack is kept if its share is large enough in one
                build.

        Returns:
            An answer with these fields, and as a table a row for each of `stacks`:

            benchmark: The benchmark; None for runs of any.
            builds: The builds, oldest first.
            cut: Number of stacks that were cut.
            executable: The program.
            max_depth: Number of levels that were kept.
            min_share: Share that a stack has in one build at least.
            runs: Number of runs.
            sample_type: The sample type of all costs.
            stacks: The stacks: callers before their callees, siblings by descending cost in the
                last build.
        """
        return self._ask(Answer, "evolve", locals())

    def expand(
        self,
        function: str | None = None,
        metric: str | None = None,
        *,
        direction: Direction | None = None,
        history: HistoryQuery | None = None,
        judged: JudgedRequest | None = None,
        method: Method | None = None,
        reach: ExpandLimits | None = None,
        unfold: bool | None = None,
    ) -> Answer:
        """The contexts that explain a function's change.

        Args:
            function: The function: its name, a part of it, or `re:` and a regular expression
                that matches one function.
            metric: The metric, for `Method::Correlation`.
            direction: Whether to expand callers or callees. By default `callers`.
            history: The runs.
            judged: The build that is judged.
            method: How contexts are ranked. By default `greedy`.
            reach: How far to expand.
            unfold: Whether to show every context of a chain, not only those where it begins,
                branches or changes.

        Returns:
            An answer with these fields, and as a table a row for each of `contexts`:

            contexts: The branches in preorder, starting with only the function.
            direction: Direction in which branches grew.
            function: The function.
            history: The runs.
            judged: Number of judged runs.
            method: Ranking of branches.
            run: The newest judged run.
            window: Number of earlier runs that determine the expectations.
        """
        return self._ask(Answer, "expand", locals())

    def flame(
        self,
        named: Build,
        *,
        filter: Filter | None = None,
        stacks: DrawnStacks | None = None,
    ) -> Drawing:
        """The stacks of a flame graph.

        Args:
            named: The profiles.
            filter: Filter of their runs, and the event.
            stacks: The stacks to draw.

        Returns:
            An answer with these fields:

            build: The build's version.
            executable: The executable.
            frame: Index in `frames` of each node's frame.
            frames: The frames.
            incomplete: Share of the samples of all events that lack some or all callers, from 0
                to 1; omitted in JSON if none does.
            parent: Index of each node's caller; `null` for the outermost frame of a stack.
            profiles: Ids of the profiles.
            sample_type: The measured event; None if the profiles measured nothing.
            samples: Number of samples of that type in all profiles.
            self: Cost of each stack by itself, in the sample type's unit.
            total: Cost of each stack with all stacks below it.
            value: Their value, in the sample type's unit.
            windows: The selected part of the time of each profile; omitted in JSON if all of it
                is selected.
        """
        return self._ask(Drawing, "flame", locals())

    def hot(
        self,
        path: str | None = None,
        *,
        chosen: Mapping[str, Any] | None = None,
        limit: int | None = None,
        min_share: float | None = None,
        of: HotRequest | None = None,
        order: Order | None = None,
    ) -> Answer:
        """The most expensive lines of source files.

        Args:
            path: A source file, or a folder with source files. By default `.`.
            chosen: Choices between several files of the work tree, by path in the profiles.
            limit: Maximum number of lines; unlimited if None.
            min_share: Share of the total below which lines are left out. By default 0.01.
            of: The build.
            order: The cost by which lines are ordered. By default `self`.

        Returns:
            An answer with these fields, and as a table a row for each of `spots`:

            build: The build's version.
            doubtful: Source files of the profiles with several possible locations; nothing is
                listed for them.
            edited: Files whose text at build time is unknown. For these, and for files without
                line information, functions are listed in place of lines.
            executable: The executable.
            incomplete: Share of the samples of all events that lack some or all callers, from 0
                to 1; omitted in JSON if none does.
            omitted: Number of lines that a limit left out.
            order: The order of `spots`.
            profiles: Ids of the profiles.
            sample_type: The measured event; None if the profiles measured nothing.
            samples: Number of samples of that type in all profiles.
            spots: The lines, most expensive first, equal ones by path and line.
            value: Their value, in the sample type's unit.
            windows: The selected part of the time of each profile; omitted in JSON if all of it
                is selected.
        """
        return self._ask(Answer, "hot", locals())

    def label_sets(
        self,
        *,
        labels: str | None = None,
        since: str | None = None,
        until: str | None = None,
    ) -> Answer:
        """The distinct label sets of runs.

        Args:
            labels: Conditions on their labels. By default `{}`.
            since: Only the time from this one on.
            until: Only the time before this one.

        Returns:
            An answer with these fields, and as a table a row for each of `sets`:

            sets: The sets, in ascending order.
        """
        return self._ask(Answer, "label-sets", locals())

    def labels(
        self,
        text: str | None = None,
        *,
        benchmarks: Sequence[str] | None = None,
        executable: str | None = None,
        labels: Mapping[str, Any] | None = None,
        limit: int | None = None,
        offset: int | None = None,
        since: str | None = None,
        until: str | None = None,
    ) -> Answer:
        """The values of labels and metrics of the runs in a store.

        Args:
            text: Only runs with this text in the name of the program, build or benchmark,
                regardless of case.
            benchmarks: Only runs of these benchmarks, if any; `*` in a name stands for any
                text.
            executable: Only runs of this program.
            labels: Only runs with all of these labels.
            limit: Maximum number of builds or runs.
            offset: Number of builds or runs to leave out at the beginning. By default 0.
            since: Only runs recorded at this time or later.
            until: Only runs recorded before this time.

        Returns:
            An answer with these fields:

            benchmarks: The benchmarks. Runs without one are not counted.
            executables: The programs.
            labels: The values of each label, by its key.
            metrics: The metrics, by name.
        """
        return self._ask(Answer, "labels", locals())

    def log(
        self,
        *,
        ancestry: Sequence[Sequence[str]] | None = None,
        check: CheckRequest | None = None,
        history: HistoryQuery | None = None,
        shown: Sequence[ShownCommit] | None = None,
    ) -> Answer:
        """A commit history with measurements.

        Args:
            ancestry: Ancestry of all commits, shown or not.
            check: Options for judging a commit. Sides are taken from `history`.
            history: Selection of the commits' runs.
            shown: The commits to show, in this order.

        Returns:
            An answer with these fields, and as a table a row for each of `commits`:

            benchmark: The benchmark; None for runs without one.
            commits: The commits, in the order of the request.
            executable: The program; None if no commit was measured.
            sample_type: The sample type of costs; None if no commit was measured.
        """
        return self._ask(Answer, "log", locals())

    def model_function(
        self,
        named: Build,
        function: str | None = None,
        *,
        bins: Any | None = None,
        cost: Order | None = None,
        filter: Filter | None = None,
        fit: Any = None,
        inlined: bool | None = None,
        limit: int | None = None,
        x: str | None = None,
    ) -> Answer:
        """How the cost of a function grows with a number.

        Args:
            named: The runs.
            function: The function: its name, a part of it, or `re:` and a regular expression
                that matches one function.
            bins: Bins of x that are applied to the points first.
            cost: The cost of functions that is y. By default `total`.
            filter: Filter of the runs, and the event.
            fit: How curves are fitted to points.
            inlined: Whether inlined functions count separately from those that they were
                compiled into.
            limit: Maximum number of functions, if all are requested.
            x: The meaning of x.

        Returns:
            An answer with these fields, and as a table a row for each of `points`:

            build: The build's version, or the file name of a table that is compared; None for
                another table.
            certainty: Certainty that the first model wins, and of the exponent of x; `null` if
                there are too few or too many runs, or if they do not vary.
            cost: Cost of functions that is y.
            executable: The program; None for a table.
            function: The function, or the group of a table; empty if the table has no groups.
            left_out: Kinds that were not fitted, with the reasons.
            models: The models, best first: the simplest of those whose AICc is within 2 of the
                lowest, then the others by AICc. If several kinds were requested, the best model of
                each, in that order.
            module: The file that its code was loaded from; empty if unknown.
            of_calls: Whether each point is a call, or several that were stored together, and y
                their duration; otherwise a point is a run or a part of one.
            points: The points, sorted by x, then y.
            runs: Number of runs that have x; for a table, of its rows.
            sample_type: The sample type; None for a table.
            spread: The power of the fitted value that the standard deviation of y is
                proportional to, by which points were weighted; `null` if it was not estimated.
            without_x: Number of runs that do not have x and were left out.
            x: The name of x: a metric of runs, a label of runs or samples, `time`, an argument
                of calls, their `order`, or a column.
        """
        return self._ask(Answer, "model-function", locals())

    def model_two(
        self,
        named: Build,
        function: str | None = None,
        *,
        bins: Any | None = None,
        cost: Order | None = None,
        filter: Filter | None = None,
        fit: Any = None,
        inlined: bool | None = None,
        limit: int | None = None,
        other: str | None = None,
        x: str | None = None,
    ) -> Answer:
        """How the cost of a function grows with two numbers.

        Args:
            named: The runs.
            function: The function, see `FunctionModelRequest::function`.
            bins: Bins of x that are applied to the points first.
            cost: The cost of functions that is y. By default `total`.
            filter: Filter of the runs, and the event.
            fit: How curves are fitted to points.
            inlined: Whether inlined functions count separately from those that they were
                compiled into.
            limit: Maximum number of functions, if all are requested.
            other: The second number: a metric or label.
            x: The meaning of x.

        Returns:
            An answer with these fields, and as a table a row for each of `points`:

            build: The build's version.
            cost: Cost of the function that is y.
            executable: The program.
            function: The function.
            left_out: Reason why it cannot be fitted.
            model: The normal form; `null` if it cannot be fitted.
            module: The file that its code was loaded from; empty if unknown.
            points: The points, sorted by x, then y.
            runs: Number of runs that have both numbers.
            sample_type: The sample type.
            without_x: Number of runs without both, which were left out.
            x: Names of the two numbers, which are metrics or labels of runs.
        """
        return self._ask(Answer, "model-two", locals())

    def models(
        self,
        named: Build,
        *,
        bins: Any | None = None,
        cost: Order | None = None,
        filter: Filter | None = None,
        fit: Any = None,
        inlined: bool | None = None,
        limit: int | None = None,
        x: str | None = None,
    ) -> Answer:
        """How the cost of each function grows with a number.

        Args:
            named: The runs.
            bins: Bins of x that are applied to the points first.
            cost: The cost of functions that is y. By default `total`.
            filter: Filter of the runs, and the event.
            fit: How curves are fitted to points.
            inlined: Whether inlined functions count separately from those that they were
                compiled into.
            limit: Maximum number of functions, if all are requested.
            x: The meaning of x.

        Returns:
            An answer with these fields, and as a table a row for each of `functions`:

            build: The build's version, or the file name of a table that is compared; None for
                another table.
            cost: Cost of functions that is y.
            executable: The program; None for a table.
            functions: The functions, highest cost at the largest x first, equal ones by name
                and module.
            of_calls: Whether each point is a call, or several that were stored together, and y
                their duration; otherwise a point is a run or a part of one.
            omitted: Number of functions that a limit left out.
            runs: Number of runs that have x; for a table, of its rows.
            sample_type: The sample type; None for a table.
            without_x: Number of runs that do not have x and were left out.
            x: The name of x: a metric of runs, a label of runs or samples, `time`, an argument
                of calls, their `order`, or a column.
        """
        return self._ask(Answer, "models", locals())

    def occurrences(
        self,
        function: str | None = None,
        *,
        history: HistoryQuery | None = None,
        over: float | None = None,
    ) -> Answer:
        """The runs in which a function exceeds a share.

        Args:
            function: The function: its name, a part of it, or `re:` and a regular expression.
            history: The runs, of any program and benchmark.
            over: The share to exceed, from 0 to 1. By default 0.0.

        Returns:
            An answer with these fields, and as a table a row for each of `runs`:

            function: The function as the user typed it.
            functions: The matching functions, in order; several only for a regular expression.
                A sample counts once, whichever of them its stack contains.
            looked_at: Number of runs that were searched.
            over: Threshold of the share, from 0 to 1.
            runs: The runs, largest share first, then oldest.
        """
        return self._ask(Answer, "occurrences", locals())

    def outliers(
        self,
        named: Build,
        *,
        filter: Filter | None = None,
        limit: int | None = None,
    ) -> Answer:
        """The calls of a run that took unusually long.

        Args:
            named: The profiles; the newest of several runs is used.
            filter: Filter of their runs.
            limit: Maximum number of stacks with outliers; unlimited if None.

        Returns:
            An answer with these fields, and as a table a row for each of `outliers`:

            build: The build's version.
            calls: Number of calls in all threads.
            duration_ns: Time from the first call of any thread to the end of the last call.
            executable: The executable.
            incomplete: Share of the samples of all events that lack some or all callers, from 0
                to 1; omitted in JSON if none does.
            omitted: Number of outliers that a limit left out.
            outliers: The outliers, at most 256.
            profiles: Ids of the profiles.
            runs: Number of selected runs; this is the newest of them.
            sample_type: The measured event; None if the profiles measured nothing.
            samples: Number of samples of that type in all profiles.
            threads: Number of threads with calls.
            value: Their value, in the sample type's unit.
            windows: The selected part of the time of each profile; omitted in JSON if all of it
                is selected.
        """
        return self._ask(Answer, "outliers", locals())

    def phases(
        self,
        named: Build,
        *,
        filter: Filter | None = None,
        limit: int | None = None,
    ) -> Answer:
        """The phases of a run.

        Args:
            named: The profiles; the newest of several runs is used.
            filter: Filter of their runs, and the event. A time window is ignored.
            limit: Maximum number of phases; unlimited if None.

        Returns:
            An answer with these fields, and as a table a row for each of `phases`:

            build: The build's version.
            cycle: The repetition; `null` if the run does not repeat.
            duration: Duration in nanoseconds.
            executable: The executable.
            incomplete: Share of the samples of all events that lack some or all callers, from 0
                to 1; omitted in JSON if none does.
            omitted: Number of phases that a limit left out.
            phases: The phases in order; only one if nothing changes.
            profiles: Ids of the profiles.
            resolution: Precision of the borders of phases, in nanoseconds.
            runs: Number of selected runs; this is the newest of them.
            sample_type: The measured event; None if the profiles measured nothing.
            samples: Number of samples of that type in all profiles.
            value: Their value, in the sample type's unit.
            windows: The selected part of the time of each profile; omitted in JSON if all of it
                is selected.
        """
        return self._ask(Answer, "phases", locals())

    def potential(
        self,
        named: Sequence[Build],
        *,
        degree: int | None = None,
        filter: Filter | None = None,
        inlined: bool | None = None,
        limit: int | None = None,
        matching: KeyOptions | None = None,
    ) -> Answer:
        """The functions with the highest optimization potential.

        Args:
            named: The profiles of any number of builds, whose costs are added up.
            degree: Number of levels of callees that count for a function's potential. By
                default 3.
            filter: Filter of their runs, and the event.
            inlined: Whether inlined functions count separately from those that they were
                compiled into.
            limit: Maximum number of functions; unlimited if None.
            matching: How functions of several builds are matched.

        Returns:
            An answer with these fields, and as a table a row for each of `functions`:

            degree: Number of call levels that the potential includes; 0 is only the function.
            functions: The functions: highest potential first, then highest self cost, equal
                ones by module and name.
            omitted: Number of functions that a limit left out.
            samples: Number of samples in all selections.
            selections: Selected profiles, one entry per selector, in the given order.
            value: Total value in the sample type's unit.
            with_inlined: Whether inlined code counts for the function that contains it.
        """
        return self._ask(Answer, "potential", locals())

    def regressions_over_time(
        self,
        *,
        history: HistoryQuery | None = None,
        judged: JudgedRequest | None = None,
        limit: int | None = None,
        min_score: float | None = None,
        min_share: float | None = None,
    ) -> Answer:
        """The functions of a build that differ from earlier builds.

        Args:
            history: The runs.
            judged: The build that is judged.
            limit: Maximum number of functions; unlimited if None.
            min_score: Score below which functions are left out, unless they had a level shift.
            min_share: Share below which functions are left out if they don't reach it in any
                run; by default as in `ScoreOptions`.

        Returns:
            An answer with these fields, and as a table a row for each of `functions`:

            far: Number of functions whose q is at most 0.05.
            functions: The functions: first those that explain why a run costs more, then the
                others by what a run costs more. With a minimum score, functions with a level shift
                follow, largest change first.
            history: The runs.
            judged: Number of judged runs: all runs of that build, or one run of the only build.
            min_share: Minimum share of a function in some run.
            omitted: Number of functions that a limit left out.
            other_benchmarks: Scores of the other benchmarks if several are compared; omitted in
                JSON if there are none.
            run: The newest of the judged runs.
            tested: Number of judged functions.
            window: Number of runs before them that expectations are based on.
            window_builds: Number of builds of these runs: as many as requested, or as exist.
                For the only build, the number of its runs.
        """
        return self._ask(Answer, "regressions-over-time", locals())

    def runs(
        self,
        text: str | None = None,
        *,
        benchmarks: Sequence[str] | None = None,
        executable: str | None = None,
        labels: Mapping[str, Any] | None = None,
        limit: int | None = None,
        offset: int | None = None,
        since: str | None = None,
        until: str | None = None,
    ) -> Answer:
        """The runs in a store.

        Args:
            text: Only runs with this text in the name of the program, build or benchmark,
                regardless of case.
            benchmarks: Only runs of these benchmarks, if any; `*` in a name stands for any
                text.
            executable: Only runs of this program.
            labels: Only runs with all of these labels.
            limit: Maximum number of builds or runs.
            offset: Number of builds or runs to leave out at the beginning. By default 0.
            since: Only runs recorded at this time or later.
            until: Only runs recorded before this time.

        Returns:
            An answer with these fields, and as a table a row for each of `runs`:

            more: Number of runs that a limit left out.
            runs: The runs, newest recording first; runs without a recording time come last.
        """
        return self._ask(Answer, "runs", locals())

    def savings(
        self,
        *,
        options: SavingsOptions | None = None,
        runs: Listing | None = None,
    ) -> Answer:
        """The functions or libraries that keep the most cores busy.

        Args:
            options: The listed code, and its saved part.
            runs: The runs. Their offset and limit don't apply.

        Returns:
            An answer with these fields, and as a table a row for each of `savings`:

            cores: Cores that all programs keep busy together.
            left_out: Runs that do not count.
            less: The saved part of the cost, from 0 to 1.
            of: The kind of listed code.
            omitted: Number of functions or libraries that a limit left out.
            order: The cost that orders the list, and that is partly saved.
            programs: The programs, most cores first.
            savings: The functions or libraries, most cores first, equal ones by module and
                name.
        """
        return self._ask(Answer, "savings", locals())

    def search(
        self,
        text: str | None = None,
        *,
        executable: str | None = None,
        kinds: Sequence[FoundKind] | None = None,
        limit: int | None = None,
    ) -> Answer:
        """Functions, files, builds and labels by a part of their name.

        Args:
            text: The text. Each of its words must be in a name, regardless of case.
            executable: Only names in this program.
            kinds: Only names of these kinds; all kinds if empty.
            limit: Maximum number of names, by default 20. By default 20.

        Returns:
            An answer with these fields, and as a table a row for each of `found`:

            found: The names: those that equal the text, that begin with it, in which a part
                begins with it, and that contain it, each of these by kind, length and name.
            more: Number of matching names that the limit left out.
        """
        return self._ask(Answer, "search", locals())

    def series(
        self,
        function: str | None = None,
        *,
        by: Observation | None = None,
        history: HistoryQuery | None = None,
        observed: Observed | None = None,
        window: int | None = None,
    ) -> Answer:
        """A function over the runs of a program.

        Args:
            function: The function: its name, a part of it, or `re:` and a regular expression.
                The whole program if empty.
            by: The unit of observation. By default `run`.
            history: The runs.
            observed: The observed number. By default `share`.
            window: Number of observations before each one from which it is predicted. By
                default 10.

        Returns:
            An answer with these fields, and as a table a row for each of `points`:

            by: The unit of observation.
            changes: Level shifts.
            functions: The matching functions: one key, possibly in several modules, or all that
                match a regular expression. A sample counts once, whichever of them its stack
                contains. Empty for a whole program.
            history: The runs.
            observed: The observed number, which expectations and level shifts are of.
            points: The observations, oldest first.
            window: Maximum number of observations before a build that its expectation is based
                on.
        """
        return self._ask(Answer, "series", locals())

    def show(
        self,
        named: Build,
    ) -> Answer:
        """The origin and quality of profiles.

        Args:
            named: The profiles.

        Returns:
            An answer with these fields, and as a table a row for each of `profiles`:

            commit: The commit of the revision, if known.
            executable: Name of the executable.
            gnu_build_id: GNU build id of the main program, if the recording has it.
            profiles: The profiles, oldest recording first.
            revision: Revision of the work tree at the time of ingestion, in the format of `git
                describe`.
            version: The user's name for the version, by default the GNU build id.
        """
        return self._ask(Answer, "show", locals())

    def source(
        self,
        named: Build,
        function: str | None = None,
        *,
        context: int | None = None,
        filter: Filter | None = None,
        folders: Sequence[str] | None = None,
    ) -> Answer:
        """The source of a function with the cost of each line.

        Args:
            named: The profiles.
            function: The function: its name, or a part of it that is unique.
            context: Number of lines to show before and after each line with a cost. By default
                2.
            filter: Filter of their runs, and the event.
            folders: Folders in which source files are searched, in this order; if empty, the
                default folders of the environment.

        Returns:
            An answer with these fields, and as a table a row for each of `files.lines`:

            build: The build's version.
            executable: The executable.
            files: Source files, most expensive first.
            function: Normalised symbol of the function, as in a comparison.
            incomplete: Share of the samples of all events that lack some or all callers, from 0
                to 1; omitted in JSON if none does.
            module: The file that its code was loaded from; empty if unknown.
            profiles: Ids of the profiles.
            sample_type: The measured event; None if the profiles measured nothing.
            samples: Number of samples of that type in all profiles.
            self: Self cost, excluding code inlined into it.
            total: Total cost, including code inlined into it.
            value: Their value, in the sample type's unit.
            windows: The selected part of the time of each profile; omitted in JSON if all of it
                is selected.
            with_closures: Whether the lines include the function's closures.
        """
        return self._ask(Answer, "source", locals())

    def suspects(
        self,
        *,
        at: str | None = None,
        history: HistoryQuery | None = None,
        options: SuspectOptions | None = None,
    ) -> Answer:
        """The suspects of a build: functions that differ from earlier builds, with their history and contexts.

        Args:
            at: The run that is judged, see `JudgedRequest::at`.
            history: The runs.
            options: The functions to consider, and the number of earlier builds.

        Returns:
            An answer with these fields, and as a table a row for each of `suspects`:

            changed: Other functions with a level shift in some run, largest change relative to
                the whole first; at most as many as suspects.
            command: Command that produces the same result; empty if the caller gave none.
            expected: Expected samples of a whole run, from the window; None with fewer than two
                runs.
            history: Runs that were examined.
            judged: Indices of the judged runs and of the runs that determine the expectation.
            matching: Matching of functions between builds.
            observations: Indices of each build's runs; with only one build, each run
                separately.
            omitted: Number of suspects beyond the limit.
            options: Criteria for suspects.
            runs: Every run, oldest first.
            stacks: Stacks of the window, which is the baseline, and of the judged run; costs
                are scaled so that a run of the window is 1 on average. None if one of them has no
                samples.
            suspects: The suspects: first those that explain why a run costs more, then the
                others by what a run costs more.
            tested: Number of judged functions.
        """
        return self._ask(Answer, "suspects", locals())

    def timeline(
        self,
        named: Build,
        *,
        by: str | None = None,
        filter: Filter | None = None,
        inlined: bool | None = None,
        limit: int | None = None,
        metrics: Sequence[str] | None = None,
        order: Order | None = None,
    ) -> Answer:
        """A run over time.

        Args:
            named: The profiles; the newest of several runs is used.
            by: The meaning of the rows. By default `function`.
            filter: Filter of their runs, and the event.
            inlined: Whether inlined functions count separately from those that they were
                compiled into.
            limit: Maximum number of rows; unlimited if None.
            metrics: The metrics, by name or as `NAME = EXPRESSION`.
            order: The cost of rows, by which they are ordered. By default `self`.

        Returns:
            An answer with these fields, and as a table a row for each of `rows`:

            build: The build's version.
            by: Grouping of costs into rows.
            executable: The executable.
            from: Start of the first slice, in seconds since the run's first sample.
            incomplete: Share of the samples of all events that lack some or all callers, from 0
                to 1; omitted in JSON if none does.
            metrics: The requested metrics, in order.
            omitted: Number of rows that a limit left out.
            order: Cost of functions and modules that is shown.
            phases: Start of each phase except the first, in seconds since the run's first
                sample; empty if a time window was selected.
            profiles: Ids of the profiles.
            rows: The rows: most expensive first, equal ones by module and name.
            runs: Number of selected runs; this is the newest of them.
            sample_type: The measured event; None if the profiles measured nothing.
            samples: Number of samples of that type in all profiles.
            seconds: Duration of the run in seconds.
            slices: Number of slices, all of equal length: as many as the run has, but at most
                1000.
            to: End of the last slice, in seconds since the run's first sample.
            value: Their value, in the sample type's unit.
            windows: The selected part of the time of each profile; omitted in JSON if all of it
                is selected.
            with_inlined: Whether inlined code counts for the function that contains it.
        """
        return self._ask(Answer, "timeline", locals())

    def top(
        self,
        named: Build,
        *,
        filter: Filter | None = None,
        focus: str | None = None,
        inlined: bool | None = None,
        limit: int | None = None,
        offset: int | None = None,
        order: Order | None = None,
        search: str | None = None,
    ) -> Answer:
        """The most expensive functions.

        Args:
            named: The profiles.
            filter: Filter of their runs, and the event.
            focus: Only the cost of stacks that contain these functions, of which all shares are
                then: a name, a part of it, or `re:` and a regular expression.
            inlined: Whether inlined functions count separately from those that they were
                compiled into.
            limit: Maximum number of functions; unlimited if None.
            offset: Number of functions to leave out at the beginning. By default 0.
            order: The cost by which functions are ordered. By default `self`.
            search: Only functions with this text in their symbol or module, regardless of case.

        Returns:
            An answer with these fields, and as a table a row for each of `functions`:

            build: The build's version.
            executable: The executable.
            functions: The functions by descending cost, then by module and name.
            incomplete: Share of the samples of all events that lack some or all callers, from 0
                to 1; omitted in JSON if none does.
            omitted: The functions after those that are listed.
            order: The order of `functions`.
            profiles: Ids of the profiles.
            sample_type: The measured event; None if the profiles measured nothing.
            samples: Number of samples of that type in all profiles.
            value: Their value, in the sample type's unit.
            windows: The selected part of the time of each profile; omitted in JSON if all of it
                is selected.
            with_inlined: Whether inlined code counts for the function that it was compiled
                into.
        """
        return self._ask(Answer, "top", locals())

    def tree(
        self,
        named: Build,
        *,
        filter: Filter | None = None,
        prune: Prune | None = None,
        unfold: bool | None = None,
    ) -> Tree:
        """The call tree.

        Args:
            named: The profiles.
            filter: Filter of their runs, and the event.
            prune: Limits of the tree.
            unfold: Whether to show every call of a chain, not only those where it begins,
                branches or has a cost.

        Returns:
            An answer with these fields, and as a table a row for each of `nodes`:

            build: The build's version.
            cut: Everything that was cut.
            executable: The executable.
            incomplete: Share of the samples of all events that lack some or all callers, from 0
                to 1; omitted in JSON if none does.
            max_depth: Number of levels that were kept.
            min_share: Share below which stacks were cut.
            nodes: The stacks: callers before their callees, siblings by descending cost.
            profiles: Ids of the profiles.
            sample_type: The measured event; None if the profiles measured nothing.
            samples: Number of samples of that type in all profiles.
            value: Their value, in the sample type's unit.
            windows: The selected part of the time of each profile; omitted in JSON if all of it
                is selected.
        """
        return self._ask(Tree, "tree", locals())

    def waits(
        self,
        named: Build,
        *,
        filter: Filter | None = None,
        limit: int | None = None,
    ) -> Answer:
        """The time that threads of a run waited.

        Args:
            named: The profiles; the newest of several runs is used.
            filter: Filter of their runs.
            limit: Maximum number of functions, and of longest waits; unlimited if None.

        Returns:
            An answer with these fields, and as a table a row for each of `functions`:

            build: The build's version.
            duration_ns: Time from the first call of any thread to the end of the last call.
            executable: The executable.
            functions: Waiting functions by caller, most time first.
            incomplete: Share of the samples of all events that lack some or all callers, from 0
                to 1; omitted in JSON if none does.
            longest: The longest waits, longest first: the longest of each stack, from the 256
                longest of all.
            omitted_functions: Number of functions that a limit left out.
            omitted_longest: Number of waits that a limit left out.
            profiles: Ids of the profiles.
            runs: Number of selected runs; this is the newest of them.
            sample_type: The measured event; None if the profiles measured nothing.
            samples: Number of samples of that type in all profiles.
            thread_time_ns: Sum over the threads of the time from first to last call.
            threads: Number of threads with calls.
            value: Their value, in the sample type's unit.
            waited_ns: Time spent waiting.
            windows: The selected part of the time of each profile; omitted in JSON if all of it
                is selected.
        """
        return self._ask(Answer, "waits", locals())
