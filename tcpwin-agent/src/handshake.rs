//! What TLS peers say in the clear, read from bytes alone: records, and the hellos within them.
//!
//! Pure and total: any bytes are read without a panic, what is no TLS is an answer, and nothing is taken for known that the bytes
//! do not hold. Whoever has the bytes of one direction, from the first on, may ask.

mod cursor;
mod hello;
mod message;
mod name;
mod records;

pub use hello::{ClientHello, ServerHello};
pub use message::{Kind, Message, messages, tls12_ticket};
pub use name::{cipher_name, group_name, version_name};
pub use records::{Content, Record, Rest, records};
