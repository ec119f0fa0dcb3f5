//! Links between documents.

use crate::support::repository;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use sto_core::Format;

#[test]
fn links_between_documents_lead_to_a_file_and_a_heading() {
    let mut documents = BTreeMap::new();
    collect(repository(), &mut documents);
    assert!(documents.len() > 30, "{:?}", documents.keys());
    let mut broken = Vec::new();
    for (path, text) in &documents {
        for link in links(text) {
            let (file, heading) = link.split_once('#').unwrap_or((link, ""));
            let target = match file {
                "" => path.clone(),
                file => normal(&path.parent().unwrap().join(file)),
            };
            let leads = match documents.get(&target) {
                Some(text) => heading.is_empty() || anchors(text).contains(heading),
                None => heading.is_empty() && target.exists(),
            };
            if !leads {
                broken.push(format!("{}: {link}", path.display()));
            }
        }
    }
    assert!(broken.is_empty(), "{broken:#?}");
}

#[test]
fn the_readme_counts_the_formats_that_are_read() {
    let readme = fs::read_to_string(repository().join("README.md")).unwrap();
    let formats = Format::all().count();
    for expected in [
        format!("reads [{formats} formats]"),
        format!("| sto | {formats} formats,"),
    ] {
        assert!(readme.contains(&expected), "{expected}");
    }
}

/// Every Markdown file of the repository, except in hidden folders other than `.github`, build output, and npm packages.
fn collect(folder: &Path, documents: &mut BTreeMap<PathBuf, String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        let hidden = name.starts_with('.') && name != ".github";
        if hidden || ["target", "node_modules"].contains(&name) || path.is_symlink() {
            continue;
        }
        if path.is_dir() {
            collect(&path, documents);
        } else if name.ends_with(".md") {
            let text = fs::read_to_string(&path).unwrap();
            documents.insert(path, text);
        }
    }
}

/// The targets of a document's links within the repository.
fn links(text: &str) -> impl Iterator<Item = &str> {
    prose(text)
        .flat_map(|line| line.split("](").skip(1))
        .filter_map(|rest| rest.split(')').next())
        .filter(|link| !link.contains("://") && !link.contains("::") && !link.contains(' '))
}

/// The lines outside of fenced blocks.
fn prose(text: &str) -> impl Iterator<Item = &str> {
    let mut fenced = false;
    text.lines().filter(move |line| {
        let fence = line.starts_with("```");
        fenced ^= fence;
        !fenced && !fence
    })
}

/// The anchors of headings, as GitHub and rustdoc generate them.
fn anchors(text: &str) -> BTreeSet<String> {
    let mut anchors = BTreeSet::new();
    for line in prose(text).filter(|line| line.starts_with('#')) {
        let heading = line.trim_start_matches('#').trim().to_lowercase();
        let kept = |letter: &char| letter.is_alphanumeric() || "_- ".contains(*letter);
        let anchor: String = heading.chars().filter(kept).collect();
        let anchor = anchor.replace(' ', "-");
        let again = (1..).map(|number| format!("{anchor}-{number}"));
        let free = std::iter::once(anchor.clone())
            .chain(again)
            .find(|name| !anchors.contains(name));
        anchors.extend(free);
    }
    anchors
}

/// Resolves `..` components.
fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            std::path::Component::ParentDir => {
                normal.pop();
            }
            std::path::Component::CurDir => {}
            part => normal.push(part),
        }
    }
    normal
}
