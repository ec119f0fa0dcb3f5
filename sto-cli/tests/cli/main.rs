//! Tests of the `sto` command as users run it.
#![expect(clippy::unwrap_used, reason = "a test that cannot be set up fails")]

// A build compared with itself.
mod align;
mod annotate;
mod anomalies;
mod benchmarks;
mod bisect;
// Small files that stand for very much.
mod bounds;
mod calibrate;
mod calls;
// Stacks of tens of thousands of frames.
// Commits of git.
mod commits;
mod correlate;
mod daily;
mod deep;
// Bad input: one clear sentence, status 2, and the store as it was.
mod errors;
// Stores that send each other profiles.
mod exchange;
// The documents of the repository.
mod documents;
// Flame graphs of what was chosen.
mod drawings;
// Stacks in the formats of other tools, and back.
mod export;
// The status that scripts look at.
mod exit_codes;
// Findings for CI systems, and the commands that they name.
mod findings;
// What the system refuses at any single call.
mod faults;
// Ten releases of a program.
mod help;
mod history;
// Costs where the code is written.
mod hot;
// `kill -9` while the store is written.
mod killed;
// What goes into the store, and what is said of it.
mod ingest;
// What a program gets that asks the library.
mod library;
mod log;
// Costs in editors.
mod lsp;
// What comes from other stores.
mod merge;
mod models;
mod naming;
// Where data goes, and how it looks there.
mod output;
mod pager;
// Checks by a policy file.
mod policy;
// Many processes and one store.
mod parallel;
// README.md shows what the command really prints.
mod readme;
// Pages on the candidates of a run.
mod report;
// What the system refuses.
mod record;
mod refused;
// Profiles out of the store, and into files.
mod rewriting;
// Labels of single samples.
mod sample_labels;
// What a selector names.
mod selectors;
mod show;
// Costs by thread and time.
mod slices;
mod slower_calls;
// Source with the cost of its lines.
mod source;
mod sql;
// Which store a command uses.
mod store_path;
mod stores;
// A folder, a store and a home of its own for each test.
mod support;
// Names that turn up later.
mod symbolize;
// Names for builds.
mod tags;
mod timeline;
// Metrics over time from files beside recordings.
mod traces;
// One user against another.
mod users;
// Whether the store is sound, and where its bytes are.
mod verify;
mod windows;
