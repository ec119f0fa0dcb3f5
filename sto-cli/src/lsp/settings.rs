//! Settings of the editor.

use serde::Deserialize;
use serde_json::Value;
use sto_query::internal::hot::HotCosts;
use sto_query::render::hot;

/// The settings of `sto` in an editor; their names there are in `camelCase`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Settings {
    /// The selector of the build whose costs are shown; by default the newest of the branch.
    pub(super) build: Option<String>,
    /// The baseline; by default the one in `sto.toml`, otherwise the newest earlier build with a tag, otherwise the
    /// previous build.
    pub(super) baseline: Option<String>,
    /// Only runs of this benchmark are used; required if the build has runs of several.
    pub(super) benchmark: Option<String>,
    /// The event; by default the one with most samples.
    pub(super) event: Option<String>,
    pub(super) inlay_hints: bool,
    pub(super) code_lenses: bool,
    pub(super) diagnostics: bool,
    /// Lines and functions with a smaller percentage of the total have no hint.
    pub(super) min_percent: f64,
    /// The parts of a hint, with the placeholders `{self}`, `{total}`, `{change}` and `{since}`. A part with an
    /// unknown value is left out.
    pub(super) wording: Vec<String>,
    /// Whether hovers contain links that run commands, for clients that support them (VS Code does, for trusted servers).
    pub(super) command_links: bool,
}

impl Default for Settings {
    fn default() -> Settings {
        let wording = ["{self} self", "{total} total", "×{change} since {since}"];
        Settings {
            build: None,
            baseline: None,
            benchmark: None,
            event: None,
            inlay_hints: true,
            code_lenses: false,
            diagnostics: true,
            min_percent: 1.0,
            wording: wording.map(str::to_owned).to_vec(),
            command_links: false,
        }
    }
}

impl Settings {
    /// Reads the settings, or an object that contains them as `sto`. `null` means all defaults.
    ///
    /// # Errors
    /// Returns an error if a value has the wrong type.
    pub(super) fn parse(sent: &Value) -> Result<Settings, serde_json::Error> {
        let settings = sent.get("sto").unwrap_or(sent);
        match settings {
            Value::Null => Ok(Settings::default()),
            settings => Settings::deserialize(settings),
        }
    }

    /// Whether costs are large enough to be shown.
    pub(super) fn shows(&self, costs: &HotCosts) -> bool {
        costs.total.share * 100.0 >= self.min_percent
    }

    /// A short text for costs. `change` is the ratio to the baseline, and the baseline's name.
    pub(super) fn words(&self, costs: &HotCosts, change: Option<(f64, &str)>) -> String {
        let parts = self.wording.iter().filter_map(|part| {
            let mut text = part.replace("{self}", &hot::percent(costs.self_cost.share));
            text = text.replace("{total}", &hot::percent(costs.total.share));
            if ["{change}", "{since}"]
                .iter()
                .any(|name| text.contains(name))
            {
                let (ratio, since) = change?;
                text = text.replace("{change}", &hot::ratio(ratio));
                text = text.replace("{since}", &sto_query::text::printable(since));
            }
            Some(text)
        });
        parts.collect::<Vec<_>>().join(" · ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn reads_settings_with_and_without_section_and_ignores_others() {
        let set = json!({ "minPercent": 5, "serverPath": "sto" });
        let expected = Settings {
            min_percent: 5.0,
            ..Settings::default()
        };
        assert_eq!(Settings::parse(&set).unwrap(), expected);
        assert_eq!(Settings::parse(&json!({ "sto": set })).unwrap(), expected);
        assert_eq!(Settings::parse(&Value::Null).unwrap(), Settings::default());
        assert!(Settings::parse(&json!({ "minPercent": "much" })).is_err());
        assert!(Settings::parse(&json!("sto")).is_err());
    }
}
