//! Symbols that real compilers made, in `testdata/symbols`: `cases.txt` says which are one function.
//! `testdata/keys.txt` lists pairs by language, and the rules that make them one.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use sto_core::demangled;
use sto_query::questions::{KeyOptions, explain_match, key_symbol};

fn without_arguments() -> KeyOptions {
    with!(KeyOptions {
        ignore_template_arguments: true,
    })
}

fn path(name: &str) -> PathBuf {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../testdata/symbols");
    PathBuf::from(folder).join(format!("{name}.txt"))
}

fn read(name: &str) -> String {
    let path = path(name);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Returns a line of `cases.txt` with its last column computed again.
fn checked(line: &str) -> String {
    let columns: Vec<&str> = line.split(" | ").map(str::trim).collect();
    let [list1, symbol1, list2, symbol2, matches, ..] = columns[..] else {
        panic!("a case has too few columns: {line}");
    };
    for (list, symbol) in [(list1, symbol1), (list2, symbol2)] {
        assert!(
            read(list).lines().any(|line| line == symbol),
            "{list} has no {symbol}"
        );
    }
    let exact = explain_match(symbol1, symbol2, KeyOptions::default());
    let without_arguments = explain_match(symbol1, symbol2, without_arguments());
    let (found, keys) = match (exact.matches, without_arguments.matches) {
        (true, true) => ("yes", vec![&exact.symbols[0].key]),
        (false, true) => ("args", vec![&without_arguments.symbols[0].key]),
        (false, false) => ("no", exact.symbols.iter().map(|s| &s.key).collect()),
        (true, false) => panic!("matches no more without arguments: {line}"),
    };
    assert_eq!(found, matches.trim_end_matches(" |"), "{line}");
    let mut line = [list1, symbol1, list2, symbol2, found].join(" | ");
    for key in keys {
        line += &format!(" | {key}");
    }
    line
}

#[test]
fn symbols_match_as_in_table() {
    let table = read("cases");
    let is_case = |line: &str| !line.is_empty() && !line.starts_with('#');
    assert!(table.lines().filter(|line| is_case(line)).count() > 60);
    let lines = table.lines().map(|line| {
        if is_case(line) {
            checked(line)
        } else {
            line.to_owned()
        }
    });
    let checked: String = lines.map(|line| line + "\n").collect();
    sto_test_support::assert_golden(&path("cases"), &checked);
}

#[test]
fn pairs_match_by_the_listed_rules() {
    let pairs = include_str!("../../../testdata/keys.txt").lines();
    let is_pair = |line: &&str| !line.is_empty() && !line.starts_with('#');
    let mut matched = 0;
    for line in pairs.filter(is_pair) {
        let columns: Vec<&str> = line.split('|').map(str::trim).collect();
        for order in [[1, 2], [2, 1]] {
            let [first, second] = order.map(|column| columns[column]);
            let report = explain_match(first, second, KeyOptions::default());
            let keys = report.symbols.each_ref().map(|symbol| &symbol.key);
            assert_eq!(report.matches, columns[0] == "one", "{line}\n{keys:#?}");
            let steps = report.symbols.iter().flat_map(|symbol| &symbol.steps);
            let cited: BTreeSet<&str> = steps.map(|step| step.rule.name()).collect();
            if let Some(rules) = columns.get(3) {
                assert_eq!(cited, rules.split_whitespace().collect(), "{line}");
                matched += 1;
            }
        }
    }
    assert!(matched > 70, "only {matched} pairs match");
}

/// Returns the two lists of every toolchain, build 1 first.
fn toolchains() -> Vec<[Vec<String>; 2]> {
    let folder = path("cases");
    let folder = folder.parent().expect("the table is in a folder");
    let names = fs::read_dir(folder).expect("the folder can be read");
    let names = names.map(|entry| entry.expect("the folder can be read").file_name());
    let names: Vec<String> = names.filter_map(|name| name.into_string().ok()).collect();
    let toolchains = names.iter().filter_map(|name| name.strip_suffix("-1.txt"));
    let lists = toolchains.map(|toolchain| {
        [1, 2].map(|build| {
            let list = read(&format!("{toolchain}-{build}"));
            list.lines().map(str::to_owned).collect()
        })
    });
    lists.collect()
}

#[test]
fn finds_every_function_of_build_1_in_build_2() {
    let toolchains = toolchains();
    assert!(toolchains.len() >= 10);
    for [one, two] in &toolchains {
        let keys: BTreeSet<_> = two
            .iter()
            .map(|s| key_symbol(s, KeyOptions::default()))
            .collect();
        for symbol in one {
            let key = key_symbol(symbol, KeyOptions::default());
            assert!(keys.contains(&key), "{symbol}: {key} is not in build 2");
            assert_eq!(
                key_symbol(&key, KeyOptions::default()),
                key,
                "a key is its own key"
            );
        }
    }
}

#[test]
fn mangled_and_demangled_symbols_have_same_key() {
    let symbols: Vec<String> = toolchains().into_iter().flatten().flatten().collect();
    let mut mangled = 0;
    for symbol in symbols {
        let Some(name) = demangled(&symbol) else {
            continue;
        };
        mangled += 1;
        for options in [KeyOptions::default(), without_arguments()] {
            assert_eq!(key_symbol(&symbol, options), key_symbol(&name, options));
        }
    }
    assert!(mangled > 100, "only {mangled} symbols are mangled");
}
