//! Perun's profiles: what functions cost by x, with the curves that were fitted.

use crate::error::ExportError;
use crate::models::{CostModels, FunctionModels};
use crate::statistics::models::{Model, ModelKind};
use crate::text::some_of;
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use std::io::{self, BufWriter, Write};
use sto_core::units::Unit;

/// Curves that Perun knows by their names.
const KNOWN: [ModelKind; 6] = [
    ModelKind::Constant,
    ModelKind::Logarithmic,
    ModelKind::Linear,
    ModelKind::Quadratic,
    ModelKind::Power,
    ModelKind::Exponential,
];

/// Writes points and models as a profile of Perun, as its postprocessor `regression_analysis` leaves one: of each function
/// y is `amount`, and x `structure-unit-size`. Curves that Perun does not know (cubic, n log n) are left out, as it fails where it
/// meets one, and so is how sure they are.
///
/// # Errors
/// Where there are no functions, or `writer` fails.
pub fn perun(models: &CostModels, writer: impl Write) -> Result<(), ExportError> {
    let [program, build] = [&models.of.executable, &models.of.build];
    let [program, build] = [program, build].map(|name| name.clone().unwrap_or_default());
    if models.functions.is_empty() {
        let build = format!("{program}@{build}");
        return Err(ExportError::Empty { build });
    }
    let event = models.of.sample_type.as_ref();
    let name = event.map_or("amount", |event| &event.event);
    let (of, subtype, units) = match event.map(|event| event.unit) {
        Some(Unit::Nanoseconds) => ("mixed", "time delta", json!({"mixed(time delta)": "ns"})),
        Some(Unit::Bytes) => ("memory", "malloc", json!({"memory": "B"})),
        _ => (name, name, json!({name: "#"})),
    };
    let mut resources = Map::new();
    let mut kinds = Map::new();
    let mut curves = Vec::new();
    for (name, function) in named(&models.functions) {
        let amounts: Vec<f64> = function.points.iter().map(|point| point.y).collect();
        let sizes: Vec<f64> = function.points.iter().map(|point| point.x).collect();
        let key = format!("{name}#0");
        let columns = json!({"amount": amounts, "structure-unit-size": sizes});
        resources.insert(key.clone(), columns);
        let kind = json!({"type": of, "subtype": subtype, "uid": name, "time": "0.0"});
        kinds.insert(key, kind);
        let known = function.models.iter();
        let known = known.filter(|model| KNOWN.contains(&model.kind));
        curves.extend(known.map(|model| curve(&name, model)));
    }
    let profile = json!({
        "origin": "",
        "header": {"type": of, "cmd": program, "args": "", "workload": build, "units": units},
        "collector_info": {"name": "sto", "params": {"x": models.of.x}},
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

/// A sentence about functions whose best curve was left out; `None` without any.
pub fn perun_lacks(models: &CostModels) -> Option<String> {
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
        let names = some_of(&names, 5);
        format!("Perun knows neither n log n nor cubic curves, so these are left out; one is the best of {names}")
    })
}

/// The functions by their names; of several of one name, with the module.
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

fn curve(name: &str, model: &Model) -> Value {
    let coefficients = model.coefficients.iter();
    let mut coefficients: Vec<Value> = coefficients
        .map(|of| json!({"name": of.name, "value": of.value}))
        .collect();
    // Perun's constants have a slope.
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
