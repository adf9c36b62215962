//! A socket's slot: found, taken, given back.

use core::ptr::{read_volatile, write_volatile};

use aya_ebpf::{
    bindings::{BPF_ANY, BPF_RB_AVAIL_DATA, BPF_RB_NO_WAKEUP},
    helpers::{
        bpf_get_current_pid_tgid, bpf_ktime_get_ns,
        generated::{bpf_get_current_cgroup_id, bpf_get_current_comm},
    },
};
use tcpwin_common::{
    BUDGET_IDLE, Event, Loss, ORIGIN_CONNECT, RECORD_CLOSE, RECORD_OPEN, RECORD_SAMPLE, Sample, Slot,
    WANT_OPEN,
};

use crate::{
    account,
    map::{
        BESIDE, EVENTS, EVENTS_BYTES, FREE_SLOTS, HIGH_WATER, NEAR, NEAR_ENTRIES, SLOTS, SOCKETS, lost,
        wanted,
    },
    socket::Socket,
};

/// More than there are slots.
const NO_SLOT: u32 = u32::MAX;

/// CLOCK_MONOTONIC, ns.
#[inline(always)]
pub fn now() -> u64 {
    // SAFETY: always allowed.
    unsafe { bpf_ktime_get_ns() }
}

/// The slot of a watched socket, which is about to change.
#[inline(always)]
pub fn find(sk: *const u8) -> Option<&'static mut Slot> {
    find_with_watch(sk).map(|(slot, _)| slot)
}

/// The same, and if the socket is watched closely.
#[inline(always)]
pub fn find_with_watch(sk: *const u8) -> Option<(&'static mut Slot, bool)> {
    let (index, slot) = look_up(sk)?;
    let is_watched = note_change(index);
    Some((slot, is_watched))
}

/// The slot of a watched socket, to look at: what changes in it the agent will not see by itself.
#[inline(always)]
pub fn peek(sk: *const u8) -> Option<&'static mut Slot> {
    look_up(sk).map(|(_, slot)| slot)
}

/// The guess first: it is right for nearly every event.
#[inline(always)]
fn look_up(sk: *const u8) -> Option<(u32, &'static mut Slot)> {
    if let Some(near) = near(sk) {
        // SAFETY: an element of the array, which lives as long as the program; a single word.
        let index = unsafe { read_volatile(near) };
        if let Some(slot) = at(index)
            && slot.socket == sk as u64
        {
            return Some((index, slot));
        }
    }
    let index = index_of(sk);
    Some((index, at(index)?))
}

/// Where the guess about a socket stands.
#[inline(always)]
fn near(sk: *const u8) -> Option<*mut u32> {
    NEAR.get_ptr_mut(Socket::hash(sk) % NEAR_ENTRIES)
}

/// The index of a socket's slot, which becomes the guess from now on; an index that no slot has for a socket that is not
/// watched. Out of line, as all that few events do: the code between is fetched for nothing.
#[inline(never)]
fn index_of(sk: *const u8) -> u32 {
    // Hooks of the socket layer see every family.
    if !Socket::is_inet(sk) {
        return NO_SLOT;
    }
    // SAFETY: the value is a plain number; a concurrent delete at worst gives a slot that is free.
    let Some(index) = unsafe { SOCKETS.get(sk as u64) }.copied() else {
        return NO_SLOT;
    };
    if let Some(near) = near(sk) {
        // SAFETY: as in `look_up`.
        unsafe { write_volatile(near, index) };
    }
    index
}

/// Before the change itself. The agent reads a slot once more after a tick without changes, so that it misses neither the end
/// of an event it overtook nor one of two that two CPUs counted as one.
/// Gives if the slot is watched closely, which stands in the same word.
#[inline(always)]
fn note_change(index: u32) -> bool {
    let Some(beside) = BESIDE.get_ptr_mut(index) else {
        return false;
    };
    // SAFETY: an element of the array, which lives as long as the program; volatile, since it must come first, and since the
    // agent writes `watched` at any time.
    unsafe {
        let changes = &raw mut (*beside).changes;
        write_volatile(changes, read_volatile(changes).wrapping_add(1));
        read_volatile(&raw const (*beside).watched) != 0
    }
}

/// The slot with this index.
#[inline(always)]
fn at(index: u32) -> Option<&'static mut Slot> {
    let slot = SLOTS.get_ptr_mut(index)?;
    // SAFETY: an element of the array, which lives as long as the program. Hooks of one socket mostly exclude each other by
    // the socket's lock; where they do not (the return of a send), fields are single words and a lost update costs one event.
    Some(unsafe { &mut *slot })
}

/// Takes a slot for a socket that has none and fills in what is known: who it is, and unless it has yet to connect, how it is.
/// Counts why if it cannot.
#[inline(always)]
pub fn take(sk: *const u8, socket: Socket, origin: u8, state: u8, now: u64) -> Option<&'static mut Slot> {
    let Ok(Some(index)) = FREE_SLOTS.pop() else {
        lost(Loss::NoSlot);
        return None;
    };
    let Some(slot) = at(index) else {
        lost(Loss::NoSlot);
        return None;
    };
    if SOCKETS.insert(sk as u64, index, u64::from(BPF_ANY)).is_err() {
        lost(Loss::MapFull);
        let _ = FREE_SLOTS.push(index, 0);
        return None;
    }
    if let Some(high) = HIGH_WATER.get_ptr_mut(0) {
        // SAFETY: an element of this CPU.
        unsafe {
            if *high <= index {
                *high = index + 1;
            }
        }
    }
    note_change(index);
    if let Some(beside) = BESIDE.get_ptr_mut(index) {
        // SAFETY: as in `note_change`.
        unsafe { write_volatile(&raw mut (*beside).watched, 0) };
    }
    clear(slot);
    slot.index = index;
    slot.socket = sk as u64;
    slot.opened_ns = now;
    slot.last_ns = now;
    slot.budget_state = BUDGET_IDLE as u32;
    slot.identity.origin = origin;
    slot.identity.state = state;
    socket.copy_identity(&mut slot.identity);
    if origin != ORIGIN_CONNECT {
        account::refresh(slot, socket, now);
    }
    slot.cookie = socket.cookie(sk);
    Some(slot)
}

/// Word by word: an assignment would become a call of memset, which goes byte by byte.
#[inline(always)]
fn clear(slot: &mut Slot) {
    let words = core::ptr::from_mut(slot).cast::<u64>();
    for word in 0..size_of::<Slot>() / size_of::<u64>() {
        // SAFETY: within the slot, which is aligned to words and of integers only.
        unsafe { write_volatile(words.add(word), 0) };
    }
}

/// Writes down whose the socket is. Only where the current task is the owner: calls of the program, not softirqs.
#[inline(never)]
pub fn set_owner(slot: &mut Slot) {
    slot.identity.pid = (bpf_get_current_pid_tgid() >> 32) as u32;
    let comm = &mut slot.identity.comm;
    // SAFETY: a buffer of this size. Straight into the slot: the wrapper's copies go byte by byte.
    let _ = unsafe { bpf_get_current_comm(comm.as_mut_ptr().cast(), size_of_val(comm) as u32) };
    // SAFETY: always allowed.
    slot.identity.cgroup = unsafe { bpf_get_current_cgroup_id() };
}

/// Tells at once that the socket opened, if somebody listens.
#[inline(never)]
pub fn announce(slot: &Slot, now: u64) {
    if !wanted(WANT_OPEN) {
        return;
    }
    let event = Event {
        record: RECORD_OPEN,
        at_ns: now,
        ..event_of(slot)
    };
    send(&event);
}

/// An event of this socket, to be filled in.
#[inline(always)]
pub fn event_of(slot: &Slot) -> Event {
    Event {
        record: 0,
        index: slot.index,
        cookie: slot.cookie,
        at_ns: 0,
        netns: slot.identity.netns,
        a: 0,
        b: 0,
        c: 0,
    }
}

/// Puts an event in the ring, or counts it as lost.
#[inline(always)]
pub fn send(event: &Event) {
    if EVENTS
        .output::<Event>(event, u64::from(BPF_RB_NO_WAKEUP))
        .is_err()
    {
        lost(Loss::RingFull);
    }
}

/// Tells what a watched socket is like at this event. A busy one could fill the ring between two drains: half of it is left to
/// what is told but once, the closings.
#[inline(never)]
pub fn sample(slot: &Slot, socket: Socket) {
    if EVENTS.query(u64::from(BPF_RB_AVAIL_DATA)) > u64::from(EVENTS_BYTES / 2) {
        lost(Loss::RingFull);
        return;
    }
    let sequence = socket.sequence();
    let sample = Sample {
        record: RECORD_SAMPLE,
        index: slot.index,
        cookie: slot.cookie,
        at_ns: slot.last_ns,
        bytes_acked: socket.bytes_acked(),
        netns: slot.identity.netns,
        cwnd: socket.cwnd(),
        ssthresh: socket.ssthresh(),
        outstanding: sequence.snd_nxt.wrapping_sub(sequence.snd_una),
        unsent: sequence.write_seq.wrapping_sub(sequence.snd_nxt),
        snd_wnd: socket.snd_wnd(),
        srtt_us: socket.srtt_us(),
        total_retrans: socket.total_retrans(),
    };
    if EVENTS
        .output::<Sample>(&sample, u64::from(BPF_RB_NO_WAKEUP))
        .is_err()
    {
        lost(Loss::RingFull);
    }
}

/// Sends the final totals and gives the slot back.
#[inline(never)]
pub fn release(sk: *const u8, slot: &mut Slot) {
    slot.record = RECORD_CLOSE;
    if EVENTS
        .output::<Slot>(&*slot, u64::from(BPF_RB_NO_WAKEUP))
        .is_err()
    {
        lost(Loss::RingFull);
    }
    let index = slot.index;
    slot.cookie = 0;
    slot.socket = 0;
    let _ = SOCKETS.remove(sk as u64);
    if FREE_SLOTS.push(index, 0).is_err() {
        lost(Loss::NoSlot);
    }
}
