//! The commit graph of a work tree, as drawn by git.

use super::{GitError, Repository};
use std::path::Path;
use sto_core::model::CommitHash;
use sto_core::units::UnixSeconds;
use sto_query::questions::ShownCommit;
use sto_query::select::Ancestry;

/// Which commits of a history are shown.
pub(crate) struct Shown<'a> {
    /// A revision or a range.
    pub(crate) commits: &'a str,
    /// If set, only commits that changed this file or folder.
    pub(crate) path: Option<&'a Path>,
    /// Maximum number of commits.
    pub(crate) limit: Option<usize>,
}

/// Separates the graph and the fields of a commit; messages cannot contain it.
const FIELD: char = '\0';
/// Prints a commit in two lines, so that git draws the graph left of the second one, too.
const FORMAT: &str = "--format=%x00%H%x00%P%x00%at%x00%D%x00%s%n%x00";

impl Repository {
    /// The commits to show, newest first, each with its part of the graph.
    pub(crate) fn log(&self, shown: &Shown<'_>) -> Result<Vec<ShownCommit>, GitError> {
        self.tips(shown.commits)?;
        let limit = shown.limit.map(|limit| format!("--max-count={limit}"));
        let mut arguments = vec!["--literal-pathspecs", "log", "--graph", "--no-color"];
        arguments.extend([
            "--no-show-signature",
            "--encoding=UTF-8",
            "--decorate=short",
        ]);
        arguments.extend(limit.as_deref());
        arguments.extend([FORMAT, "--end-of-options", shown.commits, "--"]);
        let mut command = self.git();
        command.args(arguments).args(shown.path);
        Ok(commits(&self.run(command)?))
    }

    /// All ancestors of a revision or range, with their parents.
    pub(crate) fn ancestry(&self, commits: &str) -> Result<Ancestry, GitError> {
        let tips = self.tips(commits)?;
        let mut command = self.git();
        command.args(["rev-list", "--topo-order", "--parents", "--end-of-options"]);
        let listed = self.run({
            command.args(tips).arg("--");
            command
        })?;
        Ok(ancestry(&listed))
    }

    /// The commits at the positive end of a revision or range.
    fn tips(&self, commits: &str) -> Result<Vec<String>, GitError> {
        let mut command = self.git();
        command.args([
            "rev-parse",
            "--revs-only",
            "--end-of-options",
            commits,
            "--",
        ]);
        let output = self.run(command).unwrap_or_default();
        let is_tip = |line: &&str| line.parse::<CommitHash>().is_ok();
        let tips: Vec<String> = output.lines().filter(is_tip).map(str::to_owned).collect();
        if tips.is_empty() {
            Err(self.no_revision(commits))
        } else {
            Ok(tips)
        }
    }
}

/// Parses the output of `git rev-list --parents`.
pub(super) fn ancestry(listed: &str) -> Ancestry {
    let line = |line: &str| line.split(' ').filter_map(|id| id.parse().ok()).collect();
    Ancestry::from(listed.lines().map(line).collect::<Vec<Vec<CommitHash>>>())
}

/// Parses the output of `git log --graph` in [`FORMAT`].
fn commits(log: &str) -> Vec<ShownCommit> {
    let mut commits: Vec<ShownCommit> = Vec::new();
    for line in log.split('\n').filter(|line| !line.is_empty()) {
        let (lanes, fields) = line.split_once(FIELD).unwrap_or((line, ""));
        match commit(lanes, fields) {
            Some(commit) => commits.push(commit),
            // The second line of a commit, or a line between two commits.
            None => {
                if let Some(last) = commits.last_mut() {
                    last.graph.push(lanes.to_owned());
                }
            }
        }
    }
    commits
}

fn commit(lanes: &str, fields: &str) -> Option<ShownCommit> {
    let [hash, parents, time, refs, subject] = fields.splitn(5, FIELD).collect::<Vec<_>>()[..]
    else {
        return None;
    };
    let refs = refs.split(", ").filter(|name| !name.is_empty());
    Some(ShownCommit {
        hash: hash.parse().ok()?,
        parents: parents
            .split(' ')
            .filter_map(|id| id.parse().ok())
            .collect(),
        // git itself writes no times before 1970.
        author_time: UnixSeconds(time.parse().unwrap_or(0)),
        subject: subject.to_owned(),
        refs: refs.map(str::to_owned).collect(),
        graph: vec![lanes.to_owned()],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn graph_lines_belong_to_the_commit_above_them() {
        let (a, b) = ("a".repeat(40), "b".repeat(40));
        let log = format!(
            "*   \0{a}\0{b} {b}\x0012\0HEAD -> main, tag: v1\0Merge \x01\n|\\  \0\n| * \0{b}\0\x0011\0\0\n|/  \n"
        );
        let commits = commits(&log);
        assert_eq!(commits.len(), 2);
        assert_eq!(commits[0].graph, ["*   ", "|\\  "]);
        assert_eq!(commits[0].refs, ["HEAD -> main", "tag: v1"]);
        assert_eq!(
            (commits[0].subject.as_str(), commits[0].parents.len()),
            ("Merge \u{1}", 2)
        );
        assert_eq!(commits[1].graph, ["| * ", "|/  "]);
        assert_eq!(commits[1].subject, "");
    }
}
