//! A real browser opens the page: what a reader gets to see, after the page's scripts ran.

use serde_json::Value;
use std::path::Path;
use std::process::{Command, Stdio};
use sto_test_support::{is_there, missing};

/// What Chromium goes by.
const NAMES: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];

/// What the browser saw of a page.
pub(crate) struct Seen {
    /// What `probe.html` found in the DOM.
    pub(crate) facts: Value,
    /// What was said on the console.
    pub(crate) console: Vec<String>,
}

/// Opens a page, or a drawing in SVG, in a window of this width; `facts` is JavaScript with a function of that name, which
/// looks at the page for `probe.html`.
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
            // Containers have no user namespaces to make a sandbox of, and the page is our own.
            "--no-sandbox",
            "--disable-gpu",
            // The probe looks into the page's frame, which has another origin as a file.
            "--allow-file-access-from-files",
            "--enable-logging=stderr",
            // Timers run as fast as there is nothing else to do.
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

/// Whether there is no browser; a test that opens a page is then to end.
pub(crate) fn is_missing() -> bool {
    !NAMES.iter().any(|name| is_there(name)) && missing(&NAMES[..1])
}

fn browser() -> Command {
    let name = NAMES.iter().find(|name| is_there(name));
    Command::new(name.expect("the test has asked for it"))
}

fn profile(folder: &Path) -> String {
    folder.join("profile").display().to_string()
}
