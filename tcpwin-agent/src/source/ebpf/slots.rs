//! The arrays of slots and of what stands beside them, as the kernel keeps them.
//!
//! Only the latter is mapped for good: every mapped page counts as resident, and a slot is 500 bytes. A slot that changed is
//! read by a system call; where many changed, a window of slots is mapped for the moment.

use std::io;
use std::ops::Range;
use std::os::fd::{AsFd as _, AsRawFd as _, BorrowedFd, OwnedFd};
use std::ptr::{NonNull, read_volatile, write_volatile};
use std::sync::atomic::{Ordering, fence};

use aya::maps::{Array, Map, MapData};
use tcpwin_common::{Beside, RECORD_CLOSE, Slot};

/// Counts in view at first; the view doubles as the slots in use grow.
const FIRST: usize = 1024;
/// Slots of a window: so many that it is whole pages.
const WINDOW: usize = 8192;
/// Changed slots of a window from which on mapping it costs less than system calls.
const MANY: usize = 512;

/// The slots and how often each changed.
pub(super) struct Slots {
    array: Array<MapData, Slot>,
    array_fd: OwnedFd,
    beside: MapData,
    counts: View<Beside>,
    /// Slots there are.
    capacity: usize,
}

impl Slots {
    /// Of two BPF_F_MMAPABLE arrays.
    pub(super) fn new(slots: MapData, beside: MapData, capacity: usize) -> io::Result<Self> {
        let array_fd = slots.fd().as_fd().try_clone_to_owned()?;
        let counts = View::map(beside.fd().as_fd(), 0..capacity.min(FIRST))?;
        Ok(Self {
            array: Array::try_from(Map::Array(slots)).map_err(io::Error::other)?,
            array_fd,
            beside,
            counts,
            capacity,
        })
    }

    /// Brings the first `wanted` slots into view, as far as there are so many.
    pub(super) fn extend(&mut self, wanted: usize) -> io::Result<()> {
        if wanted > self.counts.len && self.counts.len < self.capacity {
            let len = wanted.next_power_of_two().min(self.capacity);
            self.counts = View::map(self.beside.fd().as_fd(), 0..len)?;
        }
        Ok(())
    }

    /// Slots in view.
    pub(super) const fn len(&self) -> usize {
        self.counts.len
    }

    /// How often the slot changed, as far as 32 bits tell.
    pub(super) fn changes(&self, index: usize) -> u32 {
        self.counts.read(index).changes
    }

    /// Has each event of the slot's socket told, or no longer. The programs write the word beside it at any time: nothing but
    /// this word may be written.
    pub(super) fn watch(&self, index: u32, on: bool) -> io::Result<()> {
        let page = rustix::param::page_size();
        let at = index as usize * size_of::<Beside>();
        let map = View::<Beside>::map_bytes(
            self.beside.fd().as_fd(),
            at / page * page,
            page,
            libc::PROT_READ | libc::PROT_WRITE,
        )?;
        let within = at % page + std::mem::offset_of!(Beside, watched);
        // SAFETY: within the page that is mapped, aligned as the array's elements are; nobody else here writes it.
        unsafe {
            write_volatile(
                map.start.cast::<u8>().add(within).cast::<u32>().as_ptr(),
                u32::from(on),
            )
        };
        Ok(())
    }

    /// Copies a slot; `None` if it is free.
    pub(super) fn copy(&self, index: u32) -> Option<Slot> {
        let read = || self.array.get(&index, 0).ok();
        self.whole(index, read).filter(is_taken)
    }

    /// Hands over copies of the slots at the given indexes, which rise; `None` for a free one.
    pub(super) fn copy_each(&self, indexes: &[u32], each: &mut dyn FnMut(u32, Option<Slot>)) {
        let mut rest = indexes;
        while let Some(first) = rest.first() {
            let window = *first as usize / WINDOW;
            let (of_window, later) =
                rest.split_at(rest.partition_point(|index| *index as usize / WINDOW == window));
            rest = later;
            let start = window * WINDOW;
            let view = if of_window.len() >= MANY {
                View::<Slot>::map(self.array_fd.as_fd(), start..self.capacity.min(start + WINDOW)).ok()
            } else {
                None
            };
            for index in of_window {
                let slot = match &view {
                    Some(view) => self
                        .whole(*index, || Some(view.read(*index as usize - start)))
                        .filter(is_taken),
                    None => self.copy(*index),
                };
                each(*index, slot);
            }
        }
    }

    /// A copy during which no event began, or the third one: the kernel writes while we read.
    fn whole(&self, index: u32, read: impl Fn() -> Option<Slot>) -> Option<Slot> {
        let mut before = self.changes_of(index);
        let mut slot = read();
        for _ in 0..2 {
            let after = self.changes_of(index);
            if after == before {
                break;
            }
            before = after;
            slot = read();
        }
        slot
    }

    /// Zero for a slot beyond the view; not read before what was read before it, nor after what comes after.
    fn changes_of(&self, index: u32) -> u32 {
        fence(Ordering::Acquire);
        let changes = if (index as usize) < self.len() {
            self.changes(index as usize)
        } else {
            0
        };
        fence(Ordering::Acquire);
        changes
    }
}

/// If a socket has the slot, and its closing record is not on its way yet: after that it is no more.
fn is_taken(slot: &Slot) -> bool {
    slot.cookie != 0 && slot.record != RECORD_CLOSE
}

/// Elements of an array in the kernel's memory.
struct View<T> {
    start: NonNull<T>,
    len: usize,
    bytes: usize,
}

// SAFETY: the mapping belongs to the process, not to a thread, and is only read.
unsafe impl<T: Send> Send for View<T> {}

impl<T: aya::Pod> View<T> {
    /// Elements of a BPF_F_MMAPABLE array, to be read; the first one starts a page.
    fn map(fd: BorrowedFd<'_>, elements: Range<usize>) -> io::Result<Self> {
        let bytes = (elements.len() * size_of::<T>()).next_multiple_of(rustix::param::page_size());
        let offset = elements.start * size_of::<T>();
        let mut view = Self::map_bytes(fd, offset, bytes, libc::PROT_READ)?;
        view.len = elements.len();
        Ok(view)
    }

    /// Whole pages of it.
    fn map_bytes(
        fd: BorrowedFd<'_>,
        offset: usize,
        bytes: usize,
        protection: libc::c_int,
    ) -> io::Result<Self> {
        let offset = offset
            .try_into()
            .map_err(|_| io::Error::from(io::ErrorKind::InvalidInput))?;
        // SAFETY: a fresh mapping at an address of the kernel's choice.
        let start = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                bytes,
                protection,
                libc::MAP_SHARED,
                fd.as_raw_fd(),
                offset,
            )
        };
        if start == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        Ok(Self {
            start: NonNull::new(start.cast()).ok_or_else(io::Error::last_os_error)?,
            len: bytes / size_of::<T>(),
            bytes,
        })
    }

    fn read(&self, index: usize) -> T {
        assert!(index < self.len);
        // SAFETY: within the mapping, as just checked; integers only, so any mixture of old and new words is a value;
        // volatile, since the kernel writes them.
        unsafe { read_volatile(self.start.as_ptr().add(index)) }
    }
}

impl<T> Drop for View<T> {
    fn drop(&mut self) {
        // SAFETY: mapped by `map` with this length, and not used after.
        unsafe { libc::munmap(self.start.as_ptr().cast(), self.bytes) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_is_whole_pages() {
        assert_eq!(WINDOW * size_of::<Slot>() % (64 << 10), 0);
    }
}
