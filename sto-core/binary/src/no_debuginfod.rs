//! The debuginfod client of programs built without the feature `debuginfod`.

use super::elf::ElfFile;
use super::found::Artifact;
use sto_model::Debuginfod;
use sto_model::GnuBuildId;

/// A client that never asks a server.
pub(super) struct Client<'o>(
    #[expect(dead_code, reason = "no server is asked")] pub(super) &'o Debuginfod,
);

impl Client<'_> {
    /// Returns an error that names the missing feature.
    pub(super) fn find(&self, _: &GnuBuildId, _: Artifact) -> Result<Option<ElfFile>, String> {
        Err("this program was built without sto-core's feature `debuginfod`".to_owned())
    }
}
