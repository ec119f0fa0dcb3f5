//! What a side is: its executable, its runs, its rates.

use crate::support::{compared, sample_type, set_build_ids, summary, view};
use sto_query::compare::{
    CompareOptions, NormalisationMethod, Verdict, compare, compare_with_earlier,
};

const STEADY: &str = "
    main;parse 400
    main;compute 2500
    main;write 300
";

#[test]
fn the_main_program_is_one_module_whatever_its_file_is_called() {
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
fn a_library_of_another_version_is_another_module() {
    let baseline = view("v1", &[&format!("{STEADY}\n main;libz.so.1.2!deflate 600")]);
    let candidate = view(
        "v2",
        &[&format!("{STEADY}\n main;libz.so.1.3!deflate 1800")],
    );
    let comparison = compared(&baseline, &candidate);
    assert_eq!(
        summary(&comparison),
        "new deflate <- main\nmoved deflate to deflate\n"
    );
    assert_eq!(comparison.findings[0].module, "libz.so.1.3");
    assert_eq!(comparison.findings[1].module, "libz.so.1.2");
}

#[test]
fn runs_of_different_length_on_one_side_are_no_variation() {
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
fn a_higher_sampling_rate_is_no_regression() {
    // Twice the samples, each of half the period: in so small a program nothing but the cost says
    // that the work was the same.
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
fn the_event_that_both_sides_measured_is_compared() {
    let mut baseline = view("v1", &[STEADY]);
    let mut candidate = view("v2", &[STEADY]);
    // The baseline has more samples of an event that the candidate has not.
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
        ["The sides measured different sets of events."]
    );
    assert_eq!(comparison.verdict, Verdict::Clean);
}

#[test]
fn shares_and_cost_by_run_are_compared_if_asked_for() {
    // The largest function doubles; the others cost what they did.
    let baseline = view(
        "v1",
        &["main;solve 6000\n main;a 1000\n main;b 1000\n main;c 1000"],
    );
    let candidate = view(
        "v2",
        &["main;solve 12000\n main;a 1000\n main;b 1000\n main;c 1000"],
    );
    let findings = |normalisation: NormalisationMethod| {
        let options = CompareOptions {
            normalisation: normalisation.clone(),
            ..CompareOptions::default()
        };
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
fn an_earlier_build_tells_how_much_single_runs_vary() {
    // The same work with chance added: this many percent more in some functions, by run.
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
