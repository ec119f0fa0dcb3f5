//! Debuginfod servers in programs that were built without asking any.

use super::elf::ElfFile;
use super::found::Artifact;
use sto_model::Debuginfod;
use sto_model::GnuBuildId;

/// Refuses to ask servers for files.
pub(super) struct Client<'o>(
    #[expect(dead_code, reason = "nobody is asked")] pub(super) &'o Debuginfod,
);

impl Client<'_> {
    /// Returns an error that names the missing feature.
    pub(super) fn find(&self, _: &GnuBuildId, _: Artifact) -> Result<Option<ElfFile>, String> {
        Err("this program was built without sto-core's feature `debuginfod`".to_owned())
    }
}
