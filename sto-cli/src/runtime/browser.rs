//! Opens files in the user's browser.

use crate::runtime::CliError;
use std::ffi::{OsStr, OsString};
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs, io};

/// Creates a folder with a random name that only this user can read.
pub(crate) fn folder() -> Result<PathBuf, CliError> {
    let folder = tempfile::Builder::new()
        .prefix("sto-")
        .permissions(Permissions::from_mode(0o700))
        .tempdir();
    let folder = folder.map_err(|source| CliError::WriteFile {
        path: env::temp_dir(),
        source,
    })?;
    Ok(folder.keep())
}

/// Removes a folder that [`folder`] created.
pub(crate) fn remove(folder: &Path) {
    // A leftover in the temporary folder does no harm.
    let _ = fs::remove_dir_all(folder);
}

/// Opens a file and waits for the command that does so, because a browser may run in the terminal.
pub(crate) fn open(file: &Path) -> Result<(), CliError> {
    for words in candidates(&|name| env::var_os(name)) {
        let words = with_file(&words, file);
        let Some((program, arguments)) = words.split_first() else {
            continue;
        };
        match Command::new(program).args(arguments).status() {
            Ok(status) if status.success() => return Ok(()),
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(CliError::Browser {
                    program: program.to_string_lossy().into_owned(),
                    source: error,
                });
            }
            // Try the next one.
            Ok(_) | Err(_) => {}
        }
    }
    Err(CliError::NoBrowser {
        path: file.to_owned(),
    })
}

/// Opens a link that contains a secret. The browser gets a file that leads to it, because other users can see the command
/// lines of programs.
#[cfg(feature = "serve")]
pub(crate) fn open_link(link: &str) -> Result<(), CliError> {
    let file = folder()?.join("sto.html");
    let page = format!("<!doctype html><meta http-equiv=\"refresh\" content=\"0; url={link}\">\n");
    fs::write(&file, page).map_err(|source| CliError::WriteFile {
        path: file.clone(),
        source,
    })?;
    open(&file)
}

/// The commands to try: those in `$BROWSER`, separated by colons, otherwise the desktop's default.
fn candidates(variable: &dyn Fn(&str) -> Option<OsString>) -> Vec<Vec<String>> {
    let set = |name: &str| variable(name).filter(|value| !value.is_empty());
    if let Some(browsers) = set("BROWSER") {
        let browsers = browsers.to_string_lossy().into_owned();
        return browsers.split(':').filter_map(shlex::split).collect();
    }
    let opener = if cfg!(target_os = "macos") {
        "open"
    } else if set("DISPLAY").is_some() || set("WAYLAND_DISPLAY").is_some() {
        "xdg-open"
    } else {
        return Vec::new();
    };
    vec![vec![opener.to_owned()]]
}

/// The command with the file in place of `%s`, or at its end.
fn with_file(words: &[String], file: &Path) -> Vec<OsString> {
    let mut command: Vec<OsString> = words
        .iter()
        .map(|word| match word.as_str() {
            "%s" => file.into(),
            word => word.into(),
        })
        .collect();
    let is_in = command
        .iter()
        .any(|word| word.as_os_str() == OsStr::new(file));
    if !is_in && !command.is_empty() {
        command.push(file.into());
    }
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(variables: &[(&str, &str)]) -> Vec<Vec<String>> {
        candidates(&|name| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| OsString::from(value))
        })
    }

    #[test]
    fn browser_variable_overrides_the_desktop() {
        let browsers = [("BROWSER", "firefox --new-window:w3m"), ("DISPLAY", ":0")];
        assert_eq!(
            found(&browsers),
            [vec!["firefox", "--new-window"], vec!["w3m"]]
        );
        assert!(found(&[("BROWSER", "")]).len() <= 1);
    }

    #[test]
    fn the_file_replaces_the_placeholder_or_is_last() {
        let command = |words: &[&str]| {
            let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
            with_file(&words, Path::new("/tmp/x.svg"))
        };
        assert_eq!(command(&["w3m"]), ["w3m", "/tmp/x.svg"]);
        assert_eq!(command(&["b", "%s", "-q"]), ["b", "/tmp/x.svg", "-q"]);
    }
}
