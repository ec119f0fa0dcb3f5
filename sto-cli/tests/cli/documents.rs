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
        let defined = definitions_in(text).map(|(_, target)| target);
        let defined = defined.filter(|target| !target.contains("::") && !target.contains("://"));
        for link in links(text).chain(defined) {
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
fn links_in_rustdoc_lead_to_a_document_and_a_heading() {
    let manuals = manuals();
    assert!(manuals.values().flatten().count() > 50, "{manuals:?}");
    let mut broken = Vec::new();
    for (name, documents) in &manuals {
        let definitions = fs::read_to_string(documents["links"].as_path()).unwrap_or_default();
        let definitions: BTreeMap<_, _> = definitions_in(&definitions).collect();
        for (label, target) in &definitions {
            // `crate::manual::NAME#HEADING` or `https://docs.rs/.../CRATE/manual/NAME/index.html#HEADING`.
            let (page, heading) = target.split_once('#').unwrap_or((target, ""));
            let words: Vec<&str> = page.split(['/', ':']).collect();
            let at = words.iter().position(|&word| word == "manual").unwrap();
            let [of, page] = match words[at - 1] {
                "" => [name, words[at + 2]],
                of => [of, words[at + 1]],
            };
            let text = fs::read_to_string(&manuals[of][page]).unwrap();
            if !heading.is_empty() && !anchors(&text).contains(heading) {
                broken.push(format!("{label}: {target}"));
            }
        }
        for path in documents.values() {
            let text = fs::read_to_string(path).unwrap_or_default();
            let inline = links(&text).filter(|link| !link.starts_with('#'));
            let labels = definitions_in(&text).map(|(label, _)| label);
            let undefined = labels.filter(|label| !definitions.contains_key(label));
            let dead = inline.chain(undefined);
            broken.extend(dead.map(|link| format!("{}: {link}", path.display())));
        }
    }
    assert!(broken.is_empty(), "{broken:#?}");
}

/// The documents that rustdoc shows: by crate and module, with the definitions of links as the module `links`.
fn manuals() -> BTreeMap<String, BTreeMap<String, PathBuf>> {
    let folders = [
        "sto-core",
        "sto-core/model",
        "sto-core/formats",
        "sto-core/store",
        "sto-query",
        "sto-query/stats",
        "sto-query/lake",
    ];
    let manuals = folders.map(|folder| {
        let name = format!("sto_{}", folder.rsplit(['/', '-']).next().unwrap());
        let folder = repository().join(folder).join("src/manual");
        let code = fs::read_to_string(folder.join("mod.rs")).unwrap();
        let documents = code.lines().filter_map(|line| {
            let (name, path) = line.trim().strip_suffix("\",")?.split_once(" = \"")?;
            Some((name.to_owned(), folder.join(path)))
        });
        let links = ("links".to_owned(), folder.join("links.md"));
        (name, documents.chain([links]).collect())
    });
    manuals.into_iter().collect()
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
        .filter(|link| !link.is_empty() && !link.contains("://"))
        .filter(|link| !link.contains("::") && !link.contains(' '))
}

/// The definitions of links in a document, `[LABEL]: TARGET`.
fn definitions_in(text: &str) -> impl Iterator<Item = (&str, &str)> {
    prose(text)
        .filter_map(|line| line.strip_prefix('[')?.split_once("]: "))
        // A paragraph can begin with a link to a label.
        .filter(|(label, _)| !label.contains("]["))
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
