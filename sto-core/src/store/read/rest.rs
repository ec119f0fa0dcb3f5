//! What profiles have beside their stacks and costs, for who keeps these in tables of their own.

use crate::intern::Interned;
use crate::model::FrameIx;
use crate::store::codec::{
    DecodeError, pack_lines, pack_parts, pack_slices, unpack_lines, unpack_parts, unpack_slices,
    unpack_sources,
};
use crate::store::error::{InternalError, Result, refused, unspooled};
use crate::store::numbers::FrameNo;
use crate::store::read::counts::{Beside, CallPacks, renumbered_lines};
use crate::store::read::{call_rules, metrics};
use crate::trace::PackedCalls;
use std::sync::Arc;

/// What bytes of a profile are not, or why a profile does not become such.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct RestError(String);

impl From<InternalError> for RestError {
    fn from(error: InternalError) -> Self {
        RestError(match error {
            InternalError::Damaged { location, what } => format!("{location}: {what}"),
            InternalError::Refused(why) => why.to_owned(),
            InternalError::TooMuch(much) => much.to_string(),
            InternalError::Redb(error) => error.to_string(),
            other => format!("{other:?}"),
        })
    }
}

impl Interned {
    /// What it has beside frames, tree and costs, in the bytes that every store has of it: line costs by sample
    /// type, costs by slice of time, metrics over time, calls over time, these by their arguments, digests of source
    /// files, and all calls. SPEC.md, *Columns*, specifies each; where there is none, it is empty. Their number comes first, and
    /// before each its length, as numbers there.
    ///
    /// # Errors
    /// Where something of it is more than what a store takes, or its temporary file cannot be read.
    pub fn pack_rest(&self) -> Result<Vec<u8>, RestError> {
        let numbered = |lines| renumbered_lines(lines, |frame: FrameIx| FrameNo(frame.0));
        let lines = self.lines.iter();
        let lines = lines.map(|lines| pack_lines(&numbered(lines)).map_err(refused));
        let mut parts = lines.collect::<Result<Vec<_>>>()?;
        let slices = self.slices.as_ref();
        let slices = slices.map(|slices| pack_slices(slices, &self.costs).map_err(refused));
        let Beside {
            metrics,
            calls,
            kept,
            sources,
            addresses: _,
        } = Beside::of(self)?;
        let (calls, arguments) = match calls {
            Some(CallPacks { calls, arguments }) => (Some(calls), arguments),
            None => (None, None),
        };
        let rest = [slices.transpose()?, metrics, calls, arguments, sources];
        parts.extend(rest.map(Option::unwrap_or_default));
        for part in 0..kept.as_ref().map_or(0, |kept| kept.len()) {
            let pack = kept.as_ref().map(|kept| kept.pack(part)).transpose();
            parts.extend(pack.map_err(unspooled)?);
        }
        Ok(pack_parts(&parts).map_err(refused)?)
    }

    /// Gives frames, tree and costs the rest back.
    ///
    /// # Errors
    /// Where the bytes are not of such a profile, or what is in them would take more memory than
    /// [it may](crate::memory).
    pub fn unpack_rest(&mut self, bytes: &[u8]) -> Result<(), RestError> {
        let damaged = |part: &'static str| move |error: DecodeError| error.at(part);
        let parts = unpack_parts(bytes).map_err(damaged("its parts"))?;
        let types = self.costs.len();
        let Some((lines, [slices, of_time, calls, arguments, sources, kept @ ..])) =
            parts.split_at_checked(types)
        else {
            return Err(InternalError::damaged("its parts", "they are too few").into());
        };
        let end = FrameNo(self.frames.len() as u32);
        let lines = lines.iter().map(|pack| {
            let lines = unpack_lines(pack, end).map_err(damaged("lines"))?;
            Ok(renumbered_lines(&lines, |frame: FrameNo| FrameIx(frame.0)))
        });
        self.lines = lines.collect::<Result<_>>()?;
        if !slices.is_empty() {
            self.slices = Some(unpack_slices(slices, &self.costs).map_err(damaged("slices"))?);
        }
        if !of_time.is_empty() {
            self.metrics = Some(metrics::unpacked(of_time, "metrics")?);
        }
        if !calls.is_empty() {
            let packs = CallPacks {
                calls: calls.to_vec(),
                arguments: (!arguments.is_empty()).then(|| arguments.to_vec()),
            };
            let calls = call_rules::unpacked(&packs, ["calls", "arguments"], self.tree.len())?;
            self.calls = Some(calls);
        }
        if !sources.is_empty() {
            self.sources = unpack_sources(sources).map_err(damaged("sources"))?;
        }
        if !kept.is_empty() {
            let mut packed = PackedCalls::new(None);
            for pack in kept {
                packed.push(pack).map_err(unspooled)?;
            }
            self.kept = Some(Arc::new(packed));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::id::ExecutableId;
    use crate::ingest::{IngestOptions, ingest};
    use crate::intern::{Interned, SliceCount};
    use crate::model::{SourceDigest, SourceDigests};
    use crate::store::{Store, StoreError};
    use std::path::Path;
    use std::sync::Mutex;

    /// Calls of a real program with lines, slices, calls over time and every call.
    fn recorded() -> Interned {
        let testdata = Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata");
        let store = Store::in_memory().unwrap();
        let options = IngestOptions {
            version: Some("v1".to_owned()),
            slices: SliceCount::new(5),
            keep_calls: true,
            ..IngestOptions::default()
        };
        let path = testdata.join("uftrace/arguments.data");
        ingest(&store, &path, &options, &mut |_| {}).unwrap();
        let snapshot = store.snapshot().unwrap();
        let builds = snapshot.builds().unwrap();
        let executable = ExecutableId::of(&builds[0].build.executable);
        let found = Mutex::new(None);
        let take = |_, interned| {
            *found.lock().unwrap() = Some(interned);
            Ok::<_, StoreError>(())
        };
        let ids = [builds[0].profiles[0].id];
        snapshot.load_each(executable, &ids, take).unwrap();
        found.into_inner().unwrap().unwrap()
    }

    #[test]
    fn what_is_packed_comes_back_and_a_part_of_it_is_refused() {
        let mut all = recorded();
        let digest = SourceDigest(std::array::from_fn(|byte| byte as u8));
        all.sources.insert("src/demo.c".to_owned(), digest);
        let packed = all.pack_rest().unwrap();
        let mut back = Interned {
            lines: Vec::new(),
            slices: None,
            metrics: None,
            calls: None,
            kept: None,
            sources: SourceDigests::new(),
            addresses: None,
            ..all.clone()
        };
        for length in (0..packed.len()).step_by(1 + packed.len() / 500) {
            assert!(back.clone().unpack_rest(&packed[..length]).is_err());
            let mut changed = packed.clone();
            changed[length] ^= 0x81;
            // It may mean something else; it must not panic.
            let _ = back.clone().unpack_rest(&changed);
        }
        back.unpack_rest(&packed).unwrap();
        assert_eq!(back.pack_rest().unwrap(), packed);
        assert!(back.calls.is_some() && back.kept.is_some() && back.slices.is_some());
        assert_eq!(back.calls, all.calls);
        assert_eq!(back.slices, all.slices);
        assert_eq!(back.lines, all.lines);
        assert_eq!(back.sources, all.sources);
    }
}
