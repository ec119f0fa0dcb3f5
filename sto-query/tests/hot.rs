//! Costs of functions and lines in their source files.

use crate::ask;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use sto_core::ingest::{IngestError, IngestOptions, IngestOutcome, ingest};
use sto_core::store::Store;
use sto_query::check::{Baseline, CheckRequest};
use sto_query::internal::hot::{FileNo, HotChanges, HotFunction, HotHistory, HotIndex, HotRequest};
use sto_query::internal::source::SourceTree;
use sto_query::questions::{
    BlameRequest, HotSpotsRequest, Observation, SeriesRequest, SourceRequest,
};
use sto_query::sources::{BuildRef, Environment, Sources};

/// A machine with the symbols of the demo.
struct Machine;

impl Environment for Machine {
    fn read(
        &self,
        memory: &Store,
        file: &Path,
        mut options: IngestOptions,
    ) -> Result<IngestOutcome, IngestError> {
        options.symbols.symbol_dirs = vec![demo()];
        ingest(memory, file, &options, &mut |_| {})
    }
}

fn demo() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata/demo")
}

fn sources() -> Sources {
    Sources::from_folder(&demo()).with_environment(Arc::new(Machine))
}

fn index() -> HotIndex {
    let recording = BuildRef::File(demo().join("v1.perf.data"));
    let request = with!(HotRequest {
        named: Some(recording)
    });
    HotIndex::load(&sources(), &request).unwrap()
}

fn text() -> String {
    fs::read_to_string(demo().join("demo.c")).unwrap()
}

fn function<'a>(index: &'a HotIndex, name: &str) -> HotFunction<'a> {
    index.hottest().find(|known| known.name == name).unwrap()
}

fn demo_c(index: &HotIndex) -> FileNo {
    let file = index.files().find(|file| file.path == "demo.c");
    file.unwrap().number
}

#[test]
fn costs_agree_with_annotated_source() {
    let index = index();
    let mut request = SourceRequest::default();
    request.function = "count_rules".to_owned();
    request.named = BuildRef::File(demo().join("v1.perf.data"));
    request.context = 0;
    let shown = ask(&sources(), &request).unwrap();
    let found = function(&index, "count_rules");
    assert_eq!(found.costs.self_cost, shown.self_cost);
    assert_eq!(found.costs.total, shown.total);
    let lines: BTreeMap<u32, _> = index
        .file(found.file.unwrap())
        .lines()
        .map(|line| (line.line, line.costs))
        .collect();
    let of_function = &shown.files[0].lines;
    assert!(of_function.len() > 3);
    for line in of_function {
        let costs = &lines[&line.line];
        assert_eq!(Some(costs.self_cost), line.self_cost, "{}", line.line);
        assert_eq!(Some(costs.total), line.total, "{}", line.line);
    }
    assert_eq!(found.first_line, Some(of_function[0].line));
}

#[test]
fn lines_follow_edits_and_edited_ones_have_no_cost() {
    let index = index();
    let file = demo_c(&index);
    let built = text();
    let before = index.map_to_text(&[file], Some(&built), &built);
    let costs = |at: usize| before.lines[at];
    let edited_line = costs(before.lines.len() / 2).line;
    let edited: Vec<String> = (1..)
        .zip(built.lines())
        .map(|(number, line)| {
            if number == edited_line {
                format!("{line} /* edited */")
            } else {
                line.to_owned()
            }
        })
        .collect();
    let now = format!("\n\n\n{}\n", edited.join("\n"));
    let after = index.map_to_text(&[file], Some(&built), &now);
    let expected: Vec<_> = before
        .lines
        .iter()
        .filter(|line| line.line != edited_line)
        .map(|line| (line.line + 3, line.costs))
        .collect();
    let found: Vec<_> = after.lines.iter().map(|l| (l.line, l.costs)).collect();
    assert_eq!(found, expected);
}

/// Returns functions with the text of the lines at which they are shown.
fn shown(index: &HotIndex, built: Option<&str>, now: &str) -> Vec<(String, String)> {
    let lines: Vec<&str> = now.lines().collect();
    let found = index.map_to_text(&[demo_c(index)], built, now).functions;
    let named = found.into_iter().map(|(line, function)| {
        let name = index.function(function).name.to_owned();
        (name, lines[line as usize - 1].to_owned())
    });
    named.collect()
}

#[test]
fn moved_functions_are_shown_at_their_definition() {
    let index = index();
    let built = text();
    let whole = shown(&index, Some(&built), &built);
    assert!(whole.len() > 8, "{whole:?}");
    for (name, line) in &whole {
        assert!(line.contains(&format!("{name}(")), "{name}: {line}");
        assert!(!line.ends_with(';'), "{name}: {line}");
    }
    assert_eq!(shown(&index, None, &built), whole, "by their names alone");
    // One function moves to the end, with a changed signature.
    let start = built.find("static NOINLINE size_t receive").unwrap();
    let end = start + built[start..].find("\n}\n").unwrap() + 3;
    let moved = built[start..end].replace("size_t receive", "long receive");
    let now = format!("{}{}{moved}", &built[..start], &built[end..]);
    let found = shown(&index, Some(&built), &now);
    assert_eq!(found.len(), whole.len());
    let last = found.last().unwrap();
    assert!(
        last.1.starts_with("static NOINLINE long receive("),
        "{last:?}"
    );
}

#[test]
fn hot_spots_agree_with_annotated_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("demo.c");
    fs::write(&path, text()).unwrap();
    let file = fs::File::options().write(true).open(&path).unwrap();
    file.set_modified(std::time::UNIX_EPOCH).unwrap();
    let of = with!(HotRequest {
        named: Some(BuildRef::File(demo().join("v1.perf.data")))
    });
    let request = with!(HotSpotsRequest {
        of: of.clone(),
        path: folder.path().to_owned(),
        min_share: 0.0,
    });
    let mut listed = ask(&sources(), &request).unwrap().spots;
    let is_sorted = listed.is_sorted_by_key(|spot| Reverse(spot.costs.self_cost.value));
    assert!(is_sorted && listed.len() > 50, "{}", listed.len());
    listed.sort_by_key(|spot| spot.line);
    let request = with!(BlameRequest { of: of, path: path });
    let blamed = ask(&sources(), &request).unwrap();
    let with_cost = blamed.lines.iter().filter(|line| line.total.is_some());
    let with_cost: Vec<_> = with_cost
        .map(|line| (line.line, line.self_cost, line.total, line.source.trim()))
        .collect();
    let listed = listed.iter().map(|spot| {
        let costs = spot.costs;
        let source = spot.source.as_str();
        (spot.line, Some(costs.self_cost), Some(costs.total), source)
    });
    assert_eq!(listed.collect::<Vec<_>>(), with_cost);
    for function in &blamed.functions {
        let line = &blamed.lines[function.line as usize - 1].source;
        assert!(line.contains(&format!("{}(", function.function)), "{line}");
    }
}

#[test]
fn calls_of_a_function_agree_with_the_tree() {
    let index = index();
    let main = function(&index, "main");
    let share: f64 = index.callees(main.number).map(|(_, cost)| cost.share).sum();
    assert!(share <= main.costs.total.share + 1e-9, "{share}");
    let (hottest, cost) = index.callees(main.number).next().unwrap();
    let back = index
        .callers(hottest)
        .find(|(caller, _)| *caller == main.number);
    assert_eq!(back.unwrap().1, cost);
    let inlined = index.hottest().find_map(|function| {
        let (into, cost) = index.inlined_into(function.number).next()?;
        Some((function.name, index.function(into).name, cost.share))
    });
    let (name, into, share) = inlined.expect("the demo has inlined functions");
    assert!(name != into && share > 0.0, "{name} {into}");
}

#[test]
fn finds_files_in_work_tree_and_confirms_ambiguous_ones() {
    let index = index();
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    for place in ["a", "b"] {
        fs::create_dir(root.join(place)).unwrap();
        fs::write(root.join(place).join("demo.c"), text()).unwrap();
    }
    let tree = SourceTree::scan(&root, index.files().map(|file| file.path));
    let several = index.place_files(&tree, &BTreeMap::new());
    let both = [root.join("a/demo.c"), root.join("b/demo.c")];
    let file = demo_c(&index);
    assert_eq!(several.ambiguous_files(), [(file, both.to_vec())]);
    assert_eq!(several.path(file), None);
    let chosen = BTreeMap::from([("demo.c".to_owned(), both[1].clone())]);
    let placed = index.place_files(&tree, &chosen);
    assert_eq!(placed.files_at(&both[1]), [file]);
    assert_eq!(placed.path(file), Some(&*both[1]));
    assert!(placed.ambiguous_files().is_empty());
}

#[test]
fn costs_of_earlier_builds_agree_with_series() {
    let store = demo().join("../history/history.sto");
    let sources = Sources::from_folder(&store);
    let index = HotIndex::load(&sources, &HotRequest::default()).unwrap();
    assert_eq!((&*index.subject().build, index.runs()), ("0.13.0", 5));
    let history = HotHistory::load(&sources, &index, 4).unwrap();
    let name = "pulldown_cmark::firstpass::FirstPass::parse_footnote";
    let request = with!(SeriesRequest {
        function: name.to_owned(),
        by: Observation::Build,
    });
    let expected = ask(&sources, &request).unwrap();
    let expected = expected.points.iter().skip(5);
    let expected: Vec<_> = expected
        .map(|p| (p.run.build.clone(), p.samples, p.share))
        .collect();
    let costs = history.costs(function(&index, name).number);
    let found = history.builds.iter().zip(&costs);
    let found: Vec<_> = found
        .map(|(build, costs)| (build.build.clone(), costs.total.samples, costs.total.share))
        .collect();
    assert_eq!(found, expected);
    assert_eq!(costs.last().unwrap(), &function(&index, name).costs);
    assert_eq!(history.baseline().unwrap().build, "0.12.2");
}

#[test]
fn functions_that_changed_show_their_change() {
    let request = with!(HotRequest {
        named: Some(BuildRef::File(demo().join("v2.perf.data")))
    });
    let index = HotIndex::load(&sources(), &request).unwrap();
    let request = with!(CheckRequest {
        baseline: Some(Baseline::Any(BuildRef::File(demo().join("v1.perf.data")))),
        candidate: BuildRef::File(demo().join("v2.perf.data")),
    });
    let checked = ask(&sources(), &request).unwrap();
    let changes = HotChanges::from_comparison(&index, &checked.comparisons[0]);
    assert_eq!(changes.since, "v1.perf.data");
    let logging = changes.change(function(&index, "doLogging").number);
    assert!((8.0..12.0).contains(&logging.unwrap()), "{logging:?}");
    assert!(changes.change(function(&index, "main").number).unwrap() > 1.0);
    assert_eq!(changes.change(function(&index, "receive").number), None);
}
