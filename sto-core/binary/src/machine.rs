//! The machines whose stacks can be unwound, and what differs between them.

use framehop::aarch64::{CacheAarch64, PtrAuthMask, UnwindRegsAarch64, UnwinderAarch64};
use framehop::x86_64::{CacheX86_64, UnwindRegsX86_64, UnwinderX86_64};
use framehop::{Module, Unwinder};
use std::sync::Arc;

pub(super) type Bytes = Arc<[u8]>;

/// A kind of processor, as `uname -m` names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Machine {
    /// x86-64.
    X86_64,
    /// 64-bit ARM.
    Aarch64,
    /// One of which call chains alone are read.
    Other,
}

impl Machine {
    /// The architecture with the name that `uname -m` prints.
    pub fn named(name: &str) -> Machine {
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
    /// The frame pointer.
    pub fp: u64,
    /// The link register, where the machine has one.
    pub link: u64,
}

/// How the stacks of a machine are unwound.
pub(crate) trait Rules {
    type Regs;
    type Cache: Default;
    type Unwinder: Unwinder<UnwindRegs = Self::Regs, Cache = Self::Cache, Module = Module<Bytes>>
        + Default
        + Send
        + Sync;

    /// The registers as framehop has them; no code is at `code_end` or after it.
    fn start(regs: UserRegs, code_end: u64) -> Self::Regs;
}

pub(crate) struct X86_64;

impl Rules for X86_64 {
    type Regs = UnwindRegsX86_64;
    type Cache = CacheX86_64;
    type Unwinder = UnwinderX86_64<Bytes>;

    fn start(regs: UserRegs, _: u64) -> UnwindRegsX86_64 {
        UnwindRegsX86_64::new(regs.ip, regs.sp, regs.fp)
    }
}

pub(crate) struct Aarch64;

impl Rules for Aarch64 {
    type Regs = UnwindRegsAarch64;
    type Cache = CacheAarch64;
    type Unwinder = UnwinderAarch64<Bytes>;

    /// Bits above those of all code are the signature of a return address (pointer authentication).
    fn start(regs: UserRegs, code_end: u64) -> UnwindRegsAarch64 {
        let mask = PtrAuthMask::from_max_known_address(code_end.max(1));
        UnwindRegsAarch64::new_with_ptr_auth_mask(mask, regs.link, regs.sp, regs.fp)
    }
}
