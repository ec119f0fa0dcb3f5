//! Answers of questions: as JSON, text and drawings.

use crate::errors::Error;
use crate::work::interruptible;
use pyo3::{PyResult, Python, pyclass, pymethods};
use sto_query::QueryError;
use sto_query::questions::{AnyAnswer, AnyQuestion, DiffRequest, DiffStacks, FlameStacks};
use sto_query::render::flame::{FlameOptions, Widths, diff_svg, svg};
use sto_query::render::{self, Detail};
use sto_query::sources::EVENT;
use sto_query::text::Style;

/// The answer of a question.
#[pyclass(frozen, module = "sto._sto")]
pub(crate) struct Answer {
    question: AnyQuestion,
    answer: AnyAnswer,
}

impl Answer {
    pub(crate) fn new(question: AnyQuestion, answer: AnyAnswer) -> Answer {
        Answer { question, answer }
    }
}

#[pymethods]
impl Answer {
    /// The answer as JSON.
    fn json(&self, py: Python<'_>) -> PyResult<String> {
        interruptible(py, |_| {
            let json = serde_json::to_string(&self.answer);
            json.map_err(|error| Error::invalid(error.to_string()))
        })
    }

    /// The answer as the command `sto` prints it; `None` if it prints none.
    fn text(&self, py: Python<'_>, width: usize) -> PyResult<Option<String>> {
        let style = Style {
            width: Some(width),
            ..Style::default()
        };
        interruptible::<_, Error>(py, |_| Ok(text(&self.answer, style)))
    }

    /// The drawing of a question `flame` or `diff`, as an HTML page or SVG; `None` for other questions.
    fn drawing(&self, py: Python<'_>, as_page: bool) -> PyResult<Option<String>> {
        let draw = |_: &_| match (&self.answer, &self.question) {
            (AnyAnswer::Flame(stacks), _) => draw_flame(stacks, as_page).map(Some),
            (AnyAnswer::Diff(stacks), AnyQuestion::Diff(request)) => {
                draw_diff(stacks, request, as_page).map(Some)
            }
            _ => Ok(None),
        };
        interruptible(py, draw)
    }
}

fn draw_flame(stacks: &FlameStacks, as_page: bool) -> Result<String, Error> {
    let options = FlameOptions {
        focus: stacks.focus.clone(),
        ignore: stacks.ignore.clone(),
        as_page,
        ..FlameOptions::default()
    };
    let drawn = svg((&stacks.view, EVENT), &options);
    Ok(drawn.map_err(QueryError::from)?)
}

fn draw_diff(stacks: &DiffStacks, request: &DiffRequest, as_page: bool) -> Result<String, Error> {
    let options = FlameOptions {
        focus: stacks.focus.clone(),
        ignore: stacks.ignore.clone(),
        matching: request.matching,
        growth: stacks.comparison.normalised_growth(),
        note: stacks.new_outliers.clone().unwrap_or_default(),
        as_page,
        ..FlameOptions::default()
    };
    let [baseline, candidate] = stacks.views.each_ref().map(|view| (view, EVENT));
    let drawn = diff_svg(baseline, candidate, Widths::default(), &options);
    Ok(drawn.map_err(QueryError::from)?)
}

fn text(answer: &AnyAnswer, style: Style) -> Option<String> {
    Some(match answer {
        AnyAnswer::Align(answer) => render::align::text(answer, style),
        AnyAnswer::Blame(answer) => render::blame::text(answer, style),
        AnyAnswer::Bottlenecks(answer) => render::bottlenecks::text(answer, style),
        AnyAnswer::Builds(answer) => render::ls::text(answer, style),
        AnyAnswer::Calibrate(answer) => render::calibrate::text(answer, style),
        AnyAnswer::CalibrateCurves(answer) => render::models::calibrated(answer, style),
        AnyAnswer::Calls(answer) => render::calls::text(answer, false, style),
        AnyAnswer::Check(answer) => render::check_text(answer, style, Detail::Short),
        AnyAnswer::CompareModels(answer) => render::models::changes::text(answer, style),
        AnyAnswer::Correlate(answer) => render::correlate::text(answer, style),
        AnyAnswer::Evolve(answer) => render::evolution::text(answer, style),
        AnyAnswer::Expand(answer) => render::expansion::text(answer, style),
        AnyAnswer::Hot(answer) => render::hot::spots(answer, style),
        AnyAnswer::Log(answer) => render::log::text(answer, style),
        AnyAnswer::ModelFunction(answer) => render::models::text(answer, style, false),
        AnyAnswer::ModelTwo(answer) => render::models::two_variables(answer, style),
        AnyAnswer::Models(answer) => render::models::all_functions(answer, style),
        AnyAnswer::Occurrences(answer) => render::occurrences::text(answer, style),
        AnyAnswer::Outliers(answer) => render::calls::outliers::text(answer, style),
        AnyAnswer::Phases(answer) => render::phases::text(answer, style),
        AnyAnswer::Potential(answer) => render::potential::text(answer, style),
        AnyAnswer::RegressionsOverTime(answer) => render::scores::text(answer, style),
        AnyAnswer::Runs(answer) => render::runs::text(answer, style),

        AnyAnswer::Series(answer) => render::series::text(answer, style),
        AnyAnswer::Show(answer) => render::show::text(answer, style),
        AnyAnswer::Source(answer) => render::source::text(answer, style),
        AnyAnswer::Suspects(answer) => render::suspects::text(answer, style),
        AnyAnswer::Timeline(answer) => render::timeline::text(answer, style),
        AnyAnswer::Top(answer) => render::top::text(answer, style),
        AnyAnswer::Tree(answer) => render::tree::text(answer, style),
        AnyAnswer::Waits(answer) => render::calls::waits::text(answer, style),
        _ => return None,
    })
}
