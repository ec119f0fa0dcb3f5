//! Perun profiles: the costs of functions by input size, with the fitted curves.

use crate::error::ExportError;
use crate::models::{CostModels, FunctionModels};
use crate::text::list_names;
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use std::io::{self, BufWriter, Write};
use sto_core::units::Unit;
use sto_stats::models::{Model, ModelKind};

/// Curves that Perun knows.
const KNOWN: [ModelKind; 6] = [
    ModelKind::Constant,
    ModelKind::Logarithmic,
    ModelKind::Linear,
    ModelKind::Quadratic,
    ModelKind::Power,
    ModelKind::Exponential,
];

/// Writes points and models as a profile of Perun, like its postprocessor `regression_analysis`: y
/// of each function is `amount`, and x is `structure-unit-size`.
///
/// Curves that Perun does not know (cubic, n log n) are left out, as it would fail on them. The
/// certainty of models is left out, too.
///
/// # Errors
///
/// Returns an error if there are no functions, or `writer` fails.
pub fn perun(models: &CostModels, writer: impl Write) -> Result<(), ExportError> {
    let [program, build] = [&models.of.executable, &models.of.build];
    let [program, build] = [program, build].map(|name| name.clone().unwrap_or_default());
    if models.functions.is_empty() {
        let build = format!("{program}@{build}");
        return Err(ExportError::Empty { build });
    }
    let event = models.of.sample_type.as_ref();
    let name = event.map_or("amount", |event| &event.event);
    // Perun only processes profiles of collectors that it knows, and assumes their units.
    let (collector, of, subtype, units) = match event.map(|event| event.unit) {
        Some(Unit::Nanoseconds) => {
            let units = json!({"mixed(time delta)": "us"});
            ("trace", "mixed", "time delta", units)
        }
        Some(Unit::Bytes) => ("memory", "memory", "malloc", json!({"memory": "B"})),
        _ => ("trace", name, name, json!({name: "#"})),
    };
    let in_unit = match event.map(|event| event.unit) {
        Some(Unit::Nanoseconds) => 1e3,
        _ => 1.0,
    };
    let mut resources = Map::new();
    let mut kinds = Map::new();
    let mut curves = Vec::new();
    for (name, function) in named(&models.functions) {
        let amounts: Vec<f64> = function
            .points
            .iter()
            .map(|point| point.y / in_unit)
            .collect();
        let sizes: Vec<f64> = function.points.iter().map(|point| point.x).collect();
        let key = format!("{name}#0");
        let columns = json!({"amount": amounts, "structure-unit-size": sizes});
        resources.insert(key.clone(), columns);
        let kind = json!({"type": of, "subtype": subtype, "uid": name, "time": "0.0"});
        kinds.insert(key, kind);
        let known = function.models.iter();
        let known = known.filter(|model| KNOWN.contains(&model.kind));
        curves.extend(known.map(|model| curve(&name, model, in_unit)));
    }
    let profile = json!({
        "origin": "",
        "header": {"type": of, "cmd": program, "args": "", "workload": build, "units": units},
        "collector_info": {"name": collector, "params": {"x": models.of.x, "written_by": "sto"}},
        "postprocessors": [{
            "name": "regression_analysis",
            "params": {
                "method": "full",
                "of_key": "amount",
                "per_key": "structure-unit-size",
                "regression_models": KNOWN.map(ModelKind::name),
            },
        }],
        "resources": resources,
        "resource_type_map": kinds,
        "models": curves,
    });
    let mut writer = BufWriter::new(writer);
    serde_json::to_writer(&mut writer, &profile).map_err(io::Error::from)?;
    writeln!(writer)?;
    Ok(writer.flush()?)
}

/// Returns a warning about functions whose best curve was left out; `None` if there are none.
pub(super) fn missing_models_warning(models: &CostModels) -> Option<String> {
    let all = named(&models.functions);
    let is_left_out = |of: &&(String, &FunctionModels)| {
        let best = of.1.models.first();
        best.is_some_and(|best| !KNOWN.contains(&best.kind))
    };
    let names: Vec<&str> = all
        .iter()
        .filter(is_left_out)
        .map(|(name, _)| &**name)
        .collect();
    (!names.is_empty()).then(|| {
        let names = list_names(&names, 5);
        format!("Perun knows neither n log n nor cubic curves, so these are left out; one is the best of {names}")
    })
}

/// Returns the functions with unique names: ambiguous names are followed by the module.
fn named(functions: &[FunctionModels]) -> Vec<(String, &FunctionModels)> {
    let mut counts: HashMap<&str, u32> = HashMap::new();
    for of in functions {
        *counts.entry(&of.function).or_default() += 1;
    }
    let name = |of: &FunctionModels| match counts[&*of.function] {
        1 => of.function.clone(),
        _ => format!("{} ({})", of.function, of.module),
    };
    functions.iter().map(|of| (name(of), of)).collect()
}

/// Returns a curve as JSON, with y divided by `in_unit`.
fn curve(name: &str, model: &Model, in_unit: f64) -> Value {
    // In these models, every coefficient but the first is an exponent or base.
    let is_product = matches!(model.kind, ModelKind::Power | ModelKind::Exponential);
    let coefficients = model.coefficients.iter().enumerate();
    let coefficients = coefficients.map(|(ix, of)| {
        if ix > 0 && is_product {
            json!({"name": of.name, "value": of.value})
        } else {
            json!({"name": of.name, "value": of.value / in_unit})
        }
    });
    let mut coefficients: Vec<Value> = coefficients.collect();
    // Perun's constant model has a slope.
    if coefficients.len() == 1 {
        coefficients.push(json!({"name": "b1", "value": 0.0}));
    }
    json!({
        "uid": name,
        "model": model.kind.name(),
        "method": "full",
        "coeffs": coefficients,
        "r_square": model.r_square,
        "x_start": model.x_start,
        "x_end": model.x_end,
    })
}
