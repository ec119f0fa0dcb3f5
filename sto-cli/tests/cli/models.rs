//! `sto model` and `sto compare-models`.

use crate::support::Sandbox;
use std::sync::OnceLock;

/// A sandbox whose store has two runs of each size: the cost of `find` is linear in n in `v1`, and quadratic in `v2`.
pub(crate) fn swept() -> Sandbox {
    // Made once: every transaction waits for the disk.
    static STORE: OnceLock<Vec<u8>> = OnceLock::new();
    let store = STORE.get_or_init(|| {
        let sandbox = Sandbox::new();
        for (build, power) in [("v1", 1), ("v2", 2)] {
            for n in [10_u64, 20, 40, 80, 160] {
                for run in [0, 1] {
                    ingest_swept(&sandbox, build, power, n, run);
                }
            }
        }
        std::fs::read(sandbox.path("store/store.redb")).unwrap()
    });
    let sandbox = Sandbox::new();
    sandbox.write("store/store.redb", store);
    sandbox
}

fn ingest_swept(sandbox: &Sandbox, build: &str, power: u32, n: u64, run: u64) {
    let find = 1000 + 10 * n.pow(power) + run * n;
    let stacks = format!("main;find {find}\nmain;fixed {}\n", 3000 + run);
    sandbox.write("run.folded", stacks);
    let metric = format!("n={n}");
    let args = ["--exe", "app", "--build", build, "--metric", &metric];
    let ingest = [&["ingest", "run.folded"][..], &args].concat();
    sandbox.sto(&ingest).succeeds();
}

#[test]
fn models_a_function_by_a_metric_of_its_runs() {
    let sandbox = swept();
    let run = sandbox.sto(&["model", "find", "v1", "--x", "n"]).succeeds();
    assert!(
        run.stdout
            .starts_with("find: total samples by n, 10 runs of app@v1\n\nlinear: "),
        "{run:?}"
    );
    let json = sandbox.json(&["model", "find", "v2", "--x", "n"]);
    let best = &json["models"][0];
    assert!(
        ["quadratic", "power"].contains(&best["kind"].as_str().unwrap()),
        "{best}"
    );
    assert!(best["r_square"].as_f64().unwrap() > 0.999 && best["aicc"].is_f64());
    let all = sandbox
        .sto(&["model", "--all", "v1", "--x", "n"])
        .succeeds();
    assert!(all.stdout.contains("constant"), "{all:?}");
    let drawing = sandbox.path("find.svg");
    let args = [
        "model",
        "find",
        "v1",
        "--x",
        "n",
        "-o",
        drawing.to_str().unwrap(),
    ];
    sandbox.sto(&args).succeeds();
    assert!(
        std::fs::read_to_string(drawing)
            .unwrap()
            .contains("<polyline")
    );
}

#[test]
fn models_file_of_points_and_names_invalid_line() {
    let sandbox = Sandbox::new();
    let file = sandbox.write("points.csv", "x,y\n1,3\n2,5\n3,7.1\n4,9\n5,11\n");
    let file = file.to_str().unwrap();
    let json = sandbox.json(&["model", "--points", file]);
    assert_eq!(json["models"][0]["kind"], "linear");
    let bad = sandbox.write("bad.csv", "x,y\n1,3\n2,slow\n");
    let run = sandbox.sto(&["model", "--points", bad.to_str().unwrap()]);
    run.fails_with(&["bad.csv", "line 3: expected a number in `y`, found `slow`"]);
    let few = sandbox.write("few.csv", "x,y\n1,3\n");
    let run = sandbox.sto(&["model", "--points", few.to_str().unwrap()]);
    assert_eq!(run.status, Some(0), "{run:?}");
    assert!(run.stdout.contains("constant"), "{run:?}");
}

#[test]
fn compare_models_fails_only_for_changed_growth() {
    let sandbox = swept();
    let run = sandbox.sto(&[
        "compare-models",
        "v1",
        "v2",
        "--x",
        "n",
        "--function",
        "find",
    ]);
    assert_eq!(run.status, Some(1), "{run:?}");
    assert!(run.stdout.starts_with("REGRESSION: "), "{run:?}");
    assert!(run.stdout.contains("find went from O(n) to "), "{run:?}");
    let run = sandbox.sto(&["compare-models", "v1", "v1", "--x", "n"]);
    assert_eq!(run.status, Some(0), "{run:?}");
    let run = sandbox.sto(&["compare-models", "v1", "v2", "--x", "m"]);
    run.fails_with(&["no run of app@v1 has a metric or a label `m`"]);
}

#[test]
fn a_check_by_x_fails_if_growth_changed() {
    let sandbox = swept();
    let run = sandbox.sto(&["find-regressions", "v1", "v2", "--x", "n"]);
    assert_eq!(run.status, Some(1), "{run:?}");
    let message = "REGRESSION: find went from O(n) to O(n²); ";
    assert!(run.stdout.starts_with(message), "{run:?}");
    assert!(run.stdout.contains("\nCost by n\ndegradation: "), "{run:?}");
    let page = [
        &["find-regressions", "v1", "v2", "--x", "n"][..],
        &["--format", "html"],
    ]
    .concat();
    let page = sandbox.sto(&page).stdout;
    assert!(
        page.contains("sto find-regressions v1 v2 --x n</code>"),
        "{page}"
    );
    assert!(page.contains("<rect class=\"part degradation\""), "{page}");
    // There are ten runs a side.
    assert!(!page.contains("not several runs"), "{page}");
    let run = sandbox.sto(&["find-regressions", "v1", "v1", "--x", "n"]);
    assert_eq!(run.status, Some(0), "{run:?}");
    assert!(run.stdout.contains("grows with n as before.\n"), "{run:?}");
    let run = sandbox.sto(&["find-regressions", "v1", "v2", "--x", "m"]);
    run.fails_with(&["no run of app@v1 has a metric or a label `m`"]);
}

#[test]
fn compares_growth_over_time_of_two_files() {
    let sandbox = Sandbox::new();
    // One sample per millisecond; the share of `find` grows over time.
    let script = |slower: u64| {
        let sample = |ms: u64| {
            let name = if ms % 100 < slower * ms / 200 {
                "find"
            } else {
                "wait"
            };
            format!(
                "app 1 {}.{:03}000: 1 cycles: \n\t1000 {name} (/bin/app)\n\n",
                ms / 1000,
                ms % 1000
            )
        };
        (0..10_000).map(sample).collect::<String>()
    };
    let old = sandbox.write("old.txt", script(1));
    let new = sandbox.write("new.txt", script(2));
    let files = [old.to_str().unwrap(), new.to_str().unwrap()];
    let run = sandbox.sto(&["compare-models", files[0], files[1], "--x", "time"]);
    assert_eq!(run.status, Some(1), "{run:?}");
    let head = "REGRESSION: 1 run of app@new.txt against 1 run of app@old.txt\n";
    assert!(run.stdout.starts_with(head), "{run:?}");
}

#[test]
fn model_requires_a_function_or_all_or_a_file() {
    let sandbox = swept();
    for args in [&["model", "v1", "--x", "n"][..], &["model", "--x", "n"]] {
        sandbox
            .sto(args)
            .fails_with(&["expected a function and profiles"]);
    }
    let run = sandbox.sto(&["model", "--all", "find", "v1", "--x", "n"]);
    run.fails_with(&["expected only profiles"]);
    let run = sandbox.sto(&["model", "find", "v1"]);
    assert_eq!(run.status, Some(2), "{run:?}");
}

#[test]
fn kinds_of_curves_reject_options_of_others() {
    let sandbox = swept();
    let model = |more: &[&str]| {
        let args = ["model", "find", "v1", "--x", "n"];
        sandbox.sto(&[&args[..], more].concat())
    };
    for (args, line) in [
        (
            &["--kind", "regressogram", "--buckets", "3"][..],
            "regressogram of 3 buckets, R²",
        ),
        (
            &["--kind", "moving-average", "--window", "2"],
            "moving average of 2 points, R²",
        ),
        (
            &["--kind", "exponential-average", "--decay", "alpha=0.5"],
            "exponential average with a decay of 0.500, R²",
        ),
        (
            &[
                "--kind",
                "kernel",
                "--kernel",
                "tricube",
                "--bandwidth",
                "30",
            ],
            "kernel regression with a bandwidth of 30.0, R²",
        ),
        (
            &["--kind", "kernel-ridge", "--gamma", "0.01"],
            "kernel ridge with a gamma of 0.0100, R²",
        ),
        (
            &[
                "--kind",
                "moving-average",
                "--window",
                "3",
                "--window-function",
                "gaussian=1.5",
                "--min-points",
                "2",
            ],
            "moving average of 3 points, R²",
        ),
        (
            &["--kind", "moving-median,linear", "--window", "2"],
            "moving median of 2 points  ",
        ),
        (&["--kind", "quadratic"], "quadratic: "),
        (&["--bins", "equal-count=4"], "linear: "),
        (
            &["--kind", "normal-form"],
            "normal form: 1000 + 10.5\u{b7}n, R²",
        ),
    ] {
        let run = model(args).succeeds();
        assert!(run.stdout.contains(line), "{args:?}: {run:?}");
    }
    model(&["--window", "3"]).fails_with(&[
        "`--window` only applies to `--kind moving-average` or `--kind moving-median`, but the kind is regression",
    ]);
    model(&["--kind", "kernel", "--gamma", "1"]).fails_with(&["`--gamma` only applies to"]);
    for (args, message) in [
        (
            ["--kind", "kernel", "--bandwidth", "wide"],
            "expected a number above 0, or cross-validation",
        ),
        (
            ["--kind", "moving-average", "--window-function", "tukey=2"],
            "expected a function of the help, such as hann",
        ),
        (
            ["--kind", "regressogram", "--bins", "20"],
            "expected equal-width=N or equal-count=N",
        ),
        (
            ["--kind", "regressogram", "--buckets", "0"],
            "error: invalid value '0' for '--buckets",
        ),
    ] {
        let run = model(&args);
        assert_eq!(run.status, Some(2), "{run:?}");
        assert!(run.stderr.contains(message), "{run:?}");
    }
    let args = [
        "compare-models",
        "v1",
        "v2",
        "--x",
        "n",
        "--detector",
        "fast-check",
    ];
    let run = sandbox.sto(&args);
    assert_eq!(run.status, Some(1), "{run:?}");
    assert!(run.stdout.contains("degradation: fast check "), "{run:?}");
}

#[test]
fn two_numbers_have_a_normal_form_and_reject_options_of_one() {
    let sandbox = Sandbox::new();
    for n in [1_u64, 2, 4, 8] {
        for m in [1_u64, 3, 9, 27] {
            let file = sandbox.write(
                "run.folded",
                format!("main;fill {}\nmain;{n}x{m} 1\n", 10 + n * m),
            );
            let [n, m] = [format!("n={n}"), format!("m={m}")];
            let args = [
                "ingest", "--exe", "app", "--build", "v1", "--metric", &n, "--metric", &m,
            ];
            sandbox
                .sto(&[&args[..], &[file.to_str().unwrap()]].concat())
                .succeeds();
        }
    }
    let args = ["model", "fill", "v1", "--x", "n", "--x", "m"];
    let run = sandbox.sto(&args).succeeds();
    let message = "fill: total samples by n and m, 16 runs of app@v1\n\nnormal form: 10.0 + 1.00\u{b7}n\u{b7}m, ";
    assert!(run.stdout.starts_with(message), "{run:?}");
    assert_eq!(
        sandbox.json(&args)["model"]["terms"][0]["factors"][1]["power"],
        1.0
    );
    for (option, value) in [("--output", "a.svg"), ("--kind", "kernel")] {
        let run = sandbox.sto(&[&args[..], &[option, value]].concat());
        run.fails_with(&[&format!(
            "`{option}` only applies to one variable; with two `--x`"
        )]);
    }
    let run = sandbox.sto(&["model", "--all", "v1", "--x", "n", "--x", "m"]);
    run.fails_with(&["expected one `--x`"]);
}

#[test]
fn calibrate_by_x_needs_several_runs_of_each_x() {
    let sandbox = swept();
    let run = sandbox
        .sto(&["calibrate", "v1", "--x", "n", "--splits", "5"])
        .succeeds();
    assert!(
        run.stdout.contains("were dealt to two sides 5 times."),
        "{run:?}"
    );
    assert!(run.stdout.contains("  compare-models\n"), "{run:?}");
    let file = sandbox.write("lone.folded", "main 5\n");
    let args = [
        "ingest",
        "--exe",
        "app",
        "--build",
        "v3",
        "--metric",
        "n=1",
        file.to_str().unwrap(),
    ];
    sandbox.sto(&args).succeeds();
    let run = sandbox.sto(&["calibrate", "v3", "--x", "n"]);
    assert_eq!(run.status, Some(3), "{run:?}");
    assert!(
        run.stdout
            .contains("TOO LITTLE DATA: it takes two or more runs of each n."),
        "{run:?}"
    );
}

/// The example of section 5.2.4 of the thesis that describes local statistics.
#[test]
fn parts_of_x_have_results_of_their_own() {
    let sandbox = Sandbox::new();
    let table = |name: &str, values: [u32; 10]| {
        let rows = values.iter().enumerate().map(|(x, y)| format!("{x},{y}\n"));
        let path = sandbox.write(name, format!("x,y\n{}", rows.collect::<String>()));
        path.to_str().unwrap().to_owned()
    };
    let files = [
        table("baseline.csv", [5, 4, 8, 3, 7, 6, 1, 5, 4, 3]),
        table("target.csv", [7, 9, 4, 5, 7, 5, 3, 8, 5, 1]),
    ];
    let args = [
        &["compare-models", "--points", &files[0], &files[1]][..],
        &["--kind", "moving-average", "--window", "1", "--parts", "5"],
        &["--no-change", "33", "--change", "66"],
    ]
    .concat();
    let run = sandbox.sto(&args);
    assert!(
        run.stdout
            .contains(" 10 points of target.csv against 10 points of baseline.csv\n"),
        "{run:?}"
    );
    let unwrapped = run.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    let parts = "degradation from x = 0 to 1.00: 0.777; no change from x = 2.00 to 5.00: -0.106; degradation from x = \
                 6.00 to 7.00: 0.968; no change from x = 8.00 to 9.00: -0.163";
    assert!(unwrapped.contains(parts), "{unwrapped}");
    let run = sandbox.sto(&["compare-models", &files[0], "v2"]);
    assert_eq!(run.status, Some(2), "{run:?}");
    assert!(run.stderr.contains("--x <NAME>"), "{run:?}");
}

#[test]
fn options_of_detectors_that_do_not_run_are_errors() {
    let sandbox = Sandbox::new();
    let file = sandbox.write("points.csv", "x,y\n1,3\n2,5\n3,7.1\n4,9\n5,11\n");
    let file = file.to_str().unwrap();
    let compare = |options: &str| {
        let args = ["compare-models", "--points", file, file];
        let options: Vec<&str> = options.split(' ').collect();
        sandbox.sto(&[&args[..], &options].concat())
    };
    for options in [
        "--parts 5",
        "--no-change 5",
        "--change 30",
        "--parts 5 --detector integral-comparison",
    ] {
        let option = options.split(' ').next().unwrap();
        let message = format!("`{option}` applies to none of the detectors that run");
        compare(options).fails_with(&[&message]);
    }
    compare("--no-change 5 --detector integral-comparison").succeeds();
    compare("--parts 5 --kind linear").succeeds();
    let message = "`--no-change` (default 10) must not be above `--change` (default 25)";
    compare("--kind linear --no-change 30").fails_with(&[message]);
}

#[test]
fn single_points_are_not_said_to_grow_as_before() {
    let sandbox = Sandbox::new();
    let one = sandbox.write("one.csv", "x,y\n1,3\n");
    let one = one.to_str().unwrap();
    let run = sandbox.sto(&["compare-models", "--points", one, one]);
    assert_eq!(run.status, Some(3), "{run:?}");
    let message = "1 function could not be compared: too few points in the range";
    assert!(run.stdout.contains(message), "{run:?}");
}

#[test]
fn options_that_do_not_apply_to_curves_are_errors() {
    let sandbox = swept();
    let points = sandbox.write("points.csv", "x,y,group\n1,3,a\n2,5,a\n1,3,b\n2,5,b\n");
    let points = points.to_str().unwrap();
    let drawing = sandbox.path("drawing.svg");
    let drawing = drawing.to_str().unwrap();
    for command in [
        &["model", "--points", points][..],
        &["compare-models", "--points", points, points],
    ] {
        for options in ["--by self", "--event cycles", "--benchmark a", "--inlined"] {
            let options: Vec<&str> = options.split(' ').collect();
            let run = sandbox.sto(&[command, &options].concat());
            run.refused(&["cannot be used with", "--points", options[0]]);
        }
    }
    for command in [
        &["model", "find", "v1", "--x", "n"][..],
        &["compare-models", "v1", "v2", "--x", "n"],
    ] {
        let run = sandbox.sto(&[command, &["-o", drawing, "--format", "json"]].concat());
        run.refused(&["cannot be used with", "--format", "--output"]);
    }
    let model = |options: &[&str]| sandbox.sto(&[&["model"][..], options].concat());
    model(&["--all", "v1", "--x", "n", "--log"]).refused(&["cannot be used with", "--log"]);
    model(&["find", "v1", "--x", "n", "--limit", "3"]).refused(&["--all"]);
    model(&["--points", points, "--log"]).fails_with(&["`--log` only applies to one group"]);
    model(&["--points", points, "-o", drawing])
        .fails_with(&["`--output` only applies to one group"]);
    assert!(!sandbox.path("drawing.svg").exists());
}

#[test]
fn log_shows_logarithmic_axes_of_a_page_at_first() {
    let sandbox = swept();
    let page = sandbox.path("curves.html");
    for command in [
        &["model", "find", "v1", "--x", "n"][..],
        &["compare-models", "v1", "v2", "--x", "n"],
    ] {
        for (options, chosen) in [(&[][..], "values"), (&["--log"], "logarithms")] {
            sandbox.sto(&[command, &["-o", page.to_str().unwrap()], options].concat());
            let drawn = std::fs::read_to_string(&page).unwrap();
            assert!(
                drawn.contains(&format!("id=\"{chosen}\" checked")),
                "{chosen}"
            );
        }
    }
}
