//! Text files that users write.

use crate::cli::Cli;
use crate::folders::folder;
use crate::runtime::config::Config;
use clap::{CommandFactory, FromArgMatches};
use std::ffi::OsString;
use std::path::Path;
use sto_core::ingest::{IngestOptions, prepare};
use sto_core::store::Store;
use sto_core::units::UnixSeconds;
use sto_query::policy::{Policy, Thresholds};
use sto_query::questions::CompareOptions;
use sto_query::text::Date;

/// Parses the input as a policy, as for `--policy` or `sto.toml`.
pub(crate) fn policy(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    let today = Date::from_time(UnixSeconds(1_767_323_045));
    match Policy::parse(text) {
        Err(error) => {
            let message = error.to_string();
            assert!(
                (1..=text.matches('\n').count() + 1).contains(&error.line),
                "{message}"
            );
            assert!(!error.message.contains('\n'), "{message}");
        }
        Ok(policy) => {
            policy.expired(Some(&today));
            let names = policy.benchmarks.keys().map(Some).chain([None]);
            for name in names {
                let name = name.map(String::as_str);
                policy.options(
                    name,
                    &Thresholds::default(),
                    Some(&today),
                    CompareOptions::default(),
                );
            }
        }
    }
}

/// Loads the input as a configuration, and expands a command line with it.
pub(crate) fn config(bytes: &[u8]) {
    let path = folder().join("config.toml");
    std::fs::write(&path, bytes).expect("the folder is writable");
    // SAFETY: no other thread reads the environment: this target starts none.
    unsafe { std::env::set_var("STO_CONFIG", &path) };
    let Ok(config) = Config::load() else {
        return;
    };
    let Ok(command) = config.add_defaults(Cli::command()) else {
        return;
    };
    for line in [
        &["sto", "ls"][..],
        &["sto", "worst"],
        &["sto", "--color", "never", "a"],
    ] {
        let args = config.expand_alias(line.iter().map(OsString::from), &command);
        if let Ok(matches) = command.clone().try_get_matches_from(args) {
            Cli::from_arg_matches(&matches).expect("what was matched can be taken");
        }
    }
}

/// Reads the input as a trace of metrics for a recording.
pub(crate) fn trace(bytes: &[u8]) {
    let path = folder().join("trace");
    std::fs::write(&path, bytes).expect("the folder is writable");
    let text = "demo 7 1.000000: 1 cycles:\n\t401000 main (/bin/demo)\n\n\
                demo 7 2.000000: 1 cycles:\n\t401000 main (/bin/demo)\n\n";
    let options = IngestOptions {
        executable: Some("demo".to_owned()),
        version: Some("v1".to_owned()),
        traces: vec![path],
        ..IngestOptions::default()
    };
    let input = (Path::new("run"), text.as_bytes());
    match prepare(input, &options, &mut |_| ()) {
        Err(error) => assert!(!error.to_string().contains('\n'), "{error}"),
        Ok(prepared) => {
            let store = Store::in_memory().expect("a store in memory");
            let stored = prepared.store(&mut store.writer(), &mut |_| ());
            let profile = stored.expect("what was read can be stored").profiles[0].id;
            let metrics = store
                .snapshot()
                .and_then(|snapshot| snapshot.load_metrics(profile));
            metrics.expect("what was stored can be read");
        }
    }
}
