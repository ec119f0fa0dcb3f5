//! What the user set in the editor.

use serde::Deserialize;
use serde_json::Value;
use sto_query::internal::hot::HotCosts;
use sto_query::render::hot;

/// The settings of `sto` in an editor: the names here are those that stand there, in `camelCase`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Settings {
    /// The build whose costs are shown, as commands name it; by default the newest of the branch.
    pub(super) build: Option<String>,
    /// What it is compared with; by default what `sto.toml` says, else the newest build before it that has a tag, else the
    /// one before it.
    pub(super) baseline: Option<String>,
    /// Runs of this benchmark count; where a build has several, one must be named.
    pub(super) benchmark: Option<String>,
    /// The event; by default the one with most samples.
    pub(super) event: Option<String>,
    pub(super) inlay_hints: bool,
    pub(super) code_lenses: bool,
    pub(super) diagnostics: bool,
    /// Lines and functions with less than this percentage of everything have no hint.
    pub(super) min_percent: f64,
    /// The parts of a hint, in which `{self}`, `{total}`, `{change}` and `{since}` stand for what they say. A part whose
    /// value is not known is left out.
    pub(super) wording: Vec<String>,
    /// Whether hovers have links that are commands: for clients that run them, as VS Code does where it trusts a server.
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
    /// Reads what a client sends: the settings, or an object that has them as `sto`. Nothing is all as usual.
    ///
    /// # Errors
    /// Where a value is of another type, with what serde says of it.
    pub(super) fn of(sent: &Value) -> Result<Settings, serde_json::Error> {
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

    /// Costs in a few words; a change is a ratio, and the build since which it is.
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
    fn settings_stand_in_a_section_or_alone_and_others_are_passed_over() {
        let set = json!({ "minPercent": 5, "serverPath": "sto" });
        let expected = Settings {
            min_percent: 5.0,
            ..Settings::default()
        };
        assert_eq!(Settings::of(&set).unwrap(), expected);
        assert_eq!(Settings::of(&json!({ "sto": set })).unwrap(), expected);
        assert_eq!(Settings::of(&Value::Null).unwrap(), Settings::default());
        assert!(Settings::of(&json!({ "minPercent": "much" })).is_err());
        assert!(Settings::of(&json!("sto")).is_err());
    }
}
