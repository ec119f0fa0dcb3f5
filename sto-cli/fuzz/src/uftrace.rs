//! Data folders of uftrace that are damaged by accident or on purpose.

use crate::edits;
use crate::folders::{folder, testdata};
use crate::formats::store_it;
use std::fs;
use std::sync::LazyLock;
use sto_core::formats::{Format, ReadOptions, read};

/// The names and contents of the files of an undamaged folder.
static SOUND: LazyLock<Vec<(String, Vec<u8>)>> = LazyLock::new(|| {
    let entries = fs::read_dir(testdata("uftrace/arguments.data")).expect("a folder of testdata");
    let mut files: Vec<(String, Vec<u8>)> = entries
        .map(|entry| {
            let path = entry.expect("a file of testdata").path();
            let name = path
                .file_name()
                .expect("it has a name")
                .to_string_lossy()
                .into_owned();
            (name, fs::read(path).expect("a file of testdata"))
        })
        .collect();
    files.sort();
    files
});

/// Edits files of the folder. The input has for each an index (one byte), the length of its edits (2 bytes), and the
/// edits; one length removes the file.
pub(crate) fn uftrace(mut input: &[u8]) {
    let mut files: Vec<Option<Vec<u8>>> =
        SOUND.iter().map(|(_, bytes)| Some(bytes.clone())).collect();
    while let [which, a, b, rest @ ..] = input {
        let file = &mut files[usize::from(*which) % SOUND.len()];
        let length = u16::from_le_bytes([*a, *b]);
        if length == u16::MAX {
            *file = None;
            input = rest;
            continue;
        }
        let (own, rest) = rest.split_at(usize::from(length).min(rest.len()));
        if let Some(bytes) = file {
            edits::apply(bytes, own);
        }
        input = rest;
    }
    let folder = folder().join("uftrace.data");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("the folder is writable");
    for ((name, _), bytes) in SOUND.iter().zip(files) {
        if let Some(bytes) = bytes {
            fs::write(folder.join(name), bytes).expect("the folder is writable");
        }
    }
    for allow_truncated in [false, true] {
        let options = ReadOptions {
            format: Some(Format::Uftrace),
            allow_truncated,
            ..ReadOptions::default()
        };
        match read(&folder, &options) {
            Ok(recording) => store_it(&folder, recording),
            Err(error) => assert!(!error.to_string().contains('\n'), "{error}"),
        }
    }
}
