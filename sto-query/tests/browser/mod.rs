//! Opens pages in Chromium and returns their content after their scripts ran.

use serde_json::Value;
use std::path::Path;
use std::process::{Command, Stdio};
use sto_test_support::{is_there, missing};

/// Names of Chromium's executable.
const NAMES: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];

/// The content of a page in the browser.
pub(crate) struct Seen {
    /// The JSON that `facts` returned.
    pub(crate) facts: Value,
    /// Messages on the browser's console.
    pub(crate) console: Vec<String>,
}

/// Opens an HTML page or an SVG drawing in a window `width` pixels wide. `facts` is JavaScript that defines a function
/// `facts`; `probe.html` calls it to inspect the page.
pub(crate) fn open(page: &str, facts: &str, width: u32) -> Seen {
    let folder = tempfile::tempdir().expect("a folder for the page");
    let write = |name: &str, content: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, content).expect("the folder can be written");
        path
    };
    let name = if page.starts_with("<?xml") {
        "page.svg"
    } else {
        "page.html"
    };
    write(name, page);
    let probe = include_str!("probe.html")
        .replace("PAGE", name)
        .replace("WIDTH", &width.to_string())
        .replace("FACTS", facts);
    let probe = write("probe.html", &probe);
    let output = browser()
        .args([
            "--headless",
            // Containers lack the user namespaces that the sandbox needs, and the page is trusted.
            "--no-sandbox",
            "--disable-gpu",
            // The probe inspects a frame with the page; files have different origins.
            "--allow-file-access-from-files",
            "--enable-logging=stderr",
            // Timers fire without waiting.
            "--virtual-time-budget=20000",
            "--dump-dom",
        ])
        .arg(format!("--user-data-dir={}", profile(folder.path())))
        .arg(format!("file://{}", probe.display()))
        .stdin(Stdio::null())
        .output()
        .expect("the browser starts");
    let dom = String::from_utf8_lossy(&output.stdout);
    let log = String::from_utf8_lossy(&output.stderr);
    let facts = dom
        .split_once("<pre id=\"facts\">")
        .and_then(|(_, rest)| rest.split_once("</pre>"))
        .and_then(|(facts, _)| serde_json::from_str(facts).ok())
        .unwrap_or_else(|| panic!("the browser shows no facts:\n{dom}\n{log}"));
    let console = log.lines().filter(|line| line.contains(":CONSOLE"));
    Seen {
        facts,
        console: console.map(str::to_owned).collect(),
    }
}

/// Returns `true` if no browser is installed; the test must then return.
pub(crate) fn is_missing() -> bool {
    !NAMES.iter().any(|name| is_there(name)) && missing(&NAMES[..1])
}

fn browser() -> Command {
    let name = NAMES.iter().find(|name| is_there(name));
    Command::new(name.expect("the test checked that a browser is installed"))
}

fn profile(folder: &Path) -> String {
    folder.join("profile").display().to_string()
}
