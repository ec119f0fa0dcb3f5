//! Views from folded text, and random numbers for simulated runs.

use crate::words::command;
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::sync::Arc;
use sto_core::id::{ExecutableId, ProfileId, RecordingDigest};
use sto_core::model::{
    Build, Frame, FrameKind, FrameTable, GnuBuildId, Granularity, ModuleRef, Origin, Profile,
    Quality,
};
use sto_core::store::StoredProfile;
use sto_core::tree::{NodeIx, StackTree};
use sto_core::units::{Bytes, Cost, SampleType, Unit, UnixSeconds};
use sto_query::error::CompareError;
use sto_query::internal;
use sto_query::questions::CompareOptions;
use sto_query::results::{Comparison, View};
use sto_query::select::Selection;

/// Order of children and frames in a view.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Order {
    Forward,
    Backward,
}

/// Creates a view from runs in folded text: `main;parse;libc.so.6!memcpy 12`. The default module is
/// `app`.
pub(crate) fn view(version: &str, runs: &[&str]) -> View {
    view_in_order(version, runs, Order::Forward)
}

pub(crate) fn view_in_order(version: &str, runs: &[&str], order: Order) -> View {
    let mut stacks: BTreeMap<Vec<&str>, Vec<u64>> = BTreeMap::new();
    for (run, text) in runs.iter().enumerate() {
        for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
            let (stack, samples) = line.rsplit_once(' ').expect("a stack and a count");
            let frames = stack.split(';').collect();
            let counts = stacks.entry(frames).or_insert_with(|| vec![0; runs.len()]);
            counts[run] += samples.parse::<u64>().expect("a count");
        }
    }
    let mut stacks: Vec<_> = stacks.into_iter().collect();
    if order == Order::Backward {
        stacks.sort_by(|(a, _), (b, _)| callers_first_then_backward(a, b));
    }

    let mut frames = FrameTable::new();
    let mut tree = StackTree::new();
    let mut costs = vec![Vec::new(); runs.len()];
    let mut open: Vec<(&str, NodeIx)> = Vec::new();
    for (stack, counts) in stacks {
        let shared = open
            .iter()
            .zip(&stack)
            .take_while(|((a, _), b)| a == *b)
            .count();
        open.truncate(shared);
        for &name in &stack[shared..] {
            let frame = frames.insert(frame(name));
            let node = tree.push(open.last().map(|&(_, node)| node), frame);
            open.push((name, node));
        }
        let node = open.last().expect("a stack is not empty").1;
        for (costs, &samples) in costs.iter_mut().zip(&counts) {
            if samples > 0 {
                let value = samples * PERIOD;
                costs.push((node, Cost { samples, value }));
            }
        }
    }
    let build = Build {
        executable: "app".to_owned(),
        version: version.to_owned(),
        gnu_build_id: None,
        revision: None,
        commit: None,
    };
    let profiles = (0..runs.len()).map(|run| profile(&build, run)).collect();
    View {
        selection: Selection::new(build, profiles),
        sample_types: vec![sample_type("cpu-clock")],
        frames,
        tree,
        runs: costs.into_iter().map(|costs| vec![costs]).collect(),
        windows: Vec::new(),
    }
}

/// Nanoseconds that a sample stands for.
const PERIOD: u64 = 1_000_000;

pub(crate) fn sample_type(event: &str) -> SampleType {
    SampleType {
        event: event.to_owned(),
        unit: Unit::Nanoseconds,
    }
}

fn callers_first_then_backward(a: &[&str], b: &[&str]) -> Ordering {
    let differs = a.iter().zip(b).find(|(a, b)| a != b);
    differs.map_or(a.len().cmp(&b.len()), |(a, b)| b.cmp(a))
}

fn frame(name: &str) -> Frame<'_> {
    let (module, symbol) = name.split_once('!').unwrap_or(("app", name));
    let kind = match module {
        _ if symbol.contains("+0x") => FrameKind::Unresolved,
        "[kernel]" => FrameKind::Kernel,
        _ => FrameKind::User,
    };
    let file = if module == "app" && kind == FrameKind::User {
        "app.c"
    } else {
        ""
    };
    Frame {
        module,
        symbol,
        kind,
        file,
        line: 0,
    }
}

fn profile(build: &Build, run: usize) -> StoredProfile {
    let profile = Profile {
        build: build.id(),
        source: RecordingDigest::hash_bytes(format!("{} run {run}", build.version).as_bytes()),
        source_bytes: Bytes(1000),
        format: "perf.data".to_owned(),
        origin: Origin {
            recorded: Some(UnixSeconds(1_760_000_000 + 3600 * run as u64)),
            host: Some("bench1".to_owned()),
            kernel: None,
            ..Origin::default()
        },
        quality: Quality {
            samples: 1000,
            ..Quality::default()
        },
        granularity: Granularity::Function,
        sample_types: vec![sample_type("cpu-clock")],
        modules: [].into(),
        benchmark: None,
        labels: BTreeMap::new(),
        metrics: BTreeMap::new(),
    };
    debug_assert_eq!(
        ExecutableId::from_name(&build.executable),
        ExecutableId::from_name("app")
    );
    StoredProfile {
        id: ProfileId(profile.build_recording_id().0),
        profile,
        gnu_build_id: build.gnu_build_id.clone(),
        revision: build.revision.clone(),
        commit: build.commit.clone(),
        stored: Bytes(100),
        slices: Bytes(0),
    }
}

/// Sets the build ids of the modules of all runs. `app` is the main program.
pub(crate) fn set_build_ids(view: &mut View, ids: &[(&str, u8)]) {
    let id = |byte: u8| GnuBuildId::from_bytes(&[byte; 20]);
    let modules: Arc<[ModuleRef]> = ids
        .iter()
        .map(|&(name, byte)| ModuleRef {
            name: name.to_owned(),
            build_id: id(byte),
        })
        .collect();
    let main = modules.iter().find(|module| module.name == "app");
    view.selection.build.gnu_build_id = main.and_then(|module| module.build_id.clone());
    for stored in &mut view.selection.profiles {
        stored.profile.modules = modules.clone();
    }
}

/// Compares with named builds.
pub(crate) fn compare(
    baseline: &View,
    candidate: &View,
    options: &CompareOptions,
) -> Result<Comparison, CompareError> {
    let mut comparison = internal::compare::compare(baseline, candidate, options)?;
    let sides = [&comparison.baseline, &comparison.candidate];
    let sides = sides.map(|side| format!("{}@{}", side.executable, side.build));
    comparison.command = command(&["sto", "find-regressions", &sides[0], &sides[1]]);
    for finding in &mut comparison.findings {
        let focus = ["--focus", &finding.function, "-o", "diff.svg"];
        finding.command = command(&[&["sto", "diff", &sides[0], &sides[1]], &focus[..]].concat());
    }
    Ok(comparison)
}

/// Compares with the default thresholds.
pub(crate) fn compared(baseline: &View, candidate: &View) -> Comparison {
    compare(baseline, candidate, &CompareOptions::default()).expect("the defaults are in range")
}

/// Formats findings, one per line: kind and function, the function that it moved to or from or
/// replaced, and affected callers.
pub(crate) fn summary(comparison: &Comparison) -> String {
    let mut lines = String::new();
    for finding in &comparison.findings {
        let kind = serde_json::to_value(finding.kind).expect("a kind is a name");
        let kind = kind.as_str().expect("a kind is a name");
        lines.push_str(&format!("{kind} {}", finding.function));
        if let Some(from) = &finding.moved_from {
            lines.push_str(&format!(" from {}", from.function));
        }
        if let Some(to) = &finding.moved_to {
            lines.push_str(&format!(" to {}", to.function));
        }
        if let Some(gone) = &finding.replaces {
            lines.push_str(&format!(" for {}", gone.function));
        }
        if let Some(new) = &finding.replaced_by {
            lines.push_str(&format!(" by {}", new.function));
        }
        let callers: Vec<&str> = finding
            .affected_callers
            .iter()
            .map(|caller| caller.function.as_str())
            .collect();
        if !callers.is_empty() {
            lines.push_str(&format!(" <- {}", callers.join(" <- ")));
        }
        lines.push('\n');
    }
    lines
}

/// xorshift64*: the same numbers on every machine (S. Vigna, ACM TOMS 42:30, 2016).
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    /// Returns a number between 0 and 1, both excluded.
    fn unit(&mut self) -> f64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let bits = self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 11;
        (bits as f64 + 0.5) / (1_u64 << 53) as f64
    }

    /// Returns a standard normal deviate, by Box and Muller.
    pub(crate) fn normal(&mut self) -> f64 {
        let (radius, angle) = (-2.0 * self.unit().ln(), std::f64::consts::TAU * self.unit());
        radius.sqrt() * angle.cos()
    }

    fn poisson(&mut self, mean: f64) -> u64 {
        if mean > 500.0 {
            return (mean + mean.sqrt() * self.normal()).round().max(0.0) as u64;
        }
        let (limit, mut product, mut count) = ((-mean).exp(), self.unit(), 0);
        while product > limit {
            product *= self.unit();
            count += 1;
        }
        count
    }

    /// Returns a count with this mean and a variance of `mean + dispersion x mean^2`: Poisson with
    /// a log-normal mean.
    pub(crate) fn count(&mut self, mean: f64, dispersion: f64) -> u64 {
        let variance = dispersion.ln_1p();
        let factor = (variance.sqrt() * self.normal() - variance / 2.0).exp();
        self.poisson(mean * factor)
    }
}
