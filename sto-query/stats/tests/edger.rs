//! The statistics agree with edgeR. `testdata/statistics/README.md` says how its results were computed.

use std::collections::BTreeMap;
use std::path::Path;
use sto_stats::{Design, Fit, Variation, levels_differ, tmm};

/// Reads a CSV file without quotes: the first field and the other fields of each row, header first.
fn table(name: &str) -> Vec<(String, Vec<String>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/statistics");
    let text = std::fs::read_to_string(folder.join(name)).expect("the table is there");
    let row = |line: &str| {
        let mut fields = line.split(',').map(str::to_owned);
        (fields.next().expect("a first field"), fields.collect())
    };
    text.lines().map(row).collect()
}

fn numbers(fields: &[String]) -> Vec<f64> {
    let number = |field: &String| field.parse().expect("a number");
    fields.iter().map(number).collect()
}

struct Reference {
    totals: Vec<f64>,
    split: usize,
    names: Vec<String>,
    counts: Vec<Vec<f64>>,
    factors: Vec<f64>,
    /// Columns of edgeR's results, by function.
    answers: BTreeMap<String, Vec<f64>>,
}

fn reference(name: &str) -> Reference {
    let mut rows = table(&format!("{name}.csv")).into_iter();
    let runs = rows.next().expect("a header").1;
    let totals = numbers(&rows.next().expect("totals").1);
    let (names, counts) = rows.map(|(name, row)| (name, numbers(&row))).unzip();
    let factors = table(&format!("{name}.runs.csv"));
    let mut answers = table(&format!("{name}.functions.csv")).into_iter();
    let columns = answers.next().expect("a header").1;
    let answers: Vec<Vec<f64>> = answers.map(|(_, row)| numbers(&row)).collect();
    let column = |ix: usize| answers.iter().map(|row| row[ix]).collect();
    Reference {
        totals,
        split: runs
            .iter()
            .filter(|run| run.starts_with("baseline"))
            .count(),
        names,
        counts,
        factors: factors[1..]
            .iter()
            .map(|(_, row)| numbers(row)[0])
            .collect(),
        answers: columns
            .into_iter()
            .enumerate()
            .map(|(ix, name)| (name, column(ix)))
            .collect(),
    }
}

impl Reference {
    fn design(&self) -> Design {
        let sizes: Vec<f64> = self
            .totals
            .iter()
            .zip(&self.factors)
            .map(|(t, f)| t * f)
            .collect();
        let mean = sizes.iter().sum::<f64>() / sizes.len() as f64;
        Design::new(sizes.iter().map(|size| size / mean).collect(), self.split)
    }

    fn answer(&self, column: &str) -> &[f64] {
        &self.answers[column]
    }
}

const MATRICES: [&str; 3] = ["demo", "rustc", "synthetic"];

/// Returns the relative difference of two numbers.
fn distance(a: f64, b: f64) -> f64 {
    if a == b { 0.0 } else { (a / b).ln().abs() }
}

/// Checks that nearly all numbers are within `most` of each other, and all within `all`.
fn assert_close(what: &str, ours: &[f64], theirs: &[f64], most: f64, all: f64) {
    assert_eq!(ours.len(), theirs.len(), "{what}");
    let mut differences: Vec<f64> = ours
        .iter()
        .zip(theirs)
        .map(|(&a, &b)| distance(a, b))
        .collect();
    differences.sort_by(f64::total_cmp);
    let (ninety, last) = (
        differences[differences.len() * 9 / 10],
        differences[differences.len() - 1],
    );
    assert!(
        ninety <= most && last <= all,
        "{what}: 90 % within {ninety}, all within {last}"
    );
}

#[test]
fn normalisation_factors_agree_with_edger() {
    for name in MATRICES {
        let reference = reference(name);
        let factors = tmm(&reference.counts, &reference.totals);
        assert_close(name, &factors, &reference.factors, 1e-9, 1e-9);
    }
}

/// Dispersions differ a little, because edgeR interpolates its trend between the corners of a tree,
/// and its likelihoods by a spline.
#[test]
fn dispersions_agree_with_edger() {
    for name in MATRICES {
        let reference = reference(name);
        let design = reference.design();
        let variation = Variation::estimate(&reference.counts, &design).expect("several runs");
        let fits: Vec<Fit> = reference
            .counts
            .iter()
            .map(|row| variation.fit(row, &design))
            .collect();
        let check = |what: &str, of: fn(&Fit) -> f64, most: f64, all: f64| {
            let ours: Vec<f64> = fits.iter().map(of).collect();
            let what = format!("{name}: {what}");
            assert_close(
                &what,
                &ours,
                reference.answer(what.rsplit(' ').next().unwrap()),
                most,
                all,
            );
        };
        check("dispersion", |fit| fit.dispersion, 0.04, 0.06);
        check("deviance", |fit| fit.deviance, 0.02, 0.03);
        check("df_residual", |fit| fit.df_residual, 0.0, 0.0);
        check("quasi_prior", |fit| fit.quasi_prior, 0.02, 0.05);
        check("quasi_posterior", |fit| fit.quasi_posterior, 0.02, 0.05);
        check("df_total", |fit| fit.df_total, 0.01, 0.01);
        let df_prior = reference.answer("df_prior")[0];
        assert!(
            distance(variation.df_prior(), df_prior) < 0.02,
            "{name}: {} {df_prior}",
            variation.df_prior()
        );
    }
}

/// The trend is estimated from at most 5,000 functions.
#[test]
fn trend_of_a_sample_of_functions_agrees_with_that_of_all() {
    let reference = reference("synthetic");
    let design = reference.design();
    let repeated = |times: usize| {
        let rows = reference.counts.iter().flat_map(|row| vec![row; times]);
        let rows: Vec<Vec<f64>> = rows.cloned().collect();
        Variation::estimate(&rows, &design).expect("several runs")
    };
    let (all, some) = (repeated(8), repeated(10));
    assert!(8 * reference.counts.len() <= 5_000 && 10 * reference.counts.len() > 5_000);
    for row in &reference.counts {
        let [all, some] = [&all, &some].map(|variation| variation.fit(row, &design).dispersion);
        assert!(distance(all, some) < 0.02, "{all} {some}");
    }
}

#[test]
fn p_values_and_their_order_agree_with_edger() {
    for name in MATRICES {
        let reference = reference(name);
        let design = reference.design();
        let variation = Variation::estimate(&reference.counts, &design).expect("several runs");
        let p = |row: &Vec<f64>| variation.fit(row, &design).f_test_p_value(row, &design);
        let ours: Vec<f64> = reference.counts.iter().map(p).collect();
        let theirs = reference.answer("p");
        // The difference between p-values of 1e-40 and 2e-40 does not matter.
        let floored = |p: &[f64]| p.iter().map(|p| p.max(1e-12)).collect::<Vec<f64>>();
        assert_close(name, &floored(&ours), &floored(theirs), 0.02, 0.06);
        for (a, (ours_a, theirs_a)) in ours.iter().zip(theirs).enumerate() {
            for (ours_b, theirs_b) in ours.iter().zip(theirs) {
                let is_before = *theirs_a < 0.9 * theirs_b;
                assert!(
                    !is_before || ours_a < ours_b,
                    "{name}: {}",
                    reference.names[a]
                );
            }
        }
    }
}

#[test]
fn interval_ends_where_the_p_value_falls_below_alpha() {
    let reference = reference("synthetic");
    let design = reference.design();
    let variation = Variation::estimate(&reference.counts, &design).expect("several runs");
    let mut significant = 0;
    for row in &reference.counts {
        let fit = variation.fit(row, &design);
        let interval = variation.interval(&fit, row, &design, 0.05);
        assert!(interval.low < interval.high);
        let excludes_no_change = interval.low > 1.0 || interval.high < 1.0;
        assert_eq!(
            excludes_no_change,
            variation.p_value(&fit, row, &design) < 0.05
        );
        significant += u32::from(excludes_no_change);
    }
    assert!((29..100).contains(&significant), "{significant}");
}

#[test]
fn side_without_samples_has_an_unbounded_interval() {
    let design = Design::new(vec![1.0; 4], 2);
    let variation = Variation::with_dispersion(0.01);
    for (row, is_new) in [
        ([0.0, 0.0, 40.0, 50.0], true),
        ([40.0, 50.0, 0.0, 0.0], false),
    ] {
        let fit = variation.fit(&row, &design);
        let interval = variation.interval(&fit, &row, &design, 0.05);
        assert_eq!(interval.high == f64::INFINITY, is_new, "{interval:?}");
        assert_eq!(interval.low == 0.0, !is_new, "{interval:?}");
    }
}

#[test]
fn cautious_prior_has_fewer_degrees_of_freedom() {
    let reference = reference("rustc");
    let design = reference.design();
    let variation = Variation::estimate(&reference.counts, &design).expect("several runs");
    let plain = variation.df_prior();
    let cautious = variation.cautious().df_prior();
    assert!(cautious < plain && cautious > 5.0, "{cautious} {plain}");
}

#[test]
fn single_runs_have_no_dispersion() {
    let design = Design::new(vec![1.0; 2], 1);
    assert!(Variation::estimate(&[vec![20.0, 30.0], vec![5.0, 7.0]], &design).is_none());
}

/// Ten builds of one run each, and an eleventh to test: Student's t for the next observation, which is
/// `2 * t.sf((x - m) / (s * sqrt(1 + 1/10)), 9)` in SciPy 1.17.
#[test]
fn newest_build_is_tested_by_the_prediction_interval_of_earlier_ones() {
    let past = [10.0, 12.0, 11.0, 9.0, 10.0, 11.0, 12.0, 10.0, 9.0, 11.0];
    let each: Vec<&[f64]> = past.chunks(1).collect();
    let p = levels_differ(&each, &[&[14.0]], 0.0).unwrap();
    assert!((p - 0.012938411418089478).abs() < 1e-9, "{p}");
    assert_eq!(levels_differ(&[&[1.0]], &[&[2.0]], 0.0), None);
}

/// If runs vary little within builds that differ, each build counts once: `ttest_ind` of means.
#[test]
fn runs_of_differing_builds_count_as_one_observation_per_build() {
    let builds: [&[f64]; 5] = [
        &[10.0, 10.1],
        &[12.0, 12.1],
        &[11.0, 11.1],
        &[15.0, 15.1],
        &[16.0, 16.1],
    ];
    let p = levels_differ(&builds[..3], &builds[3..], 0.0).unwrap();
    assert!((p - 0.012448360615115128).abs() < 1e-9, "{p}");
    // `ttest_ind` of runs, as builds do not differ.
    let builds: [&[f64]; 2] = [&[10.0, 11.0, 12.0], &[14.0, 13.0, 15.0]];
    let p = levels_differ(&builds[..1], &builds[1..], 0.0).unwrap();
    assert!((p - 0.021311641128756713).abs() < 1e-9, "{p}");
}
