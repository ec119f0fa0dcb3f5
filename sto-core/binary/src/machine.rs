//! The processor architectures whose stacks can be unwound, and their differences.

use framehop::aarch64::{CacheAarch64, PtrAuthMask, UnwindRegsAarch64, UnwinderAarch64};
use framehop::x86_64::{CacheX86_64, UnwindRegsX86_64, UnwinderX86_64};
use framehop::{Module, Unwinder};
use std::sync::Arc;

pub(super) type Bytes = Arc<[u8]>;

/// A processor architecture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Machine {
    /// x86-64.
    X86_64,
    /// 64-bit ARM.
    Aarch64,
    /// Any other architecture: its call chains are read, but saved stacks are not unwound.
    Other,
}

impl Machine {
    /// Returns the architecture that `uname -m` prints as `name`.
    pub fn from_name(name: &str) -> Machine {
        match name {
            "x86_64" => Machine::X86_64,
            "aarch64" => Machine::Aarch64,
            _ => Machine::Other,
        }
    }
}

/// The registers that unwinding starts from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UserRegs {
    /// Instruction pointer.
    pub ip: u64,
    /// Stack pointer.
    pub sp: u64,
    /// Frame pointer.
    pub fp: u64,
    /// Link register; unused on x86-64.
    pub link: u64,
}

/// The framehop types of one architecture.
pub(crate) trait Arch {
    type Regs;
    type Cache: Default;
    type Unwinder: Unwinder<UnwindRegs = Self::Regs, Cache = Self::Cache, Module = Module<Bytes>>
        + Default
        + Send
        + Sync;

    /// Converts registers for framehop; all code of the process lies below `code_end`.
    fn initial_regs(regs: UserRegs, code_end: u64) -> Self::Regs;
}

pub(crate) struct X86_64;

impl Arch for X86_64 {
    type Regs = UnwindRegsX86_64;
    type Cache = CacheX86_64;
    type Unwinder = UnwinderX86_64<Bytes>;

    fn initial_regs(regs: UserRegs, _: u64) -> UnwindRegsX86_64 {
        UnwindRegsX86_64::new(regs.ip, regs.sp, regs.fp)
    }
}

pub(crate) struct Aarch64;

impl Arch for Aarch64 {
    type Regs = UnwindRegsAarch64;
    type Cache = CacheAarch64;
    type Unwinder = UnwinderAarch64<Bytes>;

    /// The bits that no code address has hold the signature of a return address (pointer authentication).
    fn initial_regs(regs: UserRegs, code_end: u64) -> UnwindRegsAarch64 {
        let mask = PtrAuthMask::from_max_known_address(code_end.max(1));
        UnwindRegsAarch64::new_with_ptr_auth_mask(mask, regs.link, regs.sp, regs.fp)
    }
}
