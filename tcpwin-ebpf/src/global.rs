//! What the agent sets at load. The verifier sees constants and prunes what they rule out.

use core::ptr::read_volatile;

use tcpwin_common::Offsets;

/// Where this kernel keeps the fields.
#[unsafe(no_mangle)]
pub static OFFSETS: Offsets = Offsets::MISSING;

/// Least time between two copies of a socket's gauges, ns.
#[unsafe(no_mangle)]
static GAUGES_EVERY_NS: u64 = 10_000_000;

/// 1 if the kernel lets `tp_btf` programs call `bpf_get_socket_cookie` (5.12).
#[unsafe(no_mangle)]
static HAVE_COOKIE_HELPER: u32 = 1;

/// 1 if the kernel has the tracepoint `tcp_cong_state_set`.
#[unsafe(no_mangle)]
static HAVE_CONG_STATE_SET: u32 = 1;

/// 64 less the bits of an index into NEAR.
#[unsafe(no_mangle)]
static NEAR_SHIFT: u64 = 63;

macro_rules! getter {
    ($(#[$doc:meta])* $name:ident -> $type:ty = $global:ident) => {
        $(#[$doc])*
        #[inline(always)]
        pub fn $name() -> $type {
            // SAFETY: a static of this program; volatile, since the loader changes it.
            unsafe { read_volatile(&raw const $global) }
        }
    };
}

getter!(gauges_every_ns -> u64 = GAUGES_EVERY_NS);
getter!(have_cookie_helper -> u32 = HAVE_COOKIE_HELPER);
getter!(have_cong_state_set -> u32 = HAVE_CONG_STATE_SET);
getter!(near_shift -> u64 = NEAR_SHIFT);
