//! The sides of a comparison: executable, runs and rates.

use super::support::{Order, compared, sample_type, set_build_ids, summary, view, view_in_order};
use sto_core::Profile;
use sto_query::internal::compare::{compare, compare_with_earlier};
use sto_query::questions::{CompareOptions, NormalisationMethod};
use sto_query::results::{Change, Comparison, RunCost, Side, Verdict};

const STEADY: &str = "
    main;parse 400
    main;compute 2500
    main;write 300
";

#[test]
fn main_program_is_one_module_under_any_file_name() {
    let mut baseline = view("v1", &[&STEADY.replace("main;", "app-1.0!main;app-1.0!")]);
    let mut candidate = view("v2", &[STEADY]);
    // By its build id on one side, by its name on the other.
    set_build_ids(&mut baseline, &[("app", 1), ("app-1.0", 1)]);
    candidate.selection.build.executable = "app".to_owned();
    let comparison = compared(&baseline, &candidate);
    assert_eq!(comparison.verdict, Verdict::Clean);
    let tested = comparison
        .statistics
        .expect("both sides have samples")
        .tested;
    assert_eq!((tested.functions, tested.shared), (4, 4));
}

#[test]
fn finds_function_of_other_library_version_by_name() {
    let baseline = view("v1", &[&format!("{STEADY}\n main;libz.so.1.2!deflate 600")]);
    let candidate = view(
        "v2",
        &[&format!("{STEADY}\n main;libz.so.1.3!deflate 1800")],
    );
    let comparison = compared(&baseline, &candidate);
    assert_eq!(
        summary(&comparison),
        "regression deflate from deflate <- main\n"
    );
    let finding = &comparison.findings[0];
    assert_eq!(finding.module, "libz.so.1.3");
    let old = finding.moved_from.as_ref().map(|old| &*old.module);
    assert_eq!(old, Some("libz.so.1.2"));
}

#[test]
fn length_of_runs_is_not_variation() {
    let doubled = STEADY
        .replace("400", "805")
        .replace("2500", "4990")
        .replace("300", "604");
    let comparison = compared(
        &view("v1", &[STEADY, &doubled]),
        &view("v2", &[STEADY, STEADY]),
    );
    assert_eq!(comparison.verdict, Verdict::Clean);
    let statistics = comparison.statistics.expect("both sides have samples");
    assert!(statistics.dispersion.estimated);
    assert!(
        statistics.dispersion.self_ < 0.001,
        "{:?}",
        statistics.dispersion
    );
    assert!(!comparison.weak);
}

#[test]
fn higher_sampling_rate_is_not_a_regression() {
    // Twice the samples, each of half the period. In so small a program, only the cost shows that
    // the work was the same.
    let baseline = view("v1", &["main;parse 400\n main;compute 2500"]);
    let mut candidate = view("v2", &["main;parse 805\n main;compute 4980"]);
    for (_, cost) in candidate.runs[0].iter_mut().flatten() {
        cost.value /= 2;
    }
    let comparison = compared(&baseline, &candidate);
    assert_eq!(comparison.verdict, Verdict::Clean);
    let normalisation = comparison
        .statistics
        .expect("both sides have samples")
        .normalisation;
    assert_eq!(normalisation.method, NormalisationMethod::PerRun);
    assert_eq!(normalisation.candidate_size, 1.0);
}

#[test]
fn compares_event_of_both_sides() {
    let mut baseline = view("v1", &[STEADY]);
    let mut candidate = view("v2", &[STEADY]);
    // The baseline has more samples of an event that the candidate lacks.
    let faults = baseline.runs[0][0].clone();
    baseline.sample_types.insert(0, sample_type("page-faults"));
    baseline.runs[0].insert(0, faults);
    candidate.sample_types.push(sample_type("context-switches"));
    candidate.runs[0].push(Vec::new());
    let comparison = compared(&baseline, &candidate);
    assert_eq!(
        comparison.sample_type.expect("one is shared").event,
        "cpu-clock"
    );
    assert_eq!(
        comparison.warnings,
        [
            "The sides measured different events: cpu-clock, page-faults against context-switches, cpu-clock. \
          Record both with the same events."
        ]
    );
    assert_eq!(comparison.verdict, Verdict::Clean);
}

#[test]
fn compares_shares_and_cost_per_run_on_request() {
    // The largest function doubles; the others do not change.
    let baseline = view(
        "v1",
        &["main;solve 6000\n main;a 1000\n main;b 1000\n main;c 1000"],
    );
    let candidate = view(
        "v2",
        &["main;solve 12000\n main;a 1000\n main;b 1000\n main;c 1000"],
    );
    let findings = |normalisation: NormalisationMethod| {
        let options = with!(CompareOptions {
            normalisation: Some(normalisation.clone()),
        });
        let comparison =
            compare(&baseline, &candidate, &options).expect("the options are in range");
        let statistics = comparison
            .statistics
            .as_ref()
            .expect("both sides have samples");
        assert_eq!(statistics.normalisation.method, normalisation);
        summary(&comparison)
    };
    let solve = "regression solve <- main\n";
    assert_eq!(findings(NormalisationMethod::Tmm), solve);
    assert_eq!(findings(NormalisationMethod::PerRun), solve);
    let shares = findings(NormalisationMethod::Total);
    assert!(shares.contains("improvement a\n"), "{shares}");
}

#[test]
fn earlier_build_shows_variation_of_single_runs() {
    // The same work with random variation: this many percent more in some functions, by run.
    let functions = |by: u64, run: u64| -> String {
        let count = |f: u64| 1000 * (f + 2) * (100 + by * (f * 7 % 5 * run % 3)) / 100;
        (0..16)
            .map(|f| format!("main;f{f} {}\n", count(f)))
            .collect()
    };
    let earlier = |by| {
        let runs: Vec<String> = (0..8).map(|run| functions(by, run)).collect();
        view("v0", &runs.iter().map(String::as_str).collect::<Vec<_>>())
    };
    let (steady, erratic) = (earlier(1), earlier(50));
    let baseline = view("v1", &[&functions(0, 0)]);
    let candidate = view("v2", &[&functions(0, 0).replace("f5 7000", "f5 9100")]);
    let findings = |earlier| {
        let options = CompareOptions::default();
        let comparison = compare_with_earlier(&baseline, &candidate, earlier, &options)
            .expect("the defaults are in range");
        assert!(comparison.weak, "single runs are weak evidence");
        let statistics = comparison
            .statistics
            .as_ref()
            .expect("both sides have samples");
        assert_eq!(
            statistics.dispersion.earlier_build.as_deref(),
            earlier.map(|view| view.selection.build.version.as_str())
        );
        summary(&comparison)
    };
    assert_eq!(
        findings(None),
        "",
        "30 % more is not seen if 10 % is assumed"
    );
    assert_eq!(findings(Some(&steady)), "regression f5\n");
    assert_eq!(findings(Some(&erratic)), "");
}

/// Runs of two lengths, in which one function got twice as slow.
const BEFORE: [&str; 2] = [
    "main;serve;log 100\n main;parse 800\n main;compute 2500\n main;write 600",
    "main;serve;log 204\n main;parse 1600\n main;compute 5000\n main;write 1200",
];
const AFTER: [&str; 3] = [
    "main;serve;log 210\n main;parse 800\n main;compute 2500\n main;write 600",
    "main;serve;log 390\n main;parse 1600\n main;compute 5000\n main;write 1200",
    "main;serve;log 201\n main;parse 800\n main;compute 2500\n main;write 600",
];

#[test]
fn run_costs_have_means_of_change() {
    let (baseline, candidate) = (view("v1", &BEFORE), view("v2", &AFTER));
    let comparison = compared(&baseline, &candidate);
    let finding = &comparison.findings[0];
    assert_eq!(finding.function, "log");
    let mean = |side: &Side, costs: &[RunCost]| {
        let sizes = || side.profiles.iter().filter_map(|run| run.size_factor);
        let cost: f64 = costs
            .iter()
            .zip(sizes())
            .map(|(run, size)| run.cost * size)
            .sum();
        cost / sizes().sum::<f64>()
    };
    let before = mean(&comparison.baseline, &finding.runs.baseline);
    let after = mean(&comparison.candidate, &finding.runs.candidate);
    let Change {
        baseline_share,
        change,
        ..
    } = finding.attributed_self;
    assert!((before / baseline_share - 1.0).abs() < 1e-4, "{before}");
    let change = change.expect("both sides have samples");
    assert!((after / before / change - 1.0).abs() < 1e-4, "{after}");

    // A run of twice the length does not cost more.
    let costs = &finding.runs.baseline;
    assert!(
        (costs[1].cost / costs[0].cost - 1.02).abs() < 0.001,
        "{costs:?}"
    );
    let samples: Vec<u64> = finding
        .runs
        .candidate
        .iter()
        .map(|run| run.samples)
        .collect();
    assert_eq!(samples, [210, 390, 201]);
    for (side, view) in [
        (&comparison.baseline, &baseline),
        (&comparison.candidate, &candidate),
    ] {
        let named: Vec<&str> = side
            .profiles
            .iter()
            .map(|run| run.profile.as_str())
            .collect();
        let profiles = view.selection.profiles.iter();
        assert_eq!(
            named,
            profiles.map(|p| p.id.to_string()).collect::<Vec<_>>()
        );
    }
}

#[test]
fn run_without_samples_does_not_count() {
    let mut baseline = view("v1", &BEFORE);
    baseline.runs[0][0].clear();
    let side = compared(&baseline, &view("v2", &AFTER)).baseline;
    assert_eq!((side.runs, side.profiles.len()), (1, 1));
    let second = &baseline.selection.profiles[1];
    assert_eq!(side.profiles[0].profile, second.id.to_string());
    assert_eq!(side.profiles[0].samples, 8004);
}

#[test]
fn reports_stacks_on_request_in_preorder() {
    let options = with!(CompareOptions { stacks: true });
    let compared_in = |order| {
        let before = view_in_order("v1", &BEFORE, order);
        let after = view_in_order("v2", &["main;serve 7\n main;audit;log 3"], order);
        compare(&before, &after, &options).expect("the options are in range")
    };
    let stacks = compared_in(Order::Forward)
        .stacks
        .expect("stacks were requested");
    let rows: Vec<(usize, &str, u64, u64)> = stacks
        .nodes
        .iter()
        .map(|node| {
            let name = &stacks.functions[node.function].function;
            (
                node.depth,
                &**name,
                node.baseline_samples,
                node.candidate_samples,
            )
        })
        .collect();
    assert_eq!(
        rows,
        [
            (0, "main", 12_004, 10),
            (1, "audit", 0, 3),
            (2, "log", 0, 3),
            (1, "compute", 7_500, 0),
            (1, "parse", 2_400, 0),
            (1, "serve", 304, 7),
            (2, "log", 304, 0),
            (1, "write", 1_800, 0),
        ]
    );
    let whole = 12_004.0 * stacks.baseline_cost;
    assert!(
        (whole - 1.0).abs() < 1e-5,
        "all of the baseline costs 1, not {whole}"
    );
    assert_eq!(compared_in(Order::Backward).stacks, Some(stacks));
    let plain = compared(&view("v1", &BEFORE), &view("v2", &AFTER));
    assert_eq!(plain.stacks, None);
}

#[test]
fn windows_of_an_instance_are_one_run() {
    let instances = |version: &str| {
        let mut view = view(version, &[STEADY; 6]);
        for (window, stored) in view.selection.profiles.iter_mut().enumerate() {
            let instance = ["a", "b", "c"][window % 3];
            stored.profile.format = Profile::WINDOW.to_owned();
            let labels = &mut stored.profile.labels;
            labels.insert("instance".to_owned(), instance.to_owned());
        }
        view
    };
    let windows = compared(&instances("v1"), &instances("v2"));
    let doubled = "main;parse 800\n main;compute 5000\n main;write 600\n";
    let runs = compared(&view("v1", &[doubled; 3]), &view("v2", &[doubled; 3]));
    assert_eq!(windows.baseline.runs, 3);
    assert_eq!(windows.candidate.samples, runs.candidate.samples);
    let statistics = |comparison: &Comparison| {
        serde_json::to_value(&comparison.statistics).expect("they are plain data")
    };
    assert_eq!(statistics(&windows), statistics(&runs));
    assert!(windows.warnings.is_empty(), "{:?}", windows.warnings);
}
