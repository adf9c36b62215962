//! The ABI between the kernel programs and the agent, and nothing else.
//!
//! Everything here is `no_std`, `repr(C)`, of fixed-width integers, with its size asserted. Readers are
//! in flow order: what is set at load ([`Globals`] by name in `offsets`), what a socket leaves in its slot
//! ([`Slot`]), what is told at once through the ring ([`Event`]), and what is counted when lost
//! ([`Loss`]).
#![no_std]

mod event;
mod loss;
mod offset;
mod slot;

pub use event::{
    ABI_ADDRESS_LEN, Event, RECORD_CLOSE, RECORD_CWND_FALL, RECORD_OPEN, RECORD_RESET, RECORD_RETRANSMIT,
    RECORD_SAMPLE, RETRANSMIT_FAST, RETRANSMIT_RTO, RETRANSMIT_SYN_ACK, RETRANSMIT_TLP, Sample,
    WANT_CWND_FALL, WANT_OPEN, WANT_RETRANSMIT,
};
pub use loss::{COUNT_ENTRIES, HostCount, LOSS_COUNT, Loss};
pub use offset::{FIELD_MARK, OFFSET_MISSING, OFFSETS, OffsetOf, Offsets, pack_offset};
pub use slot::{
    BUDGET_APP, BUDGET_CWND, BUDGET_IDLE, BUDGET_PACING, BUDGET_RWND, BUDGET_SNDBUF, BUDGET_STATES, Beside,
    Budget, CA_NAME_LEN, COMM_LEN, Counters, FLAG_CWND_LIMITED, FLAG_NOSPACE, FLAG_RATE_APP_LIMITED,
    FLAG_SYN_DATA, FLAG_SYN_DATA_ACKED, FLAG_SYN_FASTOPEN, Gauges, Identity, ORIGIN_ACCEPT, ORIGIN_CONNECT,
    ORIGIN_SEEDED, Slot, USERLOCK_RCVBUF, USERLOCK_SNDBUF,
};
