//! Each folder of test data has a README.md that lists its files.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// For each folder with a README.md: the files in it and below, except those below
/// another README.md, by their path from the folder.
type FilesByFolder = BTreeMap<PathBuf, BTreeSet<String>>;

#[test]
fn every_readme_lists_the_files_of_its_folder() {
    let files = files_by_folder();
    assert!(files.len() > 1, "testdata has folders with a README.md");
    for (folder, files) in files {
        let readme = folder.join("README.md");
        let listed = listed_files(&fs::read_to_string(&readme).unwrap());
        let missing: Vec<_> = files.difference(&listed).collect();
        let gone: Vec<_> = listed.difference(&files).collect();
        assert!(
            missing.is_empty() && gone.is_empty(),
            "{}: not listed: {missing:?}; listed, but not there: {gone:?}",
            readme.display()
        );
    }
}

#[test]
fn test_data_stays_small() {
    let mut all = 0;
    for (folder, files) in files_by_folder() {
        for file in files {
            let path = folder.join(file);
            let size = fs::metadata(&path).unwrap().len();
            assert!(size < 2_000_000, "{} has {size} bytes", path.display());
            all += size;
        }
    }
    assert!(all < 12_500_000, "testdata has {all} bytes");
}

/// The names in backticks in the first column of a README's tables.
fn listed_files(readme: &str) -> BTreeSet<String> {
    readme
        .lines()
        .filter(|line| line.starts_with("| `"))
        .filter_map(|line| line.split('|').nth(1))
        .flat_map(|cell| cell.split('`').skip(1).step_by(2))
        .map(str::to_owned)
        .collect()
}

fn files_by_folder() -> FilesByFolder {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata");
    let mut files = FilesByFolder::new();
    collect(&root, &root, &mut files);
    files
}

fn collect(folder: &Path, nearest_readme: &Path, files: &mut FilesByFolder) {
    let nearest_readme = if folder.join("README.md").exists() {
        folder
    } else {
        nearest_readme
    };
    files.entry(nearest_readme.to_owned()).or_default();
    for entry in fs::read_dir(folder).expect("testdata can be read") {
        let path = entry.expect("testdata can be read").path();
        if path.is_dir() {
            collect(&path, nearest_readme, files);
        } else if !path.ends_with("README.md") {
            let name = path.strip_prefix(nearest_readme).unwrap_or(&path);
            files
                .entry(nearest_readme.to_owned())
                .or_default()
                .insert(name.display().to_string());
        }
    }
}
