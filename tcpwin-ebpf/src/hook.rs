//! One file a hook.

mod cong_state;
mod destroy;
mod probe;
mod recv;
mod reset;
mod retransmit;
mod seed;
mod send;
mod set_state;
