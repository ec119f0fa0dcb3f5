//! Debuginfod servers in programs that were built without asking any.

use super::elf::ElfFile;
use super::find::Artifact;
use crate::model::GnuBuildId;
use crate::symbol_options::Debuginfod;

impl Debuginfod {
    /// Returns an error that names the missing feature.
    pub(super) fn find(&self, _: &GnuBuildId, _: Artifact) -> Result<Option<ElfFile>, String> {
        Err("this program was built without sto-core's feature `debuginfod`".to_owned())
    }
}
