//! Lists of modules.

use super::Flaw;
use super::bytes::{Packer, Unpacker};
use super::records;
use crate::model::{GnuBuildId, ModuleRef};

/// Packs a list of modules.
pub(in crate::store) fn pack_modules(modules: &[ModuleRef]) -> Result<Vec<u8>, Flaw> {
    let mut list = Packer::default();
    list.raw(&records::pack(&modules)?);
    let mut pack = Packer::default();
    pack.column(list);
    pack.finish()
}

/// Unpacks a list of modules.
pub(in crate::store) fn unpack_modules(pack: &[u8]) -> Result<Vec<ModuleRef>, Flaw> {
    let mut pack = Unpacker::new(pack);
    let list = pack.column()?;
    pack.finish()?;
    let modules: Vec<ModuleRef> = records::unpack(&list)?;
    let valid = |id: &GnuBuildId| GnuBuildId::from_bytes(id.as_bytes()).is_some();
    if !modules
        .iter()
        .filter_map(|module| module.build_id.as_ref())
        .all(valid)
    {
        return Err(Flaw("a GNU build id is empty, zero or too long"));
    }
    Ok(modules)
}
