//! GHC's profile in JSON, `PROGRAM.prof` of `+RTS -pj`: cost centres, and the tree of their costs.
//!
//! Source: chapter *Profiling* of the GHC User's Guide; `rts/ProfilerReportJson.c` of its sources.

use crate::error::{DecodeError, Decoded};
use crate::json::{CallTree, Caller, walk};
use crate::names::NamedFrame;
use crate::recording::{Built, LocationIx, RecordingBuilder, SampleTypeIx};
use crate::report::{add_to_only_thread, cost_per_unit};
use crate::source::Head;
use crate::wire::json::{Text, parse};
use crate::wire::text::base_name;
use hashbrown::HashMap;
use serde::Deserialize;
use serde_json::value::RawValue;
use sto_model::FrameKind;
use sto_model::units::{Cost, Unit};

/// Returns `true` if a file is an object with the first keys of a profile.
pub(super) fn matches(head: &Head<'_>) -> bool {
    head.has_keys(["tick_interval", "total_ticks"])
}

#[derive(Deserialize)]
#[serde(bound(deserialize = "'de: 'b"))]
struct Profile<'b> {
    program: Text<'b>,
    /// Microseconds.
    tick_interval: u64,
    total_ticks: u64,
    total_alloc: u64,
    cost_centres: Vec<CostCentre<'b>>,
    profile: &'b RawValue,
}

#[derive(Deserialize)]
#[serde(bound(deserialize = "'de: 'b"))]
struct CostCentre<'b> {
    id: u64,
    label: Text<'b>,
    module: Text<'b>,
    /// `app/Main.hs:12:1-20`, or `<built-in>`.
    src_loc: Text<'b>,
}

#[derive(Deserialize)]
struct Node {
    id: u64,
    /// Without the ticks of its children.
    ticks: u64,
    alloc: u64,
}

pub(super) fn read(bytes: &[u8]) -> Decoded<RecordingBuilder> {
    let profile: Profile<'_> = parse(bytes)?;
    let tick = profile.tick_interval.checked_mul(1000);
    let all = tick.and_then(|tick| tick.checked_mul(profile.total_ticks));
    let (Some(tick), Some(all)) = (tick, all) else {
        let problem = "ticks that are longer than 2^64 ns";
        return Err(DecodeError::new("tick_interval", problem));
    };
    let mut builder = RecordingBuilder::default();
    let mut centres: HashMap<u64, LocationIx> = HashMap::new();
    for centre in &profile.cost_centres {
        let location = centre.place(&mut builder);
        let location = location.map_err(DecodeError::at("cost_centres"))?;
        centres.insert(centre.id, location);
    }
    let mut tree = CallTree::default();
    walk(bytes, profile.profile, |node: Node, caller| {
        let at = || format!("the node {} of profile", node.id);
        let location = centres.get(&node.id).copied();
        let location = location.ok_or_else(|| {
            DecodeError::new(
                at(),
                format!("{}; expected the id of a cost centre", node.id),
            )
        })?;
        let location = Some(location);
        let entry = tree.push(Caller { caller, location });
        if node.ticks > 0 || node.alloc > 0 {
            let time = Cost {
                samples: node.ticks,
                value: node.ticks.saturating_mul(tick),
            };
            let stack = tree.stack(entry, &mut builder);
            let added = stack.and_then(|stack| {
                add_to_only_thread(&mut builder, 0, stack, time)?;
                add_to_only_thread(&mut builder, 1, stack, cost_per_unit(1024, node.alloc))
            });
            added.map_err(DecodeError::at(at()))?;
        }
        Ok(entry)
    })?;
    let totals = [
        (SampleTypeIx(0), all),
        (SampleTypeIx(1), profile.total_alloc),
    ];
    let off = totals.map(|(kind, total)| builder.check_total(kind, total, (0, 0)));
    builder.warnings.extend(off.into_iter().flatten());
    builder.sample_type("time", Unit::Nanoseconds);
    builder.sample_type("alloc", Unit::Bytes);
    let program = builder.text(base_name(&profile.program.0)).into_owned();
    let process = builder.process(0, &program);
    builder.new_thread(process, 0, "");
    Ok(builder)
}

impl CostCentre<'_> {
    fn place(&self, builder: &mut RecordingBuilder) -> Built<LocationIx> {
        let file = self.src_loc.0.split(|&byte| byte == b':').next();
        let symbol = [&self.module.0[..], b".", &self.label.0].concat();
        let frame = NamedFrame {
            symbol: &symbol,
            file: file
                .filter(|file| !file.starts_with(b"<"))
                .unwrap_or_default(),
            kind: Some(FrameKind::User),
            ..NamedFrame::default()
        };
        frame.add(builder)
    }
}
