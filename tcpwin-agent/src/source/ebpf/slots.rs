//! The array of slots as the kernel's memory, mapped read-only.

use std::io;
use std::os::fd::{AsFd as _, AsRawFd as _, BorrowedFd};
use std::ptr::{NonNull, read_volatile};
use std::sync::atomic::{Ordering, fence};

use aya::maps::MapData;
use tcpwin_common::{BUDGET_IDLE, Slot};

/// Slots mapped at first; the view doubles as the slots in use grow, since every mapped page counts as resident.
const FIRST: usize = 1024;

/// Copies made of a slot in which events come faster than it is read.
const COPY_TRIES: u32 = 4;

/// A view of the slots in use. The kernel writes while we read: a copy is checked against a change of owner.
pub(super) struct Slots {
    map: MapData,
    start: NonNull<Slot>,
    /// Slots in view.
    len: usize,
    /// Slots there are.
    capacity: usize,
    bytes: usize,
}

// SAFETY: the mapping belongs to the process, not to a thread, and is only read.
unsafe impl Send for Slots {}

impl Slots {
    /// Maps the first slots of a BPF_F_MMAPABLE array.
    pub(super) fn map(map: MapData, capacity: usize) -> io::Result<Self> {
        let len = capacity.min(FIRST);
        let (start, bytes) = map_slots(map.fd().as_fd(), len)?;
        Ok(Self {
            map,
            start,
            len,
            capacity,
            bytes,
        })
    }

    /// Brings the first `wanted` slots into view, as far as there are so many.
    pub(super) fn extend(&mut self, wanted: usize) -> io::Result<()> {
        if wanted <= self.len || self.len == self.capacity {
            return Ok(());
        }
        let len = wanted.next_power_of_two().min(self.capacity);
        let (start, bytes) = map_slots(self.map.fd().as_fd(), len)?;
        self.unmap();
        (self.start, self.bytes, self.len) = (start, bytes, len);
        Ok(())
    }

    /// Slots in view.
    pub(super) const fn len(&self) -> usize {
        self.len
    }

    fn unmap(&mut self) {
        // SAFETY: mapped by `map_slots` with this length, and not used after.
        unsafe { libc::munmap(self.start.as_ptr().cast(), self.bytes) };
    }

    fn at(&self, index: usize) -> *const Slot {
        assert!(index < self.len);
        // SAFETY: within the mapping, as just checked.
        unsafe { self.start.as_ptr().add(index).cast_const() }
    }

    /// Cookie (0 when free) and a number that changes with every event.
    pub(super) fn stamp(&self, index: usize) -> (u64, u64) {
        let slot = self.at(index);
        // SAFETY: aligned words of the mapping; volatile, since the kernel writes them.
        unsafe {
            let cookie = read_volatile(&raw const (*slot).cookie);
            if cookie == 0 {
                return (0, 0);
            }
            let last = read_volatile(&raw const (*slot).last_ns);
            let gauges = read_volatile(&raw const (*slot).gauges_ns);
            let recvs = read_volatile(&raw const (*slot).counters.recvs);
            (cookie, last.wrapping_add(gauges).wrapping_add(recvs))
        }
    }

    /// If time counts for something though no event comes: data outstanding or unsent.
    pub(super) fn is_running(&self, index: usize) -> bool {
        let slot = self.at(index);
        // SAFETY: as in `stamp`.
        let state = unsafe { read_volatile(&raw const (*slot).budget_state) };
        state != BUDGET_IDLE as u32
    }

    /// Copies a slot; `None` if it is free or changed its owner meanwhile.
    ///
    /// A copy that an event cut in two is made again, a few times: the budget would not fit its time.
    pub(super) fn copy(&self, index: usize) -> Option<Slot> {
        if index >= self.len {
            return None;
        }
        let at = self.at(index);
        let mut tries = 0;
        loop {
            // SAFETY: within the mapping; integers only, so any mixture of old and new words is a value.
            let slot = unsafe { read_volatile(at) };
            fence(Ordering::Acquire);
            // SAFETY: as in `stamp`.
            let (cookie, last) = unsafe {
                (
                    read_volatile(&raw const (*at).cookie),
                    read_volatile(&raw const (*at).last_ns),
                )
            };
            if cookie == 0 || cookie != slot.cookie {
                return None;
            }
            tries += 1;
            if last == slot.last_ns || tries == COPY_TRIES {
                return Some(slot);
            }
        }
    }
}

impl Drop for Slots {
    fn drop(&mut self) {
        self.unmap();
    }
}

fn map_slots(fd: BorrowedFd<'_>, len: usize) -> io::Result<(NonNull<Slot>, usize)> {
    let bytes = (len * size_of::<Slot>()).next_multiple_of(rustix::param::page_size());
    // SAFETY: a fresh mapping at an address of the kernel's choice.
    let start = unsafe {
        libc::mmap(
            std::ptr::null_mut(),
            bytes,
            libc::PROT_READ,
            libc::MAP_SHARED,
            fd.as_raw_fd(),
            0,
        )
    };
    if start == libc::MAP_FAILED {
        return Err(io::Error::last_os_error());
    }
    let start = NonNull::new(start.cast()).ok_or_else(io::Error::last_os_error)?;
    Ok((start, bytes))
}
