//! Properties that hold for any points.

use super::same;
use proptest::collection::vec;
use proptest::prelude::*;
use sto_stats::models::{Curve, Model, ModelKind, Points, regression};

fn numbers() -> impl Strategy<Value = Vec<(f64, f64)>> {
    let x = (1_u32..2000).prop_map(|x| f64::from(x) / 10.0);
    let y = (0_u32..100_000).prop_map(|y| f64::from(y) / 100.0);
    vec((x, y), 8..60)
}

fn fitted(points: &[(f64, f64)], kind: ModelKind) -> Option<Model> {
    let points = Points::new(points.iter().copied()).unwrap();
    regression(&points, &[kind]).models.pop()
}

proptest! {
    #[test]
    fn fits_are_equivariant_under_scale_and_shift(
        points in numbers(), scale in 0.01_f64..100.0, shift in -500.0_f64..500.0
    ) {
        for kind in ModelKind::REGRESSION {
            let shift = match kind {
                ModelKind::Power | ModelKind::Exponential => 0.0,
                _ => shift,
            };
            let other: Vec<_> = points.iter().map(|(x, y)| (*x, scale * y + shift)).collect();
            let (Some(a), Some(b)) = (fitted(&points, kind), fitted(&other, kind)) else {
                continue;
            };
            for (x, _) in &points {
                let size = 1000.0 * scale + shift.abs();
                same(kind.name(), b.curve.at(*x), scale * a.curve.at(*x) + shift, size);
            }
            same(kind.name(), b.r_square, a.r_square, 1.0);
        }
    }

    #[test]
    fn true_kind_of_exact_data_has_r_square_1_and_wins(
        a in 1_u32..100, b in 1_u32..100, c in 1_u32..50
    ) {
        let [a, b, c] = [a, b, c].map(f64::from);
        let made: [(ModelKind, &dyn Fn(f64) -> f64); 8] = [
            (ModelKind::Constant, &|_| a),
            (ModelKind::Logarithmic, &|x| a + b * x.ln()),
            (ModelKind::Linear, &|x| a + b * x),
            (ModelKind::Linearithmic, &|x| a + b * x * x.ln()),
            (ModelKind::Quadratic, &|x| a + b * x + c * x * x),
            (ModelKind::Cubic, &|x| a + b * x * x + c * x * x * x),
            (ModelKind::Power, &|x| a * x.powf(0.3 + c / 20.0)),
            (ModelKind::Exponential, &|x| a * (1.0 + c / 60.0).powf(x)),
        ];
        for (kind, f) in made {
            let points = Points::new((1..20).map(|x| (f64::from(x), f(f64::from(x))))).unwrap();
            let found = regression(&points, &ModelKind::REGRESSION);
            let is_other_name = kind == ModelKind::Power && (0.3 + c / 20.0 == 1.0);
            prop_assert!(
                found.models[0].kind == kind || is_other_name,
                "{} won over {}", found.models[0].kind, kind
            );
            prop_assert_eq!(found.models[0].r_square, 1.0);
        }
    }

    #[test]
    fn coefficients_agree_with_the_curve(points in numbers()) {
        for kind in ModelKind::REGRESSION {
            let Some(model) = fitted(&points, kind) else { continue };
            let b = |ix: usize| model.coefficients[ix].value;
            let x = model.x_end;
            let y = match kind {
                ModelKind::Logarithmic => b(0) + b(1) * x.ln(),
                ModelKind::Linearithmic => b(0) + b(1) * x * x.ln(),
                ModelKind::Power => b(0) * x.powf(b(1)),
                ModelKind::Exponential => b(0) * b(1).powf(x),
                _ => (0..model.coefficients.len()).map(|k| b(k) * x.powi(k as i32)).sum(),
            };
            same(kind.name(), y, model.curve.at(x), 1000.0);
        }
    }

    #[test]
    fn integrals_are_additive(points in numbers(), part in 0.1_f64..0.9) {
        for kind in ModelKind::REGRESSION {
            let Some(model) = fitted(&points, kind) else { continue };
            let (from, to) = (model.x_start, model.x_end);
            let middle = from + part * (to - from);
            let both = model.curve.integral(from, middle) + model.curve.integral(middle, to);
            same(kind.name(), model.curve.integral(from, to), both, 1000.0 * (to - from));
            let size = 2000;
            let x: Vec<f64> = (0..=size).map(|ix| from + (to - from) * f64::from(ix) / f64::from(size)).collect();
            let y = x.iter().map(|x| model.curve.at(*x)).collect();
            let sampled = Curve::Samples { x, y }.integral(from, to);
            let off = (model.curve.integral(from, to) - sampled).abs();
            prop_assert!(off <= 1e-3 * 1000.0 * (to - from), "{kind}: {off}");
        }
    }
}
