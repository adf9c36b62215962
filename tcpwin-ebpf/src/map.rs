//! All maps. Sizes marked 1 are set by the agent at load.

use aya_ebpf::{
    bindings::BPF_F_MMAPABLE,
    macros::map,
    maps::{Array, HashMap, PerCpuArray, RingBuf, Stack},
};
use tcpwin_common::{Beside, COUNT_ENTRIES, HostCount, Loss, Slot};

/// One slot a socket; the agent reads those that changed.
#[map]
pub static SLOTS: Array<Slot> = Array::with_max_entries(1, BPF_F_MMAPABLE);

/// How often each slot was about to change, and if it is watched closely. The agent maps it whole: 8 bytes to look at for an
/// idle socket.
#[map]
pub static BESIDE: Array<Beside> = Array::with_max_entries(1, BPF_F_MMAPABLE);

/// Address of `struct sock` → index of its slot.
#[map]
pub static SOCKETS: HashMap<u64, u32> = HashMap::with_max_entries(1, 0);

/// What SOCKETS says of the sockets seen last, by their `skc_hash`: a guess, which the slot's own `socket` confirms. It costs a
/// fraction of a look-up in a hash, and does not grow with the slots: only sockets busy at the same time share a place to their harm.
#[map]
pub static NEAR: Array<u32> = Array::with_max_entries(NEAR_ENTRIES, 0);

/// A power of two.
pub const NEAR_ENTRIES: u32 = 1 << 16;

/// Free slots. A stack, so that the slots in use stay close together; the agent fills it.
#[map]
pub static FREE_SLOTS: Stack<u32> = Stack::with_max_entries(1, 0);

/// One more than the highest slot ever used by this CPU: how far the agent must read.
#[map]
pub static HIGH_WATER: PerCpuArray<u32> = PerCpuArray::with_max_entries(1, 0);

/// Records for the agent, without wake-ups: it drains by its own clock. Room for 4,000 closings between two drains; every page
/// of it counts twice as the agent's memory, since the kernel maps a ring twice in a row.
#[map]
pub static EVENTS: RingBuf = RingBuf::with_byte_size(EVENTS_BYTES, 0);

/// Size of the ring.
pub const EVENTS_BYTES: u32 = 1 << 21;

/// `WANT_*` bits: which single events somebody listens to now.
#[map]
pub static WANTED: Array<u32> = Array::with_max_entries(1, 0);

/// Counters by [`Loss`] and [`HostCount`].
#[map]
pub static COUNTS: PerCpuArray<u64> = PerCpuArray::with_max_entries(COUNT_ENTRIES, 0);

/// Adds one to a counter and gives what it was on this CPU.
#[inline(always)]
fn count(index: u32) -> u64 {
    match COUNTS.get_ptr_mut(index) {
        // SAFETY: an element of this CPU; programs on one CPU do not overlap on it but for interrupts, which may lose a count.
        Some(counter) => unsafe {
            let before = *counter;
            *counter = before + 1;
            before
        },
        None => 1,
    }
}

/// Counts a loss; true if it is the first of its kind on this CPU (worth a line in the log).
#[inline(always)]
pub fn lost(loss: Loss) -> bool {
    count(loss as u32) == 0
}

/// Counts something of the host as a whole.
#[inline(always)]
pub fn count_host(what: HostCount) {
    count(what as u32);
}

/// If somebody listens to the events of this `WANT_*` bit.
#[inline(always)]
pub fn wanted(bit: u32) -> bool {
    WANTED.get(0).is_some_and(|bits| bits & bit != 0)
}
