//! The policy file that a check follows.

use crate::runtime::{CliError, owner, text};
use clap::Args;
use std::path::{Path, PathBuf};
use sto_query::check::CheckRequest;
use sto_query::policy::Policy;

/// Name of the policy file that is used by default.
const FILE_NAME: &str = "sto.toml";

#[derive(Debug, Default, Args)]
pub(crate) struct PolicyArg {
    /// Follow this policy; by default sto.toml in the working directory or above it, up to
    /// the top of its git work tree
    #[arg(long = "policy", value_name = "FILE")]
    file: Option<PathBuf>,
}

impl PolicyArg {
    /// The path of the default policy, if there is one.
    pub(crate) fn found() -> Option<PathBuf> {
        find_above(&std::env::current_dir().ok()?)
    }

    /// Adds the named or default policy to the request.
    pub(crate) fn ask(&self, request: &mut CheckRequest) -> Result<(), CliError> {
        let Some(path) = self.file.clone().or_else(PolicyArg::found) else {
            return Ok(());
        };
        if self.file.is_none() {
            owner::check(&path, "policy", "--policy")?;
        }
        let policy = Policy::parse(&text::read_settings(&path)?);
        request.policy_name = Some(path.display().to_string());
        request.policy = policy.map_err(|source| CliError::Policy { path, source })?;
        Ok(())
    }
}

/// The nearest policy file. Outside of a work tree, only the working directory itself is searched, because
/// the folders above it may belong to anybody.
fn find_above(working: &Path) -> Option<PathBuf> {
    let mut folders = working.ancestors();
    let top = folders.position(|folder| folder.join(".git").exists());
    let folders = working.ancestors().take(top.unwrap_or(0) + 1);
    let path = folders
        .map(|folder| folder.join(FILE_NAME))
        .find(|path| path.is_file())?;
    Some(path.strip_prefix(working).unwrap_or(&path).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn policy_is_searched_up_to_the_top_of_the_work_tree() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::create_dir_all(path("tree/.git")).unwrap();
        fs::create_dir_all(path("tree/src/deep")).unwrap();
        fs::write(path(FILE_NAME), "").unwrap();
        assert_eq!(
            find_above(&path("tree/src/deep")),
            None,
            "above the work tree"
        );
        fs::write(path("tree/sto.toml"), "").unwrap();
        assert_eq!(
            find_above(&path("tree/src/deep")),
            Some(path("tree/sto.toml"))
        );
        assert_eq!(find_above(&path("tree")), Some(PathBuf::from(FILE_NAME)));
    }

    #[test]
    fn outside_a_work_tree_only_the_working_directory_is_searched() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("below")).unwrap();
        fs::write(folder.path().join(FILE_NAME), "").unwrap();
        assert_eq!(find_above(&folder.path().join("below")), None);
        assert_eq!(find_above(folder.path()), Some(PathBuf::from(FILE_NAME)));
    }
}
