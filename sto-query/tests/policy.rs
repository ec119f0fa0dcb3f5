//! Policy files: their content, invalid content, and precedence.

use sto_core::units::UnixSeconds;
use sto_query::policy::{Policy, Thresholds};
use sto_query::questions::{CompareOptions, NormalisationMethod, WorseIf};
use sto_query::text::Date;
use sto_test_support::{Random, damage};

const POLICY: &str = r#"
baseline = "last-good"

[thresholds]
alpha = 0.01
min-effect = "5%"
min-samples = 500
normalisation = "shares"
worse-if = { requests = "lower", seconds = "higher" }

[benchmark.serve]
min-effect = "20 %"
normalisation = { per = "requests" }
worse-if = { seconds = "never" }

[benchmark."cold start"]

[[ignore]]
function = "render_glyph"
module = "libtext.so"
reason = "known: the new shaping engine"
expires = 2026-12-31

[[ignore]]
function = "parse"
reason = "old"
expires = 2026-06-30
"#;

/// 86,400 seconds a day; 2026-01-01 is day 20,454.
fn day(day_of_2026: u64) -> Date {
    Date::from_time(UnixSeconds((20_454 + day_of_2026 - 1) * 86_400 + 86_399))
}

fn options(benchmark: Option<&str>, set: &Thresholds) -> CompareOptions {
    let policy = Policy::parse(POLICY).unwrap();
    policy.options(benchmark, set, Some(&day(1)), CompareOptions::default())
}

#[test]
fn nearest_level_sets_direction_of_metric() {
    let of = |benchmark, name: &str| {
        let options = options(benchmark, &Thresholds::default());
        options.worse_if.get(name).copied()
    };
    assert_eq!(of(None, "seconds"), Some(WorseIf::Higher));
    assert_eq!(of(Some("serve"), "seconds"), Some(WorseIf::Never));
    assert_eq!(of(Some("serve"), "requests"), Some(WorseIf::Lower));
    assert_eq!(of(Some("serve"), "total-cost"), None);
    let error = Policy::parse("[thresholds]\nworse-if = { seconds = \"more\" }").unwrap_err();
    assert_eq!(error.line, 2);
    assert!(
        error.message.contains("`higher`, `lower`, `never`"),
        "{error}"
    );
}

#[test]
fn policy_has_general_and_benchmark_thresholds() {
    let policy = Policy::parse(POLICY).unwrap();
    assert_eq!(policy.baseline.as_deref(), Some("last-good"));
    let names: Vec<&String> = policy.benchmarks.keys().collect();
    assert_eq!(names, ["cold start", "serve"]);
    let [glyph, parse] = &policy.ignore[..] else {
        panic!("{policy:?}")
    };
    assert_eq!(glyph.ignored.function, "render_glyph");
    assert_eq!(glyph.ignored.module.as_deref(), Some("libtext.so"));
    assert_eq!(glyph.ignored.why.expires.to_string(), "2026-12-31");
    assert_eq!((parse.line, parse.ignored.module.as_deref()), (25, None));
}

#[test]
fn policy_sets_attribution() {
    let text = r#"
[attribute.to-caller]
functions = ["absl::*"]
files = ["third_party/*"]

[attribute.to-itself]
modules = ["libc.so.6"]
"#;
    let policy = Policy::parse(text).unwrap();
    let (to_caller, to_itself) = (&policy.attribution.to_caller, &policy.attribution.to_itself);
    assert_eq!(to_caller.functions, ["absl::*"]);
    assert_eq!(to_caller.files, ["third_party/*"]);
    assert_eq!(to_itself.modules, ["libc.so.6"]);
    let defaults = CompareOptions::default();
    let options = policy.options(None, &Thresholds::default(), Some(&day(1)), defaults);
    assert_eq!(options.attribution, policy.attribution);
    for wrong in [
        "to-caller = 3",
        "to-caler = {}",
        "to-caller = { function = [] }",
    ] {
        let error = Policy::parse(&format!("[attribute]\n{wrong}\n")).unwrap_err();
        assert_eq!(error.line, 2, "{error}");
    }
}

#[test]
fn empty_policy_changes_nothing() {
    let policy = Policy::parse("").unwrap();
    assert_eq!(policy, Policy::default());
    let defaults = CompareOptions::default();
    let options = policy.options(
        Some("x"),
        &Thresholds::default(),
        Some(&day(1)),
        defaults.clone(),
    );
    assert_eq!(options, defaults);
}

#[test]
fn command_line_overrides_benchmark_overrides_rest() {
    let nothing = Thresholds::default();
    let all = options(None, &nothing);
    assert_eq!(
        (all.alpha, all.min_effect, all.min_samples),
        (0.01, 0.05, 500)
    );
    assert_eq!(all.min_share, CompareOptions::default().min_share);
    assert_eq!(all.normalisation, Some(NormalisationMethod::Total));
    let serve = options(Some("serve"), &nothing);
    assert_eq!((serve.alpha, serve.min_effect), (0.01, 0.2));
    let per_request = NormalisationMethod::PerMetric("requests".to_owned());
    assert_eq!(serve.normalisation, Some(per_request));
    assert_eq!(options(Some("cold start"), &nothing).min_effect, 0.05);
    let set = with!(Thresholds {
        min_effect: Some(0.5),
        normalisation: Some(NormalisationMethod::Tmm),
        ..nothing
    });
    let serve = options(Some("serve"), &set);
    assert_eq!((serve.alpha, serve.min_effect), (0.01, 0.5));
    assert_eq!(serve.normalisation, Some(NormalisationMethod::Tmm));
}

#[test]
fn entry_applies_until_its_last_day_and_is_then_reported() {
    let policy = Policy::parse(POLICY).unwrap();
    let ignored = |today: &Date| {
        let options = policy.options(
            None,
            &Thresholds::default(),
            Some(today),
            CompareOptions::default(),
        );
        let functions = options.ignored.into_iter().map(|entry| entry.function);
        functions.collect::<Vec<String>>()
    };
    // The 30th of June is day 181.
    assert_eq!(ignored(&day(181)), ["render_glyph", "parse"]);
    assert_eq!(policy.expired(Some(&day(181))), [""; 0]);
    assert_eq!(ignored(&day(182)), ["render_glyph"]);
    assert_eq!(
        policy.expired(Some(&day(182))),
        ["Line 25 of the policy no longer ignores parse: it expired on 2026-06-30 (old)."]
    );
    assert_eq!(ignored(&day(366)), [""; 0]);
}

/// Invalid policies, with the line of the error and its message.
const WRONG: &[(&str, usize, &str)] = &[
    ("baseline = 3", 1, "expected a string"),
    ("baseline = \"\"", 1, "expected text that is not blank"),
    (
        "\nbase-line = \"x\"",
        2,
        "unknown field `base-line`, expected one of `baseline`",
    ),
    ("thresholds = 3", 1, "expected a table of thresholds"),
    (
        "[thresholds]\nmin-efect = \"5%\"",
        2,
        "expected one of `alpha`, `min-effect`",
    ),
    (
        "[thresholds]\nmin-effect = 0.1",
        2,
        "expected percent above 0 in quotes, such as \"10%\"",
    ),
    (
        "[thresholds]\nmin-effect = \"10\"",
        2,
        "expected percent above 0",
    ),
    (
        "[thresholds]\nmin-effect = \"0%\"",
        2,
        "expected percent above 0",
    ),
    (
        "[thresholds]\nmin-effect = \"NaN%\"",
        2,
        "expected percent above 0",
    ),
    (
        "[thresholds]\nmin-share = \"100%\"",
        2,
        "expected percent from 0 to below 100",
    ),
    (
        "[thresholds]\nalpha = 5",
        2,
        "expected a number between 0 and 1, such as 0.05",
    ),
    (
        "[thresholds]\nalpha = nan",
        2,
        "expected a number between 0 and 1",
    ),
    (
        "[thresholds]\nmin-samples = -1",
        2,
        "expected a whole number from 0, such as 200",
    ),
    (
        "[thresholds]\nnormalisation = \"luck\"",
        2,
        "expected one of `per-run`, `unequal-work`, `shares`",
    ),
    (
        "[thresholds]\nnormalisation = { per = \" \" }",
        2,
        "expected text that is not blank",
    ),
    (
        "[benchmark]\nserve = true",
        2,
        "expected a table of thresholds",
    ),
    ("[benchmark.serve]\nname = \"x\"", 2, "unknown field `name`"),
    ("[benchmark.serve]\n[benchmark.serve]", 2, "duplicate key"),
    (
        "[[ignore]]\nfunction = \"f\"\nexpires = 2026-01-01",
        1,
        "missing field `reason`",
    ),
    (
        "[[ignore]]\nfunction = \"f\"\nreason = \"r\"",
        1,
        "missing field `expires`",
    ),
    (
        "[[ignore]]\nfunction = \"f\"\nreason = \"\"",
        3,
        "expected text that is not blank",
    ),
    (
        "[[ignore]]\nexpires = \"2026-01-01\"",
        2,
        "expected a day without quotes, such as 2026-12-31",
    ),
    (
        "[[ignore]]\nexpires = 2026-01-01T12:00:00",
        2,
        "expected a day without quotes",
    ),
    ("[[ignore]]\nexpires = 2026-02-30", 2, "invalid date"),
    ("a b", 1, "key with no value, expected `=`"),
    ("baseline = \"x", 1, "invalid basic string"),
];

#[test]
fn invalid_policy_names_line() {
    for &(text, line, expected) in WRONG {
        let error = Policy::parse(text).expect_err(text);
        assert_eq!(error.line, line, "{text}: {error}");
        assert!(error.message.contains(expected), "{text}: {error}");
        assert!(!error.message.contains('\n'), "{text}: {error}");
    }
}

#[test]
fn damaged_policy_is_valid_or_names_line() {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../sto-cli/fuzz/seeds/policy/all.toml"
    );
    let whole = std::fs::read(path).unwrap();
    for seed in 0..2000 {
        let mut bytes = whole.clone();
        damage(&mut bytes, &mut Random::new(seed));
        let Ok(text) = String::from_utf8(bytes) else {
            continue;
        };
        if let Err(error) = Policy::parse(&text) {
            let lines = text.matches('\n').count() + 1;
            assert!((1..=lines).contains(&error.line), "{text}: {error}");
            assert!(!error.message.contains('\n'), "{text}: {error}");
        }
    }
}

#[test]
fn policy_in_the_tour_is_valid() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../sto-cli/docs/tour.md");
    let tour = std::fs::read_to_string(path).unwrap();
    let (_, rest) = tour.split_once("```toml\n").unwrap();
    let (block, _) = rest.split_once("```").unwrap();
    let policy = Policy::parse(block).unwrap();
    let names: Vec<&String> = policy.benchmarks.keys().collect();
    assert_eq!(names, ["serve"]);
    assert_eq!(policy.ignore[0].ignored.function, "doLogging");
}
