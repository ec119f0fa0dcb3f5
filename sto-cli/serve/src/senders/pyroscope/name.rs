//! Names of applications: `app{key=value,…}`.

use crate::problem::Problem;

/// Ends of names by which old clients tell the kind of profile.
const TYPES: [&str; 12] = [
    "cpu",
    "itimer",
    "wall",
    "alloc_objects",
    "alloc_space",
    "inuse_objects",
    "inuse_space",
    "goroutines",
    "mutex_count",
    "mutex_duration",
    "block_count",
    "block_duration",
];

/// An application's name with its labels.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct AppName {
    pub(super) app: String,
    /// The kind of profile, if the name tells.
    pub(super) counted: Option<String>,
    pub(super) labels: Vec<(String, String)>,
}

impl AppName {
    pub(super) fn parse(name: &str) -> Result<AppName, Problem> {
        let invalid =
            || Problem::bad_request(format!("name={name}: expected APP or APP{{KEY=VALUE,…}}"));
        let (app, labels) = match name.trim().split_once('{') {
            Some((app, rest)) => (app.trim(), rest.strip_suffix('}').ok_or_else(invalid)?),
            None => (name.trim(), ""),
        };
        if app.is_empty() {
            return Err(invalid());
        }
        let pairs = labels
            .split(',')
            .map(str::trim)
            .filter(|pair| !pair.is_empty());
        let labels = pairs.map(|pair| {
            let (key, value) = pair.split_once('=').ok_or_else(invalid)?;
            Ok((
                key.trim().to_owned(),
                value.trim().trim_matches('"').to_owned(),
            ))
        });
        let counted = app
            .rsplit_once('.')
            .filter(|(app, counted)| !app.is_empty() && TYPES.contains(counted));
        let (app, counted) = counted.map_or((app, None), |(app, counted)| {
            (app, Some(counted.to_owned()))
        });
        Ok(AppName {
            app: app.to_owned(),
            counted,
            labels: labels.collect::<Result<_, Problem>>()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_labels_and_what_is_counted() {
        let parsed = |name: &str| {
            let AppName {
                app,
                counted,
                labels,
            } = AppName::parse(name).expect("a name");
            let labels: Vec<String> = labels
                .iter()
                .map(|(key, value)| format!("{key}={value}"))
                .collect();
            format!("{app}|{}|{}", counted.unwrap_or_default(), labels.join(" "))
        };
        assert_eq!(parsed("app"), "app||");
        assert_eq!(parsed("my.app{}"), "my.app||");
        assert_eq!(
            parsed("my.app.cpu{env=staging, region=us-west-1}"),
            "my.app|cpu|env=staging region=us-west-1"
        );
        assert_eq!(parsed("cpu{a=\"b\"}"), "cpu||a=b");
    }

    #[test]
    fn rejects_names_without_app_or_with_half_labels() {
        for name in ["", "{a=b}", "app{a=b", "app{a}"] {
            let problem = AppName::parse(name).expect_err(name);
            assert!(
                problem.detail.contains("expected APP"),
                "{}",
                problem.detail
            );
        }
    }
}
