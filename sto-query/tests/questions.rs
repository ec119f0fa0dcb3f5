//! Each query of the library returns in one call what the command prints.

use crate::ask;
use crate::export::written;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fmt::Debug;
use std::fs;
use std::path::{Path, PathBuf};
use sto_core::units::UnixSeconds;
use sto_query::check::CheckRequest;
use sto_query::questions::{
    AnnotateRequest, AverageRequest, BottlenecksRequest, CalibrateOptions, CalibrateRequest,
    CompareOptions, CorrelateRequest, DiffRequest, ExpandRequest, ExportRequest,
    ExportStoreRequest, FlameRequest, Ignored, IgnoredFunction, Listing, MergeRequest,
    NormalisationMethod, OccurrencesRequest, PotentialRequest, PruneRequest, PullRequest,
    PushRequest, RegressionsRequest, SeriesRequest, ShowRequest, SourceRequest, SuspectsRequest,
    TopRequest, TreeRequest, WorseIf,
};
use sto_query::render;
use sto_query::render::flame::FlameOptions;
use sto_query::results::{Subject, View, json};
use sto_query::sources::{EVENT, Sources};
use sto_query::text::Date;

const FUNCTION: &str = "pulldown_cmark::firstpass::FirstPass::parse_footnote";

fn history() -> PathBuf {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    repository.join("testdata/history")
}

/// Compares with the golden file that `sto-cli/tests/cli/history.rs` uses for the command.
#[track_caller]
fn assert_printed(name: &str, text: &str) {
    let expected = fs::read_to_string(history().join(name)).unwrap();
    let text = text.replace("CountInlined", "--inlined");
    assert!(text == expected, "{name} differs:\n{text}");
}

#[test]
fn queries_of_a_history_agree_with_commands() {
    let sources = Sources::from_folder(&history().join("history.sto"));
    let style = crate::words::plain();

    let mut request = OccurrencesRequest::default();
    request.function = FUNCTION.to_owned();
    request.over = 0.15;
    let found = ask(&sources, &request).unwrap();
    assert_printed("where.txt", &render::occurrences::text(&found, style));

    let mut request = SeriesRequest::default();
    request.function = FUNCTION.to_owned();
    let found = ask(&sources, &request).unwrap();
    assert_printed("series.txt", &render::series::text(&found, style));

    let mut request = RegressionsRequest::default();
    request.min_score = Some(2.0);
    request.limit = Some(10);
    let found = ask(&sources, &request).unwrap();
    assert_printed("newest.txt", &render::scores::text(&found, style));

    let mut request = BottlenecksRequest::default();
    request.options.metric = "seconds".to_owned();
    request.limit = Some(10);
    let found = ask(&sources, &request).unwrap();
    assert_printed("bottlenecks.txt", &render::bottlenecks::text(&found, style));

    let mut request = PotentialRequest::default();
    request.named = vec!["0.10.0".into()];
    request.degree.0 = 10;
    request.limit = Some(10);
    let found = ask(&sources, &request).unwrap();
    assert_printed("potential.txt", &render::potential::text(&found, style));
}

#[test]
fn drawings_and_exports_state_their_content() {
    let sources = Sources::from_folder(&history().join("history.sto"));
    let mut request = FlameRequest::default();
    request.named = "0.10.0".into();
    request.stacks.focus = Some(FUNCTION.to_owned());
    let stacks = ask(&sources, &request).unwrap();
    let options = FlameOptions {
        focus: stacks.focus,
        ..FlameOptions::default()
    };
    let drawing = render::flame::svg((&stacks.view, EVENT), &options).unwrap();
    assert!(drawing.contains("parse_footnote"));
    assert_eq!(stacks.view.selection.build.version, "0.10.0");

    let mut request = DiffRequest::default();
    request.baseline = "0.9.6".into();
    request.candidate = "0.10.0".into();
    let stacks = ask(&sources, &request).unwrap();
    let subjects = stacks
        .views
        .each_ref()
        .map(|view| Subject::new(view, EVENT));
    let builds = subjects.iter().map(|subject| &*subject.build);
    assert!(builds.eq(["0.9.6", "0.10.0"]));

    let mut request = ExportRequest::default();
    request.named = "0.10.0".into();
    let plain = ask(&sources, &request).unwrap();
    assert!(String::from_utf8_lossy(&written(&plain)).contains("parse_footnote"));
    let mut packed = Vec::new();
    render::export::write(&plain, true, &mut packed).unwrap();
    assert_eq!(packed[..2], [0x1f, 0x8b]);

    let mut request = TopRequest::default();
    request.named = "0.10.0".into();
    request.limit = Some(1);
    let whole = ask(&sources, &request).unwrap();
    assert_eq!(whole.functions.len(), 1);
    assert_eq!(whole.subject.samples, subjects[1].samples);

    let mut request = ShowRequest::default();
    request.named = "0.10.0".into();
    assert_eq!(ask(&sources, &request).unwrap().profiles.len(), 5);
}

#[test]
fn missing_fields_of_requests_have_defaults() {
    #[track_caller]
    fn assert_usual<R: Default + Debug + PartialEq + Serialize + DeserializeOwned>() {
        let request: R = serde_json::from_str("{}").unwrap();
        assert_eq!(request, R::default());
        let json = serde_json::to_string(&request).unwrap();
        assert_eq!(serde_json::from_str::<R>(&json).unwrap(), request);
    }
    assert_usual::<AnnotateRequest>();
    assert_usual::<AverageRequest>();
    assert_usual::<BottlenecksRequest>();
    assert_usual::<CalibrateOptions>();
    assert_usual::<CalibrateRequest>();
    assert_usual::<CheckRequest>();
    assert_usual::<CompareOptions>();
    assert_usual::<CorrelateRequest>();
    assert_usual::<DiffRequest>();
    assert_usual::<ExpandRequest>();
    assert_usual::<ExportRequest>();
    assert_usual::<ExportStoreRequest>();
    assert_usual::<FlameRequest>();
    assert_usual::<Listing>();
    assert_usual::<MergeRequest>();
    assert_usual::<OccurrencesRequest>();
    assert_usual::<PotentialRequest>();
    assert_usual::<PruneRequest>();
    assert_usual::<PullRequest>();
    assert_usual::<PushRequest>();
    assert_usual::<RegressionsRequest>();
    assert_usual::<SuspectsRequest>();
    assert_usual::<SeriesRequest>();
    assert_usual::<ShowRequest>();
    assert_usual::<SourceRequest>();
    assert_usual::<TopRequest>();
    assert_usual::<TreeRequest>();
}

#[test]
fn options_round_trip_through_json() {
    let known = Ignored::new("known", Date::from_time(UnixSeconds(1_800_000_000)));
    let mut options = CompareOptions::default();
    options.alpha = 0.01;
    options.normalisation = Some(NormalisationMethod::PerMetric("requests".to_owned()));
    options.all = true;
    options.matching.exact_symbols = true;
    options.attribution.to_caller.modules = vec!["libc*".to_owned()];
    options.ignored = vec![IgnoredFunction::new("hash", known)];
    options.worse_if = [("latency".to_owned(), WorseIf::Higher)].into();
    let json = serde_json::to_string(&options).unwrap();
    let read: CompareOptions = serde_json::from_str(&json).unwrap();
    assert_eq!(read, options, "{json}");
    let of_json: CompareOptions = serde_json::from_str(r#"{"all":true}"#).unwrap();
    assert!(of_json.all && of_json.alpha == CompareOptions::default().alpha);
}

#[test]
fn queries_run_in_parallel_on_two_stores() {
    const fn goes_to_threads<T: Send + Sync + 'static>() {}
    const {
        goes_to_threads::<Sources>();
        goes_to_threads::<View>();
    }
    let other = history().join("../stores/1.redb");
    let stores = [
        (history().join("history.sto"), "0.10.0"),
        (other, "demo@v2"),
    ];
    let ask = |(sources, named): &(Sources, &str)| {
        let mut request = TopRequest::default();
        request.named = (*named).into();
        json(&ask(sources, &request).unwrap()).unwrap()
    };
    let open = || {
        stores
            .clone()
            .map(|(path, named)| (Sources::from_folder(&path), named))
    };
    // Each query in its own sources.
    let expected = open().each_ref().map(ask);
    assert_ne!(expected[0], expected[1]);
    let shared = open();
    let answers: Vec<String> = std::thread::scope(|scope| {
        let asked = (0..8).map(|thread| {
            let store = &shared[thread % 2];
            scope.spawn(move || ask(store))
        });
        let asked: Vec<_> = asked.collect();
        asked
            .into_iter()
            .map(|answer| answer.join().unwrap())
            .collect()
    });
    for (thread, answer) in answers.iter().enumerate() {
        assert_eq!(*answer, expected[thread % 2]);
    }
}
